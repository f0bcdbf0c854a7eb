/* The near field in single precision: its kernels, its errors and their estimates, close pairs, and when it is used. */
#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "clouds.h"
#include "context.h"
#include "method/method.h"
#include "near.h"
#include "near/kernels/single.h"
#include "particles/scale.h"
#include "tune/order/accuracy.h"

/* ---------------------------------------------------------------------------------------------------- kernels */

enum { PACKED = 45, TARGETS = 23, ROOM = PACKED + FMM_SINGLE_PACK };

typedef struct meeting {
    _Alignas(64) float packed[8][(ROOM / 16 + 1) * 16]; /* x, y, z, charge, potential, gradient */
    float target[4][TARGETS], sum[TARGETS][FMM_SINGLE_WIDTH];
} meeting;

static void fill(meeting *m)
{
    uint64_t random = 11;
    memset(m, 0, sizeof *m);
    for (int j = 0; j < ROOM; j++)
        for (int c = 0; c < 4; c++) m->packed[c][j] = j < PACKED ? (float)(3 * cloud_random(&random) - 1.5) : c < 3 ? 1e6f : 0;
    for (int i = 0; i < TARGETS; i++)
        for (int c = 0; c < 4; c++) m->target[c][i] = (float)(cloud_random(&random) - 0.5);
}

/* What charge q at b does at a: potential and gradient; sizes are added to `size`. */
static void add_pair(const double a[3], const double b[3], double q, double sum[4], double size[2])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]}, r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    sum[0] += q / r;
    size[0] += fabs(q) / r, size[1] += fabs(q) / (r * r);
    for (int c = 0; c < 3; c++) sum[1 + c] -= q * d[c] / (r * r * r);
}

static void assert_sums(const float is[4], int gradient, const double should[4], const double size[2])
{
    const double eps = FLT_EPSILON / 2;
    assert_true(fabs((double)is[0] - should[0]) <= 9 * eps * size[0]);
    for (int c = 1; c < 4 && gradient; c++) assert_true(fabs((double)is[c] - should[c]) <= 22 * eps * size[1]);
}

static void check(const meeting *m, int both, int gradient)
{
    double back[PACKED][4] = {{0}}, back_size[PACKED][2] = {{0}};
    for (int i = 0; i < TARGETS; i++) {
        double sum[4] = {0}, size[2] = {0};
        const double a[3] = {m->target[0][i], m->target[1][i], m->target[2][i]};
        for (int j = 0; j < PACKED; j++) {
            const double b[3] = {m->packed[0][j], m->packed[1][j], m->packed[2][j]};
            add_pair(a, b, m->packed[3][j], sum, size);
            add_pair(b, a, m->target[3][i], back[j], back_size[j]);
        }
        assert_sums(m->sum[i], gradient, sum, size);
    }
    for (int j = 0; j < PACKED && both; j++) {
        const float is[4] = {m->packed[4][j], m->packed[5][j], m->packed[6][j], m->packed[7][j]};
        assert_sums(is, gradient, back[j], back_size[j]);
    }
}

static int64_t run(const fmm_single_kernel *kernel, meeting *m, int targets, int both, int gradient, const fmm_single_limits *limits,
                   fmm_close_pairs *close)
{
    float *const *p =
        (float *[8]){m->packed[0], m->packed[1], m->packed[2], m->packed[3], m->packed[4], m->packed[5], m->packed[6], m->packed[7]};
    const fmm_single_packed packed = {PACKED, p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]};
    const fmm_single_targets t = {targets, m->target[0], m->target[1], m->target[2], m->target[3], m->sum};
    return (both ? kernel->add_both : kernel->add)(&packed, &t, gradient, limits, close);
}

static void kernels_of_all_instruction_sets_round_as_little_as_they_may(void **state)
{
    (void)state;
    const fmm_single_kernel *list[FMM_MAX_PAIRS_KERNELS];
    const int count = fmm_single_kernels(list);
    static meeting m;
    for (int k = 0; k < 4 * count; k++) {
        const fmm_single_limits limits = {.square = 1e-12f, .own = FMM_NONE_OWN};
        fill(&m);
        assert_int_equal(run(list[k / 4], &m, TARGETS, k & 1, k >> 1 & 1, &limits, NULL), 0);
        check(&m, k & 1, k >> 1 & 1);
    }
    assert_ptr_equal(fmm_single_select(), list[count - 1]);
}

static void close_pairs_are_told_and_add_nothing(void **state)
{
    (void)state;
    const fmm_single_kernel *list[FMM_MAX_PAIRS_KERNELS];
    const int count = fmm_single_kernels(list);
    static meeting m;
    for (int k = 0; k < 2 * count; k++) {
        fmm_close_pairs close[4];
        fmm_single_limits limits = {.square = 1e-6f, .own = FMM_NONE_OWN, .close = 4};
        fill(&m);
        for (int c = 0; c < 3; c++) m.packed[c][37] = m.target[c][5], m.packed[c][3] = m.target[c][22] + 1e-5f;
        assert_int_equal(run(list[k / 2], &m, TARGETS, k & 1, 1, &limits, close), 2);
        for (int p = 0; p < 2; p++) {
            const int at = close[p].target == 5 ? 37 : 3;
            assert_int_equal(close[p].target, at == 37 ? 5 : 22);
            assert_int_equal(close[p].packed, at / 16 * 16);
            assert_int_equal(close[p].which, 1 << at % 16);
        }
        for (int i = 0; i < TARGETS; i++) assert_true(isfinite(m.sum[i][0]) && fabsf(m.sum[i][0]) < 1000);
        limits.close = 1;
        assert_int_equal(run(list[k / 2], &m, TARGETS, k & 1, 1, &limits, close), -1);
    }
}

static void particles_do_not_act_on_themselves_and_are_not_told(void **state)
{
    (void)state;
    const fmm_single_kernel *list[FMM_MAX_PAIRS_KERNELS];
    const int count = fmm_single_kernels(list);
    static meeting m;
    for (int k = 0; k < count; k++) {
        const fmm_single_limits limits = {.square = 1e-9f, .own = 13};
        fill(&m);
        for (int i = 0; i < TARGETS; i++)
            for (int c = 0; c < 4; c++) m.target[c][i] = m.packed[c][13 + i];
        assert_int_equal(run(list[k], &m, TARGETS, 0, 1, &limits, NULL), 0);
        for (int i = 0; i < TARGETS; i++) assert_true(isfinite(m.sum[i][0]));
    }
}

/* --------------------------------------------------------------------------------------------------- near fields */

/* A tree: `depth` and capacity as in fmm_method_options. */
typedef struct tree_words {
    int depth;
    int64_t capacity;
} tree_words;

static fmm_method *method_of(const fmm_particles *p, tree_words tree, int gradient)
{
    const int order = 0;
    const fmm_method_options options = {.depth = tree.capacity ? FMM_MAX_DEPTH : tree.depth,
                                        .capacity = tree.capacity,
                                        .direct = -1,
                                        .order = &order,
                                        .gradient = gradient};
    fmm_method *method = NULL;
    if (fmm_method_create(p, &options, &method)) fail_msg("%s", yoke_last_error(context));
    return method;
}

static fmm_field *near_of(fmm_method *method, const fmm_particles *p, int gradient, bool single)
{
    fmm_field *field = NULL;
    double seconds;
    assert_int_equal(fmm_field_create(context, p->count, gradient, &field), YOKE_OK);
    fmm_method_set_single(method, single);
    if (fmm_method_run_near(method, p->charge, field, &seconds)) fail_msg("%s", yoke_last_error(context));
    return field;
}

/* Root mean squares of differences of potentials and of forces, and of the second field's. */
typedef struct difference {
    double potential, force, potential_size, force_size;
} difference;

static difference compare(const fmm_particles *p, const fmm_field *a, const fmm_field *b)
{
    difference d = {0};
    for (int64_t i = 0; i < p->count; i++) {
        d.potential += pow(a->potential[i] - b->potential[i], 2);
        d.potential_size += pow(b->potential[i], 2);
        const double *const one[3] = {a->gx, a->gy, a->gz}, *const other[3] = {b->gx, b->gy, b->gz};
        for (int c = 0; c < 3 && one[c]; c++) {
            d.force += pow(p->charge[i] * (one[c][i] - other[c][i]), 2);
            d.force_size += pow(p->charge[i] * other[c][i], 2);
        }
    }
    const double n = (double)p->count;
    return (difference){sqrt(d.potential / n), sqrt(d.force / n), sqrt(d.potential_size / n), sqrt(d.force_size / n)};
}

/* Errors are below what is estimated at all particles; returns that of potentials, which is 0 where all sums are in double precision. */
static double assert_estimated(const fmm_particles *p, tree_words tree, int gradient)
{
    double potential, force;
    fmm_method *method = method_of(p, tree, gradient);
    fmm_field *should = near_of(method, p, gradient, false), *is = near_of(method, p, gradient, true);
    const difference d = compare(p, is, should);
    int length, exponent;
    fmm_particles *scaled = NULL;
    assert_true(fmm_method_is_single(method));
    assert_int_equal(fmm_particles_create(context, p->count, &scaled), YOKE_OK);
    fmm_scale_positions(p, &length, scaled);
    assert_int_equal(fmm_scale_charges(context, p->count, p->charge, &exponent, scaled->charge), YOKE_OK);
    fmm_near_rounding(method, (int)p->count, &potential, &force);
    const double potential_most = ldexp(potential, exponent - length), force_most = ldexp(force, 2 * (exponent - length));
    if (!(d.potential <= potential_most)) fail_msg("potentials: %g, at most %g", d.potential, potential_most);
    if (gradient && !(d.force <= force_most)) fail_msg("forces: %g, at most %g", d.force, force_most);
    const double part = tree.depth || tree.capacity ? 1e-5 : 1e-4; /* particles that are near each other are far from the centre of all */
    assert_true(d.potential < part * d.potential_size && (!gradient || d.force < part * d.force_size));
    fmm_particles_destroy(scaled);
    fmm_field_destroy(should);
    fmm_field_destroy(is);
    fmm_method_destroy(method);
    return d.potential;
}

static void errors_are_below_their_estimates(void **state)
{
    (void)state;
    static const tree_words trees[] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {0, 20}, {0, 70}, {0, 300}};
    static const enum cloud clouds[] = {UNIFORM, CLUSTERED, LINE, PLANE, SPIRAL, TWO_CLUSTERS, SHELLS};
    for (size_t t = 0; t < sizeof trees / sizeof *trees; t++)
        for (size_t c = 0; c < sizeof clouds / sizeof *clouds; c++) {
            fmm_particles *p = cloud_create_charged(context, clouds[c], 3000);
            const double error = assert_estimated(p, trees[t], t % 3 != 1);
            if (clouds[c] == UNIFORM) assert_true(error > 0);
            fmm_particles_destroy(p);
        }
}

static void lengths_and_charges_may_be_huge_or_tiny(void **state)
{
    (void)state;
    static const double lengths[] = {1e-150, 1e150}, charges[] = {1e-100, 1e100};
    for (int k = 0; k < 4; k++) {
        fmm_particles *p = cloud_create_charged(context, UNIFORM, 2000);
        for (int64_t i = 0; i < p->count; i++) {
            p->x[i] *= lengths[k & 1], p->y[i] *= lengths[k & 1], p->z[i] *= lengths[k & 1];
            p->charge[i] *= charges[k >> 1];
        }
        fmm_method *method = method_of(p, (tree_words){.depth = 3}, 0);
        fmm_field *should = near_of(method, p, 0, false), *is = near_of(method, p, 0, true);
        assert_true(fmm_method_is_single(method));
        for (int64_t i = 0; i < p->count; i++) assert_near(is->potential[i] / should->potential[i], 1, 1e-3);
        fmm_field_destroy(should);
        fmm_field_destroy(is);
        fmm_method_destroy(method);
        fmm_particles_destroy(p);
    }
}

/* Partners on both sides of the middle of the box, or in the same leaf, `apart` from each other. */
static fmm_particles *partners(double apart)
{
    fmm_particles *p = cloud_create_charged(context, UNIFORM, 3000);
    p->x[0] = p->y[0] = p->z[0] = 0;
    p->x[1] = p->y[1] = p->z[1] = 1;
    for (int64_t i = 2; i < 400; i += 2) {
        const double middle = i % 4 ? 0.5 : 0.3;
        p->x[i] = middle - apart / 2, p->x[i + 1] = middle + apart / 2;
        p->y[i + 1] = p->y[i], p->z[i + 1] = p->z[i];
    }
    return p;
}

/* Each particle's own error counts: a pair has nearly all of its forces. */
static void close_pairs_are_as_right_as_others(void **state)
{
    (void)state;
    static const double apart[] = {1e-2, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12, 0};
    for (size_t k = 0; k < sizeof apart / sizeof *apart; k++) {
        fmm_particles *p = partners(apart[k]);
        fmm_method *method = method_of(p, (tree_words){.depth = 3}, 1);
        fmm_field *should = near_of(method, p, 1, false), *is = near_of(method, p, 1, true);
        assert_true(fmm_method_is_single(method));
        for (int64_t i = 2; i < 400; i++) {
            const double size = fmax(fabs(should->gx[i]), 1000);
            assert_true(fabs(is->gx[i] - should->gx[i]) <= 1e-4 * size);
            assert_true(fabs(is->potential[i] - should->potential[i]) <= 1e-5 * fmax(fabs(should->potential[i]), 100));
            if (apart[k] > 0 && apart[k] < 1e-5) assert_near(is->potential[i] / should->potential[i], 1, 1e-9);
        }
        fmm_field_destroy(should);
        fmm_field_destroy(is);
        fmm_method_destroy(method);
        fmm_particles_destroy(p);
    }
}

/* Nearly all pairs are close, so that sums are in double precision, or two places of many particles each. */
static void crowds_about_a_corner_of_leaves_are_right(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        const double width = k == 0 ? 1e-4 : k == 1 ? 1e-9 : 0;
        fmm_particles *p = cloud_create_charged(context, UNIFORM, 1500);
        for (int64_t i = 2; i < p->count; i++) {
            p->x[i] = 0.5 + width * (p->x[i] - 0.5), p->y[i] = 0.5 + width * (p->y[i] - 0.5), p->z[i] = 0.5 + width * (p->z[i] - 0.5);
            if (k == 2) p->x[i] += i % 2 ? 1e-8 : -1e-8;
        }
        p->x[0] = p->y[0] = p->z[0] = 0;
        p->x[1] = p->y[1] = p->z[1] = 1;
        fmm_method *method = method_of(p, (tree_words){.depth = 2}, 1);
        fmm_field *should = near_of(method, p, 1, false), *is = near_of(method, p, 1, true);
        const difference d = compare(p, is, should);
        assert_true(d.potential <= 1e-9 * d.potential_size && d.force <= 1e-9 * d.force_size);
        fmm_field_destroy(should);
        fmm_field_destroy(is);
        fmm_method_destroy(method);
        fmm_particles_destroy(p);
    }
}

/* A large charge makes potentials and forces of all. */
static void one_charge_may_be_much_larger(void **state)
{
    (void)state;
    fmm_particles *p = cloud_create_charged(context, UNIFORM, 3000);
    p->charge[1234] = 1e6;
    fmm_method *method = method_of(p, (tree_words){.depth = 3}, 1);
    fmm_field *should = near_of(method, p, 1, false), *is = near_of(method, p, 1, true);
    const difference d = compare(p, is, should);
    assert_true(fmm_method_is_single(method));
    assert_true(d.potential < 1e-6 * d.potential_size && d.force < 1e-5 * d.force_size);
    fmm_field_destroy(should);
    fmm_field_destroy(is);
    fmm_method_destroy(method);
    fmm_particles_destroy(p);
}

static void what_single_precision_cannot_hold_is_in_double_precision(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        fmm_particles *p = cloud_create_charged(context, UNIFORM, 2000);
        if (k == 0) p->charge[7] = 1e-20;
        if (k == 1) p->softening = 1e-3;
        fmm_method *method = method_of(p, (tree_words){.depth = 3}, 1);
        fmm_field *should = near_of(method, p, 1, false), *is = near_of(method, p, 1, true);
        assert_false(fmm_method_is_single(method));
        assert_memory_equal(is->potential, should->potential, (size_t)p->count * sizeof(double));
        assert_memory_equal(is->gx, should->gx, (size_t)p->count * sizeof(double));
        fmm_field_destroy(should);
        fmm_field_destroy(is);
        fmm_method_destroy(method);
        fmm_particles_destroy(p);
    }
}

static void results_have_the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    const int usual = omp_get_max_threads();
    fmm_particles *p = cloud_create_charged(context, CLUSTERED, 6000);
    fmm_method *method = method_of(p, (tree_words){.capacity = 40}, 1);
    fmm_field *field[2];
    for (int k = 0; k < 2; k++) {
        omp_set_num_threads(k ? 3 : 1);
        field[k] = near_of(method, p, 1, true);
    }
    omp_set_num_threads(usual);
    assert_memory_equal(field[0]->potential, field[1]->potential, (size_t)p->count * sizeof(double));
    assert_memory_equal(field[0]->gz, field[1]->gz, (size_t)p->count * sizeof(double));
    for (int k = 0; k < 2; k++) fmm_field_destroy(field[k]);
    fmm_method_destroy(method);
    fmm_particles_destroy(p);
}

/* ------------------------------------------------------------------------------------------------ when it is used */

static bool is_chosen(const fmm_particles *p, fmm_request request)
{
    fmm_method *method = method_of(p, (tree_words){.depth = 3}, 1);
    fmm_accuracy accuracy;
    if (fmm_choose_order(method, p->charge, &request, &accuracy)) fail_msg("%s", yoke_last_error(context));
    const bool chosen = fmm_accuracy_is_single(&accuracy, &request);
    fmm_method_destroy(method);
    return chosen;
}

static void requests_decide_together_with_estimates(void **state)
{
    (void)state;
    fmm_particles *p = cloud_create_charged(context, UNIFORM, 8000);
    assert_true(is_chosen(p, (fmm_request){.error = 1e-3}));
    assert_true(is_chosen(p, (fmm_request){.error = 1e-3, .of = FMM_FORCES}));
    assert_false(is_chosen(p, (fmm_request){.error = 1e-3, .of = FMM_ENERGY}));
    assert_false(is_chosen(p, (fmm_request){.error = 1e-6}));
    /* Pairs of opposite charges next to each other: potentials far from them cancel nearly, and near fields do not. */
    for (int64_t i = 0; i < p->count; i++) p->charge[i] = i % 2 ? 1 : -1;
    for (int64_t i = 0; i + 1 < p->count; i += 2) p->x[i + 1] = p->x[i], p->y[i + 1] = p->y[i], p->z[i + 1] = p->z[i] + 1e-9;
    assert_true(is_chosen(p, (fmm_request){.error = 1e-3}));
    fmm_particles_destroy(p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(kernels_of_all_instruction_sets_round_as_little_as_they_may),
    cmocka_unit_test(close_pairs_are_told_and_add_nothing),
    cmocka_unit_test(particles_do_not_act_on_themselves_and_are_not_told),
    cmocka_unit_test(errors_are_below_their_estimates),
    cmocka_unit_test(lengths_and_charges_may_be_huge_or_tiny),
    cmocka_unit_test(close_pairs_are_as_right_as_others),
    cmocka_unit_test(crowds_about_a_corner_of_leaves_are_right),
    cmocka_unit_test(one_charge_may_be_much_larger),
    cmocka_unit_test(what_single_precision_cannot_hold_is_in_double_precision),
    cmocka_unit_test(results_have_the_same_bits_for_any_number_of_threads),
    cmocka_unit_test(requests_decide_together_with_estimates),
};

UNIT_MAIN(tests, context_start, context_end)
