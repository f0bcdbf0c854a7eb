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

extern const fem_smoother_functions PASTE(fem_smoother_functions, FEM_ISA)[2];
const fem_smoother_functions PASTE(fem_smoother_functions, FEM_ISA)[2] = {
    {block_solve_double, chebyshev_step_double},
    {block_solve_float, chebyshev_step_float},
};
