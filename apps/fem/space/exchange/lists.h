/* lists.h - items that each rank has for each other one: sends them, and returns answers. */
#ifndef FEM_SPACE_EXCHANGE_LISTS_H
#define FEM_SPACE_EXCHANGE_LISTS_H

#include <stdint.h>

#include "common/ranks/ranks.h"

typedef struct fem_lists {
    yoke_context *context;
    int bytes; /* of an item */
    int num_ranks;
    int *count, *first; /* [num_ranks] items for each rank, or from each rank; the ranks follow each other */
    void *items;
    int64_t all;
    void *requests; /* [2 x num_ranks], of received lists */
} fem_lists;

/* Sets counts to zero; they are to be increased before fem_lists_place.  Lists can be released in any case.  Errors: MEMORY. */
yoke_status fem_lists_start(yoke_context *context, const app_ranks *ranks, int bytes, fem_lists *lists);
/* Allocates the items, and computes where each rank's items begin.  Errors: MEMORY (also more items than a message can have). */
yoke_status fem_lists_place(fem_lists *lists);
/* The next item of a rank: to be written while lists are filled, in any order of ranks; then call fem_lists_rewind. */
void *fem_lists_next(fem_lists *lists, int rank);
/* Starts again at the first items. */
void fem_lists_rewind(fem_lists *lists);
void fem_lists_release(fem_lists *lists);

/*
 * received = the items that all ranks have for this one; only ranks that have items for each other send messages.  Collective, with the
 * present status of each rank.  Errors: MEMORY.
 */
yoke_status fem_lists_swap(yoke_context *context, app_ranks *ranks, yoke_status status, const fem_lists *sent, fem_lists *received);
/*
 * Returns answers of `bytes` each: answers has one for each item of `received`; told gets one for each item of `sent`, in their order.
 * Collective.
 */
void fem_lists_answer(const fem_lists *sent, const fem_lists *received, int bytes, const void *answers, void *told);

#endif
