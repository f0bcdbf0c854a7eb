/*
 * context.h - what a context holds.
 */
#ifndef YOKE_BASE_CONTEXT_H
#define YOKE_BASE_CONTEXT_H

#include <pthread.h>
#include <stdarg.h>

#include "yoke/yoke.h"

enum { YOKE_TEXT_BYTES = 2048 };

struct yoke_context {
    yoke_options options;       /* allocate and release are never NULL */
    pthread_mutex_t error_lock; /* several threads may allocate, and so fail, at once */
    char error[YOKE_TEXT_BYTES];
    void *topology; /* hwloc's, read at the first question and then kept, so that core numbers stay the same; NULL until then */
    void *devices;  /* the kinds of device and what they keep (src/device), NULL until asked for */
    void (*devices_forget)(void *devices); /* gives that back at the end of the context */
};

/* The printed text, cut at YOKE_TEXT_BYTES - 1 bytes with "..." as its end where it is longer. */
void yoke_format_text(char text[YOKE_TEXT_BYTES], const char *format, va_list arguments) YOKE_PRINTF(2, 0);

/* The default allocator (see yoke_options). */
void *yoke_default_allocate(size_t bytes, void *user);
void yoke_default_release(void *memory, void *user);

/* Gives back what yoke_topology_get keeps on the context. */
void yoke_topology_forget(yoke_context *context);

/* Lets the calling thread run on all cores again that this process may use.  Errors: SYSTEM. */
yoke_status yoke_unbind_thread(yoke_context *context);

#endif
