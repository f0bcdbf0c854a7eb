/* direct/blas_threads.h - how many threads the BLAS of CHOLMOD and hypre works with. */
#ifndef FEM_SOLVER_DIRECT_BLAS_THREADS_H
#define FEM_SOLVER_DIRECT_BLAS_THREADS_H

/*
 * So many threads from now on, where the BLAS is OpenBLAS and the user has not said how many (OPENBLAS_NUM_THREADS); else nothing changes.
 * With more than one, its own threads go on asking for work for a while after each call, on the cores that the solver's threads need.
 */
void fem_blas_set_threads(int threads);

#endif
