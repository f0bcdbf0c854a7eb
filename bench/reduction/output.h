/* output.h - the results of `yoke bench reduction`: table, CSV, figure, record. */
#ifndef BENCH_REDUCTION_OUTPUT_H
#define BENCH_REDUCTION_OUTPUT_H

#include <jansson.h>

#include "common/console/terminal.h"
#include "reduction/method.h"
#include "reduction/synthetic.h"

typedef struct reduction_row {
    bool product;
    reduction_kind kind;
    int64_t num_locks; /* 0: none */
    int threads;
    double seconds, min_s, max_s; /* median of the repetitions, and their range */
    double addition_s;            /* minimum seconds divided by additions; the ratios below also use the minimum seconds */
    double unsynchronised;        /* seconds divided by those of the unsynchronised method with the same number of threads */
    /* Bandwidth by the least traffic, divided by that of the triad with the same number of threads; NaN: computed vectors. */
    double triad;
    double speedup; /* seconds of the unsynchronised method on one thread divided by these */
    double error;   /* largest relative difference from the reference */
    int64_t wrong;  /* dofs that are wrong by more than rounding errors */
} reduction_row;

typedef struct synthetic_row {
    synthetic_kind kind;
    int threads;
    int64_t work;
    double work_s, addition_s; /* of the work alone on one thread; minimum wall-clock time divided by the additions of all threads */
    double lost;               /* fraction of the additions that were lost */
} synthetic_row;

enum { MAX_ROWS = 512 }; /* up to 1024 threads give 11 numbers of threads, each with 2 x 12 or 7 x 5 rows */

typedef struct reduction_results {
    int64_t elements, nodes;
    int num_triads, num_rows, num_synthetic;
    struct {
        int threads;
        double bytes_per_s;
    } triad[32];
    reduction_row row[MAX_ROWS];
    synthetic_row synthetic[MAX_ROWS];
} reduction_results;

void reduction_print_head(app_terminal *terminal, bool product);
void reduction_print_row(app_terminal *terminal, const reduction_row *row);
void reduction_print_synthetic(app_terminal *terminal, const reduction_results *results);

/*
 * Writes reduction.csv, reduction-synthetic.csv, reduction.gp, and, if gnuplot is installed, reduction.svg.  Errors: INPUT, SYSTEM, MEMORY.
 */
yoke_status reduction_write(yoke_context *context, const char *directory, const reduction_results *results, bool *drawn);

/* Arrays of the record; NULL: out of memory. */
json_t *reduction_rows_value(const reduction_results *results);
json_t *reduction_synthetic_value(const reduction_results *results);
json_t *reduction_triads_value(const reduction_results *results);

#endif
