/* Particles on surfaces and curves: how they are told from others, and what deeper trees over them are estimated to have. */
#include "tune/counts/thin.h"

#include <math.h>

#include "clouds.h"
#include "costs.h"
#include "counts.h"
#include "near.h"
#include "particles/generate.h"

enum { COUNTED = 3, DEEPEST = 6, COUNT = 60000 };

static fmm_analysis *analyse(const fmm_particles *p, int depth)
{
    fmm_analysis *a = NULL;
    assert_int_equal(fmm_analysis_create(p, depth, &a), YOKE_OK);
    return a;
}

static void surfaces_and_curves_are_told_from_others(void **state)
{
    (void)state;
    for (int d = 0; d < FMM_DISTRIBUTIONS; d++) {
        fmm_particles *p = NULL;
        assert_int_equal(fmm_particles_generate(context, (fmm_distribution)d, COUNT, FMM_EQUAL, 3, &p), YOKE_OK);
        fmm_analysis *a = analyse(p, DEEPEST);
        for (int level = COUNTED; level <= DEEPEST; level++)
            if (!fmm_is_thin(a, a->tree, level)) assert_false(d == FMM_LINE || d == FMM_PLANE);
        assert_int_equal(fmm_is_thin(a, a->tree, COUNTED) && fmm_is_thin(a, a->tree, DEEPEST - 1), d == FMM_LINE || d == FMM_PLANE);
        assert_false(fmm_is_thin(a, a->tree, 0));
        assert_false(fmm_is_thin(a, NULL, COUNTED));
        fmm_analysis_destroy(a);
        fmm_particles_destroy(p);
    }
    for (int cloud = 0; cloud < CLOUDS; cloud++) {
        fmm_particles *p = cloud_create(context, cloud, 5000);
        fmm_analysis *a = analyse(p, COUNTED);
        const int is_thin = cloud == LINE || cloud == PLANE;
        assert_int_equal(fmm_is_thin(a, a->tree, COUNTED), is_thin);
        fmm_analysis_destroy(a);
        fmm_particles_destroy(p);
    }
}

/* Moves the particles, uniform in the unit cube, to a sphere or to three lines that cross. */
static void place(fmm_particles *p, int lines)
{
    for (int64_t i = 0; i < p->count; i++) {
        const double turn = 6.283185307179586 * p->x[i], z = 2 * p->y[i] - 1, flat = sqrt(1 - z * z);
        const double on_line[3] = {z + 0.3 * (p->z[i] < 0.3), 0.4 * z, p->z[i] < 0.6 ? 0.7 * z : -0.7 * z};
        p->x[i] = lines ? on_line[0] : flat * cos(turn);
        p->y[i] = lines ? on_line[1] : flat * sin(turn);
        p->z[i] = lines ? on_line[2] : z;
    }
}

/* Numbers of cells are exact; numbers of pairs are extrapolated from the depth COUNTED. */
static void deeper_trees_are_estimated(void **state)
{
    (void)state;
    for (int lines = 0; lines < 2; lines++) {
        fmm_particles *p = cloud_create(context, UNIFORM, COUNT);
        place(p, lines);
        fmm_analysis *a = analyse(p, COUNTED), *counted = analyse(p, DEEPEST), estimated = *a;
        while (estimated.depth < DEEPEST) assert_true(fmm_thin_deepen(&estimated));
        for (int d = 0; d <= DEEPEST; d++) {
            const fmm_cell_counts *e = &estimated.cells[d], *c = &counted->cells[d];
            assert_int_equal(e->leaves, c->leaves);
            assert_int_equal(e->cells, c->cells);
            assert_int_equal(e->beside, c->beside);
            assert_int_equal(estimated.counts[d].parents, counted->counts[d].parents);
            assert_near_part((double)estimated.counts[d].near, (double)counted->counts[d].near, 0.25);
            assert_near_part((double)estimated.counts[d].far, (double)counted->counts[d].far, 0.3);
            assert_near_part(pairs_in(e), pairs_in(c), 0.25);
        }
        assert_true(fmm_is_thin(&estimated, a->tree, DEEPEST));
        fmm_analysis_destroy(a);
        fmm_analysis_destroy(counted);
        fmm_particles_destroy(p);
    }
}

/* Two far particles have as many cells as before on each level; particles in a volume have eight times as many. */
static void others_are_not_estimated(void **state)
{
    (void)state;
    static const enum cloud clouds[] = {UNIFORM, FAR_PARTICLE, ONE_PLACE};
    for (int cloud = 0; cloud < 3; cloud++) {
        fmm_particles *p = cloud_create(context, clouds[cloud], 5000);
        fmm_analysis *a = analyse(p, 2), estimated = *a;
        assert_false(fmm_thin_deepen(&estimated));
        assert_int_equal(estimated.depth, 2);
        fmm_analysis_destroy(a);
        fmm_particles_destroy(p);
    }
    fmm_particles *p = cloud_create(context, PLANE, 5000);
    fmm_analysis *a = analyse(p, 2);
    fmm_analysis_drop_tree(a);
    assert_false(fmm_thin_deepen(a));
    fmm_analysis_destroy(a);
    fmm_particles_destroy(p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(surfaces_and_curves_are_told_from_others),
    cmocka_unit_test(deeper_trees_are_estimated),
    cmocka_unit_test(others_are_not_estimated),
};

UNIT_MAIN(tests, context_start, context_end)
