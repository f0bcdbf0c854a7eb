/*
 * model.h - samples, and models of time and energy that are fitted to them.  Part of yoke.h.
 */
#ifndef YOKE_MODEL_H
#define YOKE_MODEL_H

#include "yoke/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------- samples */

/* Time and energy of a device for a number of units, measured several times.  NaN: not known. */
typedef struct yoke_sample {
    double units;
    double frequency_hz;     /* of the device; NaN: not set */
    double seconds;          /* of one call: mean without outliers */
    double seconds_interval; /* half width of the 95 % interval of that mean (Student t); NaN with one repeat */
    double joules;           /* of one call above idle; NaN or 0: not metered */
    double joules_interval;
    /*
     * Number of repeats that count, and of outliers (more than 3.5 robust standard deviations from the median, Iglewicz and Hoaglin 1993).
     */
    int64_t repeats, rejected;
    int together; /* nonzero: other devices were working at the same time */
} yoke_sample;

/* Makes one call and writes its seconds, and joules above idle (NaN: not metered). */
typedef yoke_status yoke_measured_call(void *user, double *seconds, double *joules);

/* All members may be zero. */
typedef struct yoke_measure_options {
    double relative;              /* stop when the 95 % interval is within this part of the mean to either side; 0: 0.025 */
    double budget_s;              /* stop when the calls have taken this long (sum of the seconds that they report); 0: 1 s */
    int64_t min_calls, max_calls; /* 0: 3 and 1000 */
} yoke_measure_options;

/*
 * Repeats a call until its time is known well enough, and still is after half as many further calls, or until the budget is spent, which
 * may be after one call.  Writes all members of *sample except units, frequency_hz and together; none on an error.  options may be NULL.
 * Errors: ARGUMENT, NUMERIC (the call's seconds are not above 0), MEMORY, those of the call.
 */
YOKE_API yoke_status yoke_measure(yoke_context *context, yoke_measured_call *call, void *user, const yoke_measure_options *options,
                                  yoke_sample *sample);

/* ----------------------------------------------------------------------------------------------- models */

/* Model of the time t(x) of one call on x units at one frequency. */
typedef enum yoke_model_kind {
    YOKE_MODEL_AUTO,     /* the kind that best predicts samples left out of the fit; among equal kinds the simplest */
    YOKE_MODEL_CONSTANT, /* x t_el (Lang and Ruenger 2013) */
    YOKE_MODEL_AFFINE,   /* t_0 + max(x, x_0) t_el */
    /* Speed linear between samples (functional performance model, Clarke sect. 1.3); times never fall with more units. */
    YOKE_MODEL_PIECEWISE,
    YOKE_MODEL_AKIMA /* speed smooth between samples (Akima 1970); times never fall with more units either */
} yoke_model_kind;

typedef enum yoke_law_kind {
    YOKE_LAW_NONE,   /* one frequency only, or none known */
    YOKE_LAW_LINEAR, /* a f + b */
    YOKE_LAW_CUBIC,  /* a f^3 + b f + c (Lang and Ruenger 2014, sect. 3.4) */
    YOKE_LAW_TABLE   /* a value for each sampled frequency: no law fits within the uncertainty of the samples */
} yoke_law_kind;

/* A fitted law: parameters a, b, c for f in Hz with standard errors. */
typedef struct yoke_law {
    yoke_law_kind kind;
    int64_t num_parameters;
    double parameters[3], standard_errors[3];
    double worst; /* largest relative residual */
} yoke_law;

/*
 * A fitted model; only yoke_model_fit creates one.  These members are for reading; others are private.  Several threads may read it and
 * predict at once; its context outlives it.
 */
typedef struct yoke_model {
    yoke_model_kind kind;                         /* never AUTO */
    double min_units, max_units;                  /* range of validity, which is the range of the samples */
    double min_hz, max_hz;                        /* NaN: no frequencies */
    int repaired;                                 /* nonzero: times that fell with more units were replaced by their running maximum */
    double start_s, seconds_per_unit, from_units; /* t_0, t_el, x_0 of constant and affine at the highest frequency; NaN for other kinds */
    yoke_law rate;                                /* speed over its value at the highest frequency; linear, or a table */
    yoke_law power;                               /* dynamic power in W: linear, cubic, or a table */
    double contention;                            /* speed together with other devices over speed alone; NaN: not sampled */
    double held_out_error; /* median relative error of seconds of samples, each left out of the fit in turn; NaN: fewer than 4 */
    int64_t num_samples;
    double start_error_s, seconds_per_unit_error; /* standard errors of start_s and seconds_per_unit; NaN: not known */
    double power_w;                               /* dynamic power at the highest frequency; NaN: not metered */
} yoke_model;

typedef struct yoke_prediction {
    double seconds, seconds_uncertainty; /* half width of the 95 % interval; NaN: not known from single calls */
    double joules, joules_uncertainty;   /* above idle; NaN: not metered */
    int inside;       /* nonzero: within the range of validity; outside, the line or the last speed continues, and the uncertainty grows */
    double disturbed; /* for a run: as in yoke_run_accuracy, unless a round has measured the work since; for a model: 0 */
} yoke_prediction;

/*
 * Fits a model to samples, each weighted by its uncertainty.  From samples of several frequencies laws are fitted.  From samples taken
 * while other devices worked a contention is found; if all samples were taken so, the model describes this case.  The order of the
 * samples does not matter.  *model is freed with yoke_release.
 * Errors: ARGUMENT (no sample, or more than 100 000; numbers outside their contracts), INPUT (the kind needs more samples: how many),
 * NUMERIC, MEMORY.
 */
YOKE_API yoke_status yoke_model_fit(yoke_context *context, yoke_model_kind kind, const yoke_sample *samples, int64_t count,
                                    yoke_model **model);
/*
 * Predicts one call on `units` > 0 units at a frequency (NaN: the highest sampled).  together: nonzero: while other devices work.
 * Errors: ARGUMENT.
 */
YOKE_API yoke_status yoke_model_predict(const yoke_model *model, double units, double frequency_hz, int together,
                                        yoke_prediction *prediction);

#ifdef __cplusplus
}
#endif

#endif
