#ifndef UNCURL_CBROTLI_SHIM_H
#define UNCURL_CBROTLI_SHIM_H
#include <brotli/decode.h>
#endif
