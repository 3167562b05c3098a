#ifndef UNCURL_CLINUX_H
#define UNCURL_CLINUX_H

/* What Swift's Glibc overlay does not show (epoll, eventfd, accept4, abstract unix names), and
   the macros that Swift cannot import, as static inline functions. No state, no logic.

   _GNU_SOURCE stays out of this header: with it, glibc's structures would differ from those of
   Swift's own Glibc module. What needs it is compiled in CUncurlLinux.c. */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static const uint32_t uncurl_EPOLLIN = EPOLLIN;
static const uint32_t uncurl_EPOLLOUT = EPOLLOUT;
static const uint32_t uncurl_EPOLLRDHUP = EPOLLRDHUP;
static const uint32_t uncurl_EPOLLHUP = EPOLLHUP;
static const uint32_t uncurl_EPOLLERR = EPOLLERR;

static inline int uncurl_errno(void) { return errno; }

/* epoll_data is a union; the loop only ever uses its 64-bit member. */
static inline uint64_t uncurl_event_data(const struct epoll_event *event) { return event->data.u64; }
static inline uint32_t uncurl_event_mask(const struct epoll_event *event) { return event->events; }

static inline int uncurl_epoll_ctl(int epfd, int op, int fd, uint32_t events, uint64_t data) {
    struct epoll_event event;
    event.events = events;
    event.data.u64 = data;
    return epoll_ctl(epfd, op, fd, &event);
}

/* epoll_wait with a time-out in nanoseconds. */
int uncurl_epoll_wait_ns(int epfd, struct epoll_event *events, int count, int64_t nanoseconds);

/* The kernel's timers wake this thread on time, to a nanosecond's slack instead of 50 us. */
int uncurl_sharpen_timers(void);

static inline int64_t uncurl_clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int uncurl_socket(int family) {
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* Nonblocking and close-on-exec from the start. */
int uncurl_accept(int fd, struct sockaddr *address, socklen_t *length);

/* The symbol (ECONNREFUSED) and the text of an error number; NULL for an unknown one. */
const char *uncurl_errno_name(int code);
const char *uncurl_errno_text(int code);

void uncurl_name_thread(pthread_t thread, const char *name);

static inline int uncurl_shutdown_write(int fd) { return shutdown(fd, SHUT_WR); }

/* The raw calls: glibc's are cancellation points, and arming one costs more than crossing into a warm kernel path
   saves. Nobody cancels a loop's thread. */
static inline ssize_t uncurl_send(int fd, const void *bytes, size_t count) {
    return syscall(SYS_sendto, fd, bytes, count, MSG_NOSIGNAL, NULL, 0);
}

static inline ssize_t uncurl_recv(int fd, void *bytes, size_t count) {
    return syscall(SYS_recvfrom, fd, bytes, count, 0, NULL, NULL);
}

static inline ssize_t uncurl_send2(int fd, const void *first, size_t firstCount, const void *second, size_t secondCount) {
    struct iovec parts[2] = {{(void *)first, firstCount}, {(void *)second, secondCount}};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

/* 1: at least one byte waits; 0: end of stream; -1 with errno otherwise. Takes nothing. */
static inline ssize_t uncurl_peek(int fd) {
    char byte;
    return syscall(SYS_recvfrom, fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT, NULL, NULL);
}

/* Bytes sent that the peer has not acknowledged; -1 with errno where the kernel does not say. */
static inline int uncurl_unacknowledged(int fd) {
    int count = 0;
    return ioctl(fd, SIOCOUTQ, &count) == 0 ? count : -1;
}

static inline int uncurl_set_int_option(int fd, int level, int name, int value) {
    return setsockopt(fd, level, name, &value, sizeof value);
}

static inline int uncurl_socket_error(int fd) {
    int error = 0;
    socklen_t length = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

/* Closing with a zero linger sends RST at once and leaves no TIME_WAIT behind. */
static inline int uncurl_linger_zero(int fd) {
    struct linger linger = {1, 0};
    return setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

/* The names of constants Swift imports unevenly between C libraries. */
static const int uncurl_SOL_TCP = IPPROTO_TCP;
static const int uncurl_TCP_NODELAY = TCP_NODELAY;
static const int uncurl_TCP_KEEPIDLE = TCP_KEEPIDLE;
static const int uncurl_TCP_KEEPINTVL = TCP_KEEPINTVL;
static const int uncurl_TCP_KEEPCNT = TCP_KEEPCNT;
static const int uncurl_TCP_NOTSENT_LOWAT = TCP_NOTSENT_LOWAT;
static const int uncurl_SOL_SOCKET = SOL_SOCKET;
static const int uncurl_SO_KEEPALIVE = SO_KEEPALIVE;
static const int uncurl_SO_RCVLOWAT = SO_RCVLOWAT;
static const int uncurl_SO_RCVBUF = SO_RCVBUF;
static const int uncurl_SO_REUSEADDR = SO_REUSEADDR;
static const int uncurl_SO_REUSEPORT = SO_REUSEPORT;
static const int uncurl_IPPROTO_IP = IPPROTO_IP;
static const int uncurl_IPPROTO_IPV6 = IPPROTO_IPV6;
static const int uncurl_IPV6_V6ONLY = IPV6_V6ONLY;
static const int uncurl_IP_BIND_ADDRESS_NO_PORT = IP_BIND_ADDRESS_NO_PORT;

/* open is variadic, which Swift does not import. */
static inline int uncurl_open_read(const char *path) { return open(path, O_RDONLY | O_CLOEXEC); }

/* Nonblocking, for the sake of a pipe's name: opening that would wait for its writer. Regular files take no notice. */
static inline int uncurl_open_file(const char *path) { return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }

/* A new file that only its user may read; an old one of the name stays, and is an error. */
static inline int uncurl_create_file(const char *path) {
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static inline int uncurl_open_file_for_writing(const char *path) {
    return open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

static inline int uncurl_duplicate(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 0); }

/* 1 for a regular file, 0 for anything else, -1 with errno. */
static inline int uncurl_file_status(int fd, uint64_t *size, uint64_t *device, uint64_t *inode) {
    struct stat status;
    if (fstat(fd, &status) != 0) return -1;
    *size = status.st_size < 0 ? 0 : (uint64_t)status.st_size;
    *device = status.st_dev;
    *inode = status.st_ino;
    return S_ISREG(status.st_mode) ? 1 : 0;
}

/* sendfile has no MSG_NOSIGNAL. SIGPIPE is held back on this thread for the call, and what the call raised is taken;
   one that waited before is not ours. The process's disposition stays as it is, and children inherit no mask. */
ssize_t uncurl_sendfile(int socket, int file, int64_t offset, size_t count);

static inline int uncurl_event_fd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

/* getaddrinfo for one family and stream sockets: the result code of getaddrinfo, errno in *sys.

   Without AI_ADDRCONFIG: on a machine with nothing but its loopback it refuses even the names of
   /etc/hosts, and an address of a family without a route fails at once when it is connected to. */
static inline int uncurl_getaddrinfo(const char *host, int family, struct addrinfo **out, int *sys) {
    struct addrinfo hints;
    memset(&hints, 0, sizeof hints);
    hints.ai_family = family;
    hints.ai_socktype = SOCK_STREAM;
    errno = 0;
    int code = getaddrinfo(host, NULL, &hints, out);
    *sys = errno;
    return code;
}

/* The name exists and has no address of the family asked for: two GNU codes, hidden without _GNU_SOURCE. */
int uncurl_is_no_address(int code);

/* A condition whose waits end by the monotonic clock: nobody sets that one back. */
static inline int uncurl_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int code = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return code;
}

static inline int uncurl_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t deadline_ns) {
    struct timespec deadline = {deadline_ns / 1000000000, deadline_ns % 1000000000};
    return pthread_cond_timedwait(condition, lock, &deadline);
}

static inline int uncurl_unix_address(struct sockaddr_un *address, const uint8_t *path, size_t count) {
    if (count == 0 || count > sizeof address->sun_path - 1) return -1;
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, count);
    return 0;
}

/* The length the kernel wants: an abstract name ends where it ends, a path has its NUL. */
static inline socklen_t uncurl_unix_length(const struct sockaddr_un *address, size_t count) {
    size_t terminator = address->sun_path[0] == 0 ? 0 : 1;
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + count + terminator);
}

/* What the system calls of the calling thread are to meet (UncurlReactor's FaultPlan). Debug builds only. */
void *uncurl_thread_faults(void);
void uncurl_set_thread_faults(void *plan);

static inline int64_t uncurl_thread_cpu_ns(void) { return uncurl_clock_ns(CLOCK_THREAD_CPUTIME_ID); }

static inline int uncurl_nofile(uint64_t *soft, uint64_t *hard) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
    *soft = limit.rlim_cur;
    *hard = limit.rlim_max;
    return 0;
}

static inline int uncurl_set_nofile(uint64_t soft, uint64_t hard) {
    struct rlimit limit = {soft, hard};
    return setrlimit(RLIMIT_NOFILE, &limit);
}

/* The table is as large as its highest descriptor was at any time. */
static inline void uncurl_reserve_descriptors(int count) {
    int one = eventfd(0, EFD_CLOEXEC);
    if (one < 0) return;
    int last = fcntl(one, F_DUPFD_CLOEXEC, count - 1);
    if (last >= 0) close(last);
    close(one);
}

/* posix_spawn_file_actions_addclosefrom_np, a GNU name: for programs that tests start, which must not hold another
   test's pipes and sockets open. */
int uncurl_spawn_closes_from(posix_spawn_file_actions_t *actions, int first);

/* A socket to the kernel's routing tables, subscribed to these groups. The kernel chooses its port. */
int uncurl_netlink_open(uint32_t groups);

/* The number that answers to this socket bear, and others' do not. 0: it cannot be had. */
uint32_t uncurl_netlink_port(int fd);

/* The whole message or nothing; to the kernel. */
ssize_t uncurl_netlink_send(int fd, const void *bytes, size_t count);

/* One datagram: its whole length, though no more than `capacity` bytes of it are there. 0 for one that does not come from the
   kernel: any process of root may write to such a socket. */
ssize_t uncurl_netlink_receive(int fd, void *bytes, size_t capacity);

/* Moves the calling thread to a network namespace, by a file of it: for tests, which cut links there. */
int uncurl_enter_network(int fd);

static inline int uncurl_block_all_signals(sigset_t *previous) {
    sigset_t all;
    sigfillset(&all);
    return pthread_sigmask(SIG_SETMASK, &all, previous);
}

#endif
