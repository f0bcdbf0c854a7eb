/*
 * subdomain_setup.h - data that are computed once for a device subdomain: geometry factors, element matrices, node blocks of the diagonal.
 *
 * slopes [points][SLOTS][3] doubles: scaled slopes of the nodal shape functions at the points, 0 at slots without a node.
 * Batches of elements are those of subdomain_element.h.
 */
#include "yoke/dialect.h"

#define BLOCK (FEM_C == 3 ? 6 : 1)
#define GAUSS_3 (2 * 0.38729833462074168852) /* sqrt(3/5) */
#define GAUSS_2 (2 * 0.28867513459481288225) /* sqrt(1/3) */
#define LARGEST_DOUBLE 1.7976931348623157e308

/* ---------------------------------------------------------------------------------------------------- geometry */

/* Positions of all slots of `count` elements into x [count][3][SLOTS]; at slots without a node they follow from the others. */
YOKE_FUNCTION void place_slots(int count, int used, int identity, int patterns, YOKE_GLOBAL const yoke_int *nodes,
                               YOKE_GLOBAL const yoke_short *pattern, YOKE_GLOBAL const yoke_int *start,
                               YOKE_GLOBAL const yoke_ubyte *entry, YOKE_GLOBAL const float *weight, YOKE_GLOBAL const double *position,
                               YOKE_LOCAL_POINTER double *x)
{
    YOKE_FOR_ITEMS (t, count * 3 * SLOTS) {
        const int s = t % SLOTS, a = t / SLOTS % 3, e = t / (3 * SLOTS), p = pattern[e];
        double value = 0;
        if (p < identity) {
            value = position[3 * (yoke_long)nodes[e * used + s] + a];
        } else {
            const int row = row_number(ROWS_EXPAND, patterns, p, s);
            for (int k = start[row]; k < start[row + 1]; k++)
                value += (double)weight[k] * position[3 * (yoke_long)nodes[e * used + entry[k]] + a];
        }
        x[t] = value;
    }
    YOKE_BARRIER();
}

/* Factors at point q to factors [FEM_SUBDOMAIN_FACTORS], `step` apart; returns the determinant, not weighted. */
YOKE_FUNCTION double factors_at(int q, YOKE_GLOBAL const double *slopes, YOKE_LOCAL_POINTER const double *x, int step,
                                YOKE_GLOBAL real *factors)
{
    double j[3][3]; /* scaled dx_a/dr_b */
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            double sum = 0;
            for (int s = 0; s < SLOTS; s++) sum += slopes[(q * SLOTS + s) * 3 + b] * x[a * SLOTS + s];
            j[a][b] = sum;
        }
    }
    double cofactor[3][3];
    for (int a = 0; a < 3; a++) {
        const int a1 = (a + 1) % 3, a2 = (a + 2) % 3;
        for (int b = 0; b < 3; b++) {
            const int b1 = (b + 1) % 3, b2 = (b + 2) % 3;
            cofactor[a][b] = j[a1][b1] * j[a2][b2] - j[a1][b2] * j[a2][b1];
        }
    }
    const double determinant = j[0][0] * cofactor[0][0] + j[0][1] * cofactor[0][1] + j[0][2] * cofactor[0][2];
    for (int r = 0; r < 3; r++)
        for (int a = 0; a < 3; a++) factors[(3 * r + a) * step] = (real)(cofactor[a][r] / determinant);
    const double g = FEM_N == 3 ? GAUSS_3 : GAUSS_2;
    return determinant / (g * g * g);
}

/* Factors of the points of `count` curved elements; weighted [count][SLOTS] determinants. */
YOKE_FUNCTION void curved_factors(int count, YOKE_GLOBAL const double *slopes, YOKE_LOCAL_POINTER const double *x,
                                  YOKE_GLOBAL real *factors, YOKE_LOCAL_POINTER double *weighted)
{
    YOKE_FOR_ITEMS (t, count * SLOTS) {
        const int e = t / SLOTS, q = t % SLOTS;
        YOKE_GLOBAL real *own = factors + e * FEM_SUBDOMAIN_FACTORS * SLOTS + q;
        weighted[t] = factors_at(q, slopes, x + e * 3 * SLOTS, SLOTS, own) * rule_weight(q);
        own[9 * SLOTS] = (real)weighted[t];
    }
}

/* The same for affine elements, whose Jacobian is the same at all points: it is computed at the point where the fewest nodes contribute. */
YOKE_FUNCTION void affine_factors(int count, YOKE_GLOBAL const double *slopes, YOKE_LOCAL_POINTER const double *x,
                                  YOKE_GLOBAL real *factors, YOKE_LOCAL_POINTER double *weighted)
{
    YOKE_FOR_ITEMS (e, count) {
        YOKE_GLOBAL real *own = factors + e * FEM_SUBDOMAIN_FACTORS;
        const double determinant = factors_at(SLOTS / 2, slopes, x + e * 3 * SLOTS, 1, own);
        own[9] = (real)determinant;
        for (int q = 0; q < SLOTS; q++) weighted[e * SLOTS + q] = determinant * rule_weight(q);
    }
}

/* determinant [elements]: 1, or, if an element folds, its first weighted determinant that is not a positive number */
YOKE_KERNEL(geometry, (yoke_int begin, yoke_int middle, yoke_int end, yoke_int curved_at, yoke_int affine_at, yoke_int used,
                       yoke_int identity, yoke_int patterns, YOKE_GLOBAL const yoke_int *restrict nodes,
                       YOKE_GLOBAL const yoke_short *restrict pattern, YOKE_GLOBAL const yoke_int *restrict start,
                       YOKE_GLOBAL const yoke_ubyte *restrict entry, YOKE_GLOBAL const float *restrict weight,
                       YOKE_GLOBAL const double *restrict position, YOKE_GLOBAL const double *restrict slopes,
                       YOKE_GLOBAL real *restrict factors, YOKE_GLOBAL real *restrict affine, YOKE_GLOBAL double *restrict determinant))
{
    YOKE_LOCAL double x[ELEMENTS * 3 * SLOTS];
    YOKE_LOCAL double weighted[ELEMENTS * SLOTS];
    yoke_long first;
    int count;
    for (yoke_long chunk = YOKE_GROUP; (count = chunk_elements(chunk, begin, middle, end, &first)) > 0; chunk += YOKE_GROUPS) {
        place_slots(count, used, identity, patterns, nodes + first * used, pattern + first, start, entry, weight, position, x);
        if (first < middle)
            curved_factors(count, slopes, x, factors + (curved_at + first - begin) * FEM_SUBDOMAIN_FACTORS * SLOTS, weighted);
        else
            affine_factors(count, slopes, x, affine + (affine_at + first - middle) * FEM_SUBDOMAIN_FACTORS, weighted);
        YOKE_BARRIER();
        YOKE_FOR_ITEMS (e, count) {
            double found = 1;
            for (int q = SLOTS - 1; q >= 0; q--) {
                const double w = weighted[e * SLOTS + q];
                if (!(w > 0 && w <= LARGEST_DOUBLE)) found = w;
            }
            determinant[first + e] = found;
        }
        YOKE_BARRIER();
    }
}

/* ---------------------------------------------------------------------------------------------------- matrices */

/* v [count][FEM_C][SLOTS] = the unit vectors first_column .. of one element's dofs, at all slots */
YOKE_FUNCTION void unit_vectors(int first_column, int count, int identity, int patterns, int pattern, YOKE_GLOBAL const yoke_int *start,
                                YOKE_GLOBAL const yoke_ubyte *entry, YOKE_GLOBAL const float *weight, YOKE_LOCAL_POINTER real *v)
{
    YOKE_FOR_ITEMS (t, count * FEM_C * SLOTS) {
        const int s = t % SLOTS, c = t / SLOTS % FEM_C, column = first_column + t / (FEM_C * SLOTS), i = column / FEM_C;
        real value = 0;
        if (c == column % FEM_C) {
            if (pattern < identity) {
                value = s == i ? (real)1 : (real)0;
            } else {
                const int row = row_number(ROWS_EXPAND, patterns, pattern, s);
                for (int k = start[row]; k < start[row + 1]; k++)
                    if (entry[k] == i) value += (real)weight[k];
            }
        }
        v[t] = value;
    }
    YOKE_BARRIER();
}

/* stored [elements][m (m + 1) / 2], beginning with the element stored_begin: their matrices, including the constraints of hanging nodes */
YOKE_KERNEL(matrices, (yoke_int begin, yoke_int middle, yoke_int end, yoke_int curved_at, yoke_int affine_at, yoke_int stored_begin,
                       yoke_int used, yoke_int identity, yoke_int patterns, YOKE_GLOBAL const yoke_short *restrict pattern,
                       YOKE_GLOBAL const yoke_int *restrict start, YOKE_GLOBAL const yoke_ubyte *restrict entry,
                       YOKE_GLOBAL const float *restrict weight, YOKE_GLOBAL const real *restrict factors,
                       YOKE_GLOBAL const real *restrict affine, YOKE_GLOBAL const real *restrict moduli, YOKE_GLOBAL real *restrict stored))
{
    YOKE_LOCAL real v[ELEMENTS * FEM_C * SLOTS];
    YOKE_LOCAL real work[ELEMENTS * FEM_C * 3 * SLOTS];
    const int m = used * FEM_C;
    for (yoke_long e = begin + YOKE_GROUP; e < end; e += YOKE_GROUPS) {
        const int p = pattern[e];
        YOKE_GLOBAL real *a = stored + (e - stored_begin) * (m * (m + 1) / 2);
        for (int column = 0; column < m; column += ELEMENTS) {
            const int count = m - column < ELEMENTS ? m - column : ELEMENTS;
            unit_vectors(column, count, identity, patterns, p, start, entry, weight, v);
            multiply(count, 0, e >= middle, element_factors(e, begin, middle, curved_at, affine_at, factors, affine), moduli + 2 * e, v,
                     work);
            YOKE_FOR_ITEMS (t, count * m) {
                const int k = t / m, row = t % m, i = row / FEM_C;
                YOKE_LOCAL_POINTER const real *field = v + (k * FEM_C + row % FEM_C) * SLOTS;
                if (row >= column + k)
                    a[row * (row + 1) / 2 + column + k] =
                        p < identity ? field[i] : row_sum(row_number(ROWS_FOLD, patterns, p, i), start, entry, weight, field);
            }
            YOKE_BARRIER();
        }
    }
}

/* ---------------------------------------------------------------------------------------------------- diagonal */

/* The block of slot s of one element into block [BLOCK][SLOTS]. */
YOKE_FUNCTION void block_at(int s, YOKE_GLOBAL const double *slopes, int is_affine, YOKE_GLOBAL const real *factors, real lambda, real mu,
                            YOKE_LOCAL_POINTER real *block)
{
    real b[6] = {0, 0, 0, 0, 0, 0};
    for (int q = 0; q < SLOTS; q++) {
        real g[3], h[3], k[FEM_SUBDOMAIN_FACTORS];
        point_factors(q, is_affine, factors, k);
        for (int a = 0; a < 3; a++) g[a] = (real)slopes[(q * SLOTS + s) * 3 + a];
        for (int a = 0; a < 3; a++) h[a] = g[0] * k[a] + g[1] * k[3 + a] + g[2] * k[6 + a];
        const real weight = k[9];
        for (int a = 0; a < 3; a++) b[a] += weight * h[a] * h[a];
        b[3] += weight * h[1] * h[2];
        b[4] += weight * h[0] * h[2];
        b[5] += weight * h[0] * h[1];
    }
    const real isotropic = mu * (b[0] + b[1] + b[2]);
#if FEM_C == 3
    for (int n = 0; n < 6; n++) block[n * SLOTS + s] = (lambda + mu) * b[n] + (n < 3 ? isotropic : (real)0);
#else
    (void)lambda;
    block[s] = isotropic;
#endif
}

/* out [elements][used][BLOCK (xx yy zz yz xz xy)]: node blocks of the elements' matrices, at hanging slots as in batch_body.h */
YOKE_KERNEL(diagonal,
            (yoke_int begin, yoke_int middle, yoke_int end, yoke_int curved_at, yoke_int affine_at, yoke_int used, yoke_int identity,
             yoke_int patterns, YOKE_GLOBAL const yoke_short *restrict pattern, YOKE_GLOBAL const yoke_int *restrict start,
             YOKE_GLOBAL const yoke_ubyte *restrict entry, YOKE_GLOBAL const float *restrict weight,
             YOKE_GLOBAL const double *restrict slopes, YOKE_GLOBAL const real *restrict factors, YOKE_GLOBAL const real *restrict affine,
             YOKE_GLOBAL const real *restrict moduli, YOKE_GLOBAL real *restrict out))
{
    YOKE_LOCAL real block[ELEMENTS * BLOCK * SLOTS];
    yoke_long first;
    int count;
    for (yoke_long chunk = YOKE_GROUP; (count = chunk_elements(chunk, begin, middle, end, &first)) > 0; chunk += YOKE_GROUPS) {
        YOKE_FOR_ITEMS (t, count * SLOTS) {
            const yoke_long e = first + t / SLOTS;
            block_at(t % SLOTS, slopes, e >= middle, element_factors(e, begin, middle, curved_at, affine_at, factors, affine),
                     moduli[2 * e], moduli[2 * e + 1], block + t / SLOTS * BLOCK * SLOTS);
        }
        YOKE_BARRIER();
        YOKE_FOR_ITEMS (t, count * used * BLOCK) {
            const int n = t % BLOCK, i = t / BLOCK % used, e = t / (BLOCK * used), p = pattern[first + e];
            YOKE_LOCAL_POINTER const real *field = block + (e * BLOCK + n) * SLOTS;
            out[first * used * BLOCK + t] =
                p < identity ? field[i] : row_sum(row_number(ROWS_SQUARE, patterns, p, i), start, entry, weight, field);
        }
        YOKE_BARRIER();
    }
}

/* Inverts the symmetric blocks [nodes][BLOCK] in place; rows and columns of prescribed components become zero. */
YOKE_KERNEL(invert_blocks, (yoke_int nodes, YOKE_GLOBAL const yoke_ubyte *restrict prescribed, YOKE_GLOBAL real *restrict blocks))
{
    YOKE_FOR_ALL (i, nodes) {
        const int constrained = prescribed[i];
#if FEM_C == 1
        blocks[i] = constrained ? (real)0 : (real)1 / blocks[i];
#else
        YOKE_GLOBAL real *m = blocks + 6 * i;
        double a[3][3] = {{m[0], m[5], m[4]}, {m[5], m[1], m[3]}, {m[4], m[3], m[2]}};
        for (int c = 0; c < 3; c++) {
            if (!(constrained >> c & 1)) continue;
            for (int o = 0; o < 3; o++) a[c][o] = a[o][c] = 0;
            a[c][c] = 1;
        }
        const double xx = a[1][1] * a[2][2] - a[1][2] * a[1][2], xy = a[0][2] * a[1][2] - a[0][1] * a[2][2];
        const double xz = a[0][1] * a[1][2] - a[0][2] * a[1][1];
        const double inverse = 1 / (a[0][0] * xx + a[0][1] * xy + a[0][2] * xz);
        const double yy = a[0][0] * a[2][2] - a[0][2] * a[0][2], zz = a[0][0] * a[1][1] - a[0][1] * a[0][1];
        const double yz = a[0][1] * a[0][2] - a[0][0] * a[1][2];
        const int x = constrained & 1, y = constrained >> 1 & 1, z = constrained >> 2 & 1;
        m[0] = x ? (real)0 : (real)(xx * inverse);
        m[1] = y ? (real)0 : (real)(yy * inverse);
        m[2] = z ? (real)0 : (real)(zz * inverse);
        m[3] = y || z ? (real)0 : (real)(yz * inverse);
        m[4] = x || z ? (real)0 : (real)(xz * inverse);
        m[5] = x || y ? (real)0 : (real)(xy * inverse);
#endif
    }
}
