#include "tuning.h"

#include <math.h>
#include <string.h>

#include "common/file.h"
#include "common/interrupt.h"
#include "common/options.h"
#include "common/plot.h"
#include "output/explain.h"

static const char *const objectives[] = {"time", "energy", "edp", "ed2p", NULL};

yoke_status fmm_tuning_check(yoke_context *context, const fmm_tuning_words *words)
{
    int objective;
    app_plot_place place;
    yoke_status status = app_option_choice(context, "objective", words->objective, objectives, &objective);
    if (!status && words->plot) status = app_plot_split(context, words->plot, &place);
    if (!status) status = app_file_check(context, words->plot);
    return status || !words->store || !strcmp(words->store, "none") ? status : app_file_check(context, words->store);
}

yoke_status fmm_tuning_objective(yoke_context *context, const fmm_tuning_words *words, yoke_objective *objective)
{
    int number = 0;
    yoke_status status = app_option_choice(context, "objective", words->objective, objectives, &number);
    if (!status) *objective = (yoke_objective)number;
    return status;
}

/* --------------------------------------------------------------------------------------------------- choosing */

struct fmm_tuning {
    app_terminal *terminal;
    yoke_context *context;
    fmm_tune_options options;
    fmm_tuner *tuner;
    bool said;
};

static yoke_status progress(void *user, const char *what)
{
    fmm_tuning *c = user;
    if (!c->said) app_print(c->terminal, "measuring what the method's operations take on this machine, once\n");
    c->said = true;
    app_progress(c->terminal, "measuring %s", what);
    return app_interrupt_check(c->context);
}

const char *fmm_tuning_store(const fmm_tuning_words *words)
{
    if (!words->store) return "";
    return strcmp(words->store, "none") ? words->store : NULL;
}

yoke_status fmm_tuning_open(app_terminal *terminal, const fmm_particles *particles, const fmm_tuning_words *words, int depth, int gradient,
                            fmm_tuning **tuning)
{
    yoke_objective objective = YOKE_OBJECTIVE_TIME;
    fmm_tuning *t = NULL;
    yoke_status status = yoke_allocate(particles->context, 1, sizeof *t, &t);
    if (status) return status;
    t->terminal = terminal;
    t->context = particles->context;
    status = fmm_tuning_objective(t->context, words, &objective);
    t->options = (fmm_tune_options){.objective = objective,
                                    .store = fmm_tuning_store(words),
                                    .declared = words->declared,
                                    .gradient = gradient,
                                    .depth = depth,
                                    .progress = progress,
                                    .user = t};
    if (!status) status = fmm_tuner_create(particles, &t->options, &t->tuner);
    if (status)
        fmm_tuning_close(t);
    else
        *tuning = t;
    return status;
}

void fmm_tuning_close(fmm_tuning *tuning)
{
    if (!tuning) return;
    fmm_tuner_destroy(tuning->tuner);
    yoke_release(tuning->context, tuning);
}

yoke_status fmm_tuning_choose(fmm_tuning *tuning, int order, fmm_tuned *tuned)
{
    app_progress(tuning->terminal, "choosing the tree");
    return fmm_tuner_choose(tuning->tuner, order, tuned);
}

fmm_tree *fmm_tuning_take_tree(fmm_tuning *tuning) { return fmm_tuner_take_tree(tuning->tuner); }

yoke_status fmm_tuning_take(yoke_context *context, int depth, fmm_tuned *tuned)
{
    fmm_choice *choice = &tuned->choice;
    if (depth < choice->first || depth > choice->last)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--depth %d: the depths that may be best are %d to %d; leave --measure-all out", depth,
                         choice->first, choice->last);
    if (choice->adaptive < 0 && depth == choice->depth) return YOKE_OK;
    choice->adaptive = -1;
    choice->depth = depth;
    choice->predicted = (yoke_cost){.time_s = choice->of[depth].predicted.total,
                                    .energy_j = choice->of[depth].predicted_j,
                                    .peak_power_w = NAN,
                                    .time_uncertainty_s = NAN,
                                    .energy_uncertainty_j = NAN};
    return YOKE_OK;
}

/* -------------------------------------------------------------------------------------------------- measuring */

fmm_seconds fmm_tuning_seconds(const fmm_method_seconds *seconds)
{
    fmm_seconds s = {.tree = seconds->tree, .near = seconds->near, .far = seconds->upward + seconds->between + seconds->downward};
    s.total = s.tree + s.near + s.far;
    return s;
}

/* capacity 0: the uniform tree of that depth. */
static yoke_status measure(const fmm_particles *particles, int depth, int64_t capacity, int order, fmm_field *field, fmm_seconds *measured)
{
    const int gradient = field->gx != NULL;
    const fmm_method_options options = {
        .depth = depth, .capacity = capacity, .direct = fmm_method_direct(order, gradient), .gradient = gradient};
    fmm_method *method = NULL;
    fmm_method_seconds seconds;
    yoke_status status = fmm_method_create(particles, &options, &method);
    if (!status) status = fmm_method_set_order(method, order);
    if (!status) status = fmm_method_run(method, particles->charge, field, &seconds);
    if (!status) *measured = fmm_tuning_seconds(&seconds);
    fmm_method_destroy(method);
    return status;
}

yoke_status fmm_tuning_measure(app_terminal *terminal, const fmm_particles *particles, int gradient, fmm_tuned *tuned)
{
    static const double sensible = 4;
    const fmm_choice *choice = &tuned->choice;
    const double chosen_s = fmm_chosen(choice)->predicted.total;
    fmm_field *field = NULL;
    yoke_status status = fmm_field_create(particles->context, particles->count, gradient, &field);
    for (int d = choice->first; d <= choice->last && !status; d++) {
        if ((choice->adaptive < 0 && d == choice->depth) || choice->of[d].predicted.total > sensible * chosen_s) continue;
        app_progress(terminal, "depth %d", d);
        status = measure(particles, d, 0, choice->of[d].order, field, &tuned->measured[d]);
        if (!status) status = app_interrupt_check(particles->context);
    }
    for (int k = 0; k < choice->num_capacities && !status; k++) {
        if (k == choice->adaptive || choice->at[k].predicted.total > sensible * chosen_s) continue;
        app_progress(terminal, "leaves of %lld particles", (long long)choice->capacity[k]);
        status = measure(particles, FMM_MAX_DEPTH, choice->capacity[k], choice->at[k].order, field, &tuned->measured_at[k]);
        if (!status) status = app_interrupt_check(particles->context);
    }
    fmm_field_destroy(field);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- telling */

yoke_status fmm_tuning_show(app_terminal *terminal, yoke_context *context, const fmm_tuning_words *words, double total_s,
                            const fmm_tuned *tuned)
{
    const fmm_choice *choice = &tuned->choice;
    const double measured_s = fmm_chosen_measured(tuned)->total;
    if (words->explain || words->measure_all) fmm_explain_print(terminal, tuned);
    if (choice->last > choice->first && choice->adaptive < 0)
        app_print(terminal, "depth %d chosen of %d to %d, in %.3g s (%.1f %% of all)\n", choice->depth, choice->first, choice->last,
                  tuned->analysis_s, 100 * tuned->analysis_s / total_s);
    if (choice->adaptive >= 0)
        app_print(terminal, "adaptive tree chosen, leaves of at most %lld particles, in %.3g s (%.1f %% of all)\n",
                  (long long)choice->capacity[choice->adaptive], tuned->analysis_s, 100 * tuned->analysis_s / total_s);
    app_print(terminal, "tree and both fields: predicted %.3g s, measured %.3g s (%+.1f %%)", choice->predicted.time_s, measured_s,
              100 * (measured_s / choice->predicted.time_s - 1));
    if (!isnan(choice->predicted.energy_j)) app_print(terminal, "; predicted energy %.4g J", choice->predicted.energy_j);
    app_print(terminal, "\n");
    return words->plot ? fmm_explain_plot(context, words->plot, tuned) : YOKE_OK;
}
