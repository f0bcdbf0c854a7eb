/* Operators of one expansion, and translations, against plain sums in long double. */
#include "context.h"

#include <math.h>

#include "error_theory.h"
#include "expansion/parts.h"
#include "expansion_reference.h"

#define EXACT 1e-13
enum { MOST = 2 * ((FMM_MAX_ORDER + 1) * (FMM_MAX_ORDER + 2) / 2), SOURCES = 37, MAX_TEST_PAIRS = 35 };
static const int orders[] = {0, 1, 2, 3, 7, 12, 20, 50};
#define FOR_ORDERS(i) for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)

/* The operators of an order with one of the machine's instruction sets; NULL where there are no more. */
static fmm_operators *operators_of(int order, int set)
{
    const fmm_kernels *list[FMM_MAX_KERNELS];
    if (set >= fmm_kernels_list(list)) return NULL;
    fmm_operators *o;
    assert_int_equal(fmm_operators_create(context, order, &o), YOKE_OK);
    o->kernels = list[set];
    return o;
}

static double *doubles(int64_t count)
{
    double *values;
    assert_int_equal(yoke_allocate(context, count, sizeof *values, &values), YOKE_OK);
    return values;
}

/* Charges of either sign in the cube of edge `scale` about a centre. */
typedef struct cloud {
    double x[SOURCES], y[SOURCES], z[SOURCES], charge[SOURCES];
    fmm_frame frame;
} cloud;

static void fill_cloud(uint64_t *state, const double centre[3], double scale, cloud *c)
{
    for (int i = 0; i < SOURCES; i++) {
        c->x[i] = centre[0] + scale * (reference_random(state) - 0.5);
        c->y[i] = centre[1] + scale * (reference_random(state) - 0.5);
        c->z[i] = centre[2] + scale * (reference_random(state) - 0.5);
        c->charge[i] = 2 * reference_random(state) - 1;
    }
    c->frame = (fmm_frame){{centre[0], centre[1], centre[2]}, scale};
}

static fmm_sources sources_of(const cloud *c, int64_t count) { return (fmm_sources){count, c->x, c->y, c->z, c->charge}; }

/* ------------------------------------------------------------------------------------------------ particles */

static void multipoles_and_locals_of_charges_are_sums_of_harmonics(void **state)
{
    (void)state;
    uint64_t seed = 1;
    static double expected[MOST], one[MOST];
    FOR_ORDERS(i)
    for (int local = 0; local < 2; local++) {
        int order = orders[i], n = 2 * fmm_harmonics(order);
        cloud c;
        fill_cloud(&seed, (double[3]){0.3, -2, 5}, 0.7, &c);
        if (local)
            for (int k = 0; k < SOURCES; k++) c.x[k] += 1.1;
        for (int k = 0; k < n; k++) expected[k] = 1; /* the operators add */
        for (int s = 0; s < SOURCES; s++) {
            double p[3] = {(c.x[s] - 0.3) / 0.7, (c.y[s] + 2) / 0.7, (c.z[s] - 5) / 0.7};
            (local ? reference_irregular : reference_regular)(order, p, one);
            for (int k = 0; k < n; k++) expected[k] += c.charge[s] * one[k];
        }
        for (int set = 0; set < FMM_MAX_KERNELS; set++) {
            fmm_operators *o = operators_of(order, set);
            if (!o) break;
            double *values = doubles(n);
            for (int k = 0; k < n; k++) values[k] = 1;
            fmm_sources sources = sources_of(&c, SOURCES);
            (local ? fmm_p2l : fmm_p2m)(o, &c.frame, &sources, values);
            assert_true(reference_difference(order, local, local ? 0.9 : 1.2, values, expected) < EXACT);
            yoke_release(context, values);
            fmm_operators_destroy(o);
        }
    }
}

/* A polynomial of the order is its own expansion: potential and gradient of the field of sources far away are right to rounding. */
static void evaluations_are_sums_of_harmonics_and_their_gradients(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int local = 0; local < 2; local++)
        for (int set = 0; set < FMM_MAX_KERNELS; set++) {
            fmm_operators *o = operators_of(FMM_MAX_ORDER, set);
            if (!o) break;
            for (int64_t count = 0; count < 20; count++) {
                cloud c, t;
                fill_cloud(&seed, (double[3]){1, 2, 3}, 0.5, &c);
                fill_cloud(&seed, (double[3]){1, 2, 3 + 1.2}, 0.5, &t);
                double *values = doubles(MOST), result[4][SOURCES];
                fmm_sources sources = sources_of(&c, SOURCES);
                fmm_frame frame = {{1, 2, local ? 4.2 : 3}, 0.5};
                (local ? fmm_p2l : fmm_p2m)(o, &frame, &sources, values);
                for (int k = 0; k < 4; k++)
                    for (int i = 0; i < SOURCES; i++) result[k][i] = 1;
                fmm_targets targets = {count, t.x, t.y, t.z, result[0], result[1], result[2], result[3]};
                (local ? fmm_l2p : fmm_m2p)(o, &frame, values, &targets);
                double only[SOURCES] = {0};
                fmm_targets potential = {.count = count, .x = t.x, .y = t.y, .z = t.z, .potential = only};
                (local ? fmm_l2p : fmm_m2p)(o, &frame, values, &potential);
                for (int i = 0; i < SOURCES; i++) {
                    double p, g[3];
                    reference_direct(&sources, (double[3]){t.x[i], t.y[i], t.z[i]}, &p, g);
                    if (i >= count) p = 0, g[0] = g[1] = g[2] = 0;
                    assert_true(fabs(result[0][i] - 1 - p) < 1e-11);
                    assert_true(fabs(only[i] - p) < 1e-11);
                    for (int k = 0; k < 3; k++) assert_true(fabs(result[k + 1][i] - 1 - g[k]) < 1e-9);
                }
                yoke_release(context, values);
            }
            fmm_operators_destroy(o);
        }
}

/* --------------------------------------------------------------------------------------------- translations */

typedef void translate_function(const fmm_operators *operators, int which, int64_t pairs, const double *const *from, double *const *to,
                                double *work);

static void m2l_of(const fmm_operators *operators, int which, int64_t pairs, const double *const *from, double *const *to, double *work)
{
    const double *const none[MAX_TEST_PAIRS] = {0};
    fmm_m2l(operators, operators->order, (int[3]){which % 7 - 3, which / 7 % 7 - 3, which / 49 - 3}, pairs, from, none, to, work);
}

/* Translates `pairs` copies, each multiplied with another factor, and compares all with the factor times what is expected for one. */
static void assert_translated(const fmm_operators *o, translate_function *function, int which, int pairs, int local, double radius,
                              const double *from, const double *expected)
{
    int order = o->order, n = 2 * fmm_harmonics(order);
    double *in[MAX_TEST_PAIRS], *out[MAX_TEST_PAIRS], *values = doubles(2 * pairs * n), *work = doubles((int64_t)fmm_translation_work(o)),
                                                      *scaled = doubles(n);
    for (int i = 0; i < pairs; i++) {
        in[i] = values + 2 * i * n, out[i] = in[i] + n;
        for (int k = 0; k < n; k++) in[i][k] = (i + 1) * from[k], out[i][k] = -(i + 1) * expected[k];
    }
    function(o, which, pairs, (const double *const *)in, out, work); /* adds: the result is nearly 0 */
    for (int i = 0; i < pairs; i++) {
        for (int k = 0; k < n; k++) {
            scaled[k] = (i + 1) * expected[k];
            out[i][k] += scaled[k];
        }
        double difference = reference_difference(order, local, radius, out[i], scaled);
        if (!(difference < EXACT)) print_error("order %d, case %d, pair %d of %d: %g\n", order, which, i, pairs, difference);
        assert_true(difference < EXACT);
    }
    yoke_release(context, values);
    yoke_release(context, work);
    yoke_release(context, scaled);
}

static void multipoles_of_children_are_those_of_their_charges_about_the_parent(void **state)
{
    (void)state;
    uint64_t seed = 3;
    FOR_ORDERS(i)
    for (int set = 0; set < FMM_MAX_KERNELS; set++) {
        fmm_operators *o = operators_of(orders[i], set);
        if (!o) break;
        double *from = doubles(MOST), *expected = doubles(MOST);
        for (int octant = 0; octant < 8; octant++) {
            memset(from, 0, MOST * sizeof *from);
            memset(expected, 0, MOST * sizeof *expected);
            cloud c;
            fill_cloud(&seed, (double[3]){octant & 1 ? 0.25 : -0.25, octant & 2 ? 0.25 : -0.25, octant & 4 ? 0.25 : -0.25}, 0.5, &c);
            fmm_sources sources = sources_of(&c, SOURCES);
            fmm_p2m(o, &c.frame, &sources, from);
            fmm_p2m(o, &(fmm_frame){{0, 0, 0}, 1}, &sources, expected);
            assert_translated(o, fmm_m2m, octant, octant == 5 ? MAX_TEST_PAIRS : 1 + octant, 0, 1, from, expected);
        }
        yoke_release(context, from);
        yoke_release(context, expected);
        fmm_operators_destroy(o);
    }
}

/* A local expansion is a polynomial: about the child's centre it is the same one. */
static void local_expansions_of_parents_have_the_same_potential_in_children(void **state)
{
    (void)state;
    uint64_t seed = 4;
    FOR_ORDERS(i)
    for (int set = 0; set < FMM_MAX_KERNELS; set++) {
        fmm_operators *o = operators_of(orders[i], set);
        if (!o) break;
        double *from = doubles(MOST), *expected = doubles(MOST), *work = doubles((int64_t)fmm_translation_work(o)), *to = doubles(MOST);
        for (int octant = 0; octant < 8; octant++) {
            memset(from, 0, MOST * sizeof *from);
            memset(to, 0, MOST * sizeof *to);
            cloud far, near;
            double centre[3] = {octant & 1 ? 0.25 : -0.25, octant & 2 ? 0.25 : -0.25, octant & 4 ? 0.25 : -0.25};
            fill_cloud(&seed, (double[3]){2, 1, -2}, 1, &far);
            fill_cloud(&seed, centre, 0.5, &near);
            fmm_sources sources = sources_of(&far, SOURCES);
            fmm_p2l(o, &(fmm_frame){{0, 0, 0}, 1}, &sources, from);
            fmm_l2l(o, octant, 1, (const double *const[]){from}, (double *const[]){to}, work);
            double before[4][SOURCES] = {{0}}, after[4][SOURCES] = {{0}};
            fmm_l2p(o, &(fmm_frame){{0, 0, 0}, 1}, from,
                    &(fmm_targets){SOURCES, near.x, near.y, near.z, before[0], before[1], before[2], before[3]});
            fmm_l2p(o, &near.frame, to, &(fmm_targets){SOURCES, near.x, near.y, near.z, after[0], after[1], after[2], after[3]});
            for (int k = 0; k < SOURCES; k++) {
                assert_true(fabs(after[0][k] - before[0][k]) < EXACT * SOURCES);
                for (int j = 1; j < 4; j++) assert_true(fabs(after[j][k] - before[j][k]) < 10 * EXACT * SOURCES);
            }
            if (orders[i] > 20 && (octant || set)) continue; /* plain sums take long */
            for (int k = 0; k < 3; k++) centre[k] *= 2;      /* in units of the child */
            reference_l2l(orders[i], centre, 2, from, expected);
            assert_translated(o, fmm_l2l, octant, octant == 6 ? MAX_TEST_PAIRS : 1 + octant, 1, 0.87, from, expected);
        }
        yoke_release(context, from);
        yoke_release(context, expected);
        yoke_release(context, work);
        yoke_release(context, to);
        fmm_operators_destroy(o);
    }
}

static int is_near(const int d[3]) { return abs(d[0]) < 2 && abs(d[1]) < 2 && abs(d[2]) < 2; }

/* M2L by plain sums with fmm_m2l_order; harmonics above it are 0. */
static void plain_m2l(int order, const int d[3], const double *from, double *to)
{
    const int low = fmm_m2l_order(order, d), n = fmm_harmonics(order), few = fmm_harmonics(low);
    double *in = doubles(2 * few), *out = doubles(2 * few);
    for (int i = 0; i < few; i++) in[i] = from[i], in[few + i] = from[n + i];
    reference_m2l(low, (double[3]){d[0], d[1], d[2]}, 1, in, out);
    memset(to, 0, 2 * (size_t)n * sizeof *to);
    for (int i = 0; i < few; i++) to[i] = out[i], to[n + i] = out[few + i];
    yoke_release(context, in);
    yoke_release(context, out);
}

static void expand_cloud(const fmm_operators *o, uint64_t *seed, double *multipole)
{
    cloud c;
    fill_cloud(seed, (double[3]){0, 0, 0}, 1, &c);
    fmm_sources sources = sources_of(&c, SOURCES);
    memset(multipole, 0, MOST * sizeof *multipole);
    fmm_p2m(o, &c.frame, &sources, multipole);
}

static void assert_m2l(int order, int set, int step)
{
    uint64_t seed = 5;
    fmm_operators *o = operators_of(order, set);
    if (!o) return;
    double *from = doubles(MOST), *expected = doubles(MOST);
    for (int which = 0; which < FMM_DIRECTIONS; which += step) {
        int d[3] = {which % 7 - 3, which / 7 % 7 - 3, which / 49 - 3};
        if (is_near(d)) continue;
        expand_cloud(o, &seed, from);
        plain_m2l(order, d, from, expected);
        assert_translated(o, m2l_of, which, 1 + which % MAX_TEST_PAIRS, 1, 0.87, from, expected);
    }
    yoke_release(context, from);
    yoke_release(context, expected);
    fmm_operators_destroy(o);
}

static void multipoles_become_local_expansions_as_by_plain_sums_in_all_directions(void **state)
{
    (void)state;
    for (int set = 0; set < FMM_MAX_KERNELS; set++)
        for (int order = 0; order <= 7; order++) assert_m2l(order, set, order < 4 ? 1 : 9);
    assert_m2l(12, 0, 23);
    assert_m2l(20, 1, 171);
    assert_m2l(50, 2, FMM_DIRECTIONS);
}

/* Targets with a source ahead, with one behind, and with both, mixed. */
static void assert_sides(int order, int set, int step)
{
    enum { TARGETS = 150 };
    uint64_t seed = 8;
    fmm_operators *o = operators_of(order, set);
    if (!o) return;
    const int n = 2 * fmm_harmonics(order);
    double *source[2] = {doubles(MOST), doubles(MOST)}, *expected[2] = {doubles(MOST), doubles(MOST)}, *sum = doubles(n);
    double *local = doubles((int64_t)TARGETS * n), *work = doubles((int64_t)fmm_translation_work(o)), *to[TARGETS];
    const double *ahead[TARGETS], *behind[TARGETS];
    for (int which = 0; which < FMM_DIRECTIONS; which += step) {
        const int d[3] = {which % 7 - 3, which / 7 % 7 - 3, which / 49 - 3}, targets = 1 + which % TARGETS;
        if (is_near(d)) continue;
        for (int side = 0; side < 2; side++) {
            expand_cloud(o, &seed, source[side]);
            plain_m2l(order, (int[3]){side ? -d[0] : d[0], side ? -d[1] : d[1], side ? -d[2] : d[2]}, source[side], expected[side]);
        }
        for (int i = 0; i < targets; i++) {
            ahead[i] = (i + which) % 3 == 1 ? NULL : source[0], behind[i] = (i + which) % 3 == 2 ? NULL : source[1];
            to[i] = local + i * n;
            for (int k = 0; k < n; k++) to[i][k] = -(ahead[i] ? expected[0][k] : 0) - (behind[i] ? expected[1][k] : 0);
        }
        fmm_m2l(o, order, d, targets, ahead, behind, to, work); /* adds: the result is nearly 0 */
        for (int i = 0; i < targets; i++) {
            for (int k = 0; k < n; k++) {
                sum[k] = (ahead[i] ? expected[0][k] : 0) + (behind[i] ? expected[1][k] : 0);
                to[i][k] += sum[k];
            }
            assert_true(reference_difference(order, 1, 0.87, to[i], sum) < EXACT);
        }
    }
    for (int side = 0; side < 2; side++) yoke_release(context, source[side]), yoke_release(context, expected[side]);
    yoke_release(context, sum);
    yoke_release(context, local);
    yoke_release(context, work);
    fmm_operators_destroy(o);
}

static void sources_on_both_sides_of_a_target_act_as_one_after_the_other(void **state)
{
    (void)state;
    for (int set = 0; set < FMM_MAX_KERNELS; set++)
        for (int order = 0; order <= 6; order++) assert_sides(order, set, order < 3 ? 7 : 23);
    assert_sides(13, 2, 71);
    assert_sides(20, 1, 171);
}

/* No direction errs more than the nearest one, and an order two less would err as much: of points in balls within the cells, which attain the bound. */
static void orders_of_directions_leave_out_as_much_as_at_the_least_distance(void **state)
{
    (void)state;
    for (int which = 0; which < FMM_DIRECTIONS; which++) {
        const int d[3] = {which % 7 - 3, which / 7 % 7 - 3, which / 49 - 3}, square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (is_near(d)) continue;
        for (int order = 0; order <= FMM_MAX_ORDER; order++) {
            const int needed = fmm_m2l_order(order, d);
            const double least = fmm_error_bound(order, 0.5, 0.5, 2);
            if (square == 4) assert_int_equal(needed, order);
            assert_true(needed >= 0 && needed <= order);
            assert_true(fmm_error_bound(needed, 0.5, 0.5, sqrt(square)) <= least);
            if (needed > 1) assert_true(fmm_error_bound(needed - 2, 0.5, 0.5, sqrt(square)) > 0.5 * least);
        }
    }
}

/* ------------------------------------------------------------------------------------------------ invariance */

/* The cube's 48 symmetries exchange and mirror axes: sources, direction and targets with them, and potentials stay. */
static void potentials_do_not_change_when_all_is_turned_or_mirrored(void **state)
{
    (void)state;
    static const int exchanged[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};
    uint64_t seed = 6;
    fmm_operators *o;
    assert_int_equal(fmm_operators_create(context, 15, &o), YOKE_OK);
    cloud s, t;
    fill_cloud(&seed, (double[3]){0, 0, 0}, 1, &s);
    fill_cloud(&seed, (double[3]){0, 0, 0}, 1, &t);
    double first[SOURCES], *work = doubles((int64_t)fmm_translation_work(o));
    for (int symmetry = 0; symmetry < 48; symmetry++) {
        const int *e = exchanged[symmetry / 8];
        const double *from[2][3] = {{s.x, s.y, s.z}, {t.x, t.y, t.z}};
        double rotated[2][3][SOURCES], potential[SOURCES] = {0};
        int direction[3];
        for (int k = 0; k < 3; k++) {
            int sign = symmetry >> k & 1 ? -1 : 1;
            direction[k] = sign * (const int[3]){3, -1, 2}[e[k]];
            for (int i = 0; i < SOURCES; i++)
                for (int which = 0; which < 2; which++) rotated[which][k][i] = sign * from[which][e[k]][i];
        }
        double *multipole = doubles(MOST), *local = doubles(MOST);
        fmm_frame frame = {{0, 0, 0}, 1};
        fmm_p2m(o, &frame, &(fmm_sources){SOURCES, rotated[0][0], rotated[0][1], rotated[0][2], s.charge}, multipole);
        fmm_m2l(o, 15, direction, 1, (const double *const[]){multipole}, (const double *const[]){NULL}, (double *const[]){local}, work);
        fmm_l2p(o, &frame, local,
                &(fmm_targets){.count = SOURCES, .x = rotated[1][0], .y = rotated[1][1], .z = rotated[1][2], .potential = potential});
        for (int i = 0; i < SOURCES; i++) {
            if (symmetry == 0) first[i] = potential[i];
            assert_true(fabs(potential[i] - first[i]) < EXACT);
        }
        yoke_release(context, multipole);
        yoke_release(context, local);
    }
    yoke_release(context, work);
    fmm_operators_destroy(o);
}

static void orders_that_tables_do_not_hold_are_refused(void **state)
{
    (void)state;
    fmm_operators *o;
    assert_int_equal(fmm_operators_create(context, -1, &o), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_operators_create(context, FMM_MAX_ORDER + 1, &o), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(context), "51"));
    fmm_operators_destroy(NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(multipoles_and_locals_of_charges_are_sums_of_harmonics),
    cmocka_unit_test(evaluations_are_sums_of_harmonics_and_their_gradients),
    cmocka_unit_test(multipoles_of_children_are_those_of_their_charges_about_the_parent),
    cmocka_unit_test(local_expansions_of_parents_have_the_same_potential_in_children),
    cmocka_unit_test(multipoles_become_local_expansions_as_by_plain_sums_in_all_directions),
    cmocka_unit_test(sources_on_both_sides_of_a_target_act_as_one_after_the_other),
    cmocka_unit_test(orders_of_directions_leave_out_as_much_as_at_the_least_distance),
    cmocka_unit_test(potentials_do_not_change_when_all_is_turned_or_mirrored),
    cmocka_unit_test(orders_that_tables_do_not_hold_are_refused),
};

UNIT_MAIN(tests, context_start, context_end)
