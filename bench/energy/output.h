/* output.h - the output of an experiment: data, figure, record, and lines on the terminal. */
#ifndef BENCH_ENERGY_OUTPUT_H
#define BENCH_ENERGY_OUTPUT_H

#include <jansson.h>

#include "common/console/terminal.h"
#include "energy/data.h"

/* Prints results with their standard errors, and notes. */
void energy_print(app_terminal *terminal, const data *d);
/* Writes energy-NAME.csv and, if there are rows, energy-NAME.gp and the figure.  Errors: those of files. */
yoke_status energy_write(yoke_context *context, const char *directory, const char *name, const data *d, bool *drawn);
/* {"name", "unit", "value", "standard_error"} of each result; the notes; the columns as {"name": [numbers]}.  NULL: no memory. */
json_t *energy_results_value(const data *d);
json_t *energy_notes_value(const data *d);
json_t *energy_columns_value(const data *d);

#endif
