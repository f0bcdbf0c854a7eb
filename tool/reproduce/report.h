/*
 * report.h - published numbers beside what the planner and the formulas make of the published inputs.
 *
 * A part of `yoke reproduce` (peach, lang, clarke) is a function that opens sections and adds rows.  A row is one number.  What a row has as
 * recomputed must come out of the inputs by the planner or a formula; nothing is copied from anywhere.
 */
#ifndef TOOL_REPRODUCE_REPORT_H
#define TOOL_REPRODUCE_REPORT_H

#include <stdbool.h>

#include "common/console/terminal.h"
#include "yoke/yoke.h"

/* What an entry is called in tests/golden/models.json. */
typedef enum reproduce_status {
    REPRODUCE_MATCHES,      /* "reproducible": what is published follows from the published inputs */
    REPRODUCE_DERIVED,      /* "derived": nothing is published */
    REPRODUCE_INCONSISTENT, /* "inconsistent": published contradicts its own document; the remark says why */
    REPRODUCE_UNDETERMINED  /* "under-determined": an input is not published */
} reproduce_status;

/*
 * What a number is compared with, and so what it counts as.  Every row has one.
 * Published and repeated numbers are compared whatever the status is.  Where it is inconsistent or under-determined they may be outside their
 * tolerance; they are counted apart then.  All others that are compared have to be met.
 */
typedef enum reproduce_kind {
    REPRODUCE_NO_KIND,   /* forgotten: the command fails */
    REPRODUCE_PUBLISHED, /* "published": with a number that is printed, within the tolerance */
    REPRODUCE_REPEATED,  /* "repeated": with a printed number that another row is compared with already, or by the same two ways as another
                              row; reason says which */
    REPRODUCE_INDEPENDENT,  /* "derived": nothing is printed; with check, which was found in another way */
    REPRODUCE_PROPERTY,     /* "property": a yes or no that the paper says in words; published is what it says */
    REPRODUCE_UNCHECKED,    /* "unchecked": with nothing; reason says why */
    REPRODUCE_NOT_EVALUATED /* "not evaluated": one of both sides is no number; reason says why */
} reproduce_kind;

/* Reasons of tolerances that many rows have. */
#define REPRODUCE_DIGITS "half a unit of the last printed digit"
#define REPRODUCE_EXACT "exact: a whole number, a step of a grid or a level"
#define REPRODUCE_ROUNDING "rounding of floating-point numbers"

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
    const char *by; /* how recomputed is found: "planner", "eq. 26"; needed wherever it is compared */
    bool checked;   /* check is given */
    double
        check; /* the same number found in another way: a closed formula beside the planner; beside a published one it has to agree to 1e-9 */
    const char *check_by; /* how check is found; another way than by */
    double absolute,
        relative;        /* tolerance: the greater one of absolute and relative x |published| (|check| where nothing is published) counts */
    const char *because; /* why the tolerance is as it is; needed wherever there is one, also of 0, beside a published number or a check */
    reproduce_kind kind;
    const char *reason; /* why a row is repeated, unchecked or not evaluated */
    reproduce_status status;
    const char *remark;
    bool silent; /* counted and recorded, but not printed: the part prints a table of its own with reproduce_print */
} reproduce_row;

typedef struct reproduce_report reproduce_report;

/* For calls of the library. */
yoke_context *reproduce_context(reproduce_report *report);
/* Starts a section: a heading and, where there is a note, lines below it.  Then follow the heads of the columns, unless there is nothing but silence. */
void reproduce_section(reproduce_report *report, const char *title, const char *note);
/*
 * Adds a row: prints it, and notes whether it is met.  A row that lacks its kind, a reason, or the ways of its two numbers, or has twice the same way,
 * is kept and makes the command fail in the end; so is memory that ends.
 */
void reproduce_add(reproduce_report *report, const reproduce_row *row);
/*
 * Adds a row of two texts: what is printed, which contradicts its own document, and what is right; NULL: the remark says it.
 * reason: why there are no numbers.
 */
void reproduce_add_text(reproduce_report *report, const char *id, const char *what, const char *printed, const char *right,
                        const char *reason, const char *remark);
/* A line of a part's own table; without its newline. */
void reproduce_print(reproduce_report *report, const char *format, ...) YOKE_PRINTF(2, 3);

/* Ge and others 2014 (PEACH); Lang and Ruenger 2013 and 2014 and Lang's dissertation; Clarke's chapter on functional performance models. */
yoke_status reproduce_peach(reproduce_report *report);
yoke_status reproduce_lang(reproduce_report *report);
yoke_status reproduce_clarke(reproduce_report *report);

/* The command; argv[0] is its name. */
yoke_status reproduce_command(yoke_context *context, app_terminal *terminal, int argc, char **argv);

#endif
