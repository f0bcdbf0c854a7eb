/*
 * exchange.h - entries of a matrix go from the parts where ranks have them to those where ranks need them.
 */
#ifndef DENSE_EXCHANGE_H
#define DENSE_EXCHANGE_H

#include "common/ranks/ranks.h"
#include "matrix/matrix.h"

/* A matrix that lies in parts on the ranks. */
typedef struct dense_parts {
    const yoke_rectangle *places; /* [ranks] entries that each one has; 0 x 0: none */
    dense_matrix *mine;           /* those of this rank; not used where it has none */
} dense_parts;

/* Messages of several exchanges that go at once. */
typedef struct dense_exchange {
    app_ranks *ranks;
    app_message *send, *receive; /* [room] */
    int64_t num_send, num_receive, room;
    double bytes; /* that are received */
    app_transfer *transfer;
} dense_exchange;

/* most: exchanges that are added.  Given back with dense_exchange_destroy.  Errors: MEMORY. */
yoke_status dense_exchange_create(yoke_context *context, app_ranks *ranks, int most, dense_exchange *exchange);
void dense_exchange_destroy(yoke_context *context, dense_exchange *exchange);

/* Forgets all messages. */
void dense_exchange_clear(dense_exchange *exchange);
/* Each entry that is in places of both goes from the ranks that have it to those that need it; what is needed here and is here is copied at once. */
void dense_exchange_add(dense_exchange *exchange, int tag, const dense_parts *have, const dense_parts *need);
/* Errors: MEMORY: other ranks wait then, so it is no error to agree on. */
yoke_status dense_exchange_start(dense_exchange *exchange, dense_precision precision);
/* *seconds: from the start until all had arrived. */
void dense_exchange_finish(dense_exchange *exchange, double *seconds);

#endif
