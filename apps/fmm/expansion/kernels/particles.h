/*
 * particles.h - evaluates harmonics at a vector of particles at a time; part of expansion.c.
 */

INLINE vector spread(double value) { return value - (vector){0}; }

/* A vector of particles: the factors of the recurrence. */
typedef struct place {
    vector a, b, c, d, start;
} place;

/* Loads a vector of values; lanes after the last particle get `rest`, a harmless value. */
INLINE vector load(const double *values, int64_t first, int64_t count, double rest)
{
    if (first + LANES <= count) return *(const loose_vector *)(values + first);
    vector v = spread(rest);
    for (int64_t i = first; i < count; i++) v[i - first] = values[i];
    return v;
}

INLINE vector root(vector v)
{
    for (int i = 0; i < LANES; i++) v[i] = sqrt(v[i]);
    return v;
}

INLINE place place_at(int irregular, const fmm_frame *frame, const double *const position[3], int64_t first, int64_t count)
{
    vector v[3];
    for (int i = 0; i < 3; i++)
        v[i] = (load(position[i], first, count, frame->centre[i] + frame->scale) - spread(frame->centre[i])) * spread(1 / frame->scale);
    vector square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    if (!irregular) return (place){v[0], v[1], v[2], square, spread(1)};
    vector inverse = spread(1) / square;
    return (place){v[0] * inverse, v[1] * inverse, v[2] * inverse, inverse, root(inverse)};
}

static void gather(const fmm_recurrence *recurrence, int order, int imaginary, const fmm_frame *frame, const fmm_sources *sources,
                   double *coefficients)
{
    vector sum[2 * ((FMM_MAX_ORDER + 1) * (FMM_MAX_ORDER + 2) / 2)];
    int n = fmm_harmonics(order);
    memset(sum, 0, 2 * (size_t)n * sizeof *sum);
    const double *const position[3] = {sources->x, sources->y, sources->z};
    for (int64_t first = 0; first < sources->count; first += LANES) {
        place at = place_at(recurrence->irregular, frame, position, first, sources->count);
        vector charge = load(sources->charge, first, sources->count, 0);
        vector top_re = at.start * charge, top_im = spread(0);
        for (int m = 0; m <= order; m++) {
            vector re = top_re, im = top_im, old_re = spread(0), old_im = spread(0);
            for (int l = m, i = fmm_harmonic(m, m); l <= order; i += ++l) {
                sum[i] += re;
                sum[n + i] += im;
                vector upper = spread(recurrence->upper[i]) * at.c, lower = spread(recurrence->lower[i]) * at.d;
                vector new_re = upper * re - lower * old_re, new_im = upper * im - lower * old_im;
                old_re = re, old_im = im, re = new_re, im = new_im;
            }
            vector a = spread(recurrence->diagonal[m + 1]) * at.a, b = spread(recurrence->diagonal[m + 1]) * at.b;
            vector rotated = a * top_re - b * top_im;
            top_im = a * top_im + b * top_re, top_re = rotated;
        }
    }
    for (int i = 0; i < 2 * n; i++) {
        double total = 0;
        for (int lane = 0; lane < LANES; lane++) total += sum[i][lane];
        coefficients[i < n ? i : imaginary + i - n] += total;
    }
}

INLINE void add(double *values, int64_t first, int64_t count, vector v)
{
    if (first + LANES <= count) {
        *(loose_vector *)(values + first) += v;
        return;
    }
    for (int64_t i = first; i < count; i++) values[i] += v[i - first];
}

INLINE void evaluate_at(const fmm_recurrence *recurrence, int degree, int gradient, const place *at, const double *factors,
                        vector result[4])
{
    for (int k = 0; k < 4; k++) result[k] = spread(0);
    vector top_re = at->start, top_im = spread(0);
    for (int m = 0; m <= degree; m++) {
        vector re = top_re, im = top_im, old_re = spread(0), old_im = spread(0);
        for (int l = m, i = fmm_harmonic(m, m); l <= degree; i += ++l) {
            const double *f = factors + FMM_FACTORS * i;
            result[0] += spread(f[0]) * re + spread(f[1]) * im;
            if (gradient)
                for (int k = 1; k < 4; k++) result[k] += spread(f[2 * k]) * re + spread(f[2 * k + 1]) * im;
            vector upper = spread(recurrence->upper[i]) * at->c, lower = spread(recurrence->lower[i]) * at->d;
            vector new_re = upper * re - lower * old_re, new_im = upper * im - lower * old_im;
            old_re = re, old_im = im, re = new_re, im = new_im;
        }
        vector a = spread(recurrence->diagonal[m + 1]) * at->a, b = spread(recurrence->diagonal[m + 1]) * at->b;
        vector rotated = a * top_re - b * top_im;
        top_im = a * top_im + b * top_re, top_re = rotated;
    }
}

static void evaluate(const fmm_recurrence *recurrence, int degree, const fmm_frame *frame, const double *factors,
                     const fmm_targets *targets)
{
    double inverse = 1 / frame->scale;
    const double *const position[3] = {targets->x, targets->y, targets->z};
    double *const gradient[3] = {targets->gx, targets->gy, targets->gz};
    for (int64_t first = 0; first < targets->count; first += LANES) {
        place at = place_at(recurrence->irregular, frame, position, first, targets->count);
        vector result[4];
        if (targets->gx) {
            evaluate_at(recurrence, degree, 1, &at, factors, result);
            for (int k = 0; k < 3; k++) add(gradient[k], first, targets->count, result[k + 1] * spread(inverse * inverse));
        } else
            evaluate_at(recurrence, degree, 0, &at, factors, result);
        add(targets->potential, first, targets->count, result[0] * spread(inverse));
    }
}
