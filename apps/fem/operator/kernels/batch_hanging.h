/* ----------------------------------------------------------------------------- hanging nodes, serendipity */

/*
 * In one lane: local [components][SLOTS][W] (scalars).  power 1: interpolation weights; power 2: their squares (for diagonals).  A line of
 * a full edge with values u0 u1 u2 has at its lower half the values u0, (3 u0 + 6 u1 - u2)/8, u1.
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

/* Slots that two hanging faces share are read, and set to zero, only once. */
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
        int middles = fem_slot_middles(s);
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
        int middles = fem_slot_middles(s);
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
