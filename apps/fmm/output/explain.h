/*
 * explain.h - how a tree was chosen: the table of --explain and --measure-all, its figure, and the record's part.
 */
#ifndef FMM_OUTPUT_EXPLAIN_H
#define FMM_OUTPUT_EXPLAIN_H

#include <jansson.h>

#include "common/options.h"
#include "common/terminal.h"
#include "tune/tune.h"

/* Of this table and that of several frames, for the help. */
extern const app_column fmm_explain_columns[];

void fmm_explain_print(app_terminal *terminal, const fmm_tuned *tuned);
/* How much longer the chosen tree took than the fastest that was measured, as a part of that; NaN: fewer than two were measured. */
double fmm_explain_regret(const fmm_tuned *tuned);

/* Data, script and, where gnuplot is installed, picture: predicted and measured seconds of uniform trees by depth.  Errors: those of app_plot_split and app_plot_write. */
yoke_status fmm_explain_plot(yoke_context *context, const char *path, const fmm_tuned *tuned);

/* The key "model" of the record; NULL where memory ends.  tuned NULL: nothing was predicted. */
json_t *fmm_explain_json(const fmm_tuned *tuned);

#endif
