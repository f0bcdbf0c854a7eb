/* The manufactured and exact solutions themselves: derivatives against differences, and what the theory says of each. */
#include "fem/fixtures/manufactured.h"

#include <math.h>

#include "near.h"
#include "unit.h"

/* Points in 1 < r < 2 away from the axes. */
static const double points[4][3] = {{0.9, 0.7, 0.4}, {1.1, 0.3, -0.6}, {-0.5, 1.2, 0.8}, {-0.8, -0.9, -0.5}};

/* u differentiated centrally is grad u; sigma differentiated is -f. */
static void assert_consistent(const manufactured *solution)
{
    int n = solution->components;
    const double h = 1e-4;
    for (int p = 0; p < 4; p++) {
        double gradient[9], force[3], divergence[3] = {0}, scale = 0;
        solution->gradient(solution, points[p], gradient);
        manufactured_force(points[p], force, (void *)(uintptr_t)solution);
        for (int j = 0; j < 3; j++) {
            double low[3], high[3], u_low[3], u_high[3], s_low[9], s_high[9];
            memcpy(low, points[p], sizeof low);
            memcpy(high, points[p], sizeof high);
            low[j] -= h;
            high[j] += h;
            solution->value(solution, low, u_low);
            solution->value(solution, high, u_high);
            manufactured_stress(solution, low, s_low);
            manufactured_stress(solution, high, s_high);
            for (int c = 0; c < n; c++) {
                assert_near((u_high[c] - u_low[c]) / (2 * h), gradient[3 * c + j], 1e-6);
                divergence[c] += (s_high[3 * c + j] - s_low[3 * c + j]) / (2 * h);
                scale += fabs(s_high[3 * c + j]);
            }
        }
        for (int c = 0; c < n; c++) assert_near(divergence[c], -force[c], 1e-6 * (1 + scale));
    }
}

static void gradient_and_force_of_each_solution_agree_with_differences(void **state)
{
    static const double nus[3] = {0.0, 0.3, 0.45};
    (void)state;
    for (int i = 0; i < 3; i++) {
        manufactured elastic[] = {manufactured_linear(1, nus[i]),
                                  manufactured_quadratic(1, nus[i]),
                                  manufactured_cubic(1, nus[i]),
                                  manufactured_trigonometric(1, nus[i]),
                                  manufactured_warmed(manufactured_trigonometric(1, nus[i]), 0.3),
                                  manufactured_cylinder(1, nus[i], 1, 2, 0.3, 0.1),
                                  manufactured_hollow_sphere(1, nus[i], 1, 2, 0.3, 0.1),
                                  manufactured_cavity(1, nus[i], 0.9, 0.2),
                                  manufactured_plate(1, nus[i], 0.8, 0.2)};
        for (size_t k = 0; k < sizeof elastic / sizeof *elastic; k++) assert_consistent(&elastic[k]);
    }
    manufactured scalar[] = {manufactured_poisson_linear(2), manufactured_poisson_quadratic(2), manufactured_poisson_trigonometric(2),
                             manufactured_poisson_sphere(2), manufactured_poisson_corner(2)};
    for (size_t k = 0; k < sizeof scalar / sizeof *scalar; k++) assert_consistent(&scalar[k]);
}

static double normal_stress(const manufactured *solution, const double x[3], const double n[3])
{
    double t[3];
    manufactured_traction(x, n, t, (void *)(uintptr_t)solution);
    return t[0] * n[0] + t[1] * n[1] + t[2] * n[2];
}

/* Lame: sigma_rr = -p at the walls, sigma_tt = (p_i a^2 - p_o b^2 + (p_i - p_o) a^2 b^2/r^2)/(b^2 - a^2). */
static void cylinder_carries_its_pressures(void **state)
{
    (void)state;
    manufactured s = manufactured_cylinder(7, 0.3, 1.5, 4, 3, 2);
    double c = cos(0.4), k = sin(0.4), radial[3] = {c, k, 0}, hoop[3] = {-k, c, 0};
    assert_near(normal_stress(&s, (double[3]){1.5 * c, 1.5 * k, 0.2}, radial), -3, 1e-13);
    assert_near(normal_stress(&s, (double[3]){4 * c, 4 * k, 0.2}, radial), -2, 1e-13);
    assert_near(normal_stress(&s, (double[3]){1.5 * c, 1.5 * k, 0.2}, hoop), (3 * 2.25 - 2 * 16 + 16.0) / (16 - 2.25), 1e-13);
}

/* div sigma = factor (x, y, 0), by differences. */
static void assert_force(const manufactured *s, double factor)
{
    const double h = 1e-4;
    for (int p = 0; p < 4; p++)
        for (int i = 0; i < 3; i++) {
            double divergence = 0;
            for (int j = 0; j < 3; j++) {
                double low[3], high[3], s_low[9], s_high[9];
                memcpy(low, points[p], sizeof low);
                memcpy(high, points[p], sizeof high);
                low[j] -= h;
                high[j] += h;
                manufactured_stress(s, low, s_low);
                manufactured_stress(s, high, s_high);
                divergence += (s_high[3 * i + j] - s_low[3 * i + j]) / (2 * h);
            }
            assert_near(divergence, i < 2 ? factor * points[p][i] : 0, 1e-5);
        }
}

/* Timoshenko and Goodier, sect. 32, in plane strain: walls without stress, div sigma = -density speed^2 r. */
static void rotating_cylinder_is_in_equilibrium(void **state)
{
    (void)state;
    const double a = 1.5, b = 4;
    manufactured s = manufactured_rotating_cylinder(7, 0.3, a, b, 2, 0.5);
    const double n[3] = {0.6, 0.8, 0};
    assert_near(normal_stress(&s, (double[3]){0.6 * a, 0.8 * a, 0}, n), 0, 1e-13);
    assert_near(normal_stress(&s, (double[3]){0.6 * b, 0.8 * b, 0}, n), 0, 1e-13);
    assert_force(&s, -2 * 0.25);
}

/* Timoshenko and Goodier, sect. 151, in plane strain: walls without stress, div sigma = 0 with the thermal part. */
static void heated_cylinder_is_in_equilibrium(void **state)
{
    (void)state;
    const double a = 1.5, b = 4, n[3] = {0.6, 0.8, 0};
    manufactured s = manufactured_heated_cylinder(7, 0.3, a, b, 0.2, 0.5);
    assert_near(normal_stress(&s, (double[3]){0.6 * a, 0.8 * a, 0}, n), 0, 1e-13);
    assert_near(normal_stress(&s, (double[3]){0.6 * b, 0.8 * b, 0}, n), 0, 1e-13);
    assert_force(&s, 0);
}

static void hollow_sphere_carries_its_pressures(void **state)
{
    (void)state;
    manufactured s = manufactured_hollow_sphere(7, 0.3, 1.5, 4, 3, 2);
    double n[3] = {2.0 / 3, -2.0 / 3, 1.0 / 3};
    assert_near(normal_stress(&s, (double[3]){1, -1, 0.5}, n), -3, 1e-13);
    assert_near(normal_stress(&s, (double[3]){8.0 / 3, -8.0 / 3, 4.0 / 3}, n), -2, 1e-13);
}

static void cavity_is_free_and_concentrates_stress_as_southwell_found(void **state)
{
    (void)state;
    for (double nu = 0; nu < 0.5; nu += 0.15) {
        manufactured s = manufactured_cavity(5, nu, 2, 3);
        for (int i = 0; i < 12; i++) {
            double n[3] = {sin(0.3 * i) * cos(i), sin(0.3 * i) * sin(i), cos(0.3 * i)}, x[3] = {2 * n[0], 2 * n[1], 2 * n[2]}, t[3];
            manufactured_traction(x, n, t, &s);
            for (int c = 0; c < 3; c++) assert_near(t[c], 0, 1e-12);
        }
        assert_near(normal_stress(&s, (double[3]){2, 0, 0}, (double[3]){0, 0, 1}) / 3, (27 - 15 * nu) / (14 - 10 * nu), 1e-12);
        assert_near(normal_stress(&s, (double[3]){2000, 1000, 3000}, (double[3]){0, 0, 1}), 3, 1e-8);
        assert_near(normal_stress(&s, (double[3]){2000, 1000, 3000}, (double[3]){1, 0, 0}), 0, 1e-8);
    }
}

static void hole_is_free_and_concentrates_stress_threefold(void **state)
{
    (void)state;
    manufactured s = manufactured_plate(5, 0.3, 2, 3);
    for (int i = 0; i < 12; i++) {
        double n[3] = {cos(0.5 * i), sin(0.5 * i), 0}, x[3] = {2 * n[0], 2 * n[1], 0.7}, t[3];
        manufactured_traction(x, n, t, &s);
        for (int c = 0; c < 3; c++) assert_near(t[c], 0, 1e-12);
    }
    assert_near(normal_stress(&s, (double[3]){0, 2, 0}, (double[3]){1, 0, 0}), 9, 1e-12);
    assert_near(normal_stress(&s, (double[3]){2, 0, 0}, (double[3]){0, 1, 0}), -3, 1e-12);
    assert_near(normal_stress(&s, (double[3]){3000, 4000, 0}, (double[3]){1, 0, 0}), 3, 1e-5);
    double gradient[9];
    s.gradient(&s, (double[3]){3, 1, 1}, gradient);
    assert_near(gradient[8], 0, 0); /* plane strain */
}

static void corner_solution_vanishes_on_both_sides_of_the_edge(void **state)
{
    double u;
    (void)state;
    manufactured s = manufactured_poisson_corner(1);
    s.value(&s, (double[3]){0.7, 0, 0.1}, &u);
    assert_near(u, 0, 1e-15);
    s.value(&s, (double[3]){0, -0.7, 0.1}, &u);
    assert_near(u, 0, 1e-15);
    s.value(&s, (double[3]){-1, 1, 0.1}, &u); /* the middle of the three quadrants */
    assert_near(u, pow(2, 1.0 / 3), 1e-15);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(gradient_and_force_of_each_solution_agree_with_differences),
    cmocka_unit_test(cylinder_carries_its_pressures),
    cmocka_unit_test(rotating_cylinder_is_in_equilibrium),
    cmocka_unit_test(heated_cylinder_is_in_equilibrium),
    cmocka_unit_test(hollow_sphere_carries_its_pressures),
    cmocka_unit_test(cavity_is_free_and_concentrates_stress_as_southwell_found),
    cmocka_unit_test(hole_is_free_and_concentrates_stress_threefold),
    cmocka_unit_test(corner_solution_vanishes_on_both_sides_of_the_edge),
};

UNIT_MAIN(tests, NULL, NULL)
