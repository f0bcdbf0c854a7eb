#include "session.h"

#include <stdlib.h>

#include <mpi.h>
#include <sc.h>

#include <p4est.h>

#include "blas_threads.h"
#include "mpi_alone.h"

yoke_status fem_session_start(yoke_context *context, int *argc, char ***argv)
{
    int ranks;
    fem_blas_set_threads(1); /* the coarse problem is too small for more, and the solver's threads need the cores */
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
