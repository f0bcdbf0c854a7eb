/*
 * exchange.h - sends entries of a matrix from the ranks that have them to those that need them.
 */
#ifndef DENSE_EXCHANGE_H
#define DENSE_EXCHANGE_H

#include "common/ranks/ranks.h"
#include "matrix/matrix.h"

/* A matrix that is divided into parts on the ranks. */
typedef struct dense_parts {
    const yoke_rectangle *places; /* [ranks] entries that each rank has; 0 x 0: none */
    dense_matrix *mine;           /* the part of this rank; not used if it has none */
} dense_parts;

/* Messages of several exchanges that are sent at once. */
typedef struct dense_exchange {
    app_ranks *ranks;
    app_message *send, *receive; /* [room] */
    int64_t num_send, num_receive, room;
    double bytes; /* received */
    app_transfer *transfer;
} dense_exchange;

/* most: largest number of exchanges that are added.  Release with dense_exchange_destroy.  Errors: MEMORY. */
yoke_status dense_exchange_create(yoke_context *context, app_ranks *ranks, int most, dense_exchange *exchange);
void dense_exchange_destroy(yoke_context *context, dense_exchange *exchange);

/* Removes all messages. */
void dense_exchange_clear(dense_exchange *exchange);
/*
 * Adds messages for each entry that is in places of both `have` and `need`, from the ranks that have it to those that need it.  Entries
 * that this rank both has and needs are copied immediately.
 */
void dense_exchange_add(dense_exchange *exchange, int tag, const dense_parts *have, const dense_parts *need);
/* Errors: MEMORY: other ranks wait then, so ranks cannot agree on this error. */
yoke_status dense_exchange_start(dense_exchange *exchange, dense_precision precision);
/* *seconds: from the start until all messages had arrived. */
void dense_exchange_finish(dense_exchange *exchange, double *seconds);

#endif
