/* output.h - writes the results of the balancer's simulation as data files and a figure. */
#ifndef BENCH_BALANCE_OUTPUT_H
#define BENCH_BALANCE_OUTPUT_H

#include "balance/table.h"

/* A simulated row of the table: quantiles of the excess, and the excess in each round (median and 95 % over the pairs). */
enum { OUTPUT_QUANTILES = 101 };
typedef struct simulated_row {
    simulated_case simulation;
    figures reached, goal;
    bool met;
    double quantile[OUTPUT_QUANTILES];                                           /* of the excess, at 0, 1 %, ... 100 % */
    double median[SIMULATE_ROUNDS], p95[SIMULATE_ROUNDS], mean[SIMULATE_ROUNDS]; /* of the excess in each round */
} simulated_row;

/* Extracts the data of the figure from pairs that table_figures has sorted; sorts them differently. */
void output_collect(simulated_row *row, simulated_pair *pairs, int64_t count);

/* Writes balance.dat and balance.gp into the directory, and draws balance.svg if gnuplot is installed. */
yoke_status output_write(yoke_context *context, const simulated_row *rows, int count, const char *directory, bool *drawn);

#endif
