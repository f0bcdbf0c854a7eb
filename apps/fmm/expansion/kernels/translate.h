/*
 * translate.h - translations of several pairs at once, a pair in each lane; part of expansion.c.
 *
 * Work holds the real parts of all harmonics, then the imaginary parts, each as WIDE (or 1) vectors of pairs; and that twice.
 */
enum { WIDE = 2, MAX_ROWS = 6 }; /* vectors of pairs; rows at a time, so that their sums stay in registers */
_Static_assert(WIDE *LANES <= FMM_MAX_PAIRS, "fmm_translation_work is for FMM_MAX_PAIRS");

/* ------------------------------------------------------------------------------------------------ products */

/* One group of `rows` rows of a product of a matrix with vectors; `wide` vectors of pairs each. */
INLINE void dense_rows(int rows, int wide, int columns, const double *matrix, const vector *in, vector *out)
{
    vector sum[MAX_ROWS][WIDE];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < wide; v++) sum[r][v] = spread(matrix[r * columns]) * in[v];
    for (int c = 1; c < columns; c++)
        for (int r = 0; r < rows; r++) {
            vector factor = spread(matrix[r * columns + c]);
            for (int v = 0; v < wide; v++) sum[r][v] += factor * in[c * wide + v];
        }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < wide; v++) out[r * wide + v] = sum[r][v];
}

/*
 * Output degrees l .. l + rows - 1 of order m from input degrees first .. last, of an axial translation.  Harmonics of one order lie apart: those of
 * degree l at fmm_harmonic(l, m).
 */
INLINE void axial_rows(int rows, int wide, const fmm_translation *t, int l, int m, int first, int last, const vector *in, vector *out)
{
    vector sum[MAX_ROWS][WIDE];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < wide; v++) sum[r][v] = spread(0);
    for (int k = first, i = fmm_harmonic(first, m); k <= last; i += ++k)
        for (int r = 0; r < rows; r++) {
            vector factor = spread(t->axial[t->out_step * (l + r) + t->in_step * k]);
            for (int v = 0; v < wide; v++) sum[r][v] += factor * in[i * wide + v];
        }
    for (int r = 0, i = fmm_harmonic(l, m); r < rows; i += l + ++r)
        for (int v = 0; v < wide; v++) out[i * wide + v] = sum[r][v];
}

/* call(rows, ...) with a constant number of rows. */
#define BY_ROWS(rows, call, ...)     \
    switch (rows) {                  \
    case 1:                          \
        call(1, __VA_ARGS__);        \
        break;                       \
    case 2:                          \
        call(2, __VA_ARGS__);        \
        break;                       \
    case 3:                          \
        call(3, __VA_ARGS__);        \
        break;                       \
    case 4:                          \
        call(4, __VA_ARGS__);        \
        break;                       \
    case 5:                          \
        call(5, __VA_ARGS__);        \
        break;                       \
    default:                         \
        call(MAX_ROWS, __VA_ARGS__); \
        break;                       \
    }

/* Rows in the next of the groups of nearly equal size into which `left` rows are cut. */
INLINE int rows_next(int left)
{
    int groups = (left + MAX_ROWS - 1) / MAX_ROWS;
    return (left + groups - 1) / groups;
}

INLINE void dense(int wide, int n, const double *matrix, const vector *in, vector *out)
{
    for (int row = 0, rows; row < n; row += rows) {
        rows = rows_next(n - row);
        BY_ROWS(rows, dense_rows, wide, n, matrix + row * n, in, out + row * wide)
    }
}

/* Rotates about y: see rotation.h for the table. */
INLINE void rotate(int wide, int order, const double *table, const vector *in, vector *out)
{
    int n = fmm_harmonics(order);
    for (int l = 0; l <= order; l++) {
        int i = fmm_harmonic(l, 0);
        dense(wide, l + 1, table, in + i * wide, out + i * wide);
        table += (l + 1) * (l + 1);
        dense(wide, l, table, in + (n + i + 1) * wide, out + (n + i + 1) * wide);
        table += l * l;
    }
}

INLINE void axial(int wide, int order, const fmm_translation *t, const vector *in, vector *out)
{
    int n = fmm_harmonics(order);
    for (int m = 0; m <= order; m++)
        for (int l = m, rows; l <= order; l += rows) {
            rows = rows_next(order + 1 - l);
            int first = t->out_step < 0 ? l : m, last = t->in_step < 0 ? l + rows - 1 : order;
            BY_ROWS(rows, axial_rows, wide, t, l, m, first, last, in, out)
            if (m > 0) BY_ROWS(rows, axial_rows, wide, t, l, m, first, last, in + n * wide, out + n * wide)
        }
}

/* -------------------------------------------------------------------------------- expansions to lanes and back */

#if LANES == 8
#define EACH_LANE(f, s) f(0, s), f(1, s), f(2, s), f(3, s), f(4, s), f(5, s), f(6, s), f(7, s)
#elif LANES == 4
#define EACH_LANE(f, s) f(0, s), f(1, s), f(2, s), f(3, s)
#else
#define EACH_LANE(f, s) f(0, s), f(1, s)
#endif
#define LOWER(j, s) ((j) & (s) ? LANES + (j) - (s) : (j))
#define UPPER(j, s) ((j) & (s) ? LANES + (j) : (j) + (s))
/* Exchanges blocks of s x s values: with s = 1, 2, 4 it transposes. */
#define EXCHANGE(v, s)                                                                         \
    for (int i = 0; i < LANES; i++)                                                            \
        if (!(i & (s))) {                                                                      \
            vector low = __builtin_shufflevector((v)[i], (v)[i | (s)], EACH_LANE(LOWER, s));   \
            (v)[i | (s)] = __builtin_shufflevector((v)[i], (v)[i | (s)], EACH_LANE(UPPER, s)); \
            (v)[i] = low;                                                                      \
        }

INLINE void transpose(vector v[LANES])
{
    EXCHANGE(v, 1)
#if LANES >= 4
    EXCHANGE(v, 2)
#endif
#if LANES >= 8
    EXCHANGE(v, 4)
#endif
}

/* `some` (1 .. LANES) values from `at` on, then zeros; and the addition of as many. */
INLINE vector load_some(const double *at, int some)
{
    if (some == LANES) return *(const loose_vector *)at;
#if defined(__AVX512F__)
    return _mm512_maskz_loadu_pd((__mmask8)((1U << some) - 1), at);
#else
    vector v = spread(0);
    for (int j = 0; j < some; j++) v[j] = at[j];
    return v;
#endif
}

INLINE void add_some(double *at, int some, vector v)
{
    if (some == LANES) {
        *(loose_vector *)at += v;
        return;
    }
#if defined(__AVX512F__)
    __mmask8 mask = (__mmask8)((1U << some) - 1);
    _mm512_mask_storeu_pd(at, mask, _mm512_maskz_loadu_pd(mask, at) + v);
#else
    for (int j = 0; j < some; j++) at[j] += v[j];
#endif
}

/* Values begin .. begin + count - 1 of an expansion for each lane to out[value * wide + vector]. */
INLINE void to_lanes(int wide, int begin, int count, const double *const *from, vector *out)
{
    for (int v = 0; v < wide; v++)
        for (int c = 0; c < count; c += LANES) {
            int some = count - c < LANES ? count - c : LANES;
            vector block[LANES];
            for (int i = 0; i < LANES; i++) block[i] = load_some(from[v * LANES + i] + begin + c, some);
            transpose(block);
            for (int j = 0; j < LANES; j++)
                if (j < some) out[(c + j) * wide + v] = block[j];
        }
}

/* Adds them to `pairs` expansions. */
INLINE void from_lanes(int wide, int begin, int count, int pairs, const vector *in, double *const *to)
{
    for (int v = 0; v < wide; v++)
        for (int c = 0; c < count; c += LANES) {
            int some = count - c < LANES ? count - c : LANES;
            vector block[LANES];
            for (int j = 0; j < LANES; j++) block[j] = in[(c + (j < some ? j : 0)) * wide + v];
            transpose(block);
            for (int i = 0; i < LANES; i++)
                if (v * LANES + i < pairs) add_some(to[v * LANES + i] + begin + c, some, block[i]);
        }
}

/* Rotates about z and multiplies with the factors of degrees, in place. */
INLINE void azimuth(int wide, int order, const fmm_translation *t, const double *degree, double sign, vector *values)
{
    int n = fmm_harmonics(order);
    for (int l = 0, i = 0; l <= order; l++)
        for (int m = 0; m <= l; m++, i++) {
            vector c = spread(degree[l] * t->cosine[m]), s = spread(sign * degree[l] * t->sine[m]);
            for (int v = 0; v < wide; v++) {
                vector re = values[i * wide + v], im = values[(n + i) * wide + v];
                values[i * wide + v] = c * re - s * im;
                values[(n + i) * wide + v] = c * im + s * re;
            }
        }
}

INLINE void translate_wide(int wide, const fmm_translation *t, int order, int imaginary, int pairs, const double *const *from,
                           double *const *to, double *work)
{
    int n = fmm_harmonics(order);
    vector *a = (vector *)work, *b = a + 2 * n * wide;
    int together = imaginary == n ? 2 * n : n; /* values that follow one another */
    const double *lane[WIDE * LANES];          /* lanes without a pair have the first one's expansion */
    for (int i = 0; i < wide * LANES; i++) lane[i] = from[i < pairs ? i : 0];
    to_lanes(wide, 0, together, lane, a);
    if (together == n) to_lanes(wide, imaginary, n, lane, a + n * wide);
    azimuth(wide, order, t, t->degree_in, -1, a);
    rotate(wide, order, t->rotation, a, b);
    axial(wide, order, t, b, a);
    rotate(wide, order, t->rotation_back, a, b);
    for (int l = 0; l <= order; l++) /* sine parts of order 0, which no rotation writes */
        for (int v = 0; v < wide; v++) b[(n + fmm_harmonic(l, 0)) * wide + v] = spread(0);
    azimuth(wide, order, t, t->degree_out, 1, b);
    from_lanes(wide, 0, together, pairs, b, to);
    if (together == n) from_lanes(wide, imaginary, n, pairs, b + n * wide, to);
}

static void translate(const fmm_translation *translation, int order, int imaginary, int64_t pairs, const double *const *from,
                      double *const *to, double *work)
{
    int64_t first = 0;
    for (; pairs - first > LANES; first += WIDE * LANES) {
        int some = pairs - first < WIDE * LANES ? (int)(pairs - first) : WIDE * LANES;
        translate_wide(WIDE, translation, order, imaginary, some, from + first, to + first, work);
    }
    if (first < pairs) translate_wide(1, translation, order, imaginary, (int)(pairs - first), from + first, to + first, work);
}
