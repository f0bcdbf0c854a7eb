/*
 * options.h - the command line of a program: a table defines the options; the parser and the help use it.
 */
#ifndef APP_OPTIONS_H
#define APP_OPTIONS_H

#include <stdbool.h>

#include "yoke/yoke.h"

enum { APP_LIST_MAXIMUM = 256 };

/* Texts in the order of the command line; borrowed from argv. */
typedef struct app_list {
    int count;
    const char *text[APP_LIST_MAXIMUM];
} app_list;

/*
 * An option `--name`, or `--name VALUE` which may also be written `--name=VALUE`.  A name of one letter has one dash: `-n VALUE`.
 * Exactly one of flag, text, number, list is set: it points to the place of the value, which is unchanged if the option is not given.  If
 * an option is given twice the last value counts.
 * With `otherwise`, `--name` has that value if a word that begins with a dash, or no word, follows.
 */
typedef struct app_option {
    const char *name;      /* without dashes; NULL ends a table */
    const char *value;     /* name of the value in the help; NULL for a flag */
    const char *help;      /* one line */
    const char *otherwise; /* the value if none follows; NULL: one must follow */
    bool *flag;            /* becomes true */
    const char **text;     /* borrowed from argv */
    int64_t *number;       /* an integer from minimum to maximum */
    int64_t minimum, maximum;
    app_list *list; /* each value is appended */
} app_option;

enum { APP_OPTIONS_MAXIMUM = 64 };

/* A table made of several tables: zero at first; its options can be passed to app_usage at any time. */
typedef struct app_option_table {
    int count;
    app_option options[APP_OPTIONS_MAXIMUM + 1];
} app_option_table;

/* Adds the options of a table that ends with name NULL; options beyond APP_OPTIONS_MAXIMUM are left out. */
void app_options_add(app_option_table *table, const app_option *options);

/* Options that are the same in every program that has them. */
app_option app_option_json(const char **path);                       /* --json FILE: the run record (record.h) */
app_option app_option_quiet(bool *quiet);                            /* --quiet */
app_option app_option_out(const char **directory, const char *help); /* --out DIRECTORY */

/* A column of a table that the program prints, with the text of the table's head; name NULL ends a list. */
typedef struct app_column {
    const char *name, *text;
} app_column;

typedef struct app_usage {
    const char *program;  /* as typed: "yoke fem" */
    const char *operands; /* "CASE", "" for none */
    int operands_least, operands_most;
    const char *summary;       /* one sentence */
    const app_option *options; /* --help and --version always exist and are not in the table */
    const char *command;       /* name of a command line that follows `--`: "COMMAND [ARGUMENT]..."; NULL: there is none */
    int *command_at;           /* index of its first word in argv, argc if it is empty; unchanged if there is no `--` */
    const app_column *columns; /* of the table that the program prints, shown after the options; NULL: none */
    const char *details;       /* text after these, or NULL */
} app_usage;

/*
 * Reads argv[1 .. argc).  `--` ends the options, and also the reading if a command line follows it.  With --help or --version it prints
 * them to standard output, sets *answered, checks nothing further, and the program is done (exit code 0).  operands may be NULL if there
 * are none.
 * Errors: INPUT: unknown option (with the nearest existing one), value missing, superfluous or not a number in range, number of operands.
 */
yoke_status app_options_parse(yoke_context *context, const app_usage *usage, int argc, char **argv, app_list *operands, bool *answered);

/* Whether the command line requests --help or --version, for a rank that leaves the answer to another one. */
bool app_options_ask_help(int argc, char **argv);

/*
 * Reads the number from least to most in the text after --NAME; text NULL, that is, the option was not given: *number is unchanged.
 * Errors: INPUT (no number, or outside the range).
 */
yoke_status app_option_real(yoke_context *context, const char *name, const char *text, double least, double most, double *number);

/*
 * Finds the index of the word after --NAME in a list that ends with NULL; word NULL, that is, the option was not given: *number is 0.
 * Errors: INPUT (it is not in the list; the text has the list).
 */
yoke_status app_option_choice(yoke_context *context, const char *name, const char *word, const char *const *words, int *number);

/* The words for yoke_objective, in its order, and NULL: "time", "energy", "edp", "ed2p". */
extern const char *const app_objective_names[];

/*
 * The file after --store, as in yoke_run_options: NULL for the word none, with which nothing is stored (./none is a file); `missing` if
 * the option was not given.
 */
const char *app_option_store(const char *word, const char *missing);

#endif
