/* joint.c - plans of all ranks together (joint.h): the data that enter such a plan, and its consequences for this rank. */
#include <math.h>
#include <string.h>

#include "adapt/distribution/private.h"

static int is_first(const fem_distribution *d) { return app_ranks_number(d->options.ranks) == 0; }

yoke_status fem_distribution_start_joint(fem_distribution *d)
{
    const fem_distribution_options *o = &d->options;
    d->choice_s = d->choice_j = NAN;
    if (app_ranks_count(o->ranks) == 1) return YOKE_OK;
    const int free_shares = isnan(o->gpu_share) && o->use != YOKE_RUN_BOTH && o->policy == YOKE_BALANCE_ADAPTIVE;
    double any[4] = {o->store != NULL, d->plans, d->plans && !free_shares, o->model != NULL};
    app_ranks_max(o->ranks, any, 4); /* the ranks may have different options */
    d->any_store = any[0] > 0;
    d->any_plans = any[1] > 0 && !(any[2] > 0);
    if (!d->any_plans && !(any[3] > 0)) return YOKE_OK;
    return app_joint_create(d->context, o->ranks, &d->joint);
}

int fem_distribution_may_know(const fem_distribution *d)
{
    const int any = d->any_plans || d->any_store || d->options.saved;
    return any && app_ranks_count(d->options.ranks) > 1 && !d->works.fine[0];
}

/* calls: number of products of the next solve.  Writes the model file if it is requested; if `plan` is nonzero, sets d->choice. */
static yoke_status ask(fem_distribution *d, int64_t elements, double calls, int plan)
{
    const fem_distribution_options *o = &d->options;
    const yoke_run_device *list;
    int64_t most[FEM_MAX_DEVICES], count;
    yoke_status status = app_ranks_agree(o->ranks, yoke_run_devices(d->run, &list, &count));
    if (status) return status;
    for (int64_t i = 0; i < count; i++) most[i] = list[i].active ? d->devices->list[i].most_elements : 0;
    const app_joint_question question = {.run = d->run,
                                         .work = d->works.fine,
                                         .units = elements,
                                         .calls = calls,
                                         .max_units = most,
                                         .counts_base = d->counts,
                                         .options = {.objective = o->objective,
                                                     .deadline_s = isnan(o->deadline_s) ? 0 : o->deadline_s,
                                                     .max_slowdown = isnan(o->max_slowdown) ? 0 : o->max_slowdown,
                                                     .power_cap_w = isnan(o->power_cap_w) ? 0 : o->power_cap_w},
                                         .model = o->model};
    return app_joint_plan(d->joint, &question, plan, &d->choice);
}

static yoke_status check_limits(const fem_distribution *d)
{
    const app_joint_choice *c = &d->choice;
    if (!c->known || c->feasible) return YOKE_OK;
    if (!strcmp(c->binding, "power-cap"))
        return yoke_fail(d->context, YOKE_ERROR_INPUT,
                         "--power-cap %g: no choice of devices and frequencies of all ranks keeps it; the least that can be kept is %.4g W",
                         d->options.power_cap_w, c->nearest);
    if (!strcmp(c->binding, "deadline") && is_first(d))
        yoke_log(d->context, YOKE_LOG_WARNING,
                 "the deadline of %.4g s cannot be met for the next step, which takes %.4g s at least; it is solved as fast as possible",
                 d->options.deadline_s, c->nearest);
    return YOKE_OK;
}

yoke_status fem_distribution_joint_shares(fem_distribution *d, int64_t elements, int *found)
{
    const double calls = d->latest_products > 0 ? d->latest_products : d->products.levels[0].products;
    double planned = 0;
    *found = 0;
    yoke_status status = ask(d, elements, calls, 1);
    if (!status) status = app_ranks_agree(d->options.ranks, check_limits(d));
    if (status) return status;
    for (int r = 0; r < app_ranks_count(d->options.ranks); r++) d->share[r] = 0;
    for (int k = 0; k < d->choice.count; k++) {
        d->share[d->choice.rank[k]] += (double)d->choice.units[k];
        planned += (double)d->choice.units[k];
    }
    d->choice.known = d->choice.known && planned > 0;
    *found = d->choice.known;
    return YOKE_OK;
}

yoke_status fem_distribution_take_choice(fem_distribution *d, int64_t local)
{
    app_ranks *ranks = d->options.ranks;
    yoke_status status = YOKE_OK;
    app_ranks_gather(ranks, &local, sizeof local, d->rank_parts);
    if (!d->any_plans) { /* only the model file is requested */
        int64_t elements = 0;
        for (int r = 0; r < app_ranks_count(ranks); r++) elements += d->rank_parts[r];
        return ask(d, elements, d->products.levels[0].products, 0);
    }
    d->choice_s = d->choice_j = NAN;
    if (!d->choice.known) return YOKE_OK;
    status = app_joint_predict(d->joint, &d->choice, d->rank_parts, &d->choice_s, &d->choice_j);
    if (status) return status;
    d->given = app_joint_split(&d->choice, app_ranks_number(ranks), local, d->devices->count, d->given_units);
    for (int i = 0; i < d->devices->count; i++) {
        d->given_hz[i] = NAN;
        d->given &= !d->devices->list[i].failed || !d->given_units[i];
    }
    for (int k = 0; k < d->choice.count; k++)
        if (d->choice.rank[k] == app_ranks_number(ranks)) d->given_hz[d->choice.device[k]] = d->choice.frequency_hz[k];
    return YOKE_OK;
}

yoke_status fem_distribution_wait(fem_distribution *d)
{
    app_ranks *ranks = d->options.ranks;
    if (app_ranks_count(ranks) == 1) return YOKE_OK;
    const double own = yoke_device_clock_s(d->devices->list[0].device) - d->begin_s;
    double most[2] = {own, !d->simulated};
    app_ranks_max(ranks, most, 2); /* real ranks have already waited for each other within the solve */
    return most[1] > 0 || !(most[0] > own) ? YOKE_OK : yoke_machine_sleep(d->context, most[0] - own);
}
