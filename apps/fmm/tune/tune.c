#include "tune/tune.h"

#include <math.h>
#include <string.h>

struct fmm_tuner {
    yoke_context *context;
    const fmm_particles *particles;
    const fmm_tune_options *options;
    yoke_run *run;
    fmm_machine machine;
    fmm_analysis *analysis; /* NULL until it is asked */
    int measured_now;
    double machine_s; /* 0 after it was told */
};

static yoke_status open_run(const fmm_tuner *t, yoke_objective objective, yoke_run **run)
{
    const fmm_tune_options *o = t->options;
    const yoke_run_options options = {.devices = "openmp",
                                      .objective = objective,
                                      .store = o->store,
                                      .declared = o->declared,
                                      .keep_frequencies = 1,
                                      .no_meters = objective == YOKE_OBJECTIVE_TIME};
    return yoke_run_create(t->context, &options, run);
}

/* On a run of its own, which needs no powers. */
static yoke_status measure_machine(fmm_tuner *t)
{
    const fmm_machine_options options = {.gradient = t->options->gradient, .progress = t->options->progress, .user = t->options->user};
    yoke_run *run = NULL;
    yoke_status status = open_run(t, YOKE_OBJECTIVE_TIME, &run);
    if (!status) status = fmm_machine_measure(t->context, run, 0, &options, &t->machine);
    if (!status && t->options->store) status = yoke_run_save(run, NULL);
    yoke_run_destroy(run);
    return status;
}

/* Powers, where the objective needs them and the run does not know them. */
static yoke_status get_powers(fmm_tuner *t)
{
    const fmm_machine_options options = {.gradient = t->options->gradient, .progress = t->options->progress, .user = t->options->user};
    const yoke_run_device *devices;
    int64_t count;
    yoke_status status = yoke_run_devices(t->run, &devices, &count);
    if (status || t->options->objective == YOKE_OBJECTIVE_TIME || !isnan(devices[0].idle_w + devices[0].dynamic_w)) return status;
    status = fmm_machine_measure_powers(t->context, t->run, &options);
    return status || !t->options->store ? status : yoke_run_save(t->run, NULL);
}

/* Costs from the store; what is not there is measured, and the run opened again, which reads it. */
static yoke_status get_machine(fmm_tuner *t)
{
    const double begin_s = yoke_clock_s();
    yoke_status status = open_run(t, t->options->objective, &t->run);
    if (!status) status = fmm_machine_get(t->run, 0, t->options->gradient, &t->machine);
    if (status == YOKE_ERROR_UNAVAILABLE && t->run) {
        yoke_run_destroy(t->run);
        t->run = NULL;
        t->measured_now = 1;
        status = measure_machine(t);
        if (!status) status = open_run(t, t->options->objective, &t->run);
        if (!status && t->options->store) status = fmm_machine_get(t->run, 0, t->options->gradient, &t->machine);
    }
    if (!status) status = get_powers(t);
    t->machine_s = yoke_clock_s() - begin_s;
    return status;
}

static yoke_status analyse(fmm_tuner *t, int depth)
{
    return t->analysis ? fmm_analysis_deepen(t->analysis, depth) : fmm_analysis_create(t->particles, depth, &t->analysis);
}

/* All depths from first to last. */
static void predict(const fmm_tuner *t, int order, fmm_choice *choice)
{
    for (int d = choice->first; d <= choice->last; d++) fmm_depth_predict(&t->machine, t->analysis, d, order, &choice->of[d]);
}

static int fastest(const fmm_choice *choice)
{
    int best = choice->first;
    for (int d = choice->first; d <= choice->last; d++)
        if (choice->of[d].predicted.total < choice->of[best].predicted.total) best = d;
    return best;
}

/* Adaptive trees. */
static yoke_status predict_capacities(fmm_tuner *t, int order, fmm_choice *choice)
{
    static const int64_t capacities[] = {32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024};
    choice->num_capacities = sizeof capacities / sizeof capacities[0];
    memcpy(choice->capacity, capacities, sizeof capacities);
    return fmm_capacities_predict(&t->machine, t->analysis, order, t->options->gradient, choice);
}

/* Nonzero: the deepest is the fastest, so that a deeper one may be faster still, and adaptive trees are not faster by far. */
static int deeper_may_be_better(const fmm_choice *choice)
{
    enum { BY_FAR = 2 };
    int best = fastest(choice);
    for (int k = 0; k < choice->num_capacities; k++)
        if (BY_FAR * choice->at[k].predicted.total < choice->of[best].predicted.total) return 0;
    return best == choice->last && choice->last < FMM_MAX_DEPTH && choice->of[best].near_pairs > 0;
}

static yoke_status choose(fmm_tuner *t, int order, fmm_choice *choice)
{
    const int fixed = t->options->depth >= 0;
    choice->first = fixed ? t->options->depth : 0;
    choice->last = fixed ? t->options->depth : fmm_deep_enough(t->particles->count);
    yoke_status status = analyse(t, choice->last);
    if (!status) predict(t, order, choice);
    if (!status && !fixed && t->particles->count > 0) status = predict_capacities(t, order, choice);
    while (!status && !fixed && deeper_may_be_better(choice)) {
        choice->last += choice->last < FMM_MAX_DEPTH - 1 ? 2 : 1;
        status = analyse(t, choice->last);
        if (!status) predict(t, order, choice);
    }
    return status ? status : fmm_choose(t->run, 0, t->options->gradient, &t->machine, choice);
}

yoke_status fmm_tuner_create(yoke_context *context, const fmm_tune_options *options, fmm_tuner **tuner)
{
    fmm_tuner *t = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *t, &t);
    if (status) return status;
    t->context = context;
    t->options = options;
    status = get_machine(t);
    if (status)
        fmm_tuner_destroy(t);
    else
        *tuner = t;
    return status;
}

void fmm_tuner_set_particles(fmm_tuner *t, const fmm_particles *particles)
{
    fmm_analysis_destroy(t->analysis);
    t->analysis = NULL;
    t->particles = particles;
}

void fmm_tuner_destroy(fmm_tuner *t)
{
    if (!t) return;
    fmm_analysis_destroy(t->analysis);
    yoke_run_destroy(t->run);
    yoke_release(t->context, t);
}

yoke_status fmm_tuner_choose(fmm_tuner *t, int order, fmm_tuned *tuned)
{
    fmm_tuned found = {.measured_now = t->measured_now, .machine_s = t->machine_s};
    for (int d = 0; d <= FMM_MAX_DEPTH; d++) found.measured[d] = (fmm_seconds){NAN, NAN, NAN, NAN};
    for (int k = 0; k < FMM_MAX_CAPACITIES; k++) found.measured_at[k] = (fmm_seconds){NAN, NAN, NAN, NAN};
    const int sorts = !t->analysis;
    double begin_s = yoke_clock_s();
    yoke_status status = choose(t, order, &found.choice);
    found.analysis_s = yoke_clock_s() - begin_s;
    if (!status) found.sort_s = t->analysis->sort_s;
    if (sorts) found.analysis_s -= found.sort_s;
    t->machine_s = 0;
    if (!status) *tuned = found;
    return status;
}

fmm_tree *fmm_tuner_take_tree(fmm_tuner *t)
{
    fmm_tree *tree = t->analysis ? t->analysis->tree : NULL;
    if (tree) t->analysis->tree = NULL;
    fmm_analysis_destroy(t->analysis);
    t->analysis = NULL;
    return tree;
}
