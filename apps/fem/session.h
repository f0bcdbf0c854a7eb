/*
 * session.h - MPI, p4est and the threads of BLAS: settings that all programs over the fem library make once for the whole process.
 */
#ifndef FEM_SESSION_H
#define FEM_SESSION_H

#include "common/ranks/ranks.h"

/*
 * Starts p4est, and MPI if app_ranks_start (common/ranks/ranks.h) has not, and sets OpenBLAS to work on the calling thread.  ranks: of the
 * program; NULL: it works on one.
 * Errors: SYSTEM (MPI does not start), INPUT (several ranks, and `ranks` is NULL), MEMORY.
 */
yoke_status fem_session_start(yoke_context *context, const app_ranks *ranks);
/* Ends p4est.  Without ranks it also ends MPI; otherwise app_ranks_end ends it afterwards.  Allowed if not started, and twice. */
void fem_session_end(const app_ranks *ranks);

#endif
