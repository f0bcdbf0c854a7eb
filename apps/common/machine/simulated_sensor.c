#include "common/machine/simulated_sensor.h"

#include <math.h>
#include <string.h>

static const double kelvin_per_w = 0.15, heating_s = 20, finish_s = 1e-6;

typedef struct run {
    double start_s, factor; /* the lengths of its segments are multiplied by factor */
    double before_j;        /* energy above idle of all earlier runs */
} run;

struct app_simulated {
    yoke_context *context;
    app_simulated_options options;
    double duration_s, dynamic_j; /* of the kernel */
    double now_s;
    run *runs;
    int64_t count, capacity;
    double update_s, next_s; /* times of the last update and of the next one */
    bool shown_valid;
    double shown_w;
    double filter_s, filter_w; /* low pass: time and value of its state */
    int64_t filter_run;        /* first run that may still have an effect */
    uint64_t random;
    double temperature_c, heated_s, heated_j; /* temperature_c at time heated_s, after energy heated_j */
};

/* ------------------------------------------------------------------------------------------------ random numbers */

static double uniform(app_simulated *s) /* splitmix64 */
{
    uint64_t z = s->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(app_simulated *s)
{
    double radius = sqrt(-2 * log(uniform(s)));
    return radius * cos(6.283185307179586 * uniform(s));
}

/* --------------------------------------------------------------------------------------------------- true power */

/* Returns the last run that started at or before a time; -1: none. */
static int64_t run_at(const app_simulated *s, double time_s)
{
    int64_t low = 0, high = s->count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (s->runs[middle].start_s <= time_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

static double power_at(const app_simulated *s, double time_s)
{
    int64_t r = run_at(s, time_s);
    if (r < 0) return 0;
    double since = time_s - s->runs[r].start_s;
    for (int i = 0; i < s->options.num_segments; i++) {
        since -= s->options.seconds[i] * s->runs[r].factor;
        if (since < 0) return s->options.watts[i];
    }
    return 0;
}

/* Energy above idle from the beginning to a time. */
static double energy_until(const app_simulated *s, double time_s)
{
    int64_t r = run_at(s, time_s);
    if (r < 0) return 0;
    double joules = s->runs[r].before_j, since = time_s - s->runs[r].start_s;
    for (int i = 0; i < s->options.num_segments && since > 0; i++) {
        double length = s->options.seconds[i] * s->runs[r].factor;
        joules += s->options.watts[i] * fmin(since, length);
        since -= length;
    }
    return joules;
}

/* Advances the low pass through a time of constant power. */
static void filter(app_simulated *s, double until_s, double watts)
{
    if (!(until_s > s->filter_s)) return;
    s->filter_w = watts + (s->filter_w - watts) * exp(-(until_s - s->filter_s) / s->options.sensor.window_s);
    s->filter_s = until_s;
}

static double low_pass(app_simulated *s, double time_s)
{
    for (; s->filter_run < s->count && s->runs[s->filter_run].start_s < time_s; s->filter_run++) {
        double at = s->runs[s->filter_run].start_s;
        filter(s, at, 0);
        for (int i = 0; i < s->options.num_segments; i++) {
            at += s->options.seconds[i] * s->runs[s->filter_run].factor;
            filter(s, fmin(at, time_s), s->options.watts[i]);
        }
        if (at > time_s) break; /* continued by the next update */
    }
    filter(s, time_s, 0);
    return s->filter_w;
}

double app_simulated_shown_w(app_simulated *s, double update_s)
{
    const app_simulated_options *o = &s->options;
    double at = update_s - o->sensor.delay_s, window = o->sensor.window_s, above = 0;
    if (o->sensor.shape == YOKE_SENSOR_HALVES)
        above = 0.5 * power_at(s, at) + 0.5 * power_at(s, at - window);
    else if (!(window > 0))
        above = power_at(s, at);
    else if (o->sensor.shape == YOKE_SENSOR_LOW_PASS)
        above = low_pass(s, at);
    else
        above = (energy_until(s, at) - energy_until(s, at - window)) / window;
    return o->gain * (o->idle_w + above) + o->bias_w;
}

/* ------------------------------------------------------------------------------------------------------ the clock */

/* Performs the updates up to the present time. */
static void follow(app_simulated *s)
{
    const app_simulated_options *o = &s->options;
    while (s->next_s <= s->now_s) {
        s->update_s = s->next_s;
        s->shown_valid = false;
        double drift = o->drift * sin(0.05 * s->next_s);
        s->next_s += fmax(0.1 * o->sensor.period_s, o->sensor.period_s * (1 + drift) + (o->jitter_s > 0 ? o->jitter_s * normal(s) : 0));
        /* A low pass must process every update, when the runs before it are known. */
        if (o->sensor.shape == YOKE_SENSOR_LOW_PASS) app_simulated_shown_w(s, s->update_s);
    }
}

double app_simulated_clock_s(const app_simulated *s) { return s->now_s; }

static double clock_s(void *user)
{
    app_simulated *s = user;
    return s->now_s += 2e-8;
}

static yoke_status wait_until(double time_s, void *user)
{
    app_simulated *s = user;
    if (time_s > s->now_s) s->now_s = time_s + 2e-5 * uniform(s); /* sleeping is never exact */
    return YOKE_OK;
}

static yoke_status power_w(double *watts, void *user)
{
    app_simulated *s = user;
    const yoke_sensor *sensor = &s->options.sensor;
    s->now_s += 0.5 * s->options.read_s;
    follow(s);
    if (!s->shown_valid) {
        double shown = app_simulated_shown_w(s, s->update_s) + (sensor->noise_w > 0 ? sensor->noise_w * normal(s) : 0);
        s->shown_w = sensor->quantum_w > 0 ? sensor->quantum_w * round(shown / sensor->quantum_w) : shown;
        s->shown_valid = true;
    }
    *watts = s->shown_w;
    s->now_s += 0.5 * s->options.read_s;
    return YOKE_OK;
}

static double end_of(const app_simulated *s, const run *r) { return r->start_s + r->factor * s->duration_s; }

static yoke_status launch(void *user)
{
    app_simulated *s = user;
    yoke_status status = yoke_grow(s->context, &s->runs, s->count, &s->capacity, 1024, sizeof(run));
    if (status) return status;
    s->now_s += s->options.launch_s;
    const run *last = s->count > 0 ? &s->runs[s->count - 1] : NULL;
    double factor = s->options.spread > 0 ? fmax(0.1, 1 + s->options.spread * normal(s)) : 1;
    double start = last ? fmax(s->now_s, end_of(s, last)) : s->now_s;
    s->runs[s->count++] = (run){.start_s = start, .factor = factor, .before_j = last ? last->before_j + last->factor * s->dynamic_j : 0};
    if (s->options.blocking) s->now_s = fmax(s->now_s, end_of(s, &s->runs[s->count - 1]));
    return YOKE_OK;
}

static yoke_status finish(double *start_s, double *end_s, void *user)
{
    app_simulated *s = user;
    (void)start_s;
    (void)end_s;
    if (s->count > 0) s->now_s = fmax(s->now_s, end_of(s, &s->runs[s->count - 1]));
    s->now_s += finish_s;
    return YOKE_OK;
}

static yoke_status temperature_c(double *celsius, void *user)
{
    app_simulated *s = user;
    double joules = energy_until(s, s->now_s), since = s->now_s - s->heated_s;
    if (since > 0) {
        double target = s->options.ambient_c + kelvin_per_w * (joules - s->heated_j) / since;
        s->temperature_c = target + (s->temperature_c - target) * exp(-since / heating_s);
        s->heated_s = s->now_s;
        s->heated_j = joules;
    }
    *celsius = s->temperature_c;
    return YOKE_OK;
}

/* ----------------------------------------------------------------------------------------------------- true values */

double app_simulated_dynamic_j(const app_simulated *s, bool as_shown) { return (as_shown ? s->options.gain : 1) * s->dynamic_j; }

double app_simulated_energy_j(const app_simulated *s, bool as_shown)
{
    double idle = as_shown ? s->options.gain * s->options.idle_w + s->options.bias_w : s->options.idle_w;
    return app_simulated_dynamic_j(s, as_shown) + idle * (s->duration_s + finish_s);
}

static bool within(double value, double least, double most) { return value >= least && value <= most; }

yoke_status app_simulated_create(yoke_context *context, const app_simulated_options *options, app_simulated **simulated)
{
    const app_simulated_options *o = options;
    void *memory = NULL;
    bool right = within(o->sensor.period_s, 1e-4, 10) && within(o->sensor.delay_s, 0, 10) && within(o->sensor.window_s, 0, 100) &&
                 within(o->sensor.noise_w, 0, 1e3) && within(o->sensor.quantum_w, 0, 1e3) && within(o->gain, 0.1, 10) &&
                 within(o->bias_w, -1e3, 1e3) && within(o->idle_w, 0, 1e5) && within(o->read_s, 1e-7, 1) && within(o->spread, 0, 0.5) &&
                 within(o->launch_s, 0, 1) && o->num_segments >= 1 && o->num_segments <= SIMULATED_SEGMENTS;
    for (int i = 0; right && i < o->num_segments; i++) right = within(o->seconds[i], 1e-6, 1e3) && within(o->watts[i], 0, 1e5);
    if (!right) return yoke_fail(context, YOKE_ERROR_INPUT, "a number of the simulated sensor is out of its range");
    yoke_status status = yoke_allocate(context, 1, sizeof(app_simulated), &memory);
    if (status) return status;
    app_simulated *s = memory;
    *s = (app_simulated){.context = context, .options = *o, .random = o->seed * 0x2545f4914f6cdd1du + 1, .temperature_c = o->ambient_c};
    for (int i = 0; i < o->num_segments; i++) {
        s->duration_s += o->seconds[i];
        s->dynamic_j += o->seconds[i] * o->watts[i];
    }
    s->now_s = 100 * uniform(s);
    s->heated_s = s->filter_s = s->now_s;
    s->filter_s -= 100;
    s->update_s = s->now_s - o->sensor.period_s * uniform(s);
    s->next_s = s->update_s + o->sensor.period_s;
    *simulated = s;
    return YOKE_OK;
}

void app_simulated_destroy(app_simulated *s)
{
    if (s == NULL) return;
    yoke_release(s->context, s->runs);
    yoke_release(s->context, s);
}

yoke_profile_subject app_simulated_subject(app_simulated *s)
{
    return (yoke_profile_subject){.launch = launch,
                                  .finish = finish,
                                  .power_w = power_w,
                                  .temperature_c = isnan(s->options.ambient_c) ? NULL : temperature_c,
                                  .clock_s = clock_s,
                                  .wait_until = wait_until,
                                  .user = s};
}
