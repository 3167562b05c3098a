/* When the cores stood still: stalls. A thread a core, which the kernel runs before all others (SCHED_FIFO), looks at the clock every
 * 0.2 ms until standard input ends; then the gaps of over 0.5 ms are printed, each as its begin and end in nanoseconds of
 * CLOCK_MONOTONIC. What such a thread waits for is no program's doing: the machine below had the core for somebody else.
 * Ends with 2 where it may not have that priority. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { most_gaps = 100000 };
static const long long look = 200000, least = 500000;
static struct { long long begin, end; } gaps[most_gaps];
static atomic_int gap_count, failed, over;

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void *watch(void *core) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET((long)core, &cores);
    struct sched_param priority = {.sched_priority = 50};
    if (sched_setaffinity(0, sizeof cores, &cores) || sched_setscheduler(0, SCHED_FIFO, &priority)) {
        failed = 1;
        return NULL;
    }
    for (long long last = now(); !over;) {
        nanosleep(&(struct timespec){.tv_nsec = look}, NULL);
        long long time = now();
        if (time - last > least) {
            int index = atomic_fetch_add(&gap_count, 1);
            if (index < most_gaps) {
                gaps[index].begin = last;
                gaps[index].end = time;
            }
        }
        last = time;
    }
    return NULL;
}

int main(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (cores > 64) cores = 64;
    pthread_t threads[64];
    for (long core = 0; core < cores; core++) pthread_create(&threads[core], NULL, watch, (void *)core);
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) {}
    over = 1;
    for (long core = 0; core < cores; core++) pthread_join(threads[core], NULL);
    if (failed) return 2;
    for (int index = 0; index < gap_count && index < most_gaps; index++)
        printf("%lld %lld\n", gaps[index].begin, gaps[index].end);
}
