/*
 * speed.h - functional performance models (Clarke, sect. 1.3): seconds of a call from measured points, never falling with more units.
 *
 * The speed x / t(x) is linear between points, constant before the first and after the last.  On a segment with speed a + b x the time x
 * / (a + b x) rises if a > 0, is constant if a = 0 and falls if a < 0, so the raw curve rises everywhere exactly if it rises from point
 * to point.  Where it does not rise it is replaced by its running maximum: constant until the curve passes the old maximum again.
 */
#ifndef YOKE_MODEL_SPEED_H
#define YOKE_MODEL_SPEED_H

#include "yoke/yoke.h"

/* From (units, seconds) to the next piece: t = x / (speed + slope (x - units)), or constant. */
typedef struct yoke_speed_piece {
    double units, seconds, speed, slope;
    int flat;
} yoke_speed_piece;

typedef struct yoke_speed {
    int64_t count; /* number of pieces; the first begins at 0 units; the last has constant speed and no end */
    int repaired;  /* nonzero: the points' seconds do not rise from point to point */
    yoke_speed_piece *pieces;
} yoke_speed;

/* The largest number of pieces for num_points points. */
int64_t yoke_speed_most_pieces(int64_t num_points);

/*
 * Fills *speed with pieces written to an array of yoke_speed_most_pieces: points are [num_points][2], units (ascending, > 0) and seconds
 * (> 0).
 */
void yoke_speed_fill(yoke_speed *speed, yoke_speed_piece *pieces, int64_t num_points, const double *points);

/* The same with memory of its own, which yoke_speed_destroy frees.  Errors: ARGUMENT (points outside their contract), MEMORY. */
yoke_status yoke_speed_create(yoke_context *context, int64_t num_points, const double *points, yoke_speed **speed);
void yoke_speed_destroy(yoke_context *context, yoke_speed *speed);

/* t(x), 0 for x <= 0; never falls with x, rounding included. */
double yoke_speed_seconds(const yoke_speed *speed, double units);

/* max{x : t(x) <= seconds} to rounding; 0 if there is none. */
double yoke_speed_units(const yoke_speed *speed, double seconds);

/* The piece on which x > 0 lies (the first of two that meet there). */
int64_t yoke_speed_find(const yoke_speed *speed, double units);

#endif
