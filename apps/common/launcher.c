#include <stdlib.h>

#include "common/ranks.h"

bool app_ranks_launched(void)
{
    /* What the launchers of Open MPI, of MPICH and its relatives, and of batch systems set for each process that they start. */
    static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i])) return true;
    return false;
}
