/*
 * terminal.h - all output of a program: results on standard output; messages and progress on standard error.
 */
#ifndef APP_TERMINAL_H
#define APP_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

#include "yoke/yoke.h"

typedef struct app_terminal {
    const char *program;     /* before each message: "yoke fem" */
    bool quiet;              /* no results, no progress, no messages but warnings and errors; may be changed at any time */
    bool aside;              /* results go to standard error: standard output is for JSON (app_terminal_look) */
    bool hides_hwloc_errors; /* HWLOC_HIDE_ERRORS was set for this program, not by its user */
    bool further;            /* another rank than the one that reports: nothing but errors is shown */
    bool rewrite;            /* standard error is a terminal: progress is one line that is written over and over */
    bool shown;              /* such a line is visible now */
    double next_s;           /* progress before this time is not shown */
    int code;                /* not 0: the program ends with this exit code, whatever the status (it passes on another program's) */
    int signal;              /* not 0: the program must end by this signal, as a command that it ran was ended */
} app_terminal;

/* Call it before any file is opened: it opens standard streams that are closed, so that nothing is ever printed into another file. */
void app_terminal_start(app_terminal *terminal, const char *program);

/*
 * Checks whether the words of the command line, up to "--", request JSON on standard output (--json -).  Then app_print prints to
 * standard error, so that standard output is one document.
 */
void app_terminal_look(app_terminal *terminal, int argc, char **argv);

/* A log function for yoke_options, with the terminal as its user: "yoke fem: warning: text". */
void app_terminal_log(yoke_log_level level, const char *text, void *terminal);

/* Prints to standard output, or to standard error if results are `aside`, unless quiet.  A printed line of a table is visible at once. */
void app_print(app_terminal *terminal, const char *format, ...) YOKE_PRINTF(2, 3);

/*
 * Reports the progress of long work; it may be called as often as you like.  On a terminal the line is rewritten, at most ten times a
 * second; elsewhere it is a plain line at most every five seconds.  app_print and messages remove it first.
 */
void app_progress(app_terminal *terminal, const char *format, ...) YOKE_PRINTF(2, 3);

/* The number of bytes of a line that the terminal shows in one row: a longer line could not be overwritten. */
int app_terminal_fits(FILE *stream, const char *line);

/* Prints the context's last error, which belongs to this status. */
void app_terminal_fail(app_terminal *terminal, const yoke_context *context, yoke_status status);

/*
 * The end of a program: removes progress, prints the context's last error if status is an error, flushes standard output, and returns the
 * exit code (that of the terminal, else app_exit_code; 1 if the results could not be printed, as on a full disk).
 */
int app_terminal_end(app_terminal *terminal, const yoke_context *context, yoke_status status);

#endif
