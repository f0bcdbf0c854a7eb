/*
 * terminal.h - everything that a program prints: results on standard output; messages and progress on standard error.
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
    bool further;            /* a rank beside the one that tells: nothing but errors is shown */
    bool rewrite;            /* standard error is a terminal: progress is one line that is written over and over */
    bool shown;              /* such a line stands there now */
    double next_s;           /* progress before this time is not shown */
    int code;                /* not 0: the program ends with this exit code, whatever the status says (it hands on another program's) */
    int signal;              /* not 0: it shall end by this signal, as a command that it ran was ended */
} app_terminal;

/* To be called before any file is opened: fills standard streams that are closed, so that nothing is ever printed into another file. */
void app_terminal_start(app_terminal *terminal, const char *program);

/*
 * Looks whether the words of the command line, up to "--", ask for JSON on standard output (--json -): what app_print prints then goes to
 * standard error, so that standard output is one document.
 */
void app_terminal_look(app_terminal *terminal, int argc, char **argv);

/* A log function for yoke_options, with the terminal as its user: "yoke fem: warning: text". */
void app_terminal_log(yoke_log_level level, const char *text, void *terminal);

/* Prints to standard output, or where it is `aside` to standard error, unless quiet; where a line of a table is printed, it is seen at once. */
void app_print(app_terminal *terminal, const char *format, ...) YOKE_PRINTF(2, 3);

/*
 * Says where long work stands; call it as often as you like.  On a terminal the line is rewritten, at most ten times a second; elsewhere it is a
 * plain line at most every five seconds.  app_print and messages clear it away first.
 */
void app_progress(app_terminal *terminal, const char *format, ...) YOKE_PRINTF(2, 3);

/* How many bytes of a line the terminal shows in one row: a longer line would not be written over but left behind. */
int app_terminal_fits(FILE *stream, const char *line);

/* Prints the context's last error, of this status. */
void app_terminal_fail(app_terminal *terminal, const yoke_context *context, yoke_status status);

/*
 * The end of a program: clears progress away, prints the context's last error if status is one, flushes standard output, and returns the exit
 * code (that of the terminal, else app_exit_code; 1 where the results could not be printed, as on a full disk).
 */
int app_terminal_end(app_terminal *terminal, const yoke_context *context, yoke_status status);

#endif
