/*
 * tool.h - the subcommands of yoke.
 */
#ifndef TOOL_TOOL_H
#define TOOL_TOOL_H

#include "common/console/terminal.h"
#include "yoke/yoke.h"

typedef struct tool_command {
    const char *name;
    const char *summary;
    /* argv[0] is the subcommand.  Returns its status; the text of a failure is on the context. */
    yoke_status (*run)(yoke_context *context, app_terminal *terminal, int argc, char **argv);
    const char *program; /* if run is NULL: the separate program of the subcommand (tool_become) */
} tool_command;

/* Shows the machine. */
yoke_status tool_info(yoke_context *context, app_terminal *terminal, int argc, char **argv);

/* Runs a command, or watches, and reports its energy in joules. */
yoke_status tool_energy(yoke_context *context, app_terminal *terminal, int argc, char **argv);
/* Ends this process by a signal, as a command that it ran was ended; returns the exit code to end with if the signal does not end it. */
int tool_end_by_signal(int number);

/* Power over time of a short kernel. */
yoke_status tool_profile(yoke_context *context, app_terminal *terminal, int argc, char **argv);

/* Computes how many units each device gets, from a model file. */
yoke_status tool_plan(yoke_context *context, app_terminal *terminal, int argc, char **argv);

/* Measures speeds, copies, powers and frequencies for plans. */
yoke_status tool_calibrate(yoke_context *context, app_terminal *terminal, int argc, char **argv);

/* Copies the files that meters and frequencies read into a directory. */
yoke_status tool_gather(yoke_context *context, app_terminal *terminal, int argc, char **argv);

/* Becomes the program yoke-bench-NAME of the benchmark in argv[1], or lists the benchmarks. */
yoke_status tool_bench(yoke_context *context, app_terminal *terminal, int argc, char **argv);

/*
 * Replaces this process by a program that is beside yoke, in ../libexec/yoke, where such programs are installed, or in PATH, so that
 * arguments, signals and exit code are its own; returns only on failure.  Errors: UNAVAILABLE (not found), SYSTEM (found, but it does not
 * start).
 */
yoke_status tool_become(yoke_context *context, const char *program, char **argv);

#endif
