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

/* How many of the particles lie within `radius` of a place. */
static int64_t within(const fmm_particles *p, const double at[3], double radius)
{
    int64_t count = 0;
    for (int64_t i = 0; i < p->count; i++) count += hypot(hypot(p->x[i] - at[0], p->y[i] - at[1]), p->z[i] - at[2]) <= radius;
    return count;
}

/* As often as `probability` says, within five standard errors. */
static void assert_often(int64_t found, int64_t of, double probability)
{
    assert_true(fabs((double)found - probability * (double)of) <= 5 * sqrt(probability * (1 - probability) * (double)of));
}

static void uniform_particles_are_as_often_in_each_octant(void **state)
{
    (void)state;
    int64_t in[8] = {0};
    fmm_particles *p = generated(FMM_UNIFORM, 40000, FMM_ALTERNATING, 1);
    for (int64_t i = 0; i < p->count; i++) {
        assert_true(p->x[i] > 0 && p->x[i] < 1 && p->y[i] > 0 && p->y[i] < 1 && p->z[i] > 0 && p->z[i] < 1);
        in[(p->x[i] < 0.5) + 2 * (p->y[i] < 0.5) + 4 * (p->z[i] < 0.5)]++;
    }
    for (int o = 0; o < 8; o++) assert_often(in[o], p->count, 0.125);
    fmm_particles_destroy(p);
}

/* Of a Plummer sphere that ends at 5 radii (26 / 25)^(3/2) (r^2 / (1 + r^2))^(3/2) is within r. */
static void clusters_are_two_plummer_spheres(void **state)
{
    (void)state;
    static const double centre[2][3] = {{0.35, 0.4, 0.45}, {0.8, 0.75, 0.7}}, radius[2] = {0.06, 0.003}, at[] = {0.3, 1, 2, 5};
    fmm_particles *p = generated(FMM_CLUSTERS, 50000, FMM_ALTERNATING, 1);
    for (int k = 0; k < 2; k++) {
        int64_t all = k ? p->count / 5 : p->count - p->count / 5, above = 0;
        for (size_t r = 0; r < sizeof at / sizeof *at; r++)
            assert_often(within(p, centre[k], at[r] * radius[k] * (1 + 1e-12)), all,
                         fmin(pow(26. / 25 * at[r] * at[r] / (1 + at[r] * at[r]), 1.5), 1));
        for (int64_t i = k ? 4 : 0; i < p->count; i += 5) above += p->z[i] > centre[k][2];
        assert_often(above, k ? all : all / 4, 0.5);
    }
    fmm_particles_destroy(p);
}

static void lines_and_planes_are_oblique_and_evenly_filled(void **state)
{
    (void)state;
    int64_t halves[3] = {0};
    fmm_particles *line = generated(FMM_LINE, 10000, FMM_ALTERNATING, 1), *plane = generated(FMM_PLANE, 10000, FMM_ALTERNATING, 1);
    for (int64_t i = 0; i < line->count; i++) {
        double t = (line->x[i] - 0.05) / 0.9;
        assert_true(fabs(line->y[i] - (0.1 + 0.7 * t)) < 1e-15 && fabs(line->z[i] - (0.15 + 0.75 * t)) < 1e-15);
        halves[0] += t < 0.5;
        /* s and t from x and y, by Cramer's rule */
        double x = plane->x[i] - 0.15, y = plane->y[i] - 0.05, s = (0.7 * x + 0.1 * y) / 0.54;
        t = (0.75 * y - 0.15 * x) / 0.54;
        assert_true(s > 0 && s < 1 && t > 0 && t < 1 && fabs(plane->z[i] - (0.1 + 0.35 * s + 0.4 * t)) < 1e-15);
        halves[1] += s < 0.5;
        halves[2] += t < 0.5;
    }
    for (int k = 0; k < 3; k++) assert_often(halves[k], line->count, 0.5);
    fmm_particles_destroy(line);
    fmm_particles_destroy(plane);
}

/* Each particle is as near to the curve as its thickness allows, and as many are on each arm and in each half of it. */
static void the_spiral_has_two_arms(void **state)
{
    (void)state;
    int64_t arm = 0, outside = 0, up = 0;
    double most = 0;
    fmm_particles *p = generated(FMM_SPIRAL, 4000, FMM_ALTERNATING, 1);
    for (int64_t i = 0; i < p->count; i++) {
        double least = INFINITY, nearest = 0;
        for (int k = -2000; k <= 2000; k++) {
            double s = fabs(k / 2000.), r = 0.4 * k / 2000.,
                   away = hypot(p->x[i] - 0.5 - r * cos(4 * acos(-1) * s), p->y[i] - 0.5 - r * sin(4 * acos(-1) * s));
            if (away < least) least = away, nearest = k / 2000.;
        }
        most = fmax(most, least);
        assert_true(least < 0.0641 && fabs(p->z[i] - 0.5) < 0.015);
        arm += nearest < 0;
        outside += fabs(nearest) > 0.5;
        up += p->z[i] > 0.5;
    }
    assert_true(most > 0.025);
    assert_often(arm, p->count, 0.5);
    assert_often(outside, p->count, 0.5);
    assert_often(up, p->count, 0.5);
    fmm_particles_destroy(p);
}

static void one_particle_lies_far_from_all_others(void **state)
{
    (void)state;
    fmm_particles *p = generated(FMM_OUTLIER, 500, FMM_EQUAL, 1);
    for (int64_t i = 0; i < 499; i++) {
        const double at[3] = {(p->x[i] - 0.1) * 4096, (p->y[i] - 0.2) * 4096, (p->z[i] - 0.3) * 4096};
        for (int c = 0; c < 3; c++) assert_true(at[c] > 0 && at[c] < 1);
    }
    assert_true(p->x[499] == 0.9 && p->y[499] == 0.8 && p->z[499] == 0.7);
    fmm_particles_destroy(p);
    p = generated(FMM_OUTLIER, 1, FMM_EQUAL, 1);
    assert_true(p->x[0] == 0.9);
    fmm_particles_destroy(p);
}

/* The last but one of 1000 with seed 3, by a program in another language that follows docs/reference/particles.md. */
static void particles_are_the_same_to_the_last_bit_everywhere(void **state)
{
    (void)state;
    static const struct {
        fmm_distribution distribution;
        double at[3];
    } expected[] = {
        {FMM_UNIFORM, {0x1.acb4d58683d0bp-2, 0x1.3795c4d11c7b6p-3, 0x1.3ee7514181d84p-1}},
        {FMM_CLUSTERS, {0x1.32515edc7f30bp-2, 0x1.770d7920c4431p-2, 0x1.d33504b1e0c18p-2}},
        {FMM_LINE, {0x1.d26bca65ccb52p-1, 0x1.8a0f920ae92c1p-1, 0x1.bc26a021a20e6p-1}},
        {FMM_PLANE, {0x1.a6bee9fec0a5bp-3, 0x1.c99ea0372f7f7p-2, 0x1.7652c10bbd84ap-2}},
        {FMM_OUTLIER, {0x1.9a04c6cefb3a9p-4, 0x1.99ad12f5e6ab6p-3, 0x1.335b101d5b637p-2}},
    };
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        fmm_particles *p = generated(expected[k].distribution, 1000, FMM_ALTERNATING, 3);
        assert_true(p->x[998] == expected[k].at[0] && p->y[998] == expected[k].at[1] && p->z[998] == expected[k].at[2]);
        assert_true(p->charge[998] == 1 && p->charge[999] == -1);
        fmm_particles_destroy(p);
    }
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
    cmocka_unit_test(uniform_particles_are_as_often_in_each_octant),
    cmocka_unit_test(clusters_are_two_plummer_spheres),
    cmocka_unit_test(lines_and_planes_are_oblique_and_evenly_filled),
    cmocka_unit_test(the_spiral_has_two_arms),
    cmocka_unit_test(one_particle_lies_far_from_all_others),
    cmocka_unit_test(particles_are_the_same_to_the_last_bit_everywhere),
    cmocka_unit_test(a_seed_gives_the_same_particles_and_another_one_others),
};

UNIT_MAIN(tests, context_start, context_end)
