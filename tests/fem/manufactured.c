#include "manufactured.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------- common forms */

/* Stress that one kelvin takes away. */
static double thermal_factor(const manufactured *solution) { return (3 * solution->lambda + 2 * solution->mu) * solution->expansion; }

void manufactured_stress(const manufactured *solution, const double x[3], double *sigma)
{
    double g[9];
    solution->gradient(solution, x, g);
    if (solution->components == 1) {
        for (int i = 0; i < 3; ++i) sigma[i] = solution->mu * g[i];
        return;
    }
    double trace = g[0] + g[4] + g[8], slope[3];
    double taken = solution->temperature ? thermal_factor(solution) * solution->temperature(solution, x, slope) : 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            sigma[3 * i + j] = solution->mu * (g[3 * i + j] + g[3 * j + i]) + (i == j ? solution->lambda * trace - taken : 0);
}

void manufactured_value(const double x[3], double *u, void *user)
{
    const manufactured *solution = user;
    solution->value(solution, x, u);
}

void manufactured_force(const double x[3], double *f, void *user)
{
    const manufactured *solution = user;
    double h[27] = {0};
    double slope[3] = {0, 0, 0};
    if (solution->hessian) solution->hessian(solution, x, h);
    if (solution->temperature) solution->temperature(solution, x, slope);
    for (int i = 0; i < solution->components; ++i) {
        double laplace = h[9 * i] + h[9 * i + 4] + h[9 * i + 8], grad_div = 0;
        if (solution->components == 3)
            for (int j = 0; j < 3; ++j) grad_div += h[9 * j + 3 * i + j];
        f[i] = -solution->mu * laplace - (solution->lambda + solution->mu) * grad_div + thermal_factor(solution) * slope[i];
    }
}

void manufactured_traction(const double x[3], const double normal[3], double *t, void *user)
{
    const manufactured *solution = user;
    double sigma[9];
    manufactured_stress(solution, x, sigma);
    for (int i = 0; i < solution->components; ++i)
        t[i] = sigma[3 * i] * normal[0] + sigma[3 * i + 1] * normal[1] + sigma[3 * i + 2] * normal[2];
}

double manufactured_temperature(const double x[3], void *user)
{
    const manufactured *solution = user;
    double slope[3];
    return solution->temperature(solution, x, slope);
}

fem_fields manufactured_fields(const manufactured *solution)
{
    return (fem_fields){.force = manufactured_force,
                        .dirichlet = manufactured_value,
                        .traction = manufactured_traction,
                        .temperature = solution->temperature ? manufactured_temperature : NULL,
                        .user = (void *)(uintptr_t)solution};
}

static manufactured elastic(const char *name, double e, double nu)
{
    manufactured solution = {0};
    solution.name = name;
    solution.components = 3;
    solution.lambda = e * nu / ((1 + nu) * (1 - 2 * nu));
    solution.mu = e / (2 * (1 + nu));
    return solution;
}

static manufactured poisson(const char *name, double k)
{
    manufactured solution = {0};
    solution.name = name;
    solution.components = 1;
    solution.mu = k;
    return solution;
}

/* -------------------------------------------------------------------------------------------- polynomials */

/* Coefficients of component i: constant, linear part, symmetric quadratic part, and x_m^3 with m = (i + 1) mod 3; nothing is zero. */
static const double constant_part[3] = {0.1, -0.2, 0.3};
static const double linear_part[3][3] = {{0.7, -0.4, 0.5}, {0.3, 0.9, -0.6}, {-0.8, 0.2, 0.4}};
static const double quadratic_part[3][3][3] = {{{0.5, 0.3, -0.2}, {0.3, -0.4, 0.6}, {-0.2, 0.6, 0.7}},
                                               {{-0.3, 0.5, 0.1}, {0.5, 0.8, -0.7}, {0.1, -0.7, 0.2}},
                                               {{0.4, -0.6, 0.3}, {-0.6, 0.1, 0.5}, {0.3, 0.5, -0.9}}};

/* c[0], c[1]: factors of the quadratic and the cubic part. */
static void polynomial_value(const manufactured *solution, const double x[3], double *u)
{
    for (int i = 0; i < solution->components; ++i) {
        double m = x[(i + 1) % 3];
        u[i] = constant_part[i] + solution->c[1] * m * m * m;
        for (int j = 0; j < 3; ++j) {
            u[i] += linear_part[i][j] * x[j];
            for (int k = 0; k < 3; ++k) u[i] += solution->c[0] * quadratic_part[i][j][k] * x[j] * x[k];
        }
    }
}

static void polynomial_gradient(const manufactured *solution, const double x[3], double *g)
{
    for (int i = 0; i < solution->components; ++i) {
        int m = (i + 1) % 3;
        for (int j = 0; j < 3; ++j) {
            g[3 * i + j] = linear_part[i][j] + (j == m ? 3 * solution->c[1] * x[m] * x[m] : 0);
            for (int k = 0; k < 3; ++k) g[3 * i + j] += 2 * solution->c[0] * quadratic_part[i][j][k] * x[k];
        }
    }
}

static void polynomial_hessian(const manufactured *solution, const double x[3], double *h)
{
    for (int i = 0; i < solution->components; ++i) {
        int m = (i + 1) % 3;
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k)
                h[9 * i + 3 * j + k] = 2 * solution->c[0] * quadratic_part[i][j][k] + (j == m && k == m ? 6 * solution->c[1] * x[m] : 0);
    }
}

static manufactured polynomial(manufactured solution, double quadratic, double cubic)
{
    solution.c[0] = quadratic;
    solution.c[1] = cubic;
    solution.value = polynomial_value;
    solution.gradient = polynomial_gradient;
    solution.hessian = polynomial_hessian;
    return solution;
}

manufactured manufactured_linear(double e, double nu) { return polynomial(elastic("linear", e, nu), 0, 0); }
manufactured manufactured_quadratic(double e, double nu) { return polynomial(elastic("quadratic", e, nu), 1, 0); }
manufactured manufactured_cubic(double e, double nu) { return polynomial(elastic("cubic", e, nu), 1, 0.8); }
manufactured manufactured_poisson_linear(double k) { return polynomial(poisson("poisson linear", k), 0, 0); }
manufactured manufactured_poisson_quadratic(double k) { return polynomial(poisson("poisson quadratic", k), 1, 0); }

/* ------------------------------------------------------------------------------------------ trigonometric */

/* u_i = amplitude_i sin(wave_i . x + phase_i) */
static const double amplitude[3] = {1.0, -0.8, 1.2};
static const double wave[3][3] = {{1.7, -2.1, 1.3}, {2.3, 1.1, -1.6}, {-1.4, 1.9, 2.2}};
static const double phase[3] = {0.3, -0.5, 0.9};

static double wave_argument(int i, const double x[3]) { return wave[i][0] * x[0] + wave[i][1] * x[1] + wave[i][2] * x[2] + phase[i]; }

static void trigonometric_value(const manufactured *solution, const double x[3], double *u)
{
    for (int i = 0; i < solution->components; ++i) u[i] = amplitude[i] * sin(wave_argument(i, x));
}

static void trigonometric_gradient(const manufactured *solution, const double x[3], double *g)
{
    for (int i = 0; i < solution->components; ++i)
        for (int j = 0; j < 3; ++j) g[3 * i + j] = amplitude[i] * wave[i][j] * cos(wave_argument(i, x));
}

static void trigonometric_hessian(const manufactured *solution, const double x[3], double *h)
{
    for (int i = 0; i < solution->components; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k) h[9 * i + 3 * j + k] = -amplitude[i] * wave[i][j] * wave[i][k] * sin(wave_argument(i, x));
}

static manufactured trigonometric(manufactured solution)
{
    solution.value = trigonometric_value;
    solution.gradient = trigonometric_gradient;
    solution.hessian = trigonometric_hessian;
    return solution;
}

manufactured manufactured_trigonometric(double e, double nu) { return trigonometric(elastic("trigonometric", e, nu)); }
manufactured manufactured_poisson_trigonometric(double k) { return trigonometric(poisson("poisson trigonometric", k)); }

/* ----------------------------------------------------------------- radial fields: u = (A + B / r^n) (x, y[, z]) */

/* c[0] = A, c[1] = B, c[2] = n: 2 in the plane (cylinder), 3 in space (sphere). */
static void radial_value(const manufactured *solution, const double x[3], double *u)
{
    int n = (int)solution->c[2];
    double r2 = x[0] * x[0] + x[1] * x[1] + (n == 3 ? x[2] * x[2] : 0);
    double factor = solution->c[0] + solution->c[1] * pow(r2, -0.5 * n);
    for (int i = 0; i < 3; ++i) u[i] = i < n ? factor * x[i] : 0;
}

static void radial_gradient(const manufactured *solution, const double x[3], double *g)
{
    int n = (int)solution->c[2];
    double r2 = x[0] * x[0] + x[1] * x[1] + (n == 3 ? x[2] * x[2] : 0);
    double decay = solution->c[1] * pow(r2, -0.5 * n);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            g[3 * i + j] = i < n && j < n ? (i == j ? solution->c[0] + decay : 0) - n * decay * x[i] * x[j] / r2 : 0;
}

manufactured manufactured_cylinder(double e, double nu, double a, double b, double inner, double outer)
{
    manufactured solution = elastic("cylinder", e, nu);
    double area = b * b - a * a;
    solution.radius = a;
    solution.c[0] = (inner * a * a - outer * b * b) / (2 * (solution.lambda + solution.mu) * area);
    solution.c[1] = (inner - outer) * a * a * b * b / (2 * solution.mu * area);
    solution.c[2] = 2;
    solution.value = radial_value;
    solution.gradient = radial_gradient;
    return solution;
}

static double warm(const manufactured *solution, const double x[3], double slope[3])
{
    double wave_1 = 1.9 * x[0] - 1.2 * x[1] + 0.7 * x[2], wave_2 = 0.8 * x[1] + 1.5 * x[2];
    (void)solution;
    slope[0] = 1.9 * cos(wave_1);
    slope[1] = -1.2 * cos(wave_1) - 0.8 * sin(wave_2);
    slope[2] = 0.7 * cos(wave_1) - 1.5 * sin(wave_2);
    return sin(wave_1) + cos(wave_2) + 0.5;
}

manufactured manufactured_warmed(manufactured solution, double expansion)
{
    solution.name = "warmed";
    solution.expansion = expansion;
    solution.temperature = warm;
    return solution;
}

static double radial_temperature(const manufactured *solution, const double x[3], double slope[3])
{
    double r = sqrt(x[0] * x[0] + x[1] * x[1]);
    for (int i = 0; i < 3; ++i) slope[i] = i < 2 ? solution->c[3] * x[i] / r : 0;
    return solution->c[3] * r;
}

/* u = (A + B / r^2 + K r) (x, y); c[0] = A, c[1] = B, c[2] = K */
static void heated_value(const manufactured *solution, const double x[3], double *u)
{
    double r2 = x[0] * x[0] + x[1] * x[1], factor = solution->c[0] + solution->c[1] / r2 + solution->c[2] * sqrt(r2);
    for (int i = 0; i < 3; ++i) u[i] = i < 2 ? factor * x[i] : 0;
}

static void heated_gradient(const manufactured *solution, const double x[3], double *g)
{
    double r2 = x[0] * x[0] + x[1] * x[1], factor = solution->c[0] + solution->c[1] / r2 + solution->c[2] * sqrt(r2);
    double slope = -2 * solution->c[1] / (r2 * r2) + solution->c[2] / sqrt(r2); /* of the factor, divided by r */
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) g[3 * i + j] = i < 2 && j < 2 ? (i == j ? factor : 0) + slope * x[i] * x[j] : 0;
}

/* (lambda + 2 mu) (u'' + u'/r - u/r^2) = taken, no radial stress 2 (lambda + mu) A - 2 mu B/r^2 + (3 lambda + 4 mu) K r - taken r at a and b. */
manufactured manufactured_heated_cylinder(double e, double nu, double a, double b, double expansion, double rise)
{
    manufactured solution = elastic("heated cylinder", e, nu);
    solution.expansion = expansion;
    double modulus = solution.lambda + 2 * solution.mu, taken = thermal_factor(&solution) * rise, k = taken / (3 * modulus);
    double particular = (2 * modulus + solution.lambda) * k - taken;     /* radial stress, divided by r */
    double b_term = -particular * (b - a) / (1 / (a * a) - 1 / (b * b)); /* 2 mu B */
    solution.radius = a;
    solution.c[0] = (b_term / (a * a) - particular * a) / (2 * (solution.lambda + solution.mu));
    solution.c[1] = b_term / (2 * solution.mu);
    solution.c[2] = k;
    solution.c[3] = rise;
    solution.value = heated_value;
    solution.gradient = heated_gradient;
    solution.temperature = radial_temperature;
    return solution;
}

/* u = (A + B / r^2 - C r^2) (x, y); c[0] = A, c[1] = B, c[2] = C */
static void rotating_value(const manufactured *solution, const double x[3], double *u)
{
    double r2 = x[0] * x[0] + x[1] * x[1], factor = solution->c[0] + solution->c[1] / r2 - solution->c[2] * r2;
    for (int i = 0; i < 3; ++i) u[i] = i < 2 ? factor * x[i] : 0;
}

static void rotating_gradient(const manufactured *solution, const double x[3], double *g)
{
    double r2 = x[0] * x[0] + x[1] * x[1], factor = solution->c[0] + solution->c[1] / r2 - solution->c[2] * r2;
    double slope = -2 * solution->c[1] / (r2 * r2) - 2 * solution->c[2]; /* of the factor, divided by r */
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) g[3 * i + j] = i < 2 && j < 2 ? (i == j ? factor : 0) + slope * x[i] * x[j] : 0;
}

/* Radial equilibrium (lambda + 2 mu) (u'' + u'/r - u/r^2) = -density speed^2 r, and no radial stress at a and b. */
manufactured manufactured_rotating_cylinder(double e, double nu, double a, double b, double density, double speed)
{
    manufactured solution = elastic("rotating cylinder", e, nu);
    double modulus = solution.lambda + 2 * solution.mu, c = density * speed * speed / (8 * modulus);
    double particular = (3 * modulus + solution.lambda) * c; /* radial stress of -c r^3, divided by -r^2 */
    solution.radius = a;
    solution.c[0] = particular * (a * a + b * b) / (2 * (solution.lambda + solution.mu));
    solution.c[1] = particular * a * a * b * b / (2 * solution.mu);
    solution.c[2] = c;
    solution.value = rotating_value;
    solution.gradient = rotating_gradient;
    return solution;
}

manufactured manufactured_hollow_sphere(double e, double nu, double a, double b, double inner, double outer)
{
    manufactured solution = elastic("hollow sphere", e, nu);
    double a3 = a * a * a, b3 = b * b * b;
    solution.radius = a;
    solution.c[0] = (inner * a3 - outer * b3) / ((3 * solution.lambda + 2 * solution.mu) * (b3 - a3));
    solution.c[1] = (inner - outer) * a3 * b3 / (4 * solution.mu * (b3 - a3));
    solution.c[2] = 3;
    solution.value = radial_value;
    solution.gradient = radial_gradient;
    return solution;
}

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
