/*
 * part_vector.h - vector operations of the CPU part on one chunk of dofs, begin .. end - 1, or nodes; included for REAL = double and float.
 */
static void NAME(write)(REAL *to, const double *from, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) to[i] = (REAL)from[i];
}

static void NAME(read)(const REAL *from, double *to, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) to[i] = (double)from[i];
}

static void NAME(scale_from_double)(double alpha, const double *from, REAL *to, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) to[i] = (REAL)(alpha * from[i]);
}

static void NAME(scale_from_float)(double alpha, const float *from, REAL *to, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) to[i] = (REAL)(alpha * (double)from[i]);
}

static void NAME(axpy)(double alpha, const REAL *x, REAL *restrict y, int64_t begin, int64_t end)
{
    const REAL a = (REAL)alpha;
#pragma omp simd
    for (int64_t i = begin; i < end; i++) y[i] += a * x[i];
}

static void NAME(xpby)(const REAL *x, double beta, REAL *restrict y, int64_t begin, int64_t end)
{
    const REAL b = (REAL)beta;
#pragma omp simd
    for (int64_t i = begin; i < end; i++) y[i] = x[i] + b * y[i];
}

static void NAME(subtract)(const REAL *x, const REAL *y, REAL *z, int64_t begin, int64_t end)
{
#pragma omp simd
    for (int64_t i = begin; i < end; i++) z[i] = x[i] - y[i];
}

static double NAME(dot)(const REAL *x, const REAL *y, int64_t begin, int64_t end)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = begin; i < end; i++) sum += (double)x[i] * (double)y[i];
    return sum;
}

static void NAME(advance)(double alpha, const REAL *p, const REAL *q, REAL *restrict x, REAL *restrict r, int64_t begin, int64_t end)
{
    const REAL a = (REAL)alpha;
#pragma omp simd
    for (int64_t i = begin; i < end; i++) {
        x[i] += a * p[i];
        r[i] -= a * q[i];
    }
}

/* Sum of the sparse row i, for each component. */
static inline void NAME(row)(int components, const fem_rows *rows, int64_t i, const REAL *from, REAL sum[3])
{
    for (int c = 0; c < 3; c++) sum[c] = 0;
    for (int64_t k = rows->start[i]; k < rows->start[i + 1]; k++)
        for (int c = 0; c < components; c++) sum[c] += (REAL)rows->weight[k] * from[(int64_t)rows->node[k] * components + c];
}

static void NAME(rows_add)(int components, const fem_rows *rows, const REAL *from, REAL *restrict to, int64_t first_node, int64_t last_node)
{
    for (int64_t i = first_node; i < last_node; i++) {
        REAL sum[3];
        NAME(row)(components, rows, i, from, sum);
        for (int c = 0; c < components; c++) to[i * components + c] += sum[c];
    }
}

static void NAME(rows_set)(int components, const fem_rows *rows, const REAL *from, REAL *restrict to, int64_t first_node, int64_t last_node)
{
    for (int64_t i = first_node; i < last_node; i++) {
        REAL sum[3];
        NAME(row)(components, rows, i, from, sum);
        for (int c = 0; c < components; c++) to[i * components + c] = sum[c];
    }
}
