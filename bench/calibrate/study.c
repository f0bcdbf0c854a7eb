#include "calibrate/study.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { PREDICTIONS = 40, LEVELS = 5, STEPS = 400, PATH_BYTES = 300 };
static const double call_s = 0.05, budget_s = 60;

const char *const study_kinds[STUDY_KINDS] = {"highest frequency", "lower, measured", "between", "beside the other"};

typedef struct study {
    yoke_context *context;
    yoke_run *run;
    const yoke_run_device *devices;
    yoke_queue *queues[CALIBRATE_DEVICES];
    yoke_program *programs[CALIBRATE_DEVICES];
    yoke_function *functions[CALIBRATE_DEVICES];
    yoke_event *begin[CALIBRATE_DEVICES], *end[CALIBRATE_DEVICES];
    made_machine machine;
    yoke_run_accuracy accuracy[CALIBRATE_DEVICES];
    uint64_t random;
} study;

static void nothing(const yoke_group *group, void *const *arguments)
{
    (void)group;
    (void)arguments;
}

/* ------------------------------------------------------------------------------------------------- the trials */

static yoke_status start(study *s, int64_t device, int64_t units, int64_t calls)
{
    yoke_status status = yoke_queue_record(s->queues[device], s->begin[device]);
    for (int64_t k = 0; k < calls && status == YOKE_OK; k++)
        status = yoke_queue_launch(s->queues[device], s->functions[device], 1, 1, units, NULL, 0);
    return status == YOKE_OK ? yoke_queue_record(s->queues[device], s->end[device]) : status;
}

static yoke_status finish(study *s, int64_t device, int64_t calls, double *seconds)
{
    yoke_status status = yoke_queue_finish(s->queues[device]);
    if (status == YOKE_OK) status = yoke_event_elapsed_s(s->begin[device], s->end[device], seconds);
    *seconds /= (double)calls;
    return status;
}

static yoke_status try_one(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    yoke_status status = start(user, device, units, calls);
    return status == YOKE_OK ? finish(user, device, calls, seconds) : status;
}

static yoke_status try_all(void *user, const int64_t *units, int64_t calls, double *seconds, int64_t *failed)
{
    yoke_status status = YOKE_OK;
    for (*failed = 0; *failed < CALIBRATE_DEVICES && status == YOKE_OK; ++*failed) status = start(user, *failed, units[*failed], calls);
    for (*failed = 0; *failed < CALIBRATE_DEVICES && status == YOKE_OK; ++*failed) status = finish(user, *failed, calls, &seconds[*failed]);
    return status;
}

static yoke_status open_device(study *s, int64_t device)
{
    static const yoke_host_kernel kernels[] = {{"nothing", nothing}};
    static const yoke_program_source source = {.name = "one kernel", .host_kernels = kernels, .num_host_kernels = 1};
    yoke_device *on = s->devices[device].device;
    yoke_status status = yoke_queue_create(on, 0, &s->queues[device]);
    if (status == YOKE_OK) status = yoke_program_create(on, &source, &s->programs[device]);
    if (status == YOKE_OK) status = yoke_program_function(s->programs[device], "nothing", &s->functions[device]);
    if (status == YOKE_OK) status = yoke_event_create(on, &s->begin[device]);
    return status == YOKE_OK ? yoke_event_create(on, &s->end[device]) : status;
}

static yoke_status calibrate(study *s, const char *path)
{
    static const yoke_run_options options = {.devices = "sim:cpu,sim:gpu", .measure_all = 1};
    const yoke_run_calibration of = {.work = "work",
                                     .min_units = 1,
                                     .max_units = INT64_C(1) << 40,
                                     .call_s = call_s,
                                     .budget_s = budget_s,
                                     .levels = LEVELS,
                                     .trial = try_one,
                                     .together = try_all,
                                     .copies = 1,
                                     .user = s};
    int64_t count = 0;
    yoke_status status = yoke_context_create(NULL, &s->context);
    if (status == YOKE_OK) status = made_machine_write(s->context, &s->machine, path);
    if (status == YOKE_OK) status = yoke_machine_read(s->context, path);
    if (status == YOKE_OK) status = yoke_run_create(s->context, &options, &s->run);
    if (status == YOKE_OK) status = yoke_run_devices(s->run, &s->devices, &count);
    for (int64_t i = 0; i < CALIBRATE_DEVICES && status == YOKE_OK; i++) status = open_device(s, i);
    return status == YOKE_OK ? yoke_run_calibrate(s->run, &of, s->accuracy) : status;
}

static void close_all(study *s)
{
    for (int i = 0; i < CALIBRATE_DEVICES; i++) {
        yoke_event_destroy(s->begin[i]);
        yoke_event_destroy(s->end[i]);
        yoke_program_destroy(s->programs[i]);
        yoke_queue_destroy(s->queues[i]);
    }
    yoke_run_destroy(s->run);
    yoke_context_destroy(s->context);
}

/* ----------------------------------------------------------------------------------------------- predictions */

static int was_measured(const yoke_run_accuracy *accuracy, double hz, double units)
{
    int level = 0;
    for (int64_t k = 0; k < accuracy->num_samples; k++) {
        if (!(fabs(accuracy->samples[k].frequency_hz / hz - 1) < 1e-9)) continue;
        if (fabs(accuracy->samples[k].units - units) < 0.5) return 2;
        level = 1;
    }
    return level;
}

/* Predicts one size at one frequency of a device, neither of which need have been measured. */
static yoke_status predict(study *s, int device, study_result *result)
{
    const made_device *made = &s->machine.devices[device];
    const yoke_run_accuracy *accuracy = &s->accuracy[device];
    const int top = made->num_levels - 1, level = made_random(&s->random) < 0.25 ? top : (int)(made->num_levels * made_random(&s->random));
    const int together = made_random(&s->random) < 0.25;
    const double units = round(pow((double)accuracy->max_units, made_random(&s->random))), hz = made->levels[level].hz;
    const int known = was_measured(accuracy, hz, units);
    yoke_prediction said;
    if (known == 2) return YOKE_OK;
    yoke_status status = yoke_run_predict(s->run, "work", device, units, hz, together, &said);
    if (status != YOKE_OK) return status;
    double truth = made_seconds(made, level, units) * (together ? 1 + made->contention : 1), off = fabs(said.seconds / truth - 1);
    study_predictions *kind = &result->predictions[together ? 3 : level == top ? 0 : known ? 1 : 2];
    kind->count++;
    kind->inside += fabs(said.seconds - truth) <= said.seconds_uncertainty;
    kind->errors += off;
    kind->widths += said.seconds_uncertainty / said.seconds;
    kind->max_error = fmax(kind->max_error, off);
    return YOKE_OK;
}

/* ---------------------------------------------------------------------------------------------------- plans */

static double cost_of(const study *s, int objective, const int *levels, const int64_t *units)
{
    double time_s, energy_j;
    made_cost(&s->machine, levels, units, &time_s, &energy_j);
    return objective == 0 ? time_s : energy_j;
}

/* Least cost on a grid: all pairs of frequencies, and shares in steps of a quarter per cent. */
static double best_of(const study *s, int objective, int64_t n)
{
    double best = INFINITY;
    int levels[CALIBRATE_DEVICES];
    for (levels[0] = 0; levels[0] < s->machine.devices[0].num_levels; levels[0]++)
        for (levels[1] = 0; levels[1] < s->machine.devices[1].num_levels; levels[1]++)
            for (int k = 0; k <= STEPS; k++) {
                int64_t units[CALIBRATE_DEVICES] = {n * k / STEPS, n - n * k / STEPS};
                best = fmin(best, cost_of(s, objective, levels, units));
            }
    return best;
}

static int level_of(const made_device *device, double hz)
{
    int found = 0;
    for (int l = 1; l < device->num_levels; l++)
        if (fabs(device->levels[l].hz - hz) < fabs(device->levels[found].hz - hz)) found = l;
    return found;
}

static yoke_status plan(study *s, int64_t n, const char *path, double *regrets)
{
    const yoke_phase phase = {.work = "work", .calls = 1, .units = n, .barrier = 1};
    const yoke_round round = {
        .num_cuts = 1, .cut_units = &n, .num_phases = 1, .phases = &phase, .copy_bytes_per_unit = CALIBRATE_UNIT_BYTES};
    yoke_plan_problem *problem = NULL;
    yoke_status status = yoke_run_write_model(s->run, &round, path);
    if (status == YOKE_OK) status = yoke_plan_problem_read(s->context, path, &problem);
    for (int objective = 0; objective < STUDY_OBJECTIVES && status == YOKE_OK; objective++) {
        const yoke_plan_options options = {.objective = objective == 0 ? YOKE_OBJECTIVE_TIME : YOKE_OBJECTIVE_ENERGY};
        yoke_plan *made = NULL;
        int levels[CALIBRATE_DEVICES];
        status = yoke_plan_create(s->context, problem, &options, &made);
        if (status != YOKE_OK) break;
        for (int i = 0; i < CALIBRATE_DEVICES; i++)
            levels[i] = level_of(&s->machine.devices[i], problem->devices[i].levels[made->best.levels[i]].frequency_hz);
        regrets[objective * STUDY_PLANS] = cost_of(s, objective, levels, made->best.units) / best_of(s, objective, n) - 1;
        yoke_release(s->context, made);
    }
    yoke_release(s->context, problem);
    return status;
}

yoke_status study_machine(uint64_t seed, const char *path, study_result *result)
{
    study s = {.random = ~seed};
    char file[PATH_BYTES], model[PATH_BYTES];
    snprintf(file, sizeof file, "%s.machine.json", path);
    snprintf(model, sizeof model, "%s.model.json", path);
    made_machine_create(seed, &s.machine);
    result->contention = s.machine.devices[0].contention;
    yoke_status status = calibrate(&s, file);
    for (int i = 0; i < CALIBRATE_DEVICES; i++)
        for (int k = 0; k < PREDICTIONS && status == YOKE_OK; k++) status = predict(&s, i, result);
    for (int k = 0; k < STUDY_PLANS && status == YOKE_OK; k++) {
        double all = (double)s.accuracy[0].max_units + (double)s.accuracy[1].max_units;
        status = plan(&s, (int64_t)(all * pow(10, -1.5 * made_random(&s.random))), model, &result->regret[0][k]);
    }
    if (status != YOKE_OK) fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, yoke_last_error(s.context));
    close_all(&s);
    unlink(file);
    unlink(model);
    return status;
}
