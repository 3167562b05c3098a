// libcurl's multi interface with the work of Driver.swift: the same arguments, and the same line of output.
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static CURLM *multi;
static size_t bytes;
static char **urls;
static size_t url_count, next_url;

static void fail(const char *what) { fprintf(stderr, "%s\n", what); exit(1); }

static double cpu_time(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double wall_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static size_t took(char *data, size_t size, size_t count, void *context) { bytes += size * count; return size * count; }

static void start(CURL *easy) {
    curl_easy_setopt(easy, CURLOPT_URL, urls[next_url++ % url_count]);
    curl_multi_add_handle(multi, easy);
}

static void burst(CURL **easy, long tasks, long total) {
    long begun = 0, ended = 0;
    int running = 0;
    while (begun < tasks && begun < total) start(easy[begun++]);
    curl_multi_perform(multi, &running);
    while (ended < total) {
        // Fewer system calls than with curl_multi_socket_action and epoll, which is told of each transfer's socket anew.
        curl_multi_poll(multi, NULL, 0, 1000, NULL);
        curl_multi_perform(multi, &running);
        int left;
        for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
            if (message->msg != CURLMSG_DONE) continue;
            CURL *one = message->easy_handle;
            if (message->data.result != CURLE_OK) fail(curl_easy_strerror(message->data.result));
            curl_multi_remove_handle(multi, one);
            ended++;
            if (begun < total) {
                begun++;
                start(one);
            }
        }
    }
}

int main(int count, char **arguments) {
    if (count != 4 && count != 5) fail("usage: multi URL TASKS REQUESTS [QUERIES]");
    long tasks = atol(arguments[2]), total = atol(arguments[3]), queries = count == 5 ? atol(arguments[4]) : 1;
    if (tasks < 1 || total < tasks || queries < 1) fail("a number is too small");
    url_count = queries;
    urls = calloc(queries, sizeof *urls);
    for (long query = 0; query < queries; query++) {
        char text[1024];
        snprintf(text, sizeof text, count == 5 ? "%s?query=%ld" : "%s", arguments[1], query);
        urls[query] = strdup(text);
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, tasks);
    CURL **easy = calloc(tasks, sizeof *easy);
    for (long index = 0; index < tasks; index++) {
        easy[index] = curl_easy_init();
        curl_easy_setopt(easy[index], CURLOPT_WRITEFUNCTION, took);
        curl_easy_setopt(easy[index], CURLOPT_NOSIGNAL, 1L);
    }
    // Connections and the like are made before the clock starts.
    burst(easy, tasks, tasks * 20);
    bytes = 0;
    double cpu = cpu_time(), wall = wall_time();
    burst(easy, tasks, total);
    cpu = cpu_time() - cpu;
    wall = wall_time() - wall;
    printf("requests %ld bytes %zu cpu_us %f wall_us %f\n", total, bytes, cpu / total * 1e6, wall / total * 1e6);
    return 0;
}
