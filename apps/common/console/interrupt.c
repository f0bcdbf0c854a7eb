#include "common/console/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/*
 * Signal handlers have no user pointer, so the process has this one flag.  It is lock-free, hence safe in a handler, and any thread can
 * read it.
 */
static atomic_int caught;

static void note(int number) { atomic_store(&caught, number); }

/* nohup and some shells start programs that are to ignore a signal.  Returns false, with errno, if it cannot be caught. */
static bool catch_unless_ignored(int number, const struct sigaction *action)
{
    struct sigaction before;
    if (sigaction(number, NULL, &before) != 0) return false;
    return before.sa_handler == SIG_IGN || sigaction(number, action, NULL) == 0;
}

yoke_status app_interrupt_catch(yoke_context *context)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    if (sigaction(SIGINT, &action, NULL) != 0 || sigaction(SIGTERM, &action, NULL) != 0 || sigaction(SIGXFSZ, &ignore, NULL) != 0 ||
        !catch_unless_ignored(SIGHUP, &action))
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "signals cannot be caught: %s", strerror(errno));
    return YOKE_OK;
}

yoke_status app_interrupt_catch_pipe(yoke_context *context)
{
    struct sigaction action = {.sa_handler = note};
    sigemptyset(&action.sa_mask);
    if (!catch_unless_ignored(SIGPIPE, &action))
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "signals cannot be caught: %s", strerror(errno));
    return YOKE_OK;
}

int app_interrupted(void) { return atomic_load(&caught); }

void app_interrupt_note(int number)
{
    int nothing = 0;
    if (number) atomic_compare_exchange_strong(&caught, &nothing, number);
}

static const char *name_of(int number)
{
    return number == SIGINT ? "SIGINT" : number == SIGHUP ? "SIGHUP" : number == SIGPIPE ? "SIGPIPE" : "SIGTERM";
}

yoke_status app_interrupt_check(yoke_context *context)
{
    int number = app_interrupted();
    if (number == 0) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_INTERRUPTED, "interrupted by %s", name_of(number));
}

int app_exit_code(yoke_status status)
{
    switch (status) {
    case YOKE_OK:
        return 0;
    case YOKE_ERROR_ARGUMENT:
    case YOKE_ERROR_INPUT:
        return 2;
    case YOKE_ERROR_UNAVAILABLE:
        return 3;
    case YOKE_ERROR_INTERRUPTED:
        return app_interrupted() != 0 ? 128 + app_interrupted() : 1;
    case YOKE_ERROR_MEMORY:
    case YOKE_ERROR_SYSTEM:
    case YOKE_ERROR_NUMERIC:
    case YOKE_ERROR_INTERNAL:
    case YOKE_ERROR_DEVICE:
    case YOKE_ERROR_DEVICE_MEMORY:
        break;
    }
    return 1;
}
