#define _GNU_SOURCE
#include "CUncurlLinux.h"

#include <linux/netlink.h>
#include <poll.h>
#include <sched.h>
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

int uncurl_netlink_open(uint32_t groups) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd == -1) return -1;
    struct sockaddr_nl own;
    memset(&own, 0, sizeof own);
    own.nl_family = AF_NETLINK;
    own.nl_groups = groups;
    if (bind(fd, (struct sockaddr *)&own, sizeof own) == 0) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

uint32_t uncurl_netlink_port(int fd) {
    struct sockaddr_nl own;
    socklen_t length = sizeof own;
    return getsockname(fd, (struct sockaddr *)&own, &length) == 0 ? own.nl_pid : 0;
}

int uncurl_enter_network(int fd) { return setns(fd, CLONE_NEWNET); }

ssize_t uncurl_netlink_send(int fd, const void *bytes, size_t count) {
    struct sockaddr_nl kernel;
    memset(&kernel, 0, sizeof kernel);
    kernel.nl_family = AF_NETLINK;
    return sendto(fd, bytes, count, 0, (struct sockaddr *)&kernel, sizeof kernel);
}

ssize_t uncurl_netlink_receive(int fd, void *bytes, size_t capacity) {
    struct sockaddr_nl from;
    struct iovec part = {bytes, capacity};
    struct msghdr message;
    memset(&from, 0, sizeof from);
    memset(&message, 0, sizeof message);
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    ssize_t count = recvmsg(fd, &message, MSG_TRUNC);
    return count > 0 && from.nl_pid != 0 ? 0 : count;
}

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
