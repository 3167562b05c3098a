#ifndef UNCURL_COPENSSL_CERTIFICATES_H
#define UNCURL_COPENSSL_CERTIFICATES_H
/* Certificates: what the headers give as macros, typed stacks or variadic functions, as functions. */
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <openssl/x509_vfy.h>

static inline EVP_PKEY *uncurl_new_ec_key(const char *curve) { return EVP_EC_gen(curve); }
static inline EVP_PKEY *uncurl_new_rsa_key(size_t bits) { return EVP_RSA_gen(bits); }
static inline EVP_PKEY *uncurl_new_named_key(const char *type) { return EVP_PKEY_Q_keygen(NULL, NULL, type); }
static inline long uncurl_bio_data(BIO *bio, char **data) { return BIO_get_mem_data(bio, data); }

static inline size_t uncurl_bio_pending(BIO *bio) { return BIO_ctrl_pending(bio); }
static inline int uncurl_unsupported_reason(void) { return ERR_R_UNSUPPORTED; }

/* RFC 4514, with UTF-8 left readable. */
static inline unsigned long uncurl_name_text_flags(void) { return XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB; }
static inline const EVP_MD *uncurl_digest_of(const ASN1_OBJECT *algorithm) { return EVP_get_digestbyobj(algorithm); }

static inline STACK_OF(X509) *uncurl_new_certificates(void) { return sk_X509_new_null(); }
/* Takes the reference over only if it returns more than 0. */
static inline int uncurl_push_certificate(STACK_OF(X509) *stack, X509 *one) { return sk_X509_push(stack, one); }
static inline int uncurl_certificate_count(const STACK_OF(X509) *stack) {
    return stack == NULL ? 0 : sk_X509_num(stack);
}
/* Borrowed: the stack keeps its reference. */
static inline X509 *uncurl_certificate_at(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}
/* Gives the stack's reference to the caller. */
static inline X509 *uncurl_remove_certificate(STACK_OF(X509) *stack, int index) {
    return sk_X509_delete(stack, index);
}
static inline void uncurl_free_certificates(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

static inline int uncurl_safe_count(const STACK_OF(PKCS7) *safes) { return safes == NULL ? 0 : sk_PKCS7_num(safes); }
static inline PKCS7 *uncurl_safe_at(const STACK_OF(PKCS7) *safes, int index) { return sk_PKCS7_value(safes, index); }
static inline void uncurl_free_safes(STACK_OF(PKCS7) *safes) { sk_PKCS7_pop_free(safes, PKCS7_free); }
static inline int uncurl_bag_count(const STACK_OF(PKCS12_SAFEBAG) *bags) {
    return bags == NULL ? 0 : sk_PKCS12_SAFEBAG_num(bags);
}
static inline const PKCS12_SAFEBAG *uncurl_bag_at(const STACK_OF(PKCS12_SAFEBAG) *bags, int index) {
    return sk_PKCS12_SAFEBAG_value(bags, index);
}
static inline void uncurl_free_bags(STACK_OF(PKCS12_SAFEBAG) *bags) {
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
}

static inline STACK_OF(X509_CRL) *uncurl_new_crls(void) { return sk_X509_CRL_new_null(); }
static inline int uncurl_push_crl(STACK_OF(X509_CRL) *stack, X509_CRL *one) { return sk_X509_CRL_push(stack, one); }
static inline void uncurl_free_crls(STACK_OF(X509_CRL) *stack) { sk_X509_CRL_pop_free(stack, X509_CRL_free); }

static inline int uncurl_name_count(const GENERAL_NAMES *names) {
    return names == NULL ? 0 : sk_GENERAL_NAME_num(names);
}
/* The kind (GEN_DNS, GEN_IPADD …) of one name; its octets if it is a string or an address, else none. */
static inline int uncurl_name_at(const GENERAL_NAMES *names, int index, const unsigned char **data, int *count) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    int kind = 0;
    const ASN1_STRING *value = (const ASN1_STRING *)GENERAL_NAME_get0_value(name, &kind);
    *data = NULL;
    *count = 0;
    if (value != NULL && (kind == GEN_DNS || kind == GEN_IPADD || kind == GEN_EMAIL || kind == GEN_URI)) {
        *data = ASN1_STRING_get0_data(value);
        *count = ASN1_STRING_length(value);
    }
    return kind;
}

static inline int uncurl_subtree_count(const STACK_OF(GENERAL_SUBTREE) *trees) {
    return trees == NULL ? 0 : sk_GENERAL_SUBTREE_num(trees);
}
/* Whether one subtree is of DNS names; then its octets. */
static inline int uncurl_dns_subtree_at(
    const STACK_OF(GENERAL_SUBTREE) *trees, int index, const unsigned char **data, int *count
) {
    const GENERAL_SUBTREE *tree = sk_GENERAL_SUBTREE_value(trees, index);
    int kind = 0;
    const ASN1_STRING *value = (const ASN1_STRING *)GENERAL_NAME_get0_value(tree->base, &kind);
    if (kind != GEN_DNS || value == NULL) return 0;
    *data = ASN1_STRING_get0_data(value);
    *count = ASN1_STRING_length(value);
    return 1;
}

/* A key of DSA for parameters in DER. */
static inline EVP_PKEY *uncurl_new_dsa_key(const unsigned char *parameters, long count) {
    EVP_PKEY *shared = d2i_KeyParams(EVP_PKEY_DSA, NULL, &parameters, count);
    EVP_PKEY_CTX *context = shared == NULL ? NULL : EVP_PKEY_CTX_new(shared, NULL);
    EVP_PKEY *key = NULL;
    if (context != NULL && EVP_PKEY_keygen_init(context) == 1) EVP_PKEY_keygen(context, &key);
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(shared);
    return key;
}

static inline int uncurl_ocsp_basic_sign(
    OCSP_BASICRESP *basic, X509 *signer, EVP_PKEY *key, const EVP_MD *digest, unsigned long flags
) {
    return OCSP_basic_sign(basic, signer, key, digest, NULL, flags);
}
/* The callback has the last word on what the server stapled, or did not. */
static inline void uncurl_ctx_request_staple(SSL_CTX *ctx, int (*callback)(SSL *, void *)) {
    SSL_CTX_set_tlsext_status_type(ctx, TLSEXT_STATUSTYPE_ocsp);
    SSL_CTX_set_tlsext_status_cb(ctx, callback);
}
static inline void uncurl_ctx_set_status_callback(SSL_CTX *ctx, int (*callback)(SSL *, void *)) {
    SSL_CTX_set_tlsext_status_cb(ctx, callback);
}
/* Borrowed; none, and -1, if nothing came. */
static inline long uncurl_stapled_response(SSL *ssl, const unsigned char **data) {
    return SSL_get_tlsext_status_ocsp_resp(ssl, data);
}
static inline int uncurl_staple(SSL *ssl, const unsigned char *data, size_t count) {
    unsigned char *copy = OPENSSL_memdup(data, count);
    if (copy == NULL) return 0;
    return SSL_set_tlsext_status_ocsp_resp(ssl, copy, (long)count) == 1;
}
#endif
