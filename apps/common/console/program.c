#include "common/console/program.h"

#include <stdlib.h>
#include <sys/resource.h>

/* With less, main functions and OpenMP threads, whose stacks have the same size, overflow. */
enum { MIN_STACK_BYTES = 512 * 1024, MAX_THREADS = 1024 };

yoke_status app_program_check(yoke_context *context)
{
    struct rlimit stack;
    const char *threads = getenv("OMP_NUM_THREADS");
    if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY && stack.rlim_cur < MIN_STACK_BYTES)
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "the stack is limited to %lld KiB, and %d are needed; as in: ulimit -s 8192",
                         (long long)stack.rlim_cur / 1024, MIN_STACK_BYTES / 1024);
    if (threads != NULL && strtod(threads, NULL) > MAX_THREADS)
        return yoke_fail(context, YOKE_ERROR_INPUT, "OMP_NUM_THREADS is %.40s; at most %d threads can be used", threads, MAX_THREADS);
    return YOKE_OK;
}

int app_program(const char *name, app_program_function *run, int argc, char **argv)
{
    app_terminal terminal;
    app_terminal_start(&terminal, name);
    app_terminal_look(&terminal, argc, argv);
    yoke_options options = {.log = app_terminal_log, .log_user = &terminal, .log_level = YOKE_LOG_INFO};
    yoke_context *context = NULL;
    yoke_status status = yoke_context_create(&options, &context);
    if (!status) status = app_program_check(context);
    if (!status) status = run(context, &terminal, argc, argv);
    int code = app_terminal_end(&terminal, context, status);
    yoke_context_destroy(context);
    return code;
}
