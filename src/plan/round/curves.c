/*
 * curves.c - lower bounds of the seconds of a device's phases, as linear functions of its part of a cut.
 *
 * A device with a part y of a group has at least U y - 1 units of a phase of U units (U y if that is an integer for all units), since both
 * ends of its range are rounded.  Between the corners of its times the seconds are linear, or concave (then the chord is below them), or
 * convex (then a tangent is).
 */
#include <math.h>

#include "base/statistics.h"
#include "plan/round/round.h"

enum { MAX_LINES = 400000, MAX_PIECES = 512, FEWEST_PIECES = 8, MAX_ROWS = 384 };

static int has_copies(const plan_device *device) { return device->copy_per_unit_s > 0 || device->copy_j > 0; }

static int group_of(round_search *search, int cut, const double *weight_sum)
{
    for (int g = 0; g < search->num_groups; g++)
        if (search->groups[g].cut == cut && search->groups[g].weight_sum == weight_sum) return g;
    search->groups[search->num_groups] = (round_group){.cut = cut, .weight_sum = weight_sum, .total = search->work->cut_units[cut] > 0};
    return search->num_groups++;
}

void round_make_groups(round_search *search)
{
    const plan_work *work = search->work;
    int copies = 0;
    for (int i = 0; i < work->num_devices; i++) {
        search->first_level[i] = search->num_levels;
        search->num_levels += work->devices[i].num_levels;
        copies |= has_copies(&work->devices[i]);
    }
    for (int c = 0; c < work->num_cuts; c++) group_of(search, c, NULL);
    for (int p = 0; p < work->num_phases; p++) {
        const plan_phase *phase = &work->phases[p];
        if (phase->units == 0) continue;
        if (phase->cut < 0) {
            search->works[phase->device] = 1;
            continue;
        }
        round_group *group = &search->groups[group_of(search, phase->cut, phase->weight_sum)];
        group->terms[group->num_terms++] = p;
    }
    if (copies) search->groups[0].terms[search->groups[0].num_terms++] = -1;
    search->num_waits = work->num_intervals + (work->copies_before ? 1 : 0);
    const int room = MAX_ROWS / work->num_devices;
    search->num_lines = search->num_waits < room ? search->num_waits : room;
}

/* The line that a wait belongs to; if there are many waits, neighbouring ones share a line. */
static int line_of_wait(const round_search *search, int wait) { return wait * search->num_lines / search->num_waits; }

static int wait_of(const plan_work *work, int term)
{
    return term >= 0 ? work->phases[term].interval : work->copies_before ? work->num_intervals : 0;
}

/* A line in which devices also wait for copies is longer than their work, so it does not bound the seconds of host overhead. */
static void find_overhead_lines(round_search *search)
{
    const plan_work *work = search->work;
    int copies = 0;
    if (!(work->host_overhead_w > 0) || search->limits->objective == YOKE_OBJECTIVE_TIME) return;
    for (int i = 0; i < work->num_devices; i++) copies |= work->devices[i].copy_s > 0 || work->devices[i].copy_per_unit_s > 0;
    for (int l = 0; l < search->num_lines; l++) search->overhead[l] = (char)(!copies || l != line_of_wait(search, wait_of(work, -1)));
}

/* A device with the part y has at least scale y - slack units of the phase. */
typedef struct term_scale {
    double scale, slack;
} term_scale;

static term_scale scale_of(const plan_work *work, int term)
{
    if (term < 0) return (term_scale){(double)work->cut_units[0], 0};
    const plan_phase *phase = &work->phases[term];
    int whole = phase->weight_sum == NULL && phase->units % work->cut_units[phase->cut] == 0;
    return (term_scale){(double)phase->units, whole ? 0 : 1};
}

/* The ends of the linear pieces, from 0 to 1.  Returns their number, at most `most`. */
static int64_t corners_of(const round_search *search, const plan_level *level, const round_group *group, int64_t most, double *corners)
{
    int64_t count = 0, kept = 0;
    corners[count++] = 0;
    corners[count++] = 1;
    for (int k = 0; k < group->num_terms; k++) {
        const int term = group->terms[k];
        const term_scale s = scale_of(search->work, term);
        if (term < 0 || level->times[term].absent) continue;
        const yoke_speed *speed = &level->times[term].speed;
        for (int64_t j = 0; j < (speed->count > 0 ? speed->count : 1); j++) {
            double y = ((speed->count > 0 ? speed->pieces[j].units : 0) + s.slack) / s.scale;
            if (y > 0 && y < 1) corners[count++] = y;
        }
    }
    statistics_sort(corners, count);
    for (int64_t k = 0; k < count; k++)
        if (kept == 0 || corners[k] > corners[kept - 1]) corners[kept++] = corners[k];
    if (kept <= most) return kept;
    for (int64_t k = 0; k < most; k++) corners[k] = corners[k * (kept - 1) / (most - 1)];
    return most;
}

static int64_t corners_room(const plan_level *level, const round_group *group)
{
    int64_t count = 2;
    for (int k = 0; k < group->num_terms; k++)
        if (group->terms[k] >= 0) count += 1 + level->times[group->terms[k]].speed.count;
    return count;
}

/* Seconds of x > 0 units. */
static double seconds_at(const plan_time *time, double x)
{
    if (time->speed.count == 0) return time->start_s + time->per_unit_s * x;
    return time->start_s + time->calls * yoke_speed_seconds(&time->speed, x);
}

/*
 * A linear function that is nowhere above (side -1) or nowhere below (side 1) the seconds of x to y units.  If the times in between are not
 * on one piece, it is the constant time of the fewest units, or of the most.
 */
static void line_of(const plan_time *time, int side, double x, double y, double line[2])
{
    line[0] = line[1] = 0;
    if (time->absent || !(y > 0) || (side < 0 && x < -1e-9 * y)) return; /* there may be no units: no bound */
    x = fmax(x, 0);
    line[0] = seconds_at(time, side < 0 || time->speed.count == 0 ? x : y);
    line[1] = seconds_at(time, side > 0 || time->speed.count == 0 ? y : x);
    if (time->speed.count == 0) return;
    const yoke_speed_piece *piece = &time->speed.pieces[yoke_speed_find(&time->speed, (x + y) / 2)];
    const yoke_speed_piece *end = time->speed.pieces + time->speed.count;
    if (piece->flat || piece->units > x * (1 + 1e-9) || (piece + 1 < end && piece[1].units < y * (1 - 1e-9))) return;
    if (piece->slope == 0 || (piece->slope > 0) == (side < 0)) {
        line[0] = seconds_at(time, x);
        line[1] = seconds_at(time, y);
        return;
    }
    const double middle = (x + y) / 2, speed = piece->speed + piece->slope * (middle - piece->units);
    const double rise = time->calls * (piece->speed - piece->slope * piece->units) / (speed * speed);
    line[0] = seconds_at(time, middle) - rise * (middle - x); /* the tangent */
    line[1] = seconds_at(time, middle) + rise * (y - middle);
}

static void fill_term(const round_search *search, int device, const plan_level *level, int term, round_curve *curve, int64_t k)
{
    const plan_work *work = search->work;
    const plan_device *of = &work->devices[device];
    const term_scale s = scale_of(work, term);
    const int at = line_of_wait(search, wait_of(work, term));
    const double from = curve->corners[k], to = curve->corners[k + 1];
    double below[2] = {of->copy_per_unit_s * s.scale * from, of->copy_per_unit_s * s.scale * to}, above[2] = {below[0], below[1]};
    double joules[2] = {of->copy_j * s.scale * from, of->copy_j * s.scale * to};
    if (term >= 0) {
        const plan_time *time = &level->times[term];
        line_of(time, -1, s.scale * from - s.slack, s.scale * to - s.slack, below);
        if (curve->above != NULL) line_of(time, 1, s.scale * from + s.slack, s.scale * to + s.slack, above);
        for (int end = 0; end < 2; end++)
            joules[end] = time->absent || search->limits->objective == YOKE_OBJECTIVE_TIME ? 0 : time->dynamic_w * below[end];
    }
    for (int end = 0; end < 2; end++) {
        curve->joules[2 * k + end] += joules[end];
        curve->seconds[(2 * k + end) * search->num_lines + at] += below[end];
        if (curve->above != NULL) curve->above[(2 * k + end) * search->num_lines + at] += above[end];
    }
}

static yoke_status make_curve(round_search *search, int device, const plan_level *level, const round_group *group, int64_t most,
                              round_curve *curve)
{
    yoke_context *context = search->work->context;
    const int overhead = search->work->devices[device].host && search->work->host_overhead_w > 0;
    double *corners = NULL;
    yoke_status status = yoke_allocate_untouched(context, corners_room(level, group), sizeof *corners, &corners);
    if (status != YOKE_OK) return status;
    curve->corners = corners;
    curve->count = corners_of(search, level, group, most + 1, corners) - 1;
    const int64_t ends = 2 * curve->count;
    status = yoke_allocate(context, ends, sizeof(double), &curve->joules);
    if (status == YOKE_OK) status = yoke_allocate(context, ends * search->num_lines, sizeof(double), &curve->seconds);
    if (status == YOKE_OK && overhead) status = yoke_allocate(context, ends * search->num_lines, sizeof(double), &curve->above);
    for (int64_t k = 0; k < curve->count && status == YOKE_OK; k++)
        for (int j = 0; j < group->num_terms; j++) fill_term(search, device, level, group->terms[j], curve, k);
    return status;
}

/* Seconds in each line, and joules, of the set-up and of those phases that the device does alone. */
static void fill_alone(round_search *search, int device, const plan_level *level, double *alone)
{
    const plan_work *work = search->work;
    alone[line_of_wait(search, wait_of(work, -1))] += work->devices[device].copy_s;
    for (int p = 0; p < work->num_phases; p++) {
        if (work->phases[p].cut >= 0 || work->phases[p].device != device || level->times[p].absent) continue;
        const double seconds = plan_time_s(&level->times[p], work->phases[p].units);
        alone[line_of_wait(search, wait_of(work, p))] += seconds;
        if (seconds > 0 && search->limits->objective != YOKE_OBJECTIVE_TIME)
            alone[search->num_lines] += level->times[p].dynamic_w * seconds;
    }
}

yoke_status round_make_curves(round_search *search)
{
    const plan_work *work = search->work;
    int64_t most = MAX_LINES / ((int64_t)search->num_levels * (work->num_phases + 1));
    most = most > MAX_PIECES ? MAX_PIECES : most < FEWEST_PIECES ? FEWEST_PIECES : most;
    find_overhead_lines(search);
    yoke_status status =
        yoke_allocate(work->context, (int64_t)search->num_levels * search->num_groups, sizeof *search->curves, &search->curves);
    for (int i = 0; i < work->num_devices && status == YOKE_OK; i++)
        for (int l = 0; l < work->devices[i].num_levels; l++) {
            fill_alone(search, i, &work->devices[i].levels[l], search->alone + (search->first_level[i] + l) * (search->num_lines + 1));
            for (int g = 0; g < search->num_groups && status == YOKE_OK; g++)
                if (search->groups[g].total > 0)
                    status = make_curve(search, i, &work->devices[i].levels[l], &search->groups[g], most,
                                        &search->curves[(search->first_level[i] + l) * search->num_groups + g]);
        }
    return status;
}
