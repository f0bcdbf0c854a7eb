/*
 * context.h - a context for all tests of a program: UNIT_MAIN(tests, context_start, context_end).
 */
#ifndef YOKE_TESTS_CONTEXT_H
#define YOKE_TESTS_CONTEXT_H

#include "unit.h"
#include "yoke/yoke.h"

static yoke_context *context;

static inline int context_start(void **state)
{
    (void)state;
    return yoke_context_create(NULL, &context) != YOKE_OK;
}

static inline int context_end(void **state)
{
    (void)state;
    yoke_context_destroy(context);
    return 0;
}

#endif
