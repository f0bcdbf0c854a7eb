#include "share/share.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A round takes about so long, so that devices are balanced again and a user can interrupt; at most, where fewer units than are good would take less. */
static const double round_s = 2, longest_s = 6;

typedef struct device {
    yoke_device *device; /* NULL: not in use */
    yoke_queue *queue;
    yoke_event *marks[2];
    int opened, failed;
    char why[DENSE_WHY];
    int64_t first, last; /* in this round */
    int done;
} device;

struct dense_sharing {
    yoke_context *context;
    yoke_run *run;
    const dense_kernel *kernel;
    dense_shared *shared;
    const yoke_run_device *list;
    int count;
    device device[DENSE_MAX_DEVICES];
    dense_range *left; /* units that are to be done; the last range is the next */
    int64_t ranges, room;
    const yoke_assignment *assignment;
    double rate;                       /* units a second in the latest round; 0: not known */
    int unknown;                       /* nonzero: some device was never measured */
    int growth;                        /* rounds of all devices so far, with those that are not needed */
    int alone;                         /* the device that the round is for alone; -1: it is for all */
    int64_t beside[DENSE_MAX_DEVICES]; /* units of each in the latest round of all */
    yoke_run_decision decision;        /* of that */
    int tried[DENSE_MAX_DEVICES];      /* nonzero: it had a round alone */
    int64_t done;
};

/* ------------------------------------------------------------------------------------------------- failures */

/* Where the status says that the device cannot go on, this is kept, and the result is OK. */
static yoke_status note(dense_sharing *s, int i, yoke_status status)
{
    device *d = &s->device[i];
    if (status != YOKE_ERROR_DEVICE && status != YOKE_ERROR_DEVICE_MEMORY) return status;
    if (!d->failed) snprintf(d->why, sizeof d->why, "%s", yoke_last_error(s->context));
    d->failed = 1;
    return YOKE_OK;
}

static yoke_status get_devices(dense_sharing *s)
{
    int64_t count = 0;
    yoke_status status = yoke_run_devices(s->run, &s->list, &count);
    if (!status && count > DENSE_MAX_DEVICES)
        return yoke_fail(s->context, YOKE_ERROR_UNAVAILABLE, "%lld devices; there may be %d at most", (long long)count, DENSE_MAX_DEVICES);
    if (!status) s->count = (int)count;
    return status;
}

static yoke_status take_out(dense_sharing *s)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < s->count && !status; i++) {
        if (!s->device[i].failed || !s->list[i].active) continue;
        if (s->shared) s->shared->part[i].failed = s->device[i].opened;
        status = yoke_run_fail(s->run, i, s->device[i].why);
        if (!status) status = get_devices(s);
    }
    return status;
}

/* -------------------------------------------------------------------------------------------------- opening */

static yoke_status open_device(dense_sharing *s, int i)
{
    device *d = &s->device[i];
    const dense_kernel *k = s->kernel;
    if (!s->list[i].accelerator && k->no_host) return yoke_fail(s->context, YOKE_ERROR_UNAVAILABLE, "%s", k->no_host);
    d->device = s->list[i].device;
    yoke_status status = yoke_queue_create(d->device, 0, &d->queue);
    for (int m = 0; m < 2 && !status; m++) status = yoke_event_create(d->device, &d->marks[m]);
    if (!status && !s->list[i].accelerator && k->ready) status = yoke_queue_call(d->queue, k->ready, k->user, 0);
    if (!status && s->list[i].accelerator) {
        d->opened = 1;
        status = k->open(k->user, i, d->device, d->queue);
    }
    if (!status) d->opened = 1;
    return status;
}

static yoke_status open_all(dense_sharing *s)
{
    yoke_status status = get_devices(s);
    for (int i = 0; i < s->count && !status; i++) {
        if (!s->list[i].active) continue;
        status = open_device(s, i);
        if (status == YOKE_ERROR_INPUT || status == YOKE_ERROR_UNAVAILABLE) status = YOKE_ERROR_DEVICE; /* it cannot do this work */
        status = note(s, i, status);
    }
    return status ? status : take_out(s);
}

static void close_all(dense_sharing *s)
{
    for (int i = 0; i < s->count; i++) {
        device *d = &s->device[i];
        if (!d->device) continue;
        yoke_queue_destroy(d->queue);
        for (int m = 0; m < 2; m++) yoke_event_destroy(d->marks[m]);
        if (d->opened && s->list[i].accelerator) s->kernel->close(s->kernel->user, i);
    }
}

/* --------------------------------------------------------------------------------------------------- a round */

static yoke_status push(dense_sharing *s, int64_t first, int64_t last)
{
    if (first >= last) return YOKE_OK;
    yoke_status status = yoke_grow(s->context, &s->left, s->ranges, &s->room, 8, sizeof *s->left);
    if (!status) s->left[s->ranges++] = (dense_range){first, last};
    return status;
}

/* What models count for so many units. */
static int64_t weigh(const dense_kernel *kernel, int64_t units) { return kernel->weight ? units * kernel->weight : units; }

/* Nonzero: all devices that may work were measured at such sizes. */
static int is_known(const dense_sharing *s, int64_t units)
{
    yoke_prediction call;
    for (int i = 0; i < s->count; i++)
        if (s->list[i].active && yoke_run_predict(s->run, s->kernel->work, i, (double)weigh(s->kernel, units), NAN, 0, &call) != YOKE_OK)
            return 0;
    return 1;
}

/* Predicted seconds of so many units on the device, while the others rest or beside them; NaN: not known.  *uncertain (or NULL) is NaN where that is only guessed. */
static double predict_s(const dense_sharing *s, int i, int64_t units, int beside, double *uncertain)
{
    yoke_prediction call;
    if (!s->list[i].active || yoke_run_predict(s->run, s->kernel->work, i, (double)weigh(s->kernel, units), NAN, beside, &call) != YOKE_OK)
        return NAN;
    if (uncertain) *uncertain = call.seconds_uncertainty;
    return call.seconds;
}

/*
 * The device of which nobody knows how fast it is while the others rest, neither by trial nor by what it loses beside them, and that may be the best one alone: the
 * fastest beside the others.  If it loses something, then also those that take less than twice as long.  -1: none.
 */
static int find_worth_trial(const dense_sharing *s)
{
    static const double hopeless = 2, clearly = 0.02;
    const int64_t units = s->kernel->units;
    double beside_s[DENSE_MAX_DEVICES], least_s = INFINITY;
    int told = 0, lost = 0, found = -1;
    for (int i = 0; i < s->count; i++) {
        double uncertain = NAN;
        const double alone_s = predict_s(s, i, units, 0, &uncertain), all_s = predict_s(s, i, units, 1, NULL);
        least_s = fmin(least_s, all_s);
        told = told || !isnan(uncertain);
        lost = lost || (!isnan(uncertain) && alone_s < (1 - clearly) * all_s);
        beside_s[i] = isnan(uncertain) && !s->tried[i] ? all_s : (double)NAN;
    }
    for (int i = 0; i < s->count; i++)
        if (beside_s[i] < (found < 0 ? hopeless * least_s : beside_s[found])) found = i;
    return told && !lost ? -1 : found;
}

static int count_active(const dense_sharing *s)
{
    int active = 0;
    for (int i = 0; i < s->count; i++) active += s->list[i].active;
    return active;
}

/* Rounds of all devices, of a few units, that tell how fast they are: all together, a few units, four times as many.  Then speeds are known. */
enum { FIRST_ROUND, FEW_ROUND, LARGER_ROUND, KNOWN };

/*
 * The device that does as many units alone now as it did beside the others: so devices that use the same cores or the same memory are found out before most of the
 * work is done.  -1: none.
 */
static int next_alone(dense_sharing *s)
{
    const dense_range *r = &s->left[s->ranges - 1];
    if (s->growth != LARGER_ROUND || count_active(s) < 2 || s->decision == YOKE_RUN_FIXED) return -1;
    const int i = find_worth_trial(s);
    if (i < 0 || s->beside[i] == 0 || r->last - r->first <= 2 * s->beside[i]) return -1;
    s->tried[i] = 1;
    return i;
}

static dense_range take(dense_sharing *s, int64_t units)
{
    dense_range *r = &s->left[s->ranges - 1];
    const dense_range taken = {r->first, r->first + units};
    r->first += units;
    if (r->first >= r->last) s->ranges--;
    return taken;
}

/*
 * Of the units that are left, those of this round.  Where a device was never measured the first round has a unit for each: one that is much slower than the others
 * keeps them waiting only so long.  The next ones are larger, as speeds depend on the size.  Between them devices work alone: one that loses more beside the others than
 * they bring is to do all.  One device alone has a first round only where all takes long.
 */
static dense_range next_range(dense_sharing *s)
{
    const dense_range *r = &s->left[s->ranges - 1];
    const int64_t all = r->last - r->first, few = s->kernel->units / 16 < 1 ? 1 : s->kernel->units / 16;
    const int active = count_active(s);
    int64_t units = all, least = 4 * active;
    if (s->alone >= 0) return take(s, s->beside[s->alone]);
    if (s->growth == FIRST_ROUND && active > 1)
        units = least = active;
    else if (s->growth <= FEW_ROUND && (active > 1 || all > 32 * s->kernel->first_units))
        units = s->growth == FIRST_ROUND && s->kernel->first_units < few ? s->kernel->first_units : few;
    else if (s->growth == LARGER_ROUND && s->unknown && active > 1)
        units = 4 * few;
    s->growth++;
    const double wanted = fmax(round_s * s->rate, fmin((double)s->kernel->good_units, longest_s * s->rate));
    if (s->rate > 0 && (double)units > wanted) units = (int64_t)wanted;
    if (units < least) units = least;
    return take(s, units > all - all / 8 ? all : units); /* no small rest */
}

static yoke_status plan(dense_sharing *s, dense_range taken)
{
    const dense_kernel *k = s->kernel;
    const int64_t units = taken.last - taken.first;
    int64_t most[DENSE_MAX_DEVICES];
    const yoke_phase phase = {.work = k->work, .calls = 1, .cut = 0, .units = weigh(k, units), .barrier = 1};
    for (int i = 0; i < s->count; i++) {
        most[i] = s->list[i].active && s->list[i].accelerator && k->most_units ? k->most_units(k->user, i) : INT64_MAX;
        if (s->alone >= 0 && s->alone != i) most[i] = 0;
    }
    const yoke_round round = {.num_cuts = 1, .cut_units = &units, .num_phases = 1, .phases = &phase, .max_units = most};
    const double begin_s = yoke_clock_s();
    yoke_status status = yoke_run_plan(s->run, &round, 1, &s->assignment);
    s->shared->plan_s += yoke_clock_s() - begin_s;
    for (int i = 0; i < s->count && !status; i++) {
        s->device[i].first = taken.first + s->assignment->first[0][i];
        s->device[i].last = taken.first + s->assignment->first[0][i + 1];
        s->device[i].done = 0;
    }
    return status;
}

/* Drivers do much at a first launch: it is no measurement.  Its units are done again. */
static yoke_status warm(dense_sharing *s, int i)
{
    device *d = &s->device[i];
    const dense_kernel *k = s->kernel;
    if (!s->list[i].accelerator || d->last <= d->first || s->done > 0 || is_known(s, d->last - d->first)) return YOKE_OK;
    yoke_status status = k->prepare(k->user, i, d->last - d->first);
    if (!status) status = k->start(k->user, i, d->first, d->first + 1);
    yoke_status finished = yoke_queue_finish(d->queue);
    return status ? status : finished;
}

static yoke_status warm_all(dense_sharing *s)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < s->count && !status; i++) status = note(s, i, warm(s, i));
    return status;
}

typedef struct task {
    const dense_kernel *kernel;
    device *device;
} task;

static void work_on_host(void *user)
{
    const task *t = user;
    t->kernel->host(t->kernel->user, t->device->first, t->device->last);
    t->device->done = 1;
}

static yoke_status start_device(dense_sharing *s, int i, task *t)
{
    device *d = &s->device[i];
    const dense_kernel *k = s->kernel;
    yoke_status status = s->list[i].accelerator ? k->prepare(k->user, i, d->last - d->first) : YOKE_OK;
    if (!status) status = yoke_queue_record(d->queue, d->marks[0]);
    if (!status)
        status = s->list[i].accelerator ? k->start(k->user, i, d->first, d->last)
                                        : yoke_queue_call(d->queue, work_on_host, t, weigh(k, d->last - d->first));
    return status ? status : yoke_queue_record(d->queue, d->marks[1]);
}

/* Accelerators first: the calls of a host may keep this thread. */
static yoke_status start_all(dense_sharing *s, task *tasks)
{
    yoke_status status = YOKE_OK;
    for (int host = 0; host < 2; host++)
        for (int i = 0; i < s->count && !status; i++) {
            device *d = &s->device[i];
            tasks[i] = (task){s->kernel, d};
            if (d->last > d->first && !d->failed && s->list[i].accelerator == !host) status = note(s, i, start_device(s, i, &tasks[i]));
        }
    return status;
}

/* Waits for a device, whatever happened: what it works on must stay until then. */
static yoke_status finish_device(dense_sharing *s, int i, double *seconds)
{
    device *d = &s->device[i];
    if (d->last <= d->first) return YOKE_OK;
    yoke_status status = yoke_queue_finish(d->queue);
    if (d->failed) return note(s, i, status);
    if (!status) status = yoke_event_elapsed_s(d->marks[0], d->marks[1], seconds);
    if (!status && s->list[i].accelerator) {
        const double begin_s = yoke_device_clock_s(d->device);
        d->done = 1;
        if (s->kernel->finish) s->kernel->finish(s->kernel->user, i, d->first, d->last);
        *seconds += yoke_device_clock_s(d->device) - begin_s;
    }
    return note(s, i, status);
}

/* --------------------------------------------------------------------------------------------------- sums */

static void add_round(dense_sharing *s, const double *seconds, const yoke_cost *measured)
{
    dense_shared *all = s->shared;
    const yoke_assignment *a = s->assignment;
    dense_round round = {.decision = a->decision, .predicted = a->predicted, .measured = *measured};
    double longest = 0, shortest = INFINITY;
    if (s->alone < 0) s->decision = a->decision;
    for (int i = 0; i < s->count; i++) {
        round.part[i] = (dense_round_part){s->device[i].last - s->device[i].first, a->frequency_hz[i]};
        if (s->alone < 0) s->beside[i] = round.part[i].units;
        if (s->device[i].last <= s->device[i].first) continue;
        round.units += s->device[i].last - s->device[i].first;
        longest = fmax(longest, seconds[i]);
        shortest = fmin(shortest, seconds[i]);
    }
    round.imbalance = longest > shortest ? (longest - shortest) / shortest : 0;
    if (s->alone < 0) s->rate = longest > 0 ? (double)round.units / longest : 0;
    if (all->num_rounds < DENSE_MAX_ROUNDS) all->round[all->num_rounds] = round;
    all->num_rounds++;
    all->predicted_s += round.predicted.time_s;
    all->predicted_j += round.predicted.energy_j;
    all->measured_s += measured->time_s;
    all->measured_j += measured->energy_j;
    if (!isnan(round.predicted.time_s)) {
        all->told_predicted_s += round.predicted.time_s;
        all->told_s += measured->time_s;
    }
    all->kind = a->energy.kind;
    snprintf(all->why_no_energy, sizeof all->why_no_energy, "%s", a->energy.why_not);
}

static void add_range(dense_part *part, int64_t first, int64_t last)
{
    const int told = part->num_ranges >= 1 && part->num_ranges <= DENSE_MAX_RANGES;
    dense_range *latest = told ? &part->range[part->num_ranges - 1] : NULL;
    part->units += last - first;
    if (latest && latest->last == first)
        latest->last = last;
    else if (part->num_ranges++ < DENSE_MAX_RANGES)
        part->range[part->num_ranges - 1] = (dense_range){first, last};
}

/* Powers are those at the frequencies of the round: before the next one is planned. */
static yoke_status add_energies(dense_sharing *s, const double *seconds, double all_s)
{
    yoke_status status = get_devices(s);
    for (int i = 0; i < s->count && !status; i++) {
        const yoke_run_device *of = &s->list[i];
        const double busy_s = s->device[i].last > s->device[i].first ? seconds[i] : 0;
        s->shared->part[i].energy_j += of->idle_w * all_s + (busy_s > 0 ? of->dynamic_w * busy_s : 0);
    }
    snprintf(s->shared->powers, sizeof s->shared->powers, "%s", s->assignment->powers);
    return status;
}

static yoke_status add_parts(dense_sharing *s, const double *seconds)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < s->count && !status; i++) {
        const device *d = &s->device[i];
        if (!d->done) {
            status = push(s, d->first, d->last);
            continue;
        }
        s->done += d->last - d->first;
        add_range(&s->shared->part[i], d->first, d->last);
        if (seconds[i] > 0) s->shared->part[i].seconds += seconds[i];
    }
    return status;
}

static yoke_status work(dense_sharing *s)
{
    double seconds[DENSE_MAX_DEVICES];
    task tasks[DENSE_MAX_DEVICES];
    const yoke_run_report report = {.seconds = seconds};
    yoke_cost measured;
    int any = 0;
    for (int i = 0; i < DENSE_MAX_DEVICES; i++) seconds[i] = NAN;
    yoke_status status = plan(s, next_range(s));
    if (status) return status;
    status = warm_all(s);
    if (!status) status = yoke_run_begin(s->run);
    if (status) return status;
    status = start_all(s, tasks);
    for (int i = 0; i < s->count; i++) {
        yoke_status finished = finish_device(s, i, &seconds[i]);
        if (!status) status = finished;
    }
    if (!status) status = add_parts(s, seconds);
    for (int i = 0; i < s->count; i++) any = any || (s->device[i].failed && s->list[i].active);
    if (any) {
        s->rate = 0;
        for (int i = 0; i < s->count; i++) s->shared->part[i].energy_j = NAN; /* of an abandoned round nobody says what it took */
        return status ? status : take_out(s);
    }
    yoke_status ended = yoke_run_end(s->run, &report, &measured);
    if (!status) status = ended;
    if (!status) add_round(s, seconds, &measured);
    return status ? status : add_energies(s, seconds, measured.time_s);
}

static void tell_parts(dense_sharing *s)
{
    s->shared->num_parts = s->count;
    for (int i = 0; i < s->count; i++) {
        dense_part *part = &s->shared->part[i];
        part->device = s->list[i].info->name;
        part->accelerator = s->list[i].accelerator;
        part->by = s->kernel->by && part->units ? s->kernel->by(s->kernel->user, i, part->accelerator) : "";
        part->why = s->list[i].active ? "" : s->list[i].why;
    }
}

yoke_status dense_sharing_open(yoke_context *context, yoke_run *run, const dense_kernel *kernel, dense_sharing **sharing)
{
    dense_sharing *s = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *s, &s);
    if (status) return status;
    s->context = context;
    s->run = run;
    s->kernel = kernel;
    status = yoke_run_work(run, kernel->work, kernel->texts, kernel->num_texts);
    if (status == YOKE_ERROR_ARGUMENT) status = YOKE_OK; /* the run has done such work before */
    if (!status) status = open_all(s);
    if (status)
        dense_sharing_close(s);
    else
        *sharing = s;
    return status;
}

yoke_status dense_sharing_do(dense_sharing *s, dense_shared *shared)
{
    const dense_kernel *kernel = s->kernel;
    *shared = (dense_shared){.num_parts = 0};
    s->shared = shared;
    s->done = 0;
    s->rate = 0;
    s->ranges = 0;
    s->alone = -1;
    memset(s->tried, 0, sizeof s->tried);
    yoke_status status = push(s, 0, kernel->units);
    s->unknown = !status && !is_known(s, kernel->units);
    s->growth = s->unknown ? FIRST_ROUND : !status && count_active(s) > 1 && find_worth_trial(s) >= 0 ? FEW_ROUND : KNOWN;
    while (!status && s->ranges > 0) {
        s->alone = next_alone(s);
        status = work(s);
        if (!status && kernel->progress.call) status = kernel->progress.call(kernel->progress.user, s->done, kernel->units);
    }
    tell_parts(s);
    return status;
}

void dense_sharing_close(dense_sharing *s)
{
    if (!s) return;
    close_all(s);
    yoke_release(s->context, s->left);
    yoke_release(s->context, s);
}

yoke_status dense_share(yoke_context *context, yoke_run *run, const dense_kernel *kernel, dense_shared *shared)
{
    dense_sharing *sharing = NULL;
    *shared = (dense_shared){.num_parts = 0};
    yoke_status status = dense_sharing_open(context, run, kernel, &sharing);
    if (!status) status = dense_sharing_do(sharing, shared);
    dense_sharing_close(sharing);
    return status;
}
