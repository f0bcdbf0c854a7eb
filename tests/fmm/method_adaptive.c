#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "clouds.h"
#include "context.h"
#include "method/parts.h"
#include "particles/generate.h"
#include "sample_error.h"

typedef struct tree_options {
    int64_t capacity, direct;
    int depth, order;
} tree_options;

static fmm_field *result(const fmm_particles *particles, tree_options of, fmm_method_pairs *pairs)
{
    fmm_method *method = NULL;
    fmm_field *field = NULL;
    const fmm_method_options options = {.depth = of.depth, .capacity = of.capacity, .direct = of.direct, .order = &of.order, .gradient = 1};
    assert_int_equal(fmm_field_create(context, particles->count, 1, &field), YOKE_OK);
    assert_int_equal(fmm_method_create(particles, &options, &method), YOKE_OK);
    assert_int_equal(fmm_method_run(method, particles->charge, field, NULL), YOKE_OK);
    if (pairs) *pairs = fmm_method_count(method);
    fmm_method_destroy(method);
    return field;
}

/* Errors of potentials and forces, relative in the 2-norm, against direct sums at all particles. */
static fmm_sample errors_of(const fmm_particles *particles, tree_options of, fmm_method_pairs *pairs)
{
    fmm_sample sample;
    fmm_field *field = result(particles, of, pairs);
    assert_int_equal(sample_error(particles, field, particles->count, 1, &sample), YOKE_OK);
    fmm_field_destroy(field);
    return sample;
}

/* M2L is the worst of the translations: terms of degree p fall like 0.77^p. */
static void errors_fall_with_the_order_on_all_clouds(void **state)
{
    (void)state;
    const tree_options trees[] = {{3, 0, FMM_MAX_DEPTH, 0}, {20, 0, FMM_MAX_DEPTH, 0}, {20, -1, FMM_MAX_DEPTH, 0}, {40, 8, 4, 0}};
    const double rounding = 1e-13;
    for (int cloud = 0; cloud < CLOUDS; cloud++) {
        if (cloud == ONE_PLACE || cloud == TINY_EXTENT) continue; /* their potentials are 0, or larger than the largest double */
        fmm_particles *p = cloud_create_charged(context, cloud, 400);
        for (int t = 0; t < 4; t++) {
            fmm_sample last = {.potential = 1, .force = 1};
            for (int order = 3; order <= 12; order *= 2) {
                double rate = 1.5 * pow(0.77, order - (order > 3 ? order / 2 : 0));
                tree_options of = trees[t];
                of.order = order;
                fmm_sample e = errors_of(p, of, NULL);
                assert_true(e.potential < rate * last.potential + rounding);
                assert_true(e.force < 2 * rate * last.force + rounding);
                last = e;
            }
        }
        fmm_particles_destroy(p);
    }
}

/* Where all cells of W and X are summed directly, or none: the far field between cells of equal size has the same errors. */
static void direct_cells_of_w_and_x_have_no_error(void **state)
{
    (void)state;
    const enum cloud clouds[] = {CLUSTERED, TWO_CLUSTERS, SHELLS};
    for (int c = 0; c < 3; c++) {
        fmm_particles *p = cloud_create_charged(context, clouds[c], 600);
        fmm_method_pairs none, all, uniform;
        fmm_sample expanded = errors_of(p, (tree_options){20, 0, FMM_MAX_DEPTH, 3}, &none);
        fmm_sample direct = errors_of(p, (tree_options){20, 600, FMM_MAX_DEPTH, 3}, &all);
        assert_true(none.w > 0 && all.w == 0 && none.near < all.near && none.far == all.far);
        assert_true(direct.potential < expanded.potential && direct.force < expanded.force);
        errors_of(p, (tree_options){0, 0, 4, 3}, &uniform);
        assert_int_equal(uniform.w, 0);
        fmm_particles_destroy(p);
    }
}

/* The particle in the root's far corner has one cell in its W, with all others, in whose X it is. */
static void a_far_particle_feels_the_multipole_of_a_dense_cell(void **state)
{
    (void)state;
    fmm_particles *p = cloud_create(context, FAR_PARTICLE, 300);
    fmm_method_pairs pairs;
    fmm_field *field = result(p, (tree_options){150, 0, FMM_MAX_DEPTH, 12}, &pairs);
    double sum = 0;
    for (int64_t i = 1; i < 300; i++) sum += 1 / sqrt(pow(p->x[i] - 7, 2) + pow(p->y[i] - 7, 2) + pow(p->z[i] - 7, 2));
    assert_true(fabs(field->potential[0] - sum) < 1e-9 * sum);
    assert_int_equal(pairs.w, 1);
    assert_true(pairs.near <= 299 * 298);
    fmm_field_destroy(field);
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

static void bits_are_the_same_at_each_number_of_threads(void **state)
{
    (void)state;
    const int threads = omp_get_max_threads();
    const enum cloud clouds[] = {CLUSTERED, FAR_PARTICLE, SHELLS};
    for (int c = 0; c < 3; c++) {
        fmm_particles *p = cloud_create_charged(context, clouds[c], 3000);
        fmm_field *field[3];
        for (int t = 0; t < 3; t++) {
            omp_set_num_threads(t + 1);
            field[t] = result(p, (tree_options){30, 10, FMM_MAX_DEPTH, 4}, NULL);
        }
        assert_same_fields(field[0], field[1]);
        assert_same_fields(field[0], field[2]);
        for (int t = 0; t < 3; t++) fmm_field_destroy(field[t]);
        fmm_particles_destroy(p);
    }
    omp_set_num_threads(threads);
}

/* Marks a leaf for a block of a step: no other block of the step may have marked it. */
static void mark(int64_t *marked, int64_t leaf, int64_t block, int64_t first_of_step)
{
    assert_true(marked[leaf] == block || marked[leaf] < first_of_step);
    marked[leaf] = block;
}

/* A block writes to the sums of its leaves, and of leaves of the same level and of finer ones that are near them. */
static void mark_written(const fmm_method *m, int64_t block, int64_t first_of_step, int64_t *marked)
{
    const fmm_siblings *of = &m->block[block];
    for (int32_t c = of->first; c < of->last; c++) {
        const int64_t leaf = m->tree->level[of->level].leaf[c];
        if (!fmm_is_leaf(m->tree, of->level, c)) continue;
        mark(marked, leaf, block, first_of_step);
        for (int64_t n = m->near.start[leaf]; n < m->near.start[leaf + 1]; n++)
            if (m->tree->leaves.level[m->near.cell[n]] >= of->level) mark(marked, m->near.cell[n], block, first_of_step);
    }
}

static void blocks_of_a_step_of_the_near_field_write_to_different_leaves(void **state)
{
    (void)state;
    static const int64_t capacities[3] = {1, 8, 40}, direct[3] = {0, 10, 100};
    for (int cloud = 0; cloud < CLOUDS; cloud++)
        for (int k = 0; k < 3; k++) {
            fmm_particles *p = cloud_create_charged(context, (enum cloud)cloud, 3000);
            const fmm_method_options options = {.depth = FMM_MAX_DEPTH, .capacity = capacities[k], .direct = direct[k]};
            fmm_method *m = NULL;
            assert_int_equal(fmm_method_create(p, &options, &m), YOKE_OK);
            int64_t *marked = calloc((size_t)m->tree->leaves.count, sizeof *marked);
            assert_non_null(marked);
            for (int64_t leaf = 0; leaf < m->tree->leaves.count; leaf++) marked[leaf] = -1;
            for (int step = 0; step < FMM_NEAR_STEPS; step++)
                for (int64_t b = m->first_block[step]; b < m->first_block[step + 1]; b++) mark_written(m, b, m->first_block[step], marked);
            for (int64_t leaf = 0; leaf < m->tree->leaves.count; leaf++) assert_true(marked[leaf] >= 0);
            free(marked);
            fmm_method_destroy(m);
            fmm_particles_destroy(p);
        }
}

static void few_particles_and_those_at_one_place_have_fields(void **state)
{
    (void)state;
    for (int64_t count = 0; count < 40; count += count < 3 ? 1 : 36)
        for (int64_t capacity = 1; capacity < 3; capacity++) {
            fmm_particles *p = cloud_create_charged(context, ONE_PLACE, count);
            fmm_field *field = result(p, (tree_options){capacity, 0, FMM_MAX_DEPTH, 5}, NULL);
            for (int64_t i = 0; i < count; i++) assert_true(field->potential[i] == 0 && field->gx[i] == 0);
            fmm_field_destroy(field);
            fmm_particles_destroy(p);
        }
}

static void a_negative_capacity_is_refused(void **state)
{
    (void)state;
    fmm_particles *p = cloud_create(context, UNIFORM, 10);
    const int order = 0;
    fmm_method *method = NULL;
    const fmm_method_options options = {.depth = 5, .capacity = -1, .order = &order};
    assert_int_equal(fmm_method_create(p, &options, &method), YOKE_ERROR_ARGUMENT);
    assert_null(method);
    fmm_particles_destroy(p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(errors_fall_with_the_order_on_all_clouds),
    cmocka_unit_test(direct_cells_of_w_and_x_have_no_error),
    cmocka_unit_test(a_far_particle_feels_the_multipole_of_a_dense_cell),
    cmocka_unit_test(bits_are_the_same_at_each_number_of_threads),
    cmocka_unit_test(blocks_of_a_step_of_the_near_field_write_to_different_leaves),
    cmocka_unit_test(few_particles_and_those_at_one_place_have_fields),
    cmocka_unit_test(a_negative_capacity_is_refused),
};

UNIT_MAIN(tests, context_start, context_end)
