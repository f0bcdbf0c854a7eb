/*
 * product.h - C = A B on several ranks, each with a part of A, B and C (Clarke, sect. 1.9).
 *
 * A rank computes a rectangle of blocks of C.  In each step the owners of the pivot columns of A and of the pivot rows of B send them to
 * the ranks whose rows and columns need them, while these ranks work on the step before.  Then all ranks report their times, and rank 0
 * decides which rank has which blocks of C in the next step.
 */
#ifndef DENSE_PRODUCT_H
#define DENSE_PRODUCT_H

#include "common/ranks/ranks.h"
#include "gemm/freivalds.h"
#include "gemm/gemm.h"
#include "ranks/exchange.h"
#include "ranks/nodes.h"

/* Work and time of a device of a rank in all steps. */
typedef struct dense_rank_device {
    char name[64], by[64], why[DENSE_WHY];
    int rank, accelerator, failed;
    double blocks; /* of C, summed over all steps */
    double seconds;
    double energy_j; /* while its rank multiplied; NaN: not known */
    char powers[16]; /* as in dense_shared */
} dense_rank_device;

/* Measurements of a step over all ranks. */
typedef struct dense_rank_step {
    double longest_s, imbalance; /* of the ranks' work */
    /* Prediction of longest_s after the step before; for the first step from earlier knowledge of the ranks; NaN: there is none. */
    double predicted_s;
    double transfer_s, wait_s; /* the longest times of messages, and of waiting for them after the work */
    double bytes;              /* that ranks received from each other, in total */
    int moved;                 /* nonzero: after this step C was divided in another way */
    double gain_s, cost_s;     /* predicted gain and cost of that; NaN: not predicted */
    double move_s, move_bytes; /* measured time and bytes of that */
} dense_rank_step;

/* A product that is being computed.  The caller sets the members up to `user`; dense_product_create sets the others. */
typedef struct dense_product {
    yoke_context *context;
    app_ranks *ranks;
    yoke_run *run;
    const app_blas *blas; /* NULL: none */
    const char *why_no_blas;
    dense_partition partition;
    dense_gemm_options options;                                /* block, add and progress are ignored */
    void (*progress)(void *user, int64_t done, int64_t steps); /* after each step; NULL: none */
    void *user;

    dense_grid grid;
    yoke_rectangle *first, *now;                    /* [ranks] blocks: the first partition, which A and B keep, and that of C at present */
    yoke_rectangle *places_a, *places_b, *places_c; /* [ranks] entries */
    yoke_rectangle *scratch;                        /* [2 ranks] */
    dense_matrix a, b, c;                           /* parts of this rank; empty if it has none */
    dense_matrix pivots[2][2];                      /* of A and of B, for two steps */
    dense_exchange exchange;
    dense_nodes *nodes;     /* on rank 0 */
    dense_gemm_state *gemm; /* NULL: this rank has had no blocks so far */
    dense_shared *shared;
    dense_rank_device *devices; /* [num_devices] of this rank */
    int num_devices;
    dense_rank_step *steps;     /* [grid.steps] */
    dense_node_report *reports; /* [ranks] */
    double filling;             /* seconds per byte to fill newly allocated memory */
    double memory_bytes;        /* of this machine, for each of its ranks */
    /* Times of this rank: deciding, work, waiting for messages, waiting for slower ranks after each step, moving C; and of all steps. */
    double partition_s, compute_s, communicate_s, idle_s, move_s, seconds;
} dense_product;

/*
 * Creates the first partition, this rank's parts of matrices m x k and k x n, whose entries are not set, and C = 0.  *product is zero
 * except for the members that the caller sets.
 * Collective.  Errors: those on which ranks agree: INPUT (the matrices do not fit into the memory; more ranks than DENSE_MAX_RANKS),
 * MEMORY.
 */
yoke_status dense_product_create(dense_product *product, int64_t m, int64_t n, int64_t k, int64_t block, dense_precision precision);
void dense_product_destroy(dense_product *product);

/* Computes the product.  Collective.  Errors: those of dense_gemm on some rank, on which all agree. */
yoke_status dense_product_multiply(dense_product *product);

/* Freivalds' check of the whole product.  Collective.  Errors: MEMORY. */
yoke_status dense_product_check(const dense_product *product, uint64_t seed, dense_freivalds *check);

/* Rank 0 writes the whole product.  Collective.  Errors: INPUT, SYSTEM, MEMORY, on which all agree. */
yoke_status dense_product_write(dense_product *product, const char *path);

/* Collects the devices of all ranks on every rank; release *devices with yoke_release.  Collective.  Errors: MEMORY. */
yoke_status dense_product_devices(const dense_product *product, dense_rank_device **devices, int *count);

#endif
