/* What Swift's module of Glibc leaves out: the figures of the heap. */
#include <malloc.h>
