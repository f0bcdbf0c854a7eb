#include "balance/table.h"

#include <math.h>
#include <stdlib.h>

#define NONE NAN

const table_row balance_table[] = {
    /* family, noise, disturbance, devices, factor  p50   p95    p99.9  balanced steps starved next */
    {{FAMILY_KNEES, 0.00, DISTURBANCE_NONE, 2, 0, 0, 0}, {NONE, NONE, NONE, 0.999, 3, NONE, NONE}},
    {{FAMILY_CLIFF, 0.00, DISTURBANCE_NONE, 2, 0, 0, 0}, {NONE, NONE, NONE, 0.999, 5, NONE, NONE}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_NONE, 2, 0, 0, 0}, {NONE, 0.006, 0.025, NONE, NONE, NONE, NONE}},
    {{FAMILY_CLIFF, 0.01, DISTURBANCE_NONE, 2, 0, 0, 0}, {NONE, 0.006, 0.025, NONE, NONE, NONE, NONE}},
    {{FAMILY_KNEES, 0.03, DISTURBANCE_NONE, 2, 0, 0, 0}, {NONE, 0.010, NONE, NONE, NONE, NONE, NONE}},
    {{FAMILY_CLIFF, 0.03, DISTURBANCE_NONE, 2, 0, 0, 0}, {NONE, 0.017, NONE, NONE, NONE, NONE, NONE}},
    {{FAMILY_KNEES, 0.10, DISTURBANCE_NONE, 2, 0, 0, 0}, {NONE, 0.040, NONE, NONE, NONE, NONE, NONE}},
    {{FAMILY_KNEES, 0.20, DISTURBANCE_NONE, 2, 0, 0, 0}, {NONE, 0.090, NONE, NONE, NONE, NONE, NONE}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_SHARED, 2, 0, 0, 0}, {0.025, 0.10, NONE, NONE, NONE, NONE, NONE}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_SPIKES, 2, 0, 0, 0}, {NONE, 0.02, NONE, NONE, NONE, 0, NONE}},
    {{FAMILY_CLIFF, 0.01, DISTURBANCE_SPIKES, 2, 0, 0, 0}, {NONE, 0.02, NONE, NONE, NONE, 0, NONE}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_DRIFT, 2, 0, 0, 0}, {NONE, 0.02, NONE, NONE, NONE, 0, NONE}},
    {{FAMILY_CLIFF, 0.01, DISTURBANCE_DRIFT, 2, 0, 0, 0}, {NONE, 0.02, NONE, NONE, NONE, 0, NONE}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_NONE, 0, 0, 0, 0}, {NONE, 0.02, NONE, NONE, NONE, 0, NONE}},
    {{FAMILY_CLIFF, 0.01, DISTURBANCE_NONE, 0, 0, 0, 0}, {NONE, 0.02, NONE, NONE, NONE, 0, NONE}},
    /*
     * Two disturbances at once, and growth beyond all measured sizes, where knees and cliffs cannot be predicted: only reasonable behaviour
     * is required.
     */
    {{FAMILY_KNEES, 0.01, DISTURBANCE_SPIKES, 0, 0, 0, 0}, {NONE, NONE, NONE, NONE, NONE, 0, NONE}},
    {{FAMILY_CLIFF, 0.01, DISTURBANCE_SPIKES, 0, 0, 0, 0}, {NONE, NONE, NONE, NONE, NONE, 0, NONE}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_DRIFT, 0, 0, 0, 0}, {NONE, NONE, NONE, NONE, NONE, 0, NONE}},
    {{FAMILY_CLIFF, 0.01, DISTURBANCE_DRIFT, 0, 0, 0, 0}, {NONE, NONE, NONE, NONE, NONE, 0, NONE}},
    {{FAMILY_KNEES, 0.00, DISTURBANCE_GROWTH, 2, 0, 0, 0}, {0.05, NONE, NONE, NONE, NONE, 0, NONE}},
    {{FAMILY_CLIFF, 0.00, DISTURBANCE_GROWTH, 2, 0, 0, 0}, {0.10, NONE, NONE, NONE, NONE, 0, NONE}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_GROWTH, 2, 0, 0, 0}, {0.05, NONE, NONE, NONE, NONE, 0, NONE}},
    {{FAMILY_CLIFF, 0.01, DISTURBANCE_GROWTH, 2, 0, 0, 0}, {0.10, NONE, NONE, NONE, NONE, 0, NONE}},
    /* Abrupt changes: the required values are those reached by eq. 26, which forgets everything after each round. */
    {{FAMILY_KNEES, 0.01, DISTURBANCE_CHANGE, 2, 10, 0, 0}, {0.012, 0.040, NONE, NONE, NONE, 0, 0.095}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_CHANGE, 2, 1.5, 0, 0}, {0.008, 0.019, NONE, NONE, NONE, 0, 0.029}},
    {{FAMILY_KNEES, 0.03, DISTURBANCE_CHANGE, 2, 1.5, 0, 0}, {0.020, 0.036, NONE, NONE, NONE, 0, 0.035}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_CHANGE, 0, 10, 0, 0}, {0.029, 0.182, NONE, NONE, NONE, NONE, 0.205}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_CHANGE, 0, 1.5, 0, 0}, {0.018, 0.045, NONE, NONE, NONE, NONE, 0.046}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_CHANGES, 0, 10, 0, 0}, {0.035, 0.080, NONE, NONE, NONE, NONE, 0.210}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_SUCCESSION, 2, 10, 0, 0}, {0.022, 0.049, NONE, NONE, NONE, NONE, 0.095}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_SUCCESSION, 0, 10, 0, 0}, {0.054, 0.192, NONE, NONE, NONE, NONE, 0.224}},
};
const int balance_table_rows = sizeof balance_table / sizeof balance_table[0];

const char *family_name(family_kind family) { return family == FAMILY_KNEES ? "knees" : "cliff"; }

const char *disturbance_name(disturbance_kind disturbance)
{
    static const char *const names[] = {"none", "spikes", "drift", "growth", "shared", "change", "changes", "succession"};
    return names[disturbance];
}

const char *method_name(sharing_method method)
{
    static const char *const names[] = {"adaptive", "paper", "average"};
    return names[method];
}

static int by_excess(const void *left, const void *right)
{
    double a = ((const simulated_pair *)left)->excess, b = ((const simulated_pair *)right)->excess;
    if (isnan(a) || isnan(b)) return isnan(a) - isnan(b); /* unknown values come last */
    return (a > b) - (a < b);
}

static int by_number(const void *left, const void *right)
{
    int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

/* Index of a quantile among `count` sorted values: the smallest one such that at least this part of the values is not above it. */
static int64_t at_quantile(double part, int64_t count)
{
    int64_t at = (int64_t)ceil(part * (double)count) - 1;
    return at < 0 ? 0 : at;
}

figures table_figures(simulated_pair *pairs, int64_t count)
{
    figures f = {NAN, NAN, NAN, NAN, NAN, 0, 0};
    qsort(pairs, (size_t)count, sizeof *pairs, by_excess);
    int64_t known = count, balanced = 0;
    while (known > 0 && isnan(pairs[known - 1].excess)) known--;
    if (known > 0) {
        f.p50 = pairs[at_quantile(0.5, known)].excess;
        f.p95 = pairs[at_quantile(0.95, known)].excess;
        f.p999 = pairs[at_quantile(0.999, known)].excess;
    }
    int *steps = calloc((size_t)count, sizeof *steps);
    for (int64_t k = 0; k < count; k++) {
        balanced += pairs[k].steps >= 0;
        f.starved += pairs[k].starved;
        f.next += pairs[k].next / (double)count;
        if (steps != NULL) steps[k] = pairs[k].steps >= 0 ? pairs[k].steps : SIMULATE_ROUNDS;
    }
    f.balanced = (double)balanced / (double)count;
    if (steps != NULL) {
        qsort(steps, (size_t)count, sizeof *steps, by_number);
        f.steps_p95 = steps[at_quantile(0.95, count)];
    }
    free(steps);
    return f;
}

bool table_met(const figures *reached, const figures *goal, double slack)
{
    return !(reached->p50 > goal->p50 * slack) && !(reached->p95 > goal->p95 * slack) && !(reached->p999 > goal->p999 * slack) &&
           !(1 - reached->balanced > (1 - goal->balanced) * slack) && !(reached->steps_p95 > goal->steps_p95) &&
           !(reached->starved > goal->starved) && !(reached->next > goal->next * slack);
}
