#include "common/threads.h"

#include <stdlib.h>

/* A round takes 10 to 50 ns.  Fewer cost small meshes time, more do not pay: see docs/performance.md. */
static const char spin_rounds[] = "1000";

static bool set(const char *name, const char *value, const char *other)
{
    return getenv(name) == NULL && getenv(other) == NULL && setenv(name, value, 1) == 0;
}

bool app_threads_settle(void)
{
    const bool blas = set("GOTO_NUM_THREADS", "1", "OPENBLAS_NUM_THREADS"), spin = set("GOMP_SPINCOUNT", spin_rounds, "OMP_WAIT_POLICY");
    return blas || spin;
}
