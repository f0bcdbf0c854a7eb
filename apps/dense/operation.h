/*
 * operation.h - an operation of yoke dense: the functions in which operations differ, and the common part, which reads the command line,
 * opens the devices, prints and records.
 */
#ifndef DENSE_OPERATION_H
#define DENSE_OPERATION_H

#include <jansson.h>
#include <stdbool.h>

#include "common/console/options.h"
#include "common/console/terminal.h"
#include "common/ranks/ranks.h"
#include "devices.h"
#include "share/share.h"

/* One run of an operation: its command line, its objects and its results. */
typedef struct dense_work {
    yoke_context *context;
    app_terminal *terminal;
    app_list operands;
    int64_t n, m, block;            /* 0: not given */
    int64_t seed;                   /* 1 if it is not given */
    bool seed_given;                /* --seed */
    const char *precision, *output; /* NULL: not given */
    bool check, ceiling;
    dense_words words;
    app_ranks *ranks;
    yoke_run *run;
    dense_shared *shared; /* what the devices did */
    double begin_s, total_s;
    void *own; /* state of the operation, zero at first */
} dense_work;

/* Help texts of the options that operations have in common; NULL: this operation does not have the option. */
typedef struct dense_help {
    const char *n, *m, *precision, *seed, *output_value, *output, *block, *check, *ceiling;
    int64_t most_n, most_block;
} dense_help;

/*
 * The functions are called in this order.  A status that is not OK ends the work, and is passed on; then only destroy is called.  All
 * except compute, show_head and keys may be NULL, which means that there is nothing to do; on_ranks NULL: the operation runs on one rank
 * only.
 */
typedef struct dense_operation {
    const char *name, *summary; /* in the list of operations */
    app_usage usage;            /* without options and columns */
    dense_help help;
    size_t own_bytes;                                      /* of its state */
    bool may_replace_input;                                /* --output may name an input file: the result is a matrix, too */
    void (*options)(void *own, app_option_table *options); /* adds the operation's own options */
    yoke_status (*check)(const dense_work *work);          /* checks the command line */
    yoke_status (*begin)(dense_work *work);                /* reads or creates the inputs */
    yoke_status (*compute)(dense_work *work);              /* run and shared are set */
    /* Replaces the functions from begin to judge if there are several ranks; run is set, shared is not. */
    yoke_status (*on_ranks)(dense_work *work, int argc, char **argv);
    yoke_status (*write)(dense_work *work);       /* writes to --output, if it is given */
    yoke_status (*compare)(dense_work *work);     /* with --ceiling; its time is not part of any other */
    void (*show_head)(const dense_work *work);    /* prints the lines above the table of devices */
    void (*show_tail)(const dense_work *work);    /* prints the lines below the table */
    json_t *(*keys)(const dense_work *work);      /* keys of the run record other than the common ones; NULL: out of memory */
    yoke_status (*judge)(const dense_work *work); /* at the end: fails if the result failed its check */
    void (*destroy)(dense_work *work);            /* releases the contents of the state */
} dense_operation;

extern const dense_operation dense_operation_gemm, dense_operation_transpose, dense_operation_tsp;

/* Runs the operation; argv[0] is its name.  Errors: those of its functions. */
yoke_status dense_operation_run(const dense_operation *operation, yoke_context *context, app_terminal *terminal, int argc, char **argv);

/* For dense_progress of operations; what: plural name of the units, for example "blocks of rows".  Errors: INTERRUPTED. */
yoke_status dense_work_progress(dense_work *work, const char *what, int64_t done, int64_t units);

#endif
