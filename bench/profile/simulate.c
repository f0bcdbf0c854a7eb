#include "profile/simulate.h"

#include <math.h>
#include <stdio.h>

static const double gain_error = 0.05;

/* A number in [0, 1) that depends only on seed and purpose (splitmix64). */
static double draw(uint64_t seed, uint64_t purpose)
{
    uint64_t z = (seed * 64 + purpose + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* The options of a trial: the case, with delay, gain and bias derived from the seed (gain within 5 %, bias within 5 W). */
static yoke_status options_of(yoke_context *context, const profile_case *simulation, uint64_t seed, app_simulated_options *options)
{
    yoke_status status = app_simulated_preset(context, simulation->sensor, options);
    if (status) return status;
    options->seconds[0] = simulation->seconds;
    options->seed = seed;
    options->sensor.delay_s *= 0.5 + draw(seed, 0);
    options->sensor.period_s *= 1 + 1e-3 * (draw(seed, 1) - 0.5);
    options->gain = 1 + gain_error * (2 * draw(seed, 2) - 1);
    options->bias_w = 10 * draw(seed, 3) - 5;
    return YOKE_OK;
}

static double truth_at(const app_simulated_options *o, double time_s)
{
    for (int i = 0; i < o->num_segments; i++) {
        time_s -= o->seconds[i];
        if (time_s < 0) return o->gain * (o->idle_w + o->watts[i]) + o->bias_w;
    }
    return o->gain * o->idle_w + o->bias_w;
}

/* Root mean square error in the middle 80 % of the run; edges, which no profile shows sharply, are excluded. */
static double profile_error(const app_simulated_options *o, const yoke_profile *profile)
{
    double squares = 0, count = 0, power = 0, length = 0;
    for (int i = 0; i < o->num_segments; i++) {
        power += o->gain * o->seconds[i] * o->watts[i];
        length += o->seconds[i];
    }
    for (int64_t i = 0; i < profile->num_points; i++) {
        const yoke_profile_point *p = &profile->points[i];
        if (p->time_s < 0.1 * length || p->time_s > 0.9 * length) continue;
        squares += pow(p->power_w - truth_at(o, p->time_s), 2);
        count += 1;
    }
    return sqrt(squares / count) / (power / length);
}

yoke_status profile_identify(yoke_context *context, const app_simulated_options *options, yoke_sensor *sensor, double *seconds)
{
    app_simulated_options constant = *options;
    app_simulated *simulated = NULL;
    constant.num_segments = 1;
    if (options->num_segments > 1) constant.seconds[0] = fmin(constant.seconds[0], 0.002);
    yoke_status status = app_simulated_create(context, &constant, &simulated);
    if (status) return status;
    yoke_profile_subject subject = app_simulated_subject(simulated);
    double begin = app_simulated_clock_s(simulated);
    status = yoke_sensor_identify(context, &subject, sensor);
    *seconds = app_simulated_clock_s(simulated) - begin;
    sensor->gain_error = gain_error;
    app_simulated_destroy(simulated);
    return status;
}

static yoke_status take(yoke_context *context, app_simulated *simulated, const app_simulated_options *options,
                        const yoke_profile_options *wanted, profile_trial *trial)
{
    yoke_profile_subject subject = app_simulated_subject(simulated);
    yoke_sensor sensor;
    yoke_profile profile = {0};
    double begin = app_simulated_clock_s(simulated);
    yoke_status status = profile_identify(context, options, &sensor, &trial->identify_s);
    if (!status) status = yoke_profile_measure(context, &subject, &sensor, wanted, &profile);
    trial->device_s = trial->identify_s + app_simulated_clock_s(simulated) - begin;
    trial->status = status;
    if (status) {
        snprintf(trial->text, sizeof trial->text, "%s", yoke_last_error(context));
        return status == YOKE_ERROR_UNAVAILABLE ? YOKE_OK : status;
    }
    double shown = app_simulated_energy_j(simulated, true), real = app_simulated_energy_j(simulated, false);
    trial->error = profile.energy_j / shown - 1;
    trial->half = profile.statistical_j / shown;
    trial->true_error = profile.energy_j / real - 1;
    trial->true_half = profile.uncertainty_j / real;
    trial->burst = profile.burst;
    trial->runs = profile.runs;
    trial->profile = profile.num_points > 0;
    if (trial->profile) trial->profile_error = profile_error(options, &profile);
    yoke_release(context, profile.points);
    return YOKE_OK;
}

yoke_status profile_simulate_options(yoke_context *context, const app_simulated_options *options, const yoke_profile_options *wanted,
                                     profile_trial *trial)
{
    app_simulated *simulated = NULL;
    *trial = (profile_trial){.error = NAN, .half = NAN, .true_error = NAN, .true_half = NAN, .profile_error = NAN};
    yoke_status status = app_simulated_create(context, options, &simulated);
    if (!status) status = take(context, simulated, options, wanted, trial);
    app_simulated_destroy(simulated);
    return status;
}

yoke_status profile_simulate(yoke_context *context, const profile_case *simulation, uint64_t seed, profile_trial *trial)
{
    app_simulated_options options;
    /* Includes the identification: five minutes in total. */
    const yoke_profile_options wanted = {.max_s = 200, .points = simulation->energy_only ? -1 : 0};
    yoke_status status = options_of(context, simulation, seed, &options);
    return status ? status : profile_simulate_options(context, &options, &wanted, trial);
}
