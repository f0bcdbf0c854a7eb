/*
 * round_price.c - the bound that prices give: each device takes, apart from the others, the level and the parts of least cost less price.
 *
 * With weights m_iw whose sum over devices is 1 for each wait w, T >= sum over i and w of m_iw W_iw = M.  Least time: bound M.  Else with standing power
 * P = base and least idle powers, and T in [A, B]: E >= a M + (P - a) A + rest for 0 <= a <= P, and E >= a M - (a - P) B + rest for a > P.
 */
#include <math.h>

#include "plan/round.h"

/* What a second of M costs, whether joules count, and for how long idle powers above the least are drawn at least. */
typedef struct price_terms {
    double second, joule, idle_s;
} price_terms;

typedef struct price_best {
    double cost, part, seconds;
} price_best;

static void offer_end(const round_piece *piece, double y, const price_terms *terms, double price, price_best *best)
{
    const double at = piece->to > piece->from ? (y - piece->from) / (piece->to - piece->from) : 0;
    const double seconds = piece->seconds[0] + at * (piece->seconds[1] - piece->seconds[0]);
    const double joules = piece->joules[0] + at * (piece->joules[1] - piece->joules[0]);
    const double cost = terms->second * seconds + terms->joule * joules - price * y;
    if (cost < best->cost) *best = (price_best){cost, y, seconds};
}

/* The least over parts from low to high. */
static price_best best_part(const round_curve *curve, const double range[2], const price_terms *terms, double price)
{
    price_best best = {INFINITY, range[0], 0};
    if (range[0] <= 0) best = (price_best){0, 0, 0};
    if (range[1] <= 0) return best;
    int64_t low = 0, high = curve->count; /* pieces[low].from <= range[0] */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (curve->pieces[middle].from <= range[0])
            low = middle;
        else
            high = middle;
    }
    for (int64_t k = low; k < curve->count && curve->pieces[k].from <= range[1]; k++) {
        const round_piece *piece = &curve->pieces[k];
        offer_end(piece, fmax(piece->from, range[0]), terms, price, &best);
        offer_end(piece, fmin(piece->to, range[1]), terms, price, &best);
    }
    return best;
}

/* The least of a device; its level, parts and weighted seconds. */
static double best_state(const round_search *search, const round_node *node, int i, const price_terms *terms, const double *prices,
                         round_relaxed *relaxed, double *seconds)
{
    const plan_device *device = &search->work->devices[i];
    const round_box *box = &search->box;
    const int groups = search->num_groups, devices = search->work->num_devices;
    double least = INFINITY, parts[PLAN_MOST_PHASES + PLAN_MOST_CUTS];
    relaxed->levels[i] = -1;
    if (box->may_be_off[i]) {
        least = terms->joule > 0 ? (device->parked_w - box->idle_w[i]) * terms->idle_s : 0;
        *seconds = 0;
        for (int g = 0; g < groups; g++) relaxed->parts[g * devices + i] = 0;
    }
    for (int l = node->first[i]; l <= node->last[i] && box->may_work[i]; l++) {
        const int number = search->first_level[i] + l;
        if (!box->possible[number]) continue;
        double cost = terms->second * search->alone[2 * number] + terms->joule * search->alone[2 * number + 1],
               works = search->alone[2 * number];
        if (terms->joule > 0) cost += (device->levels[l].idle_w - box->idle_w[i]) * terms->idle_s;
        for (int g = 0; g < groups; g++) {
            if (!(search->groups[g].total > 0)) {
                parts[g] = 0;
                continue;
            }
            const price_best best = best_part(&search->curves[number * groups + g], box->parts[g * devices + i], terms, prices[g]);
            cost += best.cost;
            works += best.seconds;
            parts[g] = best.part;
        }
        if (!(cost < least)) continue;
        least = cost;
        *seconds = works;
        relaxed->levels[i] = l;
        for (int g = 0; g < groups; g++) relaxed->parts[g * devices + i] = parts[g];
    }
    return least;
}

/* The bound at given prices, but for constants. */
static double bound_at(round_search *search, const round_node *node, const price_terms *terms, const double *prices)
{
    round_relaxed *relaxed = &search->relaxed;
    double bound = 0, seconds = 0, size = 0;
    relaxed->seconds = 0;
    for (int g = 0; g < search->num_groups; g++) bound += prices[g] * search->groups[g].total;
    size = bound;
    for (int i = 0; i < search->work->num_devices; i++) {
        const double least = best_state(search, node, i, terms, prices, relaxed, &seconds);
        bound += least;
        size += fabs(least);
        relaxed->seconds += seconds;
    }
    return bound - 1e-14 * size; /* rounding shall not make it too high */
}

static double sum_of_parts(const round_search *search, const double *parts, int g)
{
    double sum = 0;
    for (int i = 0; i < search->work->num_devices; i++) sum += parts[g * search->work->num_devices + i];
    return sum;
}

/* The mean of two rows of parts whose sum is that of the group. */
static void mix(const round_search *search, int g, const double *low, double sum_low, const double *high, double sum_high)
{
    const int devices = search->work->num_devices;
    const double total = search->groups[g].total, apart = sum_high - sum_low;
    const double of_high = apart > 0 ? fmin(1, fmax(0, (total - sum_low) / apart)) : 0;
    for (int i = 0; i < devices; i++) search->relaxed.mixed[g * devices + i] = (1 - of_high) * low[i] + of_high * high[i];
}

/* A cut whose units nothing costs is divided as another group of it, or the same for all. */
static void mix_free(const round_search *search)
{
    const int devices = search->work->num_devices;
    for (int c = 0; c < search->work->num_cuts; c++) {
        double *row = search->relaxed.mixed + c * devices;
        if (search->groups[c].num_terms > 0) continue;
        for (int i = 0; i < devices; i++) row[i] = search->groups[c].total / devices;
        for (int g = search->work->num_cuts; g < search->num_groups; g++)
            if (search->groups[g].cut == c)
                for (int i = 0; i < devices; i++) row[i] = search->relaxed.mixed[g * devices + i];
    }
}

/* The price of one group, the others' being kept: more is taken at a higher price. */
static double find_price(round_search *search, const round_node *node, const price_terms *terms, int g, int effort)
{
    const int devices = search->work->num_devices;
    const double total = search->groups[g].total;
    double *prices = search->prices, low = 0, high = INFINITY, best = -INFINITY, best_price = prices[g];
    double of_low[PLAN_MOST_DEVICES] = {0}, of_high[PLAN_MOST_DEVICES] = {0}, sum_low = 0, sum_high = 0;
    for (int step = 0; step < effort; step++) {
        const double bound = bound_at(search, node, terms, prices), sum = sum_of_parts(search, search->relaxed.parts, g);
        const double *row = search->relaxed.parts + g * devices;
        if (bound > best) {
            best = bound;
            best_price = prices[g];
        }
        const int enough = sum >= total;
        for (int i = 0; i < devices; i++) (enough ? of_high : of_low)[i] = row[i];
        if (enough) {
            high = prices[g];
            sum_high = sum;
        } else {
            low = prices[g];
            sum_low = sum;
        }
        if (sum == total || !(high > low)) break;
        prices[g] = isinf(high) ? (step < 2   ? 1.02
                                   : step < 4 ? 1.2
                                              : 4) *
                                      low
                    : step < 3 ? fmax(low, 0.98 * high)
                    : low > 0  ? sqrt(low * high)
                               : high / 4;
        if (!(prices[g] > low && prices[g] < high)) break;
    }
    mix(search, g, of_low, sum_low, of_high, sum_high > 0 ? sum_high : sum_low);
    prices[g] = best_price;
    return best;
}

static double find_prices(round_search *search, const round_node *node, const price_terms *terms, int effort)
{
    double best = -INFINITY;
    int groups = 0;
    for (int g = 0; g < search->num_groups; g++) groups += search->groups[g].total > 0 && search->groups[g].num_terms > 0;
    for (int round = 0; round < (groups > 1 && effort > 20 ? 3 : 1); round++)
        for (int g = 0; g < search->num_groups; g++)
            if (search->groups[g].total > 0 && search->groups[g].num_terms > 0)
                best = fmax(best, find_price(search, node, terms, g, effort));
    mix_free(search);
    const double last = bound_at(search, node, terms, search->prices); /* leaves levels and seconds of the best prices */
    return fmax(best, last);
}

double round_price(round_search *search, const round_node *node, int effort)
{
    const plan_work *work = search->work;
    if (search->limits->objective == YOKE_OBJECTIVE_TIME) {
        const price_terms terms = {1, 0, 0};
        return find_prices(search, node, &terms, effort) + work->call_s;
    }
    const double standing = search->box.standing_w;
    double best = -INFINITY, low = 0, high = INFINITY, second = standing > 0 ? standing : 1e-9;
    for (int step = 0; step < (effort > 20 ? 8 : 2); step++) {
        const price_terms terms = {second, 1, node->low_s};
        double bound = find_prices(search, node, &terms, effort) + second * work->call_s;
        const double seconds = search->relaxed.seconds + work->call_s;
        if (second <= standing)
            bound += (standing - second) * node->low_s;
        else if (isfinite(node->high_s))
            bound -= (second - standing) * node->high_s;
        else
            break;
        best = fmax(best, bound);
        if (seconds > node->high_s && second >= standing)
            low = second;
        else if (seconds < node->low_s && second <= standing)
            high = second;
        else if (second == standing)
            break;
        else if (second > standing)
            high = second;
        else
            low = second;
        second = isinf(high) ? 2 * low : low > 0 ? sqrt(low * high) : high / 2;
    }
    return best;
}
