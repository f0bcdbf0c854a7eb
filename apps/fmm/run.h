/*
 * run.h - what the command line asks for: frame by frame read, computed, written and shown.
 */
#ifndef FMM_RUN_H
#define FMM_RUN_H

#include "command.h"

/* argc and argv go into the record.  Errors: of all that it calls; of one frame of several they name it. */
yoke_status fmm_frames_run(yoke_context *context, app_terminal *terminal, const fmm_command *line, int argc, char **argv);

#endif
