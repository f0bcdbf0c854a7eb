/*
 * peach.h - the model of Ge and others (PEACH, 2014): W units of work, a share alpha of them on the GPU.
 */
#ifndef TOOL_REPRODUCE_PEACH_H
#define TOOL_REPRODUCE_PEACH_H

#include "reproduce/pair.h"

/* Rates are in units of work a second, powers in W: base of everything, dynamic of host and GPU, host overhead. */
typedef struct peach_parameters {
    double base_w, host_rate, host_w, gpu_rate, gpu_w, host_overhead_w;
} peach_parameters;

typedef struct peach_point {
    double alpha, rate, efficiency; /* efficiency: units of work a joule */
} peach_point;

/* Eq. 8 and 12 (with T_OH = 0) at a share. */
peach_point peach_at(const peach_parameters *parameters, double alpha);
/* Eq. 13, and the share of least energy by the slopes of eq. 12: one of 0, eq. 13, 1. */
double peach_alpha_time(const peach_parameters *parameters);
double peach_alpha_energy(const peach_parameters *parameters);
/* The best share by the planner with alpha on a grid of 1 / units. */
yoke_status peach_plan(reproduce_report *report, const peach_parameters *parameters, int64_t units, yoke_objective objective,
                       peach_point *point);

/* The laws of section VII-A over the frequencies, as printed. */
peach_parameters peach_at_frequencies(double cpu_ghz, double gpu_mhz);
enum { PEACH_CPU_FREQUENCIES = 8, PEACH_GPU_FREQUENCIES = 4, PEACH_AIMS = 2 };

/* Table VII as printed: per cent, GFLOPS, GFLOPS/W; its frequencies; its rows of least time and of least energy. */
typedef struct peach_cell {
    double percent, rate, efficiency;
} peach_cell;

extern const double peach_cpu_ghz[PEACH_CPU_FREQUENCIES], peach_gpu_mhz[PEACH_GPU_FREQUENCIES];
extern const yoke_objective peach_aims[PEACH_AIMS];
extern const peach_cell peach_table_7[PEACH_CPU_FREQUENCIES][PEACH_AIMS][PEACH_GPU_FREQUENCIES];
/* Reasons why recomputed rates and efficiencies may differ from the table. */
extern const char peach_rate_because[], peach_efficiency_because[];

/* The best of all frequencies and shares, in one plan; the statements of the text on Table VII. */
yoke_status peach_coupled(reproduce_report *report);
void peach_remarks(reproduce_report *report);

/* Table VII, the related statements of the text, and the results of other readings of the parameters. */
yoke_status reproduce_peach_frequencies(reproduce_report *report);

#endif
