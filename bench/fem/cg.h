/*
 * cg.h - `yoke bench cg`: solves of a cube by conjugate gradients; meshes x numbers of elements x preconditioners x threads.
 *
 * E = 1, nu = 0.3, clamped at x = 0, a traction (0, 0, -1e-3) at x = 1, from zero to a relative residual of 1e-8: what the peers' published
 * figures are of.  The compliance of meshes whose value is known is compared with it.
 */
#ifndef BENCH_FEM_CG_H
#define BENCH_FEM_CG_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "common/console/terminal.h"
#include "common/machine/ceilings.h"
#include "fem/workload.h"
#include "solver/choice.h"

enum { FEM_CG_PRECONDITIONERS = 2, FEM_CG_MAX = 32 };

/* Largest relative difference from a known compliance, which has nine digits. */
#define FEM_CG_TOLERANCE 1e-8

typedef struct fem_bench_cg_options {
    int num_sizes, num_threads;
    int64_t size[FEM_CG_MAX], threads[FEM_CG_MAX];
    unsigned meshes;          /* bit i: mesh i (fem_bench_mesh_name), not the curved ones */
    unsigned preconditioners; /* bit i: preconditioner i */
    fem_element element;
    fem_operator operator_kind;
    double relative_residual;
    double seconds; /* solves of a row are repeated for so long: at least one */
    int ceilings;   /* 0: none are measured; 1: quickly; 2: well */
} fem_bench_cg_options;

/* Medians over the solves; NaN: not known. */
typedef struct fem_bench_cg_row {
    const char *mesh;
    int preconditioner, threads, solves;
    int64_t asked, elements, dofs, hanging_nodes, iterations, applications;
    double setup_s, solve_s; /* set-up: space, constraints, operators and preconditioner; not the coarse mesh and its forest */
    double product_s;        /* busy, of the fine operator within the solve */
    double relative_residual;
    int64_t held_bytes;           /* by operator, preconditioner and vectors */
    double peak_bytes;            /* of the whole process since the row began, by the system's account */
    double compliance, reference; /* b.u, J; the published value */
    app_ceilings ceilings;
} fem_bench_cg_row;

typedef struct fem_bench_cg_result {
    yoke_context *context;
    fem_element element;
    int64_t num_rows, room;
    fem_bench_cg_row *rows;
    int wrong; /* rows whose compliance is not the published one */
} fem_bench_cg_result;

/* Called for each row when it is there. */
typedef void fem_bench_cg_report(const fem_bench_cg_result *result, const fem_bench_cg_row *row, void *user);

/*
 * *result is written also on failure, with what was measured before, and given back with fem_bench_cg_result_destroy.  Sets the number of
 * OpenMP's threads.  Errors: those of fem_solve and app_ceilings_measure; MEMORY, INTERRUPTED; NUMERIC at the end where a compliance is wrong.
 */
yoke_status fem_bench_cg_run(yoke_context *context, const fem_bench_cg_options *options, fem_bench_cg_report *report, void *user,
                             fem_bench_cg_result *result);
void fem_bench_cg_result_destroy(fem_bench_cg_result *result);

/* The row of the same mesh, elements and preconditioner on one thread, or NULL. */
const fem_bench_cg_row *fem_bench_cg_single(const fem_bench_cg_result *result, const fem_bench_cg_row *row);
double fem_bench_cg_rate(const fem_bench_cg_row *row); /* dofs x iterations per second of the solve */

/* The published compliance of the affine cube with so many elements, or NaN. */
double fem_bench_cg_reference(fem_element element, int64_t elements);

/* Output: cg_output.c. */
void fem_bench_cg_print_header(app_terminal *terminal);
void fem_bench_cg_print_row(const fem_bench_cg_result *result, const fem_bench_cg_row *row, void *terminal); /* a report */
json_t *fem_bench_cg_rows(const fem_bench_cg_result *result);                                                /* NULL: memory ends */
/* cg.dat, cg.gp and, where gnuplot is installed (*drawn), cg.svg into a directory that exists.  Errors: INPUT, SYSTEM. */
yoke_status fem_bench_cg_write(const fem_bench_cg_result *result, const char *directory, bool *drawn);

#endif
