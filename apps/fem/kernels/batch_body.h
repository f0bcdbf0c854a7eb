/*
 * batch_body.h - element kernels by sum factorisation, several elements per SIMD vector.  Included once for each
 * REAL (double, float) x N (2, 3 nodes per direction) x C (1 Poisson, 3 elasticity) by batch.c.
 *
 * Gauss points per direction: N.  In the coordinate z in [-1,1] they are -g, (0,) g with g = sqrt(3/5) or sqrt(1/3).  Nodal values are
 * taken to the points by three sweeps of one-dimensional interpolation, then differentiated among the points ("collocation"):
 * with three values u0 u1 u2 at -g, 0, g, 2 g f'(-g) = -3 u0 + 4 u1 - u2, 2 g f'(0) = u2 - u0, 2 g f'(g) = u0 - 4 u1 + 3 u2.
 * The factor 2 g is left in: the positions are differentiated by the same sweeps, so it cancels in the inverse Jacobian.
 */
#define W VECTOR_LANES(REAL)
#define V NAME(vector)
#define SLOTS (N * N * N)

typedef REAL V __attribute__((vector_size(VECTOR_BYTES)));

/* ------------------------------------------------------------------------------- one-dimensional operations */

#if N == 3
#define INTERPOLATE_LINE(a, b, c)                                                               \
    do {                                                                                        \
        V slope = (c) - (a), curve = (a) + (c) - (REAL)2 * (b), even = (b) + (REAL)0.3 * curve; \
        (a) = even - (REAL)HALF_G3 * slope;                                                     \
        (c) = even + (REAL)HALF_G3 * slope;                                                     \
    } while (0)
#define INTERPOLATE_LINE_TRANSPOSED(a, b, c)                                            \
    do {                                                                                \
        V even = (a) + (c), odd = (REAL)HALF_G3 * ((a) - (c)), part = (REAL)0.3 * even; \
        (b) += (REAL)0.4 * even;                                                        \
        (a) = part + odd;                                                               \
        (c) = part - odd;                                                               \
    } while (0)
#endif

static inline __attribute__((always_inline)) void NAME(interpolate)(V *v)
{
    for (int axis = 0; axis < 3; axis++) {
        const int stride = axis == 0 ? 1 : axis == 1 ? N : N * N;
        for (int line = 0; line < N * N; line++) {
            V *p = v + (axis == 0 ? line * N : axis == 1 ? line / N * N * N + line % N : line);
#if N == 3
            INTERPOLATE_LINE(p[0], p[stride], p[2 * stride]);
#else
            V mean = (REAL)0.5 * (p[0] + p[stride]), slope = (REAL)HALF_G2 * (p[stride] - p[0]);
            p[0] = mean - slope;
            p[stride] = mean + slope;
#endif
        }
    }
}

static inline __attribute__((always_inline)) void NAME(interpolate_transposed)(V *v)
{
    for (int axis = 0; axis < 3; axis++) {
        const int stride = axis == 0 ? 1 : axis == 1 ? N : N * N;
        for (int line = 0; line < N * N; line++) {
            V *p = v + (axis == 0 ? line * N : axis == 1 ? line / N * N * N + line % N : line);
#if N == 3
            INTERPOLATE_LINE_TRANSPOSED(p[0], p[stride], p[2 * stride]);
#else
            V mean = (REAL)0.5 * (p[0] + p[stride]), slope = (REAL)HALF_G2 * (p[stride] - p[0]);
            p[0] = mean - slope;
            p[stride] = mean + slope;
#endif
        }
    }
}

/* gradient [3][SLOTS] of the values v [SLOTS] at the points */
static inline __attribute__((always_inline)) void NAME(differentiate)(const V *v, V *gradient)
{
    for (int axis = 0; axis < 3; axis++) {
        const int stride = axis == 0 ? 1 : axis == 1 ? N : N * N;
        for (int line = 0; line < N * N; line++) {
            int at = axis == 0 ? line * N : axis == 1 ? line / N * N * N + line % N : line;
            const V *p = v + at;
            V *g = gradient + axis * SLOTS + at;
            V slope = p[(N - 1) * stride] - p[0];
#if N == 3
            V curve = (REAL)2 * (p[0] + p[2 * stride]) - (REAL)4 * p[stride];
            g[0] = slope - curve;
            g[stride] = slope;
            g[2 * stride] = slope + curve;
#else
            g[0] = g[stride] = slope;
#endif
        }
    }
}

/* v [SLOTS] = transpose of differentiate applied to gradient [3][SLOTS] */
static inline __attribute__((always_inline)) void NAME(differentiate_transposed)(const V *gradient, V *v)
{
    for (int axis = 0; axis < 3; axis++) {
        const int stride = axis == 0 ? 1 : axis == 1 ? N : N * N;
        for (int line = 0; line < N * N; line++) {
            int at = axis == 0 ? line * N : axis == 1 ? line / N * N * N + line % N : line;
            const V *g = gradient + axis * SLOTS + at;
            V *p = v + at;
#if N == 3
            V odd = (REAL)2 * (g[0] - g[2 * stride]), even = g[0] + g[2 * stride] + g[stride];
            V low = -odd - even, high = even - odd;
            if (axis == 0) {
                p[0] = low;
                p[stride] = (REAL)2 * odd;
                p[2 * stride] = high;
            } else {
                p[0] += low;
                p[stride] += (REAL)2 * odd;
                p[2 * stride] += high;
            }
#else
            V sum = g[0] + g[stride];
            if (axis == 0) {
                p[0] = -sum;
                p[stride] = sum;
            } else {
                p[0] -= sum;
                p[stride] += sum;
            }
#endif
        }
    }
}

/* ----------------------------------------------------------------------------- hanging nodes, serendipity */

/*
 * In the lane, local [components][SLOTS][W] (scalars).  power 1: interpolation weights; power 2: their squares (for diagonals).
 * A line of a full edge with values u0 u1 u2 has at its lower half the values u0, (3 u0 + 6 u1 - u2)/8, u1.
 */
static inline void NAME(halve_line)(REAL *p, int stride, int half)
{
#if N == 3
    REAL a = p[0], b = p[stride], c = p[2 * stride];
    p[stride] = half ? (REAL)-0.125 * a + (REAL)0.75 * b + (REAL)0.375 * c : (REAL)0.375 * a + (REAL)0.75 * b - (REAL)0.125 * c;
    p[half ? 0 : 2 * stride] = b;
#else
    p[half ? 0 : stride] = (REAL)0.5 * (p[0] + p[stride]);
#endif
}

static inline void NAME(halve_line_transposed)(REAL *p, int stride, int half, int power)
{
#if N == 3
    REAL near = power == 1 ? (REAL)0.375 : (REAL)0.140625, middle = power == 1 ? (REAL)0.75 : (REAL)0.5625;
    REAL far = power == 1 ? (REAL)-0.125 : (REAL)0.015625;
    REAL *low = half ? p + 2 * stride : p, *high = half ? p : p + 2 * stride; /* low: the end that the half shares */
    REAL shared = *low, inner = p[stride], centre = *high;
    *low = shared + near * inner;
    p[stride] = centre + middle * inner;
    *high = far * inner;
#else
    REAL weight = power == 1 ? (REAL)0.5 : (REAL)0.25;
    REAL *low = half ? p + stride : p, *high = half ? p : p + stride;
    REAL shared = *low, inner = *high;
    *low = shared + weight * inner;
    *high = weight * inner;
#endif
}

static void NAME(expand_lane)(REAL *local, int lane, int components, const fem_hanging *h, int serendipity)
{
    REAL face[3][9], edge[3][3];
    for (int c = 0; c < components; c++) {
        REAL *p = local + (c * SLOTS) * W + lane;
        for (int f = 0; f < h->faces; f++) {
            for (int i = 0; i < N * N; i++)
                face[f][i] = p[(h->face[f].base + i % N * h->face[f].stride_s + i / N * h->face[f].stride_t) * W];
            if (N == 3 && serendipity)
                face[f][4] = (REAL)-0.25 * (face[f][0] + face[f][2] + face[f][6] + face[f][8]) +
                             (REAL)0.5 * (face[f][1] + face[f][3] + face[f][5] + face[f][7]);
        }
        for (int e = 0; e < h->edges; e++)
            for (int i = 0; i < N; i++) edge[e][i] = p[(h->edge[e].base + i * h->edge[e].stride) * W];
        for (int f = 0; f < h->faces; f++) {
            for (int i = 0; i < N; i++) NAME(halve_line)(face[f] + N * i, 1, h->face[f].half_s);
            for (int i = 0; i < N; i++) NAME(halve_line)(face[f] + i, N, h->face[f].half_t);
            for (int i = 0; i < N * N; i++)
                p[(h->face[f].base + i % N * h->face[f].stride_s + i / N * h->face[f].stride_t) * W] = face[f][i];
        }
        for (int e = 0; e < h->edges; e++) {
            NAME(halve_line)(edge[e], 1, h->edge[e].half);
            for (int i = 0; i < N; i++) p[(h->edge[e].base + i * h->edge[e].stride) * W] = edge[e][i];
        }
    }
}

/* Slots shared by two hanging faces are read, and set to zero, once. */
static void NAME(fold_lane)(REAL *local, int lane, int components, const fem_hanging *h, int serendipity, int power)
{
    REAL face[3][9], edge[3][3];
    for (int c = 0; c < components; c++) {
        REAL *p = local + (c * SLOTS) * W + lane;
        for (int f = 0; f < h->faces; f++) {
            for (int i = 0; i < N * N; i++) {
                REAL *at = p + (h->face[f].base + i % N * h->face[f].stride_s + i / N * h->face[f].stride_t) * W;
                face[f][i] = *at;
                *at = 0;
            }
        }
        for (int e = 0; e < h->edges; e++) {
            for (int i = 0; i < N; i++) {
                REAL *at = p + (h->edge[e].base + i * h->edge[e].stride) * W;
                edge[e][i] = *at;
                *at = 0;
            }
        }
        for (int f = 0; f < h->faces; f++) {
            for (int i = 0; i < N; i++) NAME(halve_line_transposed)(face[f] + N * i, 1, h->face[f].half_s, power);
            for (int i = 0; i < N; i++) NAME(halve_line_transposed)(face[f] + i, N, h->face[f].half_t, power);
            if (N == 3 && serendipity) {
                REAL corner = power == 1 ? (REAL)-0.25 : (REAL)0.0625, middle = power == 1 ? (REAL)0.5 : (REAL)0.25, centre = face[f][4];
                for (int i = 0; i < N * N; i++) face[f][i] += (i % 2 ? middle : corner) * centre;
                face[f][4] = 0;
            }
            for (int i = 0; i < N * N; i++)
                p[(h->face[f].base + i % N * h->face[f].stride_s + i / N * h->face[f].stride_t) * W] += face[f][i];
        }
        for (int e = 0; e < h->edges; e++) {
            NAME(halve_line_transposed)(edge[e], 1, h->edge[e].half, power);
            for (int i = 0; i < N; i++) p[(h->edge[e].base + i * h->edge[e].stride) * W] += edge[e][i];
        }
    }
}

#if N == 3
static void NAME(fill_serendipity)(V *v)
{
    V corners = {0}, edges = {0};
    for (int s = 0; s < 27; s++) {
        int middles = (s % 3 == 1) + (s / 3 % 3 == 1) + (s / 9 == 1);
        if (middles == 0) corners += v[s];
        if (middles == 1) edges += v[s];
    }
    v[13] = (REAL)0.25 * (edges - corners);
    for (int axis = 0; axis < 3; axis++) {
        const int normal = axis == 0 ? 1 : axis == 1 ? 3 : 9, s = axis == 0 ? 3 : 1, t = axis == 2 ? 3 : 9;
        for (int side = 0; side < 2; side++) {
            V *p = v + 2 * side * normal;
            p[s + t] =
                (REAL)0.5 * (p[s] + p[t] + p[s + 2 * t] + p[2 * s + t]) - (REAL)0.25 * (p[0] + p[2 * s] + p[2 * t] + p[2 * s + 2 * t]);
        }
    }
}

static void NAME(fold_serendipity)(V *v)
{
    V centre = v[13];
    for (int s = 0; s < 27; s++) {
        int middles = (s % 3 == 1) + (s / 3 % 3 == 1) + (s / 9 == 1);
        if (middles == 0) v[s] -= (REAL)0.25 * centre;
        if (middles == 1) v[s] += (REAL)0.25 * centre;
    }
    v[13] = (V){0};
    for (int axis = 0; axis < 3; axis++) {
        const int normal = axis == 0 ? 1 : axis == 1 ? 3 : 9, s = axis == 0 ? 3 : 1, t = axis == 2 ? 3 : 9;
        for (int side = 0; side < 2; side++) {
            V *p = v + 2 * side * normal;
            V edge = (REAL)0.5 * p[s + t], corner = (REAL)0.25 * p[s + t];
            p[s + t] = (V){0};
            p[s] += edge, p[t] += edge, p[s + 2 * t] += edge, p[2 * s + t] += edge;
            p[0] -= corner, p[2 * s] -= corner, p[2 * t] -= corner, p[2 * s + 2 * t] -= corner;
        }
    }
}
#endif

static inline void NAME(expand)(const fem_batches *b, const int16_t *face_code, int lanes, int components, V *local)
{
    for (int lane = 0; lane < lanes; lane++)
        if (face_code[lane]) NAME(expand_lane)((REAL *)local, lane, components, &b->hanging[face_code[lane]], b->serendipity);
#if N == 3
    if (b->serendipity)
        for (int c = 0; c < components; c++) NAME(fill_serendipity)(local + c * SLOTS);
#endif
}

static inline void NAME(fold)(const fem_batches *b, const int16_t *face_code, int components, V *local)
{
#if N == 3
    if (b->serendipity)
        for (int c = 0; c < components; c++) NAME(fold_serendipity)(local + c * SLOTS);
#endif
    for (int lane = 0; lane < W; lane++)
        if (face_code[lane]) NAME(fold_lane)((REAL *)local, lane, components, &b->hanging[face_code[lane]], b->serendipity, 1);
}

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

/* ------------------------------------------------------------------------------------------ element product */

/* At one point: from the gradient in scaled reference coordinates to the weighted stress (flux) in the same, in place. */
static inline __attribute__((always_inline)) void NAME(stress)(V *gradient, int q, const V *k, V lambda, V mu)
{
    V weight = k[9];
#if C == 3
    V h[3][3];
    for (int i = 0; i < 3; i++) {
        const V *g = gradient + i * 3 * SLOTS + q;
        for (int j = 0; j < 3; j++) h[i][j] = g[0] * k[j] + g[SLOTS] * k[3 + j] + g[2 * SLOTS] * k[6 + j];
    }
    V m = mu * weight, pressure = lambda * weight * (h[0][0] + h[1][1] + h[2][2]);
    V xx = pressure + (REAL)2 * m * h[0][0], yy = pressure + (REAL)2 * m * h[1][1], zz = pressure + (REAL)2 * m * h[2][2];
    V yz = m * (h[1][2] + h[2][1]), xz = m * (h[0][2] + h[2][0]), xy = m * (h[0][1] + h[1][0]);
    for (int r = 0; r < 3; r++) {
        gradient[(0 + r) * SLOTS + q] = xx * k[3 * r] + xy * k[3 * r + 1] + xz * k[3 * r + 2];
        gradient[(3 + r) * SLOTS + q] = xy * k[3 * r] + yy * k[3 * r + 1] + yz * k[3 * r + 2];
        gradient[(6 + r) * SLOTS + q] = xz * k[3 * r] + yz * k[3 * r + 1] + zz * k[3 * r + 2];
    }
#else
    (void)lambda;
    V m = mu * weight, h[3];
    V *g = gradient + q;
    for (int j = 0; j < 3; j++) h[j] = m * (g[0] * k[j] + g[SLOTS] * k[3 + j] + g[2 * SLOTS] * k[6 + j]);
    for (int r = 0; r < 3; r++) g[r * SLOTS] = h[0] * k[3 * r] + h[1] * k[3 * r + 1] + h[2] * k[3 * r + 2];
#endif
}

/* local [C][SLOTS] nodal values -> element product, in place */
static inline __attribute__((always_inline)) void NAME(element)(V *local, const V *factors, V lambda, V mu)
{
    V gradient[C * 3 * SLOTS];
    for (int c = 0; c < C; c++) {
        NAME(interpolate)(local + c * SLOTS);
        NAME(differentiate)(local + c * SLOTS, gradient + c * 3 * SLOTS);
    }
    for (int q = 0; q < SLOTS; q++) NAME(stress)(gradient, q, factors + q * FEM_FACTORS, lambda, mu);
    for (int c = 0; c < C; c++) {
        NAME(differentiate_transposed)(gradient + c * 3 * SLOTS, local + c * SLOTS);
        NAME(interpolate_transposed)(local + c * SLOTS);
    }
}

static void NAME(apply)(const fem_batches *b, int32_t begin, int32_t end, const void *u, void *y)
{
    V local[C * SLOTS];
    for (int32_t batch = begin; batch < end; batch++) {
        const int64_t table = (int64_t)batch * SLOTS * W;
        const int16_t *face_code = b->face_code + (int64_t)batch * W;
        const V *moduli = (const V *)b->moduli + 2 * (int64_t)batch;
        NAME(gather)(b, b->gather + table, W, C, u, (REAL *)local);
        NAME(expand)(b, face_code, W, C, local);
        NAME(element)(local, (const V *)b->factors + (int64_t)batch * SLOTS * FEM_FACTORS, moduli[0], moduli[1]);
        NAME(fold)(b, face_code, C, local);
        NAME(scatter)(b, b->scatter + table, NAME(lanes)(b, batch), C, (const REAL *)local, y);
    }
}

/* ---------------------------------------------------------------------------------- element matrices, stored */

static void NAME(matrix)(const fem_batches *b, int32_t batch, void *packed)
{
    V *a = packed;
    const V *moduli = (const V *)b->moduli + 2 * (int64_t)batch;
    const int16_t *face_code = b->face_code + (int64_t)batch * W;
    for (int column = 0; column < b->used * C; column++) {
        V local[C * SLOTS];
        for (int i = 0; i < C * SLOTS; i++) local[i] = (V){0};
        local[column % C * SLOTS + b->slot[column / C]] += (REAL)1;
        NAME(expand)(b, face_code, W, C, local);
        NAME(element)(local, (const V *)b->factors + (int64_t)batch * SLOTS * FEM_FACTORS, moduli[0], moduli[1]);
        NAME(fold)(b, face_code, C, local);
        for (int row = column; row < b->used * C; row++) a[row * (row + 1) / 2 + column] = local[row % C * SLOTS + b->slot[row / C]];
    }
}

static void NAME(apply_stored)(const fem_batches *b, int32_t begin, int32_t end, const void *u, void *y)
{
    const int m = b->used * C;
    const int64_t size = (int64_t)m * (m + 1) / 2;
    V local[C * SLOTS], in[C * SLOTS], out[C * SLOTS];
    for (int32_t batch = begin; batch < end; batch++) {
        const int64_t table = (int64_t)batch * SLOTS * W;
        const V *a = (const V *)b->stored + batch * size;
        NAME(gather)(b, b->gather + table, W, C, u, (REAL *)local);
        for (int i = 0; i < m; i++) {
            in[i] = local[i % C * SLOTS + b->slot[i / C]];
            out[i] = (V){0};
        }
        for (int row = 0; row < m; row++) { /* each entry is read once and serves its row and its column */
            V sum = {0}, value = in[row];
            for (int column = 0; column < row; column++, a++) {
                sum += *a * in[column];
                out[column] += *a * value;
            }
            out[row] += sum + *a++ * value;
        }
        for (int i = 0; i < m; i++) local[i % C * SLOTS + b->slot[i / C]] = out[i];
        NAME(scatter)(b, b->scatter + table, NAME(lanes)(b, batch), C, (const REAL *)local, y);
    }
}

/* ------------------------------------------------------------------------------------------------- diagonal */

/* Scaled slopes of the shape functions at the points: table [slot][point][axis]; slots without a node have none. */
static void NAME(slopes)(int serendipity, REAL table[SLOTS][SLOTS][3])
{
    REAL shape[N][N], slope[N][N]; /* [point][node] */
    NAME(basis)(shape, slope);
    for (int q = 0; q < SLOTS; q++) {
        const int qi = q % N, qj = q / N % N, ql = q / (N * N);
        for (int axis = 0; axis < 3; axis++) {
            V v[SLOTS];
            for (int s = 0; s < SLOTS; s++) {
                const int i = s % N, j = s / N % N, l = s / (N * N);
                v[s] =
                    (V){0} + (axis == 0 ? slope : shape)[qi][i] * (axis == 1 ? slope : shape)[qj][j] * (axis == 2 ? slope : shape)[ql][l];
            }
#if N == 3
            if (serendipity) NAME(fold_serendipity)(v);
#endif
            for (int s = 0; s < SLOTS; s++) table[s][q][axis] = v[s][0];
        }
    }
    (void)serendipity;
}

/*
 * Node blocks of the element matrices.  At hanging slots only the blocks on the element's own diagonal are carried to the nodes, with
 * squared weights: enough for a preconditioner, and never smaller than what matters (see docs/methods.md).
 */
static void NAME(diagonal)(const fem_batches *b, int32_t begin, int32_t end, void *diagonal)
{
    enum { BLOCK = C == 3 ? 6 : 1 };
    REAL slopes[SLOTS][SLOTS][3];
    NAME(slopes)(b->serendipity, slopes);
    for (int32_t batch = begin; batch < end; batch++) {
        V local[BLOCK * SLOTS];
        const V *moduli = (const V *)b->moduli + 2 * (int64_t)batch, lambda = moduli[0], mu = moduli[1];
        const V *factors = (const V *)b->factors + (int64_t)batch * SLOTS * FEM_FACTORS;
        const int16_t *face_code = b->face_code + (int64_t)batch * W;
        for (int s = 0; s < SLOTS; s++) {
            V block[BLOCK];
            for (int c = 0; c < BLOCK; c++) block[c] = (V){0};
            for (int q = 0; q < SLOTS; q++) {
                const REAL gx = slopes[s][q][0], gy = slopes[s][q][1], gz = slopes[s][q][2];
                const V *k = factors + q * FEM_FACTORS;
                V x = gx * k[0] + gy * k[3] + gz * k[6], y = gx * k[1] + gy * k[4] + gz * k[7], z = gx * k[2] + gy * k[5] + gz * k[8];
                V wx = k[9] * x, wy = k[9] * y, wz = k[9] * z;
#if C == 3
                block[0] += wx * x, block[1] += wy * y, block[2] += wz * z;
                block[3] += wy * z, block[4] += wx * z, block[5] += wx * y;
#else
                block[0] += wx * x + wy * y + wz * z;
#endif
            }
#if C == 3
            V isotropic = mu * (block[0] + block[1] + block[2]);
            for (int c = 0; c < 6; c++) local[c * SLOTS + s] = (lambda + mu) * block[c] + (c < 3 ? isotropic : (V){0});
#else
            local[s] = mu * block[0];
#endif
        }
        (void)lambda;
        for (int lane = 0; lane < W; lane++)
            if (face_code[lane]) NAME(fold_lane)((REAL *)local, lane, BLOCK, &b->hanging[face_code[lane]], b->serendipity, 2);
        NAME(scatter)(b, b->scatter + (int64_t)batch * SLOTS * W, NAME(lanes)(b, batch), BLOCK, (const REAL *)local, diagonal);
    }
}

#undef W
#undef V
#undef SLOTS
#undef INTERPOLATE_LINE
#undef INTERPOLATE_LINE_TRANSPOSED
