#include "near/direct.h"

#include <math.h>
#include <omp.h>

#include "context.h"
#include "near/direct_block.h"
#include "near/kernels/pairs.h"
#include "particles/coincident.h"
#include "particles/generate.h"

/* Potential, gradient, and the sums of their terms' sizes, to which rounding errors are in proportion: plain loops in long double. */
typedef struct exact {
    long double potential, gradient[3], size, slope;
} exact;

static exact sum(const fmm_particles *p, long double x, long double y, long double z)
{
    exact e = {0};
    for (int64_t j = 0; j < p->count; j++) {
        long double d[3] = {x - p->x[j], y - p->y[j], z - p->z[j]}, r = sqrtl(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        if (r == 0) continue;
        e.potential += p->charge[j] / r;
        e.size += fabsl(p->charge[j]) / r;
        e.slope += fabsl(p->charge[j]) / (r * r);
        for (int c = 0; c < 3; c++) e.gradient[c] -= p->charge[j] * d[c] / (r * r * r);
    }
    return e;
}

/* Largest error of the field in units of the terms' sizes. */
static double largest_error(const fmm_particles *p, const fmm_field *f)
{
    double largest = 0;
    for (int64_t i = 0; i < p->count; i++) {
        exact e = sum(p, p->x[i], p->y[i], p->z[i]);
        if (e.size == 0) {
            assert_true(f->potential[i] == 0);
            continue;
        }
        largest = fmax(largest, fabs((double)((f->potential[i] - e.potential) / e.size)));
        if (!f->gx) continue;
        const double g[3] = {f->gx[i], f->gy[i], f->gz[i]};
        for (int c = 0; c < 3; c++) largest = fmax(largest, fabs((double)((g[c] - e.gradient[c]) / e.slope)));
    }
    return largest;
}

static fmm_particles *generated(fmm_distribution distribution, int64_t count, fmm_charges charges)
{
    fmm_particles *particles = NULL;
    assert_int_equal(fmm_particles_generate(context, distribution, count, charges, 1, &particles), YOKE_OK);
    return particles;
}

static fmm_field *field_of(const fmm_particles *particles, int gradient)
{
    fmm_field *field = NULL;
    assert_int_equal(fmm_field_create(context, particles->count, gradient, &field), YOKE_OK);
    return field;
}

static void fields_equal_plain_sums_in_long_double(void **state)
{
    (void)state;
    for (int d = FMM_GRID; d <= FMM_XENON; d++)
        for (int c = FMM_ALTERNATING; c <= FMM_EQUAL; c++) {
            fmm_particles *particles = generated(d, 1000 + 37 * c, c);
            fmm_field *with = field_of(particles, 1), *without = field_of(particles, 0);
            assert_int_equal(fmm_direct(particles, NULL, with), YOKE_OK);
            assert_int_equal(fmm_direct(particles, NULL, without), YOKE_OK);
            assert_true(largest_error(particles, with) < 4e-15);
            assert_true(largest_error(particles, without) < 4e-15);
            fmm_field_destroy(with);
            fmm_field_destroy(without);
            fmm_particles_destroy(particles);
        }
}

/* Every instruction set that this processor has, for numbers of targets and sources about those of vectors, groups and tiles. */
static void kernels_of_all_instruction_sets_agree_with_plain_sums(void **state)
{
    (void)state;
    const fmm_pairs_kernel *list[FMM_MAX_PAIRS_KERNELS];
    int kernels = fmm_pairs_kernels(list);
    static const int64_t targets_of[] = {1, 2, 3, 7, 8, 15, 16, 17, 33}, sources_of[] = {0, 1, 2, 255, 256, 257, 520};
    fmm_particles *p = generated(FMM_XENON, 1100, FMM_RANDOM);
    for (int k = 0; k < kernels; k++)
        for (size_t t = 0; t < sizeof targets_of / sizeof *targets_of; t++)
            for (size_t s = 0; s < sizeof sources_of / sizeof *sources_of; s++) {
                double values[4][40];
                for (int c = 0; c < 4; c++)
                    for (int i = 0; i < 40; i++) values[c][i] = 1;
                fmm_particles some = *p;
                some.count = sources_of[s];
                const fmm_sources sources = {some.count, p->x, p->y, p->z, p->charge};
                const fmm_targets targets = {targets_of[t], p->x + 5, p->y + 5, p->z + 5, values[0], values[1], values[2], values[3]};
                list[k]->add(&sources, &targets, 0);
                for (int64_t i = 0; i < targets.count; i++) {
                    exact e = sum(&some, p->x[5 + i], p->y[5 + i], p->z[5 + i]);
                    assert_true(fabsl(values[0][i] - 1 - e.potential) <= 2e-15L * (1 + e.size));
                    for (int c = 0; c < 3; c++) assert_true(fabsl(values[1 + c][i] - 1 - e.gradient[c]) <= 2e-15L * (1 + e.slope));
                }
                for (int c = 0; c < 4; c++)
                    for (int64_t i = targets.count; i < 40; i++) assert_true(values[c][i] == 1); /* nothing is written behind them */
            }
    fmm_particles_destroy(p);
}

enum { PACKED = 264, OTHERS = 40 };

/* Packed particles with sums, and others. */
typedef struct packs {
    _Alignas(64) double at[4][PACKED], sum[4][PACKED], other[4][OTHERS];
} packs;

static packs packed_particles(const fmm_particles *p, int64_t count)
{
    packs k;
    const double *const values[4] = {p->x, p->y, p->z, p->charge};
    for (int c = 0; c < 4; c++) {
        for (int i = 0; i < PACKED; i++) k.at[c][i] = i < count ? values[c][i] : 0;
        for (int i = 0; i < PACKED; i++) k.sum[c][i] = 1;
        for (int i = 0; i < OTHERS; i++) k.other[c][i] = 1;
    }
    return k;
}

/* Sums that were 1 before, at particles first ... first + count - 1, of what those of `of` do; gradient 0: those are 1 still. */
static void assert_sums(const fmm_particles *of, const fmm_particles *p, int64_t first, int64_t count, int gradient,
                        const double *potential, const double *const slopes[3])
{
    for (int64_t i = 0; i < count; i++) {
        exact e = sum(of, p->x[first + i], p->y[first + i], p->z[first + i]);
        assert_true(fabsl(potential[i] - 1 - e.potential) <= 2e-15L * (1 + e.size));
        for (int c = 0; c < 3; c++)
            assert_true(gradient ? fabsl(slopes[c][i] - 1 - e.gradient[c]) <= 2e-15L * (1 + e.slope) : slopes[c][i] == 1);
    }
}

static void packed_particles_act_on_others_and_others_on_them(void **state)
{
    (void)state;
    const fmm_pairs_kernel *list[FMM_MAX_PAIRS_KERNELS];
    int kernels = fmm_pairs_kernels(list);
    static const int64_t others_of[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 13, 39}, packed_of[] = {0, 1, 7, 8, 9, 257};
    fmm_particles *p = generated(FMM_XENON, 400, FMM_RANDOM);
    for (int i = 0; i < kernels * 11 * 6 * 3; i++) {
        const fmm_pairs_kernel *kernel = list[i / 198];
        int64_t others = others_of[i / 18 % 11], count = packed_of[i / 3 % 6];
        int mutual = i % 3 > 0, gradient = i % 3 < 2;
        int64_t first = mutual ? 300 : 5; /* the packed ones may be among the others if nothing comes back */
        packs k = packed_particles(p, count);
        const fmm_sources sources = {count, k.at[0], k.at[1], k.at[2], k.at[3]};
        const fmm_targets targets = {others, p->x + first, p->y + first, p->z + first, k.other[0], k.other[1], k.other[2], k.other[3]};
        const fmm_bodies packed = {count,
                                   k.at[0],
                                   k.at[1],
                                   k.at[2],
                                   k.at[3],
                                   k.sum[0],
                                   gradient ? k.sum[1] : NULL,
                                   gradient ? k.sum[2] : NULL,
                                   gradient ? k.sum[3] : NULL};
        const fmm_bodies rest = {others,
                                 p->x + first,
                                 p->y + first,
                                 p->z + first,
                                 p->charge + first,
                                 k.other[0],
                                 gradient ? k.other[1] : NULL,
                                 gradient ? k.other[2] : NULL,
                                 gradient ? k.other[3] : NULL};
        if (mutual)
            kernel->add_mutual(&packed, &rest, 0);
        else
            kernel->add_packed(&sources, &targets, 0);
        fmm_particles of = *p,
                      back = {.count = mutual ? others : 0, .x = p->x + 300, .y = p->y + 300, .z = p->z + 300, .charge = p->charge + 300};
        of.count = count;
        assert_sums(&of, p, first, others, gradient, k.other[0], (const double *const[3]){k.other[1], k.other[2], k.other[3]});
        assert_sums(&back, p, 0, count, gradient, k.sum[0], (const double *const[3]){k.sum[1], k.sum[2], k.sum[3]});
        for (int c = 0; c < 4; c++) assert_true(k.other[c][others] == 1); /* nothing is written behind them */
    }
    fmm_particles_destroy(p);
}

/* One source and one target at distances over the whole range: each reciprocal root has full precision. */
static void reciprocal_roots_are_right_to_the_last_places_at_all_distances(void **state)
{
    (void)state;
    const fmm_pairs_kernel *list[FMM_MAX_PAIRS_KERNELS];
    int kernels = fmm_pairs_kernels(list);
    const double zero = 0, charge = 1;
    const fmm_sources source = {1, &zero, &zero, &zero, &charge};
    for (int k = 0; k < kernels; k++)
        for (double x = 0x1p-500; x < 0x1p500; x *= 1.00731) {
            double values[4] = {0};
            const fmm_targets target = {1, &x, &zero, &zero, values, NULL, NULL, NULL};
            list[k]->add(&source, &target, 0);
            assert_true(fabs(values[0] * x - 1) < 4e-16);
        }
}

static void the_same_bits_come_out_for_any_number_of_threads(void **state)
{
    (void)state;
    fmm_particles *particles = generated(FMM_SHELLS, 1500, FMM_RANDOM);
    fmm_field *one = field_of(particles, 1), *three = field_of(particles, 1);
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    assert_int_equal(fmm_direct(particles, NULL, one), YOKE_OK);
    omp_set_num_threads(3);
    assert_int_equal(fmm_direct(particles, NULL, three), YOKE_OK);
    omp_set_num_threads(threads);
    assert_memory_equal(one->potential, three->potential, 1500 * sizeof(double));
    assert_memory_equal(one->gx, three->gx, 1500 * sizeof(double));
    assert_memory_equal(one->gz, three->gz, 1500 * sizeof(double));
    fmm_field_destroy(one);
    fmm_field_destroy(three);
    fmm_particles_destroy(particles);
}

/* Rounding errors of 40000 equal charges' terms, at every 1000th particle: no more than those of short sums. */
static void long_sums_are_as_exact_as_short_ones(void **state)
{
    (void)state;
    fmm_particles *particles = generated(FMM_GRID, 40000, FMM_EQUAL);
    for (int64_t i = 0; i < 40000; i += 1000) {
        fmm_block block;
        exact e = sum(particles, particles->x[i], particles->y[i], particles->z[i]);
        fmm_direct_block(particles, i, 1, 1, &block);
        assert_true(fabsl(block.potential[0] - e.potential) <= 4e-15L * e.size);
        assert_true(fabsl(block.gz[0] - e.gradient[2]) <= 4e-15L * e.slope);
    }
    fmm_particles_destroy(particles);
}

/* The first `places` particles of a set; the caller destroys them. */
static fmm_particles *first_of(const fmm_particles *particles, int64_t places)
{
    fmm_particles *at = NULL;
    assert_int_equal(fmm_particles_create(context, places, &at), YOKE_OK);
    for (int64_t k = 0; k < places; k++) at->x[k] = particles->x[k], at->y[k] = particles->y[k], at->z[k] = particles->z[k];
    return at;
}

static fmm_field *at_some(const fmm_particles *particles, const fmm_particles *at, int gradient, int threads)
{
    fmm_field *field = field_of(at, gradient);
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    assert_int_equal(fmm_direct_at(particles, at, NULL, field), YOKE_OK);
    omp_set_num_threads(before);
    return field;
}

/* No particles, one segment, two segments, and longer ones; also more positions than are processed together. */
static void sums_at_few_positions_are_plain_sums(void **state)
{
    (void)state;
    static const int64_t counts[][2] = {{0, 0}, {1, 1}, {5, 3}, {2000, 1030}, {1033, 7}, {270001, 2}};
    for (int i = 0; i < 12; i++) {
        const int64_t places = counts[i / 2][1];
        fmm_particles *particles = generated(FMM_XENON, counts[i / 2][0], FMM_RANDOM), *at = first_of(particles, places);
        fmm_field *one = at_some(particles, at, i % 2, 1), *three = at_some(particles, at, i % 2, 3);
        for (int64_t k = 0; k < places; k++) {
            const exact e = sum(particles, at->x[k], at->y[k], at->z[k]);
            assert_true(fabsl(one->potential[k] - e.potential) <= 2e-15L * e.size);
            if (i % 2)
                assert_true(fabsl(one->gx[k] - e.gradient[0]) <= 2e-15L * e.slope && fabsl(one->gy[k] - e.gradient[1]) <= 2e-15L * e.slope);
            if (i % 2) assert_true(fabsl(one->gz[k] - e.gradient[2]) <= 2e-15L * e.slope);
        }
        assert_memory_equal(one->potential, three->potential, (size_t)places * sizeof(double));
        if (i % 2) assert_memory_equal(one->gz, three->gz, (size_t)places * sizeof(double));
        fmm_field_destroy(one);
        fmm_field_destroy(three);
        fmm_particles_destroy(at);
        fmm_particles_destroy(particles);
    }
}

static void forces_sum_to_zero(void **state)
{
    (void)state;
    fmm_particles *particles = generated(FMM_XENON, 2000, FMM_RANDOM);
    fmm_field *field = field_of(particles, 1);
    assert_int_equal(fmm_direct(particles, NULL, field), YOKE_OK);
    fmm_total_force total = fmm_field_total_force(particles, field);
    assert_true(total.lengths > 0);
    for (int c = 0; c < 3; c++) assert_true(fabs(total.sum[c]) < 1e-14 * total.lengths);
    fmm_field_destroy(field);
    fmm_particles_destroy(particles);
}

static void none_and_one_particle_have_no_field(void **state)
{
    (void)state;
    for (int64_t count = 0; count < 2; count++) {
        fmm_particles *particles = generated(FMM_GRID, count, FMM_EQUAL);
        fmm_field *field = field_of(particles, 1);
        assert_int_equal(fmm_direct(particles, NULL, field), YOKE_OK);
        for (int64_t i = 0; i < count; i++) assert_true(field->potential[i] == 0 && field->gx[i] == 0 && field->gz[i] == 0);
        assert_true(fmm_field_energy(particles, field) == 0);
        fmm_field_destroy(field);
        fmm_particles_destroy(particles);
    }
}

/* Two particles with charges q at distance r. */
static fmm_particles *pair(double q, double r)
{
    fmm_particles *particles = NULL;
    assert_int_equal(fmm_particles_create(context, 2, &particles), YOKE_OK);
    particles->charge[0] = particles->charge[1] = q;
    particles->x[1] = r;
    return particles;
}

static void charges_and_distances_of_any_size_are_summed_without_overflow(void **state)
{
    (void)state;
    static const double cases[][2] = {{1, 1e-200},     {1, 1e200},       {1e300, 1e200},  {1e300, 1},
                                      {1e-300, 1e-30}, {1e-300, 1e-300}, {1e-160, 1e-310}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double q = cases[i][0], r = cases[i][1];
        fmm_particles *particles = pair(q, r);
        fmm_field *field = field_of(particles, 0);
        assert_int_equal(fmm_direct(particles, NULL, field), YOKE_OK);
        assert_true(fabs(field->potential[0] / (q / r) - 1) < 1e-15);
        fmm_field_destroy(field);
        fmm_particles_destroy(particles);
    }
}

static void a_result_beyond_the_largest_double_is_an_error(void **state)
{
    (void)state;
    fmm_particles *particles = pair(1e300, 1e-100);
    fmm_field *field = field_of(particles, 0);
    assert_int_equal(fmm_direct(particles, NULL, field), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "particle 1"));
    fmm_field_destroy(field);
    fmm_particles_destroy(particles);
    particles = pair(1e200, 1);
    field = field_of(particles, 1);
    assert_int_equal(fmm_direct(particles, NULL, field), YOKE_ERROR_INPUT); /* the force is 1e400 */
    fmm_field_destroy(field);
    fmm_particles_destroy(particles);
}

/* Neighbouring numbers near the origin, beside a particle at 1: powers of their distance underflow or overflow below some size, and nothing
 * may be lost then. */
static void pairs_that_are_too_near_to_be_summed_are_found_as_coincident(void **state)
{
    (void)state;
    int found_some = 0, summed_some = 0;
    for (int e = -480; e < -270; e++) {
        fmm_particles *particles = NULL;
        fmm_coincidence found;
        assert_int_equal(fmm_particles_create(context, 3, &particles), YOKE_OK);
        for (int i = 0; i < 3; i++) particles->charge[i] = 1;
        particles->x[0] = 1, particles->x[1] = ldexp(1, e), particles->x[2] = nextafter(particles->x[1], 1);
        assert_int_equal(fmm_coincident(particles, &found), YOKE_OK);
        if (!found.count) {
            fmm_field *field = field_of(particles, 1);
            assert_int_equal(fmm_direct(particles, NULL, field), YOKE_OK);
            assert_true(fabs(field->potential[1] * ldexp(1, e - 52) - 1) < 1e-15);
            assert_true(fabs(field->gx[1] * ldexp(1, 2 * (e - 52)) - 1) < 1e-15);
            fmm_field_destroy(field);
        }
        found_some += found.count == 1;
        summed_some += found.count == 0;
        fmm_particles_destroy(particles);
    }
    assert_true(found_some > 0 && summed_some > 0);
}

/* The energy, of which each particle gives half, would be wrong by half. */
static void a_charge_that_is_lost_beside_another_one_is_an_error(void **state)
{
    (void)state;
    fmm_particles *particles = pair(1e300, 1);
    particles->charge[1] = 1e-300;
    fmm_field *field = field_of(particles, 0);
    assert_int_equal(fmm_direct(particles, NULL, field), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "the charge of particle 2, 1e-300"));
    particles->charge[1] = 1e-6;
    assert_int_equal(fmm_direct(particles, NULL, field), YOKE_OK);
    assert_true(fabs(fmm_field_energy(particles, field) / 1e294 - 1) < 1e-15);
    fmm_field_destroy(field);
    fmm_particles_destroy(particles);
}

static void particles_at_one_place_are_found_and_do_not_act_on_each_other(void **state)
{
    (void)state;
    fmm_particles *particles = generated(FMM_SHELLS, 500, FMM_EQUAL);
    fmm_coincidence found;
    assert_int_equal(fmm_coincident(particles, &found), YOKE_OK);
    assert_int_equal(found.count, 0);
    particles->x[400] = particles->x[17], particles->y[400] = particles->y[17], particles->z[400] = particles->z[17];
    particles->x[450] = -0.0, particles->y[450] = 1, particles->z[450] = 2;
    particles->x[20] = 0.0, particles->y[20] = 1, particles->z[20] = 2;
    assert_int_equal(fmm_coincident(particles, &found), YOKE_OK);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.first, 17);
    assert_int_equal(found.second, 400);
    fmm_field *field = field_of(particles, 1);
    assert_int_equal(fmm_direct(particles, NULL, field), YOKE_OK);
    assert_true(largest_error(particles, field) < 4e-15);
    particles->charge[17] = particles->charge[450] = 0; /* without a charge a particle only feels the others */
    assert_int_equal(fmm_coincident(particles, &found), YOKE_OK);
    assert_int_equal(found.count, 0);
    fmm_field_destroy(field);
    fmm_particles_destroy(particles);
}

static yoke_status stop(int64_t done, int64_t count, void *user)
{
    assert_true(done > 0 && done <= count);
    ++*(int *)user;
    return YOKE_ERROR_INTERRUPTED;
}

static void progress_can_end_the_work(void **state)
{
    (void)state;
    int calls = 0;
    const fmm_direct_options options = {.progress = stop, .user = &calls};
    fmm_particles *particles = generated(FMM_GRID, 100, FMM_EQUAL);
    fmm_field *field = field_of(particles, 0);
    assert_int_equal(fmm_direct(particles, &options, field), YOKE_ERROR_INTERRUPTED);
    assert_int_equal(calls, 1);
    fmm_field_destroy(field);
    fmm_particles_destroy(particles);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(fields_equal_plain_sums_in_long_double),
    cmocka_unit_test(kernels_of_all_instruction_sets_agree_with_plain_sums),
    cmocka_unit_test(packed_particles_act_on_others_and_others_on_them),
    cmocka_unit_test(reciprocal_roots_are_right_to_the_last_places_at_all_distances),
    cmocka_unit_test(the_same_bits_come_out_for_any_number_of_threads),
    cmocka_unit_test(long_sums_are_as_exact_as_short_ones),
    cmocka_unit_test(sums_at_few_positions_are_plain_sums),
    cmocka_unit_test(forces_sum_to_zero),
    cmocka_unit_test(none_and_one_particle_have_no_field),
    cmocka_unit_test(charges_and_distances_of_any_size_are_summed_without_overflow),
    cmocka_unit_test(a_result_beyond_the_largest_double_is_an_error),
    cmocka_unit_test(pairs_that_are_too_near_to_be_summed_are_found_as_coincident),
    cmocka_unit_test(a_charge_that_is_lost_beside_another_one_is_an_error),
    cmocka_unit_test(particles_at_one_place_are_found_and_do_not_act_on_each_other),
    cmocka_unit_test(progress_can_end_the_work),
};

UNIT_MAIN(tests, context_start, context_end)
