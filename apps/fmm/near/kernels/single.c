/*
 * single.c - sums over pairs in single precision for one instruction set (FMM_ISA, as pairs.c); compiled once for each.
 *
 * The lanes of a vector are packed particles, and each target is broadcast to all of them.
 */
#include "near/kernels/single.h"

#include <math.h>
#include <stdbool.h>

#if defined(__AVX512F__)
#include <immintrin.h>
/* Number of targets that are processed together for each vector of packed particles: as many as registers hold. */
enum { TARGETS = 4 };
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#include <immintrin.h>
enum { TARGETS = 2 };
#define VECTOR_BYTES 32
#else
#if defined(__SSE__)
#include <xmmintrin.h>
#endif
enum { TARGETS = 2 };
#define VECTOR_BYTES 16
#endif

enum { LANES = VECTOR_BYTES / sizeof(float), PARTS = FMM_SINGLE_PACK / LANES };

typedef float vector __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t integers __attribute__((vector_size(VECTOR_BYTES)));
typedef float loose_vector __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(float)), may_alias)); /* anywhere in memory */

/* 1 / sqrt(s) in lanes whose particles are not too close, 0 in the others; apart: a bit for each of the former lanes. */
typedef struct roots {
    vector inverse;
    uint32_t apart;
} roots;

/* The approximation by an instruction is followed by a step that reduces its error to less than a unit in the last place. */
static inline __attribute__((always_inline)) roots roots_of(vector s, vector least)
{
#if defined(__AVX512F__)
    const __mmask16 apart = _mm512_cmp_ps_mask(s, least, _CMP_GE_OQ);
    const vector y = _mm512_maskz_rsqrt14_ps(apart, s); /* from 6.1e-5 to 5.6e-9 */
    return (roots){y * (1.5f - 0.5f * s * (y * y)), apart};
#elif defined(__SSE__)
    const integers far = s >= least;
#if defined(__AVX__)
    const vector y = (vector)((integers)_mm256_rsqrt_ps(s) & far);
    const uint32_t apart = (uint32_t)_mm256_movemask_ps((__m256)far);
#else
    const vector y = (vector)((integers)_mm_rsqrt_ps(s) & far);
    const uint32_t apart = (uint32_t)_mm_movemask_ps((__m128)far);
#endif
    const vector e = 1.0f - s * y * y; /* from 3.7e-4 to 1.3e-10, in order three */
    return (roots){y + y * e * (0.5f + 0.375f * e), apart};
#else
    roots r = {{0}, 0};
    for (int i = 0; i < LANES; i++) {
        if (!(s[i] >= least[i])) continue;
        r.inverse[i] = 1 / sqrtf(s[i]);
        r.apart |= 1u << i;
    }
    return r;
#endif
}

/* Adds the lanes of each component's vector of partial sums. */
static inline __attribute__((always_inline)) void reduce(vector potential, vector gx, vector gy, vector gz, float sum[FMM_SINGLE_WIDTH])
{
    typedef float four __attribute__((vector_size(16), aligned(sizeof(float)), may_alias));
    const vector all[FMM_SINGLE_WIDTH] = {potential, gx, gy, gz};
    four part[FMM_SINGLE_WIDTH];
    for (int c = 0; c < FMM_SINGLE_WIDTH; c++) {
        const four *of = (const four *)&all[c];
        part[c] = of[0];
        for (int k = 1; k < LANES / 4; k++) part[c] += of[k];
    }
    for (int c = 0; c < FMM_SINGLE_WIDTH; c++) sum[c] = (part[c][0] + part[c][1]) + (part[c][2] + part[c][3]);
}

static const uint32_t all_lanes = LANES == 32 ? ~0u : (1u << LANES) - 1;

typedef struct meeting {
    const fmm_single_packed *packed;
    const fmm_single_targets *targets;
    const fmm_single_limits *limits;
    fmm_close_pairs *close;
    int64_t told;
} meeting;

/* Reports the close pairs of a target with the vector of packed particles from j on. */
static __attribute__((noinline, cold)) void tell(meeting *m, int64_t target, int64_t j, uint32_t which)
{
    const int64_t first = j & ~(int64_t)(FMM_SINGLE_PACK - 1);
    if (m->told < m->limits->close) m->close[m->told] = (fmm_close_pairs){(int32_t)target, (int32_t)first, which << (j - first)};
    m->told++;
}

/* Sums the pairs of `number` targets, from i on, with all packed particles. */
static inline __attribute__((always_inline)) void meet(int number, bool gradient, bool both, meeting *m, int64_t i)
{
    const fmm_single_packed *p = m->packed;
    const fmm_single_targets *t = m->targets;
    const vector least = m->limits->square - (vector){0};
    vector potential[TARGETS] = {0}, gx[TARGETS] = {0}, gy[TARGETS] = {0}, gz[TARGETS] = {0};
    for (int64_t j = 0; j < p->count; j += LANES) {
        const vector x = *(const vector *)(p->x + j), y = *(const vector *)(p->y + j), z = *(const vector *)(p->z + j);
        const vector charge = *(const vector *)(p->charge + j);
        vector back_potential = {0}, back_gx = {0}, back_gy = {0}, back_gz = {0};
        if (both && i > 0) {
            back_potential = *(vector *)(p->potential + j);
            if (gradient) back_gx = *(vector *)(p->gx + j), back_gy = *(vector *)(p->gy + j), back_gz = *(vector *)(p->gz + j);
        }
        for (int k = 0; k < number; k++) {
            const vector dx = x - t->x[i + k], dy = y - t->y[i + k], dz = z - t->z[i + k];
            const roots r = roots_of(dx * dx + dy * dy + dz * dz, least);
            uint32_t apart = r.apart;
            if (!both) {
                const uint64_t own = (uint64_t)(m->limits->own + i + k - j);
                if (own < LANES) apart |= 1u << own;
            }
            if (__builtin_expect(apart != all_lanes, 0)) tell(m, i + k, j, all_lanes & ~apart);
            const vector square = r.inverse * r.inverse, share = charge * r.inverse;
            potential[k] += share;
            if (gradient) {
                const vector slope = share * square;
                gx[k] += slope * dx, gy[k] += slope * dy, gz[k] += slope * dz;
            }
            if (!both) continue;
            const vector other = t->charge[i + k] * r.inverse;
            back_potential += other;
            if (gradient) {
                const vector slope = other * square;
                back_gx -= slope * dx, back_gy -= slope * dy, back_gz -= slope * dz;
            }
        }
        if (!both) continue;
        *(vector *)(p->potential + j) = back_potential;
        if (gradient) *(vector *)(p->gx + j) = back_gx, *(vector *)(p->gy + j) = back_gy, *(vector *)(p->gz + j) = back_gz;
    }
    for (int k = 0; k < number; k++) reduce(potential[k], gx[k], gy[k], gz[k], t->sum[i + k]);
}

static inline __attribute__((always_inline)) int64_t meet_all(bool gradient, bool both, meeting *m)
{
    const int64_t count = m->targets->count;
    int64_t i = 0;
    for (; i + TARGETS <= count && m->told <= m->limits->close; i += TARGETS) meet(TARGETS, gradient, both, m, i);
    if (TARGETS > 3 && count - i == 3) meet(3, gradient, both, m, i);
    if (TARGETS > 2 && count - i == 2) meet(2, gradient, both, m, i);
    if (count - i == 1) meet(1, gradient, both, m, i);
    return m->told <= m->limits->close ? m->told : -1;
}

static int64_t add(const fmm_single_packed *packed, const fmm_single_targets *targets, int gradient, const fmm_single_limits *limits,
                   fmm_close_pairs *close)
{
    meeting m = {packed, targets, limits, close, 0};
    return gradient ? meet_all(true, false, &m) : meet_all(false, false, &m);
}

static int64_t add_both(const fmm_single_packed *packed, const fmm_single_targets *targets, int gradient, const fmm_single_limits *limits,
                        fmm_close_pairs *close)
{
    meeting m = {packed, targets, limits, close, 0};
    return gradient ? meet_all(true, true, &m) : meet_all(false, true, &m);
}

static void round_to(int64_t count, const double *from, double centre, double scale, float *to)
{
    for (int64_t i = 0; i < count; i++) to[i] = (float)((from[i] - centre) * scale);
}

static void take(int64_t count, const float *from, float scale, float offset, float *to)
{
    for (int64_t i = 0; i < count; i += LANES) *(loose_vector *)(to + i) = *(const loose_vector *)(from + i) * scale + offset;
}

static void give(int64_t count, const float *from, double scale, double *to)
{
#if defined(__AVX512F__)
    enum { HALF = LANES / 2 };
    const __m512d factor = _mm512_set1_pd(scale);
    for (int64_t i = 0; i < count; i += HALF) {
        const __mmask8 some = (__mmask8)(count - i < HALF ? (1u << (count - i)) - 1 : 0xff);
        const __m512d sum = _mm512_maskz_loadu_pd(some, to + i), more = _mm512_cvtps_pd(_mm256_loadu_ps(from + i));
        _mm512_mask_storeu_pd(to + i, some, _mm512_fmadd_pd(more, factor, sum));
    }
#else
    for (int64_t i = 0; i < count; i++) to[i] += (double)from[i] * scale;
#endif
}

#define PASTE_2(a, b) a##_##b
#define PASTE(a, b) PASTE_2(a, b)
#define TEXT_2(a) "x86-64-" #a
#define TEXT(a) TEXT_2(a)
extern const fmm_single_kernel PASTE(fmm_single, FMM_ISA);
const fmm_single_kernel PASTE(fmm_single, FMM_ISA) = {TEXT(FMM_ISA), add, add_both, round_to, take, give};
