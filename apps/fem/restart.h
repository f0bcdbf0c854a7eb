/*
 * restart.h - the command line of a run that continues from a checkpoint: that of the earlier run, and the new one.
 */
#ifndef FEM_RESTART_H
#define FEM_RESTART_H

#include "adapt/adapt.h"

typedef struct fem_restart_line {
    fem_restart restart;
    int argc;
    const char **argv;  /* [argc] the program's name, the words of the earlier run, then those of this one */
    bool elsewhere;     /* the earlier run was started in another directory: its paths cannot be used here */
    const char *before; /* that directory */
    char *override;     /* output.directory=DIRECTORY, as for --set */
    char path[4096 + 64];
} fem_restart_line;

/*
 * Reads the latest valid checkpoint of a directory, and joins the words of its run with argv [argc].  fem_restart_line_clear releases the
 * members of the struct.  Collective.  Errors, on all ranks: INPUT (as fem_checkpoints_open_latest; too many words), MEMORY.
 */
yoke_status fem_restart_line_read(yoke_context *context, app_ranks *ranks, const char *directory, int argc, char **argv,
                                  fem_restart_line *line);
void fem_restart_line_clear(yoke_context *context, fem_restart_line *line);

#endif
