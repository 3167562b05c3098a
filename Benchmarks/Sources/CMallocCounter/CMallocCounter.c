#include "CMallocCounter.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

/* Interposed in the executable: the dynamic linker finds these before libc's. Each thread counts for itself, so
   that a server in the same process does not count for the client. */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static __thread uint64_t mallocs __attribute__((tls_model("initial-exec")));

void *malloc(size_t size) { mallocs++; return __libc_malloc(size); }
void *calloc(size_t count, size_t size) { mallocs++; return __libc_calloc(count, size); }
void *realloc(void *pointer, size_t size) { mallocs++; return __libc_realloc(pointer, size); }
void *memalign(size_t alignment, size_t size) { mallocs++; return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { mallocs++; return __libc_memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
    mallocs++;
    *result = __libc_memalign(alignment, size);
    return *result == NULL ? ENOMEM : 0;
}

uint64_t uncurl_thread_mallocs(void) { return mallocs; }

uint64_t uncurl_thread_cpu(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
