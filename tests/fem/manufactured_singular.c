/* Bodies in tension with a spherical cavity or a cylindrical hole, and harmonic functions that are singular somewhere. */
#include "manufactured_forms.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------------- spherical cavity in tension */

/* Derivatives of z^k r^-m: value, gradient [3] and hessian [3][3]. */
typedef struct power_field {
    double value, gradient[3], hessian[3][3];
} power_field;

static double integer_power(double base, int exponent)
{
    double result = 1;
    for (int i = 0; i < exponent; ++i) result *= base;
    return result;
}

static power_field power_of(int k, int m, const double x[3])
{
    double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], z = x[2];
    double rm = pow(r2, -0.5 * m), zk = integer_power(z, k);
    double zk1 = k >= 1 ? k * integer_power(z, k - 1) : 0, zk2 = k >= 2 ? k * (k - 1) * integer_power(z, k - 2) : 0;
    power_field field = {zk * rm, {0}, {{0}}};
    for (int i = 0; i < 3; ++i) {
        double dr_i = -m * rm * x[i] / r2;
        field.gradient[i] = (i == 2 ? zk1 * rm : 0) + zk * dr_i;
        for (int j = 0; j < 3; ++j) {
            double dr_j = -m * rm * x[j] / r2;
            double dr_ij = m * rm / r2 * ((m + 2) * x[i] * x[j] / r2 - (i == j ? 1 : 0));
            field.hessian[i][j] = (i == 2 && j == 2 ? zk2 * rm : 0) + (i == 2 ? zk1 * dr_j : 0) + (j == 2 ? zk1 * dr_i : 0) + zk * dr_ij;
        }
    }
    return field;
}

/*
 * 2 mu u = grad(c0/r + c1 (3 z^2 - r^2)/(2 r^5) + c2 z^2/r^3) - 4 (1 - nu) c2 z/r^3 e_z + 2 mu (uniform tension): Neuber's form with
 * harmonic functions of order 0, 2 and the dipole.  c[3], c[4]: strains of the tension, along x and y and along z.
 */
static void cavity_value(const manufactured *solution, const double x[3], double *u)
{
    const double *c = solution->c;
    double nu = solution->lambda / (2 * (solution->lambda + solution->mu)), half = 1 / (2 * solution->mu);
    power_field p01 = power_of(0, 1, x), p25 = power_of(2, 5, x), p03 = power_of(0, 3, x), p23 = power_of(2, 3, x);
    double dipole = power_of(1, 3, x).value;
    for (int i = 0; i < 3; ++i) {
        double sum = c[0] * p01.gradient[i] + c[1] * (1.5 * p25.gradient[i] - 0.5 * p03.gradient[i]) + c[2] * p23.gradient[i];
        if (i == 2) sum -= 4 * (1 - nu) * c[2] * dipole;
        u[i] = half * sum + (i == 2 ? c[4] : c[3]) * x[i];
    }
}

static void cavity_gradient(const manufactured *solution, const double x[3], double *g)
{
    const double *c = solution->c;
    double nu = solution->lambda / (2 * (solution->lambda + solution->mu)), half = 1 / (2 * solution->mu);
    power_field p01 = power_of(0, 1, x), p25 = power_of(2, 5, x), p03 = power_of(0, 3, x), p23 = power_of(2, 3, x);
    power_field dipole = power_of(1, 3, x);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            double sum = c[0] * p01.hessian[i][j] + c[1] * (1.5 * p25.hessian[i][j] - 0.5 * p03.hessian[i][j]) + c[2] * p23.hessian[i][j];
            if (i == 2) sum -= 4 * (1 - nu) * c[2] * dipole.gradient[j];
            g[3 * i + j] = half * sum + (i == j ? (i == 2 ? c[4] : c[3]) : 0);
        }
}

/* The three conditions that make the cavity free: sigma_rr at theta = 0 and 90 degrees, sigma_r_theta at 45 degrees. */
static void cavity_surface(const manufactured *solution, double out[3])
{
    static const double angle[3] = {0, 1.5707963267948966, 0.78539816339744831};
    for (int i = 0; i < 3; ++i) {
        double s = sin(angle[i]), k = cos(angle[i]), radial[3] = {s, 0, k}, along[3] = {k, 0, -s}, t[3];
        double x[3] = {solution->radius * s, 0, solution->radius * k};
        manufactured_traction(x, radial, t, (void *)(uintptr_t)solution);
        const double *direction = i < 2 ? radial : along;
        out[i] = t[0] * direction[0] + t[1] * direction[1] + t[2] * direction[2];
    }
}

static double determinant(double a[3][3])
{
    return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
           a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

manufactured manufactured_cavity(double e, double nu, double a, double t)
{
    manufactured solution = elastic("cavity", e, nu);
    solution.radius = a;
    solution.value = cavity_value;
    solution.gradient = cavity_gradient;
    double matrix[3][3], load[3], coefficient[3];
    for (int j = 0; j < 3; ++j) {
        double column[3];
        memset(solution.c, 0, sizeof solution.c);
        solution.c[j] = j == 1 ? a * a * a * a * a : a * a * a;
        cavity_surface(&solution, column);
        for (int i = 0; i < 3; ++i) matrix[i][j] = column[i];
    }
    memset(solution.c, 0, sizeof solution.c);
    solution.c[3] = -nu * t / e;
    solution.c[4] = t / e;
    cavity_surface(&solution, load);
    for (int j = 0; j < 3; ++j) { /* Cramer's rule */
        double replaced[3][3];
        memcpy(replaced, matrix, sizeof replaced);
        for (int i = 0; i < 3; ++i) replaced[i][j] = -load[i];
        coefficient[j] = determinant(replaced) / determinant(matrix) * (j == 1 ? a * a * a * a * a : a * a * a);
    }
    memcpy(solution.c, coefficient, sizeof coefficient);
    return solution;
}

/* ------------------------------------------------------------------------ plate with hole, plane strain */

/* 2 mu (u + i v) = kappa phi(z) - z conj(phi'(z)) - conj(psi(z)), phi = T/4 (z + 2 a^2/z), psi = -T/2 (z + a^2/z - a^4/z^3). c[0] = T. */
static void plate_value(const manufactured *solution, const double x[3], double *u)
{
    double complex z = x[0] + I * x[1];
    double t = solution->c[0], a2 = solution->radius * solution->radius;
    double kappa = 3 - 2 * solution->lambda / (solution->lambda + solution->mu);
    double complex phi = t / 4 * (z + 2 * a2 / z), dphi = t / 4 * (1 - 2 * a2 / (z * z));
    double complex psi = -t / 2 * (z + a2 / z - a2 * a2 / (z * z * z));
    double complex w = (kappa * phi - z * conj(dphi) - conj(psi)) / (2 * solution->mu);
    u[0] = creal(w);
    u[1] = cimag(w);
    u[2] = 0;
}

static void plate_gradient(const manufactured *solution, const double x[3], double *g)
{
    double complex z = x[0] + I * x[1], z2 = z * z;
    double t = solution->c[0], a2 = solution->radius * solution->radius;
    double kappa = 3 - 2 * solution->lambda / (solution->lambda + solution->mu);
    double complex dphi = t / 4 * (1 - 2 * a2 / z2), ddphi = t * a2 / (z2 * z);
    double complex dpsi = -t / 2 * (1 - a2 / z2 + 3 * a2 * a2 / (z2 * z2));
    double complex w_z = (kappa * dphi - conj(dphi)) / (2 * solution->mu);
    double complex w_zbar = (-z * conj(ddphi) - conj(dpsi)) / (2 * solution->mu);
    double complex w_x = w_z + w_zbar, w_y = I * (w_z - w_zbar);
    memset(g, 0, 9 * sizeof *g);
    g[0] = creal(w_x);
    g[1] = creal(w_y);
    g[3] = cimag(w_x);
    g[4] = cimag(w_y);
}

manufactured manufactured_plate(double e, double nu, double a, double t)
{
    manufactured solution = elastic("plate with hole", e, nu);
    solution.radius = a;
    solution.c[0] = t;
    solution.value = plate_value;
    solution.gradient = plate_gradient;
    return solution;
}

/* ---------------------------------------------------------------------------------- harmonic functions */

static void sphere_value(const manufactured *solution, const double x[3], double *u)
{
    (void)solution;
    u[0] = power_of(0, 1, x).value;
}

static void sphere_gradient(const manufactured *solution, const double x[3], double *g)
{
    (void)solution;
    power_field field = power_of(0, 1, x);
    memcpy(g, field.gradient, sizeof field.gradient);
}

manufactured manufactured_poisson_sphere(double k)
{
    manufactured solution = poisson("poisson sphere", k);
    solution.value = sphere_value;
    solution.gradient = sphere_gradient;
    return solution;
}

static double corner_angle(const double x[3])
{
    double theta = atan2(x[1], x[0]); /* 0 .. 3/2 pi over the L: the lower left quadrant has negative arguments */
    return theta < 0 ? theta + 6.283185307179586 : theta;
}

static void corner_value(const manufactured *solution, const double x[3], double *u)
{
    (void)solution;
    u[0] = pow(x[0] * x[0] + x[1] * x[1], 1.0 / 3) * sin(2.0 / 3 * corner_angle(x));
}

static void corner_gradient(const manufactured *solution, const double x[3], double *g)
{
    (void)solution; /* u = Im z^(2/3): u_x = Im w, u_y = Re w with w = 2/3 z^(-1/3) */
    double size = 2.0 / 3 * pow(x[0] * x[0] + x[1] * x[1], -1.0 / 6), argument = -corner_angle(x) / 3;
    g[0] = size * sin(argument);
    g[1] = size * cos(argument);
    g[2] = 0;
}

manufactured manufactured_poisson_corner(double k)
{
    manufactured solution = poisson("poisson corner", k);
    solution.value = corner_value;
    solution.gradient = corner_gradient;
    return solution;
}
