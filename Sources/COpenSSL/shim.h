#ifndef UNCURL_COPENSSL_SHIM_H
#define UNCURL_COPENSSL_SHIM_H
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <openssl/opensslv.h>

#if OPENSSL_VERSION_MAJOR < 3
#error "Uncurl needs OpenSSL 3.0 or newer"
#endif
#endif
