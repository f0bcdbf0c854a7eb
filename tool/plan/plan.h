/*
 * plan.h - the output of `yoke plan`.
 *
 *     plan.c      the command line, and the order of the steps
 *     table.c     the printed tables
 *     output.c    the files
 */
#ifndef TOOL_PLAN_PLAN_H
#define TOOL_PLAN_PLAN_H

#include <stdbool.h>

#include "common/console/terminal.h"
#include "yoke/yoke.h"

/* The request, and the answer. */
typedef struct plan_answer {
    yoke_context *context;
    const char *model; /* name of the file as given */
    const yoke_plan_problem *problem;
    const yoke_plan_options *options;
    const yoke_plan *plan;
} plan_answer;

/* If there is no plan: only the alternatives.  The reason is the error with which the command ends. */
void plan_print_answer(app_terminal *terminal, const plan_answer *answer);
/* Prints nothing if there is no plan. */
void plan_print_front(app_terminal *terminal, const plan_answer *answer);

/* A row for each choice of the front: time_s,energy_j,peak_power_w, then units and frequency of each device. */
yoke_status plan_write_csv(const plan_answer *answer, const char *path);
/*
 * Writes a figure of time and energy of front and alternatives, drawn from data and script in the same directory; *drawn: gnuplot is
 * installed.
 */
yoke_status plan_write_plot(const plan_answer *answer, const char *path, bool *drawn);
yoke_status plan_write_record(const plan_answer *answer, const char *path, int argc, char **argv);

#endif
