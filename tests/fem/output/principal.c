#include "output/quantities/principal.h"

#include <math.h>

#include "unit.h"

static void check_values(const double tensor[6], double large, double middle, double small, double tolerance)
{
    double value[3];
    fem_principal(tensor, value);
    const double expected[3] = {large, middle, small};
    for (int i = 0; i < 3; i++)
        if (!(fabs(value[i] - expected[i]) <= tolerance)) fail_msg("value %d: %.17g, expected %.17g", i, value[i], expected[i]);
}

/* S. P. Timoshenko, J. N. Goodier: uniaxial, hydrostatic, pure shear; and a tensor whose characteristic polynomial has the roots 4, 1, 1. */
static void known_states_of_stress(void **state)
{
    (void)state;
    check_values((double[6]){0, 0, 5, 0, 0, 0}, 5, 0, 0, 0);
    check_values((double[6]){-2, -2, -2, 0, 0, 0}, -2, -2, -2, 0);
    check_values((double[6]){0, 0, 0, 0, 0, 7}, 7, 0, -7, 1e-13);
    check_values((double[6]){0, 0, 0, -7, 0, 0}, 7, 0, -7, 1e-13);
    check_values((double[6]){2, 2, 2, 1, 1, 1}, 4, 1, 1, 1e-14);
    check_values((double[6]){0}, 0, 0, 0, 0);
    check_values((double[6]){50, -20, 0, 0, 0, 30}, 15 + hypot(35, 30), 0, 15 - hypot(35, 30), 1e-12); /* Mohr's circle */
}

/* Q diag Q' with a rotation about each axis: distinct values, two that are equal, and two that are nearly so, over all magnitudes. */
static void values_of_rotated_tensors(void **state)
{
    (void)state;
    const double values[][3] = {{3, 2, 1}, {3, 3, -1}, {1, -2, -2}, {1 + 1e-9, 1, -1}, {1, 1e-12, -1e-12}, {1, 0, 0}};
    const double scales[] = {1e-300, 1, 210e9, 1e300};
    for (int turn = 0; turn < 50; turn++) {
        double c[3], s[3], q[3][3];
        for (int a = 0; a < 3; a++) c[a] = cos(0.37 * turn + a), s[a] = sin(0.37 * turn + a);
        const double rotation[3][3] = {{c[0] * c[1], c[0] * s[1] * s[2] - s[0] * c[2], c[0] * s[1] * c[2] + s[0] * s[2]},
                                       {s[0] * c[1], s[0] * s[1] * s[2] + c[0] * c[2], s[0] * s[1] * c[2] - c[0] * s[2]},
                                       {-s[1], c[1] * s[2], c[1] * c[2]}};
        memcpy(q, rotation, sizeof q);
        for (int k = 0; k < 6; k++) {
            double full[3][3] = {{0}}, scale = scales[turn % 4];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    for (int m = 0; m < 3; m++) full[i][j] += q[i][m] * values[k][m] * q[j][m];
            const double tensor[6] = {full[0][0] * scale, full[1][1] * scale, full[2][2] * scale,
                                      full[1][2] * scale, full[0][2] * scale, full[0][1] * scale};
            check_values(tensor, values[k][0] * scale, values[k][1] * scale, values[k][2] * scale, 5e-14 * scale);
        }
    }
}

static void what_is_not_a_number_stays_so(void **state)
{
    (void)state;
    for (int c = 0; c < 6; c++) {
        double tensor[6] = {1, 2, 3, 4, 5, 6}, value[3];
        tensor[c] = c % 2 ? NAN : INFINITY;
        fem_principal(tensor, value);
        for (int i = 0; i < 3; i++) assert_true(isnan(value[i]));
    }
    double all[6] = {NAN, NAN, NAN, NAN, NAN, NAN}, value[3];
    fem_principal(all, value);
    assert_true(isnan(value[0]) && isnan(value[1]) && isnan(value[2]));
}

/* Uniaxial tension gives 1/E along it and -nu/E across; shear tau gives gamma / 2 = tau (1 + nu) / E. */
static void strain_by_engineering_constants(void **state)
{
    (void)state;
    const double e = 210e9, nu[] = {-0.5, 0, 0.3, 0.4999};
    for (int i = 0; i < 4; i++) {
        const fem_material material = {.lambda = e * nu[i] / ((1 + nu[i]) * (1 - 2 * nu[i])), .mu = e / (2 * (1 + nu[i]))};
        double strain[6];
        fem_elastic_strain(&material, (double[6]){0, 1e6, 0, 2e6, -3e6, 4e6}, strain);
        const double shear = 1e6 * (1 + nu[i]) / e;
        const double expected[6] = {-nu[i] * 1e6 / e, 1e6 / e, -nu[i] * 1e6 / e, 2 * shear, -3 * shear, 4 * shear};
        for (int c = 0; c < 6; c++) assert_true(fabs(strain[c] - expected[c]) <= 1e-12 * 4e6 / e);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(known_states_of_stress),
    cmocka_unit_test(values_of_rotated_tensors),
    cmocka_unit_test(what_is_not_a_number_stays_so),
    cmocka_unit_test(strain_by_engineering_constants),
};

UNIT_MAIN(tests, NULL, NULL)
