/*
 * report.h - published numbers beside what the planner and the formulas make of the published inputs.
 *
 * A part of `yoke reproduce` (peach, lang, clarke) is a function that opens sections and adds rows.  A row is one number.  What a row has as
 * recomputed must come out of the inputs by the planner or a formula; nothing is copied from anywhere.
 */
#ifndef TOOL_REPRODUCE_REPORT_H
#define TOOL_REPRODUCE_REPORT_H

#include <stdbool.h>

#include "common/terminal.h"
#include "yoke/yoke.h"

typedef enum reproduce_status {
    REPRODUCE_MATCHES,      /* "reproducible": recomputed has to be within the tolerance of published */
    REPRODUCE_DERIVED,      /* "derived": nothing is published; recomputed has to be within the tolerance of check, where there is one */
    REPRODUCE_INCONSISTENT, /* "inconsistent": published contradicts its own document; the remark says why.  Nothing has to be met. */
    REPRODUCE_UNDETERMINED  /* "under-determined": an input is not published.  Nothing has to be met. */
} reproduce_status;

/*
 * One number; made with designated initialisers.  All texts are copied; NULL is "".  published and recomputed have to be given: NAN where there is no
 * number.  Yes and no are 1 and 0 with the unit "yes/no".
 * An entry with several numbers is several rows in succession with one id and different parts.
 */
typedef struct reproduce_row {
    const char *id; /* of the entry, as in tests/golden/models.json: "fpm.oracle.B_drop" */
    const char
        *part; /* which number of an entry of several, with slashes: "bisection/0", "max_err_pct/R_perf"; NULL: the entry is one number */
    const char *what; /* in words, one short line: "share of the GPU, least time" */
    const char *unit; /* "J", "%", "GFLOPS"; NULL: a plain number */
    double published;
    const char *published_text; /* what is printed there instead of a number, or is to be shown for it; NULL: the number */
    double recomputed;
    const char *recomputed_text;
    bool checked; /* check is given */
    double
        check; /* the same number found in another way: a closed formula beside the planner; beside a published one it has to agree to 1e-9 */
    double absolute,
        relative; /* tolerance: the greater one of absolute and relative x |published| (|check| where nothing is published) counts */
    reproduce_status status;
    const char *remark;
    bool silent; /* counted and recorded, but not printed: the part prints a table of its own with reproduce_print */
} reproduce_row;

typedef struct reproduce_report reproduce_report;

/* For calls of the library. */
yoke_context *reproduce_context(reproduce_report *report);
/* Starts a section: a heading and, where there is a note, lines below it.  Then follow the heads of the columns, unless there is nothing but silence. */
void reproduce_section(reproduce_report *report, const char *title, const char *note);
/* Adds a row: prints it, and notes whether it is met.  Memory that ends is kept and comes out in the end. */
void reproduce_add(reproduce_report *report, const reproduce_row *row);
/* A line of a part's own table; without its newline. */
void reproduce_print(reproduce_report *report, const char *format, ...) YOKE_PRINTF(2, 3);

/* Ge and others 2014 (PEACH); Lang and Ruenger 2013 and 2014 and Lang's dissertation; Clarke's chapter on functional performance models. */
yoke_status reproduce_peach(reproduce_report *report);
yoke_status reproduce_lang(reproduce_report *report);
yoke_status reproduce_clarke(reproduce_report *report);

/* The command; argv[0] is its name. */
yoke_status reproduce_command(yoke_context *context, app_terminal *terminal, int argc, char **argv);

#endif
