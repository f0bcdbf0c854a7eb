/*
 * context.h - the data of a context.
 */
#ifndef YOKE_BASE_CONTEXT_H
#define YOKE_BASE_CONTEXT_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>

#include "yoke/yoke.h"

enum { YOKE_TEXT_BYTES = 2048 };

struct yoke_context {
    yoke_options options; /* allocate and release are never NULL */
    pthread_mutex_t lock; /* for error and owners: several threads may allocate, and so fail, at once */
    char error[YOKE_TEXT_BYTES];
    struct yoke_owner *owners; /* memory with parts that belong to it (yoke_allocate_owner) */
    atomic_int num_owners;     /* so that yoke_release need not lock if there is none */
    void *topology;            /* hwloc's, loaded at the first request and then kept, so that core numbers stay the same; NULL until then */
    void *devices;             /* the kinds of device and their data (src/device), NULL until requested */
    void (*devices_forget)(void *devices); /* frees `devices` at the end of the context */
};

/* Writes the formatted text; a text of more than YOKE_TEXT_BYTES - 1 bytes is cut and ends with "...". */
void yoke_format_text(char text[YOKE_TEXT_BYTES], const char *format, va_list arguments) YOKE_PRINTF(2, 0);

/* The default allocator (see yoke_options). */
void *yoke_default_allocate(size_t bytes, void *user);
void yoke_default_release(void *memory, void *user);

/*
 * As yoke_allocate for one item to which more memory belongs.  yoke_release of the item first calls release_parts, which frees that
 * memory (parts that do not exist yet are zero).  So results that consist of several pieces need no function of their own.  Errors: MEMORY.
 */
typedef void yoke_parts_release(yoke_context *context, void *memory);
yoke_status yoke_allocate_owner(yoke_context *context, size_t size, yoke_parts_release *release_parts, void **memory);

/* Frees what yoke_topology_get keeps on the context. */
void yoke_topology_forget(yoke_context *context);

/*
 * Binds the calling thread to core number `core` (0 <= core < topology.cores, in hwloc's logical order).
 * Errors: ARGUMENT (no such core), SYSTEM (the system refuses).
 */
yoke_status yoke_bind_thread(yoke_context *context, int64_t core);

/* Lets the calling thread run again on all cores that this process may use.  Errors: SYSTEM. */
yoke_status yoke_unbind_thread(yoke_context *context);

#endif
