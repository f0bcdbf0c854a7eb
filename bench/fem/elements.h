/* elements.h - element matrices and tables in the form that the kernels of axmebe_kernel.h read. */
#ifndef BENCH_FEM_ELEMENTS_H
#define BENCH_FEM_ELEMENTS_H

#include "operator/decomposition/decomposition.h"

typedef struct fem_bench_elements {
    yoke_context *context;
    int32_t elements, num_nodes;
    int nodes, components; /* per element: 8, 20 or 27; values per node */
    int32_t *node;         /* [elements][nodes] the i-th node of the element */
    int32_t *place;        /* [elements][nodes] position of that node in the store, where the nodes are in ascending order */
    double *store;         /* [elements][packed] lower triangles by rows, in that order */
    int32_t *first;        /* [num_nodes + 1] */
    int32_t *entry;        /* [elements x nodes] by node: the places in `node` that name it, ascending */
    int32_t *order;        /* [elements] by colour: elements of a colour have no common node */
    int32_t colours;
    int32_t *colour_first; /* [colours + 1] */
} fem_bench_elements;

/* host: a device that runs host functions.  It computes the matrices once, in a temporary subdomain.  Errors: those of the subdomain. */
yoke_status fem_bench_elements_create(const fem_space *space, const fem_constraints *constraints, const fem_device *host,
                                      fem_bench_elements **elements);
void fem_bench_elements_destroy(fem_bench_elements *elements); /* NULL allowed */

static inline int64_t fem_bench_order(const fem_bench_elements *elements) { return elements->nodes * elements->components; }
/* Entries of a packed matrix. */
static inline int64_t fem_bench_packed(const fem_bench_elements *elements)
{
    return fem_bench_order(elements) * (fem_bench_order(elements) + 1) / 2;
}

#endif
