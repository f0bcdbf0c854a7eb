#include "tune/order/model.h"

#include <math.h>

enum {
    POINTS = 8,
    BEYOND = 12, /* number of degrees of local expansions above the highest that are summed */
    DEGREES = FMM_MAX_ORDER + BEYOND + 1
};

/* Means of |x|^2l over a cube of edge 1; by symmetry, one octant suffices. */
static void cube_moments(double moment[DEGREES])
{
    for (int l = 0; l < DEGREES; l++) moment[l] = 0;
    for (int i = 0; i < POINTS * POINTS * POINTS; i++) {
        double x = (i % POINTS + 0.5) / (2 * POINTS), y = (i / POINTS % POINTS + 0.5) / (2 * POINTS);
        double z = (i / POINTS / POINTS + 0.5) / (2 * POINTS), square = x * x + y * y + z * z;
        double power = 1.0 / (POINTS * POINTS * POINTS);
        for (int l = 0; l < DEGREES; l++, power *= square) moment[l] += power;
    }
}

/* Adds the contribution of cells at one distance with degree k.  M2L has an order for each distance. */
static void add_degree(fmm_model *model, int k, double square, double first, const double moment[DEGREES])
{
    int degrees = model->highest + BEYOND + 1;
    double binomial = first, above[DEGREES + 1]; /* [l] sum over the degrees of the target from l on */
    for (int l = 0; l < degrees; l++) {
        above[l] = binomial * moment[l] / ((2 * l + 1) * (2 * k + 1));
        binomial *= (2.0 * l + 2 * k + 1) * (2.0 * l + 2 * k + 2) / ((2.0 * l + 1) * (2.0 * l + 2)) / square;
    }
    above[degrees] = 0;
    for (int l = degrees - 1; l >= 0; l--) above[l] += above[l + 1];
    for (int p = 0; p <= model->highest; p++) {
        const int order = fmm_order_at(p, sqrt(square));
        model->weight[p][k] += k > order ? above[0] : above[order + 1];
    }
}

void fmm_model_create(int highest, fmm_model *model)
{
    /* Squares of the distances of the 189 far cells, similar ones merged, and the mean number of far cells with each. */
    static const double at[][2] = {{4, 6}, {5, 24}, {6, 24}, {8, 12}, {9, 27}, {10.5, 24}, {13.5, 40}, {20, 32}};
    double moment[DEGREES];
    cube_moments(moment);
    *model = (fmm_model){.highest = highest};
    for (size_t d = 0; d < sizeof at / sizeof at[0]; d++) {
        double first = at[d][1] / 189 / at[d][0];
        for (int k = 0; k <= highest; k++, first /= at[d][0]) add_degree(model, k, at[d][0], first, moment);
    }
    /* (k - m)! (k + m)!, twice if m > 0 because -m is not stored.  With these factors powers do not depend on the directions of the
     * axes. */
    for (int k = 0, i = 0; k <= highest; k++) {
        double value = 1;
        for (int j = 2; j <= k; j++) value *= (double)j * j;
        for (int m = 0; m <= k; value *= (k + m + 1.0) / fmax(k - m, 1), m++) model->normal[i++] = (m ? 2 : 1) * value;
    }
}

void fmm_model_factors(const fmm_model *model, int order, double *factor)
{
    for (int k = 0, i = 0; k <= model->highest; k++)
        for (int m = 0; m <= k; m++, i++) factor[i] = model->normal[i] * model->weight[order][k];
}

void fmm_model_powers(const fmm_model *model, const double *multipole, int imaginary, double *power)
{
    const double *other = multipole + imaginary;
    for (int k = 0, i = 0; k <= model->highest; k++) {
        power[k] = 0;
        for (int m = 0; m <= k; m++, i++) power[k] += model->normal[i] * (multipole[i] * multipole[i] + other[i] * other[i]);
    }
}

double fmm_model_bias(int order) { return 1 / fmin(5, fmax(0.8, 0.53 * pow(1.1, order))); }
