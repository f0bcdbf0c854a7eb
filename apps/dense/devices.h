/*
 * devices.h - the options that all operations have: devices, objective and output.
 */
#ifndef DENSE_DEVICES_H
#define DENSE_DEVICES_H

#include "common/console/options.h"
#include "common/console/terminal.h"

/* Texts are borrowed from the command line; NULL: not given. */
typedef struct dense_words {
    const char *devices, *share, *objective, *machine, *store, *declared, *json;
    int64_t threads; /* 0: not given */
    bool explain;
} dense_words;

/* Adds these options to the table; parsing stores their values in `words`. */
void dense_device_options(app_option_table *table, dense_words *words, app_terminal *terminal);

/* Checks the values of --share and --objective.  Errors: INPUT (share, objective). */
yoke_status dense_devices_check(yoke_context *context, const dense_words *words);

/* Reads the machine file, sets the number of threads and opens the devices.  Errors: those of yoke_machine_read and yoke_run_create. */
yoke_status dense_devices_open(yoke_context *context, const dense_words *words, yoke_run **run);

#endif
