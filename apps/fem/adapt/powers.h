/*
 * powers.h - what the devices of a run draw, idle and at work, at each of their clock levels; and how fast they are there.
 *
 * Powers come from meters, by a moment of idleness and products of each device alone (trial.h); from a store; or they are declared in the case.
 */
#ifndef FEM_ADAPT_POWERS_H
#define FEM_ADAPT_POWERS_H

#include "adapt/device_clocks.h"
#include "adapt/trial.h"
#include "case/case.h"

typedef struct fem_device_powers {
    int num_levels; /* 1: the clock stays as it is */
    double hz[FEM_MOST_CLOCK_LEVELS];
    double slowness[FEM_MOST_CLOCK_LEVELS]; /* seconds per product over those at the highest level */
    double idle_w[FEM_MOST_CLOCK_LEVELS];
    double dynamic_w[FEM_MOST_CLOCK_LEVELS]; /* above idle, while it works */
} fem_device_powers;

/* Sources of powers. */
typedef enum fem_powers_source {
    FEM_POWERS_UNKNOWN,
    FEM_POWERS_MEASURED,
    FEM_POWERS_SIMULATED, /* as measured, of a simulated machine */
    FEM_POWERS_STORED,    /* by an earlier run, or `yoke calibrate` */
    FEM_POWERS_DECLARED   /* in the case */
} fem_powers_source;

typedef struct fem_powers {
    fem_powers_source source;
    int count;                /* of devices */
    char why_not[256];        /* why they could not be measured; "" */
    double base_w, hosting_w; /* all else; what the host draws while it waits for an accelerator */
    fem_device_powers device[FEM_MOST_DEVICES];
} fem_powers;

/* "unknown", "measured", "simulated", "stored", "declared". */
const char *fem_powers_source_text(fem_powers_source source);

/* One level for each device, all powers unknown. */
void fem_powers_clear(fem_powers *powers, int count);

/* The powers that a case declares.  Errors: INPUT (a device of the run without powers; its place). */
yoke_status fem_powers_declare(const fem_case *input, const fem_devices *devices, fem_powers *powers);

typedef struct fem_powers_site {
    yoke_context *context;
    fem_devices *devices;
    fem_device_clocks *clocks;
    yoke_meters *meter;
    int simulated; /* nonzero: all devices are, and the meter too */
} fem_powers_site;

/*
 * Measures with products on a space.  Writes all of *powers; source stays UNKNOWN where a meter does not tell, and why_not says why.
 * Errors: those of fem_trial_run, of clocks and meters.
 */
yoke_status fem_powers_measure(const fem_powers_site *site, const fem_space *space, const fem_constraints *constraints,
                               fem_operator operator_kind, fem_powers *powers);

#endif
