#ifndef UNCURL_PUBLIC_SUFFIXES_H
#define UNCURL_PUBLIC_SUFFIXES_H

#include <stddef.h>

/* Lines of one rule each, every one with a line end; sorted. Not changed, and there for as long as the program. */
const char *uncurl_public_suffixes(void);

/* In octets. */
size_t uncurl_public_suffixes_length(void);

/* When the list was made, as it says itself. */
const char *uncurl_public_suffixes_version(void);

#endif
