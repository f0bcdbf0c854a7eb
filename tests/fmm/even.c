#include "tune/counts/even.h"

#include <math.h>
#include <string.h>

#include "clouds.h"
#include "costs.h"
#include "counts.h"
#include "near.h"
#include "particles/generate.h"

static fmm_even look(const fmm_particles *particles)
{
    fmm_even even;
    memset(&even, -1, sizeof even);
    assert_int_equal(fmm_even_find(particles, &even), YOKE_OK);
    assert_int_equal(even.count, particles->count);
    return even;
}

static fmm_particles *generate(fmm_distribution distribution, int64_t count)
{
    fmm_particles *p = NULL;
    assert_int_equal(fmm_particles_generate(context, distribution, count, FMM_EQUAL, 3, &p), YOKE_OK);
    return p;
}

static void boxes_that_are_filled_evenly_are_told_from_others(void **state)
{
    (void)state;
    for (int d = 0; d < FMM_DISTRIBUTIONS; d++) {
        fmm_particles *p = generate((fmm_distribution)d, 32 * 32 * 32);
        assert_int_equal(look(p).is_even, d == FMM_GRID || d == FMM_UNIFORM);
        if (d == FMM_UNIFORM) { /* denser on one side */
            for (int64_t i = 0; i < p->count; i++) p->x[i] = sqrt(p->x[i]);
            assert_false(look(p).is_even);
        }
        fmm_particles_destroy(p);
    }
    for (int cloud = 0; cloud < CLOUDS; cloud++) {
        fmm_particles *p = cloud_create(context, cloud, 5000);
        const int is_even = look(p).is_even, is_cube = cloud == UNIFORM || cloud == HUGE_EXTENT || cloud == TINY_EXTENT;
        assert_true(is_cube || !is_even);
        fmm_particles_destroy(p);
    }
}

static void few_flat_and_endless_ones_are_not_looked_at(void **state)
{
    (void)state;
    fmm_particles *p = generate(FMM_UNIFORM, 500), *flat = generate(FMM_UNIFORM, 20000);
    assert_false(look(p).is_even);
    fmm_particles_destroy(p);
    for (int64_t i = 0; i < flat->count; i++) flat->z[i] = 1e-300 * flat->z[i];
    assert_false(look(flat).is_even);
    for (int64_t i = 0; i < flat->count; i++) flat->z[i] = 0.5;
    assert_false(look(flat).is_even);
    for (int64_t i = 0; i < flat->count; i++) flat->x[i] = i & 1 ? 1.7e308 : -1.7e308; /* farther apart than the largest double */
    assert_false(look(flat).is_even);
    fmm_particles_destroy(flat);
    assert_int_equal(fmm_particles_create(context, 0, &p), YOKE_OK);
    assert_false(look(p).is_even);
    fmm_particles_destroy(p);
}

/* What is known without sorting is what a sorted tree is counted to have. */
static void compare(const fmm_particles *p, int64_t cells, double relative)
{
    fmm_analysis *counted = NULL, known;
    const fmm_even even = look(p);
    const int depth = fmm_depth_of_cells(cells), is_depth = (int64_t)1 << depth == cells;
    assert_true(even.is_even);
    fmm_even_count(&even, cells, &known);
    assert_int_equal(is_depth ? fmm_analysis_create(p, depth, &counted) : fmm_analysis_create_cells(p, cells, &counted), YOKE_OK);
    assert_int_equal(known.depth, depth);
    for (int l = 0; l <= depth; l++) {
        assert_int_equal(known.cells[l].leaves, counted->cells[l].leaves);
        assert_int_equal(known.cells[l].cells, counted->cells[l].cells);
        assert_int_equal(known.counts[l].far, counted->counts[l].far);
        assert_int_equal(known.counts[l].parents, counted->counts[l].parents);
    }
    /* above, the last cell of an odd number is half full */
    assert_near_part((double)known.counts[depth].near, (double)counted->counts[depth].near, relative);
    assert_near_part(pairs_in(&known.cells[depth]), pairs_in(&counted->cells[depth]), relative);
    fmm_analysis_destroy(counted);
}

static void counts_of_even_boxes_are_known_without_sorting(void **state)
{
    (void)state;
    static const int64_t cells[] = {1, 2, 4, 6, 7, 8, 10, 12, 14, 16};
    fmm_particles *lattice = generate(FMM_GRID, 32 * 32 * 32), *uniform = generate(FMM_UNIFORM, 100000);
    for (size_t k = 0; k < sizeof cells / sizeof cells[0]; k++) {
        compare(lattice, cells[k], 0.1);
        compare(uniform, cells[k], 0.06);
    }
    for (int64_t i = 0; i < uniform->count; i++) uniform->y[i] *= 0.49, uniform->z[i] *= 0.74; /* a brick */
    compare(uniform, 8, 0.03);
    compare(uniform, 16, 0.03);
    fmm_particles_destroy(lattice);
    fmm_particles_destroy(uniform);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(boxes_that_are_filled_evenly_are_told_from_others),
    cmocka_unit_test(few_flat_and_endless_ones_are_not_looked_at),
    cmocka_unit_test(counts_of_even_boxes_are_known_without_sorting),
};

UNIT_MAIN(tests, context_start, context_end)
