/* output.h - printed output, figures and record of `yoke bench clarke`. */
#ifndef CLARKE_OUTPUT_H
#define CLARKE_OUTPUT_H

#include <jansson.h>

#include "clarke/study.h"
#include "common/console/terminal.h"

void clarke_print_runs_head(app_terminal *terminal);
/* Prints the line of a size: run [CLARKE_STRATEGIES], by strategy. */
void clarke_print_runs(app_terminal *terminal, const clarke_run *runs);
void clarke_print_steps(app_terminal *terminal, const clarke_study *study);

/* Writes clarke.csv, clarke-models.csv, clarke-speeds.csv, clarke-rectangles.csv, clarke.gp and, if gnuplot is installed, clarke.svg. */
yoke_status clarke_write(yoke_context *context, const char *directory, const clarke_study *study, bool *drawn);

/* Members of the record; NULL: out of memory. */
json_t *clarke_runs_value(const clarke_study *study);
json_t *clarke_steps_value(const clarke_study *study);
json_t *clarke_speeds_value(const clarke_study *study);

#endif
