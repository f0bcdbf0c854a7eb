/*
 * batch_sweeps.h - sweeps over the N x N x N values of a vector of elements; included by batch_body.h.
 *
 * Meanwhile all of a component's values stay in registers (27 of the 32 of AVX-512).  A store of a whole AVX-512 vector takes as long as
 * two multiply-adds, so separate sweeps would wait for their stores.  Indices are constants, so that compilers keep arrays in registers.
 */

/* do_line(v, first, stride) for each line of an axis, do_slot(i) for each slot */
#if N == 3
#define EACH_X_LINE(do_line, v)                                                                                               \
    do_line(v, 0, 1) do_line(v, 3, 1) do_line(v, 6, 1) do_line(v, 9, 1) do_line(v, 12, 1) do_line(v, 15, 1) do_line(v, 18, 1) \
        do_line(v, 21, 1) do_line(v, 24, 1)
#define EACH_Y_LINE(do_line, v)                                                                                               \
    do_line(v, 0, 3) do_line(v, 1, 3) do_line(v, 2, 3) do_line(v, 9, 3) do_line(v, 10, 3) do_line(v, 11, 3) do_line(v, 18, 3) \
        do_line(v, 19, 3) do_line(v, 20, 3)
#define EACH_Z_LINE(do_line, v)                                                                                            \
    do_line(v, 0, 9) do_line(v, 1, 9) do_line(v, 2, 9) do_line(v, 3, 9) do_line(v, 4, 9) do_line(v, 5, 9) do_line(v, 6, 9) \
        do_line(v, 7, 9) do_line(v, 8, 9)
#define EACH_SLOT(do_slot)                                                                                                                \
    do_slot(0) do_slot(1) do_slot(2) do_slot(3) do_slot(4) do_slot(5) do_slot(6) do_slot(7) do_slot(8) do_slot(9) do_slot(10) do_slot(11) \
        do_slot(12) do_slot(13) do_slot(14) do_slot(15) do_slot(16) do_slot(17) do_slot(18) do_slot(19) do_slot(20) do_slot(21)           \
            do_slot(22) do_slot(23) do_slot(24) do_slot(25) do_slot(26)
#else
#define EACH_X_LINE(do_line, v) do_line(v, 0, 1) do_line(v, 2, 1) do_line(v, 4, 1) do_line(v, 6, 1)
#define EACH_Y_LINE(do_line, v) do_line(v, 0, 2) do_line(v, 1, 2) do_line(v, 4, 2) do_line(v, 5, 2)
#define EACH_Z_LINE(do_line, v) do_line(v, 0, 4) do_line(v, 1, 4) do_line(v, 2, 4) do_line(v, 3, 4)
#define EACH_SLOT(do_slot) do_slot(0) do_slot(1) do_slot(2) do_slot(3) do_slot(4) do_slot(5) do_slot(6) do_slot(7)
#endif

#if N == 3
#define INTERPOLATE_LINE(v, i, d)                                                          \
    {                                                                                      \
        V slope_ = v[i + 2 * d] - v[i], curve_ = v[i] + v[i + 2 * d] - (REAL)2 * v[i + d]; \
        V even_ = v[i + d] + (REAL)0.3 * curve_;                                           \
        v[i] = even_ - (REAL)HALF_G3 * slope_;                                             \
        v[i + 2 * d] = even_ + (REAL)HALF_G3 * slope_;                                     \
    }
#define INTERPOLATE_LINE_TRANSPOSED(v, i, d)                              \
    {                                                                     \
        V even_ = v[i] + v[i + 2 * d], difference_ = v[i] - v[i + 2 * d]; \
        V part_ = (REAL)0.3 * even_;                                      \
        v[i + d] += (REAL)0.4 * even_;                                    \
        v[i] = part_ + (REAL)HALF_G3 * difference_;                       \
        v[i + 2 * d] = part_ - (REAL)HALF_G3 * difference_;               \
    }
#define DIFFERENTIATE_LINE(v, i, d)                                                        \
    {                                                                                      \
        V slope_ = v[i + 2 * d] - v[i], curve_ = v[i] + v[i + 2 * d] - (REAL)2 * v[i + d]; \
        to[i] = slope_ - (REAL)2 * curve_;                                                 \
        to[i + d] = slope_;                                                                \
        to[i + 2 * d] = slope_ + (REAL)2 * curve_;                                         \
    }
/* v = (SET) or v += (ADD) the transpose, applied to `from` */
#define SET_LINE_TRANSPOSED(v, i, d)                                                         \
    {                                                                                        \
        V odd_ = from[i] - from[i + 2 * d], even_ = from[i] + from[i + 2 * d] + from[i + d]; \
        v[i] = -even_ - (REAL)2 * odd_;                                                      \
        v[i + d] = (REAL)4 * odd_;                                                           \
        v[i + 2 * d] = even_ - (REAL)2 * odd_;                                               \
    }
#define ADD_LINE_TRANSPOSED(v, i, d)                                                         \
    {                                                                                        \
        V odd_ = from[i] - from[i + 2 * d], even_ = from[i] + from[i + 2 * d] + from[i + d]; \
        v[i] = v[i] - even_ - (REAL)2 * odd_;                                                \
        v[i + d] += (REAL)4 * odd_;                                                          \
        v[i + 2 * d] = v[i + 2 * d] + even_ - (REAL)2 * odd_;                                \
    }
#else
#define INTERPOLATE_LINE(v, i, d)                                          \
    {                                                                      \
        V mean_ = (REAL)0.5 * (v[i] + v[i + d]), slope_ = v[i + d] - v[i]; \
        v[i] = mean_ - (REAL)HALF_G2 * slope_;                             \
        v[i + d] = mean_ + (REAL)HALF_G2 * slope_;                         \
    }
#define INTERPOLATE_LINE_TRANSPOSED(v, i, d) INTERPOLATE_LINE(v, i, d)
#define DIFFERENTIATE_LINE(v, i, d) to[i] = to[i + d] = v[i + d] - v[i];
#define SET_LINE_TRANSPOSED(v, i, d)      \
    {                                     \
        v[i + d] = from[i] + from[i + d]; \
        v[i] = -v[i + d];                 \
    }
#define ADD_LINE_TRANSPOSED(v, i, d)    \
    {                                   \
        V sum_ = from[i] + from[i + d]; \
        v[i] -= sum_;                   \
        v[i + d] += sum_;               \
    }
#endif

/* nodal values [SLOTS] -> gradient [3][SLOTS] at the points */
static inline __attribute__((always_inline)) void NAME(gradient)(const V *values, V *gradient)
{
    V v[SLOTS], *to;
#define LOAD_SLOT(i) v[i] = values[i];
    EACH_SLOT(LOAD_SLOT)
#undef LOAD_SLOT
    EACH_X_LINE(INTERPOLATE_LINE, v)
    EACH_Y_LINE(INTERPOLATE_LINE, v)
    EACH_Z_LINE(INTERPOLATE_LINE, v)
    to = gradient + 2 * SLOTS;
    EACH_Z_LINE(DIFFERENTIATE_LINE, v)
    to = gradient + SLOTS;
    EACH_Y_LINE(DIFFERENTIATE_LINE, v)
    to = gradient;
    EACH_X_LINE(DIFFERENTIATE_LINE, v)
}

/* The transpose: values [SLOTS] of a gradient [3][SLOTS]. */
static inline __attribute__((always_inline)) void NAME(gradient_transposed)(const V *gradient, V *values)
{
    V v[SLOTS];
    const V *from = gradient;
    EACH_X_LINE(SET_LINE_TRANSPOSED, v)
    from = gradient + SLOTS;
    EACH_Y_LINE(ADD_LINE_TRANSPOSED, v)
    from = gradient + 2 * SLOTS;
    EACH_Z_LINE(ADD_LINE_TRANSPOSED, v)
    EACH_Z_LINE(INTERPOLATE_LINE_TRANSPOSED, v)
    EACH_Y_LINE(INTERPOLATE_LINE_TRANSPOSED, v)
    EACH_X_LINE(INTERPOLATE_LINE_TRANSPOSED, v)
#define STORE_SLOT(i) values[i] = v[i];
    EACH_SLOT(STORE_SLOT)
#undef STORE_SLOT
}

#undef EACH_X_LINE
#undef EACH_Y_LINE
#undef EACH_Z_LINE
#undef EACH_SLOT
#undef INTERPOLATE_LINE
#undef INTERPOLATE_LINE_TRANSPOSED
#undef DIFFERENTIATE_LINE
#undef SET_LINE_TRANSPOSED
#undef ADD_LINE_TRANSPOSED
