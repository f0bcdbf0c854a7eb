/* The delay and window that fit steps of the load best. */
#include <math.h>
#include <stdbool.h>

#include "profile/sensor.h"

/* One shape with one delay and window: idle and load follow by linear least squares. */
typedef struct trial {
    double delay_s, window_s, squares;
    double significance; /* of the load, in standard deviations */
    sensor_fit fit;
} trial;

static trial try_values(const sensor_step *steps, int64_t count, yoke_sensor_shape shape, double delay_s, double window_s)
{
    const yoke_sensor sensor = {.shape = shape, .delay_s = delay_s, .window_s = window_s};
    trial t = {.delay_s = delay_s, .window_s = window_s, .squares = INFINITY};
    double n = (double)count, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    for (int64_t i = 0; i < count; i++) {
        double part = sensor_response(&sensor, steps[i].since_on_s) - sensor_response(&sensor, steps[i].since_off_s);
        double watts = steps[i].watts - steps[0].watts; /* near 0, so that squares keep their digits */
        x += part;
        y += watts;
        xx += part * part;
        xy += part * watts;
        yy += watts * watts;
    }
    double spread = xx - x * x / n;
    if (!(spread > 1e-9 * n)) return t;
    t.fit.load_w = (xy - x * y / n) / spread;
    t.fit.idle_w = (y - t.fit.load_w * x) / n + steps[0].watts;
    t.squares = fmax(0, yy - y * y / n - t.fit.load_w * (xy - x * y / n));
    t.fit.residual_w = sqrt(t.squares / n);
    t.significance = t.fit.load_w * sqrt(spread) / t.fit.residual_w;
    return t;
}

enum { COARSE = 24, FINE = 4, ZOOMS = 11 };

/* Searches a grid over all values, then finer and finer grids around the best ones. */
static trial search(const sensor_step *steps, int64_t count, yoke_sensor_shape shape, double delay_most_s, double window_most_s)
{
    trial best = {.squares = INFINITY};
    double delay_step = delay_most_s / COARSE, window_step = window_most_s / COARSE;
    for (int i = 0; i <= COARSE; i++)
        for (int k = 0; k <= COARSE; k++) {
            trial t = try_values(steps, count, shape, i * delay_step, k * window_step);
            if (t.squares < best.squares) best = t;
        }
    for (int zoom = 0; zoom < ZOOMS; zoom++) {
        const trial centre = best;
        delay_step *= 0.5;
        window_step *= 0.5;
        for (int i = -FINE; i <= FINE; i++)
            for (int k = -FINE; k <= FINE; k++) {
                double delay = fmax(0, centre.delay_s + i * 0.5 * delay_step), window = fmax(0, centre.window_s + k * 0.5 * window_step);
                trial t = try_values(steps, count, shape, delay, window);
                if (t.squares < best.squares) best = t;
            }
    }
    return best;
}

/* A step between two readings fits equally well anywhere between them: takes the middle of the delays that fit as well as the best one. */
static void centre_delay(const sensor_step *steps, int64_t count, yoke_sensor_shape shape, trial *best)
{
    const double allowed = best->squares * (1 + 2 / (double)count) + 1e-12;
    double side[2] = {best->delay_s, best->delay_s};
    for (int direction = 0; direction < 2; direction++)
        for (double step = 0.01; step > 1e-6;) {
            double delay = side[direction] + (direction ? step : -step);
            if (delay >= 0 && delay < best->delay_s + 1 && try_values(steps, count, shape, delay, best->window_s).squares <= allowed)
                side[direction] = delay;
            else
                step *= 0.5;
        }
    trial middle = try_values(steps, count, shape, 0.5 * (side[0] + side[1]), best->window_s);
    if (middle.squares <= allowed) *best = middle;
}

yoke_status sensor_fit_steps(yoke_context *context, const sensor_step *steps, int64_t count, double delay_most_s, double window_most_s,
                             yoke_sensor *sensor, sensor_fit *fit)
{
    static const yoke_sensor_shape shapes[] = {YOKE_SENSOR_MEAN, YOKE_SENSOR_HALVES, YOKE_SENSOR_LOW_PASS};
    trial best = {.squares = INFINITY};
    yoke_sensor_shape shape = YOKE_SENSOR_MEAN;
    if (count < 8)
        return yoke_fail(context, YOKE_ERROR_UNAVAILABLE, "too few updates of the sensor to identify it: %lld", (long long)count);
    for (int i = 0; i < 3; i++) {
        trial t = search(steps, count, shapes[i], delay_most_s, window_most_s);
        if (t.squares < 0.97 * best.squares) { /* the first shape is the simplest */
            best = t;
            shape = shapes[i];
        }
    }
    /* Among so many shapes one always fits noise a little; without noise and load the significance is not a number. */
    if (!isfinite(best.squares) || !(best.significance > 12) || !(best.fit.load_w > 0.5 * best.fit.residual_w))
        return yoke_fail(
            context, YOKE_ERROR_UNAVAILABLE,
            "the load does not show in the sensor's readings (%.3g W beside a noise of %.3g W): take another device, or a load "
            "that draws more",
            best.fit.load_w, best.fit.residual_w);
    centre_delay(steps, count, shape, &best);
    sensor->shape = shape;
    sensor->delay_s = best.delay_s;
    sensor->window_s = best.window_s;
    *fit = best.fit;
    return YOKE_OK;
}
