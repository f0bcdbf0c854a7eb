/* smoother_body.h - the functions of one precision (REAL); included by smoother.c. */
#define G FEM_NODE_GROUP

typedef enum NAME(form) { NAME(SOLVE), NAME(START), NAME(RESTART), NAME(STEP) } NAME(form);

typedef struct NAME(step) {
    const REAL *blocks;
    REAL a, c;
    const REAL *b, *t;
    REAL *d, *x;
} NAME(step);

/*
 * `count` nodes from number `at` on, all in one group, in which they are the lanes from `lane` on; count, form and lane of a full group are
 * constants.
 */
static inline __attribute__((always_inline)) void NAME(nodes)(const int form, const NAME(step) * s, const REAL *block, int64_t at,
                                                              const int count)
{
    const REAL *b = s->b + 3 * at, *t = form >= NAME(RESTART) ? s->t + 3 * at : NULL;
    REAL *d = s->d + 3 * at, *x = form != NAME(SOLVE) ? s->x + 3 * at : NULL;
    REAL r[3][G], z[3 * G];
#pragma omp simd
    for (int l = 0; l < count; l++)
        for (int i = 0; i < 3; i++) r[i][l] = t ? b[3 * l + i] - t[3 * l + i] : b[3 * l + i];
#pragma omp simd
    for (int l = 0; l < count; l++) {
        z[3 * l] = block[l] * r[0][l] + block[5 * G + l] * r[1][l] + block[4 * G + l] * r[2][l];
        z[3 * l + 1] = block[5 * G + l] * r[0][l] + block[G + l] * r[1][l] + block[3 * G + l] * r[2][l];
        z[3 * l + 2] = block[4 * G + l] * r[0][l] + block[3 * G + l] * r[1][l] + block[2 * G + l] * r[2][l];
    }
#pragma omp simd
    for (int i = 0; i < 3 * count; i++) {
        REAL change = form == NAME(SOLVE) ? z[i] : s->c * z[i];
        if (form == NAME(STEP)) change += s->a * d[i];
        d[i] = change;
        if (form == NAME(START)) x[i] = change;
        if (form >= NAME(RESTART)) x[i] += change;
    }
}

static inline __attribute__((always_inline)) void NAME(range_3)(const int form, const NAME(step) * s, int64_t begin, int64_t end)
{
    while (begin < end) {
        const int lane = (int)(begin % G);
        const REAL *block = s->blocks + begin / G * 6 * G + lane;
        if (lane == 0 && end - begin >= G) {
            NAME(nodes)(form, s, block, begin, G);
            begin += G;
        } else {
            const int count = end - begin < G - lane ? (int)(end - begin) : G - lane;
            NAME(nodes)(form, s, block, begin, count);
            begin += count;
        }
    }
}

static inline __attribute__((always_inline)) void NAME(range_1)(const int form, const NAME(step) * s, int64_t begin, int64_t end)
{
    const REAL *block = s->blocks, *b = s->b, *t = s->t;
    REAL *d = s->d, *x = s->x;
#pragma omp simd
    for (int64_t i = begin; i < end; i++) {
        REAL change = block[i] * (form >= NAME(RESTART) ? b[i] - t[i] : b[i]);
        if (form != NAME(SOLVE)) change *= s->c;
        if (form == NAME(STEP)) change += s->a * d[i];
        d[i] = change;
        if (form == NAME(START)) x[i] = change;
        if (form >= NAME(RESTART)) x[i] += change;
    }
}

static inline __attribute__((always_inline)) void NAME(range)(const int form, int components, const NAME(step) * s, int64_t begin,
                                                              int64_t end)
{
    if (components == 3)
        NAME(range_3)(form, s, begin, end);
    else
        NAME(range_1)(form, s, begin, end);
}

static void NAME(block_solve)(int components, const void *blocks, const void *r, void *z, int64_t begin, int64_t end)
{
    NAME(range)(NAME(SOLVE), components, &(NAME(step)){.blocks = blocks, .b = r, .d = z}, begin, end);
}

static void NAME(chebyshev_step)(int components, const void *blocks, double a, double c, const void *b, const void *t, void *d, void *x,
                                 int64_t begin, int64_t end)
{
    const NAME(step) s = {blocks, (REAL)a, (REAL)c, b, t, d, x};
    if (!t)
        NAME(range)(NAME(START), components, &s, begin, end);
    else if (a == 0)
        NAME(range)(NAME(RESTART), components, &s, begin, end);
    else
        NAME(range)(NAME(STEP), components, &s, begin, end);
}

#undef G
