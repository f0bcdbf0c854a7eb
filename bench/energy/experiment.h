/*
 * experiment.h - the experiments of Lang and Ruenger 2014, sect. 3, that concern energy.
 */
#ifndef BENCH_ENERGY_EXPERIMENT_H
#define BENCH_ENERGY_EXPERIMENT_H

#include "common/console/terminal.h"
#include "energy/work.h"

typedef struct energy_experiment {
    const char *name, *summary;
    const char *const *columns; /* required in a file with samples; ends with NULL */
    /* Measures into d; notes there what cannot be measured on this machine. */
    yoke_status (*measure)(yoke_context *context, app_terminal *terminal, const work_settings *settings, data *d);
    /* Fits the rows of d, measured or read, and adds results and curves. */
    yoke_status (*analyse)(data *d);
} energy_experiment;

extern const energy_experiment energy_experiments[];
extern const int num_energy_experiments;

/* The files of the experiments: units.c elements and copy, power.c clock (frequencies), dram and packages. */
yoke_status energy_measure_elements(yoke_context *context, app_terminal *terminal, const work_settings *settings, data *d);
yoke_status energy_analyse_elements(data *d);
yoke_status energy_measure_copy(yoke_context *context, app_terminal *terminal, const work_settings *settings, data *d);
yoke_status energy_analyse_copy(data *d);
yoke_status energy_measure_frequency(yoke_context *context, app_terminal *terminal, const work_settings *settings, data *d);
yoke_status energy_analyse_frequency(data *d);
yoke_status energy_measure_dram(yoke_context *context, app_terminal *terminal, const work_settings *settings, data *d);
yoke_status energy_analyse_dram(data *d);
yoke_status energy_measure_packages(yoke_context *context, app_terminal *terminal, const work_settings *settings, data *d);
yoke_status energy_analyse_packages(data *d);

/* Finds the next column after `from` whose name has this ending; `name` is the name without it.  -1: none. */
int energy_column(const data *d, int from, const char *ending, char name[DATA_NAME]);
/* The device given on the command line, otherwise the machine file's first one, otherwise all cores. */
yoke_status energy_device_name(yoke_context *context, const work_settings *settings, char name[64]);
int energy_is_simulated(const char *device_name);

#endif
