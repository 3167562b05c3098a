/* bare.c over TLS: bare_tls PORT SECONDS CONNECTIONS. OpenSSL works in memory, as volley's does: one recv and one send a request. No
 * parser, no statistics, no verification; an answer is whatever one recv decrypts to. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

static unsigned char ciphertext[65536], plaintext[65536], output[65536];
static const unsigned char *input;
static size_t input_left, output_count;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static int take(BIO *bio, char *buffer, size_t length, size_t *taken) {
    BIO_clear_retry_flags(bio);
    *taken = input_left < length ? input_left : length;
    if (*taken == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    memcpy(buffer, input, *taken);
    input += *taken;
    input_left -= *taken;
    return 1;
}

static int put(BIO *bio, const char *bytes, size_t length, size_t *taken) {
    BIO_clear_retry_flags(bio);
    if (length > sizeof output - output_count) return 0;
    memcpy(output + output_count, bytes, length);
    output_count += length;
    *taken = length;
    return 1;
}

static long control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

/* False: the peer has ended, or failed. */
static int receive(int connection) {
    ssize_t count = recv(connection, ciphertext, sizeof ciphertext, 0);
    input = ciphertext;
    input_left = count > 0 ? count : 0;
    return count > 0;
}

static void flush(int connection) {
    send(connection, output, output_count, MSG_NOSIGNAL);
    output_count = 0;
}

int main(int count, char **arguments) {
    if (count != 4) return 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    address.sin_port = htons(atoi(arguments[1]));
    double end = now() + atof(arguments[2]);
    char request[128];
    int length = sprintf(request, "GET / HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n", arguments[1]);
    int set = epoll_create1(0), one = 1;
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    BIO_METHOD *memory = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "memory");
    BIO_meth_set_read_ex(memory, take);
    BIO_meth_set_write_ex(memory, put);
    BIO_meth_set_ctrl(memory, control);
    long answers = 0;
    size_t moved;
    for (int left = atoi(arguments[3]); left > 0; left--) {
        int connection = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(connection, (struct sockaddr *)&address, sizeof address)) return 1;
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        SSL *ssl = SSL_new(context);
        BIO *bio = BIO_new(memory);
        BIO_set_init(bio, 1);
        SSL_set_bio(ssl, bio, bio);
        SSL_set_app_data(ssl, (void *)(long)connection);
        SSL_set_connect_state(ssl);
        for (;;) {
            int done = SSL_do_handshake(ssl) == 1;
            flush(connection);
            if (done) break;
            if (!receive(connection)) return 1;
        }
        fcntl(connection, F_SETFL, O_NONBLOCK);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = ssl};
        epoll_ctl(set, EPOLL_CTL_ADD, connection, &event);
        if (SSL_write_ex(ssl, request, length, &moved) != 1) return 1;
        flush(connection);
    }
    while (now() < end) {
        struct epoll_event events[256];
        int ready = epoll_wait(set, events, 256, 1000);
        for (int i = 0; i < ready; i++) {
            SSL *ssl = events[i].data.ptr;
            int connection = (int)(long)SSL_get_app_data(ssl);
            if (!receive(connection)) return 1;
            int answered = 0;
            while (input_left > 0 && SSL_read_ex(ssl, plaintext, sizeof plaintext, &moved) == 1) answered = 1;
            /* A ticket is no answer. */
            if (!answered) continue;
            answers++;
            if (SSL_write_ex(ssl, request, length, &moved) != 1) return 1;
            flush(connection);
        }
    }
    printf("%ld requests in %s s\n", answers, arguments[2]);
}
