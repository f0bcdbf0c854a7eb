/*
 * keep.c - the memory of a plan.
 */
#include "plan/keep.h"

#include <math.h>
#include <string.h>

#include "base/context.h"

/* Header of each block that a plan keeps; its size preserves the alignment of allocations. */
typedef union block {
    union block *next;
    char alignment[64];
} block;

/* The plan is the first member, so that a pointer to it is also a pointer to its store. */
typedef struct store {
    yoke_plan plan;
    block *blocks;
} store;

static void release_blocks(yoke_context *context, void *memory)
{
    for (block *here = ((store *)memory)->blocks; here != NULL;) {
        block *next = here->next;
        yoke_release(context, here);
        here = next;
    }
}

yoke_status plan_store_create(yoke_context *context, yoke_plan **plan)
{
    void *made = NULL;
    yoke_status status = yoke_allocate_owner(context, sizeof(store), release_blocks, &made);
    if (status == YOKE_OK) *plan = &((store *)made)->plan;
    return status;
}

yoke_status plan_keep(plan_work *work, yoke_plan *plan, int64_t count, size_t size, void *pointer)
{
    store *owner = (store *)plan;
    if (count < 0 || (size > 0 && count > INT64_MAX / 4 / (int64_t)size))
        return yoke_fail(work->context, YOKE_ERROR_MEMORY, "out of memory: a plan with %lld parts", (long long)count);
    block *made;
    yoke_status status = yoke_allocate(work->context, (int64_t)sizeof(block) + count * (int64_t)size, 1, &made);
    if (status != YOKE_OK) return status;
    made->next = owner->blocks;
    owner->blocks = made;
    void *memory = made + 1;
    memcpy(pointer, &memory, sizeof memory);
    return YOKE_OK;
}

yoke_status plan_keep_choice(plan_work *work, yoke_plan *plan, const char *name, const plan_result *result, yoke_plan_choice *choice)
{
    int64_t *units = NULL, count = work->num_devices, divided = work->num_cuts * count;
    yoke_status status = plan_keep(work, plan, divided + count, sizeof *units, &units);
    if (status != YOKE_OK) return status;
    *choice = (yoke_plan_choice){.feasible = result->feasible, .units = units, .levels = units + divided};
    size_t length = strlen(name);
    memcpy(choice->name, name, length < sizeof choice->name ? length : sizeof choice->name - 1);
    choice->time_s = choice->energy_j = choice->peak_power_w = choice->time_uncertainty_s = choice->energy_uncertainty_j = NAN;
    if (!result->feasible) return YOKE_OK;
    memcpy(units, result->units, (size_t)divided * sizeof *units);
    memcpy(units + divided, result->levels, (size_t)count * sizeof *units);
    choice->time_s = result->cost.time_s;
    choice->energy_j = result->cost.energy_j;
    choice->peak_power_w = result->cost.peak_w;
    choice->time_uncertainty_s = result->cost.time_uncertainty_s;
    choice->energy_uncertainty_j = result->cost.energy_uncertainty_j;
    return YOKE_OK;
}
