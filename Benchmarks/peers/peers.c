// Drives the two C parsers over a benchmark input, doing what ours does with each message: a slice for every field name
// and value, Content-Length and Transfer-Encoding read, the body accounted for. Built by ../peers.sh against sources that
// are fetched at bench time and never committed.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "llhttp.h"
#include "picohttpparser.h"

typedef struct {
    const char *name, *value;
    size_t name_length, value_length;
} slice;

static volatile size_t sink;

static int field_is(const struct phr_header *h, const char *name, size_t length) {
    return h->name_len == length && strncasecmp(h->name, name, length) == 0;
}

// One message from `in`; the octets it took. Chunk data is decoded in place, hence the copy in `scratch`.
static size_t pico_message(const char *in, size_t n, size_t feed, int request, char *scratch) {
    struct phr_header headers[256];
    size_t count, method_length, path_length, message_length, have = 0, last;
    const char *method, *path, *message;
    int minor, status, head;
    do {
        last = have;
        have = have + feed < n ? have + feed : n;
        count = 256;
        if (request)
            head = phr_parse_request(in, have, &method, &method_length, &path, &path_length, &minor, headers, &count, last);
        else
            head = phr_parse_response(in, have, &minor, &status, &message, &message_length, headers, &count, last);
    } while (head == -2 && have < n);
    if (head < 0) abort();
    size_t body = 0;
    int chunked = 0;
    for (size_t i = 0; i < count; i++) {
        if (field_is(&headers[i], "content-length", 14)) {
            for (size_t j = 0; j < headers[i].value_len; j++) body = body * 10 + (size_t)(headers[i].value[j] - '0');
        } else if (field_is(&headers[i], "transfer-encoding", 17)) {
            chunked = headers[i].value_len == 7 && strncasecmp(headers[i].value, "chunked", 7) == 0;
        }
    }
    sink += count + headers[count - 1].value_len;
    if (!chunked) {
        sink += body;
        return (size_t)head + body;
    }
    struct phr_chunked_decoder decoder = {0};
    decoder.consume_trailer = 1;
    size_t position = (size_t)head;
    for (;;) {
        size_t size = n - position < feed ? n - position : feed;
        if (have > position && size > have - position) size = have - position;
        memcpy(scratch, in + position, size);
        size_t taken = size;
        ssize_t left = phr_decode_chunked(&decoder, scratch, &size);
        if (left == -1) abort();
        sink += size;
        position += taken;
        if (left >= 0) return position - (size_t)left;
        if (position >= n) abort();
    }
}

void peers_pico(const char *in, size_t n, size_t feed, int request, long rounds) {
    char *scratch = malloc(n);
    for (long r = 0; r < rounds; r++) {
        size_t position = 0;
        while (position < n) position += pico_message(in + position, n - position, feed, request, scratch);
    }
    free(scratch);
}

typedef struct {
    llhttp_t parser;
    slice slices[256];
    size_t count, body, done;
} recorder;

static int on_name(llhttp_t *p, const char *at, size_t length) {
    recorder *r = (recorder *)p;
    slice *s = &r->slices[r->count & 255];
    if (s->name_length == 0) s->name = at;
    s->name_length += length;
    return 0;
}
static int on_value(llhttp_t *p, const char *at, size_t length) {
    recorder *r = (recorder *)p;
    slice *s = &r->slices[r->count & 255];
    if (s->value_length == 0) s->value = at;
    s->value_length += length;
    return 0;
}
static int on_value_complete(llhttp_t *p) {
    recorder *r = (recorder *)p;
    r->count++;
    r->slices[r->count & 255] = (slice){0};
    return 0;
}
static int on_body(llhttp_t *p, const char *at, size_t length) {
    (void)at;
    ((recorder *)p)->body += length;
    return 0;
}
static int on_complete(llhttp_t *p) {
    recorder *r = (recorder *)p;
    sink += r->count + r->body + r->slices[0].value_length;
    r->done = 1;
    return HPE_PAUSED;
}

void peers_llhttp(const char *in, size_t n, size_t feed, int request, long rounds) {
    llhttp_settings_t settings;
    llhttp_settings_init(&settings);
    settings.on_header_field = on_name;
    settings.on_header_value = on_value;
    settings.on_header_value_complete = on_value_complete;
    settings.on_body = on_body;
    settings.on_message_complete = on_complete;
    recorder r;
    for (long i = 0; i < rounds; i++) {
        size_t position = 0;
        while (position < n) {
            llhttp_init(&r.parser, request ? HTTP_REQUEST : HTTP_RESPONSE, &settings);
            r.count = r.body = r.done = 0;
            r.slices[0] = (slice){0};
            while (!r.done) {
                size_t size = n - position < feed ? n - position : feed;
                llhttp_errno_t e = llhttp_execute(&r.parser, in + position, size);
                if (e == HPE_PAUSED)
                    position = (size_t)(llhttp_get_error_pos(&r.parser) - in);
                else if (e == HPE_OK)
                    position += size;
                else
                    abort();
                if (position >= n) break;
            }
        }
    }
}
