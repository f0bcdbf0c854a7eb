/* Aligned memory from the context's allocator: zero or untouched, alone or as the owner of further memory. */
#include <stdlib.h>
#include <string.h>

#include "base/context.h"

enum { ALIGNMENT = 64 };

void *yoke_default_allocate(size_t bytes, void *user)
{
    (void)user;
    if (bytes > PTRDIFF_MAX - ALIGNMENT) return NULL;
    /* C11 requires a multiple of the alignment. */
    return aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

void yoke_default_release(void *memory, void *user)
{
    (void)user;
    free(memory);
}

/*
 * *pointer is of a type that is not known here, so it is written byte by byte: all pointers to objects have the form of a void * (POSIX).
 */
yoke_status yoke_allocate_memory(yoke_context *context, int64_t count, size_t size, int untouched, void *pointer)
{
    if (context == NULL || pointer == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_allocate: %s is NULL", context == NULL ? "context" : "pointer");
    if (count < 0) return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_allocate: a count of %lld is negative", (long long)count);
    if (size != 0 && (uint64_t)count > PTRDIFF_MAX / size)
        return yoke_fail(context, YOKE_ERROR_MEMORY, "out of memory: %lld x %zu bytes asked for, which is more than can be addressed",
                         (long long)count, size);
    const size_t bytes = (size_t)count * size;
    void *got = context->options.allocate(bytes > 0 ? bytes : 1, context->options.memory_user);
    if (got == NULL)
        return yoke_fail(context, YOKE_ERROR_MEMORY,
                         "out of memory: %zu bytes (%lld x %zu) asked for; make the problem smaller or run where there is more memory",
                         bytes, (long long)count, size);
    if ((uintptr_t)got % ALIGNMENT != 0) {
        context->options.release(got, context->options.memory_user);
        return yoke_fail(context, YOKE_ERROR_ARGUMENT,
                         "the allocator given to yoke_context_create returned memory that is not aligned to %d bytes", ALIGNMENT);
    }
    if (!untouched) memset(got, 0, bytes);
    memcpy(pointer, &got, sizeof got);
    return YOKE_OK;
}

typedef struct yoke_owner {
    void *memory;
    yoke_parts_release *release_parts;
    struct yoke_owner *next;
} yoke_owner;

yoke_status yoke_allocate_owner(yoke_context *context, size_t size, yoke_parts_release *release_parts, void **memory)
{
    void *owner_memory = NULL, *made = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof(yoke_owner), &owner_memory);
    if (status == YOKE_OK) status = yoke_allocate(context, 1, size, &made);
    if (status != YOKE_OK) {
        yoke_release(context, owner_memory);
        return status;
    }
    yoke_owner *owner = owner_memory;
    *owner = (yoke_owner){.memory = made, .release_parts = release_parts};
    pthread_mutex_lock(&context->lock);
    owner->next = context->owners;
    context->owners = owner;
    atomic_fetch_add(&context->num_owners, 1);
    pthread_mutex_unlock(&context->lock);
    *memory = made;
    return YOKE_OK;
}

/* Takes the entry of this memory out of the context's list.  NULL: it is an ordinary allocation. */
static yoke_owner *take_owner(yoke_context *context, const void *memory)
{
    if (atomic_load(&context->num_owners) == 0) return NULL;
    pthread_mutex_lock(&context->lock);
    yoke_owner **link = &context->owners;
    while (*link != NULL && (*link)->memory != memory) link = &(*link)->next;
    yoke_owner *found = *link;
    if (found != NULL) {
        *link = found->next;
        atomic_fetch_sub(&context->num_owners, 1);
    }
    pthread_mutex_unlock(&context->lock);
    return found;
}

void yoke_release(yoke_context *context, void *memory)
{
    if (context == NULL || memory == NULL) return;
    yoke_owner *owner = take_owner(context, memory);
    if (owner != NULL) {
        owner->release_parts(context, memory);
        context->options.release(owner, context->options.memory_user);
    }
    context->options.release(memory, context->options.memory_user);
}
