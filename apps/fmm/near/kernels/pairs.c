/*
 * pairs.c - sums over pairs for one instruction set (FMM_ISA: v2, v3, v4 of x86-64, or generic); compiled once for each.
 *
 * The lanes of a vector are targets, and each source is broadcast to all of them; or, for packed sources, the other way round.
 */
#include "near/kernels/pairs.h"

#include <float.h>
#include <stdbool.h>
#include <string.h>

#if defined(__AVX512F__)
#include <immintrin.h>
/* Number of vectors of targets that are processed together for each source, and number of targets that are processed together for each
 * vector of packed sources: as many as registers hold. */
enum { VECTORS = 2, TARGETS = 4 };
#define VECTOR_BYTES 64
#elif defined(__AVX__)
enum { VECTORS = 1, TARGETS = 1 };
#define VECTOR_BYTES 32
#else
enum { VECTORS = 1, TARGETS = 1 };
#define VECTOR_BYTES 16
#endif

enum {
    LANES = VECTOR_BYTES / sizeof(double),
    GROUP = VECTORS * LANES,
    /* Number of sources whose sum is formed separately and then added to the target's: they stay in the cache while all targets are
     * processed, and the rounding errors of long sums grow less. */
    TILE = 256
};

typedef double vector __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t integers __attribute__((vector_size(VECTOR_BYTES)));

typedef struct group {
    vector x[VECTORS], y[VECTORS], z[VECTORS];
    vector potential[VECTORS], gx[VECTORS], gy[VECTORS], gz[VECTORS];
} group;

/*
 * 1 / sqrt(s); 0 for s below the least normal double.  A Newton step replaces y by y (1 + e/2) with e = 1 - s y^2.  With more terms of
 * (1 - e)^(-1/2) = 1 + e/2 + 3/8 e^2 + 5/16 e^3 + ... it has order four: a relative error d becomes about 4.4 d^4.
 */
static inline vector newton(vector s, vector y)
{
    vector e = 1.0 - s * y * y;
    return y + y * e * (0.5 + e * (0.375 + e * 0.3125));
}

static inline vector reciprocal_root(vector s)
{
#if defined(__AVX512F__)
    __mmask8 apart = _mm512_cmp_pd_mask(s, _mm512_set1_pd(DBL_MIN), _CMP_GE_OQ);
    return newton(s, _mm512_maskz_rsqrt14_pd(apart, s)); /* improves a relative error of 6e-5 */
#else
    /* First approximation: the exponent is halved and negated, and a chord replaces the function of the mantissa.  The relative error is at
     * most 3.5 % for all normal numbers (the idea is in C. Lomont, Fast inverse square root, 2003).  There is no such instruction for
     * doubles, and that for floats lacks their range. */
    integers guess = (0x5FE6EB50C7B537A9 - ((integers)s >> 1)) & (s >= DBL_MIN);
    vector y = newton(s, (vector)guess);
    return newton(s, y); /* the relative error was 3.5e-2, then 7e-6 */
#endif
}

/* Constants for pairs of charges with a softening H (particles/particles.h). */
typedef struct softening {
    double square;    /* H^2 */
    double inverse;   /* H^-2 */
    double potential; /* 1 / (8 H) */
    double slope;     /* 1 / (2 H^3) */
} softening;

static softening softening_of(double h) { return (softening){h * h, 1 / (h * h), 1 / (8 * h), 1 / (2 * h * h * h)}; }

/* 1 / r and 1 / r^2 of a pair, or with softening the potential of a charge of 1, and 1 / r times its slope. */
typedef struct pair {
    vector potential, slope;
} pair;

static inline vector choose(integers which, vector yes, vector no) { return (vector)(((integers)yes & which) | ((integers)no & ~which)); }

static inline __attribute__((always_inline)) pair pair_of(vector square, const softening *soft)
{
    vector inverse = reciprocal_root(square);
    pair plain = {inverse, inverse * inverse};
    if (!soft) return plain;
    vector part = square * soft->inverse; /* (r / H)^2 */
    integers near = (square < soft->square) & (square >= DBL_MIN);
    return (pair){choose(near, soft->potential * (15.0 - part * (10.0 - 3.0 * part)), inverse),
                  choose(near, soft->slope * (5.0 - 3.0 * part), plain.slope * inverse)};
}

/* The slope that belongs to a charge and to its share of the potential. */
static inline __attribute__((always_inline)) vector slope_of(vector charge, vector share, const pair *p, const softening *soft)
{
    return (soft ? charge : share) * p->slope;
}

static inline __attribute__((always_inline)) void add_tile(const fmm_sources *sources, int64_t first, int64_t last, bool gradient,
                                                           const softening *soft, group *g)
{
    vector potential[VECTORS] = {0}, gx[VECTORS] = {0}, gy[VECTORS] = {0}, gz[VECTORS] = {0};
    for (int64_t j = first; j < last; j++)
        for (int v = 0; v < VECTORS; v++) {
            vector dx = g->x[v] - sources->x[j], dy = g->y[v] - sources->y[j], dz = g->z[v] - sources->z[j];
            const pair p = pair_of(dx * dx + dy * dy + dz * dz, soft);
            vector charge = sources->charge[j] - (vector){0}, share = charge * p.potential;
            potential[v] += share;
            if (!gradient) continue;
            vector slope = slope_of(charge, share, &p, soft);
            gx[v] -= slope * dx, gy[v] -= slope * dy, gz[v] -= slope * dz;
        }
    for (int v = 0; v < VECTORS; v++) {
        g->potential[v] += potential[v];
        g->gx[v] += gx[v], g->gy[v] += gy[v], g->gz[v] += gz[v];
    }
}

/* Loads or stores up to GROUP doubles.  When loading, further lanes repeat the first value, so that their positions are valid. */
static inline void load(vector *to, const double *from, int64_t count)
{
    double values[GROUP];
    for (int64_t i = 0; i < GROUP; i++) values[i] = from[i < count ? i : 0];
    memcpy(to, values, sizeof values);
}

static inline void store(double *to, const vector *from, int64_t count) { memcpy(to, from, (size_t)count * sizeof *to); }

static inline __attribute__((always_inline)) void add_all(const fmm_sources *sources, const fmm_targets *targets, bool gradient,
                                                          const softening *soft)
{
    for (int64_t first = 0; first < sources->count; first += TILE) {
        int64_t last = first + TILE < sources->count ? first + TILE : sources->count;
        for (int64_t i = 0; i < targets->count; i += GROUP) {
            int64_t count = targets->count - i < GROUP ? targets->count - i : GROUP;
            group g = {0};
            load(g.x, targets->x + i, count), load(g.y, targets->y + i, count), load(g.z, targets->z + i, count);
            load(g.potential, targets->potential + i, count);
            if (gradient) load(g.gx, targets->gx + i, count), load(g.gy, targets->gy + i, count), load(g.gz, targets->gz + i, count);
            add_tile(sources, first, last, gradient, soft, &g);
            store(targets->potential + i, g.potential, count);
            if (gradient) store(targets->gx + i, g.gx, count), store(targets->gy + i, g.gy, count), store(targets->gz + i, g.gz, count);
        }
    }
}

static void add(const fmm_sources *sources, const fmm_targets *targets, double h)
{
    const softening soft = softening_of(h);
    if (targets->gx && h > 0)
        add_all(sources, targets, true, &soft);
    else if (targets->gx)
        add_all(sources, targets, true, NULL);
    else if (h > 0)
        add_all(sources, targets, false, &soft);
    else
        add_all(sources, targets, false, NULL);
}

/* ------------------------------------------------------------------------------------------ packed particles */

typedef double loose_vector __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(double)), may_alias)); /* anywhere in memory */

static inline double sum(vector v)
{
#if defined(__AVX512F__)
    return _mm512_reduce_add_pd(v);
#else
    double total = 0;
    for (int i = 0; i < LANES; i++) total += v[i];
    return total;
#endif
}

static inline void add_at(double *at, vector v) { *(loose_vector *)at += v; }

/* Sums the pairs of `number` of the other particles, from i on, with all packed particles. */
static inline __attribute__((always_inline)) void meet(int number, bool gradient, bool mutual, const softening *soft,
                                                       const fmm_bodies *packed, const fmm_bodies *others, int64_t i)
{
    vector potential[TARGETS] = {0}, gx[TARGETS] = {0}, gy[TARGETS] = {0}, gz[TARGETS] = {0};
    for (int64_t j = 0; j < packed->count; j += LANES) {
        vector x = *(const loose_vector *)(packed->x + j), y = *(const loose_vector *)(packed->y + j);
        vector z = *(const loose_vector *)(packed->z + j), charge = *(const loose_vector *)(packed->charge + j);
        vector back_potential = {0}, back_gx = {0}, back_gy = {0}, back_gz = {0};
        for (int t = 0; t < number; t++) {
            vector dx = others->x[i + t] - x, dy = others->y[i + t] - y, dz = others->z[i + t] - z;
            const pair p = pair_of(dx * dx + dy * dy + dz * dz, soft);
            vector share = charge * p.potential, slope = slope_of(charge, share, &p, soft);
            potential[t] += share;
            if (gradient) gx[t] -= slope * dx, gy[t] -= slope * dy, gz[t] -= slope * dz;
            if (!mutual) continue;
            vector other = others->charge[i + t] - (vector){0};
            share = other * p.potential, slope = slope_of(other, share, &p, soft);
            back_potential += share;
            if (gradient) back_gx += slope * dx, back_gy += slope * dy, back_gz += slope * dz;
        }
        if (!mutual) continue;
        add_at(packed->potential + j, back_potential);
        if (gradient) add_at(packed->gx + j, back_gx), add_at(packed->gy + j, back_gy), add_at(packed->gz + j, back_gz);
    }
    for (int t = 0; t < number; t++) {
        others->potential[i + t] += sum(potential[t]);
        if (gradient) others->gx[i + t] += sum(gx[t]), others->gy[i + t] += sum(gy[t]), others->gz[i + t] += sum(gz[t]);
    }
}

static inline __attribute__((always_inline)) void meet_all(bool gradient, bool mutual, const softening *soft, const fmm_bodies *packed,
                                                           const fmm_bodies *others)
{
    int64_t i = 0;
    for (; i + TARGETS <= others->count; i += TARGETS) meet(TARGETS, gradient, mutual, soft, packed, others, i);
    for (; i < others->count; i++) meet(1, gradient, mutual, soft, packed, others, i);
}

static inline __attribute__((always_inline)) void meet_by(double h, bool mutual, const fmm_bodies *packed, const fmm_bodies *others)
{
    const softening soft = softening_of(h);
    if (others->gx && h > 0)
        meet_all(true, mutual, &soft, packed, others);
    else if (others->gx)
        meet_all(true, mutual, NULL, packed, others);
    else if (h > 0)
        meet_all(false, mutual, &soft, packed, others);
    else
        meet_all(false, mutual, NULL, packed, others);
}

static void add_packed(const fmm_sources *sources, const fmm_targets *targets, double h)
{
    const fmm_bodies packed = {sources->count, sources->x, sources->y, sources->z, sources->charge, NULL, NULL, NULL, NULL};
    const fmm_bodies others = {targets->count,     targets->x,  targets->y,  targets->z, NULL,
                               targets->potential, targets->gx, targets->gy, targets->gz};
    meet_by(h, false, &packed, &others);
}

static void add_mutual(const fmm_bodies *packed, const fmm_bodies *others, double h) { meet_by(h, true, packed, others); }

#define PASTE_2(a, b) a##_##b
#define PASTE(a, b) PASTE_2(a, b)
#define TEXT_2(a) "x86-64-" #a
#define TEXT(a) TEXT_2(a)
extern const fmm_pairs_kernel PASTE(fmm_pairs, FMM_ISA);
const fmm_pairs_kernel PASTE(fmm_pairs, FMM_ISA) = {TEXT(FMM_ISA), add, add_packed, add_mutual};
