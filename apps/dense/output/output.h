/*
 * output.h - prints and records work that devices shared.
 */
#ifndef DENSE_OUTPUT_H
#define DENSE_OUTPUT_H

#include "common/console/options.h"
#include "common/console/terminal.h"
#include "common/files/record.h"
#include "share/share.h"

/* The columns of the table of dense_show.  The table of several ranks has one more column before them. */
extern const app_column dense_columns[];

/* Prints a table of the devices, and predicted and measured time and energy. */
void dense_show(app_terminal *terminal, const dense_shared *shared);

/*
 * Creates a record with the keys that all operations have (docs/reference/dense.md): operation, ranks, parts, rounds, imbalance, predicted,
 * measured, seconds.  Release it with json_decref.  Errors: MEMORY, SYSTEM.
 */
yoke_status dense_record_create(yoke_context *context, const char *operation, int argc, char **argv, const dense_shared *shared,
                                double total_s, json_t **record);

/*
 * Adds an operation's own keys.  The function takes ownership of the object; NULL stands for one that could not be built.  Errors: MEMORY.
 */
yoke_status dense_record_add(yoke_context *context, json_t *record, json_t *keys);

/* The word in records for the kind of energies that are computed from these powers (dense_shared). */
const char *dense_energy_kind(const char *powers);

/* Prints the text of yoke_run_explain.  Errors: MEMORY. */
yoke_status dense_explain(app_terminal *terminal, yoke_context *context, yoke_run *run);

/* The imbalance of the last round; 0: one device. */
double dense_imbalance(const dense_shared *shared);

#endif
