/* A wall clock that a program can step: LD_PRELOAD. The machine's clock stays as it is. `tools/chaos` builds it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* How many seconds the wall clock of this process is ahead of the machine's. */
static _Atomic int64_t ahead;

void uncurl_set_clock(int64_t seconds) { atomic_store(&ahead, seconds); }

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += atomic_load(&ahead);
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec time;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &time);
    *now = (struct timeval){.tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *place) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (place != NULL) *place = now.tv_sec;
    return now.tv_sec;
}

/* Dispatch waits until a time of the wall clock. The kernel knows only the machine's. */
int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict limit) {
    static int (*_Atomic next)(sem_t *, const struct timespec *);
    if (next == NULL) next = (int (*)(sem_t *, const struct timespec *))dlsym(RTLD_NEXT, "sem_timedwait");
    struct timespec real = {.tv_sec = limit->tv_sec - atomic_load(&ahead), .tv_nsec = limit->tv_nsec};
    return next(semaphore, &real);
}
