/*
 * pair.h - planning for one host and one accelerator, as in the papers.
 */
#ifndef TOOL_REPRODUCE_PAIR_H
#define TOOL_REPRODUCE_PAIR_H

#include "reproduce/report.h"

typedef struct reproduce_device {
    double seconds_per_unit;
    double dynamic_power_w; /* above idle */
    double idle_power_w, copy_joules_per_unit;
    bool removable;
} reproduce_device;

typedef struct reproduce_pair {
    int64_t units;
    double repetitions, base_power_w, host_overhead_w;
    reproduce_device host, accelerator;
} reproduce_pair;

typedef struct reproduce_outcome {
    int64_t accelerator_units;
    double share; /* of the accelerator */
    double time_s, energy_j;
    bool optimal;
} reproduce_outcome;

/* The best plan.  Errors: those of yoke_plan_create; INTERNAL (it is not proved to be the best). */
yoke_status reproduce_best(reproduce_report *report, const reproduce_pair *pair, yoke_objective objective, reproduce_outcome *outcome);
/* A given plan.  Errors: those of yoke_plan_evaluate. */
yoke_status reproduce_given(reproduce_report *report, const reproduce_pair *pair, int64_t accelerator_units, reproduce_outcome *outcome);
/* An alternative of the best plan by its name.  Errors: those of yoke_plan_create; INTERNAL (there is none of that name). */
yoke_status reproduce_alternative(reproduce_report *report, const reproduce_pair *pair, yoke_objective objective, const char *name,
                                  reproduce_outcome *outcome);

/*
 * The share, in least time, of `accelerators` accelerators together with a host, of `units` units.  host_s, accelerator_s: seconds of a
 * unit on each.
 */
yoke_status reproduce_balance(reproduce_report *report, double host_s, double accelerator_s, int accelerators, int64_t units,
                              double *share);

#endif
