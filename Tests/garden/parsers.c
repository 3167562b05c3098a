/* llhttp and picohttpparser over the responses of a file, which are headed by their lengths: a line of JSON each, as GardenClient parse. picohttpparser has no framing
   of its own: beside its head and its chunks, a Content-Length is read here as strictly as it can be. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "llhttp.h"
#include "picohttpparser.h"

static uint32_t sum;
static size_t length;
static int done, status;

static void add(const char *at, size_t count) {
    length += count;
    for (size_t i = 0; i < count; i++) sum = (sum ^ (uint8_t)at[i]) * 0x1000193;
}
static int on_body(llhttp_t *parser, const char *at, size_t count) { (void)parser; add(at, count); return 0; }
static int on_headers(llhttp_t *parser) { status = parser->status_code; return 0; }
static int on_end(llhttp_t *parser) {
    if (parser->status_code >= 100 && parser->status_code < 200 && parser->status_code != 101) return 0;
    done = 1;
    return HPE_PAUSED;
}

static void say(int id, const char *verdict) {
    printf("{\"id\":%d,\"verdict\":\"%s\",\"status\":%d,\"length\":%zu,\"sum\":\"%x\"}\n", id, verdict, status, length, sum);
}

static const char *by_llhttp(const char *octets, size_t count) {
    llhttp_settings_t settings;
    llhttp_t parser;
    llhttp_settings_init(&settings);
    settings.on_body = on_body;
    settings.on_headers_complete = on_headers;
    settings.on_message_complete = on_end;
    llhttp_init(&parser, HTTP_RESPONSE, &settings);
    llhttp_errno_t error = llhttp_execute(&parser, octets, count);
    if (done) return "taken";
    if (error != HPE_OK && error != HPE_PAUSED) return "refused";
    error = llhttp_finish(&parser);
    return done ? "taken" : "cut";
}

static const char *by_pico(char *octets, size_t count) {
    static struct phr_header fields[4096];
    for (;;) {
        size_t fields_count = 4096, reason_length;
        const char *reason;
        int minor, chunked = 0, head = phr_parse_response(octets, count, &minor, &status, &reason, &reason_length, fields, &fields_count, 0);
        if (head == -1) return "refused";
        if (head == -2) return "cut";
        octets += head;
        count -= (size_t)head;
        if (status >= 100 && status < 200 && status != 101) continue;
        if (status == 204 || status == 304 || status == 101) return "taken";
        long long size = -1;
        for (size_t i = 0; i < fields_count; i++) {
            if (fields[i].name_len == 14 && !strncasecmp(fields[i].name, "content-length", 14)) {
                long long value = 0;
                if (!fields[i].value_len || fields[i].value_len > 18) return "refused";
                for (size_t j = 0; j < fields[i].value_len; j++) {
                    if (fields[i].value[j] < '0' || fields[i].value[j] > '9') return "refused";
                    value = value * 10 + fields[i].value[j] - '0';
                }
                if (size >= 0 && size != value) return "refused";
                size = value;
            }
            if (fields[i].name_len == 17 && !strncasecmp(fields[i].name, "transfer-encoding", 17)) chunked = fields[i].value_len == 7 && !strncasecmp(fields[i].value, "chunked", 7);
        }
        if (chunked) {
            struct phr_chunked_decoder decoder = {.consume_trailer = 1};
            size_t room = count;
            ssize_t left = phr_decode_chunked(&decoder, octets, &room);
            if (left == -1) return "refused";
            add(octets, room);
            return left == -2 ? "cut" : "taken";
        }
        if (size >= 0 && (size_t)size > count) { add(octets, count); return "cut"; }
        add(octets, size >= 0 ? (size_t)size : count);
        return "taken";
    }
}

int main(int argc, char **argv) {
    FILE *file = argc == 3 ? fopen(argv[2], "rb") : NULL;
    unsigned char size[4];
    if (!file) return 2;
    for (int id = 0; fread(size, 1, 4, file) == 4; id++) {
        size_t count = (size_t)size[0] << 24 | (size_t)size[1] << 16 | (size_t)size[2] << 8 | size[3];
        char *octets = malloc(count + 1);
        if (fread(octets, 1, count, file) != count) return 2;
        sum = 0x811c9dc5;
        length = 0;
        done = status = 0;
        say(id, !strcmp(argv[1], "llhttp") ? by_llhttp(octets, count) : by_pico(octets, count));
        free(octets);
    }
    return 0;
}
