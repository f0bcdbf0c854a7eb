#include "output/quantities/singularity.h"

#include <math.h>

#include "unit.h"

enum { STEPS = 8 };

/* Peaks on elements of sizes h = 1, 1/2, 1/4, ...; every `lag`-th step halves them, in between nothing changes. */
static void fill(fem_peak peaks[STEPS], int lag, double (*value)(double h, double parameter), double parameter, fem_feature feature)
{
    for (int i = 0; i < STEPS; i++) {
        double h = pow(0.5, i / lag);
        peaks[i] = (fem_peak){.value = value(h, parameter), .size = h, .relative_error = 0.1 * pow(0.7, i), .feature = feature};
    }
}

static double power(double h, double exponent) { return 5e6 * pow(h, -exponent); }
static double bounded(double h, double order) { return 1e8 * (1 - 0.4 * pow(h, order)); }

/*
 * M. L. Williams 1952: stresses as r^-0.455 at a re-entrant right angle, r^-0.289 at a clamped right angle with nu 0.3, r^-0.5 at a crack.
 * A halving multiplies them by 2^0.455 = 1.371, and so on.
 */
static void a_power_of_the_size_is_seen_with_its_factor(void **state)
{
    (void)state;
    const double exponents[] = {0.0881, 0.289, 0.4555, 0.5};
    fem_peak peaks[STEPS];
    for (int i = 0; i < 4; i++)
        for (int lag = 1; lag <= 3; lag++) {
            double factor = 0;
            fill(peaks, lag, power, exponents[i], FEM_FEATURE_REENTRANT);
            assert_true(fem_peak_grows(peaks, STEPS, &factor));
            assert_true(fabs(factor - pow(2, exponents[i])) < 1e-9);
            assert_false(fem_peak_grows(peaks, 2 * lag, &factor)); /* two sizes tell nothing */
            assert_true(fem_peak_grows(peaks, 2 * lag + 1, &factor));
        }
}

/* A nodal stress that converges with the size, or its square: also from 40 % below. */
static void a_stress_that_converges_is_none(void **state)
{
    (void)state;
    fem_peak peaks[STEPS];
    double factor;
    for (int order = 1; order <= 2; order++) {
        fill(peaks, 1, bounded, order, FEM_FEATURE_RIM);
        for (int count = 0; count <= STEPS; count++) assert_false(fem_peak_grows(peaks, count, &factor));
    }
    fill(peaks, 1, power, 0, FEM_FEATURE_RIM);
    assert_false(fem_peak_grows(peaks, STEPS, &factor));
}

static void growth_away_from_edges_or_without_a_falling_error_is_none(void **state)
{
    (void)state;
    fem_peak peaks[STEPS];
    double factor;
    fill(peaks, 1, power, 0.455, FEM_FEATURE_NONE);
    assert_false(fem_peak_grows(peaks, STEPS, &factor));
    fill(peaks, 1, power, 0.455, FEM_FEATURE_RIM);
    for (int i = 0; i < STEPS; i++) peaks[i].relative_error = 0.1;
    assert_false(fem_peak_grows(peaks, STEPS, &factor));
    fill(peaks, 1, power, 0.455, FEM_FEATURE_RIM);
    peaks[STEPS - 1].value = peaks[STEPS - 2].value; /* it has stopped */
    assert_false(fem_peak_grows(peaks, STEPS, &factor));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_power_of_the_size_is_seen_with_its_factor),
    cmocka_unit_test(a_stress_that_converges_is_none),
    cmocka_unit_test(growth_away_from_edges_or_without_a_falling_error_is_none),
};

UNIT_MAIN(tests, NULL, NULL)
