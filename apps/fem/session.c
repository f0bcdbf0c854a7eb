#include "session.h"

#include <stdlib.h>

#include <mpi.h>
#include <sc.h>

#include <p4est.h>

yoke_status fem_session_start(yoke_context *context, int *argc, char ***argv)
{
    int ranks;
    /* Without this a program started outside of mpirun starts a daemon of Open MPI that it does not need. */
    if (!getenv("OMPI_COMM_WORLD_SIZE")) setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    /* MPI looks at the machine through hwloc, whose plugins would start the drivers of all GPUs; yoke does that itself, where it is needed. */
    setenv("HWLOC_COMPONENTS", "-opencl,-cuda,-nvml,-rsmi,-levelzero,-gl", 0);
    if (MPI_Init(argc, argv) != MPI_SUCCESS) return yoke_fail(context, YOKE_ERROR_SYSTEM, "MPI does not start; check the MPI installation");
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 1)
        return yoke_fail(context, YOKE_ERROR_INPUT, "started with %d MPI ranks, but this version works with one; its threads use all cores",
                         ranks);
    sc_init(MPI_COMM_WORLD, 0, 0, NULL, SC_LP_ERROR);
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
