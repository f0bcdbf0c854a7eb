/*
 * session.h - MPI, p4est and the threads of BLAS: what all programs over the fem library set once for the whole process.
 */
#ifndef FEM_SESSION_H
#define FEM_SESSION_H

#include "yoke/yoke.h"

/* Starts MPI and p4est, and tells OpenBLAS to work on the calling thread.  Errors: SYSTEM (MPI does not start), INPUT (more than one rank). */
yoke_status fem_session_start(yoke_context *context, int *argc, char ***argv);
/* Ends what was started; to be called once, at the end of the program, started or not. */
void fem_session_end(void);

#endif
