/*
 * What must not change when particles are turned, moved, scaled or given in another order: by direct sums, on a uniform and on an adaptive tree, with and
 * without softening.
 */
#include <math.h>
#include <omp.h>

#include "context.h"
#include "method/method.h"
#include "near/direct.h"
#include "particles/generate.h"
#include "particles/random.h"

typedef struct way {
    int depth; /* below 0: direct sums */
    int64_t capacity;
    double softening;
} way;

static const way ways[] = {{-1, 0, 0}, {-1, 0, 0.05}, {4, 0, 0}, {3, 0, 0.05}, {FMM_MAX_DEPTH, 12, 0}, {FMM_MAX_DEPTH, 12, 0.05}};
enum { WAYS = sizeof ways / sizeof *ways, COUNT = 600, ORDER = 8 };

/* Of three kinds in turn, with charges of different sizes. */
static fmm_particles *particles_of(int kind)
{
    static const fmm_distribution of[] = {FMM_UNIFORM, FMM_CLUSTERS, FMM_SPIRAL};
    uint64_t seed = 11;
    fmm_particles *p = NULL;
    assert_int_equal(fmm_particles_generate(context, of[kind % 3], COUNT, FMM_RANDOM, 5, &p), YOKE_OK);
    for (int64_t i = 0; i < COUNT; i++) p->charge[i] *= 0.5 + fmm_random_uniform(&seed);
    return p;
}

static fmm_particles *copy_of(const fmm_particles *p)
{
    fmm_particles *copy = NULL;
    assert_int_equal(fmm_particles_create(context, p->count, &copy), YOKE_OK);
    const size_t bytes = (size_t)p->count * sizeof(double);
    memcpy(copy->x, p->x, bytes), memcpy(copy->y, p->y, bytes), memcpy(copy->z, p->z, bytes), memcpy(copy->charge, p->charge, bytes);
    return copy;
}

static fmm_field *field_of(fmm_particles *p, way how)
{
    const int order = ORDER;
    fmm_field *field = NULL;
    fmm_method *method = NULL;
    p->softening = how.softening;
    assert_int_equal(fmm_field_create(context, p->count, 1, &field), YOKE_OK);
    const fmm_method_options options = {.depth = how.depth, .capacity = how.capacity, .direct = 10, .order = &order, .gradient = 1};
    if (how.depth < 0) {
        assert_int_equal(fmm_direct(p, NULL, field), YOKE_OK);
        return field;
    }
    assert_int_equal(fmm_method_create(p, &options, &method), YOKE_OK);
    assert_int_equal(fmm_method_run(method, p->charge, field, NULL), YOKE_OK);
    fmm_method_destroy(method);
    return field;
}

/* Relative, in the 2-norm, of potentials and gradients together, each by their own size. */
static double difference(const fmm_field *a, const fmm_field *b)
{
    double error[2] = {0}, size[2] = {0};
    const double *const is[] = {a->potential, a->gx, a->gy, a->gz}, *const should[] = {b->potential, b->gx, b->gy, b->gz};
    for (int c = 0; c < 4; c++)
        for (int64_t i = 0; i < a->count; i++) {
            error[c > 0] += (is[c][i] - should[c][i]) * (is[c][i] - should[c][i]);
            size[c > 0] += should[c][i] * should[c][i];
        }
    return sqrt(fmax(error[0] / size[0], error[1] / size[1]));
}

static void assert_same_bits(const fmm_field *a, const fmm_field *b)
{
    const size_t bytes = (size_t)a->count * sizeof(double);
    assert_memory_equal(a->potential, b->potential, bytes);
    assert_memory_equal(a->gx, b->gx, bytes);
    assert_memory_equal(a->gy, b->gy, bytes);
    assert_memory_equal(a->gz, b->gz, bytes);
}

/* The matrix of a unit quaternion. */
static void turn_by(const double q[4], double turn[3][3])
{
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double of[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                             {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                             {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(turn, of, sizeof of);
}

/* Turned by an angle of no symmetry of a cube, and moved: other trees, so that truncation differs, but not by more than it is. */
static void fields_turn_and_move_with_particles_by_any_angle(void **state)
{
    (void)state;
    static const double q[4] = {0.4, 0.5, 0.1, 0.7615773105863909}, move[3] = {-3.25, 0.125, 17};
    double turn[3][3];
    turn_by(q, turn);
    for (int k = 0; k < WAYS; k++) {
        fmm_particles *p = particles_of(k), *other = copy_of(p);
        for (int64_t i = 0; i < COUNT; i++) {
            const double at[3] = {p->x[i], p->y[i], p->z[i]};
            double *const to[3] = {&other->x[i], &other->y[i], &other->z[i]};
            for (int c = 0; c < 3; c++) *to[c] = turn[c][0] * at[0] + turn[c][1] * at[1] + turn[c][2] * at[2] + move[c];
        }
        fmm_field *here = field_of(p, ways[k]), *there = field_of(other, ways[k]);
        for (int64_t i = 0; i < COUNT; i++) {
            const double g[3] = {there->gx[i], there->gy[i], there->gz[i]};
            double *const back[3] = {&there->gx[i], &there->gy[i], &there->gz[i]};
            for (int c = 0; c < 3; c++) *back[c] = turn[0][c] * g[0] + turn[1][c] * g[1] + turn[2][c] * g[2];
        }
        /* Places are rounded to 2e-15 when they are moved, which is 1e-10 of the smallest distance. */
        assert_true(difference(there, here) < (ways[k].depth < 0 ? 1e-9 : 1e-3));
        fmm_field_destroy(here);
        fmm_field_destroy(there);
        fmm_particles_destroy(other);
        fmm_particles_destroy(p);
    }
}

/* Lengths and charges times powers of two: potentials and gradients are other powers of two times the same bits. */
static void powers_of_two_change_no_bits(void **state)
{
    (void)state;
    static const int powers[][2] = {{-7, 3}, {60, 300}};
    for (int k = 0; k < WAYS; k++)
        for (int s = 0; s < 2; s++) {
            const int length = powers[s][0], charge = powers[s][1];
            fmm_particles *p = particles_of(k), *other = copy_of(p);
            way how = ways[k];
            fmm_field *here = field_of(p, how);
            how.softening = ldexp(how.softening, length);
            for (int64_t i = 0; i < COUNT; i++) {
                other->x[i] = ldexp(p->x[i], length), other->y[i] = ldexp(p->y[i], length), other->z[i] = ldexp(p->z[i], length);
                other->charge[i] = ldexp(p->charge[i], charge);
                here->potential[i] = ldexp(here->potential[i], charge - length);
                here->gx[i] = ldexp(here->gx[i], charge - 2 * length);
                here->gy[i] = ldexp(here->gy[i], charge - 2 * length);
                here->gz[i] = ldexp(here->gz[i], charge - 2 * length);
            }
            fmm_field *there = field_of(other, how);
            assert_same_bits(there, here);
            fmm_field_destroy(here);
            fmm_field_destroy(there);
            fmm_particles_destroy(other);
            fmm_particles_destroy(p);
        }
}

/* All charges of the other sign: the same bits but for the sign. */
static void charges_of_the_other_sign_change_the_sign_alone(void **state)
{
    (void)state;
    for (int k = 0; k < WAYS; k++) {
        fmm_particles *p = particles_of(k);
        fmm_field *here = field_of(p, ways[k]);
        for (int64_t i = 0; i < COUNT; i++) {
            p->charge[i] = -p->charge[i];
            here->potential[i] = -here->potential[i];
            here->gx[i] = -here->gx[i], here->gy[i] = -here->gy[i], here->gz[i] = -here->gz[i];
        }
        fmm_field *there = field_of(p, ways[k]);
        assert_same_bits(there, here);
        fmm_field_destroy(here);
        fmm_field_destroy(there);
        fmm_particles_destroy(p);
    }
}

/* Only roundings of sums in another order differ. */
static void the_order_of_the_particles_does_not_matter(void **state)
{
    (void)state;
    for (int k = 0; k < WAYS; k++) {
        fmm_particles *p = particles_of(k), *other = copy_of(p);
        int32_t at[COUNT];
        uint64_t seed = 3;
        for (int i = 0; i < COUNT; i++) at[i] = i;
        for (int i = COUNT - 1; i > 0; i--) { /* Fisher and Yates */
            int j = (int)(fmm_random_uniform(&seed) * (i + 1));
            int32_t swapped = at[i];
            at[i] = at[j];
            at[j] = swapped;
        }
        for (int i = 0; i < COUNT; i++) {
            other->x[i] = p->x[at[i]], other->y[i] = p->y[at[i]], other->z[i] = p->z[at[i]];
            other->charge[i] = p->charge[at[i]];
        }
        fmm_field *here = field_of(p, ways[k]), *there = field_of(other, ways[k]), *back = field_of(p, ways[k]);
        for (int i = 0; i < COUNT; i++) {
            back->potential[at[i]] = there->potential[i];
            back->gx[at[i]] = there->gx[i], back->gy[at[i]] = there->gy[i], back->gz[at[i]] = there->gz[i];
        }
        assert_true(difference(back, here) < 2e-14);
        assert_true(fabs(fmm_field_energy(other, there) - fmm_field_energy(p, here)) < 2e-14 * fabs(fmm_field_energy(p, here)) * COUNT);
        fmm_field_destroy(here);
        fmm_field_destroy(there);
        fmm_field_destroy(back);
        fmm_particles_destroy(other);
        fmm_particles_destroy(p);
    }
}

/* Again, and on other numbers of threads. */
static void the_same_bits_come_out_again(void **state)
{
    (void)state;
    const int threads = omp_get_max_threads();
    for (int k = 0; k < WAYS; k++) {
        fmm_particles *p = particles_of(k);
        fmm_field *first = field_of(p, ways[k]);
        for (int t = 1; t <= 3; t++) {
            omp_set_num_threads(t);
            fmm_field *again = field_of(p, ways[k]);
            assert_same_bits(again, first);
            fmm_field_destroy(again);
        }
        omp_set_num_threads(threads);
        fmm_field_destroy(first);
        fmm_particles_destroy(p);
    }
}

/* Newton's third law: forces sum to zero but for rounding without a far field, and else but for truncation. */
static void forces_sum_to_zero(void **state)
{
    (void)state;
    for (int k = 0; k < WAYS; k++) {
        fmm_particles *p = particles_of(k);
        fmm_field *field = field_of(p, ways[k]);
        fmm_total_force force = fmm_field_total_force(p, field);
        for (int c = 0; c < 3; c++) assert_true(fabs(force.sum[c]) < (ways[k].depth < 0 ? 1e-15 : 1e-4) * force.lengths);
        fmm_field_destroy(field);
        fmm_particles_destroy(p);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(fields_turn_and_move_with_particles_by_any_angle),
    cmocka_unit_test(powers_of_two_change_no_bits),
    cmocka_unit_test(charges_of_the_other_sign_change_the_sign_alone),
    cmocka_unit_test(the_order_of_the_particles_does_not_matter),
    cmocka_unit_test(the_same_bits_come_out_again),
    cmocka_unit_test(forces_sum_to_zero),
};

UNIT_MAIN(tests, context_start, context_end)
