/*
 * state.h - a context for all tests of a program, which each gets as its state: UNIT_MAIN(tests, state_start, state_end).
 */
#ifndef YOKE_TESTS_STATE_H
#define YOKE_TESTS_STATE_H

#include "unit.h"
#include "yoke/yoke.h"

static inline int state_start(void **state)
{
    yoke_context *context = NULL;
    yoke_status status = yoke_context_create(NULL, &context);
    *state = context;
    return status != YOKE_OK;
}

static inline int state_end(void **state)
{
    yoke_context_destroy(*state);
    return 0;
}

#endif
