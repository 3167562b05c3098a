/* Debian 12's liburing (2.3) with two calls of 2.4 that gcannon makes: a ring of buffers, and its end. */
#pragma once
#include_next <liburing.h>
#include <errno.h>
#include <sys/mman.h>

static inline struct io_uring_buf_ring *io_uring_setup_buf_ring(struct io_uring *ring, unsigned entries, int group, unsigned flags, int *error) {
    size_t size = entries * sizeof(struct io_uring_buf);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
    struct io_uring_buf_reg registration = {.ring_addr = (unsigned long)memory, .ring_entries = entries, .bgid = group};
    *error = memory == MAP_FAILED ? -errno : io_uring_register_buf_ring(ring, &registration, flags);
    if (*error == 0) {
        io_uring_buf_ring_init(memory);
        return memory;
    }
    if (memory != MAP_FAILED) munmap(memory, size);
    return NULL;
}

static inline int io_uring_free_buf_ring(struct io_uring *ring, struct io_uring_buf_ring *buffers, unsigned entries, int group) {
    int error = io_uring_unregister_buf_ring(ring, group);
    return error ? error : munmap(buffers, entries * sizeof(struct io_uring_buf));
}
