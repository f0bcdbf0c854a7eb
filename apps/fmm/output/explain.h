/*
 * explain.h - explains how a tree was chosen: the figure, the columns of tables, and the part of the record.
 */
#ifndef FMM_OUTPUT_EXPLAIN_H
#define FMM_OUTPUT_EXPLAIN_H

#include <jansson.h>

#include "common/console/options.h"
#include "solve/solve.h"

/* The columns of the table of --explain (fmm_tuned_text) and of the table of several frames, for the help text. */
extern const app_column fmm_explain_columns[];

/* Writes data, script and, if gnuplot is installed, the figure: predicted and measured seconds of the compared trees, those of uniform trees by depth.
 * Errors: those of app_plot_split and app_plot_write. */
yoke_status fmm_explain_plot(yoke_context *context, const char *path, const fmm_tuned *tuned);

/* Levels of plane waves and their set; null if there are none, or if there is not enough memory. */
json_t *fmm_waves_json(uint64_t levels, int set);

/* The key "model" of the record; NULL if there is not enough memory.  tuned NULL: nothing was predicted. */
json_t *fmm_explain_json(const fmm_tuned *tuned);

#endif
