#ifndef UNCURL_COPENSSL_SHIM_H
#define UNCURL_COPENSSL_SHIM_H
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/opensslv.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#if OPENSSL_VERSION_MAJOR < 3
#error "Uncurl needs OpenSSL 3.0 or newer"
#endif

#include "wire.h"

/* Macros, which Swift does not import. */

static inline long uncurl_ctx_set_min_version(SSL_CTX *ctx, int version) {
    return SSL_CTX_set_min_proto_version(ctx, version);
}

static inline long uncurl_ctx_set_max_version(SSL_CTX *ctx, int version) {
    return SSL_CTX_set_max_proto_version(ctx, version);
}

static inline long uncurl_ctx_set_groups(SSL_CTX *ctx, const char *list) { return SSL_CTX_set1_groups_list(ctx, list); }

static inline long uncurl_ctx_set_signatures(SSL_CTX *ctx, const char *list) {
    return SSL_CTX_set1_sigalgs_list(ctx, list);
}

static inline long uncurl_ctx_set_mode(SSL_CTX *ctx, long mode) { return SSL_CTX_set_mode(ctx, mode); }

/* Compression leaks secrets (CRIME). Renegotiation has no use in HTTP/1.1 and a long history of attacks: a HelloRequest
 * is answered with no_renegotiation (RFC 5246 7.2.2). */
static inline void uncurl_ctx_set_common_options(SSL_CTX *ctx) {
    SSL_CTX_set_options(ctx, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    /* OpenSSL 3.2 and later offer to take compressed certificates (RFC 8879), which it makes room for before it knows them (CVE-2025-66199). */
#ifdef SSL_OP_NO_RX_CERTIFICATE_COMPRESSION
    SSL_CTX_set_options(ctx, SSL_OP_NO_RX_CERTIFICATE_COMPRESSION | SSL_OP_NO_TX_CERTIFICATE_COMPRESSION);
#endif
}

/* Lets this one connection ask for it all the same. */
static inline int uncurl_renegotiate(SSL *ssl) {
    SSL_clear_options(ssl, SSL_OP_NO_RENEGOTIATION);
    return SSL_renegotiate(ssl);
}

static inline long uncurl_ctx_set_max_send_fragment(SSL_CTX *ctx, long size) {
    return SSL_CTX_set_max_send_fragment(ctx, size);
}

static inline void uncurl_ctx_refuse_tickets(SSL_CTX *ctx) { SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET); }

static inline long uncurl_ctx_set_session_cache_mode(SSL_CTX *ctx, long mode) {
    return SSL_CTX_set_session_cache_mode(ctx, mode);
}

static inline long uncurl_ctx_set_servername_callback(SSL_CTX *ctx, int (*callback)(SSL *, int *, void *)) {
    return SSL_CTX_set_tlsext_servername_callback(ctx, callback);
}

static inline long uncurl_set_server_name(SSL *ssl, const char *name) { return SSL_set_tlsext_host_name(ssl, name); }

static inline long uncurl_ctx_add_chain_certificate(SSL_CTX *ctx, X509 *certificate) {
    return SSL_CTX_add1_chain_cert(ctx, certificate);
}

static inline int uncurl_set_app_data(SSL *ssl, void *data) { return SSL_set_app_data(ssl, data); }
static inline void *uncurl_get_app_data(const SSL *ssl) { return SSL_get_app_data(ssl); }

/* Called with every extension of the peer, before anything is made of it. */
static inline long uncurl_set_extension_callback(
    SSL *ssl, void (*callback)(SSL *, int, int, const unsigned char *, int, void *)) {
    return SSL_set_tlsext_debug_callback(ssl, callback);
}

/* The handshake stops with SSL_ERROR_WANT_RETRY_VERIFY; clients only. */
static inline int uncurl_set_retry_verify(SSL *ssl) { return (int)SSL_set_retry_verify(ssl); }

static inline X509 *uncurl_x509_at(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }
static inline int uncurl_x509_count(const STACK_OF(X509) *stack) { return stack ? sk_X509_num(stack) : 0; }
static inline int uncurl_x509_name_push(STACK_OF(X509_NAME) *stack, X509_NAME *name) {
    return sk_X509_NAME_push(stack, name);
}
static inline int uncurl_x509_name_count(const STACK_OF(X509_NAME) *stack) {
    return stack ? sk_X509_NAME_num(stack) : 0;
}
static inline X509_NAME *uncurl_x509_name_at(const STACK_OF(X509_NAME) *stack, int index) {
    return sk_X509_NAME_value(stack, index);
}
#endif
