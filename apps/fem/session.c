#include "session.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>
#include <sc.h>

#include <p4est.h>

#include "mpi_alone.h"

/*
 * OpenBLAS, where it is the BLAS of CHOLMOD and hypre, on one thread, unless the user says how many.  The coarse problem is too small for
 * more, and after each call OpenBLAS's own threads would go on asking for work on the cores that the solver's threads need.
 */
static void leave_cores_to_solver(void)
{
    void (*set_threads)(int);
    void *program = dlopen(NULL, RTLD_LAZY), *symbol = NULL;
    if (program && !getenv("OPENBLAS_NUM_THREADS")) symbol = dlsym(program, "openblas_set_num_threads");
    memcpy(&set_threads, &symbol, sizeof symbol); /* ISO C has no cast from an object to a function */
    if (set_threads) set_threads(1);
    if (program) dlclose(program);
}

yoke_status fem_session_start(yoke_context *context, int *argc, char ***argv)
{
    int ranks;
    leave_cores_to_solver();
    if (MPI_Init(argc, argv) != MPI_SUCCESS) return yoke_fail(context, YOKE_ERROR_SYSTEM, "MPI does not start; check the MPI installation");
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 1)
        return yoke_fail(context, YOKE_ERROR_INPUT, "started with %d MPI ranks, but this version works with one; its threads use all cores",
                         ranks);
    /* With a communicator sc looks for processes that share its memory, which takes more of MPI than one process needs. */
    sc_init(fem_mpi_library_runs() ? MPI_COMM_WORLD : MPI_COMM_NULL, 0, 0, NULL, SC_LP_ERROR);
    p4est_init(NULL, SC_LP_ERROR);
    return YOKE_OK;
}

void fem_session_end(void)
{
    int started = 0;
    MPI_Initialized(&started);
    if (!started) return;
    if (sc_package_id >= 0) sc_finalize();
    MPI_Finalize();
}
