/*
 * Softened charges, against plain loops in long double, theory, and finite differences.
 */
#include <math.h>

#include "clouds.h"
#include "context.h"
#include "method/method.h"
#include "near/direct.h"
#include "near/kernels/pairs.h"
#include "particles/generate.h"
#include "sample_error.h"

/* Potential and gradient at (x, y, z) of a charge of 1 at the origin, in long double. */
static void soft_pair(const long double d[3], long double h, long double sum[4])
{
    const long double r = sqrtl(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), u = r / h;
    sum[0] = r < h ? (15 - 10 * u * u + 3 * u * u * u * u) / (8 * h) : 1 / r;
    const long double slope = r < h ? (12 * u * u - 20) / (8 * h * h * h) : -1 / (r * r * r);
    for (int c = 0; c < 3; c++) sum[1 + c] = slope * d[c];
}

/* Sums at the particle, without that of itself, and those of the terms' sizes: of the potential, and of the largest component of the gradient. */
static void plain_sums(const fmm_particles *p, int64_t i, long double sum[4], long double size[2])
{
    for (int c = 0; c < 4; c++) sum[c] = 0;
    size[0] = size[1] = 0;
    for (int64_t j = 0; j < p->count; j++) {
        long double d[3] = {(long double)p->x[i] - p->x[j], (long double)p->y[i] - p->y[j], (long double)p->z[i] - p->z[j]}, one[4];
        if (j == i) continue;
        soft_pair(d, p->softening, one);
        for (int c = 0; c < 4; c++) sum[c] += p->charge[j] * one[c];
        size[0] += fabsl(p->charge[j] * one[0]);
        size[1] += fabsl(p->charge[j]) * fmaxl(fabsl(one[1]), fmaxl(fabsl(one[2]), fabsl(one[3])));
    }
}

static void assert_plain(const fmm_particles *p, const fmm_field *f)
{
    for (int64_t i = 0; i < p->count; i++) {
        long double sum[4], size[2];
        plain_sums(p, i, sum, size);
        assert_true(fabsl(f->potential[i] - sum[0]) <= 4e-15L * size[0]);
        if (!f->gx) continue;
        const double *const slopes[3] = {f->gx, f->gy, f->gz};
        for (int c = 0; c < 3; c++) assert_true(fabsl(slopes[c][i] - sum[1 + c]) <= 8e-15L * size[1]);
    }
}

static fmm_particles *generated(fmm_distribution distribution, int64_t count, double softening)
{
    fmm_particles *particles = NULL;
    assert_int_equal(fmm_particles_generate(context, distribution, count, FMM_RANDOM, 1, &particles), YOKE_OK);
    particles->softening = softening;
    return particles;
}

/* Three at one place, and two at another one. */
static void put_together(fmm_particles *p)
{
    static const int of[][2] = {{3, 90}, {3, 91}, {50, 7}};
    for (int k = 0; k < 3; k++) p->x[of[k][1]] = p->x[of[k][0]], p->y[of[k][1]] = p->y[of[k][0]], p->z[of[k][1]] = p->z[of[k][0]];
}

static fmm_field *field_for(const fmm_particles *particles, int gradient)
{
    fmm_field *field = NULL;
    assert_int_equal(fmm_field_create(context, particles->count, gradient, &field), YOKE_OK);
    return field;
}

static fmm_field *direct(const fmm_particles *particles)
{
    fmm_field *field = field_for(particles, 1);
    assert_int_equal(fmm_direct(particles, NULL, field), YOKE_OK);
    return field;
}

/* At H the potential, its slope and its second derivative are those of 1 / r; at 0 it is 15 / (8 H), without a slope. */
static void the_potential_is_twice_continuously_differentiable(void **state)
{
    (void)state;
    const double h = 0.7, steps[] = {-1e-4, -1e-5, 1e-5, 1e-4};
    fmm_particles *p = NULL;
    assert_int_equal(fmm_particles_create(context, 2, &p), YOKE_OK);
    p->softening = h;
    p->charge[1] = 1;
    for (int k = 0; k < 4; k++) {
        p->x[0] = h + steps[k];
        fmm_field *f = direct(p);
        double third =
            20 * fabs(steps[k] * steps[k] * steps[k]) / pow(h, 4); /* Taylor's remainder: the third derivatives are 12 / H^4 and -6 / H^4 */
        assert_true(fabs(f->potential[0] - (1 / h - steps[k] / (h * h) + steps[k] * steps[k] / (h * h * h))) <= third + 1e-15);
        assert_true(fabs(f->gx[0] - (-1 / (h * h) + 2 * steps[k] / (h * h * h))) <= 40 * steps[k] * steps[k] / pow(h, 4) + 1e-15);
        if (steps[k] > 0) assert_true(fabs(f->potential[0] * p->x[0] - 1) < 1e-15 && fabs(f->gx[0] * p->x[0] * p->x[0] + 1) < 2e-15);
        fmm_field_destroy(f);
    }
    p->x[0] = 0;
    fmm_field *f = direct(p);
    assert_true(fabs(f->potential[0] - 15 / (8 * h)) < 1e-15 && f->gx[0] == 0 && f->potential[1] == 0);
    fmm_field_destroy(f);
    fmm_particles_destroy(p);
}

static void direct_sums_are_plain_sums(void **state)
{
    (void)state;
    static const double softenings[] = {1e-9, 0.01, 0.2, 5, 1e200};
    for (size_t k = 0; k < sizeof softenings / sizeof *softenings; k++) {
        fmm_particles *p = generated(FMM_CLUSTERS, 600, softenings[k]);
        put_together(p);
        fmm_field *with = direct(p), *without = field_for(p, 0);
        assert_int_equal(fmm_direct(p, NULL, without), YOKE_OK);
        if (softenings[k] < 1e9) assert_plain(p, with);
        assert_plain(p, without);
        fmm_field_destroy(without);
        fmm_field_destroy(with);
        fmm_particles_destroy(p);
    }
}

/* Each instruction set, in all three kernels, on pairs inside and outside of H. */
static void kernels_of_all_instruction_sets_soften(void **state)
{
    (void)state;
    enum { PACKED = 40, OTHERS = 13 };
    const fmm_pairs_kernel *list[FMM_MAX_PAIRS_KERNELS];
    int kernels = fmm_pairs_kernels(list);
    fmm_particles *p = generated(FMM_UNIFORM, PACKED + OTHERS, 0.6);
    const int64_t at = PACKED;
    for (int k = 0; k < kernels; k++)
        for (int way = 0; way < 6; way++) {
            _Alignas(64) double sum[4][PACKED] = {{0}}, other[4][OTHERS] = {{0}};
            const int gradient = way % 2;
            const fmm_sources sources = {PACKED, p->x, p->y, p->z, p->charge};
            const fmm_targets targets = {OTHERS, p->x + at, p->y + at, p->z + at, other[0], gradient ? other[1] : NULL, other[2], other[3]};
            const fmm_bodies packed = {PACKED, p->x, p->y, p->z, p->charge, sum[0], gradient ? sum[1] : NULL, sum[2], sum[3]};
            const fmm_bodies others = {OTHERS,   p->x + at, p->y + at, p->z + at, p->charge + at, other[0], gradient ? other[1] : NULL,
                                       other[2], other[3]};
            if (way < 2)
                list[k]->add(&sources, &targets, p->softening);
            else if (way < 4)
                list[k]->add_packed(&sources, &targets, p->softening);
            else
                list[k]->add_mutual(&packed, &others, p->softening);
            for (int64_t i = 0; i < PACKED + OTHERS; i++) {
                long double expected[4] = {0}, one[4];
                const int64_t first = i < PACKED ? PACKED : 0, last = i < PACKED ? PACKED + OTHERS : PACKED;
                for (int64_t j = first; j < last && (i >= PACKED || way >= 4); j++) {
                    soft_pair((const long double[]){(long double)p->x[i] - p->x[j], (long double)p->y[i] - p->y[j],
                                                    (long double)p->z[i] - p->z[j]},
                              p->softening, one);
                    for (int c = 0; c < (gradient ? 4 : 1); c++) expected[c] += p->charge[j] * one[c];
                }
                for (int c = 0; c < 4; c++) assert_true(fabsl((i < PACKED ? sum[c][i] : other[c][i - PACKED]) - expected[c]) < 1e-12L);
            }
        }
    fmm_particles_destroy(p);
}

static void assert_method(const fmm_particles *p, const fmm_field *exact, int depth, int64_t capacity)
{
    const int order = 14;
    fmm_method *method = NULL;
    fmm_sample error;
    fmm_field *field = field_for(p, 1);
    const fmm_method_options options = {.depth = depth, .capacity = capacity, .direct = -1, .order = &order, .gradient = 1};
    assert_int_equal(fmm_method_create(p, &options, &method), YOKE_OK);
    assert_int_equal(fmm_method_run(method, p->charge, field, NULL), YOKE_OK);
    double largest = 0, most = 0;
    for (int64_t i = 0; i < p->count; i++) {
        largest = fmax(largest, fabs(exact->potential[i]));
        most = fmax(most, fabs(field->potential[i] - exact->potential[i]));
    }
    assert_true(most < 1e-4 * largest);
    assert_int_equal(sample_error(p, field, p->count, 1, &error), YOKE_OK);
    assert_true(error.potential < 1e-4 && error.force < 1e-3);
    fmm_method_destroy(method);
    fmm_field_destroy(field);
}

/* H as long as the edges of the leaves, so that pairs at that distance are in the far field; trees go no deeper. */
static void the_method_has_the_field_of_direct_sums(void **state)
{
    (void)state;
    static const fmm_distribution of[] = {FMM_UNIFORM, FMM_CLUSTERS};
    for (int d = 0; d < 2; d++)
        for (int depth = 2; depth <= 4; depth++) {
            fmm_particles *p = generated(of[d], 500, 0);
            put_together(p);
            const fmm_box box = fmm_box_around(p);
            p->softening = ldexp(box.side, -depth);
            assert_int_equal(fmm_method_deepest(&box, p->softening), depth);
            assert_int_equal(fmm_method_deepest(&box, 1.001 * p->softening), depth - 1);
            fmm_field *exact = direct(p);
            assert_plain(p, exact);
            assert_method(p, exact, depth, 0);
            assert_method(p, exact, FMM_MAX_DEPTH, 5);
            fmm_field_destroy(exact);
            fmm_particles_destroy(p);
        }
}

/* The force on a particle is what the energy loses when it moves: by central differences. */
static void forces_are_gradients_of_the_energy(void **state)
{
    (void)state;
    const double step = 1e-5;
    fmm_particles *p = generated(FMM_UNIFORM, 60, 0.4);
    p->x[1] = p->x[0], p->y[1] = p->y[0], p->z[1] = p->z[0];
    fmm_field *f = direct(p);
    fmm_total_force total = fmm_field_total_force(p, f);
    assert_true(hypot(hypot(total.sum[0], total.sum[1]), total.sum[2]) < 1e-13 * total.lengths);
    for (int64_t i = 0; i < p->count; i += 7) {
        double *const at[3] = {&p->x[i], &p->y[i], &p->z[i]}, force[3], energy[2];
        fmm_field_force(p, f, i, (double *)force);
        for (int c = 0; c < 3; c++) {
            const double place = *at[c];
            for (int side = 0; side < 2; side++) {
                *at[c] = place + (side ? step : -step);
                fmm_field *moved = direct(p);
                energy[side] = fmm_field_energy(p, moved);
                fmm_field_destroy(moved);
            }
            *at[c] = place;
            assert_true(fabs((energy[0] - energy[1]) / (2 * step) - force[c]) <
                        1e-6); /* step^2 times third derivatives up to 20 / H^4 each */
        }
    }
    fmm_field_destroy(f);
    fmm_particles_destroy(p);
}

static void what_cannot_be_softened_is_refused(void **state)
{
    (void)state;
    fmm_particles *p = generated(FMM_UNIFORM, 100, 0.1);
    fmm_field *field = field_for(p, 1);
    fmm_method *method = NULL;
    const int order = 0;
    const fmm_method_options options = {.depth = 5, .order = &order, .gradient = 1};
    assert_int_equal(fmm_method_create(p, &options, &method), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "depth of at most 3"));
    p->softening = 1e-200;
    assert_int_equal(fmm_direct(p, NULL, field), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "softening of 1e-200"));
    assert_int_equal(fmm_method_create(p, &options, &method), YOKE_ERROR_INPUT);
    assert_null(method);
    fmm_field_destroy(field);
    fmm_particles_destroy(p);
}

/* Only the softening has a length then. */
static void particles_at_one_place_act_on_each_other(void **state)
{
    (void)state;
    fmm_particles *p = cloud_create(context, ONE_PLACE, 5);
    for (int i = 0; i < 5; i++) p->x[i] = p->y[i] = p->z[i] = 0;
    p->softening = 1e-200;
    fmm_field *f = direct(p);
    for (int i = 0; i < 5; i++) assert_true(fabs(f->potential[i] / (4 * 15 / 8e-200) - 1) < 1e-15 && f->gx[i] == 0);
    fmm_field_destroy(f);
    fmm_particles_destroy(p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_potential_is_twice_continuously_differentiable),
    cmocka_unit_test(direct_sums_are_plain_sums),
    cmocka_unit_test(kernels_of_all_instruction_sets_soften),
    cmocka_unit_test(the_method_has_the_field_of_direct_sums),
    cmocka_unit_test(forces_are_gradients_of_the_energy),
    cmocka_unit_test(what_cannot_be_softened_is_refused),
    cmocka_unit_test(particles_at_one_place_act_on_each_other),
};

UNIT_MAIN(tests, context_start, context_end)
