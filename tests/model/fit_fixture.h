/*
 * fit_fixture.h - samples without noise, and models of them.
 */
#ifndef YOKE_TESTS_MODEL_FIT_FIXTURE_H
#define YOKE_TESTS_MODEL_FIT_FIXTURE_H

#include <math.h>

#include "state.h"

/* A sample without noise and without anything else. */
static inline yoke_sample plain(double units, double seconds)
{
    return (yoke_sample){.units = units,
                         .frequency_hz = NAN,
                         .seconds = seconds,
                         .seconds_interval = NAN,
                         .joules = NAN,
                         .joules_interval = NAN,
                         .repeats = 1};
}

static inline yoke_model *fit(yoke_context *context, yoke_model_kind kind, const yoke_sample *samples, int64_t count, yoke_model *info)
{
    yoke_model *model = NULL;
    if (yoke_model_fit(context, kind, samples, count, &model) != YOKE_OK) fail_msg("%s", yoke_last_error(context));
    if (info != NULL) *info = *model;
    return model;
}

static inline yoke_prediction predict(const yoke_model *model, double units, double hz, int together)
{
    yoke_prediction p;
    assert_int_equal(yoke_model_predict(model, units, hz, together, &p), YOKE_OK);
    return p;
}

static inline double seconds_at(const yoke_model *model, double units) { return predict(model, units, NAN, 0).seconds; }

static inline int near(double a, double b, double relative) { return fabs(a - b) <= relative * fabs(b); }

static inline double curved(double x) { return 1e-4 + 1e-6 * x * (1 + 0.3 / (1 + exp(-(x - 5000) / 1000))); }

#endif
