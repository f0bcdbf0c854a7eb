/*
 * restart.h - the command line of a run that goes on from a checkpoint: that of the run before, and what is new.
 */
#ifndef FEM_RESTART_H
#define FEM_RESTART_H

#include "adapt/adapt.h"

typedef struct fem_restart_line {
    fem_restart restart;
    bool begun; /* a step was finished: what lies in the directory is this run's */
    int argc;
    const char **argv;  /* [argc] the program's name, the words of the run before, then those of this one */
    bool elsewhere;     /* the run before was started in another directory: its paths are of no use here */
    const char *before; /* that directory */
    char *override;     /* output.directory=DIRECTORY, as for --set */
    char path[4096 + 64];
} fem_restart_line;

/*
 * Reads the latest whole checkpoint of a directory, and joins the words of its run with argv [argc].  What the struct points to is given back by
 * fem_restart_line_clear.  Collective.  Errors, on all ranks: INPUT (as fem_checkpoints_open_latest; too many words), MEMORY.
 */
yoke_status fem_restart_line_read(yoke_context *context, app_ranks *ranks, const char *directory, int argc, char **argv,
                                  fem_restart_line *line);
void fem_restart_line_clear(yoke_context *context, fem_restart_line *line);

#endif
