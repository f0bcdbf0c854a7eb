/*
 * cg.h - `yoke bench cg`: solves on a cube by conjugate gradients; meshes x numbers of elements x preconditioners x threads.
 *
 * E = 1, nu = 0.3, clamped at x = 0, traction (0, 0, -1e-3) at x = 1, from zero to a relative residual of 1e-8, as in the published figures
 * of the peers.  If the compliance of a mesh is known, it is compared.
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
    unsigned meshes;          /* bit i: mesh i (fem_bench_mesh_name), except the curved ones */
    unsigned preconditioners; /* bit i: preconditioner i */
    fem_element element;
    fem_operator operator_kind;
    double relative_residual;
    double seconds; /* duration of the repeated solves of a row: at least one solve */
    int ceilings;   /* 0: not measured; 1: quickly; 2: accurately */
} fem_bench_cg_options;

/* Medians over the solves; NaN: not known. */
typedef struct fem_bench_cg_row {
    const char *mesh;
    int preconditioner, threads, solves;
    int64_t asked, elements, dofs, hanging_nodes, iterations, applications;
    double setup_s, solve_s; /* set-up: space, constraints, operators and preconditioner, without the coarse mesh and its forest */
    double product_s;        /* busy time of the fine operator within the solve */
    double relative_residual;
    int64_t held_bytes;           /* memory of operator, preconditioner and vectors */
    double peak_bytes;            /* of the whole process since the row began, as reported by the system */
    double compliance, reference; /* b.u, J; the published value */
    app_ceilings ceilings;
} fem_bench_cg_row;

typedef struct fem_bench_cg_result {
    yoke_context *context;
    fem_element element;
    int64_t num_rows, room;
    fem_bench_cg_row *rows;
    int wrong; /* rows whose compliance differs from the published one */
} fem_bench_cg_result;

/* Called for each row when it is complete. */
typedef void fem_bench_cg_report(const fem_bench_cg_result *result, const fem_bench_cg_row *row, void *user);

/*
 * *result is also written on failure, with the results so far; release it with fem_bench_cg_result_destroy.  Sets the number of OpenMP
 * threads.  Errors: those of fem_solve and app_ceilings_measure; MEMORY, INTERRUPTED; NUMERIC at the end if a compliance is wrong.
 */
yoke_status fem_bench_cg_run(yoke_context *context, const fem_bench_cg_options *options, fem_bench_cg_report *report, void *user,
                             fem_bench_cg_result *result);
void fem_bench_cg_result_destroy(fem_bench_cg_result *result);

/* The row of the same mesh, elements and preconditioner on one thread, or NULL. */
const fem_bench_cg_row *fem_bench_cg_single(const fem_bench_cg_result *result, const fem_bench_cg_row *row);
double fem_bench_cg_rate(const fem_bench_cg_row *row); /* dofs x iterations per second of the solve */

/* Published compliance of the affine cube with this number of elements, or NaN. */
double fem_bench_cg_reference(fem_element element, int64_t elements);

/* Output: cg_output.c. */
void fem_bench_cg_print_header(app_terminal *terminal);
void fem_bench_cg_print_row(const fem_bench_cg_result *result, const fem_bench_cg_row *row, void *terminal); /* a report */
json_t *fem_bench_cg_rows(const fem_bench_cg_result *result);                                                /* NULL: out of memory */
/* Writes cg.dat, cg.gp and, if gnuplot is installed (*drawn), cg.svg into an existing directory.  Errors: INPUT, SYSTEM. */
yoke_status fem_bench_cg_write(const fem_bench_cg_result *result, const char *directory, bool *drawn);

#endif
