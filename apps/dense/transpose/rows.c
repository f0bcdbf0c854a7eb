/* Transposition on the cores. */
#include <string.h>

#include "transpose/transpose.h"

/*
 * A tile of TILE x TILE entries of both A and B fits into the first-level cache.  A thread goes through STRIP neighbouring rows of B, so
 * that pages of B belong to it alone.
 */
enum { TILE = 32, STRIP = 64 };

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Transposes columns from .. to - 1 of the rows first .. last - 1 of A. */
static void move_double(const dense_matrix *a, dense_matrix *b, int64_t first, int64_t last, int64_t from, int64_t to)
{
    const int64_t *in = a->entries;
    int64_t *out = b->entries;
    for (int64_t j = from; j < to; j++)
        for (int64_t i = first; i < last; i++) out[j * b->columns + i] = in[i * a->columns + j];
}

static void move_single(const dense_matrix *a, dense_matrix *b, int64_t first, int64_t last, int64_t from, int64_t to)
{
    const int32_t *in = a->entries;
    int32_t *out = b->entries;
    for (int64_t j = from; j < to; j++)
        for (int64_t i = first; i < last; i++) out[j * b->columns + i] = in[i * a->columns + j];
}

void dense_transpose_rows(const dense_matrix *a, dense_matrix *b, int64_t first, int64_t last)
{
#pragma omp parallel for schedule(static)
    for (int64_t strip = 0; strip < (a->columns + STRIP - 1) / STRIP; strip++)
        for (int64_t i = first; i < last; i += TILE)
            for (int64_t j = strip * STRIP; j < smaller(a->columns, (strip + 1) * STRIP); j += TILE) {
                const int64_t end = smaller(last, i + TILE), to = smaller(a->columns, smaller((strip + 1) * STRIP, j + TILE));
                if (a->precision == DENSE_DOUBLE)
                    move_double(a, b, i, end, j, to);
                else
                    move_single(a, b, i, end, j, to);
            }
}

int dense_transpose_check(const dense_matrix *a, const dense_matrix *b, int64_t *row, int64_t *column)
{
    const int64_t size = (int64_t)a->precision;
    int64_t wrong = a->rows * a->columns;
#pragma omp parallel for schedule(static) reduction(min : wrong)
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < a->columns && wrong > i * a->columns + j; j++)
            if (memcmp((const char *)a->entries + (i * a->columns + j) * size, (const char *)b->entries + (j * b->columns + i) * size,
                       (size_t)size) != 0)
                wrong = smaller(wrong, i * a->columns + j);
    if (row) *row = wrong / a->columns;
    if (column) *column = wrong % a->columns;
    return wrong == a->rows * a->columns;
}
