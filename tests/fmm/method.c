#include "method/method.h"

#include <math.h>
#include <omp.h>

#include "clouds.h"
#include "context.h"
#include "error_theory.h"
#include "near/direct.h"
#include "near/sample.h"
#include "particles/generate.h"
#include "particles/random.h"

static fmm_particles *generated(fmm_distribution distribution, int64_t count, fmm_charges charges)
{
    fmm_particles *particles = NULL;
    assert_int_equal(fmm_particles_generate(context, distribution, count, charges, 1, &particles), YOKE_OK);
    return particles;
}

static fmm_field *field_for(const fmm_particles *particles, int gradient)
{
    fmm_field *field = NULL;
    assert_int_equal(fmm_field_create(context, particles->count, gradient, &field), YOKE_OK);
    return field;
}

static fmm_method *method_of(const fmm_particles *particles, int depth, int order, int gradient)
{
    int orders[FMM_MAX_DEPTH + 1];
    fmm_method *method = NULL;
    for (int l = 0; l <= FMM_MAX_DEPTH; l++) orders[l] = order;
    const fmm_method_options options = {.depth = depth, .order = orders, .gradient = gradient};
    assert_int_equal(fmm_method_create(particles, &options, &method), YOKE_OK);
    return method;
}

static fmm_field *result(const fmm_particles *particles, int depth, int order, int gradient)
{
    fmm_field *field = field_for(particles, gradient);
    fmm_method *method = method_of(particles, depth, order, gradient);
    assert_int_equal(fmm_method_run(method, particles->charge, field, NULL), YOKE_OK);
    fmm_method_destroy(method);
    return field;
}

static fmm_field *direct(const fmm_particles *particles)
{
    fmm_field *field = field_for(particles, 1);
    assert_int_equal(fmm_direct(particles, NULL, field), YOKE_OK);
    return field;
}

/* Relative error in the 2-norm: of potentials, and of forces where both fields have gradients. */
typedef struct errors {
    double potential, force;
} errors;

static long double square(long double value) { return value * value; }

static errors compare(const fmm_particles *p, const fmm_field *is, const fmm_field *should)
{
    long double error[2] = {0}, size[2] = {0};
    for (int64_t i = 0; i < is->count; i++) {
        error[0] += square((long double)is->potential[i] - should->potential[i]);
        size[0] += square(should->potential[i]);
        const double *const a[3] = {is->gx, is->gy, is->gz}, *const b[3] = {should->gx, should->gy, should->gz};
        for (int c = 0; c < 3 && a[c]; c++) {
            error[1] += square((long double)p->charge[i] * ((long double)a[c][i] - b[c][i]));
            size[1] += square((long double)p->charge[i] * b[c][i]);
        }
    }
    errors e = {(double)sqrtl(error[0]), (double)sqrtl(error[1])};
    if (size[0] > 0) e.potential = (double)sqrtl(error[0] / size[0]);
    if (size[1] > 0) e.force = (double)sqrtl(error[1] / size[1]);
    return e;
}

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

static void levels_may_have_orders_of_their_own(void **state)
{
    (void)state;
    fmm_particles *p = generated(FMM_GRID, 512, FMM_RANDOM);
    fmm_field *exact = direct(p), *field = field_for(p, 1);
    double last = 1;
    for (int kind = 0; kind < 4; kind++) { /* the lowest and the highest everywhere, and levels in between rising and falling */
        const int orders[][4] = {{0, 0, 3, 3}, {0, 0, 20, 3}, {0, 0, 12, 20}, {0, 0, 20, 20}};
        fmm_method *method = NULL;
        const fmm_method_options options = {.depth = 3, .order = orders[kind], .gradient = 1};
        assert_int_equal(fmm_method_create(p, &options, &method), YOKE_OK);
        assert_int_equal(fmm_method_run(method, p->charge, field, NULL), YOKE_OK);
        double e = compare(p, field, exact).potential;
        assert_true(e < 0.9 * last);
        last = e;
        fmm_method_destroy(method);
    }
    assert_true(last < 1e-6);
    fmm_field_destroy(exact);
    fmm_field_destroy(field);
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

static void samples_have_the_error_of_all(void **state)
{
    (void)state;
    fmm_particles *p = generated(FMM_GRID, 4096, FMM_RANDOM);
    fmm_field *exact = direct(p), *field = result(p, 3, 5, 1);
    errors e = compare(p, field, exact);
    fmm_sample sample;
    assert_int_equal(fmm_sample_error(p, field, p->count + 1, 1, &sample), YOKE_OK);
    assert_int_equal(sample.count, p->count);
    assert_true(fabs(sample.potential - e.potential) < 1e-12 && fabs(sample.force - e.force) < 1e-12);
    assert_int_equal(fmm_sample_error(p, field, 1000, 1, &sample), YOKE_OK);
    assert_true(fabs(sample.potential / e.potential - 1) < 0.2 && fabs(sample.force / e.force - 1) < 0.2);
    assert_int_equal(fmm_sample_error(p, exact, 10, 1, &sample), YOKE_OK);
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
    const int orders[] = {0, 0, 51}, below[] = {0, 0, -1};
    const fmm_method_options wrong[] = {{.depth = 22, .order = orders},
                                        {.depth = -1, .order = orders},
                                        {.depth = 2, .order = orders},
                                        {.depth = 2, .order = below},
                                        {.cells = (int64_t)1 << 40, .order = orders},
                                        {.cells = -3, .order = orders}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(fmm_method_create(p, &wrong[i], &method), YOKE_ERROR_ARGUMENT);
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

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(errors_fall_with_the_order),
    cmocka_unit_test(errors_of_random_signs_are_those_of_theory),
    cmocka_unit_test(shallow_trees_sum_all_pairs),
    cmocka_unit_test(clouds_of_all_kinds_agree_with_direct_sums),
    cmocka_unit_test(trees_between_two_depths_agree_with_direct_sums),
    cmocka_unit_test(clusters_need_deep_trees),
    cmocka_unit_test(errors_in_deep_trees_fall_to_rounding),
    cmocka_unit_test(fields_are_linear_in_the_charges),
    cmocka_unit_test(fields_turn_and_move_with_the_particles),
    cmocka_unit_test(the_sum_of_all_forces_falls_with_the_order),
    cmocka_unit_test(results_have_the_same_bits_for_any_number_of_threads),
    cmocka_unit_test(the_far_field_alone_is_run_again_with_other_orders),
    cmocka_unit_test(levels_may_have_orders_of_their_own),
    cmocka_unit_test(extents_and_charges_may_be_huge_or_tiny),
    cmocka_unit_test(samples_have_the_error_of_all),
    cmocka_unit_test(pairs_are_all_pairs_of_particles),
    cmocka_unit_test(what_cannot_be_is_refused),
};

UNIT_MAIN(tests, context_start, context_end)
