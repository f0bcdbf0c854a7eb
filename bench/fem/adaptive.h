/* adaptive.h - `yoke bench adapt`: an adaptive run like that of `yoke fem`, and its seconds by step and phase. */
#ifndef BENCH_FEM_ADAPTIVE_H
#define BENCH_FEM_ADAPTIVE_H

#include <stdbool.h>

#include <jansson.h>

#include "common/console/terminal.h"
#include "common/machine/ceilings.h"

typedef struct fem_bench_adapt_step {
    int64_t step, elements, dofs, hanging_nodes, iterations, applications;
    double refine_s, setup_s, solve_s, estimate_s, write_s;
    double product_s; /* of the fine operator within the solve; NaN: several devices share it */
} fem_bench_adapt_step;

typedef struct fem_bench_adapt_result {
    yoke_context *context;
    int64_t num_steps;
    fem_bench_adapt_step *steps;
    double run_s;      /* from reading the mesh to the end */
    double peak_bytes; /* of the process, as reported by the system */
    app_ceilings ceilings;
} fem_bench_adapt_result;

/* Seconds of a step without its solve: mark, refine, number, set up, transfer, estimate; without files. */
double fem_bench_adapt_rest(const fem_bench_adapt_step *step);

/* Reads the steps of a run record of `yoke fem`.  Errors: MEMORY, SYSTEM (a record without steps). */
yoke_status fem_bench_adapt_read(yoke_context *context, const json_t *record, fem_bench_adapt_result *result);
void fem_bench_adapt_result_destroy(fem_bench_adapt_result *result);

void fem_bench_adapt_print(app_terminal *terminal, const fem_bench_adapt_result *result);
json_t *fem_bench_adapt_steps(const fem_bench_adapt_result *result); /* NULL: out of memory */
/* Writes adapt.dat, adapt.gp and, if gnuplot is installed (*drawn), adapt.svg into an existing directory.  Errors: INPUT, SYSTEM. */
yoke_status fem_bench_adapt_write(const fem_bench_adapt_result *result, const char *directory, bool *drawn);

#endif
