/*
 * context.h - a context for all tests of a program, by name: UNIT_MAIN(tests, context_start, context_end).
 */
#ifndef YOKE_TESTS_CONTEXT_H
#define YOKE_TESTS_CONTEXT_H

#include "state.h"

static yoke_context *context;

static inline int context_start(void **state)
{
    const int failed = state_start(state);
    context = *state;
    return failed;
}

static inline int context_end(void **state) { return state_end(state); }

#endif
