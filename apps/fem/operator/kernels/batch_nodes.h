/* batch_nodes.h - copies nodal values between vectors of the subdomain and vectors of lanes; included by batch_body.h. */

/* Any number of components, any stride of the index table: for positions, blocks of the diagonal, and last batches. */
static inline void NAME(gather)(const fem_batches *b, const int32_t *index, int stride, int components, const REAL *u, REAL *local)
{
    for (int i = 0; i < b->used; i++) {
        int s = b->slot[i];
        for (int lane = 0; lane < W; lane++) {
            const REAL *from = u + (int64_t)index[s * stride + lane] * components;
            for (int c = 0; c < components; c++) local[(c * SLOTS + s) * W + lane] = from[c];
        }
    }
}

static inline void NAME(scatter)(const fem_batches *b, const int32_t *index, int lanes, int components, const REAL *local, REAL *y)
{
    for (int i = 0; i < b->used; i++) {
        int s = b->slot[i];
        for (int lane = 0; lane < lanes; lane++) {
            REAL *to = y + (int64_t)index[s * W + lane] * components;
            for (int c = 0; c < components; c++) to[c] += local[(c * SLOTS + s) * W + lane];
        }
    }
}

static inline int NAME(lanes)(const fem_batches *b, int32_t batch)
{
    int32_t left = b->elements - batch * W;
    return left < W ? left : W;
}

/*
 * The same for three components of whole vectors, by transposing in registers.  A node is read as four values, of which the last is not
 * used: vectors have additional room at their end.
 */
#if C == 3 && HAVE_SHUFFLE && VECTOR_BYTES > 16
typedef REAL NAME(four) __attribute__((vector_size(4 * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));
typedef REAL NAME(two) __attribute__((vector_size(2 * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));

#define NODE(lane) (*(const NAME(four) *)(u + 3 * (int64_t)index[lane]))

/* The values of one slot. */
static inline __attribute__((always_inline)) void NAME(gather_slot)(const int32_t *index, const REAL *u, V *x, V *y, V *z)
{
#if REAL_SIZE == 8 && VECTOR_BYTES == 64
    V a = JOIN_8(NODE(0), NODE(2)), b = JOIN_8(NODE(1), NODE(3)), c = JOIN_8(NODE(4), NODE(6)), d = JOIN_8(NODE(5), NODE(7));
    V low = INTERLEAVE_EVEN_8(a, b), high = INTERLEAVE_EVEN_8(c, d);
    *x = EVEN_PAIRS_8(low, high);
    *z = ODD_PAIRS_8(low, high);
    *y = EVEN_PAIRS_8(INTERLEAVE_ODD_8(a, b), INTERLEAVE_ODD_8(c, d));
#elif REAL_SIZE == 8
    V a = NODE(0), b = NODE(1), c = NODE(2), d = NODE(3);
    V low = INTERLEAVE_EVEN_4(a, b), high = INTERLEAVE_EVEN_4(c, d);
    *x = EVEN_PAIRS_4(low, high);
    *z = ODD_PAIRS_4(low, high);
    *y = EVEN_PAIRS_4(INTERLEAVE_ODD_4(a, b), INTERLEAVE_ODD_4(c, d));
#elif VECTOR_BYTES == 64
#define NODES_16(i) JOIN_16(JOIN_8(NODE(i), NODE(i + 4)), JOIN_8(NODE(i + 8), NODE(i + 12)))
    V a = NODES_16(0), b = NODES_16(1), c = NODES_16(2), d = NODES_16(3);
#undef NODES_16
    V low = INTERLEAVE_LOW_16(a, b), high = INTERLEAVE_LOW_16(c, d);
    *x = LOW_HALVES_16(low, high);
    *y = HIGH_HALVES_16(low, high);
    *z = LOW_HALVES_16(INTERLEAVE_HIGH_16(a, b), INTERLEAVE_HIGH_16(c, d));
#else
    V a = JOIN_8(NODE(0), NODE(4)), b = JOIN_8(NODE(1), NODE(5)), c = JOIN_8(NODE(2), NODE(6)), d = JOIN_8(NODE(3), NODE(7));
    V low = INTERLEAVE_LOW_8(a, b), high = INTERLEAVE_LOW_8(c, d);
    *x = LOW_HALVES_8(low, high);
    *y = HIGH_HALVES_8(low, high);
    *z = LOW_HALVES_8(INTERLEAVE_HIGH_8(a, b), INTERLEAVE_HIGH_8(c, d));
#endif
}
#undef NODE

static inline void NAME(gather_values)(const fem_batches *b, const int32_t *index, const REAL *u, V *local)
{
    for (int i = 0; i < b->used; i++) {
        int s = b->slot[i];
        NAME(gather_slot)(index + s * W, u, local + s, local + SLOTS + s, local + 2 * SLOTS + s);
    }
}

/* One lane after the other: two lanes of a slot can be the same node. */
static inline void NAME(scatter_values)(const fem_batches *b, const int32_t *index, int lanes, const V *local, REAL *y)
{
    if (lanes < W) {
        NAME(scatter)(b, index, lanes, 3, (const REAL *)local, y);
        return;
    }
    for (int i = 0; i < b->used; i++) {
        const int s = b->slot[i];
        const REAL *z = (const REAL *)(local + 2 * SLOTS + s);
#if REAL_SIZE == 8 && VECTOR_BYTES == 64
#define PAIR(i, v) __builtin_shufflevector(v, v, 2 * (i), 2 * (i) + 1)
        const V even = INTERLEAVE_EVEN_8(local[s], local[SLOTS + s]), odd = INTERLEAVE_ODD_8(local[s], local[SLOTS + s]);
        const NAME(two)
            xy[W] = {PAIR(0, even), PAIR(0, odd), PAIR(1, even), PAIR(1, odd), PAIR(2, even), PAIR(2, odd), PAIR(3, even), PAIR(3, odd)};
#undef PAIR
#else
        const REAL *x0 = (const REAL *)(local + s), *y0 = (const REAL *)(local + SLOTS + s);
        NAME(two) xy[W];
        for (int lane = 0; lane < W; lane++) xy[lane] = (NAME(two)){x0[lane], y0[lane]};
#endif
#pragma GCC unroll 16
        for (int lane = 0; lane < W; lane++) {
            REAL *to = y + 3 * (int64_t)index[s * W + lane];
            *(NAME(two) *)to += xy[lane];
            to[2] += z[lane];
        }
    }
}
#else
static inline void NAME(gather_values)(const fem_batches *b, const int32_t *index, const REAL *u, V *local)
{
    NAME(gather)(b, index, W, C, u, (REAL *)local);
}

static inline void NAME(scatter_values)(const fem_batches *b, const int32_t *index, int lanes, const V *local, REAL *y)
{
    NAME(scatter)(b, index, lanes, C, (const REAL *)local, y);
}
#endif
