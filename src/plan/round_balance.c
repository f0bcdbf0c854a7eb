/*
 * round_balance.c - choices for a round by the durations of its intervals.
 *
 * Given how long each wait (an interval, or the copies that come before) may last, each device at each level has a capacity: the part of the cut that it ends in time in
 * all of them.  Then levels and parts follow as for a single phase: the largest capacities for least time, else the cheapest by a price of the
 * part.  What is left is a search over few numbers, the durations, by steps that shrink.
 */
#include <math.h>
#include <string.h>

#include "plan/round.h"

enum { MOST_WAITS = PLAN_MOST_PHASES + 1, MOST_STARTS = 4 };

typedef struct balance {
    round_search *search;
    double seconds[MOST_WAITS];
    double *capacities;         /* [levels][cuts], parts */
    int out[PLAN_MOST_DEVICES]; /* nonzero: it gets no units */
    uint64_t random;
    round_trial trial, best;
} balance;

/* Seconds of a device in a wait with the part y of a cut. */
static double seconds_of(const round_search *search, int i, const plan_level *level, int wait, int cut, double y)
{
    const plan_work *work = search->work;
    const plan_device *device = &work->devices[i];
    double sum = 0;
    if (cut == 0 && wait == (work->copies_before ? work->num_intervals : 0))
        sum = device->copy_s + device->copy_per_unit_s * y * (double)work->units;
    for (int p = 0; p < work->num_phases; p++) {
        const plan_phase *phase = &work->phases[p];
        const double units = y * (double)phase->units;
        if (phase->cut != cut || phase->interval != wait || !(units > 0.5)) continue;
        const plan_time *time = &level->times[p];
        if (time->absent) return INFINITY;
        sum += time->start_s + (time->speed.count == 0 ? time->per_unit_s * units : time->calls * yoke_speed_seconds(&time->speed, units));
    }
    return sum;
}

/* The one phase of the cut in a wait, -1: none, -2: several, or copies. */
static int only_phase(const round_search *search, int i, int wait, int cut)
{
    const plan_work *work = search->work;
    const plan_device *device = &work->devices[i];
    int only = -1;
    if (cut == 0 && wait == (work->copies_before ? work->num_intervals : 0) && (device->copy_s > 0 || device->copy_per_unit_s > 0))
        only = -2;
    for (int p = 0; p < work->num_phases; p++)
        if (work->phases[p].cut == cut && work->phases[p].interval == wait && work->phases[p].units > 0) only = only == -1 ? p : -2;
    return only;
}

/* The largest part up to `most` whose seconds in a wait are at most so many. */
static double part_within(const round_search *search, int i, const plan_level *level, int wait, int cut, double seconds, double most)
{
    const int p = only_phase(search, i, wait, cut);
    if (p == -1) return most;
    if (p >= 0) {
        const plan_time *time = &level->times[p];
        const double none = fmin(most, 0.49 / (double)search->work->phases[p].units); /* rounds to no unit */
        if (time->absent || !(seconds > time->start_s)) return none;
        const double left = seconds - time->start_s;
        const double units = time->speed.count == 0 ? left / time->per_unit_s : yoke_speed_units(&time->speed, left / time->calls);
        return fmax(none, fmin(most, units / (double)search->work->phases[p].units));
    }
    if (seconds_of(search, i, level, wait, cut, most) <= seconds) return most;
    double low = 0, high = most;
    for (int step = 0; step < 24; step++) {
        const double middle = low + (high - low) / 2;
        if (seconds_of(search, i, level, wait, cut, middle) <= seconds)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Seconds of a device's own phases in a wait. */
static double alone_seconds(const plan_work *work, int i, const plan_level *level, int wait)
{
    double sum = 0;
    for (int p = 0; p < work->num_phases; p++)
        if (work->phases[p].cut < 0 && work->phases[p].device == i && work->phases[p].interval == wait)
            sum += level->times[p].absent ? INFINITY : plan_time_s(&level->times[p], work->phases[p].units);
    return sum;
}

/* How many cuts have phases in a wait: they get the same time each. */
static int cuts_in(const round_search *search, int wait)
{
    int count = 0;
    for (int c = 0; c < search->work->num_cuts; c++) count += only_phase(search, 0, wait, c) != -1;
    return count > 0 ? count : 1;
}

static void find_capacities(balance *b)
{
    const round_search *search = b->search;
    const plan_work *work = search->work;
    int sharing[MOST_WAITS];
    for (int w = 0; w < search->num_waits; w++) sharing[w] = cuts_in(search, w);
    for (int i = 0; i < work->num_devices; i++)
        for (int l = search->limits->first_level[i]; l <= search->limits->last_level[i]; l++)
            for (int c = 0; c < work->num_cuts; c++) {
                const plan_level *level = &work->devices[i].levels[l];
                const int may = !b->out[i] && (search->limits->allowed == NULL || search->limits->allowed[work->devices[i].given]);
                double part = may && work->cut_units[c] > 0 ? 1 : 0;
                if (c == 0 && part > 0) part = fmin(1, (double)search->limits->most[i] / (double)work->units);
                for (int w = 0; w < search->num_waits && part > 0; w++)
                    part = part_within(search, i, level, w, c, (b->seconds[w] - alone_seconds(work, i, level, w)) / sharing[w], part);
                b->capacities[(search->first_level[i] + l) * work->num_cuts + c] = part;
            }
}

static double *capacity_of(const balance *b, int i, int l)
{
    return b->capacities + (b->search->first_level[i] + l) * b->search->work->num_cuts;
}

/* The level with the largest capacities. */
static int largest(const balance *b, int i)
{
    const search_limits *limits = b->search->limits;
    int best = limits->last_level[i];
    double most = -1;
    for (int l = limits->first_level[i]; l <= limits->last_level[i]; l++) {
        double sum = 0;
        for (int c = 0; c < b->search->work->num_cuts; c++) sum += capacity_of(b, i, l)[c];
        if (sum < most) continue;
        most = sum;
        best = l;
    }
    return best;
}

/* The least sum of a cut's capacities: 1 is enough. */
static double least_sum(const balance *b)
{
    const plan_work *work = b->search->work;
    double least = INFINITY;
    for (int c = 0; c < work->num_cuts; c++) {
        double sum = 0;
        for (int i = 0; i < work->num_devices; i++) sum += capacity_of(b, i, largest(b, i))[c];
        if (work->cut_units[c] > 0) least = fmin(least, sum);
    }
    return least;
}

/* Joules above parked for the whole duration, with the capacities of a level. */
static double joules_of(const balance *b, int i, int l, double seconds)
{
    const plan_work *work = b->search->work;
    const plan_level *level = &work->devices[i].levels[l];
    double sum = (level->idle_w - work->devices[i].parked_w) * seconds;
    for (int p = 0; p < work->num_phases; p++) {
        const plan_phase *phase = &work->phases[p];
        const double units = phase->cut < 0 ? 0 : (double)phase->units * capacity_of(b, i, l)[phase->cut];
        const plan_time *time = &level->times[p];
        if (!(units > 0.5) || time->absent) continue;
        sum += time->dynamic_w * (time->start_s + (time->speed.count == 0 ? time->per_unit_s * units
                                                                          : time->calls * yoke_speed_seconds(&time->speed, units)));
    }
    return sum + work->devices[i].copy_j * (double)work->units * capacity_of(b, i, l)[0];
}

/* The cheapest state of each device at a price of a part; the sum of parts.  Levels become -1 for off. */
static double choose_at(const balance *b, double seconds, double price, int *levels)
{
    const plan_work *work = b->search->work;
    double all = 0;
    for (int i = 0; i < work->num_devices; i++) {
        double least = b->search->works[i] ? INFINITY : 0, own = 0;
        levels[i] = -1;
        for (int l = b->search->limits->first_level[i]; l <= b->search->limits->last_level[i]; l++) {
            double parts = 0;
            for (int c = 0; c < work->num_cuts; c++) parts += capacity_of(b, i, l)[c];
            const double cost = joules_of(b, i, l, seconds) - price * parts;
            if (!(cost < least)) continue;
            least = cost;
            levels[i] = l;
            own = parts;
        }
        all += own;
    }
    return all;
}

static void set_parts(const balance *b, const int *low, const int *high, double of_high)
{
    round_search *search = b->search;
    const int devices = search->work->num_devices;
    for (int c = 0; c < search->work->num_cuts; c++) {
        double sum = 0, *row = search->relaxed.mixed + c * devices;
        for (int i = 0; i < devices; i++) {
            row[i] = (1 - of_high) * (low[i] >= 0 ? capacity_of(b, i, low[i])[c] : 0) +
                     of_high * (high[i] >= 0 ? capacity_of(b, i, high[i])[c] : 0);
            sum += row[i];
        }
        for (int i = 0; i < devices && sum > 0; i++) row[i] /= sum;
        for (int g = search->work->num_cuts; g < search->num_groups; g++)
            if (search->groups[g].cut == c) memcpy(search->relaxed.mixed + g * devices, row, (size_t)devices * sizeof *row);
    }
    for (int i = 0; i < devices; i++) search->relaxed.levels[i] = high[i] >= 0 ? high[i] : low[i];
}

/* Levels and parts of the capacities. */
static void choose(const balance *b)
{
    const plan_work *work = b->search->work;
    int low[PLAN_MOST_DEVICES], high[PLAN_MOST_DEVICES];
    if (b->search->limits->objective == YOKE_OBJECTIVE_TIME) {
        for (int i = 0; i < work->num_devices; i++) low[i] = largest(b, i);
        set_parts(b, low, low, 1);
        return;
    }
    double seconds = work->call_s, enough = 0, below = 0, above = 1e-12, sum_low = 0, sum_high = 0;
    for (int w = 0; w < b->search->num_waits; w++) seconds += b->seconds[w];
    for (int c = 0; c < work->num_cuts; c++) enough += work->cut_units[c] > 0;
    for (int i = 0; i < work->num_devices; i++) {
        low[i] = -1;
        high[i] = largest(b, i);
        for (int c = 0; c < work->num_cuts; c++) sum_high += capacity_of(b, i, high[i])[c];
        above = fmax(above, fabs(joules_of(b, i, high[i], seconds)));
    }
    above *= 1e3; /* then nearly all work */
    for (int step = 0; step < 48; step++) {
        int levels[PLAN_MOST_DEVICES] = {0};
        const double price = below > 0 ? sqrt(below * above) : above * 0.1, sum = choose_at(b, seconds, price, levels);
        memcpy(sum >= enough ? high : low, levels, sizeof levels);
        if (sum >= enough) {
            above = price;
            sum_high = sum;
        } else {
            below = price;
            sum_low = sum;
        }
        if (sum == enough || (below > 0 && above < below * (1 + 1e-9)) || above < 1e-12 * fabs(seconds)) break;
    }
    set_parts(b, low, high, sum_high > sum_low ? fmin(1, fmax(0, (enough - sum_low) / (sum_high - sum_low))) : 1);
}

/* Durations so that the largest capacities are just enough: all are multiplied. */
static void scale(balance *b)
{
    double low = 0, high = INFINITY, factor = 1, given[MOST_WAITS];
    memcpy(given, b->seconds, sizeof given);
    for (int step = 0; step < 60; step++) {
        for (int w = 0; w < b->search->num_waits; w++) b->seconds[w] = factor * given[w];
        find_capacities(b);
        if (least_sum(b) >= 1)
            high = factor;
        else
            low = factor;
        if (high < low * (1 + 1e-7)) break;
        factor = isinf(high) ? 4 * low : low > 0 ? sqrt(low * high) : high / 4;
    }
    if (isinf(high)) high = 1;
    for (int w = 0; w < b->search->num_waits; w++) b->seconds[w] = high * given[w];
}

/* Ranks the durations' choice; nonzero where it is the best so far. */
static int weigh(balance *b)
{
    find_capacities(b);
    if (least_sum(b) < 1 - 1e-9) return 0;
    choose(b);
    round_from_relaxed(b->search, b->trial.units, b->trial.levels);
    round_rank(b->search, &b->trial);
    if (!round_is_better(&b->trial, &b->best)) return 0;
    b->best = b->trial;
    return 1;
}

/* From -1 to 1, the same in each search. */
static double direction(balance *b)
{
    b->random = b->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(b->random >> 11) * 0x1p-52 - 1;
}

/* Random directions, since the least of longest devices has edges along which single steps stay. */
static void search_durations(balance *b)
{
    enum { TRIES = 24 };
    const int waits = b->search->num_waits;
    for (double step = 0.5; step > 5e-4; step /= 2)
        for (int failed = 0; failed < TRIES;) {
            double before[MOST_WAITS];
            memcpy(before, b->seconds, sizeof before);
            const int one = failed < 2 * waits ? failed / 2 : -1;
            for (int w = 0; w < waits; w++) b->seconds[w] *= exp(step * (one < 0 ? direction(b) : w == one ? (failed % 2 ? 1 : -1) : 0));
            if (b->search->limits->objective == YOKE_OBJECTIVE_TIME) scale(b);
            if (weigh(b)) {
                failed = 0;
                continue;
            }
            memcpy(b->seconds, before, sizeof before);
            failed++;
        }
}

/* Each wait's own least duration, whatever the others. */
static void start_durations(balance *b)
{
    const round_search *search = b->search;
    double own[MOST_WAITS];
    for (int w = 0; w < search->num_waits; w++) {
        for (int k = 0; k < search->num_waits; k++) b->seconds[k] = 1e60;
        double low = 0, high = INFINITY, seconds = 1;
        for (int step = 0; step < 120; step++) {
            b->seconds[w] = seconds;
            find_capacities(b);
            if (least_sum(b) >= 1)
                high = seconds;
            else
                low = seconds;
            if (high < low * (1 + 1e-6) || high < 1e-30 || low > 1e40) break;
            seconds = isinf(high) ? 16 * low : low > 0 ? sqrt(low * high) : high / 16;
        }
        own[w] = isinf(high) ? 1e60 : high;
    }
    memcpy(b->seconds, own, (size_t)search->num_waits * sizeof *own);
    scale(b);
}

/* Durations that a search starts from, the best first. */
typedef struct starts {
    int count;
    double seconds[MOST_STARTS][MOST_WAITS];
    round_trial trials[MOST_STARTS];
} starts;

/* What the durations lead to; *best becomes them where that is the best so far. */
static void try_durations(balance *b, const double *seconds, double *best)
{
    memcpy(b->seconds, seconds, (size_t)b->search->num_waits * sizeof *seconds);
    if (b->search->limits->objective == YOKE_OBJECTIVE_TIME) scale(b);
    if (weigh(b)) memcpy(best, b->seconds, (size_t)b->search->num_waits * sizeof *seconds);
}

static void add_start(balance *b, const double *seconds, starts *all)
{
    const round_trial none = {.excess = INFINITY, .value = INFINITY, .time_s = INFINITY};
    double ignored[MOST_WAITS];
    b->best = none;
    try_durations(b, seconds, ignored);
    if (isinf(b->best.value) || (all->count == MOST_STARTS && !round_is_better(&b->best, &all->trials[MOST_STARTS - 1]))) return;
    int at = all->count < MOST_STARTS ? all->count++ : MOST_STARTS - 1;
    for (; at > 0 && round_is_better(&b->best, &all->trials[at - 1]); at--) {
        memcpy(all->seconds[at], all->seconds[at - 1], sizeof all->seconds[0]);
        all->trials[at] = all->trials[at - 1];
    }
    memcpy(all->seconds[at], b->seconds, sizeof all->seconds[0]);
    all->trials[at] = b->best;
}

/* Each wait's own least duration with all of them longer, and each alone longer. */
static void find_starts(balance *b, starts *all)
{
    static const double factors[] = {1.1, 1.25, 1.5, 2, 3, 5, 10};
    double start[MOST_WAITS], seconds[MOST_WAITS];
    const int waits = b->search->num_waits;
    start_durations(b);
    memcpy(start, b->seconds, sizeof start);
    add_start(b, start, all);
    for (size_t k = 0; k < sizeof factors / sizeof factors[0]; k++)
        for (int w = 0; w <= waits; w++) {
            memcpy(seconds, start, sizeof start);
            for (int v = 0; v < waits; v++)
                if (v == w || w == waits) seconds[v] *= factors[k];
            add_start(b, seconds, all);
        }
}

/* Leaves out, or takes in again, the device for which that is best, until none is; durations are searched after each. */
static void search_sets(balance *b, double *best)
{
    const plan_work *work = b->search->work;
    for (int turn = 0; turn <= work->num_devices; turn++) {
        int changed = -1;
        double from[MOST_WAITS];
        memcpy(b->seconds, best, sizeof b->seconds);
        search_durations(b);
        memcpy(from, b->seconds, sizeof from);
        memcpy(best, from, sizeof from);
        for (int i = 0; i < work->num_devices; i++) {
            const round_trial before = b->best;
            b->out[i] = !b->out[i];
            try_durations(b, from, best);
            b->out[i] = !b->out[i];
            if (round_is_better(&b->best, &before)) changed = i;
        }
        if (changed < 0) return;
        b->out[changed] = !b->out[changed];
    }
}

void round_balance(round_search *search)
{
    balance b = {.search = search};
    starts *all = NULL;
    yoke_context *context = search->work->context;
    const int64_t count = (int64_t)search->num_levels * search->work->num_cuts;
    yoke_status status = yoke_allocate(context, count, sizeof *b.capacities, &b.capacities);
    if (status == YOKE_OK) status = yoke_allocate(context, 1, sizeof *all, &all);
    if (status == YOKE_OK) find_starts(&b, all);
    for (int k = 0; status == YOKE_OK && k < all->count; k++) {
        memset(b.out, 0, sizeof b.out);
        b.best = all->trials[k];
        search_sets(&b, all->seconds[k]);
        if (isfinite(b.best.value)) round_improve(search, b.best.units, b.best.levels);
    }
    yoke_release(context, all);
    yoke_release(context, b.capacities); /* without memory: it is only for speed */
}
