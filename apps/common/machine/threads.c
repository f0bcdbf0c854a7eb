#define _GNU_SOURCE /* sched_setaffinity */
#include "common/machine/threads.h"

#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * A round of spinning takes 10 to 50 ns.  gcc's default is 300 000 rounds, which is a tenth faster on small meshes if no other process
 * works (docs/notes/performance.md).
 */
static const char few_rounds[] = "300";

static bool set(const char *name, const char *value, const char *other)
{
    return getenv(name) == NULL && getenv(other) == NULL && setenv(name, value, 1) == 0;
}

/* Whether another thread on this machine is running or waiting for a core. */
static bool others_run(void)
{
    int running = 1;
    FILE *file = fopen("/proc/loadavg", "r");
    if (file == NULL) return false;
    if (fscanf(file, "%*f %*f %*f %d/", &running) != 1) running = 1;
    fclose(file);
    return running > 1;
}

bool app_threads_settle(void)
{
    const bool blas = set("GOTO_NUM_THREADS", "1", "OPENBLAS_NUM_THREADS");
    return (others_run() && set("GOMP_SPINCOUNT", few_rounds, "OMP_WAIT_POLICY")) || blas;
}

void app_threads_free(void)
{
    int ids[CPU_SETSIZE];
    cpu_set_t all;
    CPU_ZERO(&all);
    if (omp_get_proc_bind() == omp_proc_bind_false) return;
    for (int place = 0; place < omp_get_num_places(); place++) {
        const int count = omp_get_place_num_procs(place);
        if (count > CPU_SETSIZE) return;
        omp_get_place_proc_ids(place, ids);
        for (int i = 0; i < count; i++)
            if (ids[i] >= 0 && ids[i] < CPU_SETSIZE) CPU_SET((unsigned)ids[i], &all);
    }
    if (CPU_COUNT(&all) > 0) (void)sched_setaffinity(0, sizeof all, &all); /* if the system refuses, the binding stays unchanged */
}
