#include "plan/search/envelope.h"

#include <math.h>
#include <stdlib.h>

double envelope_joules(const plan_device *device, const plan_level *level, const envelope_price *price, int64_t n)
{
    double seconds = plan_work_s(level, n);
    double joules = level->idle_w * price->seconds + level->times->dynamic_w * seconds + device->copy_j * (double)n;
    if (price->host_overhead_w > 0) joules += price->host_overhead_w * fmax(0, price->waited_s - seconds);
    return joules;
}

int64_t envelope_most_points(const plan_level *level) { return level->times->speed.count == 0 ? 3 : 6 * level->times->speed.count; }

/* The cost of a part of a curve: all terms except w are linear in the units. */
typedef struct part {
    const plan_level *level;
    double repetitions, idle_j, copy_j, waited_s, host_overhead_w;
} part;

static double joules_at(const part *p, double units, double seconds)
{
    return p->idle_j + p->level->times->dynamic_w * seconds + p->copy_j * units +
           (p->host_overhead_w > 0 ? p->host_overhead_w * fmax(0, p->waited_s - seconds) : 0);
}

/* From x to y, on one piece of the curve and on one side of waited_s.  `factor` is that of w. */
static int64_t add_part(const part *p, const yoke_speed_piece *piece, double x, double y, envelope_point *points)
{
    double speed_x = piece->speed + piece->slope * (x - piece->units), speed_y = piece->speed + piece->slope * (y - piece->units);
    double start = p->level->times->start_s, seconds_x = start + p->repetitions * (piece->flat ? piece->seconds : x / speed_x);
    double seconds_y = start + p->repetitions * (piece->flat ? piece->seconds : y / speed_y);
    double joules_x = joules_at(p, x, seconds_x), joules_y = joules_at(p, y, seconds_y);
    int64_t count = 0;
    points[count++] = (envelope_point){x, joules_x};
    points[count++] = (envelope_point){y, joules_y};
    if (piece->flat || !(y > x)) return count;
    /* t = x / (a + b x) is convex if b < 0; a negative factor reverses this. */
    double factor =
        p->level->times->dynamic_w - (p->host_overhead_w > 0 && (seconds_x + seconds_y) / 2 <= p->waited_s ? p->host_overhead_w : 0);
    if (!(factor * piece->slope < 0)) return count;
    double a = piece->speed - piece->slope * piece->units;
    double rise_x = factor * p->repetitions * a / (speed_x * speed_x) + p->copy_j,
           rise_y = factor * p->repetitions * a / (speed_y * speed_y) + p->copy_j;
    if (!(rise_y > rise_x)) return count;
    double meet = (joules_y - joules_x + rise_x * x - rise_y * y) / (rise_x - rise_y); /* intersection of the two tangents */
    if (!(meet > x && meet < y)) meet = x + (y - x) / 2;
    double below = fmin(joules_x + rise_x * (meet - x), joules_y - rise_y * (y - meet));
    points[count++] = (envelope_point){meet, below - 1e-15 * fabs(below)};
    return count;
}

static int64_t add_curve(const part *p, int64_t from, int64_t to, envelope_point *points)
{
    const yoke_speed *speed = &p->level->times->speed;
    int64_t count = 0;
    double crossing = INFINITY;
    if (p->host_overhead_w > 0) crossing = yoke_speed_units(speed, (p->waited_s - p->level->times->start_s) / p->repetitions);
    for (int64_t k = yoke_speed_find(speed, (double)from); k < speed->count; k++) {
        const yoke_speed_piece *piece = &speed->pieces[k];
        double x = fmax(piece->units, (double)from), y = k + 1 < speed->count ? fmin(piece[1].units, (double)to) : (double)to;
        if (x > (double)to) break;
        if (crossing > x && crossing < y) {
            count += add_part(p, piece, x, crossing, points + count);
            x = crossing;
        }
        count += add_part(p, piece, x, y, points + count);
    }
    return count;
}

int64_t envelope_add(const plan_work *work, const plan_device *device, const plan_level *level, const envelope_price *price, int64_t from,
                     int64_t to, envelope_point *points)
{
    part p = {.level = level,
              .repetitions = work->repetitions,
              .idle_j = level->idle_w * price->seconds,
              .copy_j = device->copy_j,
              .waited_s = price->waited_s,
              .host_overhead_w = price->host_overhead_w};
    if (level->times->speed.count > 0) return add_curve(&p, from, to, points);
    int64_t count = 0;
    double x = (double)from, y = (double)to;
    points[count++] = (envelope_point){x, joules_at(&p, x, level->times->start_s + level->times->per_unit_s * x)};
    if (to > from) points[count++] = (envelope_point){y, joules_at(&p, y, level->times->start_s + level->times->per_unit_s * y)};
    if (price->host_overhead_w > 0 && level->times->per_unit_s > 0) {
        double crossing = (price->waited_s - level->times->start_s) / level->times->per_unit_s;
        if (crossing > x && crossing < y) points[count++] = (envelope_point){crossing, joules_at(&p, crossing, price->waited_s)};
    }
    return count;
}

static int order_points(const void *left, const void *right)
{
    const envelope_point *a = left, *b = right;
    if (a->units != b->units) return a->units < b->units ? -1 : 1;
    return (a->joules > b->joules) - (a->joules < b->joules);
}

int64_t envelope_hull(envelope_point *points, int64_t count)
{
    if (count > 16)
        qsort(points, (size_t)count, sizeof *points, order_points);
    else
        for (int64_t i = 1; i < count; i++) { /* few points: insertion sort */
            envelope_point moved = points[i];
            int64_t k = i;
            for (; k > 0 && order_points(&moved, &points[k - 1]) < 0; k--) points[k] = points[k - 1];
            points[k] = moved;
        }
    int64_t corners = 0;
    for (int64_t i = 0; i < count; i++) {
        if (corners > 0 && points[i].units == points[corners - 1].units) continue; /* the first of them is the lowest */
        while (corners > 1) {
            const envelope_point *a = &points[corners - 2], *b = &points[corners - 1], *c = &points[i];
            if ((b->joules - a->joules) * (c->units - b->units) < (c->joules - b->joules) * (b->units - a->units)) break;
            corners--;
        }
        points[corners++] = points[i];
    }
    return corners;
}
