/* Products on the cores, by the BLAS. */
#include <omp.h>

#include "gemm/gemm.h"

/*
 * A tile of C for one call of the BLAS: tall and wide enough that it packs its operands into caches for many products, and small enough that all threads get
 * some.
 */
enum { TILE_ROWS = 384, TILE_COLUMNS = 1536, LEAST_ROWS = 48, TILES_PER_THREAD = 2 };

static void multiply(const app_blas *blas, const dense_matrix *a, const dense_matrix *b, dense_matrix *c, int64_t row, int64_t rows,
                     int64_t column, int64_t columns)
{
    const int m = (int)rows, w = (int)columns, k = (int)a->columns, n = (int)b->columns;
    const int64_t of_a = row * a->columns, of_c = row * c->columns + column;
    if (c->precision == DENSE_DOUBLE)
        blas->dgemm(APP_BLAS_ROW_MAJOR, APP_BLAS_NO_TRANSPOSE, APP_BLAS_NO_TRANSPOSE, m, w, k, 1, (const double *)a->entries + of_a, k,
                    (const double *)b->entries + column, n, 0, (double *)c->entries + of_c, n);
    else
        blas->sgemm(APP_BLAS_ROW_MAJOR, APP_BLAS_NO_TRANSPOSE, APP_BLAS_NO_TRANSPOSE, m, w, k, 1, (const float *)a->entries + of_a, k,
                    (const float *)b->entries + column, n, 0, (float *)c->entries + of_c, n);
}

static int64_t parts(int64_t all, int64_t most) { return (all + most - 1) / most; }

void dense_gemm_rows(const app_blas *blas, const dense_matrix *a, const dense_matrix *b, dense_matrix *c, int64_t first, int64_t last)
{
    const int64_t rows = last - first, columns = c->columns, wide = parts(columns, TILE_COLUMNS);
    const int64_t wanted = (int64_t)TILES_PER_THREAD * omp_get_max_threads();
    int64_t high = parts(rows, TILE_ROWS);
    if (high * wide < wanted) high = parts(wanted, wide);
    if (high > parts(rows, LEAST_ROWS)) high = parts(rows, LEAST_ROWS);
#pragma omp parallel for schedule(dynamic)
    for (int64_t tile = 0; tile < high * wide; tile++) {
        const int64_t i = tile / wide, j = tile % wide;
        const int64_t row = first + rows * i / high, column = columns * j / wide;
        multiply(blas, a, b, c, row, first + rows * (i + 1) / high - row, column, columns * (j + 1) / wide - column);
    }
}

void dense_gemm_direct(const app_blas *blas, int threads, const dense_matrix *a, const dense_matrix *b, dense_matrix *c, double *seconds)
{
    const int64_t few = c->rows < 256 ? c->rows : 256;
    if (blas->set_threads) blas->set_threads(threads);
    multiply(blas, a, b, c, 0, few, 0, c->columns);
    const double begin_s = yoke_clock_s();
    multiply(blas, a, b, c, 0, c->rows, 0, c->columns);
    *seconds = yoke_clock_s() - begin_s;
    if (blas->set_threads) blas->set_threads(1);
}

double dense_gemm_flops(const dense_matrix *a, const dense_matrix *b)
{
    return 2 * (double)a->rows * (double)a->columns * (double)b->columns;
}
