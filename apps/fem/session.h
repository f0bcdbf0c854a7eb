/*
 * session.h - MPI and p4est, which all programs over the fem library need.
 */
#ifndef FEM_SESSION_H
#define FEM_SESSION_H

#include "yoke/yoke.h"

/* Starts both.  Errors: SYSTEM (MPI does not start), INPUT (more than one rank). */
yoke_status fem_session_start(yoke_context *context, int *argc, char ***argv);
/* Ends what was started; to be called once, at the end of the program, started or not. */
void fem_session_end(void);

#endif
