#ifndef UNCURL_COPENSSL_WIRE_H
#define UNCURL_COPENSSL_WIRE_H
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

/* The transport as OpenSSL sees it: it reads what the running call was given and writes into memory. In C, because
 * these run several times a record. */

/* Ciphertext on its way out; shared by all sessions of a loop. */
struct uncurl_ciphertext {
    unsigned char *bytes;
    size_t count;
    size_t capacity;
};

/* One session's side of it. `in` is valid during a call only. */
struct uncurl_wire {
    const unsigned char *in;
    size_t in_left;
    struct uncurl_ciphertext *out;
};

static inline int uncurl_ciphertext_reserve(struct uncurl_ciphertext *out, size_t more) {
    if (out->capacity - out->count >= more) return 1;
    /* 17 KiB hold one full record with its overhead: most answers and requests never grow it. */
    size_t wanted = out->capacity ? out->capacity : 17 * 1024;
    while (wanted - out->count < more) {
        if (wanted > SIZE_MAX / 2) return 0;
        wanted *= 2;
    }
    unsigned char *grown = realloc(out->bytes, wanted);
    if (!grown) return 0;
    out->bytes = grown;
    out->capacity = wanted;
    return 1;
}

static inline int uncurl_wire_read(BIO *bio, char *buffer, size_t length, size_t *taken) {
    struct uncurl_wire *wire = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    size_t count = wire->in_left < length ? wire->in_left : length;
    if (count == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    memcpy(buffer, wire->in, count);
    wire->in += count;
    wire->in_left -= count;
    *taken = count;
    return 1;
}

/* Never blocks: what does not fit the socket is the owner's to keep. */
static inline int uncurl_wire_write(BIO *bio, const char *bytes, size_t length, size_t *taken) {
    struct uncurl_wire *wire = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (!uncurl_ciphertext_reserve(wire->out, length)) return 0;
    memcpy(wire->out->bytes + wire->out->count, bytes, length);
    wire->out->count += length;
    *taken = length;
    return 1;
}

static inline long uncurl_wire_ctrl(BIO *bio, int command, long number, void *pointer) {
    (void)bio;
    (void)number;
    (void)pointer;
    switch (command) {
    case BIO_CTRL_FLUSH: /* OpenSSL gives up a handshake whose flush fails. */
    case BIO_CTRL_DUP:
        return 1;
    default: /* PUSH, POP, PENDING and EOF among them: nothing to do, nothing held, never at the end. */
        return 0;
    }
}

static inline BIO_METHOD **uncurl_wire_method(void) {
    static BIO_METHOD *method;
    return &method;
}

static inline void uncurl_wire_make_method(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "uncurl wire");
    if (!method) return;
    BIO_meth_set_read_ex(method, uncurl_wire_read);
    BIO_meth_set_write_ex(method, uncurl_wire_write);
    BIO_meth_set_ctrl(method, uncurl_wire_ctrl);
    *uncurl_wire_method() = method;
}

/* Gives `ssl` its transport; `wire` must outlive it. */
static inline int uncurl_wire_attach(SSL *ssl, struct uncurl_wire *wire) {
    static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;
    if (!CRYPTO_THREAD_run_once(&once, uncurl_wire_make_method) || !*uncurl_wire_method()) return 0;
    BIO *bio = BIO_new(*uncurl_wire_method());
    if (!bio) return 0;
    BIO_set_data(bio, wire);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    return 1;
}

/* What is left in the thread's error queue turns a harmless WANT_READ into an error of somebody else's. Looking is
 * cheaper than clearing. */
static inline void uncurl_forget_errors(void) {
    if (ERR_peek_error()) ERR_clear_error();
}

/* The three calls that move bytes: an empty error queue before, SSL_get_error straight after. */

static inline int uncurl_handshake(SSL *ssl) {
    uncurl_forget_errors();
    int result = SSL_do_handshake(ssl);
    return result == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl, result);
}

static inline int uncurl_read(SSL *ssl, void *buffer, size_t length, size_t *count) {
    uncurl_forget_errors();
    int result = SSL_read_ex(ssl, buffer, length, count);
    return result == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl, result);
}

static inline int uncurl_write(SSL *ssl, const void *bytes, size_t length, size_t *count) {
    uncurl_forget_errors();
    int result = SSL_write_ex(ssl, bytes, length, count);
    return result == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl, result);
}
#endif
