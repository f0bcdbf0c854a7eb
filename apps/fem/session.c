#include "session.h"

#include <dlfcn.h>
#include <string.h>

#include <mpi.h>
#include <sc.h>

#include <p4est.h>

#include "mpi_single.h"
#include "solver/direct/blas_threads.h"

/* Memory that OpenBLAS reserves for its work, which is only address space until it is used, and a margin for the libraries. */
enum { BLAS_BYTES = 160 << 20 };

/*
 * If OpenBLAS finds no memory for its work at the first factorisation, it retries forever.  It therefore reserves the memory here, after a
 * check that the memory is available.
 */
static yoke_status give_room_to_blas(yoke_context *context)
{
    void (*factor)(const char *, const int *, double *, const int *, int *);
    void *room = NULL, *program = dlopen(NULL, RTLD_LAZY), *symbol = program ? dlsym(program, "dpotrf_") : NULL;
    yoke_status status = yoke_allocate_untouched(context, BLAS_BYTES, 1, &room);
    yoke_release(context, room);
    if (status)
        status = yoke_fail(context, YOKE_ERROR_MEMORY,
                           "the limit of memory of this process leaves no room for the work space of BLAS (%d MiB): raise it (ulimit -v)",
                           BLAS_BYTES >> 20);
    memcpy(&factor, &symbol, sizeof factor); /* ISO C has no cast from a pointer to an object to a pointer to a function */
    if (!status && symbol) {
        double one = 1;
        int size = 1, info = 0;
        factor("L", &size, &one, &size, &info);
    }
    if (program) dlclose(program);
    return status;
}

/* Without a launcher this starts only the substitute for MPI (mpi_single.h). */
static yoke_status start_mpi(yoke_context *context, const app_ranks *ranks)
{
    int started = 0, count = 1;
    MPI_Initialized(&started);
    if (!started && MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "MPI does not start; check the MPI installation");
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    if (count != app_ranks_count(ranks))
        return yoke_fail(context, YOKE_ERROR_INPUT, "started with %d MPI ranks, but this program works with one; its threads use all cores",
                         count);
    return YOKE_OK;
}

yoke_status fem_session_start(yoke_context *context, const app_ranks *ranks)
{
    fem_blas_set_threads(1); /* the coarse problem is too small for more, and the solver's threads need the cores */
    yoke_status status = give_room_to_blas(context);
    if (!status) status = start_mpi(context, ranks);
    if (status) return status;
    /* With a communicator sc looks for processes that share its memory, for which it uses more of MPI than one process needs. */
    sc_init(fem_mpi_library_runs() ? MPI_COMM_WORLD : MPI_COMM_NULL, 0, 0, NULL, SC_LP_ERROR);
    p4est_init(NULL, SC_LP_ERROR);
    return YOKE_OK;
}

void fem_session_end(const app_ranks *ranks)
{
    int started = 0, ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    if (!started || ended) return;
    if (sc_package_id >= 0) sc_finalize();
    if (!ranks) MPI_Finalize();
}
