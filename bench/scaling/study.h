/* study.h - weak and strong scaling by the formula and by simulated ranks, and comparison of records of real runs with the formula. */
#ifndef BENCH_SCALING_STUDY_H
#define BENCH_SCALING_STUDY_H

#include "scaling/events.h"

typedef struct scaling_setting {
    scaling_network network;
    scaling_machine machine;
    scaling_solver solver;
    double noise;
    int64_t most_ranks, most_simulated;
} scaling_setting;

/* For one number of ranks.  simulated: whether it was simulated. */
typedef struct scaling_row {
    bool weak, is_simulated;
    int64_t ranks, elements;
    scaling_terms terms;
    scaling_simulated simulated;
    double alone_s; /* an iteration on one rank: weak: with the elements of one rank; strong: with all elements */
} scaling_row;

enum { SCALING_MAX_ROWS = 32 };

/* Weak: 26 214 elements per rank.  Strong: 4 096 000 elements in total. */
int scaling_rows(const scaling_setting *setting, scaling_row rows[SCALING_MAX_ROWS]);
/* Fills terms, and simulated up to setting->most_simulated ranks.  Errors: MEMORY. */
yoke_status scaling_try(yoke_context *context, const scaling_setting *setting, scaling_row *row);
/* Speed per rank divided by that of one rank alone, by the formula and by the simulation (NaN: not simulated). */
double scaling_efficiency(const scaling_row *row);
double scaling_simulated_efficiency(const scaling_row *row);

/* The last step of a run record, and the formula for the same numbers of elements and ranks. */
typedef struct scaling_measured {
    const char *path;
    int64_t ranks, elements, iterations;
    int components;   /* per node: 1 for heat, 3 for elasticity */
    double element_s; /* per element in a product, on the slowest part */
    double iteration_s, messages, bytes, most_messages, most_bytes;
    scaling_terms terms;
} scaling_measured;

/* Errors: INPUT (no run record of yoke fem with multigrid), MEMORY. */
yoke_status scaling_read(yoke_context *context, const char *path, scaling_measured *measured);
/*
 * Fills terms.  The first record of one rank, if there is one, determines the time of the work; on other ranks, work takes longer by the
 * same factor as an element in a product. cores: number of cores shared by all ranks of a run; work takes ranks / cores times as long if
 * this exceeds 1.
 */
void scaling_compare(const scaling_setting *setting, int64_t cores, scaling_measured *measured, int count);

#endif
