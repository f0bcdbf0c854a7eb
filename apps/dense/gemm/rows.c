/* Products on the cores, computed by the BLAS. */
#include <math.h>
#include <omp.h>

#include "gemm/gemm.h"

/*
 * The time of a tile of C with r rows and c columns, relative to that of its products, is 1 + few_rows / r + few_columns / c, because the
 * BLAS packs all of B and the rows of A for each tile.  Measured with OpenBLAS 0.3.21 (kernels SkylakeX, two cores of Zen 5, k = 4096): 131
 * GFLOP/s with 64 rows, 166 with 256, 175 with 1024; 150, 166, 172 and 175 with 512, 1024, 2048 and 4096 columns.
 */
static const double few_rows = 18, few_columns = 60;

static void multiply(const app_blas *blas, const dense_matrix *a, const dense_matrix *b, int add, dense_matrix *c, int64_t row,
                     int64_t rows, int64_t column, int64_t columns)
{
    const int m = (int)rows, w = (int)columns, k = (int)a->columns, n = (int)b->columns;
    const int64_t of_a = row * a->columns, of_c = row * c->columns + column;
    if (c->precision == DENSE_DOUBLE)
        blas->dgemm(APP_BLAS_ROW_MAJOR, APP_BLAS_NO_TRANSPOSE, APP_BLAS_NO_TRANSPOSE, m, w, k, 1, (const double *)a->entries + of_a, k,
                    (const double *)b->entries + column, n, add ? 1 : 0, (double *)c->entries + of_c, n);
    else
        blas->sgemm(APP_BLAS_ROW_MAJOR, APP_BLAS_NO_TRANSPOSE, APP_BLAS_NO_TRANSPOSE, m, w, k, 1, (const float *)a->entries + of_a, k,
                    (const float *)b->entries + column, n, add ? 1 : 0, (float *)c->entries + of_c, n);
}

typedef struct tiling {
    int64_t high, wide; /* numbers of tiles vertically and horizontally */
    double cost;
} tiling;

static int64_t parts(int64_t all, int64_t most) { return (all + most - 1) / most; }

/* Longest time of a thread with tiles of equal size, in entries of C. */
static double cost(int64_t rows, int64_t columns, int64_t high, int64_t wide, int threads)
{
    const double r = (double)parts(rows, high), c = (double)parts(columns, wide);
    return (double)parts(high * wide, threads) * r * c * (1 + few_rows / r + few_columns / c);
}

/* Chooses the tiling of lowest cost with one to MOST tiles for each thread. */
static tiling choose(int64_t rows, int64_t columns, int threads, double uneven)
{
    enum { MOST = 4 };
    tiling best = {1, 1, INFINITY};
    for (int64_t wide = 1; wide <= threads && wide <= columns; wide++)
        for (int64_t times = 1; times <= MOST; times++) {
            const int64_t wanted = parts(times * threads, wide), high = wanted < rows ? wanted : rows;
            const double found = cost(rows, columns, high, wide, threads) * (1 + uneven * (1 - 1.0 / threads) / (double)times);
            if (found < best.cost) best = (tiling){high, wide, found};
        }
    return best;
}

void dense_gemm_rows(const app_blas *blas, const dense_matrix *a, const dense_matrix *b, int add, dense_matrix *c, int64_t first,
                     int64_t last, double uneven)
{
    const int64_t rows = last - first, columns = c->columns;
    const tiling t = choose(rows, columns, omp_get_max_threads(), uneven);
#pragma omp parallel for schedule(dynamic)
    for (int64_t tile = 0; tile < t.high * t.wide; tile++) {
        const int64_t i = tile / t.wide, j = tile % t.wide;
        const int64_t row = first + rows * i / t.high, column = columns * j / t.wide;
        multiply(blas, a, b, add, c, row, first + rows * (i + 1) / t.high - row, column, columns * (j + 1) / t.wide - column);
    }
}

void dense_gemm_make_ready(const app_blas *blas, dense_precision precision)
{
    enum { SIDE = 64 };
#pragma omp parallel
    {
        double in[SIDE * SIDE] = {0}, out[SIDE * SIDE] = {0}; /* also valid as zeros of type float */
        const dense_matrix a = {.rows = SIDE, .columns = SIDE, .precision = precision, .entries = in};
        dense_matrix c = {.rows = SIDE, .columns = SIDE, .precision = precision, .entries = out};
        multiply(blas, &a, &a, 0, &c, 0, SIDE, 0, SIDE);
    }
}

void dense_gemm_direct(const app_blas *blas, int threads, const dense_matrix *a, const dense_matrix *b, dense_matrix *c, double *seconds)
{
    const int64_t few = c->rows < 256 ? c->rows : 256;
    if (blas->set_threads) blas->set_threads(threads);
    multiply(blas, a, b, 0, c, 0, few, 0, c->columns);
    const double begin_s = yoke_clock_s();
    multiply(blas, a, b, 0, c, 0, c->rows, 0, c->columns);
    *seconds = yoke_clock_s() - begin_s;
    if (blas->set_threads) blas->set_threads(1);
}

double dense_gemm_flops(const dense_matrix *a, const dense_matrix *b)
{
    return 2 * (double)a->rows * (double)a->columns * (double)b->columns;
}
