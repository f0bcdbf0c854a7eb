/*
 * runs.h - moves items that are numbered over all ranks.  Each rank has a range of them ("run"), and gets another range.
 *
 * Lists of runs have the first item of each rank and the number of all items: [ranks + 1].
 */
#ifndef FEM_SPACE_EXCHANGE_RUNS_H
#define FEM_SPACE_EXCHANGE_RUNS_H

#include <stdint.h>

#include "common/ranks/ranks.h"

typedef struct fem_runs {
    yoke_context *context; /* borrowed */
    app_ranks *ranks;      /* borrowed */
    int64_t *from, *to;    /* [ranks + 1] */
    void *requests;
    int64_t num_messages, num_bytes; /* sent by this rank so far */
} fem_runs;

/* Creates the list of runs, if this rank's run begins with item `first`, of `all` items on all ranks.  Collective. */
void fem_runs_list(app_ranks *ranks, int64_t first, int64_t all, int64_t *list);

/* The rank that has an item, 0 <= item < list[ranks]. */
int fem_runs_owner(const int64_t *list, int ranks, int64_t item);

/* Copies both lists.  ranks must not be NULL.  Not collective.  Errors: MEMORY. */
yoke_status fem_runs_create(yoke_context *context, app_ranks *ranks, const int64_t *from, const int64_t *to, fem_runs **runs);
void fem_runs_destroy(fem_runs *runs); /* NULL allowed */
/* Number of items that this rank has by `to`. */
int64_t fem_runs_moved(const fem_runs *runs);

/*
 * moved = this rank's items by `to`; items are its own ones by `from`, of this number of bytes each.  Nonzero back: the reverse direction.
 * Collective.
 */
void fem_runs_move(fem_runs *runs, int back, int bytes, const void *items, void *moved);

#endif
