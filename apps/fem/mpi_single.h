/*
 * mpi_single.h - MPI for a process that was not started by an MPI launcher.
 *
 * p4est and hypre call MPI even where one process does all.  Starting an MPI library for that takes longer than a small solve, makes a
 * directory that all processes of a user share, and fails now and then where several start at once.  So this program defines the MPI functions
 * that they call by the standard's profiling interface (MPI 4.1, chapter 15): without a launcher they are served here, for one process;
 * under a launcher (mpirun, srun) they are handed to the MPI library by its PMPI_ names.
 *
 * What is not served here starts the MPI library when it is first called, and is handed on: MPI handles that were given out before are the
 * library's own, so both work on.  mpi_single.c has what is served, mpi_forwarded.c the rest of what the libraries may call.
 */
#ifndef FEM_MPI_SINGLE_H
#define FEM_MPI_SINGLE_H

/*
 * Whether this call is served here: MPI_Init was called, without a launcher, and `possible` (what is asked for can be done here).  If it
 * cannot, the MPI library is started.
 */
int fem_mpi_single(int possible);

/* Whether the MPI library itself runs, for messages and tests. */
int fem_mpi_library_runs(void);

#endif
