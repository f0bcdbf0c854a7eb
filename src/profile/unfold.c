/* Power over time from means over the sensor's window, with smoothing by cross-validation. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "profile/arithmetic.h"

yoke_status profile_unfold_start(yoke_context *context, int bins, profile_unfold *unfold)
{
    int64_t size = bins + 1;
    void *memory = NULL;
    yoke_status status = yoke_allocate(context, size * size + size, sizeof(double), &memory);
    if (status) return status;
    *unfold = (profile_unfold){.bins = bins, .offset_w = NAN, .matrix = memory, .right = (double *)memory + size * size};
    return YOKE_OK;
}

void profile_unfold_end(yoke_context *context, profile_unfold *unfold)
{
    yoke_release(context, unfold->matrix);
    *unfold = (profile_unfold){0};
}

void profile_unfold_add(profile_unfold *unfold, double *row, double watts, double weight)
{
    int size = unfold->bins + 1;
    if (isnan(unfold->offset_w)) unfold->offset_w = watts;
    watts -= unfold->offset_w;
    row[unfold->bins] = 1;
    for (int i = 0; i < size; i++) {
        if (row[i] == 0) continue;
        for (int k = 0; k < size; k++) unfold->matrix[i * size + k] += weight * row[i] * row[k];
        unfold->right[i] += weight * row[i] * watts;
    }
    unfold->squares += weight * watts * watts;
    unfold->count += 1;
}

void profile_unfold_merge(profile_unfold *into, const profile_unfold *from, double sign)
{
    int64_t size = into->bins + 1;
    if (isnan(into->offset_w)) into->offset_w = from->offset_w;
    into->count += sign * from->count;
    into->squares += sign * from->squares;
    for (int64_t i = 0; i < size * size + size; i++) into->matrix[i] += sign * from->matrix[i]; /* `right` follows in memory */
}

void profile_row_add(double *row, int bins, const yoke_sensor *sensor, double update_s, double start_s, double end_s)
{
    double before = sensor_response(sensor, update_s - start_s);
    if (!(before > 0)) return;
    for (int i = 0; i < bins; i++) {
        double after = sensor_response(sensor, update_s - (start_s + (end_s - start_s) * (i + 1) / bins));
        row[i] += before - after;
        before = after;
    }
}

bool profile_factor(double *a, int size)
{
    for (int i = 0; i < size; i++)
        for (int k = 0; k <= i; k++) {
            double sum = a[i * size + k];
            for (int j = 0; j < k; j++) sum -= a[i * size + j] * a[k * size + j];
            if (k < i)
                a[i * size + k] = sum / a[k * size + k];
            else if (!(sum > 1e-13 * fabs(a[i * size + i])))
                return false;
            else
                a[i * size + i] = sqrt(sum);
        }
    return true;
}

void profile_back_substitute(const double *l, int size, double *x)
{
    for (int i = 0; i < size; i++) {
        for (int k = 0; k < i; k++) x[i] -= l[i * size + k] * x[k];
        x[i] /= l[i * size + i];
    }
    for (int i = size - 1; i >= 0; i--) {
        for (int k = i + 1; k < size; k++) x[i] -= l[k * size + i] * x[k];
        x[i] /= l[i * size + i];
    }
}

typedef struct workspace {
    double *factor, *inverse, *x; /* [size][size], [size][size], [size] */
    double score, freedom, noise;
} workspace;

/* Computes the solution, its degrees of freedom, and the score of cross-validation for one smoothing. */
static bool try_smoothing(const profile_unfold *u, double smoothing, workspace *w)
{
    int size = u->bins + 1;
    double trace = 0, fit = 0;
    memcpy(w->factor, u->matrix, sizeof(double) * (size_t)(size * size));
    for (int i = 1; i + 1 < u->bins; i++) {
        static const double second[3] = {1, -2, 1};
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 3; j++) w->factor[(i - 1 + k) * size + i - 1 + j] += smoothing * second[k] * second[j];
    }
    if (!profile_factor(w->factor, size)) return false;
    memcpy(w->x, u->right, sizeof(double) * (size_t)size);
    profile_back_substitute(w->factor, size, w->x);
    for (int i = 0; i < size; i++) {
        double *column = w->inverse + i * size;
        memset(column, 0, sizeof(double) * (size_t)size);
        column[i] = 1;
        profile_back_substitute(w->factor, size, column);
        for (int k = 0; k < size; k++) trace += column[k] * u->matrix[i * size + k];
        fit -= 2 * w->x[i] * u->right[i];
        for (int k = 0; k < size; k++) fit += w->x[i] * u->matrix[i * size + k] * w->x[k];
    }
    double rest = fmax(0, u->squares + fit), left = u->count - trace;
    if (!(left > 0)) return false;
    w->freedom = trace - 1;
    w->noise = sqrt(rest / left);
    w->score = rest / (left * left);
    return true;
}

static void fill_solution(const profile_unfold *u, const workspace *w, double smoothing, profile_solution *solution)
{
    int size = u->bins + 1;
    double mean = 0;
    for (int i = 0; i < u->bins; i++) {
        solution->power_w[i] = w->x[i];
        solution->error_w[i] = w->noise * sqrt(fmax(0, w->inverse[i * size + i]));
        mean += w->x[i] / u->bins;
    }
    solution->mean_w = mean;
    solution->idle_w = w->x[u->bins] + u->offset_w;
    solution->freedom = w->freedom;
    solution->smoothing = smoothing;
}

enum { SMOOTHINGS = 28 };

yoke_status profile_unfold_solve(yoke_context *context, const profile_unfold *u, double smoothing, profile_solution *solution)
{
    int64_t size = u->bins + 1;
    double scale = 0, best = INFINITY;
    void *memory = NULL;
    yoke_status status = yoke_allocate(context, 2 * size * size + size, sizeof(double), &memory);
    if (status) return status;
    workspace w = {.factor = memory, .inverse = (double *)memory + size * size, .x = (double *)memory + 2 * size * size};
    for (int i = 0; i < u->bins; i++) scale += u->matrix[i * size + i] / u->bins;
    if (isnan(smoothing))
        for (int i = 0; i < SMOOTHINGS; i++) {
            double candidate = scale * pow(10, 6 - 0.4 * i);
            if (!try_smoothing(u, candidate, &w) || !(w.score < best)) continue;
            best = w.score;
            smoothing = candidate;
        }
    if (isnan(smoothing) || !try_smoothing(u, smoothing, &w))
        status = YOKE_ERROR_NUMERIC;
    else
        fill_solution(u, &w, smoothing, solution);
    yoke_release(context, memory);
    if (status) return yoke_fail(context, status, "the readings of the sensor do not determine the power of the runs; make more runs");
    return YOKE_OK;
}
