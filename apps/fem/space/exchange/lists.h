/* lists.h - items that each rank has for each other one: sent to them, and answered. */
#ifndef FEM_SPACE_EXCHANGE_LISTS_H
#define FEM_SPACE_EXCHANGE_LISTS_H

#include <stdint.h>

#include "common/ranks/ranks.h"

typedef struct fem_lists {
    yoke_context *context;
    int bytes; /* of an item */
    int num_ranks;
    int *count, *first; /* [num_ranks] items for each rank, or from each, one rank after the other */
    void *items;
    int64_t all;
    void *requests; /* [2 x num_ranks], of received ones */
} fem_lists;

/* Counts are zero, and to be added up before fem_lists_place; lists can be released in any case.  Errors: MEMORY. */
yoke_status fem_lists_start(yoke_context *context, const app_ranks *ranks, int bytes, fem_lists *lists);
/* Room for the items, where each rank's begin.  Errors: MEMORY (also more items than a message can have). */
yoke_status fem_lists_place(fem_lists *lists);
/* The next item of a rank: to be written while lists are filled, in any order of ranks; then fem_lists_rewind. */
void *fem_lists_next(fem_lists *lists, int rank);
/* So that the items can be gone through again. */
void fem_lists_rewind(fem_lists *lists);
void fem_lists_release(fem_lists *lists);

/* received = what all ranks have for this one; only ranks that have something for each other send messages.  Collective, with the status so far of each.  Errors: MEMORY. */
yoke_status fem_lists_swap(yoke_context *context, app_ranks *ranks, yoke_status status, const fem_lists *sent, fem_lists *received);
/*
 * Answers of `bytes` each: answers has one for each item of `received`, told gets one for each item of `sent`, in their orders.  Collective.
 */
void fem_lists_answer(const fem_lists *sent, const fem_lists *received, int bytes, const void *answers, void *told);

#endif
