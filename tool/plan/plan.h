/*
 * plan.h - what `yoke plan` prints and writes.
 *
 *     plan.c      the command line, and the way through
 *     table.c     what is printed
 *     output.c    the files
 */
#ifndef TOOL_PLAN_PLAN_H
#define TOOL_PLAN_PLAN_H

#include <stdbool.h>

#include "common/console/terminal.h"
#include "yoke/yoke.h"

/* What was asked, and the answer. */
typedef struct plan_answer {
    yoke_context *context;
    const char *model; /* the file as it was named */
    const yoke_plan_problem *problem;
    const yoke_plan_options *options;
    const yoke_plan *plan;
} plan_answer;

/* Where there is no plan: the alternatives only.  Why there is none is the error with which the command ends. */
void plan_print_answer(app_terminal *terminal, const plan_answer *answer);
/* Nothing where there is no plan. */
void plan_print_front(app_terminal *terminal, const plan_answer *answer);

/* A row for each choice of the front: time_s,energy_j,peak_power_w, then units and frequency of each device. */
yoke_status plan_write_csv(const plan_answer *answer, const char *path);
/* Time and energy of front and alternatives, drawn from data and script beside it; *drawn: gnuplot is there. */
yoke_status plan_write_plot(const plan_answer *answer, const char *path, bool *drawn);
yoke_status plan_write_record(const plan_answer *answer, const char *path, int argc, char **argv);

#endif
