/*
 * derivatives.c - the kernels of derivatives.h for one instruction set (FEM_ISA: v2, v3, v4 of x86-64, or generic); compiled once for each.
 */
#include "operator/kernels/derivatives.h"
#include "mesh/shape.h"

#include <math.h>
#include <string.h>

#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif
#define INLINE static inline __attribute__((always_inline))
#define SHUFFLE __builtin_shufflevector

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

INLINE lanes root(lanes square)
{
    for (int l = 0; l < LANES; l++) square[l] = sqrt(square[l]);
    return square;
}

#include "operator/kernels/derivatives_gather.h"

#include "operator/kernels/derivatives_volume.h"

#include "operator/kernels/derivatives_face.h"

#include "operator/kernels/derivatives_stress.h"

#define INSTANCES(n, f)                                                                                                             \
    static void terms_n##n##_f##f(const fem_packed_solution *in, int32_t begin, int32_t end, const fem_element_terms *out)          \
    {                                                                                                                               \
        element_terms(n, f, in, begin, end, out);                                                                                   \
    }                                                                                                                               \
    static void quarters_n##n##_f##f(const fem_packed_solution *in, int count, const fem_element_face *faces, double *out)          \
    {                                                                                                                               \
        face_quarters(n, f, in, count, faces, out);                                                                                 \
    }                                                                                                                               \
    static void points_n##n##_f##f(const fem_packed_solution *in, int count, const fem_element_face *faces, fem_face_traction *out) \
    {                                                                                                                               \
        face_points(n, f, in, count, faces, out);                                                                                   \
    }                                                                                                                               \
    static void stress_n##n##_f##f(const fem_packed_solution *in, int32_t begin, int32_t end, double *out)                          \
    {                                                                                                                               \
        element_stress(n, f, in, begin, end, out);                                                                                  \
    }

/* Parameters: nodes per direction, and fields (4, 6, 7 as in derivatives.h). */
INSTANCES(2, 4)
INSTANCES(2, 6)
INSTANCES(2, 7)
INSTANCES(3, 4)
INSTANCES(3, 6)
INSTANCES(3, 7)

#define FUNCTIONS(n, f)                                                                 \
    {                                                                                   \
        terms_n##n##_f##f, quarters_n##n##_f##f, points_n##n##_f##f, stress_n##n##_f##f \
    }
#define TABLE_NAME_2(isa) fem_derivative_kernels_##isa
#define TABLE_NAME(isa) TABLE_NAME_2(isa)

extern const fem_derivative_kernels TABLE_NAME(FEM_ISA);
const fem_derivative_kernels TABLE_NAME(FEM_ISA) = {
    LANES, {{FUNCTIONS(2, 4), FUNCTIONS(2, 6), FUNCTIONS(2, 7)}, {FUNCTIONS(3, 4), FUNCTIONS(3, 6), FUNCTIONS(3, 7)}}};
