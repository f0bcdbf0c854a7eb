#include "balance/noise.h"

#include <math.h>

_Static_assert(NOISE_LEVELS == 7, "set_deviation adds seven");

/* The reasons for these figures are in docs/methods/balance.md. */
static const double most_deviation = 0.384;
static const double prior[NOISE_LEVELS] = {0.15, 0.45, 0.2, 0.1, 0.05, 0.04, 0.01};
static const double prior_deviation = 0.0136;
static const double shared_part = 0.5;
static const double least_probability = 1e-5; /* of a level, as the noise may change */
static const double most_told = 50;           /* number of measurements that count at most */
static const double ratio_most = 3;           /* of measured to predicted seconds, either way */
static const double much = 0.08, much_compared = 4;
static const double shape_compared = 8, slow_part = 0.8;

double noise_deviation(const noise_belief *belief) { return belief->deviation > 0 ? belief->deviation : prior_deviation; }

double noise_density(const noise_belief *belief, double deviation, double times, double blur, double *density)
{
    const double *level = belief->deviation > 0 ? belief->level : prior;
    double sigma = most_deviation, inverse = 1 / (most_deviation * times), height = 0.3989422804014327 * inverse;
    deviation *= inverse;
    double square = 0.5 * deviation * deviation;
    double part = square < 0.01 ? 1 - square * (1 - square * (1.0 / 2 - square * (1.0 / 6 - square * (1.0 / 24)))) : exp(-square);
    double sum = level[NOISE_LEVELS - 1] * (density[NOISE_LEVELS - 1] = part * height);
    for (int k = NOISE_LEVELS - 2; k >= 0; k--) {
        sigma *= 0.5;
        height *= 2;
        part *= part; /* half the standard deviation: exp(-a) becomes its fourth power */
        part *= part;
        density[k] = sigma >= blur ? part * height : density[k + 1];
        sum += level[k] * density[k];
    }
    return sum;
}

/* The harmonic mean of the levels: if a small deviation is as probable as a large one, the small one is used for planning. */
static void set_deviation(noise_belief *belief)
{
    const double *p = belief->level; /* sums of pairs: in a sum of seven each addition would wait for the one before */
    double inverse = ((64 * p[0] + 32 * p[1]) + (16 * p[2] + 8 * p[3])) + ((4 * p[4] + 2 * p[5]) + p[6]);
    belief->deviation = most_deviation / inverse;
}

void noise_learn(noise_belief *belief, const double *density, double sum)
{
    const double *level = belief->deviation > 0 ? belief->level : prior;
    if (!(sum > 0)) return;
    double each = 1 / sum;
    for (int k = 0; k < NOISE_LEVELS; k++) {
        double probability = level[k] * density[k] * each;
        belief->level[k] = probability > least_probability ? probability : least_probability;
    }
    if (belief->freedom < most_told) belief->freedom += 1;
    set_deviation(belief);
}

void noise_compare(noise_belief *belief, double ratio)
{
    double r = fmin(fmax(ratio, 1 / ratio_most), ratio_most), square = r * r, fourth = 1 / (square * square);
    const double now[NOISE_MOMENTS] = {r, square, fourth, fourth * fourth};
    if (belief->compared < most_told) belief->compared += 1;
    for (int k = 0; k < NOISE_MOMENTS; k++) belief->moment[k] += (now[k] - belief->moment[k]) / belief->compared;
}

bool noise_is_much(const noise_belief *belief) { return belief->deviation > much && belief->compared >= much_compared; }

/* Whether, by the measurements so far, the mean of fourth powers of speeds has less variance than the mean of seconds. */
bool noise_slows(const noise_belief *belief)
{
    if (!noise_is_much(belief) || belief->compared < shape_compared) return false;
    const double *m = belief->moment;
    double of_seconds = m[1] / (m[0] * m[0]) - 1, of_speeds = (m[3] / (m[2] * m[2]) - 1) / 16;
    return of_speeds < slow_part * of_seconds;
}

static void share_levels(noise_belief *const *beliefs, int count)
{
    double mean[NOISE_LEVELS] = {0};
    int known = 0;
    for (int i = 0; i < count; i++) {
        if (!(beliefs[i]->deviation > 0)) continue;
        for (int k = 0; k < NOISE_LEVELS; k++) mean[k] += beliefs[i]->level[k];
        known++;
    }
    if (known == 0) return;
    for (int k = 0; k < NOISE_LEVELS; k++) mean[k] *= shared_part / known;
    for (int i = 0; i < count; i++) {
        noise_belief *belief = beliefs[i];
        const double *level = belief->deviation > 0 ? belief->level : prior;
        for (int k = 0; k < NOISE_LEVELS; k++) belief->level[k] = (1 - shared_part) * level[k] + mean[k];
        set_deviation(belief);
    }
}

static void share_moments(noise_belief *const *beliefs, int count)
{
    double mean[NOISE_MOMENTS] = {0}, compared = 0;
    for (int i = 0; i < count; i++) {
        compared += beliefs[i]->compared;
        for (int k = 0; k < NOISE_MOMENTS; k++) mean[k] += beliefs[i]->compared * beliefs[i]->moment[k];
    }
    if (compared == 0) return;
    for (int i = 0; i < count; i++) {
        noise_belief *belief = beliefs[i];
        double own = (1 - shared_part) * belief->compared, others = shared_part / count;
        belief->compared = own + others * compared;
        for (int k = 0; k < NOISE_MOMENTS; k++) belief->moment[k] = (own * belief->moment[k] + others * mean[k]) / belief->compared;
    }
}

void noise_share(noise_belief *const *beliefs, int count)
{
    share_levels(beliefs, count);
    share_moments(beliefs, count);
}
