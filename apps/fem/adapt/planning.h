/*
 * planning.h - units and clock levels for an objective: the library's planner on what the balancer knows of times, and what is known of powers.
 */
#ifndef FEM_ADAPT_PLANNING_H
#define FEM_ADAPT_PLANNING_H

#include "adapt/prediction.h"

typedef struct fem_plan_options {
    yoke_objective objective;
    double max_slowdown, power_cap_w, deadline_s; /* NaN: none */
    int set_clocks;                               /* nonzero: clocks are chosen too, where they can be set */
} fem_plan_options;

/* Nonzero: shares follow from a plan, and powers must be known; zero: from the balancer alone, for least time. */
int fem_plan_wanted(const fem_plan_options *options);
const char *fem_objective_text(yoke_objective objective);

/* What was weighed. */
typedef struct fem_alternative {
    char name[80], note[256]; /* as of yoke_plan_choice */
    int64_t units[FEM_MOST_DEVICES];
    int levels[FEM_MOST_DEVICES];
    double time_s, energy_j; /* of the solve and the copies before it */
} fem_alternative;

enum { FEM_MOST_ALTERNATIVES = 24 };

typedef struct fem_choice {
    int64_t units[FEM_MOST_DEVICES];
    int levels[FEM_MOST_DEVICES]; /* of clocks */
    int num_alternatives;         /* the first one is what was chosen */
    fem_alternative alternatives[FEM_MOST_ALTERNATIVES];
    char *decision; /* in words; given back with yoke_release */
} fem_choice;

typedef struct fem_plan_site {
    yoke_context *context;
    const fem_devices *devices;
    const fem_prediction *prediction;
    const fem_plan_options *options;
    const int64_t *most;     /* [devices] units that each may get */
    const int64_t *balanced; /* [devices] the balancer's units, for least time */
    int both;                /* nonzero: CPUs and GPUs both have to work */
} fem_plan_site;

/*
 * Writes *choice.  Where a device's time is not known yet the balancer's units are taken, at the highest clock levels.
 * Errors: those of yoke_plan_create; INPUT: the power cap cannot be kept (and the least that can).
 */
yoke_status fem_plan_choose(const fem_plan_site *site, const fem_work *work, fem_choice *choice);

#endif
