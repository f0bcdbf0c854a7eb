/*
 * subdomain_values.h - operations of a device subdomain on values at nodes: sums over the elements, interface values, vectors, dot
 * products, rows.
 */
#include "yoke/dialect.h"

/* Loops over 0 .. n - 1 by blocks, so that a group of one item also accesses memory in order. */
#define FOR_VALUES(i, n)                                                                                                            \
    for (yoke_long i##_begin = YOKE_GROUP * FEM_BLOCK; i##_begin < (n); i##_begin += YOKE_GROUPS * FEM_BLOCK)                       \
        for (yoke_long i = i##_begin + YOKE_ITEM, i##_end = i##_begin + FEM_BLOCK < (n) ? i##_begin + FEM_BLOCK : (n); i < i##_end; \
             i += YOKE_ITEMS)

/* ------------------------------------------------------------------------------------------------- node sums */

YOKE_FUNCTION real node_sum(yoke_int node, int width, int c, YOKE_GLOBAL const yoke_int *start, YOKE_GLOBAL const yoke_int *place,
                            YOKE_GLOBAL const real *results)
{
    real sum = 0;
    for (int k = start[node]; k < start[node + 1]; k++) sum += results[(yoke_long)place[k] * width + c];
    return sum;
}

/*
 * y [nodes][FEM_C] at the nodes list[begin] .. list[end - 1] = sums of the elements' results [elements x used][FEM_C], those of a node at
 * place[start[node]] and so on.  list NULL: the nodes begin .. end - 1 themselves.
 */
YOKE_KERNEL(sum_nodes, (yoke_int begin, yoke_int end, YOKE_GLOBAL const yoke_int *restrict list, YOKE_GLOBAL const yoke_int *restrict start,
                        YOKE_GLOBAL const yoke_int *restrict place, YOKE_GLOBAL const real *restrict results, YOKE_GLOBAL real *restrict y))
{
    const yoke_long count = (yoke_long)(end - begin) * FEM_C;
    FOR_VALUES (i, count) {
        const yoke_int at = begin + (yoke_int)(i / FEM_C), c = (yoke_int)(i % FEM_C), node = list ? list[at] : at;
        y[(yoke_long)node * FEM_C + c] = node_sum(node, FEM_C, c, start, place, results);
    }
}

/* The same for the diagonal's blocks [nodes][BLOCK], all nodes. */
YOKE_KERNEL(sum_blocks, (yoke_int nodes, YOKE_GLOBAL const yoke_int *restrict start, YOKE_GLOBAL const yoke_int *restrict place,
                         YOKE_GLOBAL const real *restrict results, YOKE_GLOBAL real *restrict blocks))
{
    const yoke_long count = (yoke_long)nodes * BLOCK;
    FOR_VALUES (i, count) blocks[i] = node_sum((yoke_int)(i / BLOCK), BLOCK, (yoke_int)(i % BLOCK), start, place, results);
}

/* ----------------------------------------------------------------------------------------------- interface */

/* packed [count][width] = x [nodes][width] at the listed nodes, and back */
YOKE_KERNEL(pack, (yoke_int count, yoke_int width, YOKE_GLOBAL const yoke_int *restrict list, YOKE_GLOBAL const real *restrict x,
                   YOKE_GLOBAL real *restrict packed))
{
    YOKE_FOR_ALL (i, count)
        for (int c = 0; c < width; c++) packed[i * width + c] = x[(yoke_long)list[i] * width + c];
}

YOKE_KERNEL(unpack, (yoke_int count, yoke_int width, YOKE_GLOBAL const yoke_int *restrict list, YOKE_GLOBAL const real *restrict packed,
                     YOKE_GLOBAL real *restrict x))
{
    YOKE_FOR_ALL (i, count)
        for (int c = 0; c < width; c++) x[(yoke_long)list[i] * width + c] = packed[i * width + c];
}

/* ------------------------------------------------------------------------------------------------- vectors */

/* x = 0 at the listed dofs */
YOKE_KERNEL(mask, (yoke_long count, YOKE_GLOBAL const yoke_long *restrict list, YOKE_GLOBAL real *restrict x))
{
    YOKE_FOR_ALL (i, count) x[list[i]] = 0;
}

YOKE_KERNEL(scale_from_double, (yoke_long n, double alpha, YOKE_GLOBAL const double *from, YOKE_GLOBAL real *to))
{
    FOR_VALUES (i, n) to[i] = (real)(alpha * from[i]);
}

YOKE_KERNEL(scale_from_float, (yoke_long n, double alpha, YOKE_GLOBAL const float *from, YOKE_GLOBAL real *to))
{
    FOR_VALUES (i, n) to[i] = (real)(alpha * (double)from[i]);
}

YOKE_KERNEL(axpy, (yoke_long n, double alpha, YOKE_GLOBAL const real *x, YOKE_GLOBAL real *y))
{
    const real a = (real)alpha;
    FOR_VALUES (i, n) y[i] += a * x[i];
}

YOKE_KERNEL(xpby, (yoke_long n, YOKE_GLOBAL const real *x, double beta, YOKE_GLOBAL real *y))
{
    const real b = (real)beta;
    FOR_VALUES (i, n) y[i] = x[i] + b * y[i];
}

YOKE_KERNEL(subtract, (yoke_long n, YOKE_GLOBAL const real *x, YOKE_GLOBAL const real *y, YOKE_GLOBAL real *z))
{
    FOR_VALUES (i, n) z[i] = x[i] - y[i];
}

/* x += alpha p, r -= alpha q */
YOKE_KERNEL(advance,
            (yoke_long n, double alpha, YOKE_GLOBAL const real *p, YOKE_GLOBAL const real *q, YOKE_GLOBAL real *x, YOKE_GLOBAL real *r))
{
    const real a = (real)alpha;
    FOR_VALUES (i, n) {
        x[i] += a * p[i];
        r[i] -= a * q[i];
    }
}

/*
 * sums [groups][FEM_SUBDOMAIN_DOTS]: each group's part of the sums over owned dofs of x y, `count` pairs.  Entry l of the group's memory
 * sums every FEM_BLOCK-th value, whatever the number of items, and the entries are added up as a tree: the result depends only on the
 * number of groups.
 */
YOKE_KERNEL(dots, (yoke_long n, yoke_int count, YOKE_GLOBAL const yoke_ubyte *owned, YOKE_GLOBAL const real *x0, YOKE_GLOBAL const real *y0,
                   YOKE_GLOBAL const real *x1, YOKE_GLOBAL const real *y1, YOKE_GLOBAL const real *x2, YOKE_GLOBAL const real *y2,
                   YOKE_GLOBAL const real *x3, YOKE_GLOBAL const real *y3, YOKE_GLOBAL double *sums))
{
    YOKE_LOCAL double place[FEM_SUBDOMAIN_DOTS * FEM_BLOCK];
    YOKE_FOR_ITEMS (l, FEM_SUBDOMAIN_DOTS * FEM_BLOCK) place[l] = 0;
    YOKE_BARRIER();
    for (yoke_long begin = YOKE_GROUP * FEM_BLOCK; begin < n; begin += YOKE_GROUPS * FEM_BLOCK) {
        const int length = n - begin < FEM_BLOCK ? (int)(n - begin) : FEM_BLOCK;
        YOKE_FOR_ITEMS (l, length) {
            const yoke_long i = begin + l;
            if (owned && !owned[i / FEM_C]) continue;
            place[l] += (double)x0[i] * (double)y0[i];
            if (count > 1) place[FEM_BLOCK + l] += (double)x1[i] * (double)y1[i];
            if (count > 2) place[2 * FEM_BLOCK + l] += (double)x2[i] * (double)y2[i];
            if (count > 3) place[3 * FEM_BLOCK + l] += (double)x3[i] * (double)y3[i];
        }
    }
    YOKE_BARRIER();
    for (int step = FEM_BLOCK / 2; step > 0; step /= 2) {
        YOKE_FOR_ITEMS (t, FEM_SUBDOMAIN_DOTS * step) {
            const int at = t / step * FEM_BLOCK + t % step;
            place[at] += place[at + step];
        }
        YOKE_BARRIER();
    }
    YOKE_FOR_ITEMS (k, FEM_SUBDOMAIN_DOTS) sums[YOKE_GROUP * FEM_SUBDOMAIN_DOTS + k] = place[k * FEM_BLOCK];
}

/* ---------------------------------------------------------------------------------------------- node blocks */

YOKE_FUNCTION void apply_block(YOKE_GLOBAL const real *block, const real *r, real *z)
{
#if FEM_C == 1
    z[0] = block[0] * r[0];
#else
    z[0] = block[0] * r[0] + block[5] * r[1] + block[4] * r[2];
    z[1] = block[5] * r[0] + block[1] * r[1] + block[3] * r[2];
    z[2] = block[4] * r[0] + block[3] * r[1] + block[2] * r[2];
#endif
}

YOKE_KERNEL(block_solve, (yoke_int nodes, YOKE_GLOBAL const real *restrict blocks, YOKE_GLOBAL const real *r, YOKE_GLOBAL real *z))
{
    FOR_VALUES (i, nodes) {
        real in[FEM_C], out[FEM_C];
        for (int c = 0; c < FEM_C; c++) in[c] = r[i * FEM_C + c];
        apply_block(blocks + i * BLOCK, in, out);
        for (int c = 0; c < FEM_C; c++) z[i * FEM_C + c] = out[c];
    }
}

/* d = a d + s B (b - t), x += d; a = 0: d is not read; t NULL: d = x = s B b */
YOKE_KERNEL(chebyshev_step, (yoke_int nodes, double a, double s, YOKE_GLOBAL const real *restrict blocks, YOKE_GLOBAL const real *b,
                             YOKE_GLOBAL const real *t, YOKE_GLOBAL real *d, YOKE_GLOBAL real *x))
{
    const real old = (real)a, step = (real)s;
    FOR_VALUES (i, nodes) {
        real in[FEM_C], out[FEM_C];
        for (int c = 0; c < FEM_C; c++) in[c] = t ? b[i * FEM_C + c] - t[i * FEM_C + c] : b[i * FEM_C + c];
        apply_block(blocks + i * BLOCK, in, out);
        for (int c = 0; c < FEM_C; c++) {
            const real change = t && old != 0 ? old * d[i * FEM_C + c] + step * out[c] : step * out[c];
            d[i * FEM_C + c] = change;
            x[i * FEM_C + c] = t ? x[i * FEM_C + c] + change : change;
        }
    }
}

/* ---------------------------------------------------------------------------------------------------- rows */

YOKE_FUNCTION real row_value(yoke_long i, YOKE_GLOBAL const yoke_long *start, YOKE_GLOBAL const yoke_int *node,
                             YOKE_GLOBAL const float *weight, YOKE_GLOBAL const real *from)
{
    const yoke_long row = i / FEM_C;
    const int c = (int)(i % FEM_C);
    real sum = 0;
    for (yoke_long k = start[row]; k < start[row + 1]; k++) sum += (real)weight[k] * from[(yoke_long)node[k] * FEM_C + c];
    return sum;
}

/* to [rows][FEM_C] += (or =) rows from */
YOKE_KERNEL(rows_add, (yoke_int rows, YOKE_GLOBAL const yoke_long *restrict start, YOKE_GLOBAL const yoke_int *restrict node,
                       YOKE_GLOBAL const float *restrict weight, YOKE_GLOBAL const real *restrict from, YOKE_GLOBAL real *restrict to))
{
    const yoke_long n = (yoke_long)rows * FEM_C;
    FOR_VALUES (i, n) to[i] += row_value(i, start, node, weight, from);
}

YOKE_KERNEL(rows_set, (yoke_int rows, YOKE_GLOBAL const yoke_long *restrict start, YOKE_GLOBAL const yoke_int *restrict node,
                       YOKE_GLOBAL const float *restrict weight, YOKE_GLOBAL const real *restrict from, YOKE_GLOBAL real *restrict to))
{
    const yoke_long n = (yoke_long)rows * FEM_C;
    FOR_VALUES (i, n) to[i] = row_value(i, start, node, weight, from);
}
