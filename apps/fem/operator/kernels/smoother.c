/*
 * smoother.c - operations of a smoother at each node, for one instruction set (FEM_ISA: v2, v3, v4 of x86-64, or generic); compiled once
 * for each.
 */
#include "operator/kernels/smoother.h"

#include <math.h>
#include <stddef.h>

#include "common/machine/precision.h"

#define REAL double
#include "operator/kernels/smoother_body.h"
#undef REAL
#define REAL float
#include "operator/kernels/smoother_body.h"
#undef REAL

static inline int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

/* Summed as vectors; otherwise each addition would wait for the one before. */
static inline float dot_float(int32_t count, const float *restrict a, const float *restrict b)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int32_t k = 0; k < count; k++) sum += a[k] * b[k];
    return sum;
}

static inline double dot_double(int32_t count, const double *restrict a, const double *restrict b)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int32_t k = 0; k < count; k++) sum += a[k] * b[k];
    return sum;
}

/* Solves by forward and back substitution; lanes is a constant at each call. */
static inline __attribute__((always_inline)) void substitute_lanes(int32_t rows, const int lanes, const int32_t *restrict first,
                                                                   const float *restrict value, float *restrict x)
{
    float sum[FEM_BLOCK_LANES];
    for (int32_t i = 0; i < rows; i++) {
        const float *other = x + (int64_t)first[i] * lanes;
        float *own = x + (int64_t)i * lanes;
        for (int l = 0; l < lanes; l++) sum[l] = own[l];
        if (lanes == 1) {
            sum[0] -= dot_float(i - first[i], value, other);
            value += i - first[i];
        } else {
            for (; other < own; other += lanes, value += lanes)
                for (int l = 0; l < lanes; l++) sum[l] -= value[l] * other[l];
        }
        for (int l = 0; l < lanes; l++) own[l] = sum[l] * value[l];
        value += lanes;
    }
    for (int32_t i = rows - 1; i >= 0; i--) {
        float *own = x + (int64_t)i * lanes, *other = own - lanes, *begin = x + (int64_t)first[i] * lanes;
        value -= lanes;
        for (int l = 0; l < lanes; l++) sum[l] = own[l] *= value[l];
        for (; other >= begin; other -= lanes) {
            value -= lanes;
            for (int l = 0; l < lanes; l++) other[l] -= value[l] * sum[l];
        }
    }
}

static void substitute(int32_t rows, int lanes, const int32_t *first, const float *value, float *x)
{
    if (lanes == FEM_BLOCK_LANES)
        substitute_lanes(rows, FEM_BLOCK_LANES, first, value, x);
    else
        substitute_lanes(rows, 1, first, value, x);
}

/*
 * Cholesky factors, row by row within the profile; the diagonal is replaced by its inverse.  This function factors FEM_BLOCK_LANES
 * matrices.
 */
static int factorize_lanes(int32_t rows, const int32_t *first, const int64_t *row_at, double *value)
{
    enum { LANES = FEM_BLOCK_LANES };
    int sound = 1;
    for (int32_t i = 0; i < rows; i++) {
        double *row = value + row_at[i] * LANES;
        for (int32_t j = first[i]; j <= i; j++) {
            const double *other = value + row_at[j] * LANES;
            double sum[LANES];
            for (int l = 0; l < LANES; l++) sum[l] = row[j * LANES + l];
            for (int32_t k = larger(first[i], first[j]); k < j; k++)
                for (int l = 0; l < LANES; l++) sum[l] -= row[k * LANES + l] * other[k * LANES + l];
            for (int l = 0; l < LANES; l++) {
                if (j == i) sound = sound && sum[l] > 0;
                row[j * LANES + l] = j == i ? 1 / sqrt(sum[l]) : sum[l] * other[j * LANES + l];
            }
        }
    }
    return sound;
}

/* Computes entry `column` of a row whose entries begin at `first`, after the entries before it. */
static void finish_entry(double *row, int32_t first, int32_t column, int32_t first_of_column, const double *other)
{
    const int32_t begin = larger(first, first_of_column);
    row[column] = (row[column] - dot_double(column - begin, row + begin, other + begin)) * other[column];
}

/* Computes the pivot and stores its inverse; returns 0 if it is not positive. */
static int finish_pivot(double *row, int32_t first, int32_t column)
{
    const double pivot = row[column] - dot_double(column - first, row + first, row + first);
    row[column] = 1 / sqrt(pivot);
    return pivot > 0;
}

enum { TOGETHER = 4 }; /* number of rows that are processed together, so that all of them use the entries loaded from another row */

/* Finishes the same entry of all rows; the products before `begin` have been subtracted already. */
static void finish_together(double *const row[TOGETHER], int32_t begin, int32_t column, const double *restrict other)
{
    const double *restrict a = row[0], *restrict b = row[1], *restrict c = row[2], *restrict d = row[3];
    double sum_a = 0, sum_b = 0, sum_c = 0, sum_d = 0;
#pragma omp simd reduction(+ : sum_a, sum_b, sum_c, sum_d)
    for (int32_t k = begin; k < column; k++) {
        sum_a += a[k] * other[k];
        sum_b += b[k] * other[k];
        sum_c += c[k] * other[k];
        sum_d += d[k] * other[k];
    }
    row[0][column] = (row[0][column] - sum_a) * other[column];
    row[1][column] = (row[1][column] - sum_b) * other[column];
    row[2][column] = (row[2][column] - sum_c) * other[column];
    row[3][column] = (row[3][column] - sum_d) * other[column];
}

/* Computes rows i .. i + count - 1 of one matrix in the columns before i. */
static void factorize_rows(double *const row[TOGETHER], int32_t i, int32_t count, const int32_t *first, const int64_t *row_at,
                           const double *value)
{
    int32_t least = i, common = count == TOGETHER ? 0 : i; /* from column `common` on, all rows have entries */
    for (int32_t r = 0; r < count; r++) {
        if (first[i + r] < least) least = first[i + r];
        common = larger(common, first[i + r]);
    }
    for (int32_t j = least; j < i; j++) {
        const double *other = value + row_at[j];
        if (j < common) {
            for (int32_t r = 0; r < count; r++)
                if (first[i + r] <= j) finish_entry(row[r], first[i + r], j, first[j], other);
            continue;
        }
        const int32_t from = larger(common, first[j]);
        for (int32_t r = 0; r < count; r++) {
            const int32_t begin = larger(first[i + r], first[j]);
            if (begin < from) row[r][j] -= dot_double(from - begin, row[r] + begin, other + begin);
        }
        finish_together(row, from, j, other);
    }
}

static int factorize_one(int32_t rows, const int32_t *first, const int64_t *row_at, double *value)
{
    int sound = 1;
    for (int32_t i = 0; i < rows; i += TOGETHER) {
        double *row[TOGETHER];
        const int32_t count = rows - i < TOGETHER ? rows - i : TOGETHER;
        for (int32_t r = 0; r < count; r++) row[r] = value + row_at[i + r];
        factorize_rows(row, i, count, first, row_at, value);
        for (int32_t r = 0; r < count; r++) {
            for (int32_t j = larger(i, first[i + r]); j < i + r; j++) finish_entry(row[r], first[i + r], j, first[j], value + row_at[j]);
            sound = finish_pivot(row[r], first[i + r], i + r) && sound;
        }
    }
    return sound;
}

static int factorize(int32_t rows, int lanes, const int32_t *first, const int64_t *row_at, double *value)
{
    return lanes == FEM_BLOCK_LANES ? factorize_lanes(rows, first, row_at, value) : factorize_one(rows, first, row_at, value);
}

extern const fem_smoother_functions APP_PASTE(fem_smoother_functions, FEM_ISA)[2];
const fem_smoother_functions APP_PASTE(fem_smoother_functions, FEM_ISA)[2] = {
    {block_solve_double, chebyshev_step_double, substitute, factorize},
    {block_solve_float, chebyshev_step_float, substitute, factorize},
};
