/*
 * front.c - the front of time and energy: energy optima under decreasing deadlines, until none can be met.
 */
#include <math.h>

#include "plan/keep.h"

/* The largest number of choices.  If there are more, their times are spread evenly in ratio. */
enum { MAX_CHOICES = 200 };

typedef struct front {
    plan_work *work;
    plan_request request;
    plan_result results[MAX_CHOICES];
    int count, optimal;
} front;

/* From the least energy to the least time.  Steps are as small as possible, or, if these are too many, of a constant ratio. */
static yoke_status walk(front *f, double min_s, double ratio)
{
    f->count = 0;
    f->optimal = 1;
    double deadline = f->request.deadline_s;
    while (f->count < MAX_CHOICES) {
        plan_request request = f->request;
        request.objective = YOKE_OBJECTIVE_ENERGY;
        request.deadline_s = fmax(deadline, min_s);
        plan_result *result = &f->results[f->count];
        yoke_status status = plan_search(f->work, &request, result);
        if (status != YOKE_OK) return status;
        if (!result->feasible) break;
        f->optimal &= result->optimal;
        f->count++;
        if (result->cost.time_s <= min_s * (1 + 4 * PLAN_ROUNDING)) break;
        deadline = fmin(deadline, result->cost.time_s) * (ratio < 1 ? ratio : 1 - 3 * PLAN_ROUNDING);
    }
    return YOKE_OK;
}

static int reaches(const front *f, double min_s)
{
    return f->count > 0 && f->results[f->count - 1].cost.time_s <= min_s * (1 + 4 * PLAN_ROUNDING);
}

static yoke_status keep(front *f, yoke_plan *plan)
{
    yoke_plan_choice *choices = NULL;
    yoke_status status = plan_keep(f->work, plan, f->count, sizeof *choices, &choices);
    int64_t kept = 0;
    double least_j = INFINITY;
    for (int k = f->count - 1; k >= 0 && status == YOKE_OK; k--) { /* in ascending order of time */
        if (!(f->results[k].cost.energy_j < least_j)) continue;
        least_j = f->results[k].cost.energy_j;
        status = plan_keep_choice(f->work, plan, "front", &f->results[k], &choices[kept++]);
    }
    if (status != YOKE_OK) return status;
    plan->front = choices;
    plan->num_front = kept;
    plan->front_optimal = f->optimal;
    return YOKE_OK;
}

yoke_status plan_front(plan_work *work, const plan_request *request, yoke_plan *plan)
{
    front *f;
    yoke_status status = yoke_allocate(work->context, 1, sizeof *f, &f);
    if (status != YOKE_OK) return status;
    f->work = work;
    f->request = *request;
    plan_request fastest = *request;
    fastest.objective = YOKE_OBJECTIVE_TIME;
    status = plan_search(work, &fastest, &f->results[0]);
    double min_s = f->results[0].cost.time_s;
    if (status == YOKE_OK) status = walk(f, min_s, 1);
    if (status == YOKE_OK && !reaches(f, min_s) && f->count > 0) {
        double longest = f->results[0].cost.time_s;
        status = walk(f, min_s, pow(min_s / longest, 1.0 / (MAX_CHOICES - 8)));
    }
    if (status == YOKE_OK) status = keep(f, plan);
    yoke_release(work->context, f);
    return status;
}
