/* table.h - the required and the reached figures of the balancer in simulation. */
#ifndef BENCH_BALANCE_TABLE_H
#define BENCH_BALANCE_TABLE_H

#include "balance/simulate.h"

/* Excesses are fractions of the best makespan; NaN: no such goal, or unknown. */
typedef struct figures {
    double p50, p95, p999; /* quantiles of the excess */
    double balanced;       /* fraction of the pairs that were within 5 % of balance at some time */
    double steps_p95;      /* decisions until that time */
    double starved;        /* pairs with a starved device */
    double next;           /* mean over the pairs of the excess in rounds after a change; NaN: there was none */
} figures;

typedef struct table_row {
    simulated_case simulation; /* without method and seed */
    figures goal;
} table_row;

extern const table_row balance_table[];
extern const int balance_table_rows;

const char *family_name(family_kind family);
const char *disturbance_name(disturbance_kind disturbance);
const char *method_name(sharing_method method);

/* Sorts `pairs` by excess. */
figures table_figures(simulated_pair *pairs, int64_t count);

/* Whether each figure is at its goal or better; goals are relaxed by the factor `slack` for small samples (1: not relaxed). */
bool table_met(const figures *reached, const figures *goal, double slack);

#endif
