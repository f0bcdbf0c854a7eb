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
    /* argv[0] is the subcommand.  Returns how it went; the text of a failure is on the context. */
    yoke_status (*run)(yoke_context *context, app_terminal *terminal, int argc, char **argv);
    const char *program; /* where run is NULL: the program of its own that the subcommand is (tool_become) */
} tool_command;

/* Shows the machine. */
yoke_status tool_info(yoke_context *context, app_terminal *terminal, int argc, char **argv);

/* Runs a command, or watches, and says what it cost in joules. */
yoke_status tool_energy(yoke_context *context, app_terminal *terminal, int argc, char **argv);
/* Ends this process by a signal, as a command that it ran was ended; returns the exit code to end with where the signal does not end it. */
int tool_end_by_signal(int number);

/* Power over time of a short kernel. */
yoke_status tool_profile(yoke_context *context, app_terminal *terminal, int argc, char **argv);

/* How many units each device gets, from a model file. */
yoke_status tool_plan(yoke_context *context, app_terminal *terminal, int argc, char **argv);

/* Measures speeds, copies, powers and frequencies for plans. */
yoke_status tool_calibrate(yoke_context *context, app_terminal *terminal, int argc, char **argv);

/* Copies what meters and frequencies look at into a directory. */
yoke_status tool_gather(yoke_context *context, app_terminal *terminal, int argc, char **argv);

/* Becomes the program yoke-bench-NAME of the benchmark in argv[1], or lists the benchmarks. */
yoke_status tool_bench(yoke_context *context, app_terminal *terminal, int argc, char **argv);

/*
 * Becomes a program that lies beside yoke, in ../libexec/yoke, where such programs are installed, or in PATH, so that arguments, signals and
 * exit code are its own; returns only on failure.  Errors: UNAVAILABLE (not there), SYSTEM (there, but it does not start).
 */
yoke_status tool_become(yoke_context *context, const char *program, char **argv);

#endif
