/* The method with M2L by plane waves on some levels or all, beside rotations and direct sums. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "clouds.h"
#include "context.h"
#include "method/method.h"
#include "particles/generate.h"
#include "sample_error.h"

enum { SET_ABOVE = 3 /* the waves' set is that of an order so much higher: their errors then do not count */ };
#define ALL_LEVELS (~(uint64_t)0)
#define WAVES 1e-11 /* errors of theirs where those of expansions are less: of all charges in a point */

typedef struct tree {
    int64_t capacity;
    int depth;
} tree;

static fmm_method *method_of(const fmm_particles *particles, tree of, int order, uint64_t levels)
{
    fmm_method *method = NULL;
    const fmm_method_options options = {.depth = of.depth, .capacity = of.capacity, .direct = 8, .gradient = 1};
    assert_int_equal(fmm_method_create(particles, &options, &method), YOKE_OK);
    assert_int_equal(fmm_method_set_order(method, order), YOKE_OK);
    assert_int_equal(fmm_method_set_waves(method, levels, order + SET_ABOVE), YOKE_OK);
    return method;
}

static fmm_field *run(fmm_method *method, const fmm_particles *particles)
{
    fmm_field *field = NULL;
    assert_int_equal(fmm_field_create(context, particles->count, 1, &field), YOKE_OK);
    assert_int_equal(fmm_method_run(method, particles->charge, field, NULL), YOKE_OK);
    return field;
}

/* Errors of potentials and forces, relative in the 2-norm, against direct sums at all particles. */
static fmm_sample errors_of(const fmm_particles *particles, tree of, int order, uint64_t levels, int64_t *pairs)
{
    fmm_sample sample;
    fmm_method *method = method_of(particles, of, order, levels);
    fmm_field *field = run(method, particles);
    *pairs = fmm_method_count(method).far;
    assert_int_equal(sample_error(particles, field, particles->count, 1, &sample), YOKE_OK);
    fmm_field_destroy(field);
    fmm_method_destroy(method);
    return sample;
}

/* The number of pairs tells that none is missing, errors that none is there twice. */
static void errors_are_those_of_rotations_on_all_clouds(void **state)
{
    (void)state;
    const tree trees[] = {{0, 3}, {20, FMM_MAX_DEPTH}};
    for (int cloud = 0; cloud < CLOUDS; cloud++) {
        if (cloud == ONE_PLACE || cloud == TINY_EXTENT) continue; /* their potentials are 0, or larger than the largest double */
        fmm_particles *p = cloud_create_charged(context, cloud, 800);
        for (int t = 0; t < 2; t++)
            for (int order = 4; order <= 12; order += 8) {
                int64_t pairs, same;
                const fmm_sample rotations = errors_of(p, trees[t], order, 0, &pairs),
                                 waves = errors_of(p, trees[t], order, ALL_LEVELS, &same);
                assert_int_equal(same, pairs);
                if (!(waves.potential < 1.5 * rotations.potential + WAVES && waves.force < 1.5 * rotations.force + WAVES))
                    fail_msg("cloud %d, tree %d, order %d: errors of %g and %g by waves, %g and %g by rotations", cloud, t, order,
                             waves.potential, waves.force, rotations.potential, rotations.force);
            }
        fmm_particles_destroy(p);
    }
}

/* Waves of some levels beside rotations of others. */
static void each_level_may_have_waves_or_rotations(void **state)
{
    (void)state;
    int64_t pairs, same;
    fmm_particles *p = cloud_create_charged(context, CLUSTERED, 3000);
    const tree of = {20, FMM_MAX_DEPTH};
    const fmm_sample rotations = errors_of(p, of, 6, 0, &pairs);
    for (uint64_t levels = 4; levels < 1 << 6; levels += 12) {
        const fmm_sample waves = errors_of(p, of, 6, levels, &same);
        assert_int_equal(same, pairs);
        assert_true(waves.potential < 1.2 * rotations.potential);
    }
    fmm_particles_destroy(p);
}

static void assert_same_fields(const fmm_field *a, const fmm_field *b)
{
    size_t bytes = (size_t)a->count * sizeof(double);
    assert_memory_equal(a->potential, b->potential, bytes);
    assert_memory_equal(a->gx, b->gx, bytes);
    assert_memory_equal(a->gy, b->gy, bytes);
    assert_memory_equal(a->gz, b->gz, bytes);
}

static void results_have_the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    const int before = omp_get_max_threads();
    const tree trees[] = {{0, 3}, {16, FMM_MAX_DEPTH}};
    for (int t = 0; t < 2; t++) {
        fmm_particles *p = cloud_create_charged(context, t ? CLUSTERED : UNIFORM, 2000);
        fmm_field *field[3];
        for (int threads = 1; threads <= 3; threads++) {
            omp_set_num_threads(threads);
            fmm_method *method = method_of(p, trees[t], 5, ALL_LEVELS);
            field[threads - 1] = run(method, p);
            fmm_method_destroy(method);
        }
        for (int i = 1; i < 3; i++) assert_same_fields(field[0], field[i]);
        for (int i = 0; i < 3; i++) fmm_field_destroy(field[i]);
        fmm_particles_destroy(p);
    }
    omp_set_num_threads(before);
}

/* Orders that are set again end waves; sums of a run before are not added to. */
static void a_method_runs_again_with_waves_and_without(void **state)
{
    (void)state;
    fmm_particles *p = cloud_create_charged(context, UNIFORM, 1000);
    fmm_method *method = method_of(p, (tree){0, 3}, 6, ALL_LEVELS), *other = method_of(p, (tree){0, 3}, 6, 0);
    fmm_field *waves = run(method, p), *again = run(method, p), *rotations = run(other, p);
    assert_same_fields(waves, again);
    assert_int_equal(fmm_method_set_order(method, 6), YOKE_OK);
    fmm_field *without = run(method, p);
    assert_same_fields(without, rotations);
    assert_true(memcmp(waves->potential, rotations->potential, 1000 * sizeof(double)) != 0);
    fmm_field_destroy(waves);
    fmm_field_destroy(again);
    fmm_field_destroy(rotations);
    fmm_field_destroy(without);
    fmm_method_destroy(method);
    fmm_method_destroy(other);
    fmm_particles_destroy(p);
}

static void waves_without_tables_are_refused(void **state)
{
    (void)state;
    fmm_particles *p = cloud_create_charged(context, UNIFORM, 500);
    fmm_method *method = method_of(p, (tree){0, 3}, 6, 0);
    assert_int_equal(fmm_method_set_waves(method, ALL_LEVELS, 25), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_method_set_order(method, 33), YOKE_OK);
    assert_int_equal(fmm_method_set_waves(method, ALL_LEVELS, 24), YOKE_ERROR_ARGUMENT);
    fmm_field *field = run(method, p);
    fmm_field_destroy(field);
    fmm_method_destroy(method);
    fmm_particles_destroy(p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(errors_are_those_of_rotations_on_all_clouds),
    cmocka_unit_test(each_level_may_have_waves_or_rotations),
    cmocka_unit_test(results_have_the_same_bits_for_any_number_of_threads),
    cmocka_unit_test(a_method_runs_again_with_waves_and_without),
    cmocka_unit_test(waves_without_tables_are_refused),
};

UNIT_MAIN(tests, context_start, context_end)
