#include "common/threads.h"

#include <stdio.h>
#include <stdlib.h>

/* A round takes 10 to 50 ns.  gcc's own number is 300 000, which is a tenth faster on small meshes where nobody else works (docs/notes/performance.md). */
static const char few_rounds[] = "300";

static bool set(const char *name, const char *value, const char *other)
{
    return getenv(name) == NULL && getenv(other) == NULL && setenv(name, value, 1) == 0;
}

/* Whether a thread beside this one runs or waits for a core. */
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
