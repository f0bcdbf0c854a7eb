/*
 * halo.h - the nodes that the elements of several ranks touch, and the values that are exchanged between those ranks.
 *
 * Each rank has its own halo: for each neighbour a list of shared nodes, in an order that both know.  Sums over the ranks are added in the
 * order of the ranks, so that all ranks that share a node have the same bits, independent of the arrival of messages.
 *
 * All functions except those that destroy are collective (common/ranks/ranks.h).
 */
#ifndef FEM_SPACE_EXCHANGE_HALO_H
#define FEM_SPACE_EXCHANGE_HALO_H

#include <stdint.h>

#include "common/ranks/ranks.h"

/* A node with a name that is the same on all ranks. */
typedef struct fem_halo_key {
    uint64_t place;
    uint32_t entity;
    int32_t node; /* of this rank */
} fem_halo_key;

typedef struct fem_halo {
    yoke_context *context; /* borrowed */
    app_ranks *ranks;      /* borrowed */
    int num_neighbours;
    int *neighbour; /* [num_neighbours] ranks, ascending */
    int32_t *first; /* [num_neighbours + 1] in item */
    int32_t *item;  /* the nodes shared with a neighbour, as indices in `shared` */
    int32_t num_shared;
    int32_t *shared; /* [num_shared] nodes, ascending */
    int32_t *source; /* [num_shared] index in item of the copy that counts (space.h), -1: this rank's own */
} fem_halo;

/*
 * Creates the halo of nodes with keys, each at most once; other ranks may or may not have the same keys.  meeting [count]: for each key the
 * rank that determines which ranks have it.  It must be the same for equal keys, and a nearby one, so that few ranks exchange messages.
 * All copies count as this rank's own.  Errors: MEMORY.
 */
yoke_status fem_halo_create(yoke_context *context, app_ranks *ranks, int64_t count, const fem_halo_key *keys, const int *meeting,
                            fem_halo **halo);
/* lowest [num_nodes]: the lowest rank that has the node.  Not collective. */
void fem_halo_lowest(const fem_halo *halo, int32_t num_nodes, int *lowest);
/* Creates the halo of some of the nodes: number [nodes of `from`] are their new numbers, -1: omitted.  Not collective.  Errors: MEMORY. */
yoke_status fem_halo_restrict(const fem_halo *from, const int32_t *number, fem_halo **halo);
void fem_halo_destroy(fem_halo *halo); /* NULL allowed */

/*
 * Replaces values [nodes][n], the partial sums of each rank, at shared nodes by the sums over the ranks; halo NULL: nothing is done.
 * Errors: MEMORY.
 */
yoke_status fem_halo_sum(const fem_halo *halo, int n, double *values);
/* Replaces values [nodes][n] at shared nodes by those of the copy that counts; halo NULL: nothing is done.  Errors: MEMORY. */
yoke_status fem_halo_agree(const fem_halo *halo, int n, double *values);

/* Values being transferred, for exchanges that are repeated often. */
typedef struct fem_halo_messages {
    const fem_halo *halo; /* borrowed */
    int bytes, width;     /* of the last begin: bytes of a value, 4 or 8; values per node */
    void *requests;
    void *sent, *received;           /* [nodes shared with all neighbours][width] */
    void *own;                       /* [num_shared][width] */
    int64_t num_messages, num_bytes; /* sent so far */
} fem_halo_messages;

/* most: largest number of bytes of all values of a node.  Errors: MEMORY; not collective. */
yoke_status fem_halo_messages_create(const fem_halo *halo, int most, fem_halo_messages **messages);
void fem_halo_messages_destroy(fem_halo_messages *messages); /* NULL allowed */

/*
 * Starts to send the values of shared nodes: node shared[i] has values[place[i]][width]; place NULL: values[shared[i]].  bytes: of a value,
 * 4 (float) or 8 (double, or any type that is not added).
 */
void fem_halo_begin(fem_halo_messages *messages, int bytes, int width, const void *values, const int32_t *place);
/* Waits until the neighbours' values have arrived in messages->received, and those of this rank have been sent. */
void fem_halo_wait(fem_halo_messages *messages);
/* Waits, then writes the sums over the ranks to values, or the values of the copies that count. */
void fem_halo_end_sum(fem_halo_messages *messages, void *values, const int32_t *place);
void fem_halo_end_agree(fem_halo_messages *messages, void *values, const int32_t *place);

#endif
