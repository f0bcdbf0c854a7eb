#include "manufactured_forms.h"

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
