/*
 * batch.c - the element kernels for one instruction set (FEM_ISA: v2, v3, v4 of x86-64, or generic), and the table of all of its kernels;
 * compiled once for each.
 */
#include <float.h>

#include "mesh/shape.h"
#include "operator/kernels/batch.h"
#include "operator/kernels/batch_shuffle.h"
#include "operator/kernels/derivatives.h"
#include "operator/kernels/smoother.h"

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#define VECTOR_LANES(real) ((int)(VECTOR_BYTES / sizeof(real)))

#define HALF_G3 0.38729833462074168852 /* sqrt(3/5)/2 */
#define HALF_G2 0.28867513459481288225 /* sqrt(1/3)/2 */

#define PASTE_4(a, b, c, d) a##_##b##_n##c##_c##d
#define PASTE(a, b, c, d) PASTE_4(a, b, c, d)
#define NAME(name) PASTE(name, REAL, N, C)

/* Values and collocated slopes (scaled by 2 g) of the n nodal shape functions at the n points: [point][node]. */
static void basis(int n, double shape[3][3], double slope[3][3])
{
    double g = n == 3 ? 2 * HALF_G3 : 2 * HALF_G2;
    for (int p = 0; p < n; p++) {
        double z = n == 3 ? (p - 1) * g : (2 * p - 1) * g;
        if (n == 3) {
            shape[p][0] = 0.5 * z * (z - 1), shape[p][1] = 1 - z * z, shape[p][2] = 0.5 * z * (z + 1);
            slope[p][0] = 2 * g * (z - 0.5), slope[p][1] = 2 * g * (-2 * z), slope[p][2] = 2 * g * (z + 0.5);
        } else {
            shape[p][0] = 0.5 * (1 - z), shape[p][1] = 0.5 * (1 + z);
            slope[p][0] = -g, slope[p][1] = g;
        }
    }
}

#define DEFINE_BASIS                                            \
    static void NAME(basis)(REAL shape[N][N], REAL slope[N][N]) \
    {                                                           \
        double v[3][3], d[3][3];                                \
        basis(N, v, d);                                         \
        for (int p = 0; p < N; p++) {                           \
            for (int i = 0; i < N; i++) {                       \
                shape[p][i] = (REAL)v[p][i];                    \
                slope[p][i] = (REAL)d[p][i];                    \
            }                                                   \
        }                                                       \
    }

#define REAL double
#define REAL_SIZE 8
#include "operator/kernels/batch_instances.h"
#undef REAL
#undef REAL_SIZE
#define REAL float
#define REAL_SIZE 4
#include "operator/kernels/batch_instances.h"
#undef REAL
#undef REAL_SIZE

/* ------------------------------------------------------------------------------------------------- geometry */

#define LANES VECTOR_LANES(double)
typedef double vector __attribute__((vector_size(VECTOR_BYTES)));

/*
 * Computes from the scaled gradient of the positions (g dx/dr, r in [0,1]) at one point its inverse, and returns the determinant of dx/dr.
 */
static inline vector invert(const vector *gradient, int points, int q, double g, vector *inverse)
{
    vector j[3][3];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) j[a][b] = gradient[(3 * a + b) * points + q];
    vector cofactor[3][3];
    for (int a = 0; a < 3; a++) {
        int a1 = (a + 1) % 3, a2 = (a + 2) % 3;
        for (int b = 0; b < 3; b++) {
            int b1 = (b + 1) % 3, b2 = (b + 2) % 3;
            cofactor[a][b] = j[a1][b1] * j[a2][b2] - j[a1][b2] * j[a2][b1];
        }
    }
    vector determinant = j[0][0] * cofactor[0][0] + j[0][1] * cofactor[0][1] + j[0][2] * cofactor[0][2];
    for (int r = 0; r < 3; r++)
        for (int a = 0; a < 3; a++) inverse[3 * r + a] = cofactor[a][r] / determinant;
    return determinant / (g * g * g);
}

static double finish_geometry(int n, const vector *gradient, double *out)
{
    static const double weight_3[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18}, weight_2[2] = {0.5, 0.5};
    const double *weight = n == 3 ? weight_3 : weight_2;
    double g = n == 3 ? 2 * HALF_G3 : 2 * HALF_G2, smallest = 1.0 / 0.0;
    vector *factors = (vector *)out;
    int points = n * n * n;
    for (int q = 0; q < points; q++) {
        vector determinant = invert(gradient, points, q, g, factors + q * FEM_FACTORS);
        factors[q * FEM_FACTORS + 9] = determinant * (weight[q % n] * weight[q / n % n] * weight[q / (n * n)]);
        for (int lane = 0; lane < LANES; lane++)
            if (!(determinant[lane] >= smallest)) smallest = determinant[lane] < smallest ? determinant[lane] : -1.0 / 0.0; /* NaN */
    }
    return smallest;
}

static double geometry(const fem_batches *b, const int32_t *gather, int stride, const int16_t *face_code, const double *x, double *factors)
{
    vector local[3 * 27], gradient[9 * 27];
    gather_double_n3_c3(b, gather, stride, 3, x, (double *)local);
    expand_double_n3_c3(b, face_code, LANES, 3, local);
    for (int a = 0; a < 3; a++) gradient_double_n3_c3(local + a * 27, gradient + a * 3 * 27);
    return finish_geometry(3, gradient, factors);
}

static double geometry_q1(const fem_batches *b, const int32_t *gather, int stride, const int16_t *face_code, const double *x,
                          double *factors)
{
    vector local[3 * 8], gradient[9 * 8];
    gather_double_n2_c3(b, gather, stride, 3, x, (double *)local);
    expand_double_n2_c3(b, face_code, LANES, 3, local);
    for (int a = 0; a < 3; a++) gradient_double_n2_c3(local + a * 8, gradient + a * 3 * 8);
    return finish_geometry(2, gradient, factors);
}

/*
 * Classifies the shape of an element.  Positions contain the rounding errors of a number of operations on coordinates of their size;
 * deviations below these are ignored.  The sums are of squares over all nodes.
 */
static fem_batch_shape shape_of(int n, const vector *positions)
{
    const int last = n - 1, slots = n * n * n, stride[3] = {1, n, n * n};
    const double rounding = 16 * DBL_EPSILON;
    vector size = {0}, curved = {0}, skew = {0};
    for (int a = 0; a < 3; a++) {
        const vector *p = positions + a * slots;
        vector edge[3];
        for (int d = 0; d < 3; d++) {
            edge[d] = (p[last * stride[d]] - p[0]) / (double)last;
            if (d != a) skew += edge[d] * edge[d];
        }
        for (int s = 0; s < slots; s++) {
            vector off = p[s] - p[0] - (double)(s % n) * edge[0] - (double)(s / n % n) * edge[1] - (double)(s / (n * n)) * edge[2];
            curved += off * off;
            size += p[s] * p[s];
        }
    }
    fem_batch_shape shape = FEM_BOX;
    for (int lane = 0; lane < LANES; lane++) {
        double most = rounding * rounding * size[lane];
        if (!(curved[lane] <= most)) return FEM_CURVED;
        if (!(skew[lane] <= most / slots)) shape = FEM_AFFINE;
    }
    return shape;
}

static fem_batch_shape shape(const fem_batches *b, const int32_t *gather, int stride, const int16_t *face_code, const double *x)
{
    vector local[3 * 27];
    gather_double_n3_c3(b, gather, stride, 3, x, (double *)local);
    expand_double_n3_c3(b, face_code, LANES, 3, local);
    return shape_of(3, local);
}

static fem_batch_shape shape_q1(const fem_batches *b, const int32_t *gather, int stride, const int16_t *face_code, const double *x)
{
    vector local[3 * 8];
    gather_double_n2_c3(b, gather, stride, 3, x, (double *)local);
    expand_double_n2_c3(b, face_code, LANES, 3, local);
    return shape_of(2, local);
}

#define FUNCTIONS(real, n, c)                                                                                           \
    {                                                                                                                   \
        VECTOR_LANES(real), apply_##real##_n##n##_c##c, apply_stored_##real##_n##n##_c##c, matrix_##real##_n##n##_c##c, \
            diagonal_##real##_n##n##_c##c                                                                               \
    }
#define TABLE_NAME_2(what, isa) what##_##isa
#define TABLE_NAME(what, isa) TABLE_NAME_2(what, isa)
#define TEXT_2(isa) #isa
#define TEXT(isa) TEXT_2(isa)

extern const fem_smoother_functions TABLE_NAME(fem_smoother_functions, FEM_ISA)[2];
extern const fem_derivative_kernels TABLE_NAME(fem_derivative_kernels, FEM_ISA);
extern const fem_kernels TABLE_NAME(fem_kernels, FEM_ISA);
const fem_kernels TABLE_NAME(fem_kernels, FEM_ISA) = {
    TEXT(FEM_ISA),
    LANES,
    geometry,
    geometry_q1,
    shape,
    shape_q1,
    {{{FUNCTIONS(double, 2, 1), FUNCTIONS(double, 2, 3)}, {FUNCTIONS(double, 3, 1), FUNCTIONS(double, 3, 3)}},
     {{FUNCTIONS(float, 2, 1), FUNCTIONS(float, 2, 3)}, {FUNCTIONS(float, 3, 1), FUNCTIONS(float, 3, 3)}}},
    TABLE_NAME(fem_smoother_functions, FEM_ISA),
    &TABLE_NAME(fem_derivative_kernels, FEM_ISA),
};
