/*
 * mpi_single.h - MPI for a process that was not started by an MPI launcher.
 *
 * p4est and hypre call MPI even if one process does everything.  Starting an MPI library for that takes longer than a small solve, creates
 * a directory that all processes of a user share, and fails occasionally if several start at once.  This program therefore defines the MPI
 * functions that p4est and hypre call, by the standard's profiling interface (MPI 4.1, chapter 15).  Without a launcher they are
 * implemented here, for one process.  Under a launcher (mpirun, srun) they are passed on to the MPI library by its PMPI_ names.
 *
 * The first call of a function that is not implemented here starts the MPI library, and is passed on.  MPI handles that were created before
 * are the library's own, so they remain valid.  mpi_single.c has the implemented functions, mpi_forwarded.c the others that the libraries
 * may call.
 */
#ifndef FEM_MPI_SINGLE_H
#define FEM_MPI_SINGLE_H

/*
 * Whether this call is implemented here: MPI_Init was called without a launcher, and `possible` is nonzero (the request can be handled
 * here).  If it is zero, the MPI library is started.
 */
int fem_mpi_single(int possible);

/* Whether the MPI library itself runs, for messages and tests. */
int fem_mpi_library_runs(void);

#endif
