/* Intervals against the truth: functions and noise that are known, and thousands of experiments. */
#include <math.h>

#include "base/statistics.h"
#include "model/truth.h"
#include "state.h"

enum { SEEDS = 1000, SIZES = 10, POINTS = 10 };

static double constant(double x) { return 1.7e-6 * x; }
static double affine(double x) { return 2e-4 + 1.7e-6 * x; }
static double flat_first(double x) { return 1e-4 + 1.7e-6 * fmax(x, 500); }
static double cache(double x) { return 1e-6 * x * (1 + 0.6 / (1 + exp(-(x - 20000) / 4000))); }
static double cliff(double x) { return x < 20000 ? 1e-6 * x : 1.6e-6 * x; }
static double curved(double x) { return 1e-6 * x * (1 + 2 / sqrt(x / 100)); }

static const struct {
    const char *name;
    truth_function *seconds;
} functions[] = {{"constant", constant}, {"affine", affine}, {"flat first", flat_first},
                 {"cache", cache},       {"cliff", cliff},   {"curved", curved}};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static const double sizes[SIZES] = {100, 300, 1000, 3000, 6000, 10000, 15000, 22000, 30000, 50000};
static const double levels[] = {2.0e9, 1.2e9, 1.4e9, 1.6e9, 1.8e9};

/* What is sampled and how. */
typedef struct experiment {
    yoke_model_kind kind;
    int repeats, levels; /* calls per sample; 1: one frequency that is not known, 5: the first at all sizes, each other at two sizes */
    double noise, joules_noise;
} experiment;

/* Parts in which the interval held the truth, mean relative errors and half widths. */
typedef struct outcome {
    double seconds, joules, error, width;
} outcome;

static yoke_model *sample_and_fit(yoke_context *context, const experiment *e, const truth *t, noise *random)
{
    yoke_sample samples[SIZES + 8];
    int count = 0;
    double factor = e->repeats > 1 ? statistics_student_95(e->repeats - 1) : 0;
    for (int i = 0; i < SIZES; i++)
        samples[count++] = truth_sample(t, random, sizes[i], e->levels > 1 ? levels[0] : NAN, 0, e->repeats, factor);
    for (int l = 1; l < e->levels; l++)
        for (int i = 0; i < 2; i++) samples[count++] = truth_sample(t, random, sizes[4 + i + l / 3], levels[l], 0, e->repeats, factor);
    yoke_model *model = NULL;
    if (yoke_model_fit(context, e->kind, samples, count, &model) != YOKE_OK) fail_msg("%s", yoke_last_error(context));
    return model;
}

static outcome run(yoke_context *context, const experiment *e, truth_function *seconds)
{
    truth t = {.seconds = seconds, .noise = e->noise, .joules_noise = e->joules_noise, .power = {2.2, 29, 24}};
    outcome sum = {0, 0, 0, 0};
    const double part = 1.0 / SEEDS / POINTS;
    if (e->levels > 1) {
        t.rate_a = 222.0 / 374;
        t.rate_b = -70.0 / 374;
    }
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        noise random = {seed * 977 + 5};
        yoke_model *model = sample_and_fit(context, e, &t, &random);
        for (int i = 0; i < POINTS; i++) {
            yoke_prediction p;
            double x = 100 * pow(500, noise_uniform(&random)), hz = e->levels > 1 ? levels[i % e->levels] : NAN;
            double exact = truth_seconds(&t, x, hz, 0), joules = exact * truth_watts(&t, hz);
            assert_int_equal(yoke_model_predict(model, x, hz, 0, &p), YOKE_OK);
            assert_true(p.inside);
            sum.seconds += part * (fabs(p.seconds - exact) <= p.seconds_uncertainty);
            sum.joules += part * (fabs(p.joules - joules) <= p.joules_uncertainty);
            sum.error += part * fabs(p.seconds / exact - 1);
            sum.width += part * p.seconds_uncertainty / p.seconds;
        }
        yoke_release(context, model);
    }
    return sum;
}

static void check_coverage(yoke_context *context, const experiment *e)
{
    for (int k = 0; k < FUNCTIONS; k++) {
        outcome o = run(context, e, functions[k].seconds);
        printf("%-10s: seconds %.1f %%, joules %.1f %% covered; error %.2f %%, half width %.2f %%\n", functions[k].name, 100 * o.seconds,
               100 * o.joules, 100 * o.error, 100 * o.width);
        if (!(o.seconds >= 0.9 && o.seconds <= 0.985)) fail_msg("%s: %.1f %% of the seconds", functions[k].name, 100 * o.seconds);
        if (!(o.joules >= 0.9 && o.joules <= 0.985)) fail_msg("%s: %.1f %% of the joules", functions[k].name, 100 * o.joules);
    }
}

static void intervals_hold_the_truth_with_two_percent_noise(void **state)
{
    check_coverage(*state, &(experiment){.repeats = 5, .levels = 1, .noise = 0.02, .joules_noise = 0.04});
}

static void intervals_hold_the_truth_with_little_noise(void **state)
{
    check_coverage(*state, &(experiment){.repeats = 5, .levels = 1, .noise = 0.005, .joules_noise = 0.04});
}

static void intervals_hold_the_truth_with_three_noisy_calls(void **state)
{
    check_coverage(*state, &(experiment){.repeats = 3, .levels = 1, .noise = 0.05, .joules_noise = 0.1});
}

static void intervals_hold_the_truth_at_five_frequencies(void **state)
{
    check_coverage(*state, &(experiment){.repeats = 5, .levels = 5, .noise = 0.02, .joules_noise = 0.04});
}

static void each_kind_covers_its_own_functions(void **state)
{
    static const struct {
        yoke_model_kind kind;
        truth_function *seconds;
    } own[] = {{YOKE_MODEL_CONSTANT, constant}, {YOKE_MODEL_AFFINE, constant}, {YOKE_MODEL_AFFINE, affine}, {YOKE_MODEL_AFFINE, flat_first},
               {YOKE_MODEL_PIECEWISE, cache},   {YOKE_MODEL_PIECEWISE, cliff}, {YOKE_MODEL_AKIMA, cache},   {YOKE_MODEL_AKIMA, curved}};
    for (size_t k = 0; k < sizeof own / sizeof own[0]; k++) {
        outcome o =
            run(*state, &(experiment){.kind = own[k].kind, .repeats = 5, .levels = 1, .noise = 0.02, .joules_noise = 0.04}, own[k].seconds);
        if (!(o.seconds >= 0.9 && o.seconds <= 0.985)) fail_msg("case %zu: %.1f %% of the seconds", k, 100 * o.seconds);
    }
}

static void errors_shrink_with_samples(void **state)
{
    for (int k = 0; k < 2; k++) {
        experiment few = {
            .kind = k ? YOKE_MODEL_AFFINE : YOKE_MODEL_CONSTANT, .repeats = 4, .levels = 1, .noise = 0.05, .joules_noise = 0.05};
        experiment many = few;
        many.repeats = 64;
        outcome a = run(*state, &few, functions[k].seconds), b = run(*state, &many, functions[k].seconds);
        assert_true(b.error < 0.3 * a.error && b.error > 0.2 * a.error); /* 1 / sqrt(16) */
        assert_true(b.width < 0.3 * a.width);
    }
}

/* What standard errors say against how estimates scatter from experiment to experiment. */
static void standard_errors_are_those_of_monte_carlo(void **state)
{
    truth t = {.seconds = affine, .noise = 0.02};
    double found[2][SEEDS], said[2] = {0, 0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        noise random = {seed};
        experiment e = {.kind = YOKE_MODEL_AFFINE, .repeats = 8, .levels = 1};
        yoke_model *model = sample_and_fit(*state, &e, &t, &random);
        yoke_model info;
        info = *model;
        found[0][seed] = info.start_s;
        found[1][seed] = info.seconds_per_unit;
        said[0] += info.start_error_s / SEEDS;
        said[1] += info.seconds_per_unit_error / SEEDS;
        yoke_release(*state, model);
    }
    for (int k = 0; k < 2; k++) {
        double mean, deviation;
        statistics_moments(found[k], SEEDS, &mean, &deviation);
        printf("%s: standard error %.4g, scatter %.4g\n", k ? "t_el" : "t_0", said[k], deviation);
        assert_true(fabs(mean - (k ? 1.7e-6 : 2e-4)) < 4 * deviation / sqrt(SEEDS));
        assert_true(said[k] > 0.9 * deviation && said[k] < 1.3 * deviation);
    }
}

static void the_simplest_kind_that_fits_is_chosen(void **state)
{
    static const yoke_model_kind expected[] = {YOKE_MODEL_CONSTANT, YOKE_MODEL_AFFINE, YOKE_MODEL_AFFINE};
    for (int k = 0; k < FUNCTIONS; k++) {
        int right = 0;
        for (uint64_t seed = 0; seed < 300; seed++) {
            noise random = {seed + 1};
            truth t = {.seconds = functions[k].seconds, .noise = 0.01};
            experiment e = {.repeats = 5, .levels = 1};
            yoke_model *model = sample_and_fit(*state, &e, &t, &random);
            yoke_model info;
            info = *model;
            right += k < 3 ? info.kind == expected[k] : info.kind == YOKE_MODEL_PIECEWISE || info.kind == YOKE_MODEL_AKIMA;
            yoke_release(*state, model);
        }
        printf("%s: %d of 300\n", functions[k].name, right);
        assert_true(right >= 280);
    }
}

/* The held-out error says how far predictions at other sizes are off. */
static void held_out_errors_are_like_real_ones(void **state)
{
    for (int k = 0; k < FUNCTIONS; k++) {
        double said[100], real[100];
        for (uint64_t seed = 0; seed < 100; seed++) {
            noise random = {seed + 1};
            truth t = {.seconds = functions[k].seconds, .noise = 0.03};
            experiment e = {.repeats = 5, .levels = 1};
            yoke_model *model = sample_and_fit(*state, &e, &t, &random);
            yoke_model info;
            double errors[101];
            info = *model;
            for (int i = 0; i < 101; i++) {
                yoke_prediction p;
                double x = 100 * pow(500, i / 100.0);
                assert_int_equal(yoke_model_predict(model, x, NAN, 0, &p), YOKE_OK);
                errors[i] = fabs(p.seconds / t.seconds(x) - 1);
            }
            statistics_sort(errors, 101);
            said[seed] = info.held_out_error;
            real[seed] = statistics_median(errors, 101);
            yoke_release(*state, model);
        }
        statistics_sort(said, 100);
        statistics_sort(real, 100);
        double a = statistics_median(said, 100), b = statistics_median(real, 100);
        printf("%s: held out %.2f %%, real %.2f %%\n", functions[k].name, 100 * a, 100 * b);
        assert_true(a > b && a < 0.05 + 3 * b); /* it has the noise of what was held out, and wider gaps */
    }
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(intervals_hold_the_truth_with_two_percent_noise),
                                          cmocka_unit_test(intervals_hold_the_truth_with_little_noise),
                                          cmocka_unit_test(intervals_hold_the_truth_with_three_noisy_calls),
                                          cmocka_unit_test(intervals_hold_the_truth_at_five_frequencies),
                                          cmocka_unit_test(each_kind_covers_its_own_functions),
                                          cmocka_unit_test(errors_shrink_with_samples),
                                          cmocka_unit_test(standard_errors_are_those_of_monte_carlo),
                                          cmocka_unit_test(the_simplest_kind_that_fits_is_chosen),
                                          cmocka_unit_test(held_out_errors_are_like_real_ones)};

UNIT_MAIN(tests, state_start, state_end)
