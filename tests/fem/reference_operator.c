#include "reference_operator.h"

#include <string.h>

#include "unit.h"

#include "mesh/shape.h"

/* stress (or flux) [components][3] of the gradient [components][3] */
static void stress(const fem_space *space, int32_t e, const double *gradient, double *sigma)
{
    const fem_material *material = fem_space_material(space, e);
    if (space->components == 1) {
        for (int i = 0; i < 3; i++) sigma[i] = material->mu * gradient[i];
        return;
    }
    double trace = gradient[0] + gradient[4] + gradient[8];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sigma[3 * i + j] = material->mu * (gradient[3 * i + j] + gradient[3 * j + i]) + (i == j ? material->lambda * trace : 0);
}

/* Adds the product's part of one quadrature point to `out`. */
static void add_point(const fem_space *space, int32_t e, const double *x, const double r[3], double weight, const double *u, double *out)
{
    int n = space->components;
    double reference[81], by_x[27][3], jacobian[3][3], inverse[3][3], gradient[9] = {0}, sigma[9];
    fem_shape(space->slots_1d, r, NULL, reference, NULL);
    double determinant = fem_map(space->slots, x, reference, jacobian, inverse);
    assert_true(determinant > 0);
    for (int s = 0; s < space->slots; s++)
        for (int a = 0; a < 3; a++) {
            by_x[s][a] = 0;
            for (int b = 0; b < 3; b++) by_x[s][a] += reference[3 * s + b] * inverse[b][a];
            for (int c = 0; c < n; c++) gradient[3 * c + a] += by_x[s][a] * u[s * n + c];
        }
    stress(space, e, gradient, sigma);
    for (int s = 0; s < space->slots; s++)
        for (int c = 0; c < n; c++)
            for (int a = 0; a < 3; a++) out[s * n + c] += weight * determinant * sigma[3 * c + a] * by_x[s][a];
}

void reference_product(const fem_space *space, const double *u, double *y)
{
    int n = space->slots_1d;
    double point[3], weight[3];
    fem_gauss(n, point, weight);
    memset(y, 0, sizeof(double) * (size_t)space->num_nodes * (size_t)space->components);
    for (int32_t e = 0; e < space->num_elements; e++) {
        double x[81], in[81], out[81] = {0};
        fem_space_geometry(space, e, x);
        fem_space_expand(space, e, space->components, u, in);
        for (int q = 0; q < space->slots; q++) {
            double r[3] = {point[q % n], point[q / n % n], point[q / (n * n)]};
            add_point(space, e, x, r, weight[q % n] * weight[q / n % n] * weight[q / (n * n)], in, out);
        }
        fem_space_fold(space, e, space->components, out, y);
    }
}

double reference_volume(const fem_space *space)
{
    double point[4], weight[4], volume = 0;
    fem_gauss(4, point, weight);
    for (int32_t e = 0; e < space->num_elements; e++) {
        double x[81], gradient[81];
        fem_space_geometry(space, e, x);
        for (int q = 0; q < 64; q++) {
            fem_shape(space->slots_1d, (double[3]){point[q % 4], point[q / 4 % 4], point[q / 16]}, NULL, gradient, NULL);
            volume += weight[q % 4] * weight[q / 4 % 4] * weight[q / 16] * fem_map(space->slots, x, gradient, NULL, NULL);
        }
    }
    return volume;
}
