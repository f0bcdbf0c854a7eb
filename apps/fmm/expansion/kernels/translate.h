/*
 * translate.h - translates several pairs at once, one pair in each lane; part of expansion.c.
 *
 * The work array has the real parts of all harmonics and then the imaginary parts, each as a few vectors of lanes.  Rotations are done in
 * place degree by degree, and the axial translation order by order, with a few additional vectors.  Expansions up to order 16 therefore
 * stay in the first-level cache.
 */
enum {
    WIDE = 2,                             /* vectors of targets */
    MAX_WIDE = 2 * WIDE,                  /* vectors of sources: a target has sources on both of its sides */
    MAX_ROWS = 8,                         /* rows of a matrix at a time */
    MAX_SUMS = LANES == 8 ? 20 : 12,      /* sums that stay in registers */
    MOST_VALUES = 2 * (FMM_MAX_ORDER + 1) /* values of a degree: real and imaginary parts */
};
_Static_assert(WIDE *LANES <= FMM_MAX_PAIRS, "fmm_translation_work is for FMM_MAX_PAIRS");

/* ------------------------------------------------------------------------------------------------ products */

/* Computes `rows` rows of the product of a matrix with `wide` columns of vectors; successive values are in_step and out_step vectors apart.
 * */
INLINE void dense_rows(int rows, int wide, int in_step, int out_step, int columns, const double *matrix, const vector *in, vector *out)
{
    vector sum[MAX_ROWS][MAX_WIDE];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < wide; v++) sum[r][v] = spread(matrix[r * columns]) * in[v];
    for (int c = 1; c < columns; c++)
        for (int r = 0; r < rows; r++) {
            vector factor = spread(matrix[r * columns + c]);
            for (int v = 0; v < wide; v++) sum[r][v] += factor * in[c * in_step + v];
        }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < wide; v++) out[r * out_step + v] = sum[r][v];
}

/* A column of an axial translation: harmonics of one order m from degree m on; degree k is at [(k - m) * wide]. */
typedef struct column {
    int m;
    const vector *even, *odd; /* the terms of rows of even and of odd degrees */
    vector side[WIDE];        /* factors of the results of odd degrees */
    vector *out;              /* result of degree l at [fmm_harmonic(l, m) * step] */
} column;

/* Computes output degrees l .. l + rows - 1 from input degrees first .. last. */
INLINE void axial_rows(int rows, int wide, int step, const fmm_translation *t, const column *c, int l, int first, int last)
{
    const vector *even = l & 1 ? c->odd : c->even,
                 *odd = l & 1 ? c->even : c->odd; /* terms of the first row and every second one, and of the other rows */
    vector sum[MAX_ROWS][WIDE];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < wide; v++) sum[r][v] = spread(0);
    for (int k = first; k <= last; k++)
        for (int r = 0; r < rows; r++) {
            vector factor = spread(t->axial[t->out_step * (l + r) + t->in_step * k]);
            for (int v = 0; v < wide; v++) sum[r][v] += factor * (r & 1 ? odd : even)[(k - c->m) * wide + v];
        }
    for (int r = 0, i = fmm_harmonic(l, c->m); r < rows; i += l + ++r)
        for (int v = 0; v < wide; v++) c->out[i * step + v] = (l + r) & 1 ? sum[r][v] * c->side[v] : sum[r][v];
}

/* call(rows, ...) with a constant number of rows. */
#define CASE_ROWS(rows, call, ...) \
    case rows:                     \
        call(rows, __VA_ARGS__);   \
        break;
#define BY_ROWS(rows, call, ...)        \
    switch (rows) {                     \
        CASE_ROWS(1, call, __VA_ARGS__) \
        CASE_ROWS(2, call, __VA_ARGS__) \
        CASE_ROWS(3, call, __VA_ARGS__) \
        CASE_ROWS(4, call, __VA_ARGS__) \
        CASE_ROWS(5, call, __VA_ARGS__) \
        CASE_ROWS(6, call, __VA_ARGS__) \
        CASE_ROWS(7, call, __VA_ARGS__) \
        CASE_ROWS(8, call, __VA_ARGS__) \
    }

/* The number of rows in the next of the groups of nearly equal size into which `left` rows are divided. */
INLINE int rows_next(int wide, int left)
{
    int most = MAX_SUMS / wide < MAX_ROWS ? MAX_SUMS / wide : MAX_ROWS, groups = (left + most - 1) / most;
    return (left + groups - 1) / groups;
}

INLINE void dense(int wide, int in_step, int out_step, int n, const double *matrix, const vector *in, vector *out)
{
    for (int row = 0, rows; row < n; row += rows) {
        rows = rows_next(wide, n - row);
        BY_ROWS(rows, dense_rows, wide, in_step, out_step, n, matrix + row * n, in, out + row * out_step)
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

/* Loads `some` (1 .. LANES) values from `at` on, followed by zeros; add_some adds as many. */
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

/* Loads values begin .. begin + count - 1 of the expansion of each lane to out[value * wide + vector]. */
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

/* The reverse of to_lanes: adds the values to `pairs` expansions. */
INLINE void from_lanes(int wide, int step, int begin, int count, int pairs, const vector *in, double *const *to)
{
    for (int v = 0; v < wide; v++)
        for (int c = 0; c < count; c += LANES) {
            int some = count - c < LANES ? count - c : LANES;
            vector block[LANES];
            for (int j = 0; j < LANES; j++) block[j] = in[(c + (j < some ? j : 0)) * step + v];
            transpose(block);
            for (int i = 0; i < LANES; i++)
                if (v * LANES + i < pairs) add_some(to[v * LANES + i] + begin + c, some, block[i]);
        }
}

/* ---------------------------------------------------------------------------------------------- translation */

/* Rotates the real and imaginary parts of a degree about z and multiplies them by a factor. */
INLINE void turn(int wide, int in_step, int out_step, int l, const fmm_translation *t, double degree, double sign, const vector *in,
                 const vector *in_im, vector *out, vector *out_im)
{
    for (int m = 0; m <= l; m++) {
        vector c = spread(degree * t->cosine[m]), s = spread(sign * degree * t->sine[m]);
        for (int v = 0; v < wide; v++) {
            vector re = in[m * in_step + v], im = in_im[m * in_step + v];
            out[m * out_step + v] = c * re - s * im;
            out_im[m * out_step + v] = c * im + s * re;
        }
    }
}

/* Rotates about z and then about y (rotation.h has the table). */
INLINE void turn_in(int wide, int order, const fmm_translation *t, vector *values)
{
    const double *table = t->rotation;
    vector own[MOST_VALUES * MAX_WIDE];
    for (int l = 0; l <= order; l++) {
        vector *real = values + fmm_harmonic(l, 0) * wide, *imaginary = real + fmm_harmonics(order) * wide;
        turn(wide, wide, wide, l, t, t->degree_in[l], -1, real, imaginary, own, own + (l + 1) * wide);
        for (int part = 0, rows = l + 1; part < 2; part++, table += rows * rows, rows--)
            dense(wide, wide, wide, rows, table, own + part * (l + 2) * wide, part ? imaginary + wide : real);
    }
}

/* The reverse of turn_in; the vectors of a value are `step` vectors apart. */
INLINE void turn_out(int wide, int step, int order, const fmm_translation *t, vector *values)
{
    const double *table = t->rotation_back;
    vector own[MOST_VALUES * MAX_WIDE];
    for (int l = 0; l <= order; l++) {
        vector *real = values + fmm_harmonic(l, 0) * step, *imaginary = real + fmm_harmonics(order) * step;
        for (int v = 0; v < wide; v++) own[(l + 1) * wide + v] = spread(0); /* the imaginary part of order 0, which no rotation writes */
        for (int part = 0, rows = l + 1; part < 2; part++, table += rows * rows, rows--)
            dense(wide, step, wide, rows, table, part ? imaginary + step : real, own + part * (l + 2) * wide);
        turn(wide, wide, step, l, t, t->degree_out[l], 1, own, own + (l + 1) * wide, real, imaginary);
    }
}

/*
 * Translates along the z axis.  A source on the other side of the target has (-1)^(l + k) times the factor of output degree l and input
 * degree k.  Sources on both sides are therefore translated together: their sum if l + k is even, else their difference.
 */
INLINE void axial(int wide, int both, int order, const fmm_translation *t, const vector side[WIDE], vector *values)
{
    const int n = fmm_harmonics(order), step = both ? 2 * wide : wide;
    vector even[(FMM_MAX_ORDER + 1) * WIDE], odd[(FMM_MAX_ORDER + 1) * WIDE];
    column c = {.even = even, .odd = both ? odd : even};
    for (int v = 0; v < wide; v++) c.side[v] = side[v];
    for (c.m = 0; c.m <= order; c.m++)
        for (int imaginary = 0; imaginary <= (c.m > 0); imaginary++) {
            c.out = values + imaginary * n * step;
            for (int k = c.m; k <= order; k++)
                for (int v = 0; v < wide; v++) {
                    const vector *in = c.out + fmm_harmonic(k, c.m) * step + v;
                    const int at = (k - c.m) * wide + v;
                    if (both) {
                        vector sum = in[0] + in[wide], difference = in[0] - in[wide];
                        even[at] = k & 1 ? difference : sum;
                        odd[at] = k & 1 ? sum : difference;
                    } else
                        even[at] = k & 1 ? in[0] * side[v] : in[0];
                }
            for (int l = c.m, rows; l <= order; l += rows) {
                rows = rows_next(wide, order + 1 - l);
                int first = t->out_step < 0 ? l : c.m, last = t->in_step < 0 ? l + rows - 1 : order;
                BY_ROWS(rows, axial_rows, wide, step, t, &c, l, first, last)
            }
        }
}

/* Translates sources ahead, in the direction of the vector, or behind, if from[i] is NULL; with `both` it translates both of them. */
INLINE void translate_wide(int wide, int both, const fmm_translation *t, int order, const int imaginary[2], int pairs,
                           const double *const *from, const double *const *behind, double *const *to, double *work)
{
    const int n = fmm_harmonics(order), step = both ? 2 * wide : wide;
    const int together[2] = {imaginary[0] == n ? 2 * n : n, imaginary[1] == n ? 2 * n : n}; /* number of contiguous values */
    vector *values = (vector *)work, side[WIDE] = {{0}};
    const double *lane[MAX_WIDE * LANES];
    for (int i = 0; i < wide * LANES; i++) {
        const int pair = i < pairs ? i : 0; /* lanes without a pair have the first one's expansion */
        lane[i] = from[pair] ? from[pair] : behind[pair];
        side[i / LANES][i % LANES] = from[pair] ? 1 : -1;
        if (both) lane[wide * LANES + i] = behind[pair];
    }
    to_lanes(step, 0, together[0], lane, values);
    if (together[0] == n) to_lanes(step, imaginary[0], n, lane, values + n * step);
    turn_in(step, order, t, values);
    axial(wide, both, order, t, side, values);
    turn_out(wide, step, order, t, values);
    from_lanes(wide, step, 0, together[1], pairs, values, to);
    if (together[1] == n) from_lanes(wide, step, imaginary[1], n, pairs, values + n * step, to);
}

INLINE void translate_all(int both, const fmm_translation *t, int order, const int imaginary[2], int64_t pairs, const double *const *from,
                          const double *const *behind, double *const *to, double *work)
{
    int64_t first = 0;
    for (; pairs - first > LANES; first += WIDE * LANES) {
        const int some = pairs - first < WIDE * LANES ? (int)(pairs - first) : WIDE * LANES;
        translate_wide(WIDE, both, t, order, imaginary, some, from + first, behind ? behind + first : NULL, to + first, work);
    }
    if (first < pairs)
        translate_wide(1, both, t, order, imaginary, (int)(pairs - first), from + first, behind ? behind + first : NULL, to + first, work);
}

static void translate(const fmm_translation *translation, int order, const int imaginary[2], int64_t pairs, const double *const *from,
                      const double *const *behind, double *const *to, double *work)
{
    translate_all(0, translation, order, imaginary, pairs, from, behind, to, work);
}

static void translate_both(const fmm_translation *translation, int order, const int imaginary[2], int64_t pairs, const double *const *from,
                           const double *const *behind, double *const *to, double *work)
{
    translate_all(1, translation, order, imaginary, pairs, from, behind, to, work);
}
