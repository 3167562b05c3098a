#ifndef UNCURL_CZSTD_SHIM_H
#define UNCURL_CZSTD_SHIM_H
#include <zstd.h>
#include <zstd_errors.h>
#endif
