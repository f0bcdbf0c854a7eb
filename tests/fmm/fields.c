/* What fields of the method have in common with those of other charges, places, units, orders and numbers of threads. */
#include <math.h>
#include <omp.h>

#include "method_run.h"
#include "particles/random.h"

/* Charges may change between runs; the field is linear in them. */
static void fields_are_linear_in_the_charges(void **state)
{
    (void)state;
    fmm_particles *p = generated(FMM_SHELLS, 3000, FMM_RANDOM);
    fmm_method *method = method_of(p, 3, 6, 1);
    fmm_field *f[3] = {field_for(p, 1), field_for(p, 1), field_for(p, 1)};
    double *mixed = NULL;
    assert_int_equal(yoke_allocate(context, p->count, sizeof *mixed, &mixed), YOKE_OK);
    uint64_t seed = 3;
    assert_int_equal(fmm_method_run(method, p->charge, f[0], NULL), YOKE_OK);
    for (int64_t i = 0; i < p->count; i++) mixed[i] = fmm_random_uniform(&seed);
    assert_int_equal(fmm_method_run(method, mixed, f[1], NULL), YOKE_OK);
    for (int64_t i = 0; i < p->count; i++) mixed[i] = 3 * p->charge[i] - 1000 * mixed[i];
    assert_int_equal(fmm_method_run(method, mixed, f[2], NULL), YOKE_OK);
    for (int64_t i = 0; i < p->count; i++) {
        f[0]->potential[i] = 3 * f[0]->potential[i] - 1000 * f[1]->potential[i];
        f[0]->gx[i] = 3 * f[0]->gx[i] - 1000 * f[1]->gx[i];
        f[0]->gy[i] = 3 * f[0]->gy[i] - 1000 * f[1]->gy[i];
        f[0]->gz[i] = 3 * f[0]->gz[i] - 1000 * f[1]->gz[i];
    }
    errors e = compare(p, f[2], f[0]);
    assert_true(e.potential < 1e-14 && e.force < 1e-13);
    for (int i = 0; i < 3; i++) fmm_field_destroy(f[i]);
    yoke_release(context, mixed);
    fmm_method_destroy(method);
    fmm_particles_destroy(p);
}

/* x, y, z become y, -z, x and are moved: a symmetry of the tree, so that truncation is the same and only rounding differs. */
static void fields_turn_and_move_with_the_particles(void **state)
{
    (void)state;
    fmm_particles *p = generated(FMM_XENON, 2500, FMM_RANDOM), *other = generated(FMM_XENON, 2500, FMM_RANDOM);
    for (int64_t i = 0; i < p->count; i++) {
        double move = 5;
        p->x[i] = move + p->x[i] - move, p->y[i] = move + p->y[i] - move,
        p->z[i] = move + p->z[i] - move; /* so that moving rounds nothing */
        other->x[i] = p->y[i] + move, other->y[i] = -p->z[i] + move, other->z[i] = p->x[i] - move;
    }
    /* The box begins at the least coordinates, and -z has others: corners at all ends make it the same cube. */
    for (int corner = 0; corner < 8; corner++) {
        p->x[corner] = corner & 1, p->y[corner] = corner >> 1 & 1, p->z[corner] = corner >> 2;
        other->x[corner] = p->y[corner] + 5, other->y[corner] = -p->z[corner] + 5, other->z[corner] = p->x[corner] - 5;
    }
    fmm_field *here = result(p, 6, 5, 1), *there = result(other, 6, 5, 1), *back = field_for(p, 1);
    memcpy(back->potential, there->potential, (size_t)p->count * sizeof(double));
    for (int64_t i = 0; i < p->count; i++) back->gx[i] = there->gz[i], back->gy[i] = there->gx[i], back->gz[i] = -there->gy[i];
    errors e = compare(p, back, here);
    assert_true(e.potential < 1e-13 && e.force < 1e-12);
    fmm_field_destroy(here);
    fmm_field_destroy(there);
    fmm_field_destroy(back);
    fmm_particles_destroy(p);
    fmm_particles_destroy(other);
}

/* Near pairs act on each other with exactly opposite forces; what is left are truncation errors of the far field. */
static void the_sum_of_all_forces_falls_with_the_order(void **state)
{
    (void)state;
    unit_leave_to_release();
    fmm_particles *p = generated(FMM_SHELLS, 4000, FMM_RANDOM);
    static const double limits[][2] = {{4, 1e-2}, {12, 1e-5}, {40, 1e-12}};
    for (int i = 0; i < 3; i++) {
        fmm_field *field = result(p, 3, (int)limits[i][0], 1);
        fmm_total_force force = fmm_field_total_force(p, field);
        for (int c = 0; c < 3; c++) assert_true(fabs(force.sum[c]) < limits[i][1] * force.lengths);
        fmm_field_destroy(field);
    }
    fmm_particles_destroy(p);
}

static void assert_same_bits(const fmm_field *a, const fmm_field *b)
{
    size_t bytes = (size_t)a->count * sizeof(double);
    assert_memory_equal(a->potential, b->potential, bytes);
    if (!a->gx) return;
    assert_memory_equal(a->gx, b->gx, bytes);
    assert_memory_equal(a->gy, b->gy, bytes);
    assert_memory_equal(a->gz, b->gz, bytes);
}

/* Leaves that are met in blocks, and large ones that are cut into slices. */
static void results_have_the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    int before = omp_get_max_threads();
    static const struct {
        fmm_distribution distribution;
        int depth;
    } cases[] = {{FMM_GRID, 4}, {FMM_SHELLS, 2}, {FMM_XENON, 3}, {FMM_XENON, 9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int gradient = 0; gradient < 2; gradient++) {
            fmm_particles *p = generated(cases[i].distribution, 5000, FMM_RANDOM);
            fmm_field *field[3];
            for (int threads = 1; threads <= 3; threads++) {
                omp_set_num_threads(threads);
                field[threads - 1] = result(p, cases[i].depth, 5, gradient);
            }
            assert_same_bits(field[0], field[1]);
            assert_same_bits(field[0], field[2]);
            for (int f = 0; f < 3; f++) fmm_field_destroy(field[f]);
            fmm_particles_destroy(p);
        }
    omp_set_num_threads(before);
}

/* Runs with a low order, then the far field again with others: the bits of runs with these. */
static void the_far_field_alone_is_run_again_with_other_orders(void **state)
{
    (void)state;
    static const int64_t capacities[] = {0, 30};
    fmm_particles *p = generated(FMM_SHELLS, 3000, FMM_RANDOM);
    for (int gradient = 0; gradient < 2; gradient++)
        for (int kind = 0; kind < 2; kind++) {
            const fmm_method_options options = {
                .depth = kind ? FMM_MAX_DEPTH : 3, .capacity = capacities[kind], .direct = 8, .gradient = gradient};
            fmm_method *kept = NULL, *fresh = NULL;
            fmm_field *again = field_for(p, gradient), *right = field_for(p, gradient);
            fmm_method_seconds seconds = {0};
            assert_int_equal(fmm_method_create(p, &options, &kept), YOKE_OK);
            assert_int_equal(fmm_method_create(p, &options, &fresh), YOKE_OK);
            assert_int_equal(fmm_method_set_order(kept, 2), YOKE_OK);
            assert_int_equal(fmm_method_run_far(kept, p->charge, again, NULL), YOKE_ERROR_ARGUMENT); /* there was no run */
            assert_int_equal(fmm_method_run(kept, p->charge, again, NULL), YOKE_OK);
            for (int order = 9; order > 2; order -= 4) {
                assert_int_equal(fmm_method_set_order(kept, order), YOKE_OK);
                assert_int_equal(fmm_method_set_order(fresh, order), YOKE_OK);
                assert_int_equal(fmm_method_run_far(kept, p->charge, again, &seconds), YOKE_OK);
                assert_int_equal(fmm_method_run(fresh, p->charge, right, NULL), YOKE_OK);
                assert_same_bits(again, right);
                assert_true(seconds.between > 0 && fmm_method_count(kept).far == fmm_method_count(fresh).far);
            }
            fmm_expanded expanded;
            assert_int_equal(fmm_method_sort_charges(kept, p->charge, &expanded), YOKE_OK);
            assert_int_equal(fmm_method_run_far(kept, p->charge, again, NULL), YOKE_ERROR_ARGUMENT); /* they may be others */
            fmm_method_destroy(kept);
            fmm_method_destroy(fresh);
            fmm_field_destroy(again);
            fmm_field_destroy(right);
        }
    fmm_particles_destroy(p);
}

static void extents_and_charges_may_be_huge_or_tiny(void **state)
{
    (void)state;
    static const int lengths[] = {-960, -500, 465}, charges[] = {-990, 0, 460};
    fmm_particles *plain = generated(FMM_SHELLS, 1000, FMM_RANDOM);
    fmm_field *field = result(plain, 3, 4, 0);
    for (int l = 0; l < 3; l++)
        for (int c = 0; c < 3; c++) {
            int units = charges[c] - lengths[l];
            if (abs(units) > 1000) continue;
            fmm_particles *p = generated(FMM_SHELLS, 1000, FMM_RANDOM);
            for (int64_t i = 0; i < p->count; i++) {
                p->x[i] = ldexp(p->x[i], lengths[l]), p->y[i] = ldexp(p->y[i], lengths[l]), p->z[i] = ldexp(p->z[i], lengths[l]);
                p->charge[i] = ldexp(p->charge[i], charges[c]);
            }
            fmm_field *scaled = result(p, 3, 4, 0);
            for (int64_t i = 0; i < p->count; i++) assert_true(scaled->potential[i] == ldexp(field->potential[i], units));
            fmm_field_destroy(scaled);
            fmm_particles_destroy(p);
        }
    fmm_field_destroy(field);
    fmm_particles_destroy(plain);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(fields_are_linear_in_the_charges),
    cmocka_unit_test(fields_turn_and_move_with_the_particles),
    cmocka_unit_test(the_sum_of_all_forces_falls_with_the_order),
    cmocka_unit_test(results_have_the_same_bits_for_any_number_of_threads),
    cmocka_unit_test(the_far_field_alone_is_run_again_with_other_orders),
    cmocka_unit_test(extents_and_charges_may_be_huge_or_tiny),
};

UNIT_MAIN(tests, context_start, context_end)
