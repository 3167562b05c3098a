#ifndef UNCURL_CMALLOCCOUNTER_H
#define UNCURL_CMALLOCCOUNTER_H
#include <stdint.h>

/* Allocations of the calling thread since it began: malloc, calloc, realloc and the aligned ones. glibc only. */
uint64_t uncurl_thread_mallocs(void);

/* CPU time of the calling thread, in nanoseconds. */
uint64_t uncurl_thread_cpu(void);
#endif
