/*
 * output.h - what `yoke bench reduction` found: table, CSV, figure, record.
 */
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
    double seconds, min_s, max_s; /* median of the repeats, and their range */
    double addition_s;            /* least seconds over additions; the ratios below are of least seconds, too */
    double unsynchronised;        /* seconds over those of the unsynchronised way with as many threads */
    double triad;   /* least bytes over seconds, over the bandwidth of the triad with as many threads; NaN: computed vectors */
    double speedup; /* the unsynchronised way's seconds on one thread over these */
    double error;   /* largest relative difference from the reference */
    int64_t wrong;  /* dofs that are wrong by more than rounding */
} reduction_row;

typedef struct synthetic_row {
    synthetic_kind kind;
    int threads;
    int64_t work;
    double work_s, addition_s; /* of the work alone on one thread; wall-clock time over additions of all threads: least ones */
    double lost;               /* part of the additions */
} synthetic_row;

enum { MAX_ROWS = 512 }; /* up to 1024 threads are 11 numbers of threads, each with 2 x 12 or 7 x 5 rows */

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

/* reduction.csv, reduction-synthetic.csv, reduction.gp, and with gnuplot reduction.svg.  Errors: INPUT, SYSTEM, MEMORY. */
yoke_status reduction_write(yoke_context *context, const char *directory, const reduction_results *results, bool *drawn);

/* Arrays of the record; NULL where memory ended. */
json_t *reduction_rows_value(const reduction_results *results);
json_t *reduction_synthetic_value(const reduction_results *results);
json_t *reduction_triads_value(const reduction_results *results);

#endif
