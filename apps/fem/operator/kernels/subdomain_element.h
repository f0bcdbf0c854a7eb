/*
 * subdomain_element.h - the element-by-element product on any device.  The arithmetic is that of batch_body.h, where it is explained.  Here
 * the lines and points of several elements are spread over the items of a group, and all fields are in the group's memory.
 *
 * Elements have `used` nodes each (8, 20 or 27): nodes [elements][used].  Values at all SLOTS slots follow from those of the used ones by
 * the element's pattern, which describes its hanging nodes (and the interpolation of serendipity elements).  The patterns are three tables
 * of sparse rows, [patterns][SLOTS] rows each, one after the other.  Row r has the entries start[r] .. start[r + 1] - 1 of entry (a number
 * below 27) and weight:
 *     ROWS_EXPAND  a slot from used nodes (numbers 0 .. used - 1)
 *     ROWS_FOLD    a used node from slots: the transpose
 *     ROWS_SQUARE  the same for diagonals, with squared weights
 * Patterns below `identity` are the identity, and need no rows.
 *
 * A launch works on a batch: the elements begin .. middle - 1 are curved, with factors [FEM_SUBDOMAIN_FACTORS][SLOTS] each from index
 * curved_at of `factors` on; middle .. end - 1 are affine, with [FEM_SUBDOMAIN_FACTORS] each from index affine_at of `affine` on.  The
 * elements that a group processes at a time are of one kind.
 *
 * A product writes each element's own result, [elements][used][FEM_C], and sum_nodes (subdomain_values.h) adds them up in a fixed order; or
 * it adds to y itself (subdomain_sizes.h).
 */
#include "yoke/dialect.h"

typedef FEM_REAL real;

#define SLOTS (FEM_N * FEM_N * FEM_N)
#define LINES (FEM_N * FEM_N)
#define ELEMENTS FEM_PRODUCT_ELEMENTS(FEM_N, FEM_C)
#define HALF_G3 ((real)0.38729833462074168852) /* sqrt(3/5)/2 */
#define HALF_G2 ((real)0.28867513459481288225) /* sqrt(1/3)/2 */

#define ROWS_EXPAND 0
#define ROWS_FOLD 1
#define ROWS_SQUARE 2

/* Number of the row of a table for a slot (or used node) of a pattern. */
YOKE_FUNCTION int row_number(int table, int patterns, int pattern, int slot) { return (table * patterns + pattern) * SLOTS + slot; }

YOKE_FUNCTION real row_sum(int row, YOKE_GLOBAL const yoke_int *start, YOKE_GLOBAL const yoke_ubyte *entry, YOKE_GLOBAL const float *weight,
                           YOKE_LOCAL_POINTER const real *values)
{
    real sum = 0;
    for (int k = start[row]; k < start[row + 1]; k++) sum += (real)weight[k] * values[entry[k]];
    return sum;
}

/* The first slot of a line, and the step along it. */
YOKE_FUNCTION int line_stride(int axis) { return axis == 0 ? 1 : axis == 1 ? FEM_N : LINES; }

YOKE_FUNCTION int line_begin(int axis, int line)
{
    return axis == 0 ? line * FEM_N : axis == 1 ? line / FEM_N * LINES + line % FEM_N : line;
}

/* The elements of a batch that belong to the chunk: their number, 0 after the last chunk, and the first of them. */
YOKE_FUNCTION int chunk_elements(yoke_long chunk, int begin, int middle, int end, yoke_long *first)
{
    const yoke_long curved = (middle - begin + ELEMENTS - 1) / ELEMENTS;
    const int from = chunk < curved ? begin : middle, to = chunk < curved ? middle : end;
    *first = from + (chunk < curved ? chunk : chunk - curved) * ELEMENTS;
    return to - *first < ELEMENTS ? (*first < to ? (int)(to - *first) : 0) : ELEMENTS;
}

/* The index of the factors of a batch's element. */
YOKE_FUNCTION YOKE_GLOBAL const real *element_factors(yoke_long e, int begin, int middle, int curved_at, int affine_at,
                                                      YOKE_GLOBAL const real *factors, YOKE_GLOBAL const real *affine)
{
    return e < middle ? factors + (curved_at + e - begin) * FEM_SUBDOMAIN_FACTORS * SLOTS
                      : affine + (affine_at + e - middle) * FEM_SUBDOMAIN_FACTORS;
}

/* The weight of point q. */
YOKE_FUNCTION double rule_weight(int q)
{
#if FEM_N == 3
    const int i = q % 3, j = q / 3 % 3, l = q / 9;
    return (double)((i == 1 ? 8 : 5) * (j == 1 ? 8 : 5) * (l == 1 ? 8 : 5)) / 5832;
#else
    (void)q;
    return 0.125;
#endif
}

/* The factors of a point: for an affine element those of the element. */
YOKE_FUNCTION void point_factors(int q, int is_affine, YOKE_GLOBAL const real *factors, real *k)
{
    if (is_affine) {
        for (int n = 0; n < FEM_SUBDOMAIN_FACTORS; n++) k[n] = factors[n];
        k[9] *= (real)rule_weight(q);
    } else {
        for (int n = 0; n < FEM_SUBDOMAIN_FACTORS; n++) k[n] = factors[n * SLOTS + q];
    }
}

/* ------------------------------------------------------------------------------------------------------ sweeps */

/* Interpolates fields [fields][SLOTS] from the nodes to the points, or back by the transpose, along one axis. */
YOKE_FUNCTION void interpolate(YOKE_LOCAL_POINTER real *v, int fields, int axis)
{
    const int stride = line_stride(axis);
    YOKE_FOR_ITEMS (t, fields * LINES) {
        YOKE_LOCAL_POINTER real *p = v + t / LINES * SLOTS + line_begin(axis, t % LINES);
#if FEM_N == 3
        const real a = p[0], b = p[stride], c = p[2 * stride];
        const real slope = c - a, even = b + (real)0.3 * (a + c - (real)2 * b);
        p[0] = even - HALF_G3 * slope;
        p[2 * stride] = even + HALF_G3 * slope;
#else
        const real a = p[0], b = p[stride], mean = (real)0.5 * (a + b), slope = HALF_G2 * (b - a);
        p[0] = mean - slope;
        p[stride] = mean + slope;
#endif
    }
    YOKE_BARRIER();
}

YOKE_FUNCTION void interpolate_transposed(YOKE_LOCAL_POINTER real *v, int fields, int axis)
{
#if FEM_N == 3
    const int stride = line_stride(axis);
    YOKE_FOR_ITEMS (t, fields * LINES) {
        YOKE_LOCAL_POINTER real *p = v + t / LINES * SLOTS + line_begin(axis, t % LINES);
        const real a = p[0], c = p[2 * stride];
        const real even = a + c, odd = HALF_G3 * (a - c), part = (real)0.3 * even;
        p[0] = part + odd;
        p[stride] += (real)0.4 * even;
        p[2 * stride] = part - odd;
    }
    YOKE_BARRIER();
#else
    interpolate(v, fields, axis); /* two points: symmetric */
#endif
}

/* The scaled slope at point `at` (0 .. FEM_N - 1) of the line p. */
YOKE_FUNCTION real slope_at(YOKE_LOCAL_POINTER const real *p, int stride, int at)
{
#if FEM_N == 3
    const real a = p[0], b = p[stride], c = p[2 * stride];
    return (c - a) + (real)(at - 1) * ((real)2 * (a + c) - (real)4 * b);
#else
    (void)at;
    return p[stride] - p[0];
#endif
}

/* The transpose: the contribution of the slopes g on a line to the value at `at`. */
YOKE_FUNCTION real slope_transposed_at(YOKE_LOCAL_POINTER const real *g, int stride, int at)
{
#if FEM_N == 3
    const real odd = (real)2 * (g[0] - g[2 * stride]), even = g[0] + g[2 * stride] + g[stride];
    return at == 1 ? (real)2 * odd : (real)(at - 1) * even - odd;
#else
    const real sum = g[0] + g[stride];
    return at == 0 ? -sum : sum;
#endif
}

/* ----------------------------------------------------------------------------------------------------- product */

/*
 * At point q of one element: from values v [FEM_C][SLOTS] to the weighted stress (flux) in scaled reference coordinates,
 * stress [FEM_C][3][SLOTS].
 */
YOKE_FUNCTION void stress_at(int q, int is_affine, YOKE_GLOBAL const real *factors, real lambda, real mu, YOKE_LOCAL_POINTER const real *v,
                             YOKE_LOCAL_POINTER real *stress)
{
    const int i = q % FEM_N, j = q / FEM_N % FEM_N, l = q / LINES;
    real k[FEM_SUBDOMAIN_FACTORS], h[FEM_C][3];
    point_factors(q, is_affine, factors, k);
    const real weight = k[9];
    for (int c = 0; c < FEM_C; c++) {
        const real gx = slope_at(v + c * SLOTS + q - i, 1, i), gy = slope_at(v + c * SLOTS + q - j * FEM_N, FEM_N, j),
                   gz = slope_at(v + c * SLOTS + q - l * LINES, LINES, l);
        for (int a = 0; a < 3; a++) h[c][a] = gx * k[a] + gy * k[3 + a] + gz * k[6 + a];
    }
#if FEM_C == 3
    const real m = mu * weight, pressure = lambda * weight * (h[0][0] + h[1][1] + h[2][2]);
    const real xx = pressure + (real)2 * m * h[0][0], yy = pressure + (real)2 * m * h[1][1], zz = pressure + (real)2 * m * h[2][2];
    const real yz = m * (h[1][2] + h[2][1]), xz = m * (h[0][2] + h[2][0]), xy = m * (h[0][1] + h[1][0]);
    for (int r = 0; r < 3; r++) {
        stress[(0 + r) * SLOTS + q] = xx * k[3 * r] + xy * k[3 * r + 1] + xz * k[3 * r + 2];
        stress[(3 + r) * SLOTS + q] = xy * k[3 * r] + yy * k[3 * r + 1] + yz * k[3 * r + 2];
        stress[(6 + r) * SLOTS + q] = xz * k[3 * r] + yz * k[3 * r + 1] + zz * k[3 * r + 2];
    }
#else
    (void)lambda;
    for (int r = 0; r < 3; r++)
        stress[r * SLOTS + q] = mu * weight * (h[0][0] * k[3 * r] + h[0][1] * k[3 * r + 1] + h[0][2] * k[3 * r + 2]);
#endif
}

/*
 * Nodal values v [count][FEM_C][SLOTS] become the products of `count` elements of one kind, whose factors and moduli are `element_step` (1,
 * or 0: all have those of the first) elements apart.  work [count][FEM_C][3][SLOTS].  Begins after a barrier and ends with one.
 */
YOKE_FUNCTION void multiply(int count, int element_step, int is_affine, YOKE_GLOBAL const real *factors, YOKE_GLOBAL const real *moduli,
                            YOKE_LOCAL_POINTER real *v, YOKE_LOCAL_POINTER real *work)
{
    const int fields = count * FEM_C, size = is_affine ? FEM_SUBDOMAIN_FACTORS : FEM_SUBDOMAIN_FACTORS * SLOTS;
    for (int axis = 0; axis < 3; axis++) interpolate(v, fields, axis);
    YOKE_FOR_ITEMS (t, count * SLOTS) {
        const int e = t / SLOTS, from = e * element_step;
        stress_at(t % SLOTS, is_affine, factors + from * size, moduli[2 * from], moduli[2 * from + 1], v + e * FEM_C * SLOTS,
                  work + e * FEM_C * 3 * SLOTS);
    }
    YOKE_BARRIER();
    YOKE_FOR_ITEMS (t, fields * SLOTS) {
        const int q = t % SLOTS, i = q % FEM_N, j = q / FEM_N % FEM_N, l = q / LINES;
        YOKE_LOCAL_POINTER const real *g = work + t / SLOTS * 3 * SLOTS + q;
        v[t] = slope_transposed_at(g - i, 1, i) + slope_transposed_at(g + SLOTS - j * FEM_N, FEM_N, j) +
               slope_transposed_at(g + 2 * SLOTS - l * LINES, LINES, l);
    }
    YOKE_BARRIER();
    for (int axis = 0; axis < 3; axis++) interpolate_transposed(v, fields, axis);
}

/* The products of a batch with u [nodes][FEM_C]; out [elements][used][FEM_C] of all elements, or, if `adding` adds, [nodes][FEM_C]. */
YOKE_KERNEL(product,
            (yoke_int begin, yoke_int middle, yoke_int end, yoke_int curved_at, yoke_int affine_at, yoke_int used, yoke_int identity,
             yoke_int patterns, YOKE_GLOBAL const yoke_int *restrict nodes, YOKE_GLOBAL const yoke_short *restrict pattern,
             YOKE_GLOBAL const yoke_int *restrict start, YOKE_GLOBAL const yoke_ubyte *restrict entry,
             YOKE_GLOBAL const float *restrict weight, YOKE_GLOBAL const real *restrict factors, YOKE_GLOBAL const real *restrict affine,
             YOKE_GLOBAL const real *restrict moduli, YOKE_GLOBAL const real *restrict u, yoke_int adding, YOKE_GLOBAL real *restrict out))
{
    YOKE_LOCAL real v[ELEMENTS * FEM_C * SLOTS];
    YOKE_LOCAL real work[ELEMENTS * FEM_C * 3 * SLOTS];
    yoke_long first;
    int count;
    for (yoke_long chunk = YOKE_GROUP; (count = chunk_elements(chunk, begin, middle, end, &first)) > 0; chunk += YOKE_GROUPS) {
        YOKE_FOR_ITEMS (t, count * used * FEM_C) {
            const int c = t % FEM_C, i = t / FEM_C % used, e = t / (FEM_C * used);
            const real value = u[(yoke_long)nodes[first * used + t / FEM_C] * FEM_C + c];
            if (pattern[first + e] < identity)
                v[(e * FEM_C + c) * SLOTS + i] = value;
            else
                work[(e * FEM_C + c) * SLOTS + i] = value;
        }
        YOKE_BARRIER();
        YOKE_FOR_ITEMS (t, count * FEM_C * SLOTS) {
            const int p = pattern[first + t / (FEM_C * SLOTS)];
            if (p >= identity)
                v[t] = row_sum(row_number(ROWS_EXPAND, patterns, p, t % SLOTS), start, entry, weight, work + t / SLOTS * SLOTS);
        }
        YOKE_BARRIER();
        multiply(count, 1, first >= middle, element_factors(first, begin, middle, curved_at, affine_at, factors, affine),
                 moduli + 2 * first, v, work);
        YOKE_FOR_ITEMS (t, count * used * FEM_C) {
            const int c = t % FEM_C, i = t / FEM_C % used, e = t / (FEM_C * used), p = pattern[first + e];
            YOKE_LOCAL_POINTER const real *field = v + (e * FEM_C + c) * SLOTS;
            const real value = p < identity ? field[i] : row_sum(row_number(ROWS_FOLD, patterns, p, i), start, entry, weight, field);
            const yoke_long dof = (yoke_long)nodes[first * used + t / FEM_C] * FEM_C + c;
            if (adding == FEM_SUBDOMAIN_KEEP) out[first * used * FEM_C + t] = value;
            if (adding == FEM_SUBDOMAIN_ADD) out[dof] += value;
#if defined(YOKE_HOST) || defined(FEM_ATOMIC)
            if (adding == FEM_SUBDOMAIN_ADD_ATOMIC) YOKE_ATOMIC_ADD(out + dof, value);
#endif
        }
        YOKE_BARRIER();
    }
}

/*
 * The same with the elements' matrices: stored [elements][m (m + 1) / 2], m = used x FEM_C, packed lower triangles by rows.  A matrix is
 * copied to the group's memory, so that it is read once, in order; rows and columns are one triangular number apart there, and therefore
 * not in the same bank.
 */
#define STORED_ELEMENTS FEM_STORED_ELEMENTS(FEM_N, FEM_C)
#define STORED_ROWS (SLOTS * FEM_C)
#define STORED_SIZE (STORED_ROWS * (STORED_ROWS + 1) / 2)

YOKE_KERNEL(product_stored, (yoke_int begin, yoke_int end, yoke_int used, YOKE_GLOBAL const yoke_int *restrict nodes,
                             YOKE_GLOBAL const real *restrict stored, YOKE_GLOBAL const real *restrict u, YOKE_GLOBAL real *restrict out))
{
    YOKE_LOCAL real matrix[STORED_ELEMENTS * STORED_SIZE];
    YOKE_LOCAL real x[STORED_ELEMENTS * STORED_ROWS];
    const int m = used * FEM_C, size = m * (m + 1) / 2;
    for (yoke_long first = begin + YOKE_GROUP * STORED_ELEMENTS; first < end; first += YOKE_GROUPS * STORED_ELEMENTS) {
        const int count = end - first < STORED_ELEMENTS ? (int)(end - first) : STORED_ELEMENTS;
        YOKE_FOR_ITEMS (t, count * m) x[t] = u[(yoke_long)nodes[first * used + t / FEM_C] * FEM_C + t % FEM_C];
        YOKE_FOR_ITEMS (t, count * size) matrix[t] = stored[first * size + t];
        YOKE_BARRIER();
        YOKE_FOR_ITEMS (t, count * m) {
            const int e = t / m, row = t % m;
            YOKE_LOCAL_POINTER const real *a = matrix + e * size, *values = x + e * m;
            real sum = 0;
            for (int column = 0; column < row; column++) sum += a[row * (row + 1) / 2 + column] * values[column];
            for (int column = row; column < m; column++) sum += a[column * (column + 1) / 2 + row] * values[column];
            out[first * m + t] = sum;
        }
        YOKE_BARRIER();
    }
}
