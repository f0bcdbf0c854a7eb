#include "meter/track.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The period of a meter if it is not known: the longest that is documented for any counter. */
static const double unknown_period_s = 0.1;
/* The window of a power meter if it is not known: NVIDIA's averages over one second are the longest. */
static const double unknown_window_s = 1;
/* The time after which an unchanged reading of hardware that always draws power is a fault. */
static const double stuck_s = 1;
/* The longest time between readings of power; changes within a longer time are unknown. */
static const double gap_s = 1;
/* Shorter suspensions are within the jitter of reading two clocks. */
static const double suspended_least_s = 0.01;
/* The shortest time between readings, which limits the load on the machine. */
static const double interval_least_s = 1e-3;
/* The relative uncertainty that messages on short regions suggest. */
static const double wanted = 0.1;

static double known(double value, double otherwise) { return isnan(value) ? otherwise : value; }

static double longer(double a, double b) { return a > b ? a : b; }

/* ---------------------------------------------------------------------------------------------- the meter */

/* Whether a number is NaN or in [least, most]. */
static int sane(double value, double least, double most) { return isnan(value) || (value >= least && value <= most); }

int meter_track_check(const meter_domain *domain, char why[METER_WHY_BYTES])
{
    const yoke_meter_info *info = &domain->info;
    const char *wrong = NULL;
    if (domain->read == NULL)
        wrong = "it cannot be read";
    else if (!(domain->most_w > 0 && domain->most_w <= 1e9))
        wrong = "the maximum power of its hardware makes no sense";
    else if (!sane(info->period_s, 0, 3600) || !sane(domain->window_s, 0, 3600))
        wrong = "its update period or window makes no sense";
    else if (!sane(info->gain_error, 0, 10) || !sane(domain->quantum_w, 0, 1e9) || !sane(info->resolution_j, 0, 1e9))
        wrong = "its resolution or error makes no sense";
    else if (domain->quantity == METER_COUNTER && !(domain->unit_j > 0 && domain->unit_j <= 1e9))
        wrong = "the unit of its counter makes no sense";
    if (wrong != NULL) {
        snprintf(why, METER_WHY_BYTES, "%s", wrong);
        return 0;
    }
    double wrap_s = (double)domain->range * domain->unit_j / domain->most_w;
    if (domain->quantity == METER_COUNTER && domain->range != 0 && wrap_s < 4 * interval_least_s) {
        snprintf(why, METER_WHY_BYTES, "its counter starts again every %.3g s at %.4g W, which is faster than it can be read", wrap_s,
                 domain->most_w);
        return 0;
    }
    return 1;
}

void meter_track_period(meter_track *track, double period_s) { track->period_s = period_s; }

void meter_track_start(meter_track *track, const meter_domain *domain)
{
    const yoke_meter_info *info = &domain->info;
    int reads_power = domain->quantity == METER_POWER;
    *track = (meter_track){
        .quantity = domain->quantity,
        .source = info->source,
        .always_moves = domain->always_moves,
        .range = domain->range,
        .unit_j = known(domain->unit_j, 0),
        .most_w = domain->most_w,
        .period_s = known(info->period_s, domain->quantity == METER_ENERGY ? 0 : unknown_period_s),
        .window_s = reads_power ? known(domain->window_s, unknown_window_s) : 0,
        .quantum_w = known(domain->quantum_w, 0),
        .gain_error = known(info->gain_error, 0),
    };
    track->resolution_j =
        longer(known(info->resolution_j, 0), domain->quantity == METER_COUNTER ? domain->unit_j : 0); /* the display may be finer */
    track->wrap_j = (double)domain->range * track->unit_j;
}

double meter_track_interval_s(const meter_track *track)
{
    double interval = INFINITY;
    if (track->quantity == METER_COUNTER && track->range != 0) interval = track->wrap_j / (2 * track->most_w);
    if (track->quantity == METER_COUNTER && track->always_moves) interval = fmin(interval, longer(stuck_s, track->period_s));
    /* Twice per period, so that no update is missed. */
    if (track->quantity == METER_POWER) interval = fmin(0.5 * track->period_s, 0.5 * gap_s);
    return longer(interval, interval_least_s);
}

/* ------------------------------------------------------------------------------------------------- sums */

static void add_counts(meter_counts *sum, uint64_t counts)
{
    sum->low += counts;
    if (sum->low < counts) sum->high++;
}

static double counts_between(meter_counts from, meter_counts to)
{
    uint64_t high = to.high - from.high - (to.low < from.low ? 1 : 0);
    return (double)high * 0x1p64 + (double)(to.low - from.low);
}

/* Kahan summation (1965). */
static void add_energy(meter_track *track, double energy_j)
{
    double next = energy_j - track->energy_rest_j;
    double sum = track->energy_j + next;
    track->energy_rest_j = (sum - track->energy_j) - next;
    track->energy_j = sum;
}

double meter_track_total_j(const meter_track *track)
{
    if (track->quantity != METER_COUNTER) return track->energy_j - track->energy_rest_j;
    return counts_between((meter_counts){0, 0}, track->counts) * track->unit_j;
}

/* ------------------------------------------------------------------------------------------------- faults */

static void fault(meter_track *track, const char *format, ...) YOKE_PRINTF(2, 3);

static void fault(meter_track *track, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(track->fault, sizeof track->fault, format, arguments);
    va_end(arguments);
    track->faults++;
}

/* After a fault the energy so far is unknown: the track starts again with this sample. */
static void begin_again(meter_track *track, const meter_sample *sample)
{
    track->last = *sample;
    track->moved_s = track->recent_s = sample->time_s;
    track->recent_j = meter_track_total_j(track);
    track->recent_w = 0;
    track->stuck = 0;
}

/* ", after 3 failed readings (EIO)", or "". */
static void failures_text(const meter_track *track, char text[128])
{
    text[0] = '\0';
    if (track->failed > 0) snprintf(text, 128, ", after %lld failed readings (%.60s)", (long long)track->failed, track->failure);
}

static void note_movement(meter_track *track, const meter_sample *sample, int moved)
{
    if (moved) {
        track->moved_s = sample->time_s;
        track->stuck = 0;
        return;
    }
    if (!track->always_moves || sample->time_s - track->moved_s < longer(stuck_s, 5 * track->period_s)) return;
    track->stuck = 1;
    fault(track, "stuck: it has shown the same for %.3g s, though such hardware always draws power", sample->time_s - track->moved_s);
}

static void note_power(meter_track *track, double time_s)
{
    double seconds = time_s - track->recent_s;
    if (seconds <= 0 || seconds < track->period_s) return;
    double total_j = meter_track_total_j(track);
    track->recent_w = (total_j - track->recent_j) / seconds;
    track->recent_j = total_j;
    track->recent_s = time_s;
}

/* --------------------------------------------------------------------------------------------- quantities */

static void take_counter(meter_track *track, const meter_sample *sample)
{
    double seconds = sample->time_s - track->last.time_s;
    uint64_t range = track->range, now = sample->count, before = track->last.count;
    char failures[128];
    failures_text(track, failures);
    if (range != 0 && now > range) {
        fault(track, "the counter shows %llu, beyond its range of %llu", (unsigned long long)now, (unsigned long long)range);
        return;
    }
    uint64_t counts = now - before;
    if (range != 0 && now < before) counts += range; /* both wrap at 2^64, which cancels */
    double energy_j = (double)counts * track->unit_j;
    /*
     * The largest energy that the hardware can have used since then, including a late update.  A small step back of a counter with a small
     * range is not a wrap.
     */
    double slack_s = 2 * track->period_s + 0.1;
    if (range != 0) slack_s = fmin(slack_s, longer(track->period_s, track->wrap_j / track->most_w / 4));
    if (energy_j > track->most_w * (seconds + slack_s) + 2 * track->unit_j) {
        if (now < before)
            fault(track, "the counter stepped back by %.6g J, which is no wrap%s", (double)(before - now) * track->unit_j, failures);
        else
            fault(track, "the counter jumped by %.6g J in %.3g s, more than %.4g W%s", energy_j, seconds, track->most_w, failures);
        begin_again(track, sample);
        return;
    }
    if (range != 0 && energy_j + track->wrap_j <= track->most_w * (seconds + track->period_s)) {
        fault(
            track,
            "ambiguous: it was not read for %.4g s, in which the counter may have started again more than once (every %.4g s at %.4g W)%s",
            seconds, track->wrap_j / track->most_w, track->most_w, failures);
        begin_again(track, sample);
        return;
    }
    add_counts(&track->counts, counts);
    note_movement(track, sample, counts != 0);
    track->last = *sample;
}

static int bad_power(meter_track *track, double power_w)
{
    if (power_w >= 0 && power_w <= track->most_w) return 0;
    fault(track, "absurd: it shows %.6g W, expected 0 to %.4g W", power_w, track->most_w);
    return 1;
}

static void take_power(meter_track *track, const meter_sample *sample)
{
    double seconds = sample->time_s - track->last.time_s;
    if (bad_power(track, sample->power_w)) return;
    if (seconds > longer(gap_s, 10 * track->period_s)) {
        char failures[128];
        failures_text(track, failures);
        fault(track, "no reading for %.4g s: the power between is not known%s", seconds, failures);
        begin_again(track, sample);
        return;
    }
    double change_w = fabs(sample->power_w - track->last.power_w);
    add_energy(track, 0.5 * (sample->power_w + track->last.power_w) * seconds);
    /*
     * The power changes at an unknown time between two readings.  If the window is shorter than the period, the sensor also misses changes
     * between windows.
     */
    double unseen = track->period_s > 0 && track->window_s < track->period_s ? 1 - track->window_s / track->period_s : 0;
    track->between_j += 0.5 * change_w * (unseen * longer(seconds, track->period_s) + (1 - unseen) * longer(0, seconds - track->period_s));
    note_movement(track, sample, change_w != 0 || sample->power_w != 0);
    track->last = *sample;
}

static void take_energy(meter_track *track, const meter_sample *sample)
{
    double energy_j = sample->energy_j - track->last.energy_j;
    if (!(energy_j >= 0) || isinf(energy_j)) {
        fault(track, "absurd: its energy went from %.9g J to %.9g J", track->last.energy_j, sample->energy_j);
        begin_again(track, sample);
        return;
    }
    add_energy(track, energy_j);
    note_movement(track, sample, energy_j != 0);
    track->last = *sample;
}

/* ------------------------------------------------------------------------------------------------ samples */

static void take_first(meter_track *track, const meter_sample *sample, double suspended_s)
{
    track->suspended_s = suspended_s;
    if (track->quantity == METER_POWER && bad_power(track, sample->power_w)) return;
    if (track->quantity == METER_COUNTER && track->range != 0 && sample->count > track->range) {
        fault(track, "the counter shows %llu, beyond its range of %llu", (unsigned long long)sample->count,
              (unsigned long long)track->range);
        return;
    }
    track->started = 1;
    begin_again(track, sample);
}

/* Whether the clock makes the numbers useless: it stepped back, or the machine was suspended.  If so, records a fault. */
static int time_is_wrong(meter_track *track, const meter_sample *sample, double suspended_s)
{
    double suspended = suspended_s - track->suspended_s;
    if (!isfinite(sample->time_s) || sample->time_s < track->last.time_s)
        fault(track, "the clock went from %.9g s to %.9g s", track->last.time_s, sample->time_s);
    else if (suspended > suspended_least_s)
        fault(track, "the machine was suspended for %.4g s: what it took is not known, and the meter may have started again", suspended);
    else
        return 0;
    return 1;
}

static void note_failure(meter_track *track, meter_result result, const char *why)
{
    if (track->gone) return;
    snprintf(track->failure, sizeof track->failure, "%s", why[0] != '\0' ? why : "no reason given");
    track->failed++;
    if (result != METER_GONE) return;
    track->gone = 1;
    fault(track, "lost: %.240s", track->failure);
}

void meter_track_sample(meter_track *track, meter_result result, const meter_sample *sample, double suspended_s, const char *why)
{
    if (result != METER_READ || track->gone) {
        note_failure(track, result, why);
        return;
    }
    if (!track->started)
        take_first(track, sample, suspended_s);
    else if (time_is_wrong(track, sample, suspended_s))
        begin_again(track, sample);
    else {
        switch (track->quantity) {
        case METER_COUNTER:
            take_counter(track, sample);
            break;
        case METER_POWER:
            take_power(track, sample);
            break;
        case METER_ENERGY:
            take_energy(track, sample);
            break;
        }
        note_power(track, sample->time_s);
    }
    track->suspended_s = suspended_s;
    track->failed = 0;
}

/* ------------------------------------------------------------------------------------------------ regions */

void meter_track_mark(const meter_track *track, meter_mark *mark)
{
    *mark = (meter_mark){
        .valid = track->started && track->failed == 0,
        .stuck = track->stuck,
        .time_s = track->last.time_s,
        .took_s = track->last.took_s,
        .recent_w = track->recent_w,
        .counts = track->counts,
        .energy_j = track->energy_j,
        .energy_rest_j = track->energy_rest_j,
        .between_j = track->between_j,
        .faults = track->faults,
    };
}

/* Sets the reason why there is no value. */
static void no_value(yoke_energy *energy, const char *format, ...) YOKE_PRINTF(2, 3);

static void no_value(yoke_energy *energy, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(energy->why_not, sizeof energy->why_not, format, arguments);
    va_end(arguments);
    energy->value_j = energy->uncertainty_j = NAN;
    energy->kind = YOKE_ENERGY_NONE;
}

/* Whether a fault from the mark to the latest sample leaves no value. */
static int fault_between(const meter_track *track, const meter_mark *mark, yoke_energy *energy)
{
    if (track->faults != mark->faults || (mark->stuck && track->faults > 0))
        no_value(energy, "fault: %.240s", track->fault);
    else if (track->gone)
        no_value(energy, "fault: %.240s", track->fault);
    else if (!track->started && track->faults > 0)
        no_value(energy, "fault: %.240s", track->fault);
    else if (!mark->valid)
        no_value(energy, "it could not be read when the region began: %.180s", track->failure);
    else if (track->failed > 0)
        no_value(energy, "it could not be read when the region ended: %.180s", track->failure);
    else
        return 0;
    return 1;
}

/* Whether the region is shorter than the time resolution of the meter. */
static int too_short(const meter_track *track, double seconds, double power_w, yoke_energy *energy)
{
    double resolved_s = longer(track->period_s, track->window_s);
    if (seconds > 0 && seconds >= resolved_s) return 0;
    double enough_s = (track->period_s + track->window_s) / wanted + (track->quantity == METER_COUNTER ? track->period_s : 0);
    if (power_w > 0) enough_s += 2 * track->resolution_j / power_w / wanted;
    if (resolved_s > 0)
        no_value(energy, "too short: %.3g s, and the meter resolves %.3g s; at least %.3g s would be known to %.0f %%", seconds, resolved_s,
                 enough_s, 100 * wanted);
    else
        no_value(energy, "the region has no length on the meter's clock");
    return 1;
}

void meter_track_energy(const meter_track *track, const meter_mark *mark, double seconds, yoke_energy *energy)
{
    *energy = (yoke_energy){.kind = track->source};
    if (fault_between(track, mark, energy)) return;
    double value_j = track->quantity == METER_COUNTER ? counts_between(mark->counts, track->counts) * track->unit_j
                                                      : (track->energy_j - mark->energy_j) - (track->energy_rest_j - mark->energy_rest_j);
    double sampled_s = track->last.time_s - mark->time_s;
    double mean_w = sampled_s > 0 ? value_j / sampled_s : 0;
    if (too_short(track, seconds, mean_w, energy)) return;
    if (value_j == 0 && track->quantity != METER_ENERGY) {
        no_value(energy, "it showed no energy at all in %.3g s: less than it resolves, or it does not work", seconds);
        return;
    }
    double blurred_s = track->period_s + track->window_s + fabs(sampled_s - seconds) + mark->took_s + track->last.took_s;
    /*
     * A counter may lack the energy of one period, which lowers the mean power, too.  The power at both ends may be higher than that of the
     * whole region, as far as it is known.
     */
    double lack_s = track->quantity == METER_COUNTER ? track->period_s : 0;
    double most_mean_w = sampled_s > 2 * lack_s ? value_j / (sampled_s - lack_s) : 2 * mean_w;
    double end_w = longer(most_mean_w, longer(mark->recent_w, track->recent_w));
    if (track->source == YOKE_ENERGY_SIMULATED) end_w = longer(end_w, track->most_w); /* its power is known, and no thread samples it */
    energy->value_j = value_j;
    energy->uncertainty_j = 2 * track->resolution_j + end_w * blurred_s + track->gain_error * value_j + track->quantum_w * seconds +
                            (track->between_j - mark->between_j);
}
