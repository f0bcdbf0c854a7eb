/*
 * run.h - carries out the command line: frames are read, computed, written and shown one after the other.
 */
#ifndef FMM_RUN_H
#define FMM_RUN_H

#include "command.h"

/* argc and argv are written to the record.  Errors: those of called functions; the message names the frame if there are several. */
yoke_status fmm_frames_run(yoke_context *context, app_terminal *terminal, const fmm_command *line, int argc, char **argv);

#endif
