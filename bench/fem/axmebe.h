/*
 * axmebe.h - `yoke bench axmebe`: products y = A u of finite elements; variants x devices x numbers of elements.
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

/* Numbers of the variants: the operators, then those of Alg. 3. */
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

/* Largest difference from the stored operator, in 2-norms, up to which a variant is timed. */
#define FEM_AXMEBE_TOLERANCE 1e-12

typedef struct fem_axmebe_options {
    int num_sets;
    char set[FEM_AXMEBE_MAX_SETS][FEM_AXMEBE_NAME]; /* a device, or several devices that work together, joined by "+" */
    int num_sizes;
    int64_t size[FEM_AXMEBE_MAX_SIZES]; /* requested numbers of elements */
    unsigned meshes;                    /* bit i: mesh i (fem_bench_mesh_name); 0: curved */
    fem_element element;
    int components;
    const fem_problem *problem; /* a problem whose mesh, element and components replace the cube; NULL: the cube */
    unsigned variants;          /* bit v: variant v */
    unsigned exchanges;         /* bit e: scheme e, for sets of several devices */
    double seconds;             /* for each measurement */
    int64_t triad;              /* triples of the triad; 0: a quarter of the device's memory, at most 30 million */
    int ceilings;               /* 0: DGEMM is not measured; 1: quickly; 2: accurately */
} fem_axmebe_options;

/* One measurement; NaN: not known or not meaningful. */
typedef struct fem_axmebe_row {
    char set[FEM_AXMEBE_NAME];
    int variant, exchange; /* exchange -1: one device */
    const char *mesh;      /* a name of fem_bench_mesh_name, or "case" */
    int64_t asked, elements, dofs, hanging_nodes;
    fem_bench_time time; /* of a product, without moving vectors */
    /* Of a product with a copy of u to the device before it and of y from the device after it, as in the papers. */
    double transferred_s;
    double bytes;             /* least traffic of a product on the device: element data once, u and y once */
    double flops;             /* additions and multiplications of a product, by fem_bench_flops */
    double triad_bytes_per_s; /* of the device, in this run */
    double dgemm_flops_per_s; /* of the same number of threads of the host's cores, in this run; NaN: other devices */
    double difference;        /* from the stored operator */
    int64_t exchange_bytes;   /* to and from all devices in one product */
    char why_not[512];        /* "" if it was measured */
} fem_axmebe_row;

typedef struct fem_axmebe_result {
    yoke_context *context;
    int64_t num_rows, room;
    fem_axmebe_row *rows;
    int wrong; /* rows whose result differed */
    int num_ceilings;
    app_ceilings ceilings[FEM_AXMEBE_MAX_CEILINGS]; /* by number of threads */
} fem_axmebe_result;

/* Called for each row when it is complete. */
typedef void fem_axmebe_report(const fem_axmebe_row *row, void *user);

/*
 * Measures everything.  What cannot be measured (no BLAS, insufficient memory, a failed device, a wrong result) is a row with its reason.
 * *result is also written on failure, with the results so far; release it with fem_axmebe_result_destroy.
 * Errors: INPUT, UNAVAILABLE (a device), MEMORY, INTERRUPTED; NUMERIC at the end if a result differed.
 */
yoke_status fem_axmebe_run(yoke_context *context, const fem_axmebe_options *options, fem_axmebe_report *report, void *user,
                           fem_axmebe_result *result);
void fem_axmebe_result_destroy(fem_axmebe_result *result);

/*
 * Least traffic of a product in bytes: element data (matrices, or factors: one set for affine elements), node numbers, u and y, each once.
 */
double fem_axmebe_least_bytes(const fem_space *space, int variant);

/* Returns the row of the same set, variant, mesh and number of elements as `row` with this scheme of exchange, or NULL. */
const fem_axmebe_row *fem_axmebe_find(const fem_axmebe_result *result, const fem_axmebe_row *row, int exchange);
/* For a row of a mesh with hanging nodes: the corresponding row without them, or NULL. */
const fem_axmebe_row *fem_axmebe_find_conforming(const fem_axmebe_result *result, const fem_axmebe_row *row);

#endif
