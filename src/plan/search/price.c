/*
 * price.c - bounds by a price of a unit (Lagrange), for linear levels.
 *
 * With a price p of a unit every choice with makespan tau costs at least
 *   L(tau) = p n + base tau + sum over devices of the least over their states of [idle tau + start + (unit - p) units],
 * where a device has all units that fit into tau if a unit costs less than p, and otherwise its fewest units.  The term of each state is
 * bounded below by a line in tau (the units that fit grow linearly up to the most units), so the sum of the least lines is concave, and L
 * over a range of makespans is least at one of its ends.  With a second time the same holds for a rectangle and its corners.  A device then
 * has two limits, and any weighted mean of them is a valid limit; the weight is chosen so that it balances the cost of the second time
 * (node->tight, second_w).
 */
#include <math.h>

#include "plan/search/range.h"

enum { MAX_CORNERS = 4 };

/*
 * Values at the corners of the ranges of makespan (bit 0: the high end) and second time (bit 1); two corners if there is only one makespan.
 */
typedef struct corners {
    double at[MAX_CORNERS];
} corners;

typedef struct pricing {
    const range_search *search;
    range_node *node;
    int count; /* number of corners */
    double price;
    corners time, waited;            /* T, and the time for which host overhead is counted */
    corners sum;                     /* L */
    corners least[PLAN_MAX_DEVICES]; /* the least over the states of a device, at each corner */
} pricing;

int range_can_price(const range_search *search) { return search->work->linear && search->limits->objective != YOKE_OBJECTIVE_TIME; }

/* A linear function of one of the two times: (time - offset) rate. */
typedef struct fit {
    int second;
    double offset, rate;
} fit;

/* Units that fit into the makespan and into the second time.  Returns the number of limits, 1 or 2. */
static int fits_of(const range_search *search, const plan_device *device, const plan_level *level, fit fits[2])
{
    if (search->second == RANGE_COPIES) {
        fits[0] = (fit){0, level->times->start_s, 1 / level->times->per_unit_s};
        if (!(device->copy_per_unit_s > 0)) return 1;
        fits[1] = (fit){1, device->copy_s, 1 / device->copy_per_unit_s};
        return 2;
    }
    fits[0] = (fit){0, level->offset_s, level->rate};
    if (search->second != RANGE_ACCELERATORS || device->host) return 1;
    fits[1] = (fit){1, level->times->start_s, 1 / level->times->per_unit_s};
    return 2;
}

static double fit_at(const range_node *node, const fit *f, int corner)
{
    double time = f->second ? (corner & 2 ? node->high[1] : node->low[1]) : (corner & 1 ? node->high[0] : node->low[0]);
    return (time - f->offset) * f->rate;
}

/* Upper bounds of the units at the corners: the limit, or weighted mean of the limits, that is chosen. */
static void units_above(const pricing *p, int i, const fit fits[2], int limits, double gain, corners *units)
{
    const range_node *node = p->node;
    int last = p->count - 1;
    double most = (double)node->most[i], weight = 0;
    double middle[2];
    for (int k = 0; k < limits; k++) middle[k] = (fit_at(node, &fits[k], 0) + fit_at(node, &fits[k], last)) / 2;
    double lowest = middle[0];
    if (limits == 2 && i == node->tight) {
        weight = fmin(1, node->second_w / (gain * fits[1].rate));
        lowest = (1 - weight) * middle[0] + weight * middle[1];
    } else if (limits == 2 && middle[1] < middle[0]) {
        weight = 1;
        lowest = middle[1];
    }
    for (int c = 0; c < p->count; c++) {
        units->at[c] = most;
        if (!(lowest < most)) continue;
        units->at[c] = (1 - weight) * fit_at(node, &fits[0], c);
        if (weight > 0) units->at[c] += weight * fit_at(node, &fits[1], c);
    }
}

/* Joules of a level at the corners.  Returns 0 if the level cannot do the fewest units. */
static int level_line(const pricing *p, const plan_level *level, int i, corners *joules)
{
    const range_search *search = p->search;
    const range_node *node = p->node;
    fit fits[2];
    int limits = fits_of(search, &search->work->devices[i], level, fits);
    double least = node->least[i] > 0 ? (double)node->least[i] : 1,
           overhead_w = i == node->leader ? node->overhead_part * search->host_overhead_w : 0;
    for (int k = 0; k < limits; k++)
        if (fit_at(node, &fits[k], p->count - 1) * (1 + 1e-14) < least) return 0;
    double start = level->start_j - overhead_w * level->times->start_s,
           unit = level->unit_j - overhead_w * level->times->per_unit_s - p->price;
    corners units = {{least, least, least, least}};
    if (unit < 0) units_above(p, i, fits, limits, -unit, &units);
    for (int c = 0; c < p->count; c++)
        joules->at[c] = level->idle_w * p->time.at[c] + overhead_w * p->waited.at[c] + start + unit * units.at[c];
    return 1;
}

static int price_device(pricing *p, int i)
{
    const plan_device *device = &p->search->work->devices[i];
    const range_node *node = p->node;
    corners *least = &p->least[i], joules;
    for (int c = 0; c < p->count; c++) least->at[c] = node->least[i] == 0 ? device->parked_w * p->time.at[c] : INFINITY;
    for (int k = node->first_level[i]; k <= node->last_level[i] && node->most[i] > 0; k++) {
        if (!range_has(node, i, k) || !level_line(p, &device->levels[k], i, &joules)) continue;
        for (int c = 0; c < p->count; c++) least->at[c] = fmin(least->at[c], joules.at[c]);
    }
    if (isinf(least->at[0])) return 0;
    for (int c = 0; c < p->count; c++) p->sum.at[c] += least->at[c];
    return 1;
}

static double value_of(const pricing *p, double joules, double seconds)
{
    plan_cost cost = {.time_s = seconds, .energy_j = joules};
    return plan_objective_value(p->search->limits->objective, &cost);
}

/* A lower bound of the objective over the ranges: a positive concave function times a power of T is least at a corner. */
static double bound_of(const pricing *p, const corners *rest, const corners *joules)
{
    double bound = INFINITY;
    for (int c = 0; c < p->count; c++) {
        double all = rest->at[c] + joules->at[c];
        if (p->search->limits->objective != YOKE_OBJECTIVE_ENERGY && !(all > 0)) return 0;
        bound = fmin(bound, value_of(p, all, p->time.at[c]));
    }
    return bound;
}

/* Removes states with which the bound is not below the best value. */
static void drop(pricing *p, double enough)
{
    range_node *node = p->node;
    for (int i = 0; i < p->search->work->num_devices; i++) {
        const plan_device *device = &p->search->work->devices[i];
        corners rest, joules;
        int left = 0;
        if (node->most[i] == 0) continue;
        for (int c = 0; c < p->count; c++) rest.at[c] = p->sum.at[c] - p->least[i].at[c];
        for (int k = node->first_level[i]; k <= node->last_level[i]; k++) {
            if (!range_has(node, i, k)) continue;
            if (level_line(p, &device->levels[k], i, &joules) && bound_of(p, &rest, &joules) < enough)
                left++;
            else if (k < 64)
                node->dropped[i] |= UINT64_C(1) << k;
            else
                left++;
        }
        for (int c = 0; c < p->count; c++) joules.at[c] = device->parked_w * p->time.at[c];
        if (left == 0)
            node->most[i] = 0;
        else if (node->least[i] == 0 && bound_of(p, &rest, &joules) >= enough)
            node->least[i] = 1;
    }
}

/*
 * The least value at the fraction `part` of the range of time s, counted from its low end; with a second time, at both ends of the other
 * range.
 */
static double value_across(const pricing *p, int s, double part)
{
    double least = INFINITY;
    int step = 1 << s, other = p->count == 4 ? (s ? 1 : 2) : 0;
    for (int k = 0; k < (other ? 2 : 1); k++) {
        int low = k * other, high = low + step;
        double joules = p->sum.at[low] + part * (p->sum.at[high] - p->sum.at[low]);
        double time = p->time.at[low] + part * (p->time.at[high] - p->time.at[low]);
        if (p->search->limits->objective != YOKE_OBJECTIVE_ENERGY && !(joules > 0)) return 0;
        least = fmin(least, value_of(p, joules, time));
    }
    return least;
}

/* Removes the end of a range at which the value interpolated between the corners is not below the best. */
static void cut(const pricing *p, int s, double enough, double *low, double *high)
{
    *low = p->node->low[s];
    *high = p->node->high[s];
    int low_above = value_across(p, s, 0) >= enough;
    if (low_above == (value_across(p, s, 1) >= enough) || !(*high > *low)) return;
    double above = low_above ? 0 : 1, below = 1 - above;
    for (int step = 0; step < 24; step++) { /* the value crosses `enough` once */
        double middle = above + (below - above) / 2;
        if (value_across(p, s, middle) >= enough)
            above = middle;
        else
            below = middle;
    }
    double wide = *high - *low;
    if (low_above)
        *low += above * wide;
    else
        *high -= (1 - above) * wide;
}

static void set_corners(pricing *p)
{
    const range_node *node = p->node;
    const range_search *search = p->search;
    double fixed = search->work->base_w, n = (double)search->work->units;
    p->count = search->second == RANGE_ONE ? 2 : 4;
    for (int c = 0; c < p->count; c++) {
        double makespan = c & 1 ? node->high[0] : node->low[0], second = c & 2 ? node->high[1] : node->low[1];
        p->time.at[c] = makespan + (search->second == RANGE_COPIES ? second : 0);
        p->waited.at[c] = search->second == RANGE_ACCELERATORS ? second : makespan;
        p->sum.at[c] = p->price * n + fixed * p->time.at[c];
        if (node->leader == RANGE_NO_HOST) p->sum.at[c] += search->host_overhead_w * p->waited.at[c];
    }
}

int range_price(const range_search *search, range_node *node, double price)
{
    pricing p = {.search = search, .node = node, .price = price};
    set_corners(&p);
    for (int i = 0; i < search->work->num_devices; i++)
        if (!price_device(&p, i)) return 0;
    double enough = search_enough(search->best), bound = bound_of(&p, &p.sum, &(corners){{0}});
    if (bound > node->bound) {
        node->bound = bound;
        node->price = price;
    }
    if (node->bound >= enough) return 0;
    if (isinf(enough)) return 1;
    drop(&p, enough);
    double low[2], high[2];
    int times = p.count / 2;
    for (int s = 0; s < times; s++) cut(&p, s, enough, &low[s], &high[s]);
    for (int s = 0; s < times; s++) {
        node->low[s] = low[s];
        node->high[s] = high[s];
    }
    return 1;
}
