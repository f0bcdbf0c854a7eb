/*
 * arithmetic.h - energy and power over time from updates of a sensor and the times of runs.  Arithmetic only.
 */
#ifndef YOKE_PROFILE_ARITHMETIC_H
#define YOKE_PROFILE_ARITHMETIC_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/sensor.h"

/* --------------------------------------------------------------------------------------------------- area */

/* An update, since_s after the start of a run (or burst of runs). */
typedef struct profile_sample {
    double since_s, watts;
} profile_sample;

typedef struct profile_area {
    double joules;   /* trapezoid rule over the samples in [from, to], with the first and last value extended to the ends */
    double variance; /* of joules: noise of the samples, and steps at unknown times between two samples */
    double noise_w;  /* of one sample */
    int64_t count;
} profile_area;

/* Sorts by time.  With fewer than three samples joules is NaN. */
void profile_sort(profile_sample *samples, int64_t count);
/* Integrates sorted samples.  Errors: MEMORY. */
yoke_status profile_integrate(yoke_context *context, const profile_sample *sorted, int64_t count, double from_s, double to_s,
                              profile_area *area);

/* ---------------------------------------------------------------------------------------------- unfolding */

/*
 * Least squares fit of the readings for power in `bins` equal parts of a run, and idle power: reading = idle + sum over runs and parts of
 * the sensor's response to the part.  Second differences of the parts are penalised, with the weight that cross-validation finds best.
 */
enum { PROFILE_MAX_BINS = 96 };
typedef struct profile_unfold {
    int bins;
    double count, squares; /* of readings */
    double offset_w;       /* subtracted from every reading, so that squares keep their digits; the first reading */
    double *matrix;        /* [bins + 1][bins + 1]: the last unknown is idle power */
    double *right;         /* [bins + 1] */
} profile_unfold;

typedef struct profile_solution {
    double power_w[PROFILE_MAX_BINS], error_w[PROFILE_MAX_BINS]; /* above idle; standard deviations */
    double mean_w, idle_w;
    double freedom; /* number of independent parameters of the profile that the readings determine */
    double smoothing;
} profile_solution;

/* Errors: MEMORY. */
yoke_status profile_unfold_start(yoke_context *context, int bins, profile_unfold *unfold);
void profile_unfold_end(yoke_context *context, profile_unfold *unfold);
/* Adds a reading: row[bins + 1], whose last element is set to 1 here.  weight: of the reading, one over its variance up to a factor. */
void profile_unfold_add(profile_unfold *unfold, double *row, double watts, double weight);
/* into += from (sign 1) or -= (sign -1); both have the same bins and offset_w. */
void profile_unfold_merge(profile_unfold *into, const profile_unfold *from, double sign);
/* Adds the contribution of a run from start_s to end_s to the row of a reading of an update at update_s. */
void profile_row_add(double *row, int bins, const yoke_sensor *sensor, double update_s, double start_s, double end_s);
/* smoothing: NaN: found by cross-validation.  Errors: MEMORY, NUMERIC (the readings do not determine the profile). */
yoke_status profile_unfold_solve(yoke_context *context, const profile_unfold *unfold, double smoothing, profile_solution *solution);

/* In place: replaces the lower triangle of a symmetric matrix by its Cholesky factor.  false: it has none. */
bool profile_factor(double *a, int size);
/* x becomes the solution for the right-hand side x. */
void profile_back_substitute(const double *factor, int size, double *x);

/* Two-sided 95 % quantile of Student's distribution; for fewer than two degrees of freedom, or NaN, that of two. */
double profile_student(double freedom);

#endif
