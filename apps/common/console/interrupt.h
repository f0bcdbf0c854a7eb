/*
 * interrupt.h - SIGINT, SIGTERM and SIGHUP as a flag that long work checks, and the exit codes of statuses.
 */
#ifndef APP_INTERRUPT_H
#define APP_INTERRUPT_H

#include "yoke/yoke.h"

/*
 * From now on the first SIGINT, SIGTERM or SIGHUP (unless that is ignored, as under nohup) is only recorded, and the second one of the same
 * kind ends the process at once.  Sleeping system calls are not restarted: they fail with EINTR.  A file that grows beyond the process's
 * limit is a failed write and no longer a signal, so that temporary files are removed.  Errors: SYSTEM.
 */
yoke_status app_interrupt_catch(yoke_context *context);

/*
 * From now on SIGPIPE is recorded, too, so that a program whose reader has gone removes its temporary files: writes to it fail.  Unless it
 * is ignored.  Errors: SYSTEM.
 */
yoke_status app_interrupt_catch_pipe(yoke_context *context);

/* The signal that was caught, or 0.  May be called from any thread. */
int app_interrupted(void);

/* Records a signal that another process of the same run has caught; 0: nothing.  A signal that was caught here stays. */
void app_interrupt_note(int number);

/* Fails with INTERRUPTED, naming the signal, if one was caught; else YOKE_OK. */
yoke_status app_interrupt_check(yoke_context *context);

/*
 * The exit code of a program: 0 OK; 2 INPUT, ARGUMENT; 3 UNAVAILABLE; 128 + signal INTERRUPTED; 1 everything else.
 */
int app_exit_code(yoke_status status);

#endif
