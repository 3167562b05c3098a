// A server of event streams with a log of its own: each connection's request is answered by events, ten a second, until the client goes. When each was
// written, less when the one before it (or the request) was read, is what a client should see. Prints the port; at SIGTERM, counts and percentiles.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { most = 20000, gap = 100000000, values = 1 << 24 };

static uint64_t asked[most], due[most], last[most];
static uint32_t *gaps, *firsts;
static size_t gap_count, first_count, order_count, order_next;
static int order[most], is_open[most];
static volatile sig_atomic_t ended;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void end(int number) { (void)number; ended = 1; }

static int compare(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static void print(const char *name, uint32_t *found, size_t count) {
    qsort(found, count, sizeof *found, compare);
    printf("%s %zu", name, count);
    static const double shares[] = {0.5, 0.9, 0.99, 0.999};
    for (int index = 0; index < 4; index++) printf(" %u", count ? found[(size_t)(shares[index] * (double)(count - 1))] : 0);
    printf("\n");
}

int main(void) {
    struct rlimit limit = {most, most};
    setrlimit(RLIMIT_NOFILE, &limit);
    signal(SIGTERM, end);
    signal(SIGPIPE, SIG_IGN);
    gaps = malloc(values * sizeof *gaps);
    firsts = malloc(values * sizeof *firsts);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), poller = epoll_create1(0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4096)) return 1;
    getsockname(listener, (struct sockaddr *)&address, &length);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[512];
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", text[] = "data: 0123456789\n\n";
    char buffer[4096];
    while (!ended) {
        int wait = 50;
        // All streams have the same gap, so the one that was written longest ago is the next.
        while (order_count > 0) {
            int socket = order[order_next % most];
            if (!is_open[socket]) { order_next++; order_count--; continue; }
            uint64_t time = now();
            if (due[socket] > time) { wait = (int)((due[socket] - time) / 1000000); break; }
            order_next++;
            order_count--;
            if (send(socket, text, sizeof text - 1, 0) < 0) continue;
            uint64_t sent = now();
            if (last[socket]) { if (gap_count < values) gaps[gap_count++] = (uint32_t)(sent - last[socket]); }
            else if (first_count < values) firsts[first_count++] = (uint32_t)(sent - asked[socket]);
            last[socket] = sent;
            due[socket] += gap;
            order[(order_next + order_count++) % most] = socket;
        }
        int count = epoll_wait(poller, events, 512, wait);
        for (int index = 0; index < count; index++) {
            int socket = events[index].data.fd;
            if (socket == listener) {
                while ((socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
                    int yes = 1;
                    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
                    event.data.fd = socket;
                    epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event);
                }
                continue;
            }
            ssize_t read = recv(socket, buffer, sizeof buffer, 0);
            if (read <= 0) {
                if (read < 0 && errno == EAGAIN) continue;
                is_open[socket] = 0;
                close(socket);
                continue;
            }
            asked[socket] = now();
            if (send(socket, head, sizeof head - 1, 0) < 0) continue;
            is_open[socket] = 1;
            last[socket] = 0;
            due[socket] = asked[socket] + gap;
            order[(order_next + order_count++) % most] = socket;
        }
    }
    print("first", firsts, first_count);
    print("gap", gaps, gap_count);
    return 0;
}
