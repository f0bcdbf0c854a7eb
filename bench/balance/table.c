#include "balance/table.h"

#include <math.h>
#include <stdlib.h>

#define NONE NAN

const table_row balance_table[] = {
    /* family, noise, disturbance, devices          p50   p95    p99.9  balanced steps starved */
    {{FAMILY_KNEES, 0.00, DISTURBANCE_NONE, 2, 0, 0}, {NONE, NONE, NONE, 0.999, 3, NONE}},
    {{FAMILY_CLIFF, 0.00, DISTURBANCE_NONE, 2, 0, 0}, {NONE, NONE, NONE, 0.999, 5, NONE}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_NONE, 2, 0, 0}, {NONE, 0.006, 0.025, NONE, NONE, NONE}},
    {{FAMILY_CLIFF, 0.01, DISTURBANCE_NONE, 2, 0, 0}, {NONE, 0.006, 0.025, NONE, NONE, NONE}},
    {{FAMILY_KNEES, 0.03, DISTURBANCE_NONE, 2, 0, 0}, {NONE, 0.017, NONE, NONE, NONE, NONE}},
    {{FAMILY_CLIFF, 0.03, DISTURBANCE_NONE, 2, 0, 0}, {NONE, 0.017, NONE, NONE, NONE, NONE}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_SPIKES, 2, 0, 0}, {NONE, 0.02, NONE, NONE, NONE, 0}},
    {{FAMILY_CLIFF, 0.01, DISTURBANCE_SPIKES, 2, 0, 0}, {NONE, 0.02, NONE, NONE, NONE, 0}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_DRIFT, 2, 0, 0}, {NONE, 0.02, NONE, NONE, NONE, 0}},
    {{FAMILY_CLIFF, 0.01, DISTURBANCE_DRIFT, 2, 0, 0}, {NONE, 0.02, NONE, NONE, NONE, 0}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_NONE, 0, 0, 0}, {NONE, 0.02, NONE, NONE, NONE, 0}},
    {{FAMILY_CLIFF, 0.01, DISTURBANCE_NONE, 0, 0, 0}, {NONE, 0.02, NONE, NONE, NONE, 0}},
    /* Both at once, and growth beyond all known sizes, where knees and cliffs cannot be foreseen: what is asked for is sense. */
    {{FAMILY_KNEES, 0.01, DISTURBANCE_SPIKES, 0, 0, 0}, {NONE, NONE, NONE, NONE, NONE, 0}},
    {{FAMILY_CLIFF, 0.01, DISTURBANCE_SPIKES, 0, 0, 0}, {NONE, NONE, NONE, NONE, NONE, 0}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_DRIFT, 0, 0, 0}, {NONE, NONE, NONE, NONE, NONE, 0}},
    {{FAMILY_CLIFF, 0.01, DISTURBANCE_DRIFT, 0, 0, 0}, {NONE, NONE, NONE, NONE, NONE, 0}},
    {{FAMILY_KNEES, 0.00, DISTURBANCE_GROWTH, 2, 0, 0}, {0.05, NONE, NONE, NONE, NONE, 0}},
    {{FAMILY_CLIFF, 0.00, DISTURBANCE_GROWTH, 2, 0, 0}, {0.10, NONE, NONE, NONE, NONE, 0}},
    {{FAMILY_KNEES, 0.01, DISTURBANCE_GROWTH, 2, 0, 0}, {0.05, NONE, NONE, NONE, NONE, 0}},
    {{FAMILY_CLIFF, 0.01, DISTURBANCE_GROWTH, 2, 0, 0}, {0.10, NONE, NONE, NONE, NONE, 0}},
};
const int balance_table_rows = sizeof balance_table / sizeof balance_table[0];

const char *family_name(family_kind family) { return family == FAMILY_KNEES ? "knees" : "cliff"; }

const char *disturbance_name(disturbance_kind disturbance)
{
    static const char *const names[] = {"none", "spikes", "drift", "growth"};
    return names[disturbance];
}

static int by_excess(const void *left, const void *right)
{
    double a = ((const simulated_pair *)left)->excess, b = ((const simulated_pair *)right)->excess;
    if (isnan(a) || isnan(b)) return isnan(a) - isnan(b); /* not known: at the end */
    return (a > b) - (a < b);
}

static int by_number(const void *left, const void *right)
{
    int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

/* The index of a quantile of so many sorted values: the least that at least this part is not above. */
static int64_t at_quantile(double part, int64_t count)
{
    int64_t at = (int64_t)ceil(part * (double)count) - 1;
    return at < 0 ? 0 : at;
}

figures table_figures(simulated_pair *pairs, int64_t count)
{
    figures f = {NAN, NAN, NAN, NAN, NAN, 0};
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
           !(reached->starved > goal->starved);
}
