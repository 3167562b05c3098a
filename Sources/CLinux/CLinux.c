#define _GNU_SOURCE
#include "CLinux.h"

int uncurl_accept(int fd, struct sockaddr *address, socklen_t *length) {
    return accept4(fd, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

const char *uncurl_errno_name(int code) { return strerrorname_np(code); }

const char *uncurl_errno_text(int code) { return strerrordesc_np(code); }

void uncurl_name_thread(pthread_t thread, const char *name) { pthread_setname_np(thread, name); }

int uncurl_is_no_address(int code) { return code == EAI_NODATA || code == EAI_ADDRFAMILY; }

#ifdef DEBUG
static _Thread_local void *thread_faults;

void *uncurl_thread_faults(void) { return thread_faults; }

void uncurl_set_thread_faults(void *plan) { thread_faults = plan; }
#endif
