/*
 * smoother.c - what a smoother does at each node, for one instruction set (FEM_ISA: v2, v3, v4 of x86-64, or generic); compiled once for each.
 */
#include "smoother.h"

#include <stddef.h>

#define PASTE_2(a, b) a##_##b
#define PASTE(a, b) PASTE_2(a, b)
#define NAME(name) PASTE(name, REAL)
#define REAL double
#include "smoother_body.h"
#undef REAL
#define REAL float
#include "smoother_body.h"
#undef REAL

/* lanes is a constant where this is called. */
static inline __attribute__((always_inline)) void substitute_lanes(int32_t rows, const int lanes, const int32_t *restrict first,
                                                                   const float *restrict value, float *restrict x)
{
    float sum[FEM_BLOCK_LANES];
    for (int32_t i = 0; i < rows; i++) {
        const float *other = x + (int64_t)first[i] * lanes;
        float *own = x + (int64_t)i * lanes;
        for (int l = 0; l < lanes; l++) sum[l] = own[l];
        for (; other < own; other += lanes, value += lanes)
            for (int l = 0; l < lanes; l++) sum[l] -= value[l] * other[l];
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

extern const fem_smoother_functions PASTE(fem_smoother_functions, FEM_ISA)[2];
const fem_smoother_functions PASTE(fem_smoother_functions, FEM_ISA)[2] = {
    {block_solve_double, chebyshev_step_double, substitute},
    {block_solve_float, chebyshev_step_float, substitute},
};
