/*
 * failing_call.h - a call with every one of its allocations failing in turn.
 */
#ifndef YOKE_TESTS_FAILING_CALL_H
#define YOKE_TESTS_FAILING_CALL_H

#include "base/failing.h"
#include "unit.h"

/* Gives back what it made, if it succeeds. */
typedef yoke_status failing_call(yoke_context *context, void *user);

/* Each attempt on a context of its own says that memory ended, and leaves nothing behind, until one succeeds.  Returns how many failed. */
static inline int64_t failing_call_everywhere(failing_call *call, void *user)
{
    for (int64_t failed = 0;; failed++) {
        failing memory = {0};
        const yoke_options options = failing_options(&memory);
        yoke_context *context = NULL;
        assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
        const int64_t before = memory.outstanding;
        failing_allow(&memory, failed);
        yoke_status status = call(context, user);
        assert_int_equal(memory.outstanding, before);
        yoke_context_destroy(context);
        assert_int_equal(memory.outstanding, 0);
        if (status == YOKE_OK) return failed;
        assert_int_equal(status, YOKE_ERROR_MEMORY);
    }
}

#endif
