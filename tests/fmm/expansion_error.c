/* The error of truncation, beside its bound and its expected size. */
#include "context.h"

#include <math.h>

#include "error_theory.h"
#include "expansion/expansion.h"
#include "expansion_reference.h"

enum { MOST = 2 * ((FMM_MAX_ORDER + 1) * (FMM_MAX_ORDER + 2) / 2), POINTS = 64, SOME = 16 };
static const int orders[] = {0, 1, 2, 4, 7, 12, 20, 30};
#define FOR_ORDERS(i) for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)

/* Points around a centre at the origin, in units of the edge. */
typedef struct points {
    double x[POINTS], y[POINTS], z[POINTS];
} points;

/* What goes through P2M, M2L and L2P of one order. */
typedef struct chain {
    fmm_operators *operators;
    double *multipole, *local, *work;
} chain;

static chain create_chain(int order)
{
    chain c;
    assert_int_equal(fmm_operators_create(context, order, &c.operators), YOKE_OK);
    assert_int_equal(yoke_allocate(context, MOST, sizeof *c.multipole, &c.multipole), YOKE_OK);
    assert_int_equal(yoke_allocate(context, MOST, sizeof *c.local, &c.local), YOKE_OK);
    assert_int_equal(yoke_allocate(context, (int64_t)fmm_translation_work(c.operators), sizeof *c.work, &c.work), YOKE_OK);
    return c;
}

static void destroy_chain(chain *c)
{
    yoke_release(context, c->multipole);
    yoke_release(context, c->local);
    yoke_release(context, c->work);
    fmm_operators_destroy(c->operators);
}

/* The local expansion of charges at y about the cell at `direction`, about the origin. */
static void local_of(chain *c, const int direction[3], const points *y, const double *charge, int count)
{
    fmm_frame frame = {{0, 0, 0}, 1};
    memset(c->multipole, 0, MOST * sizeof *c->multipole);
    memset(c->local, 0, MOST * sizeof *c->local);
    fmm_p2m(c->operators, &frame, &(fmm_sources){count, y->x, y->y, y->z, charge}, c->multipole);
    fmm_m2l(c->operators, fmm_operators_order(c->operators), direction, 1, (const double *const[]){c->multipole},
            (const double *const[]){NULL}, (double *const[]){c->local}, c->work);
}

/* Errors of the potential at x of charges at y, which are about the cell at `direction`. */
static void errors_of(chain *c, const int direction[3], const points *x, int targets, const points *y, const double *charge, int count,
                      double *error)
{
    points moved = *y;
    for (int i = 0; i < count; i++) moved.x[i] += direction[0], moved.y[i] += direction[1], moved.z[i] += direction[2];
    local_of(c, direction, y, charge, count);
    for (int i = 0; i < targets; i++) error[i] = 0;
    fmm_l2p(c->operators, &(fmm_frame){{0, 0, 0}, 1}, c->local,
            &(fmm_targets){.count = targets, .x = x->x, .y = x->y, .z = x->z, .potential = error});
    for (int i = 0; i < targets; i++) {
        double potential, gradient[3];
        reference_direct(&(fmm_sources){count, moved.x, moved.y, moved.z, charge}, (double[3]){x->x[i], x->y[i], x->z[i]}, &potential,
                         gradient);
        error[i] -= potential;
    }
}

/* Corners first, then places of equal chance in the cube. */
static void fill_cube(uint64_t *state, points *p, int corners)
{
    for (int i = 0; i < POINTS; i++) {
        int corner = i < 8 && corners;
        p->x[i] = corner ? (i & 1) - 0.5 : reference_random(state) - 0.5;
        p->y[i] = corner ? (i >> 1 & 1) - 0.5 : reference_random(state) - 0.5;
        p->z[i] = corner ? (i >> 2 & 1) - 0.5 : reference_random(state) - 0.5;
    }
}

static double length(const int d[3]) { return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]); }

/* ---------------------------------------------------------------------------------------------------- bound */

static void points_towards_each_other_have_the_error_of_the_bound(void **state)
{
    (void)state;
    static const double radius[][2] = {{0.5, 0.5}, {0.2, 0.6}, {0.6, 0.1}, {0.7, 0.7}};
    static const int directions[][3] = {{2, 0, 0}, {0, 0, -3}, {2, 1, 0}, {-3, 2, 3}};
    FOR_ORDERS(i)
    for (int r = 0; r < 4; r++)
        for (int d = 0; d < 4; d++) {
            chain c = create_chain(orders[i]);
            double distance = length(directions[d]), error, charge = 1,
                   bound = fmm_error_bound(fmm_m2l_order(orders[i], directions[d]), radius[r][0], radius[r][1], distance);
            double s = radius[r][0] / distance, t = radius[r][1] / distance;
            points y = {{-s * directions[d][0]}, {-s * directions[d][1]}, {-s * directions[d][2]}};
            points x = {{t * directions[d][0]}, {t * directions[d][1]}, {t * directions[d][2]}};
            errors_of(&c, directions[d], &x, 1, &y, &charge, 1, &error);
            assert_true(fabs(error) <= bound + 1e-14);
            assert_true(fabs(error) >= 0.998 * bound - 1e-14);
            destroy_chain(&c);
        }
}

static void no_pair_of_points_has_a_larger_error_than_the_bound(void **state)
{
    (void)state;
    uint64_t seed = 11;
    static const int directions[][3] = {{2, 0, 0}, {2, 1, 0}, {-2, 2, 1}, {0, -3, 0}, {3, 3, 3}};
    FOR_ORDERS(i)
    for (int d = 0; d < 5; d++) {
        chain c = create_chain(orders[i]);
        points x, y;
        fill_cube(&seed, &x, 1), fill_cube(&seed, &y, 1);
        double largest = 0, bound = fmm_error_bound(fmm_m2l_order(orders[i], directions[d]), sqrt(0.75), sqrt(0.75), length(directions[d]));
        for (int s = 0; s < POINTS; s++) {
            double error[POINTS], charge = 1;
            points one = {{y.x[s]}, {y.y[s]}, {y.z[s]}};
            double source = sqrt(y.x[s] * y.x[s] + y.y[s] * y.y[s] + y.z[s] * y.z[s]);
            errors_of(&c, directions[d], &x, POINTS, &one, &charge, 1, error);
            for (int t = 0; t < POINTS; t++) {
                double target = sqrt(x.x[t] * x.x[t] + x.y[t] * x.y[t] + x.z[t] * x.z[t]);
                assert_true(fabs(error[t]) <=
                            fmm_error_bound(fmm_m2l_order(orders[i], directions[d]), source, target, length(directions[d])) + 1e-14);
                largest = fmax(largest, fabs(error[t]));
            }
        }
        assert_true(largest <= bound + 1e-14);
        if (d == 4 && orders[i] < 20) assert_true(largest > 0.99 * bound); /* two corners on the line between the centres */
        destroy_chain(&c);
    }
}

/* With radii a at distance D the bound's factor from order to order tends to a / (D - a), and errors fall with it until rounding. */
static void errors_fall_with_the_order_at_the_rate_of_the_bound(void **state)
{
    (void)state;
    double before = 0, rate = 0.5 / 1.5;
    for (int order = 4; order <= 28; order += 4) {
        chain c = create_chain(order);
        double error, charge = 1;
        errors_of(&c, (int[3]){0, 2, 0}, &(points){.y = {0.5}}, 1, &(points){.y = {-0.5}}, &charge, 1, &error);
        if (before != 0) assert_true(fabs(error / before / pow(rate, 4) - 1) < 0.05);
        before = error;
        destroy_chain(&c);
    }
}

static void bounds_of_touching_balls_are_infinite_and_of_points_zero(void **state)
{
    (void)state;
    assert_true(isinf(fmm_error_bound(10, 1, 1, 2)));
    assert_true(isinf(fmm_error_bound(10, 0.5, 0.6, 1)));
    assert_true(isinf(fmm_error_bound(10, 0.5, 0.6, NAN)));
    assert_true(fmm_error_bound(10, 0, 0, 2) == 0);
    /* One of them a point: the geometric series of the other's. */
    assert_true(fabs(fmm_error_bound(3, 0.5, 0, 2) / (pow(0.25, 4) / 1.5) - 1) < 1e-14);
    assert_true(fabs(fmm_error_bound(3, 0, 0.5, 2) / (pow(0.25, 4) / 1.5) - 1) < 2e-3);
    /* Nearly touching: slow, but no less than the sum over k > p alone. */
    assert_true(fmm_error_bound(50, 0.9999, 0.9999, 2) >= pow(0.49995 / 0.50005, 51) / 2e-4 * (1 - 1e-9));
}

/* ------------------------------------------------------------------------------------------------ mean square */

static void moments_of_the_cube_are_means_of_powers(void **state)
{
    (void)state;
    double moments[170];
    fmm_error_cube_moments(170, moments);
    assert_true(fabs(moments[0] - 1) < 1e-15);
    assert_true(fabs(moments[1] - 0.25) < 1e-15);
    assert_true(fabs(moments[2] - 19.0 / 240) < 1e-15); /* 3/80 + 6/144 */
    for (int k = 1; k < 170; k++) {
        assert_true(moments[k] < 0.75 * moments[k - 1] && moments[k] > 0.2499 * moments[k - 1]); /* r^2 is at most 3/4 */
        if (k > 1) assert_true(moments[k] * moments[k - 2] >= moments[k - 1] * moments[k - 1]);  /* Cauchy and Schwarz */
    }
}

/* Evenly in a ball. */
static void fill_ball(uint64_t *state, double radius, points *p)
{
    for (int i = 0; i < POINTS; i++) {
        double square;
        do {
            p->x[i] = radius * (2 * reference_random(state) - 1);
            p->y[i] = radius * (2 * reference_random(state) - 1);
            p->z[i] = radius * (2 * reference_random(state) - 1);
            square = p->x[i] * p->x[i] + p->y[i] * p->y[i] + p->z[i] * p->z[i];
        } while (square > radius * radius);
    }
}

/* Root mean square of errors of charges with random signs, by the root of the sum of their squares; in balls, or in cubes (radius 0). */
static double mean_error(uint64_t *state, int order, const int direction[3], double source_radius, double target_radius)
{
    chain c = create_chain(order);
    double sum = 0, squares = 0;
    for (int trial = 0; trial < 500; trial++) {
        points x, y;
        double charge[POINTS], error[POINTS];
        if (source_radius > 0)
            fill_ball(state, target_radius, &x), fill_ball(state, source_radius, &y);
        else
            fill_cube(state, &x, 0), fill_cube(state, &y, 0);
        for (int k = 0; k < SOME; k++) {
            charge[k] = reference_random(state) < 0.5 ? -1 : 1;
            squares += charge[k] * charge[k];
        }
        errors_of(&c, direction, &x, SOME, &y, charge, SOME, error);
        for (int k = 0; k < SOME; k++) sum += error[k] * error[k] / SOME;
    }
    destroy_chain(&c);
    return sqrt(sum / squares);
}

/* In balls all directions are equally likely, as the formula wants. */
static void errors_of_random_charges_in_balls_are_as_large_as_expected(void **state)
{
    (void)state;
    uint64_t seed = 12;
    static const int directions[][3] = {{2, 0, 0}, {2, -2, 1}};
    static const double radius[][2] = {{0.5, 0.5}, {0.6, 0.2}, {0.1, 0.6}};
    for (int order = 0; order <= 8; order += 2)
        for (int d = 0; d < 2; d++)
            for (int r = 0; r < 3; r++) {
                double moments[2][48], a = radius[r][0], b = radius[r][1];
                for (int k = 0; k < 48; k++)
                    moments[0][k] = 3 * pow(a, 2 * k) / (2 * k + 3), moments[1][k] = 3 * pow(b, 2 * k) / (2 * k + 3);
                double measured = mean_error(&seed, order, directions[d], a, b);
                double expected = fmm_error_rms(fmm_m2l_order(order, directions[d]), length(directions[d]), 48, moments[0], moments[1]);
                if (!(fabs(expected / measured - 1) < 0.15)) print_error("order %d: measured %g, expected %g\n", order, measured, expected);
                assert_true(fabs(expected / measured - 1) < 0.15);
            }
}

/* Corners of cubes lie in few directions: what error_theory.h says of it. */
static void errors_of_random_charges_in_cubes_are_near_the_expected_size_at_low_orders(void **state)
{
    (void)state;
    uint64_t seed = 13;
    static const int directions[][3] = {{2, 0, 0}, {2, 1, 0}, {2, 2, 0}, {2, 2, 2}, {3, 0, 0}};
    double moments[64];
    fmm_error_cube_moments(64, moments);
    for (int order = 0; order <= 20; order += order < 4 ? 1 : 4)
        for (int d = 0; d < 5; d++) {
            double ratio = fmm_error_rms(fmm_m2l_order(order, directions[d]), length(directions[d]), order + 41, moments, moments) /
                           mean_error(&seed, order, directions[d], 0, 0);
            if (order <= 4)
                assert_true(ratio > 0.55 && ratio < 1.5);
            else
                assert_true(ratio > 0.2 && ratio < 40);
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(points_towards_each_other_have_the_error_of_the_bound),
    cmocka_unit_test(no_pair_of_points_has_a_larger_error_than_the_bound),
    cmocka_unit_test(errors_fall_with_the_order_at_the_rate_of_the_bound),
    cmocka_unit_test(bounds_of_touching_balls_are_infinite_and_of_points_zero),
    cmocka_unit_test(moments_of_the_cube_are_means_of_powers),
    cmocka_unit_test(errors_of_random_charges_in_balls_are_as_large_as_expected),
    cmocka_unit_test(errors_of_random_charges_in_cubes_are_near_the_expected_size_at_low_orders),
};

UNIT_MAIN(tests, context_start, context_end)
