/* Answers one request a connection and closes without a word of it, as some servers do: closing. Prints its port. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void) {
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 128)) return 1;
    getsockname(listener, (struct sockaddr *)&address, &length);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        char request[65536];
        int connection = accept(listener, NULL, NULL);
        if (connection < 0) return 1;
        if (recv(connection, request, sizeof request, 0) > 0) send(connection, answer, strlen(answer), MSG_NOSIGNAL);
        close(connection);
    }
}
