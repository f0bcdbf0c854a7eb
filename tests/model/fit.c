#include <math.h>

#include "failing_call.h"
#include "model/fit_fixture.h"
#include "model/truth.h"
#include "unit.h"
#include "yoke/yoke.h"

/* ------------------------------------------------------------------------------------------------ the kinds */

static void one_sample_makes_a_constant_model(void **state)
{
    yoke_sample sample = plain(1000, 2e-3);
    yoke_model info;
    yoke_model *model = fit(*state, YOKE_MODEL_AUTO, &sample, 1, &info);
    assert_int_equal(info.kind, YOKE_MODEL_CONSTANT);
    assert_true(near(info.seconds_per_unit, 2e-6, 1e-12) && info.start_s == 0 && info.from_units == 0);
    assert_true(isnan(info.min_hz) && isnan(info.contention) && isnan(info.held_out_error) && isnan(info.power_w));
    assert_int_equal(info.rate.kind, YOKE_LAW_NONE);
    yoke_prediction p = predict(model, 1000, NAN, 0);
    assert_true(near(p.seconds, 2e-3, 1e-12) && p.inside);
    assert_true(isnan(p.seconds_uncertainty) && isnan(p.joules)); /* one call does not say how it scatters: unknown is not zero */
    yoke_release(*state, model);
}

/* PEACH: the GPU takes T_OH for itself, and then 1 / R_G per unit (R_G of Table VI, system I: 1044.7; T_OH chosen). */
static void the_start_cost_of_peach_is_found(void **state)
{
    static const double overhead = 0.012, rate = 1044.7;
    static const double sizes[] = {1, 5, 10, 25, 50, 100};
    yoke_sample samples[6];
    yoke_model info;
    for (int i = 0; i < 6; i++) samples[i] = plain(sizes[i], overhead + sizes[i] / rate);
    yoke_model *model = fit(*state, YOKE_MODEL_AUTO, samples, 6, &info);
    assert_int_equal(info.kind, YOKE_MODEL_AFFINE);
    assert_true(near(info.start_s, overhead, 1e-9) && near(1 / info.seconds_per_unit, rate, 1e-9) && info.from_units == 0);
    assert_true(info.held_out_error < 1e-9);
    assert_true(near(seconds_at(model, 33), overhead + 33 / rate, 1e-9));
    yoke_release(*state, model);
}

/* Lang and Ruenger 2014, sect. 4.2.1: copies take 11.8 us for each element beyond 512; with a latency, or the time would be zero. */
static void the_offset_of_copies_is_found(void **state)
{
    static const double sizes[] = {50, 100, 200, 400, 600, 1000, 2000, 4000, 8000};
    yoke_sample samples[9];
    yoke_model info;
    for (int i = 0; i < 9; i++) samples[i] = plain(sizes[i], 2e-5 + 11.8e-6 * fmax(sizes[i] - 512, 0));
    yoke_model *model = fit(*state, YOKE_MODEL_AFFINE, samples, 9, &info);
    assert_true(near(info.seconds_per_unit, 11.8e-6, 1e-6) && near(info.from_units, 512, 1e-3));
    assert_true(near(info.start_s, 2e-5 - 512 * 11.8e-6, 1e-3)); /* negative: the line before it is flat */
    assert_true(near(seconds_at(model, 70), 2e-5, 1e-3) && near(seconds_at(model, 3000), 2e-5 + 11.8e-6 * 2488, 1e-6));
    yoke_release(*state, model);
}

static void a_start_cost_is_never_negative(void **state)
{
    yoke_sample samples[] = {plain(100, 1e-4), plain(200, 2.5e-4), plain(400, 6e-4)}; /* slower per unit the larger */
    yoke_model info;
    yoke_model *model = fit(*state, YOKE_MODEL_AFFINE, samples, 3, &info);
    assert_true(info.start_s == 0 && info.seconds_per_unit > 0);
    for (double x = 1e-3; x < 1e6; x *= 3) assert_true(seconds_at(model, x) > 0);
    yoke_release(*state, model);
}

static void speed_is_linear_between_the_points_of_a_piecewise_model(void **state)
{
    yoke_sample samples[] = {plain(100, 1e-3), plain(200, 1e-3), plain(400, 4e-3)}; /* speeds 1e5, 2e5, 1e5 */
    yoke_model info;
    yoke_model *model = fit(*state, YOKE_MODEL_PIECEWISE, samples, 3, &info);
    assert_false(info.repaired);
    assert_true(isnan(info.start_s) && info.min_units == 100 && info.max_units == 400);
    assert_true(near(seconds_at(model, 150), 150 / 1.5e5, 1e-12) && near(seconds_at(model, 300), 300 / 1.5e5, 1e-12));
    assert_true(near(seconds_at(model, 50), 5e-4, 1e-12) && near(seconds_at(model, 800), 8e-3, 1e-12)); /* the speed at the end goes on */
    assert_true(!predict(model, 50, NAN, 0).inside && !predict(model, 800, NAN, 0).inside && predict(model, 400, NAN, 0).inside);
    yoke_release(*state, model);
}

static void times_that_fall_are_repaired_and_it_is_said(void **state)
{
    yoke_sample samples[] = {plain(100, 1e-3), plain(200, 3e-3), plain(300, 2e-3), plain(400, 2.5e-3), plain(500, 5e-3)};
    static const yoke_model_kind kinds[] = {YOKE_MODEL_PIECEWISE, YOKE_MODEL_AKIMA};
    for (int k = 0; k < 2; k++) {
        yoke_model info;
        yoke_model *model = fit(*state, kinds[k], samples, 5, &info);
        assert_true(info.repaired);
        double last = 0;
        for (double x = 50; x < 700; x += 0.5) {
            double seconds = seconds_at(model, x);
            assert_true(seconds >= last);
            last = seconds;
        }
        assert_true(near(seconds_at(model, 200), 3e-3, 1e-12) && near(seconds_at(model, 400), 3e-3, 1e-12));
        assert_true(near(seconds_at(model, 500), 5e-3, 1e-12));
        yoke_release(*state, model);
    }
}

/* Times never fall, whatever the samples, and what is inside the points lies between their times. */
static void times_never_fall_for_random_samples(void **state)
{
    noise random = {3};
    for (int turn = 0; turn < 2000; turn++) {
        yoke_sample samples[12];
        int count = 3 + (int)(9 * noise_uniform(&random));
        double units = 10;
        for (int i = 0; i < count; i++) {
            units *= 1.02 + 2 * noise_uniform(&random); /* nearer ones might be one point */
            samples[i] = plain(units, units * 1e-6 * exp(1.5 * noise_normal(&random)));
        }
        yoke_model *model = fit(*state, turn % 2 ? YOKE_MODEL_AKIMA : YOKE_MODEL_PIECEWISE, samples, count, NULL);
        double last = 0, highest = 0;
        for (int i = 0; i < count; i++) highest = fmax(highest, samples[i].seconds);
        for (int i = 0; i <= 200; i++) {
            double x = samples[0].units * pow(units / samples[0].units, i / 200.0), seconds = seconds_at(model, x);
            assert_true(seconds >= last * (1 - 1e-12) && seconds <= highest * (1 + 1e-12) && seconds > 0);
            last = seconds;
        }
        for (int i = 0; i < count; i++) assert_true(seconds_at(model, samples[i].units) >= samples[i].seconds * (1 - 1e-12));
        yoke_release(*state, model);
    }
}

static void a_cliff_is_kept_and_not_blurred(void **state)
{
    static const double sizes[] = {1000, 2000, 4000, 8000, 12000, 16000, 16100, 20000, 30000, 50000};
    noise random = {5};
    yoke_sample samples[30];
    int count = 0;
    for (int i = 0; i < 10; i++)
        for (int k = 0; k < 3; k++) { /* repeated points as well: they are merged, the two sides of the cliff are not */
            double slow = sizes[i] > 16000 ? 1.7 : 1;
            samples[count] = plain(sizes[i], sizes[i] * 1e-6 * slow * (1 + 0.003 * noise_normal(&random)));
            samples[count].repeats = 5;
            samples[count].seconds_interval = 0.0037 * samples[count].seconds;
            count++;
        }
    yoke_model info;
    yoke_model *model = fit(*state, YOKE_MODEL_AUTO, samples, count, &info);
    assert_true(info.kind == YOKE_MODEL_PIECEWISE || info.kind == YOKE_MODEL_AKIMA);
    assert_true(near(seconds_at(model, 15900), 15900e-6, 0.01) && near(seconds_at(model, 16200), 16200e-6 * 1.7, 0.01));
    assert_true(near(seconds_at(model, 14000), 14000e-6, 0.02) && near(seconds_at(model, 18000), 18000e-6 * 1.7, 0.02));
    yoke_release(*state, model);
}

static void repeated_points_are_weighed_by_their_uncertainty(void **state)
{
    yoke_sample samples[] = {plain(100, 1.00e-3), plain(100, 1.03e-3), plain(200, 2e-3)};
    for (int i = 0; i < 3; i++) samples[i].repeats = 30;
    samples[0].seconds_interval = 1e-5;
    samples[1].seconds_interval = 3e-5;
    samples[2].seconds_interval = 1e-5;
    yoke_model *model = fit(*state, YOKE_MODEL_PIECEWISE, samples, 3, NULL);
    double seconds = seconds_at(model, 100); /* weights 9 : 1, drawn together a little */
    assert_true(seconds > 1.0025e-3 && seconds < 1.0075e-3);
    yoke_release(*state, model);
}

static void the_order_of_samples_does_not_matter(void **state)
{
    noise random = {11};
    yoke_sample samples[20];
    for (int i = 0; i < 20; i++) {
        double x = 100 * (1 + i / 2);
        samples[i] = plain(x, x * 1e-6 * (1 + 0.01 * noise_normal(&random)));
        samples[i].frequency_hz = i % 2 ? 1e9 : 2e9;
        samples[i].seconds *= i % 2 ? 1.9 : 1;
        samples[i].joules = 30 * samples[i].seconds;
    }
    for (int kind = YOKE_MODEL_AUTO; kind <= (int)YOKE_MODEL_AKIMA; kind++) {
        yoke_model *first = fit(*state, (yoke_model_kind)kind, samples, 20, NULL);
        for (int i = 19; i > 0; i--) {
            int k = (int)(noise_bits(&random) % (uint64_t)(i + 1));
            yoke_sample swap = samples[i];
            samples[i] = samples[k];
            samples[k] = swap;
        }
        yoke_model *second = fit(*state, (yoke_model_kind)kind, samples, 20, NULL);
        for (double x = 60; x < 2500; x *= 1.13) {
            yoke_prediction p = predict(first, x, 1.5e9, 0), q = predict(second, x, 1.5e9, 0);
            assert_memory_equal(&p.seconds, &q.seconds, sizeof p.seconds);
            assert_true(near(p.seconds_uncertainty, q.seconds_uncertainty, 1e-9) && near(p.joules, q.joules, 1e-12));
        }
        yoke_release(*state, first);
        yoke_release(*state, second);
    }
}

/* --------------------------------------------------------------------------------------------- bad samples */

static void what_cannot_be_fitted_is_refused(void **state)
{
    yoke_context *context = *state;
    yoke_model *model = NULL;
    yoke_prediction p;
    yoke_sample good[] = {plain(1, 1), plain(1, 1.1), plain(2, 2)}, bad;
    assert_int_equal(yoke_model_fit(context, YOKE_MODEL_AUTO, good, 0, &model), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_model_fit(context, YOKE_MODEL_AUTO, NULL, 1, &model), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_model_fit(context, (yoke_model_kind)99, good, 1, &model), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_model_fit(NULL, YOKE_MODEL_AUTO, good, 1, &model), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_model_fit(context, YOKE_MODEL_AFFINE, good, 2, &model), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "2 different sizes at least; there are 1"));
    assert_int_equal(yoke_model_fit(context, YOKE_MODEL_AKIMA, good, 3, &model), YOKE_ERROR_INPUT);
    static const double absurd[] = {0, -1, NAN, INFINITY, 1e300};
    for (int i = 0; i < 5; i++)
        for (int member = 0; member < 2; member++) {
            bad = good[0];
            *(member ? &bad.units : &bad.seconds) = absurd[i];
            assert_int_equal(yoke_model_fit(context, YOKE_MODEL_AUTO, &bad, 1, &model), YOKE_ERROR_ARGUMENT);
        }
    bad = good[0];
    bad.repeats = 0;
    assert_int_equal(yoke_model_fit(context, YOKE_MODEL_AUTO, &bad, 1, &model), YOKE_ERROR_ARGUMENT);
    assert_null(model);
    assert_int_equal(yoke_model_predict(NULL, 1, NAN, 0, &p), YOKE_ERROR_ARGUMENT);
    model = fit(context, YOKE_MODEL_AUTO, good, 1, NULL);
    for (int i = 0; i < 4; i++) assert_int_equal(yoke_model_predict(model, absurd[i], NAN, 0, &p), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_model_predict(model, 1, -1, 0, &p), YOKE_ERROR_ARGUMENT);
    yoke_release(context, model);
    yoke_release(context, NULL);
}

/* What is zero because nobody filled it is no energy. */
static void samples_with_zero_joules_claim_no_energy(void **state)
{
    yoke_sample samples[8];
    for (int metered = 0; metered < 2; metered++) {
        for (int i = 0; i < 8; i++)
            samples[i] = (yoke_sample){
                .units = 100 * (i + 1), .frequency_hz = NAN, .seconds = 1e-3 * (i + 1), .seconds_interval = 1e-6, .repeats = 3};
        for (int i = 0; i < 8 && metered; i++) samples[i].joules = 50 * samples[i].seconds;
        yoke_model *model = fit(*state, YOKE_MODEL_CONSTANT, samples, 8, NULL);
        yoke_prediction p = predict(model, 400, NAN, 0);
        assert_true(metered ? fabs(p.joules - 0.2) < 1e-6 && fabs(model->power_w - 50) < 1e-3 : isnan(p.joules) && isnan(model->power_w));
        yoke_release(*state, model);
    }
}

/* Whatever numbers samples hold, a model of them says finite times above 0 where it says anything, or there is an error. */
static void any_samples_give_a_model_or_an_error(void **state)
{
    noise random = {17};
    int fitted = 0;
    for (int turn = 0; turn < 20000; turn++) {
        yoke_sample samples[10];
        int count = 1 + (int)(10 * noise_uniform(&random));
        double wide = turn % 3 == 0 ? 30 : turn % 3 == 1 ? 5 : 0.5;
        for (int i = 0; i < count; i++) {
            samples[i] = plain(exp(wide * noise_normal(&random) / 3), exp(wide * noise_normal(&random) / 3));
            if (noise_uniform(&random) < 0.3 && i > 0) samples[i].units = samples[i - 1].units;
            if (noise_uniform(&random) < 0.5) samples[i].frequency_hz = 1e9 * (1 + (double)(noise_bits(&random) % 4));
            samples[i].repeats = 1 + (int64_t)(noise_bits(&random) % 4);
            if (noise_uniform(&random) < 0.5) samples[i].seconds_interval = samples[i].seconds * fabs(noise_normal(&random));
            if (noise_uniform(&random) < 0.1) samples[i].seconds_interval = 0;
            if (noise_uniform(&random) < 0.5) samples[i].joules = noise_normal(&random) * exp(wide * noise_normal(&random) / 3);
            if (noise_uniform(&random) < 0.1) samples[i].joules = 0;
            if (noise_uniform(&random) < 0.5) samples[i].joules_interval = fabs(noise_normal(&random));
            samples[i].together = noise_uniform(&random) < 0.2;
        }
        yoke_model *model = NULL;
        yoke_status status = yoke_model_fit(*state, (yoke_model_kind)(turn % 5), samples, count, &model);
        if (status != YOKE_OK) {
            assert_true(status == YOKE_ERROR_ARGUMENT || status == YOKE_ERROR_INPUT || status == YOKE_ERROR_NUMERIC);
            continue;
        }
        fitted++;
        for (int i = 0; i < 20; i++) {
            yoke_prediction p = predict(model, exp(wide * noise_normal(&random) / 3), i % 2 ? NAN : 1e9 * (1 + i / 4), i % 3 == 0);
            if (!(isfinite(p.seconds) && p.seconds > 0)) fail_msg("turn %d: %g s", turn, p.seconds);
            assert_true(isnan(p.seconds_uncertainty) || p.seconds_uncertainty >= 0);
            assert_true(isnan(p.joules_uncertainty) || p.joules_uncertainty >= 0);
        }
        yoke_release(*state, model);
    }
    assert_true(fitted > 10000);
}

enum { NOISY_SAMPLES = 30 };

static yoke_status fit_samples(yoke_context *context, void *user)
{
    yoke_model *model = NULL;
    yoke_status status = yoke_model_fit(context, YOKE_MODEL_AUTO, user, NOISY_SAMPLES, &model);
    yoke_release(context, model);
    return status;
}

static void no_failing_allocation_is_missed(void **state)
{
    (void)state;
    truth t = {.seconds = curved, .rate_a = 0.3, .rate_b = 0.1, .contention = 0.8, .power = {1, 2, 3}, .noise = 0.01, .joules_noise = 0.01};
    noise random = {1};
    yoke_sample samples[NOISY_SAMPLES];
    for (int i = 0; i < NOISY_SAMPLES; i++)
        samples[i] = truth_sample(&t, &random, 1000 * (i % 6 + 1), 1e9 + 0.5e9 * (i / 6), i % 7 == 6, 3, 4.3);
    assert_true(failing_call_everywhere(fit_samples, samples) >= 20);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(one_sample_makes_a_constant_model),
                                          cmocka_unit_test(the_start_cost_of_peach_is_found),
                                          cmocka_unit_test(the_offset_of_copies_is_found),
                                          cmocka_unit_test(a_start_cost_is_never_negative),
                                          cmocka_unit_test(speed_is_linear_between_the_points_of_a_piecewise_model),
                                          cmocka_unit_test(times_that_fall_are_repaired_and_it_is_said),
                                          cmocka_unit_test(times_never_fall_for_random_samples),
                                          cmocka_unit_test(a_cliff_is_kept_and_not_blurred),
                                          cmocka_unit_test(repeated_points_are_weighed_by_their_uncertainty),
                                          cmocka_unit_test(the_order_of_samples_does_not_matter),
                                          cmocka_unit_test(what_cannot_be_fitted_is_refused),
                                          cmocka_unit_test(samples_with_zero_joules_claim_no_energy),
                                          cmocka_unit_test(any_samples_give_a_model_or_an_error),
                                          cmocka_unit_test(no_failing_allocation_is_missed)};

UNIT_MAIN(tests, state_start, state_end)
