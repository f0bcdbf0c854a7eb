/* The method against direct sums: errors by order, depth and kind of particles, and what it refuses. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/failing.h"
#include "clouds.h"
#include "error_theory.h"
#include "method_run.h"
#include "particles/random.h"
#include "sample_error.h"

static errors errors_of(const fmm_particles *particles, const fmm_field *exact, int depth, int order)
{
    fmm_field *field = result(particles, depth, order, 1);
    errors e = compare(particles, field, exact);
    fmm_field_destroy(field);
    return e;
}

/* Terms of degree p fall at the worst like 0.77^p: cells with edge 1 two apart, whose corners are 0.866 away from their centres. */
static void errors_fall_with_the_order(void **state)
{
    (void)state;
    static const int depths[] = {2, 2, 6};
    for (int d = FMM_GRID; d <= FMM_XENON; d++)
        for (int c = FMM_ALTERNATING; c <= FMM_EQUAL; c++) {
            if (unit_is_sanitized() && c != FMM_RANDOM) continue;
            fmm_particles *particles = generated(d, 1000, c);
            fmm_field *exact = direct(particles);
            errors last = {1, 1};
            for (int order = 3; order <= 24; order *= 2) {
                errors e = errors_of(particles, exact, depths[d], order);
                double rate = 1.5 * pow(0.77, order - (order > 3 ? order / 2 : 0));
                assert_true(e.potential < rate * last.potential);
                assert_true(e.force < 2 * rate * last.force);
                last = e;
            }
            assert_true(last.potential < 1e-6); /* of alternating charges on the grid, whose potentials nearly cancel */
            assert_true(last.force < 1e-4);
            fmm_field_destroy(exact);
            fmm_particles_destroy(particles);
        }
}

/* For random signs and evenly filled cells theory has the root mean square itself (error_theory.h), within 0.65 and 1.4 times up to order 4. */
static void errors_of_random_signs_are_those_of_theory(void **state)
{
    (void)state;
    enum { COUNT = 4096, DEPTH = 2, DEGREES = 44 };
    double moments[DEGREES];
    fmm_error_cube_moments(DEGREES, moments);
    fmm_particles *p = cloud_create(context, UNIFORM, COUNT);
    uint64_t seed = 5;
    for (int64_t i = 0; i < COUNT; i++) p->charge[i] = fmm_random(&seed) >> 63 ? 1 : -1;
    fmm_field *exact = direct(p);
    for (int order = 0; order <= 4; order++) {
        double squares = 0, measured = 0, edge = 0.25, in_cell = COUNT / 64.;
        for (int a = 0; a < 64; a++)
            for (int b = 0; b < 64; b++) {
                int d[3] = {a % 4 - b % 4, a / 4 % 4 - b / 4 % 4, a / 16 - b / 16}, far = 0;
                for (int c = 0; c < 3; c++) far += abs(d[c]) > 1;
                double distance = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
                if (far)
                    squares +=
                        in_cell * pow(fmm_error_rms(fmm_m2l_order(order, d), distance, DEGREES, moments, moments) / edge, 2) * in_cell;
            }
        fmm_field *field = result(p, DEPTH, order, 0);
        for (int64_t i = 0; i < COUNT; i++) measured += pow(field->potential[i] - exact->potential[i], 2);
        assert_true(measured > 0.6 * 0.6 * squares && measured < 1.5 * 1.5 * squares);
        fmm_field_destroy(field);
    }
    fmm_field_destroy(exact);
    fmm_particles_destroy(p);
}

static void shallow_trees_sum_all_pairs(void **state)
{
    (void)state;
    for (int depth = 0; depth < 2; depth++)
        for (int c = 0; c < CLOUDS; c++)
            for (int64_t count = 0; count <= 600; count = 3 * count + 1) {
                if (c == TINY_EXTENT) continue; /* potentials are larger than the largest double */
                fmm_particles *p = cloud_create(context, c, count);
                fmm_field *exact = direct(p);
                errors e = errors_of(p, exact, depth, 3);
                assert_true(e.potential < 1e-14);
                fmm_field_destroy(exact);
                fmm_particles_destroy(p);
            }
}

/* Deep trees with few particles, with one, with all in one cell or at one place; clusters. */
static void clouds_of_all_kinds_agree_with_direct_sums(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 3, 300};
    for (int c = 0; c < TINY_EXTENT; c++) /* whose potentials are larger than the largest double */
        for (size_t n = 0; n < sizeof counts / sizeof *counts; n++)
            for (int depth = 2; depth <= 14; depth += 12) {
                fmm_particles *p = cloud_create(context, c, counts[n]);
                fmm_field *exact = direct(p);
                errors e = errors_of(p, exact, depth, 12);
                assert_true(e.potential < 1e-3 && e.force < 1e-1); /* the largest: particles at the cells' corners */
                fmm_field_destroy(exact);
                fmm_particles_destroy(p);
            }
}

/* Leaves between those of two depths: what is left out falls as in the trees of these depths, and all pairs are summed in one field. */
static void trees_between_two_depths_agree_with_direct_sums(void **state)
{
    (void)state;
    static const int64_t cells[] = {3, 5, 6, 7, 11};
    fmm_particles *p = generated(FMM_GRID, 3000, FMM_ALTERNATING); /* not a whole cube */
    uint64_t seed = 5;
    for (int64_t i = 0; i < p->count; i++) p->charge[i] = fmm_random(&seed) >> 63 ? 1 : -1;
    fmm_field *exact = direct(p), *field = field_for(p, 1);
    for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) {
        const fmm_method_options options = {.cells = cells[c], .gradient = 1};
        fmm_method *method = NULL;
        double last = 1;
        assert_int_equal(fmm_method_create(p, &options, &method), YOKE_OK);
        for (int order = 4; order <= 20; order *= 2) {
            assert_int_equal(fmm_method_set_order(method, order), YOKE_OK);
            assert_int_equal(fmm_method_run(method, p->charge, field, NULL), YOKE_OK);
            errors e = compare(p, field, exact);
            assert_true(e.potential < 1.5 * pow(0.77, order / 2.) * last && e.force < 2e3 * e.potential);
            last = e.potential;
        }
        fmm_method_destroy(method);
    }
    fmm_field_destroy(exact);
    fmm_field_destroy(field);
    fmm_particles_destroy(p);
}

static void clusters_need_deep_trees(void **state)
{
    (void)state;
    unit_leave_to_release();
    fmm_particles *p = generated(FMM_XENON, 3000, FMM_RANDOM);
    fmm_field *exact = direct(p);
    errors e = errors_of(p, exact, 14, 16);
    assert_true(e.potential < 1e-6 && e.force < 1e-5);
    fmm_method *shallow = method_of(p, 3, 4, 0), *deep = method_of(p, 12, 4, 0);
    assert_true(fmm_method_count(deep).near < fmm_method_count(shallow).near / 10);
    fmm_method_destroy(deep);
    fmm_method_destroy(shallow);
    fmm_field_destroy(exact);
    fmm_particles_destroy(p);
}

/* Centres of cells that are rounded would add errors of 1e-16 in units of the least cells' edges: here 1e-13. */
static void errors_in_deep_trees_fall_to_rounding(void **state)
{
    (void)state;
    fmm_particles *p = generated(FMM_XENON, 200, FMM_RANDOM);
    fmm_field *exact = direct(p);
    errors e = errors_of(p, exact, 14, 42);
    assert_true(e.potential < 1e-14);
    fmm_field_destroy(exact);
    fmm_particles_destroy(p);
}

static void samples_have_the_error_of_all(void **state)
{
    (void)state;
    fmm_particles *p = generated(FMM_GRID, 4096, FMM_RANDOM);
    fmm_field *exact = direct(p), *field = result(p, 3, 5, 1);
    errors e = compare(p, field, exact);
    fmm_sample sample;
    assert_int_equal(sample_error(p, field, p->count + 1, 1, &sample), YOKE_OK);
    assert_int_equal(sample.count, p->count);
    assert_true(fabs(sample.potential - e.potential) < 1e-12 && fabs(sample.force - e.force) < 1e-12);
    assert_int_equal(sample_error(p, field, 1000, 1, &sample), YOKE_OK);
    assert_true(fabs(sample.potential / e.potential - 1) < 0.2 && fabs(sample.force / e.force - 1) < 0.2);
    assert_int_equal(sample_error(p, exact, 10, 1, &sample), YOKE_OK);
    assert_true(sample.potential < 1e-15 && sample.force < 1e-15);
    fmm_field_destroy(exact);
    fmm_field_destroy(field);
    fmm_particles_destroy(p);
}

static void pairs_are_all_pairs_of_particles(void **state)
{
    (void)state;
    fmm_particles *p = generated(FMM_GRID, 4096, FMM_EQUAL);
    fmm_method *flat = method_of(p, 1, 2, 0), *deep = method_of(p, 4, 2, 0);
    fmm_field *field = field_for(p, 0);
    assert_int_equal(fmm_method_run(deep, p->charge, field, NULL), YOKE_OK);
    assert_int_equal(fmm_method_count(flat).near, (int64_t)4096 * 4095);
    /* 16^3 cells with a particle each: (16 + 2 * 15)^3 - 16^3 near pairs */
    assert_int_equal(fmm_method_count(deep).near, 46 * 46 * 46 - 4096);
    fmm_field_destroy(field);
    fmm_method_destroy(flat);
    fmm_method_destroy(deep);
    fmm_particles_destroy(p);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    fmm_particles *p = generated(FMM_GRID, 64, FMM_EQUAL);
    fmm_method *method = NULL;
    const int order = 2, above = FMM_MAX_ORDER + 1, below = -1;
    const fmm_method_options wrong[] = {{.depth = 22, .order = &order}, {.depth = -1, .order = &order},
                                        {.depth = 2, .order = &above},  {.depth = 2, .order = &below},
                                        {.depth = 1, .order = &above},  {.cells = (int64_t)1 << 40, .order = &order},
                                        {.cells = -3, .order = &order}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(fmm_method_create(p, &wrong[i], &method), YOKE_ERROR_ARGUMENT);
    method = method_of(p, 1, 2, 0);
    assert_int_equal(fmm_method_set_order(method, 51), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_method_set_order(method, -1), YOKE_ERROR_ARGUMENT);
    fmm_method_destroy(method);
    method = method_of(p, 2, 2, 0);
    fmm_field *with = field_for(p, 1), *without = field_for(p, 0);
    assert_int_equal(fmm_method_run(method, p->charge, with, NULL), YOKE_ERROR_ARGUMENT);
    p->charge[3] = 1e-310;
    assert_int_equal(fmm_method_run(method, p->charge, without, NULL), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "charge of particle 4"));
    fmm_field_destroy(with);
    fmm_field_destroy(without);
    fmm_method_destroy(method);
    fmm_particles_destroy(p);
}

static void no_orders_are_set_after_an_error(void **state)
{
    (void)state;
    failing memory = {0};
    const yoke_options limited = failing_options(&memory);
    const fmm_method_options options = {.depth = 3};
    yoke_context *own = NULL;
    fmm_particles *p = NULL;
    fmm_method *method = NULL;
    fmm_field *field = NULL;
    int64_t failed = 0;
    assert_int_equal(yoke_context_create(&limited, &own), YOKE_OK);
    assert_int_equal(fmm_particles_generate(own, FMM_GRID, 512, FMM_EQUAL, 1, &p), YOKE_OK);
    assert_int_equal(fmm_field_create(own, p->count, 0, &field), YOKE_OK);
    assert_int_equal(fmm_method_create(p, &options, &method), YOKE_OK);
    for (yoke_status status = YOKE_ERROR_MEMORY; status; failed++) {
        failing_allow(&memory, failed);
        status = fmm_method_set_order(method, 6);
        memory.fail_at = 0;
        assert_int_equal(status, status ? YOKE_ERROR_MEMORY : YOKE_OK);
        assert_int_equal(fmm_method_run(method, p->charge, field, NULL), status ? YOKE_ERROR_ARGUMENT : YOKE_OK);
    }
    assert_true(failed > 4);
    assert_int_equal(fmm_method_set_order(method, 51), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_method_run(method, p->charge, field, NULL), YOKE_ERROR_ARGUMENT);
    fmm_field_destroy(field);
    fmm_method_destroy(method);
    fmm_particles_destroy(p);
    yoke_context_destroy(own);
    assert_int_equal(memory.outstanding, 0);
}

/* New memory that is full of NaN. */
static void *allocate_filled(size_t bytes, void *user)
{
    (void)user;
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (memory) memset(memory, 0xFF, bytes);
    return memory;
}

static void release_filled(void *memory, void *user)
{
    (void)user;
    free(memory);
}

/* fast: the near field in single precision, and M2L by plane waves. */
static void run_shells(yoke_context *in, int64_t capacity, bool fast, bool near_first, fmm_field **field)
{
    enum { COUNT = 3000, DEPTH = 4, SET = 5, LEVELS = 1 << 2 | 1 << 3 | 1 << 4 };
    const int order = 5;
    const fmm_method_options options = {.depth = DEPTH, .capacity = capacity, .order = &order, .gradient = 1};
    fmm_particles *p = NULL;
    fmm_method *method = NULL;
    double near_s;
    assert_int_equal(fmm_particles_generate(in, FMM_SHELLS, COUNT, FMM_RANDOM, 1, &p), YOKE_OK);
    assert_int_equal(fmm_method_create(p, &options, &method), YOKE_OK);
    assert_int_equal(fmm_field_create(in, COUNT, 1, field), YOKE_OK);
    fmm_method_set_single(method, fast);
    if (fast) assert_int_equal(fmm_method_set_waves(method, LEVELS, SET), YOKE_OK);
    if (near_first && fmm_method_run_near(method, p->charge, *field, &near_s)) fail_msg("%s", yoke_last_error(in));
    assert_int_equal(fmm_method_run(method, p->charge, *field, NULL), YOKE_OK);
    assert_true(fmm_method_is_single(method) == fast);
    fmm_method_destroy(method);
    fmm_particles_destroy(p);
}

static void results_do_not_depend_on_the_contents_of_new_memory(void **state)
{
    (void)state;
    static const yoke_options options = {.allocate = allocate_filled, .release = release_filled};
    yoke_context *filled = NULL;
    assert_int_equal(yoke_context_create(&options, &filled), YOKE_OK);
    for (int kind = 0; kind < 4; kind++) {
        const int64_t capacity = kind & 1 ? 20 : 0;
        fmm_field *expected = NULL, *got = NULL;
        run_shells(context, capacity, kind & 2, false, &expected);
        run_shells(filled, capacity, kind & 2, true, &got);
        for (int64_t i = 0; i < got->count; i++) {
            assert_true(got->potential[i] == expected->potential[i]);
            assert_true(got->gx[i] == expected->gx[i] && got->gy[i] == expected->gy[i] && got->gz[i] == expected->gz[i]);
        }
        fmm_field_destroy(expected);
        fmm_field_destroy(got);
    }
    yoke_context_destroy(filled);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(errors_fall_with_the_order),
    cmocka_unit_test(errors_of_random_signs_are_those_of_theory),
    cmocka_unit_test(shallow_trees_sum_all_pairs),
    cmocka_unit_test(clouds_of_all_kinds_agree_with_direct_sums),
    cmocka_unit_test(trees_between_two_depths_agree_with_direct_sums),
    cmocka_unit_test(clusters_need_deep_trees),
    cmocka_unit_test(errors_in_deep_trees_fall_to_rounding),
    cmocka_unit_test(samples_have_the_error_of_all),
    cmocka_unit_test(pairs_are_all_pairs_of_particles),
    cmocka_unit_test(what_cannot_be_is_refused),
    cmocka_unit_test(no_orders_are_set_after_an_error),
    cmocka_unit_test(results_do_not_depend_on_the_contents_of_new_memory),
};

UNIT_MAIN(tests, context_start, context_end)
