#include <math.h>
#include <string.h>

#include "plan/partition/nested.h"

static void drop(nested_model *model, int64_t k)
{
    size_t behind = (size_t)(--model->count - k);
    memmove(model->points[k], model->points[k + 1], behind * sizeof model->points[0]);
    memmove(&model->rounds[k], &model->rounds[k + 1], behind * sizeof model->rounds[0]);
}

static void drop_contradictions(nested_model *model, double blocks, double seconds, int64_t round)
{
    for (int64_t k = model->count - 1; k >= 0; k--) {
        double *point = model->points[k];
        bool against = (point[0] < blocks && point[1] >= seconds) || (point[0] > blocks && point[1] <= seconds);
        if (point[0] == blocks || (against && model->rounds[k] < round)) drop(model, k);
    }
}

void nested_model_add(nested_model *model, double blocks, double seconds, int64_t round, bool constant)
{
    if (constant) model->count = 0;
    drop_contradictions(model, blocks, seconds, round);
    if (model->count == NESTED_MAX_POINTS) {
        int64_t oldest = 0;
        for (int64_t k = 1; k < model->count; k++)
            if (model->rounds[k] < model->rounds[oldest]) oldest = k;
        drop(model, oldest);
    }
    int64_t k = model->count++;
    for (; k > 0 && model->points[k - 1][0] > blocks; k--) {
        memcpy(model->points[k], model->points[k - 1], sizeof model->points[0]);
        model->rounds[k] = model->rounds[k - 1];
    }
    model->points[k][0] = blocks;
    model->points[k][1] = seconds;
    model->rounds[k] = round;
    yoke_speed_fill(&model->speed, model->pieces, model->count, model->points[0]);
}

/* Whole units within some seconds, at most n. */
static int64_t units_within(const nested_model *model, double seconds, double blocks_per_unit, int64_t n)
{
    double units = floor(yoke_speed_units(&model->speed, seconds) / blocks_per_unit);
    return units < (double)n ? (int64_t)units : n;
}

/* Seconds within which just less than n units are done (returned), and n or more (*enough). */
static double bisect(int64_t count, const nested_model *models, int64_t n, double blocks_per_unit, double *enough)
{
    double low = 0, high = INFINITY;
    for (int64_t i = 0; i < count; i++) high = fmin(high, yoke_speed_seconds(&models[i].speed, (double)n * blocks_per_unit));
    for (int k = 0; k < 1100 && high - low > 1e-15 * high; k++) {
        double middle = low + (high - low) / 2, sum = 0;
        for (int64_t i = 0; i < count; i++) sum += yoke_speed_units(&models[i].speed, middle) / blocks_per_unit;
        if (sum < (double)n)
            low = middle;
        else
            high = middle;
    }
    *enough = high;
    return low;
}

void nested_share(int64_t count, const nested_model *models, int64_t n, double blocks_per_unit, int64_t *units)
{
    double enough, seconds = bisect(count, models, n, blocks_per_unit, &enough);
    int64_t left = n;
    for (int64_t i = 0; i < count; i++) left -= units[i] = units_within(&models[i], seconds, blocks_per_unit, left);
    /* Where a model's seconds stand for a while the sum jumps past n. */
    for (int64_t i = 0; i < count; i++) {
        int64_t more = units_within(&models[i], enough, blocks_per_unit, n) - units[i];
        if (more > left) more = left;
        if (more < 0) more = 0;
        units[i] += more;
        left -= more;
    }
    while (left > 0) {
        int64_t first = 0;
        double best = INFINITY;
        for (int64_t i = 0; i < count; i++) {
            double then = yoke_speed_seconds(&models[i].speed, (double)(units[i] + 1) * blocks_per_unit);
            if (then < best) {
                best = then;
                first = i;
            }
        }
        int64_t more = left > count ? left / count : 1; /* more than one each are left only by the rounding of huge numbers */
        units[first] += more;
        left -= more;
    }
}

void nested_share_evenly(int64_t count, int64_t n, int64_t *units)
{
    for (int64_t i = 0; i < count; i++) units[i] = n / count + (i < n % count);
}

double nested_imbalance(int64_t count, const int64_t *units, const double *seconds, double *longest)
{
    double most = 0, least = INFINITY;
    for (int64_t i = 0; i < count; i++)
        if (units[i] > 0) {
            most = fmax(most, seconds[i]);
            least = fmin(least, seconds[i]);
        }
    if (longest != NULL) *longest = most;
    return most > 0 ? (most - least) / least : 0;
}

bool nested_tried(int64_t count, int64_t length, const int64_t *rows, const int64_t *row)
{
    for (int64_t k = 0; k < count; k++)
        if (memcmp(rows + k * length, row, (size_t)length * sizeof *row) == 0) return true;
    return false;
}
