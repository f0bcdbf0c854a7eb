/*
 * halo.h - the nodes that the elements of several ranks touch, and the values that travel between those ranks.
 *
 * Each rank has a halo of its own: with each neighbour a list of shared nodes, in an order that both know.  Sums over the ranks are added in the
 * order of the ranks, so that all who share a node have the same bits, whenever messages arrive.
 *
 * All functions but those that destroy are collective (common/ranks/ranks.h).
 */
#ifndef FEM_SPACE_EXCHANGE_HALO_H
#define FEM_SPACE_EXCHANGE_HALO_H

#include <stdint.h>

#include "common/ranks/ranks.h"

/* A node under a name that all ranks know. */
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
    int32_t *source; /* [num_shared] place in item of the copy that counts (space.h), -1: this rank's own */
} fem_halo;

/*
 * The halo of nodes under keys, each at most once; other ranks may or may not have the same keys.  meeting [count]: a rank for each key, the same where it is the
 * same key, which finds out who has it; one nearby, so that few ranks have to do with each other.  All copies count as this rank's own.  Errors: MEMORY.
 */
yoke_status fem_halo_create(yoke_context *context, app_ranks *ranks, int64_t count, const fem_halo_key *keys, const int *meeting,
                            fem_halo **halo);
/* lowest [num_nodes]: the lowest rank that has the node.  Not collective. */
void fem_halo_lowest(const fem_halo *halo, int32_t num_nodes, int *lowest);
/* The halo of some of the nodes: number [nodes of `from`] are their new numbers, -1: left out.  Not collective.  Errors: MEMORY. */
yoke_status fem_halo_restrict(const fem_halo *from, const int32_t *number, fem_halo **halo);
void fem_halo_destroy(fem_halo *halo); /* NULL allowed */

/*
 * values [nodes][n], the partial sums of each rank, become the sums at shared nodes; halo NULL: nothing is done.  Errors: MEMORY.
 */
yoke_status fem_halo_sum(const fem_halo *halo, int n, double *values);
/* values [nodes][n] at shared nodes become those of the copy that counts; halo NULL: nothing is done.  Errors: MEMORY. */
yoke_status fem_halo_agree(const fem_halo *halo, int n, double *values);

/* Values under way, for what is done again and again. */
typedef struct fem_halo_messages {
    const fem_halo *halo; /* borrowed */
    int bytes, width;     /* of a value: 4 or 8; values of a node, of the last begin */
    void *requests;
    void *sent, *received;           /* [nodes shared with all neighbours][width] */
    void *own;                       /* [num_shared][width] */
    int64_t num_messages, num_bytes; /* sent so far */
} fem_halo_messages;

/* most: bytes of all values of a node, at most.  Errors: MEMORY; not collective. */
yoke_status fem_halo_messages_create(const fem_halo *halo, int most, fem_halo_messages **messages);
void fem_halo_messages_destroy(fem_halo_messages *messages); /* NULL allowed */

/*
 * Starts to send the values of shared nodes: node shared[i] has values[place[i]][width], place NULL: values[shared[i]].  bytes: of a value, 4 (float) or 8 (double, or
 * anything that is not added).
 */
void fem_halo_begin(fem_halo_messages *messages, int bytes, int width, const void *values, const int32_t *place);
/* Waits until the neighbours' values have arrived, in messages->received, and those sent are gone. */
void fem_halo_wait(fem_halo_messages *messages);
/* Waits, then puts the sums over the ranks into values, or those of the copies that count. */
void fem_halo_end_sum(fem_halo_messages *messages, void *values, const int32_t *place);
void fem_halo_end_agree(fem_halo_messages *messages, void *values, const int32_t *place);

#endif
