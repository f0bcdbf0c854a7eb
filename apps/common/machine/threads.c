#define _GNU_SOURCE /* sched_setaffinity */
#include "common/machine/threads.h"

#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/*
 * A round of spinning takes 10 to 50 ns.  gcc's default is 300 000 rounds, which is a tenth faster on small meshes if no other process
 * works (docs/notes/performance.md).
 */
static const char few_rounds[] = "300";

static bool set(const char *name, const char *value, const char *other)
{
    return getenv(name) == NULL && getenv(other) == NULL && setenv(name, value, 1) == 0;
}

/* Number of threads on this machine that are running or waiting for a core, this one included; 1 if it is not known. */
static int running_threads(void)
{
    int running = 1;
    FILE *file = fopen("/proc/loadavg", "r");
    if (file == NULL) return 1;
    if (fscanf(file, "%*f %*f %*f %d/", &running) != 1) running = 1;
    fclose(file);
    return running;
}

/* Whether other threads on this machine work all the time.  The programs of a pipeline, and the one that started this one, work for about a
 * millisecond when it starts. */
static bool others_run(void)
{
    enum { LOOKS = 10 };
    const struct timespec pause = {.tv_nsec = 500000};
    for (int look = 0; look < LOOKS; look++) {
        if (look > 0) (void)nanosleep(&pause, NULL);
        if (running_threads() <= 1) return false;
    }
    return true;
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
