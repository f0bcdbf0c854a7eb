/*
 * operation.h - an operation of yoke dense: what it has of its own, in a frame that reads the command line, opens the devices, tells and records.
 */
#ifndef DENSE_OPERATION_H
#define DENSE_OPERATION_H

#include <jansson.h>

#include "common/console/options.h"
#include "common/console/terminal.h"
#include "common/ranks/ranks.h"
#include "devices.h"
#include "share/share.h"

/* One run of an operation: its command line, and what is made and found. */
typedef struct dense_work {
    yoke_context *context;
    app_terminal *terminal;
    app_list operands;
    int64_t n, m, block;            /* 0: not given */
    int64_t seed;                   /* 1 where it is not given */
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

/* Help of an option that operations have in common; NULL: this operation does not have it. */
typedef struct dense_help {
    const char *n, *m, *precision, *seed, *output_value, *output, *block, *check, *ceiling;
    int64_t most_n, most_block;
} dense_help;

/*
 * The functions are called in this order.  A status that is not OK ends the work, and is passed on; then only destroy is called.  All but compute, show_head and
 * keys may be NULL: nothing; on_ranks: it runs on one rank only.
 */
typedef struct dense_operation {
    const char *name, *summary; /* in the list of operations */
    app_usage usage;            /* without options and columns */
    dense_help help;
    size_t own_bytes;                                      /* of its state */
    void (*options)(void *own, app_option_table *options); /* adds options of its own */
    yoke_status (*check)(const dense_work *work);          /* the command line */
    yoke_status (*begin)(dense_work *work);                /* reads or makes what is worked on */
    yoke_status (*compute)(dense_work *work);              /* run and shared are there */
    yoke_status (*on_ranks)(dense_work *work, int argc,
                            char **argv);         /* all of it, where there are several ranks; run is there, shared is not */
    yoke_status (*write)(dense_work *work);       /* to --output, where it is given */
    yoke_status (*compare)(dense_work *work);     /* with --ceiling; its time is in no other */
    void (*show_head)(const dense_work *work);    /* what stands above the table of devices */
    void (*show_tail)(const dense_work *work);    /* and below it */
    json_t *(*keys)(const dense_work *work);      /* of the run record, beside those that all operations have; NULL: memory ended */
    yoke_status (*judge)(const dense_work *work); /* at last: whether the result failed its check */
    void (*destroy)(dense_work *work);            /* what the state holds */
} dense_operation;

extern const dense_operation dense_operation_gemm, dense_operation_transpose, dense_operation_tsp;

/* argv[0] is the operation.  Errors: those of what it does. */
yoke_status dense_operation_run(const dense_operation *operation, yoke_context *context, app_terminal *terminal, int argc, char **argv);

/* For dense_progress of operations; what: plural name of the units, as "blocks of rows".  Errors: INTERRUPTED. */
yoke_status dense_work_progress(dense_work *work, const char *what, int64_t done, int64_t units);

#endif
