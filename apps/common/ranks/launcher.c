/* Finds out whether an MPI launcher started this process. */
#include <stdlib.h>

#include "common/ranks/ranks.h"

bool app_ranks_launched(void)
{
    /* Variables that the launchers of Open MPI, of MPICH and its derivatives, and of batch systems set for each process. */
    static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i])) return true;
    return false;
}

int app_ranks_launched_count(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS"};
    for (size_t i = 0; app_ranks_launched() && i < sizeof variables / sizeof *variables; i++) {
        const char *text = getenv(variables[i]);
        if (text) return atoi(text);
    }
    return 1;
}
