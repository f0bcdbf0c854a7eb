/*
 * cpu_vector.h - vector operations of the CPU subdomain on one chunk of dofs, begin .. end - 1, or nodes; included for REAL = double
 * and float.
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

/* to [components] = add x to + the sparse row i of `from`; components and add are constants in all calls. */
static inline __attribute__((always_inline)) void NAME(row)(const int components, const int add, const fem_rows *rows, int64_t i,
                                                            const REAL *from, REAL *to)
{
    REAL sum[3];
    for (int c = 0; c < components; c++) sum[c] = add ? to[c] : 0;
    for (int64_t k = rows->start[i], end = rows->start[i + 1]; k < end; k++) {
        const REAL weight = (REAL)rows->weight[k], *value = from + (int64_t)rows->node[k] * components;
        for (int c = 0; c < components; c++) sum[c] += weight * value[c];
    }
    for (int c = 0; c < components; c++) to[c] = sum[c];
}

static void NAME(rows_add)(int components, const fem_rows *rows, const REAL *from, REAL *restrict to, int64_t first_node, int64_t last_node)
{
    if (components == 3)
        for (int64_t i = first_node; i < last_node; i++) NAME(row)(3, 1, rows, i, from, to + 3 * i);
    else
        for (int64_t i = first_node; i < last_node; i++) NAME(row)(1, 1, rows, i, from, to + i);
}

static void NAME(rows_set)(int components, const fem_rows *rows, const REAL *from, REAL *restrict to, int64_t first_node, int64_t last_node)
{
    if (components == 3)
        for (int64_t i = first_node; i < last_node; i++) NAME(row)(3, 0, rows, i, from, to + 3 * i);
    else
        for (int64_t i = first_node; i < last_node; i++) NAME(row)(1, 0, rows, i, from, to + i);
}
