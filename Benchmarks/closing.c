/* Answers one request a connection and closes without announcing it, as some servers do: closing [LOG]. Prints its port. With a file, the
   path of each request that it has read goes there, a line each. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The path stands between the first two blanks. */
static void note(int log, char *request) {
    char *path = strchr(request, ' ');
    char *end = path ? strchr(path + 1, ' ') : NULL;
    if (!end) return;
    *end = '\n';
    if (write(log, path + 1, (size_t)(end - path)) < 0) _exit(1);
}

int main(int count, char **arguments) {
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int log = count > 1 ? open(arguments[1], O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 128)) return 1;
    getsockname(listener, (struct sockaddr *)&address, &length);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        char request[65537];
        int connection = accept(listener, NULL, NULL);
        if (connection < 0) return 1;
        ssize_t length = recv(connection, request, sizeof request - 1, 0);
        if (length > 0) {
            request[length] = 0;
            if (log >= 0) note(log, request);
            send(connection, answer, strlen(answer), MSG_NOSIGNAL);
        }
        close(connection);
    }
}
