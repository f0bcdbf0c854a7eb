/*
 * failing.h - an allocator that counts, and fails when told: for tests that no failing allocation is missed.
 */
#ifndef YOKE_TESTS_FAILING_H
#define YOKE_TESTS_FAILING_H

#include <stdint.h>
#include <stdlib.h>

#include "yoke/yoke.h"

typedef struct failing {
    int64_t calls;       /* allocations asked for */
    int64_t fail_at;     /* the allocation with this number (from 1) fails, and all after it; 0: none */
    int64_t outstanding; /* given and not given back */
} failing;

static inline void *failing_allocate(size_t bytes, void *user)
{
    failing *state = user;
    if (++state->calls >= state->fail_at && state->fail_at != 0) return NULL;
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (memory != NULL) state->outstanding++;
    return memory;
}

static inline void failing_release(void *memory, void *user)
{
    failing *state = user;
    state->outstanding--;
    free(memory);
}

/* So many further allocations succeed. */
static inline void failing_allow(failing *state, int64_t count) { state->fail_at = state->calls + count + 1; }

static inline yoke_options failing_options(failing *state)
{
    return (yoke_options){.allocate = failing_allocate, .release = failing_release, .memory_user = state};
}

#endif
