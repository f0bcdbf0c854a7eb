/*
 * axmebe_kernel.h - `yoke bench axmebe`: products y = A u of finite elements; variants x devices x numbers of elements.
 *
 * Variants are the two operators of yoke fem, by its own decompositions, the matrix-free one also with the other ways in which device
 * subdomains can add up (fem_adding), and the four of Lang and Ruenger 2013, Alg. 3 (variants.h), on one device at a time.  Operators also
 * work on several devices together, with both schemes of exchange.  Before anything is timed its result is compared with that of the stored
 * operator on the host's cores.
 */
#ifndef BENCH_FEM_AXMEBE_H
#define BENCH_FEM_AXMEBE_H

#include "common/console/terminal.h"
#include "common/machine/ceilings.h"
#include "fem/measure.h"
#include "fem/variants.h"
#include "fem/workload.h"

/* Variants by number: the operators, then those of Alg. 3. */
enum {
    FEM_AXMEBE_MATRIXFREE,
    FEM_AXMEBE_STORED,
    FEM_AXMEBE_COLOUR,
    FEM_AXMEBE_ATOMIC,
    FEM_AXMEBE_ALG3,
    FEM_AXMEBE_VARIANTS = FEM_AXMEBE_ALG3 + FEM_BENCH_VARIANTS
};
extern const char *const fem_axmebe_variant_name[FEM_AXMEBE_VARIANTS];
extern const char *const fem_axmebe_exchange_name[2];

enum { FEM_AXMEBE_MAX_SETS = 64, FEM_AXMEBE_MAX_SIZES = 64, FEM_AXMEBE_NAME = 256, FEM_AXMEBE_MAX_CEILINGS = 16 };

/* Largest difference from the stored operator, in 2-norms, for which a variant is timed. */
#define FEM_AXMEBE_TOLERANCE 1e-12

typedef struct fem_axmebe_options {
    int num_sets;
    char set[FEM_AXMEBE_MAX_SETS][FEM_AXMEBE_NAME]; /* a device, or several that work together, joined by "+" */
    int num_sizes;
    int64_t size[FEM_AXMEBE_MAX_SIZES]; /* numbers of elements asked for */
    unsigned meshes;                    /* bit i: mesh i (fem_bench_mesh_name); 0: curved */
    fem_element element;
    int components;
    const fem_problem *problem; /* instead of a cube, its mesh, element and components; NULL */
    unsigned variants;          /* bit v: variant v */
    unsigned exchanges;         /* bit e: scheme e, for sets of several devices */
    double seconds;             /* for each measurement */
    int64_t triad;              /* triples of the triad; 0: what a quarter of the device's memory holds, at most 30 million */
    int ceilings;               /* 0: DGEMM is not measured; 1: quickly; 2: well */
} fem_axmebe_options;

/* One measurement; NaN: not known or without meaning there. */
typedef struct fem_axmebe_row {
    char set[FEM_AXMEBE_NAME];
    int variant, exchange; /* exchange -1: one device */
    const char *mesh;      /* a name of fem_bench_mesh_name, or "case" */
    int64_t asked, elements, dofs, hanging_nodes;
    fem_bench_time time;      /* of a product, vectors staying where they are */
    double transferred_s;     /* of a product with u to the device before it and y back after it, as in the papers */
    double bytes;             /* that a product must move on the device at least: element data once, u and y once */
    double flops;             /* additions and multiplications of a product, by fem_bench_flops */
    double triad_bytes_per_s; /* of the device, in this run */
    double dgemm_flops_per_s; /* of as many threads of the host's cores, in this run; NaN: other devices */
    double difference;        /* from the stored operator */
    int64_t exchange_bytes;   /* to and from all devices in one product */
    char why_not[512];        /* "" where it was measured */
} fem_axmebe_row;

typedef struct fem_axmebe_result {
    yoke_context *context;
    int64_t num_rows, room;
    fem_axmebe_row *rows;
    int wrong; /* rows whose result differed */
    int num_ceilings;
    app_ceilings ceilings[FEM_AXMEBE_MAX_CEILINGS]; /* by number of threads */
} fem_axmebe_result;

/* Called for each row when it is there. */
typedef void fem_axmebe_report(const fem_axmebe_row *row, void *user);

/*
 * Measures everything; what cannot be measured (no BLAS, memory too small, a device that failed, a wrong result) is a row with its reason.
 * *result is written also on failure, with what was measured before, and given back with fem_axmebe_result_destroy.
 * Errors: INPUT, UNAVAILABLE (a device), MEMORY, INTERRUPTED; NUMERIC at the end where a result differed.
 */
yoke_status fem_axmebe_run(yoke_context *context, const fem_axmebe_options *options, fem_axmebe_report *report, void *user,
                           fem_axmebe_result *result);
void fem_axmebe_result_destroy(fem_axmebe_result *result);

/*
 * Bytes that a product must move at least: element data (matrices, or factors: of affine elements one set), node numbers, u and y, each
 * once.
 */
double fem_axmebe_least_bytes(const fem_space *space, int variant);

/* The row of the same set, variant, mesh and number of elements as `row` by that scheme of exchange, or NULL. */
const fem_axmebe_row *fem_axmebe_find(const fem_axmebe_result *result, const fem_axmebe_row *row, int exchange);
/* For a row of a mesh with hanging nodes: the same without them, or NULL. */
const fem_axmebe_row *fem_axmebe_find_conforming(const fem_axmebe_result *result, const fem_axmebe_row *row);

#endif
