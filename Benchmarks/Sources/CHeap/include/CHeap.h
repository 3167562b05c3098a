#ifndef UNCURL_CHEAP_H
#define UNCURL_CHEAP_H

#include <stddef.h>

/* glibc's own accounts, which Swift's overlay does not show. */

/* Bytes allocated and not freed, in all arenas and by mmap. */
size_t heap_in_use(void);

/* Gives freed pages back to the system. */
void heap_trim(void);

#endif
