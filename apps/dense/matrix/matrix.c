#include "matrix/matrix.h"

#include <math.h>

const char *dense_precision_text(dense_precision precision) { return precision == DENSE_DOUBLE ? "double" : "single"; }

static yoke_status check_side(yoke_context *context, int64_t side)
{
    if (side >= 1 && side <= DENSE_MAX_SIDE) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_INPUT, "a matrix with %lld rows or columns: there must be 1 to %d", (long long)side,
                     DENSE_MAX_SIDE);
}

yoke_status dense_matrix_check(yoke_context *context, dense_precision precision, int count, const int64_t *rows, const int64_t *columns)
{
    yoke_topology topology;
    double bytes = 0;
    yoke_status status = yoke_topology_get(context, &topology);
    for (int i = 0; i < count && !status; i++) {
        status = check_side(context, rows[i]);
        if (!status) status = check_side(context, columns[i]);
        bytes += (double)rows[i] * (double)columns[i] * (double)precision;
    }
    if (status || bytes <= (double)topology.memory_bytes) return status;
    return yoke_fail(context, YOKE_ERROR_INPUT,
                     "the matrices take %.0f bytes (%.3g GB), and this process may have %lld (%.3g GB): take smaller ones%s", bytes,
                     bytes * 1e-9, (long long)topology.memory_bytes, (double)topology.memory_bytes * 1e-9,
                     precision == DENSE_DOUBLE ? ", or --precision single" : "");
}

yoke_status dense_matrix_create(yoke_context *context, int64_t rows, int64_t columns, dense_precision precision, dense_matrix *matrix)
{
    dense_matrix created = {.context = context, .rows = rows, .columns = columns, .precision = precision};
    yoke_status status = check_side(context, rows);
    if (!status) status = check_side(context, columns);
    if (!status) status = yoke_allocate_untouched(context, rows * columns, (size_t)precision, &created.entries);
    if (!status) *matrix = created;
    return status;
}

void dense_matrix_destroy(dense_matrix *matrix)
{
    if (matrix->entries) yoke_release(matrix->context, matrix->entries);
    *matrix = (dense_matrix){.entries = NULL};
}

int64_t dense_matrix_bytes(const dense_matrix *matrix) { return matrix->rows * matrix->columns * (int64_t)matrix->precision; }

static double entry(const dense_matrix *matrix, int64_t number)
{
    return matrix->precision == DENSE_DOUBLE ? ((const double *)matrix->entries)[number] : (double)((const float *)matrix->entries)[number];
}

int64_t dense_matrix_blocks(const dense_matrix *matrix, int64_t block) { return (matrix->rows + block - 1) / block; }

void dense_matrix_block_rows(const dense_matrix *matrix, int64_t block, int64_t first, int64_t last, int64_t *row, int64_t *end)
{
    *row = first * block;
    *end = last * block < matrix->rows ? last * block : matrix->rows;
}

double dense_matrix_entry(const dense_matrix *matrix, int64_t row, int64_t column) { return entry(matrix, row * matrix->columns + column); }

/* SplitMix64 (Steele, Lea, Flood 2014): a value of the sequence by its number, without computing those before it. */
static uint64_t mix(uint64_t seed, uint64_t number)
{
    uint64_t z = seed + (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void dense_matrix_random(dense_matrix *matrix, uint64_t seed) { dense_matrix_random_part(matrix, seed, 0, 0, matrix->columns); }

void dense_matrix_random_part(dense_matrix *matrix, uint64_t seed, int64_t row, int64_t column, int64_t all_columns)
{
    const uint64_t start = mix(seed, 0);
    const int64_t columns = matrix->columns, count = matrix->rows * columns;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) {
        const uint64_t bits = mix(start, (uint64_t)((row + i / columns) * all_columns + column + i % columns));
        if (matrix->precision == DENSE_DOUBLE)
            ((double *)matrix->entries)[i] = (double)(bits >> 11) * 0x1p-52 - 1;
        else
            ((float *)matrix->entries)[i] = (float)(bits >> 40) * 0x1p-23F - 1;
    }
}

dense_wrong dense_matrix_find_wrong(const dense_matrix *part, int64_t row, int64_t column, int64_t all_columns)
{
    const int64_t count = part->rows * part->columns;
    int64_t wrong = 0, first = count;
#pragma omp parallel for schedule(static) reduction(+ : wrong) reduction(min : first)
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(entry(part, i))) {
            wrong++;
            first = i < first ? i : first;
        }
    if (wrong == 0) return (dense_wrong){0, INT64_MAX, NAN};
    return (dense_wrong){wrong, (row + first / part->columns) * all_columns + column + first % part->columns, entry(part, first)};
}

dense_wrong dense_wrong_join(dense_wrong a, dense_wrong b)
{
    return (dense_wrong){a.count + b.count, a.first < b.first ? a.first : b.first, a.first < b.first ? a.value : b.value};
}

yoke_status dense_wrong_check(yoke_context *context, const dense_wrong *wrong, int64_t rows, int64_t columns, const char *name)
{
    if (wrong->count == 0) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_INPUT,
                     "%s: %lld of %lld entries are not finite numbers; the first, in row %lld and column %lld, is %g", name,
                     (long long)wrong->count, (long long)(rows * columns), (long long)(wrong->first / columns),
                     (long long)(wrong->first % columns), wrong->value);
}
