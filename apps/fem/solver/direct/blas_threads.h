/* direct/blas_threads.h - sets the number of threads of the BLAS of CHOLMOD and hypre. */
#ifndef FEM_SOLVER_DIRECT_BLAS_THREADS_H
#define FEM_SOLVER_DIRECT_BLAS_THREADS_H

/*
 * Sets the number of threads, if the BLAS is OpenBLAS and the user has not set it (OPENBLAS_NUM_THREADS); otherwise nothing changes.  With
 * more than one, its threads continue to wait for work actively for a while after each call, on the cores that the solver's threads need.
 */
void fem_blas_set_threads(int threads);

#endif
