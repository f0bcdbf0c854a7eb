/*
 * report.h - published numbers beside the results of the planner and the formulas for the published inputs.
 *
 * A part of `yoke reproduce` (peach, lang, clarke) is a function that opens sections and adds rows.  A row is one number.  The recomputed
 * number of a row must follow from the inputs by the planner or a formula; nothing is copied from anywhere.
 */
#ifndef TOOL_REPRODUCE_REPORT_H
#define TOOL_REPRODUCE_REPORT_H

#include <stdbool.h>

#include "common/console/terminal.h"
#include "yoke/yoke.h"

/* Status of an entry, with its name in tests/golden/models.json. */
typedef enum reproduce_status {
    REPRODUCE_MATCHES,      /* "reproducible": the published number follows from the published inputs */
    REPRODUCE_DERIVED,      /* "derived": nothing is published */
    REPRODUCE_INCONSISTENT, /* "inconsistent": the published number contradicts its own document; the remark has the reason */
    REPRODUCE_UNDETERMINED  /* "under-determined": an input is not published */
} reproduce_status;

/*
 * What a number is compared with, and thus how it is counted.  Every row has a kind.
 * Published and repeated numbers are compared whatever the status is.  If the status is inconsistent or under-determined they may be
 * outside their tolerance; they are then counted separately.  All others that are compared must be within it.
 */
typedef enum reproduce_kind {
    REPRODUCE_NO_KIND,   /* forgotten: the command fails */
    REPRODUCE_PUBLISHED, /* "published": compared with a printed number, within the tolerance */
    REPRODUCE_REPEATED,  /* "repeated": compared with a printed number that another row is already compared with, or in the same two ways as
                              another row; reason says which */
    REPRODUCE_INDEPENDENT,  /* "derived": nothing is printed; compared with check, which was found in another way */
    REPRODUCE_PROPERTY,     /* "property": a yes or no that the paper states in words; published is its statement */
    REPRODUCE_UNCHECKED,    /* "unchecked": compared with nothing; reason says why */
    REPRODUCE_NOT_EVALUATED /* "not evaluated": one of both sides is no number; reason says why */
} reproduce_kind;

/* Reasons of tolerances that many rows have. */
#define REPRODUCE_DIGITS "half a unit of the last printed digit"
#define REPRODUCE_EXACT "exact: a whole number, a step of a grid or a level"
#define REPRODUCE_ROUNDING "rounding of floating-point numbers"

/*
 * One number; use designated initialisers.  All texts are copied; NULL is "".  published and recomputed must be given: NAN if there is no
 * number.  Yes and no are 1 and 0 with the unit "yes/no".
 * An entry with several numbers is several rows in succession with one id and different parts.
 */
typedef struct reproduce_row {
    const char *id; /* of the entry, as in tests/golden/models.json: "fpm.oracle.B_drop" */
    /* Which of several numbers of an entry, with slashes: "bisection/0", "max_err_pct/R_perf"; NULL: the entry is one number. */
    const char *part;
    const char *what; /* in words, one short line: "share of the GPU, least time" */
    const char *unit; /* "J", "%", "GFLOPS"; NULL: a plain number */
    double published;
    const char *published_text; /* text that is printed there instead of a number, or to be shown for it; NULL: the number */
    double recomputed;
    const char *recomputed_text;
    const char *by; /* how recomputed is found: "planner", "eq. 26"; required if it is compared */
    bool checked;   /* check is given */
    /*
     * The same number found in another way: a closed formula in addition to the planner; if there is a published number it must agree to
     * 1e-9.
     */
    double check;
    const char *check_by; /* how check is found, which is another way than by */
    /* Tolerance: the greater of absolute and relative x |published| (|check| if nothing is published) counts. */
    double absolute, relative;
    const char *because; /* reason of the tolerance; required if a published number or a check has one, also of 0 */
    reproduce_kind kind;
    const char *reason; /* why a row is repeated, unchecked or not evaluated */
    reproduce_status status;
    const char *remark;
    bool silent; /* counted and recorded, but not printed: the part prints its own table with reproduce_print */
} reproduce_row;

typedef struct reproduce_report reproduce_report;

/* For calls of the library. */
yoke_context *reproduce_context(reproduce_report *report);
/*
 * Starts a section: a heading and, if there is a note, lines below it.  The heads of the columns follow, unless all rows are silent.
 */
void reproduce_section(reproduce_report *report, const char *title, const char *note);
/*
 * Adds a row: prints it, and records whether it is met.  A row that lacks its kind, a reason, or the ways of its two numbers, or has the
 * same way twice, is kept and makes the command fail at the end; so does exhausted memory.
 */
void reproduce_add(reproduce_report *report, const reproduce_row *row);
/*
 * Adds a row of two texts: the printed text, which contradicts its own document, and the right one; NULL: the remark has it.
 * reason: why there are no numbers.
 */
void reproduce_add_text(reproduce_report *report, const char *id, const char *what, const char *printed, const char *right,
                        const char *reason, const char *remark);
/* Prints a line of a part's own table; the format has no newline. */
void reproduce_print(reproduce_report *report, const char *format, ...) YOKE_PRINTF(2, 3);

/* Ge and others 2014 (PEACH); Lang and Ruenger 2013 and 2014 and Lang's dissertation; Clarke's chapter on functional performance models. */
yoke_status reproduce_peach(reproduce_report *report);
yoke_status reproduce_lang(reproduce_report *report);
yoke_status reproduce_clarke(reproduce_report *report);

/* The command; argv[0] is its name. */
yoke_status reproduce_command(yoke_context *context, app_terminal *terminal, int argc, char **argv);

#endif
