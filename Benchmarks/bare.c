/* As little as a client can do: bare PORT SECONDS CONNECTIONS. No parser, no statistics; an answer is whatever one recv gives. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
    if (count != 4) return 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    address.sin_port = htons(atoi(arguments[1]));
    double end = now() + atof(arguments[2]);
    char request[128], answer[65536];
    int length = sprintf(request, "GET / HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n", arguments[1]);
    int set = epoll_create1(0), one = 1;
    long answers = 0;
    for (int left = atoi(arguments[3]); left > 0; left--) {
        int connection = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(connection, (struct sockaddr *)&address, sizeof address)) return 1;
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        fcntl(connection, F_SETFL, O_NONBLOCK);
        struct epoll_event event = {.events = EPOLLIN, .data.fd = connection};
        epoll_ctl(set, EPOLL_CTL_ADD, connection, &event);
        send(connection, request, length, MSG_NOSIGNAL);
    }
    while (now() < end) {
        struct epoll_event events[256];
        int ready = epoll_wait(set, events, 256, 1000);
        for (int i = 0; i < ready; i++) {
            if (recv(events[i].data.fd, answer, sizeof answer, 0) <= 0) return 1;
            answers++;
            send(events[i].data.fd, request, length, MSG_NOSIGNAL);
        }
    }
    printf("%ld requests in %s s\n", answers, arguments[2]);
}
