/*
 * output.h - what is told of work that devices shared.
 */
#ifndef DENSE_OUTPUT_H
#define DENSE_OUTPUT_H

#include "common/console/options.h"
#include "common/console/terminal.h"
#include "common/files/record.h"
#include "share/share.h"

/* Of the table of dense_show, behind a first one that the table of several ranks has. */
extern const app_column dense_columns[];

/* A table of the devices, and predicted and measured time and energy. */
void dense_show(app_terminal *terminal, const dense_shared *shared);

/*
 * A record with the keys that all operations have (docs/reference/dense.md): operation, ranks, parts, rounds, imbalance, predicted, measured, seconds.  Given back
 * with json_decref.  Errors: MEMORY, SYSTEM.
 */
yoke_status dense_record_create(yoke_context *context, const char *operation, int argc, char **argv, const dense_shared *shared,
                                double total_s, json_t **record);

/* Adds an operation's own keys; the object is given up, NULL stands for one that could not be built.  Errors: MEMORY. */
yoke_status dense_record_add(yoke_context *context, json_t *record, json_t *keys);

/* The word in records for energies by these powers (dense_shared). */
const char *dense_energy_kind(const char *powers);

/* What yoke_run_explain says, printed.  Errors: MEMORY. */
yoke_status dense_explain(app_terminal *terminal, yoke_context *context, yoke_run *run);

/* The imbalance of the last round; 0: one device. */
double dense_imbalance(const dense_shared *shared);

#endif
