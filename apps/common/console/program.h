/*
 * program.h - the common part of the main functions of all programs.
 */
#ifndef APP_PROGRAM_H
#define APP_PROGRAM_H

#include "common/console/terminal.h"

/* The text of a failure is on the context. */
typedef yoke_status app_program_function(yoke_context *context, app_terminal *terminal, int argc, char **argv);

/* Runs `run` with a context that logs to a terminal under this name ("yoke fem"), reports a failure, and returns the exit code. */
int app_program(const char *name, app_program_function *run, int argc, char **argv);

/*
 * Checks whether the process's limits and environment allow it to run; app_program calls this itself.
 * Errors: SYSTEM (too small a stack), INPUT (OMP_NUM_THREADS).
 */
yoke_status app_program_check(yoke_context *context);

#endif
