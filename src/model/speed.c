#include "model/speed.h"

#include <math.h>

int64_t yoke_speed_most_pieces(int64_t num_points) { return 2 * num_points + 1; }

static void add(yoke_speed *speed, double units, double seconds, double at, double slope, int flat)
{
    /* A piece that begins at the same units as the last one replaces it. */
    if (speed->count > 0 && !(units > speed->pieces[speed->count - 1].units)) speed->count--;
    speed->pieces[speed->count++] = (yoke_speed_piece){.units = units, .seconds = seconds, .speed = at, .slope = slope, .flat = flat};
}

/*
 * Adds the segment from (x, t) to (next_x, next_t), where `most` is the running maximum at x.  Returns that at next_x.  next_x may be
 * infinite if the slope is 0.
 */
static double add_segment(yoke_speed *speed, double x, double at, double slope, double next_x, double next_t, double most)
{
    double t = x / at;
    if (next_t <= most) { /* also if the raw curve falls or is constant */
        add(speed, x, most, at, slope, 1);
        return most;
    }
    double begin = x;
    if (most > t) {
        add(speed, x, most, at, slope, 1);
        double above = 1 - slope * most, passes = above > 0 ? (at - slope * x) * most / above : next_x; /* x / (a + b x) = most */
        begin = fmin(fmax(passes, x), next_x);
        if (!(begin < next_x)) return next_t;
    }
    add(speed, begin, fmax(most, t), at + slope * (begin - x), slope, 0);
    return next_t;
}

void yoke_speed_fill(yoke_speed *speed, yoke_speed_piece *pieces, int64_t num_points, const double *points)
{
    *speed = (yoke_speed){.pieces = pieces};
    double most = points[1];
    add(speed, 0, 0, points[0] / points[1], 0, 0);
    for (int64_t k = 0; k + 1 < num_points; k++) {
        const double *here = points + 2 * k, *next = here + 2;
        double at = here[0] / here[1], slope = (next[0] / next[1] - at) / (next[0] - here[0]);
        if (!(next[1] > here[1])) speed->repaired = 1;
        most = add_segment(speed, here[0], at, slope, next[0], next[1], most);
    }
    const double *last = points + 2 * (num_points - 1);
    add_segment(speed, last[0], last[0] / last[1], 0, INFINITY, INFINITY, most);
}

yoke_status yoke_speed_create(yoke_context *context, int64_t num_points, const double *points, yoke_speed **speed)
{
    if (speed == NULL || points == NULL || num_points < 1) return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_speed_create: no points");
    *speed = NULL;
    for (int64_t k = 0; k < num_points; k++) {
        const double *here = points + 2 * k;
        if (!(here[0] > 0 && isfinite(here[0]) && here[1] > 0 && isfinite(here[1])) || (k > 0 && !(here[0] > here[-2])))
            return yoke_fail(context, YOKE_ERROR_ARGUMENT,
                             "yoke_speed_create: point %lld (%g units, %g s) must have more units than the one before and seconds above 0",
                             (long long)k, here[0], here[1]);
    }
    yoke_speed *made;
    yoke_status status = yoke_allocate(context, 1, sizeof *made, &made);
    if (status != YOKE_OK) return status;
    void *pieces;
    status = yoke_allocate(context, yoke_speed_most_pieces(num_points), sizeof(yoke_speed_piece), &pieces);
    if (status != YOKE_OK) {
        yoke_release(context, made);
        return status;
    }
    yoke_speed_fill(made, pieces, num_points, points);
    *speed = made;
    return YOKE_OK;
}

void yoke_speed_destroy(yoke_context *context, yoke_speed *speed)
{
    if (speed != NULL) yoke_release(context, speed->pieces);
    yoke_release(context, speed);
}

int64_t yoke_speed_find(const yoke_speed *speed, double units)
{
    int64_t low = 0, high = speed->count; /* pieces[low].units < units <= pieces[high].units */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (speed->pieces[middle].units < units)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double yoke_speed_seconds(const yoke_speed *speed, double units)
{
    if (!(units > 0)) return 0;
    int64_t k = yoke_speed_find(speed, units);
    const yoke_speed_piece *piece = &speed->pieces[k];
    if (piece->flat) return piece->seconds;
    double seconds = units / (piece->speed + piece->slope * (units - piece->units));
    /* Rounding must not make it fall where pieces meet. */
    seconds = fmax(seconds, piece->seconds);
    return k + 1 < speed->count ? fmin(seconds, piece[1].seconds) : seconds;
}

double yoke_speed_units(const yoke_speed *speed, double seconds)
{
    if (!(seconds > 0)) return 0;
    int64_t low = 0, high = speed->count; /* pieces[low].seconds <= seconds < pieces[high].seconds */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (speed->pieces[middle].seconds <= seconds)
            low = middle;
        else
            high = middle;
    }
    const yoke_speed_piece *piece = &speed->pieces[low];
    double end = low + 1 < speed->count ? piece[1].units : INFINITY;
    if (piece->flat) return end; /* only if rounding made two pieces begin at the same time */
    double above = 1 - piece->slope * seconds;
    double units = above > 0 ? (piece->speed - piece->slope * piece->units) * seconds / above : end;
    return fmin(fmax(units, piece->units), end);
}
