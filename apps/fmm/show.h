/*
 * show.h - results on the terminal.
 */
#ifndef FMM_SHOW_H
#define FMM_SHOW_H

#include "command.h"
#include "output/record.h"

/* Shows the results of one frame.  devices: the run that shared the near field; NULL: none.  Errors: those of yoke_run_explain and
 * fmm_explain_plot. */
yoke_status fmm_show(app_terminal *terminal, yoke_context *context, const fmm_command *line, const fmm_result *result, yoke_run *devices);

/* Shows one line of the table of several frames.  first: the header of the table is shown too. */
void fmm_show_frame(app_terminal *terminal, const fmm_result *result, bool first);

#endif
