/* What is believed of noise: against samples whose standard deviation is known. */
#include "balance/noise.h"

#include <math.h>

#include "balance/family.h"
#include "unit.h"

static noise_belief learned(double deviation, int count, uint64_t seed)
{
    noise_belief belief = {0};
    random_state random = {seed};
    double levels[NOISE_LEVELS];
    for (int k = 0; k < count; k++) {
        double sum = noise_density(&belief, deviation * random_normal(&random), 1, 0, levels);
        noise_learn(&belief, levels, sum);
    }
    return belief;
}

static void the_deviation_of_samples_is_found_within_a_factor_of_1_8(void **state)
{
    (void)state;
    for (double deviation = 0.008; deviation < 0.35; deviation *= 1.7)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            noise_belief belief = learned(deviation, 40, seed);
            double found = noise_deviation(&belief);
            assert_true(found > deviation / 1.8 && found < deviation * 1.8);
        }
}

/* A density: its integral is 1, of each belief. */
static void densities_integrate_to_one(void **state)
{
    (void)state;
    const noise_belief beliefs[] = {learned(0, 0, 1), learned(0.01, 10, 1), learned(0.2, 10, 2)};
    for (int b = 0; b < 3; b++)
        for (double times = 1; times < 2; times *= 1.4) {
            double sum = 0, levels[NOISE_LEVELS], width = 1e-4;
            for (double x = -4; x < 4; x += width) sum += width * noise_density(&beliefs[b], x, times, 0, levels);
            assert_true(fabs(sum - 1) < 1e-4);
        }
}

static void noise_that_becomes_another_is_learned_again(void **state)
{
    (void)state;
    random_state random = {3};
    double levels[NOISE_LEVELS];
    noise_belief belief = learned(0.01, 50, 4);
    for (int k = 0; k < 3; k++) {
        double sum = noise_density(&belief, 0.2, 1, 0, levels);
        noise_learn(&belief, levels, sum);
    }
    assert_true(noise_deviation(&belief) > 0.08);
    for (int k = 0; k < 20; k++) {
        double sum = noise_density(&belief, 0.01 * random_normal(&random), 1, 0, levels);
        noise_learn(&belief, levels, sum);
    }
    assert_true(noise_deviation(&belief) < 0.02);
}

/* Where the curve may be wrong by more, a small deviation does not speak for small noise. */
static void a_blurred_comparison_tells_nothing_of_smaller_noise(void **state)
{
    (void)state;
    double levels[NOISE_LEVELS];
    noise_belief belief = {0};
    for (int k = 0; k < 30; k++) {
        double sum = noise_density(&belief, 0, 1, 0.04, levels);
        noise_learn(&belief, levels, sum);
    }
    const noise_belief quiet = learned(0, 30, 1);
    assert_true(noise_deviation(&quiet) < 0.007 && noise_deviation(&belief) > 0.012);
}

static void what_one_device_shows_is_expected_of_the_others(void **state)
{
    (void)state;
    noise_belief noisy = learned(0.2, 20, 5), unknown = {0};
    noise_belief *const beliefs[] = {&noisy, &unknown};
    double before = noise_deviation(&unknown);
    for (int k = 0; k < 10; k++) noise_share(beliefs, 2);
    assert_true(noise_deviation(&unknown) > 1.2 * before && noise_deviation(&noisy) < 0.2);
    double sum = 0;
    for (int k = 0; k < NOISE_LEVELS; k++) sum += unknown.level[k];
    assert_true(fabs(sum - 1) < 1e-3);
}

/* Of what is learned with normal factors 1 + e it is not believed that it slows, of times that others' jobs make 1.6 times as long it is. */
static void noise_that_slows_is_told_from_symmetric_noise(void **state)
{
    (void)state;
    int slows[2] = {0, 0};
    enum { SETS = 200 };
    for (uint64_t seed = 1; seed <= SETS; seed++)
        for (int shared = 0; shared < 2; shared++) {
            random_state random = {seed};
            noise_belief belief = learned(0.2, 20, seed);
            for (int k = 0; k < 50; k++) {
                double factor = random_uniform(&random, 0, 1) < 0.37 ? 1.6 : 1;
                noise_compare(&belief, shared ? factor / 1.222 : 1 + 0.2 * random_normal(&random));
            }
            slows[shared] += noise_slows(&belief);
        }
    assert_true(slows[0] < 0.1 * SETS && slows[1] > 0.9 * SETS);
    noise_belief quiet = learned(0.01, 20, 1);
    for (int k = 0; k < 50; k++) noise_compare(&quiet, k % 3 ? 1 : 1.6);
    assert_false(noise_is_much(&quiet) || noise_slows(&quiet));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_deviation_of_samples_is_found_within_a_factor_of_1_8),
    cmocka_unit_test(densities_integrate_to_one),
    cmocka_unit_test(noise_that_becomes_another_is_learned_again),
    cmocka_unit_test(a_blurred_comparison_tells_nothing_of_smaller_noise),
    cmocka_unit_test(noise_that_slows_is_told_from_symmetric_noise),
    cmocka_unit_test(what_one_device_shows_is_expected_of_the_others),
};

UNIT_MAIN(tests, NULL, NULL)
