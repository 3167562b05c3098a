#define _GNU_SOURCE
#include "CLinux.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>

int uncurl_accept(int fd, struct sockaddr *address, socklen_t *length) {
    return accept4(fd, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

const char *uncurl_errno_name(int code) { return strerrorname_np(code); }

const char *uncurl_errno_text(int code) { return strerrordesc_np(code); }

void uncurl_name_thread(pthread_t thread, const char *name) { pthread_setname_np(thread, name); }

ssize_t uncurl_sendfile(int socket, int file, int64_t offset, size_t count) {
    sigset_t pipe, before, waiting;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    int was_held = sigismember(&before, SIGPIPE);
    int is_anothers = was_held && sigpending(&waiting) == 0 && sigismember(&waiting, SIGPIPE);
    off_t position = offset;
    ssize_t sent = sendfile(socket, file, &position, count);
    int error = errno;
    /* A socket that breaks in the middle gives both a count and the signal. */
    if (!is_anothers && sent < (ssize_t)count) {
        struct timespec now = {0, 0};
        while (sigtimedwait(&pipe, NULL, &now) == -1 && errno == EINTR) {}
    }
    if (!was_held) pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return sent;
}

int uncurl_is_no_address(int code) { return code == EAI_NODATA || code == EAI_ADDRFAMILY; }

#ifdef DEBUG
static _Thread_local void *thread_faults;

void *uncurl_thread_faults(void) { return thread_faults; }

void uncurl_set_thread_faults(void *plan) { thread_faults = plan; }
#endif

int uncurl_spawn_closes_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int uncurl_epoll_wait_ns(int epfd, struct epoll_event *events, int count, int64_t nanoseconds) {
    struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
#ifdef SYS_epoll_pwait2
    int result = (int)syscall(SYS_epoll_pwait2, epfd, events, count, &limit, NULL, (size_t)0);
    if (result >= 0 || (errno != ENOSYS && errno != EPERM)) return result;
#endif
    /* Linux before 5.11, and sandboxes that do not know the call: an epoll set can itself be polled, and ppoll is as sharp. */
    struct pollfd set = {epfd, POLLIN, 0};
    int ready = ppoll(&set, 1, &limit, NULL);
    return ready > 0 ? epoll_wait(epfd, events, count, 0) : ready;
}

int uncurl_sharpen_timers(void) { return prctl(PR_SET_TIMERSLACK, 1UL); }
