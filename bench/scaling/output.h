/* output.h - printed output, figures and record of `yoke bench scaling`. */
#ifndef BENCH_SCALING_OUTPUT_H
#define BENCH_SCALING_OUTPUT_H

#include <jansson.h>

#include "common/console/terminal.h"
#include "scaling/study.h"

typedef struct scaling_results {
    scaling_setting setting;
    int num_rows, num_measured;
    scaling_row rows[SCALING_MAX_ROWS];
    scaling_measured *measured;
} scaling_results;

void scaling_print_head(app_terminal *terminal, bool weak);
void scaling_print_row(app_terminal *terminal, const scaling_row *row);
void scaling_print_measured(app_terminal *terminal, const scaling_results *results);

/* Writes scaling.csv, scaling.gp and, if gnuplot is installed, scaling.svg.  Errors: INPUT, SYSTEM, MEMORY. */
yoke_status scaling_write(yoke_context *context, const char *directory, const scaling_results *results, bool *drawn);

/* Members of the record; NULL: out of memory. */
json_t *scaling_setting_value(const scaling_setting *setting);
json_t *scaling_rows_value(const scaling_results *results);
json_t *scaling_measured_value(const scaling_results *results);

#endif
