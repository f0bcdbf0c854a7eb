#include "particles/generate.h"

#include <math.h>

#include "context.h"

static fmm_particles *generated(fmm_distribution distribution, int64_t count, fmm_charges charges, uint64_t seed)
{
    fmm_particles *particles = NULL;
    assert_int_equal(fmm_particles_generate(context, distribution, count, charges, seed, &particles), YOKE_OK);
    assert_int_equal(particles->count, count);
    return particles;
}

static double distance(const fmm_particles *p, int64_t i)
{
    return sqrt(pow(p->x[i] - 0.5, 2) + pow(p->y[i] - 0.5, 2) + pow(p->z[i] - 0.5, 2));
}

static void the_grid_has_cell_centres_and_neighbours_of_opposite_charge(void **state)
{
    (void)state;
    fmm_particles *p = generated(FMM_GRID, 262144, FMM_ALTERNATING, 1);
    for (int64_t m = 0; m < p->count; m++) {
        int64_t i = m & 63, j = m >> 6 & 63, k = m >> 12;
        assert_true(p->x[m] == ((double)i + 0.5) / 64 && p->y[m] == ((double)j + 0.5) / 64 && p->z[m] == ((double)k + 0.5) / 64);
        assert_true(p->charge[m] == ((i + j + k) % 2 ? -1 : 1));
    }
    fmm_particles_destroy(p);
    p = generated(FMM_GRID, 10, FMM_EQUAL, 1); /* of a lattice of 27 */
    assert_true(p->x[9] == 0.5 / 3 && p->y[9] == 0.5 / 3 && p->z[9] == 1.5 / 3);
    fmm_particles_destroy(p);
}

static void shells_are_spheres_with_evenly_spread_particles(void **state)
{
    (void)state;
    fmm_particles *p = generated(FMM_SHELLS, 8 * 1000 + 3, FMM_ALTERNATING, 1);
    for (int64_t m = 0, k = 0, i = 0; m < p->count; m++) {
        assert_true(fabs(distance(p, m) - 0.0624 * (double)(k + 1)) < 1e-15);
        assert_true(p->charge[m] == (i % 2 ? -1 : 1));
        if (++i == 1000 + (k < 3)) i = 0, k++;
    }
    fmm_particles_destroy(p);
}

static void half_of_xenon_lies_in_a_4000th_of_the_volume(void **state)
{
    (void)state;
    fmm_particles *p = generated(FMM_XENON, 113000, FMM_ALTERNATING, 1);
    double radius = cbrt(0.00025 * 3 / (4 * acos(-1)));
    int64_t inside = 0;
    for (int64_t i = 0; i < p->count; i++) {
        inside += distance(p, i) < radius;
        assert_true(p->x[i] >= 0 && p->x[i] <= 1 && p->y[i] >= 0 && p->y[i] <= 1 && p->z[i] >= 0 && p->z[i] <= 1);
    }
    assert_int_equal(lround(1e4 * (double)inside / 113000), 4996);
    fmm_particles_destroy(p);
}

static void a_seed_gives_the_same_particles_and_another_one_others(void **state)
{
    (void)state;
    fmm_particles *a = generated(FMM_XENON, 500, FMM_RANDOM, 7), *b = generated(FMM_XENON, 500, FMM_RANDOM, 7),
                  *c = generated(FMM_XENON, 500, FMM_RANDOM, 8);
    double sum = 0;
    assert_memory_equal(a->x, b->x, 500 * sizeof(double));
    assert_memory_equal(a->charge, b->charge, 500 * sizeof(double));
    assert_memory_not_equal(a->x, c->x, 500 * sizeof(double));
    assert_memory_not_equal(a->charge, c->charge, 500 * sizeof(double));
    for (int64_t i = 0; i < 500; i++) {
        assert_true(fabs(a->charge[i]) == 1);
        sum += a->charge[i];
    }
    assert_true(fabs(sum) < 5 * sqrt(500));
    fmm_particles_destroy(a);
    fmm_particles_destroy(b);
    fmm_particles_destroy(c);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_grid_has_cell_centres_and_neighbours_of_opposite_charge),
    cmocka_unit_test(shells_are_spheres_with_evenly_spread_particles),
    cmocka_unit_test(half_of_xenon_lies_in_a_4000th_of_the_volume),
    cmocka_unit_test(a_seed_gives_the_same_particles_and_another_one_others),
};

UNIT_MAIN(tests, context_start, context_end)
