/* Threads on their cores. */
#include <omp.h>

#include "device/openmp/openmp.h"

/*
 * Where this thread is, and where it has put the team of its parallel regions.  It must be known per thread, because OpenMP's threads are
 * the runtime's and outlive queues, devices and contexts.  Cores are counted from 1 so that a new thread's zeros mean "not bound by a
 * device".
 */
static _Thread_local struct {
    int64_t core;
    int64_t team_first_core;
    int team_threads;
} here;

static yoke_status place(yoke_context *context, int64_t core)
{
    if (here.core == core) return YOKE_OK;
    yoke_status status = core > 0 ? yoke_bind_thread(context, core - 1) : yoke_unbind_thread(context);
    if (status == YOKE_OK) here.core = core;
    return status;
}

/* Thread i of the team goes to core first + i, or to all of them if first is 0. */
static yoke_status place_team(yoke_context *context, int64_t first, int threads)
{
    int failed = YOKE_OK;
#pragma omp parallel num_threads(threads) reduction(max : failed)
    failed = (int)place(context, first > 0 ? first + omp_get_thread_num() : 0);
    if (failed != YOKE_OK) return (yoke_status)failed;
    here.team_first_core = first;
    here.team_threads = first > 0 ? threads : 0;
    return YOKE_OK;
}

yoke_status openmp_enter(const openmp_device *device, int *before)
{
    int64_t first = device->first_core + 1;
    int team = first > 0 ? device->threads : 0;
    yoke_status status = YOKE_OK;
    if (here.team_first_core != first || here.team_threads != team || here.core != first)
        status = place_team(device->context, first, first > 0 || here.team_threads < device->threads ? device->threads : here.team_threads);
    if (status != YOKE_OK) return status;
    *before = omp_get_max_threads();
    if (*before != device->threads) omp_set_num_threads(device->threads);
    return YOKE_OK;
}

void openmp_leave(int before)
{
    if (before != omp_get_max_threads()) omp_set_num_threads(before);
}

void openmp_free_team(const openmp_device *device)
{
    /* What the system refuses here it would have refused when the threads were bound. */
    if (here.team_first_core > 0) (void)place_team(device->context, 0, here.team_threads);
}
