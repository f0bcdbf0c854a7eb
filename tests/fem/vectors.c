/* Vectors of the CPU part: what is done with them between products, in both precisions and at any number of threads. */
#include <math.h>

#include "unit.h"

#include "body.h"
#include "part_settings.h"

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.17g, expected %.17g within %g", value, expected, tolerance);
}

/* ----------------------------------------------------------------------------------------------------- held dofs */

static void held_dofs_are_zero_after_masked_operations(void **state)
{
    (void)state;
    for (int components = 1; components <= 3; components += 2)
        for (int threads = 1; threads <= 3; threads++) {
            block b;
            uint64_t random = 55;
            part_create_hanging(&b, components);
            block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 0, components == 3 ? 5 : 1, {1, 1, 1}});
            block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 3, components == 3 ? 2 : 1, {1, 1, 1}});
            block_discretise(&b, FEM_Q2);
            int64_t n = part_dofs(&b), held = 0;
            fem_part *part = part_make(&b, &(fem_part_options){.threads = threads});
            double *u = block_random_array(n, &random), *full = block_zeros(n, sizeof *full), *masked = block_zeros(n, sizeof *masked);
            double *solved = block_zeros(n, sizeof *solved), *inside = block_zeros(n, sizeof *inside);
            fem_vector *x, *z;
            assert_int_equal(part->call->vector_create(part, &x), YOKE_OK);
            assert_int_equal(part->call->vector_create(part, &z), YOKE_OK);
            part->call->write(x, u);
            part->call->block_solve(part, x, z);
            part->call->read(z, solved);
            part->call->mask(x);
            part->call->read(x, inside);
            part_multiply(part, 0, inside, full);
            part_multiply(part, 1, inside, masked);
            for (int64_t k = 0; k < n; k++) {
                int is_held = b.constraints->prescribed[k / components] >> (k % components) & 1;
                held += is_held;
                assert_near(inside[k], is_held ? 0 : u[k], 0);
                assert_near(masked[k], is_held ? 0 : full[k], 0);
                if (is_held)
                    assert_near(solved[k], 0, 0);
                else
                    assert_true(solved[k] != 0);
            }
            assert_true(held > 50);
            part->call->vector_destroy(x);
            part->call->vector_destroy(z);
            free(inside);
            free(solved);
            free(masked);
            free(full);
            free(u);
            part->call->destroy(part);
            block_destroy(&b);
        }
}

/* ------------------------------------------------------------------------------------------------------- vectors */

typedef struct vectors {
    fem_part *part;
    fem_vector *a, *b, *c;
    double *from_a, *from_b, *result; /* what was written, what was read */
    double near;
} vectors;

static void fill(vectors *v)
{
    v->part->call->write(v->a, v->from_a);
    v->part->call->write(v->b, v->from_b);
}

static void assert_values(vectors *v, const fem_vector *x, double by_a, double by_b)
{
    v->part->call->read(x, v->result);
    for (int64_t i = 0; i < v->part->dofs; i++) assert_near(v->result[i], by_a * v->from_a[i] + by_b * v->from_b[i], v->near);
}

static void assert_vector_operations(vectors *v)
{
    const fem_part_functions *call = v->part->call;
    int64_t n = v->part->dofs;
    double squares = part_dot(v->from_b, v->from_b, n);
    call->read(v->c, v->result);
    for (int64_t i = 0; i < n; i++) assert_near(v->result[i], 0, 0); /* new vectors are zero */
    fill(v);
    assert_values(v, v->a, 1, 0);
    call->axpy(-0.75, v->a, v->b);
    assert_values(v, v->b, -0.75, 1);
    fill(v);
    call->xpby(v->a, 0.3, v->b);
    assert_values(v, v->b, 1, 0.3);
    fill(v);
    call->subtract(v->a, v->b, v->c);
    assert_values(v, v->c, 1, -1);
    call->subtract(v->a, v->b, v->b); /* in place, as the solver does */
    assert_values(v, v->b, 1, -1);
    fill(v);
    call->copy_scaled(2.5, v->a, v->c);
    assert_values(v, v->c, 2.5, 0);
    assert_near(call->dot(v->b, v->b), squares, v->near * (double)n);
    assert_near(call->dot(v->a, v->b), part_dot(v->from_a, v->from_b, n), v->near * (double)n);
    call->zero(v->c);
    double rr = call->advance(0.4, v->b, v->a, v->c, v->b); /* c += 0.4 b, b -= 0.4 a */
    assert_values(v, v->c, 0, 0.4);
    assert_values(v, v->b, -0.4, 1);
    assert_near(rr, part_dot(v->result, v->result, n), v->near * (double)n);
}

static void vector_operations_are_what_they_say(void **state)
{
    (void)state;
    for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++)
        for (int threads = 1; threads <= 3; threads++) {
            block b;
            uint64_t random = 66;
            part_create_hanging(&b, 3);
            block_discretise(&b, FEM_Q1);
            fem_part *part = part_make(&b, &(fem_part_options){.precision = precision, .threads = threads});
            vectors v = {.part = part, .near = precision == FEM_DOUBLE ? 1e-15 : 5e-7};
            fem_vector **all[] = {&v.a, &v.b, &v.c};
            for (int i = 0; i < 3; i++) assert_int_equal(part->call->vector_create(part, all[i]), YOKE_OK);
            v.from_a = block_random_array(part->dofs, &random);
            v.from_b = block_random_array(part->dofs, &random);
            v.result = block_zeros(part->dofs, sizeof(double));
            assert_vector_operations(&v);
            for (int i = 0; i < 3; i++) part->call->vector_destroy(*all[i]);
            free(v.from_a);
            free(v.from_b);
            free(v.result);
            part->call->destroy(part);
            block_destroy(&b);
        }
}

static void values_pass_between_single_and_double_precision(void **state)
{
    (void)state;
    block b;
    uint64_t random = 67;
    part_create_hanging(&b, 3);
    block_discretise(&b, FEM_Q1);
    fem_part *whole = part_make(&b, &(fem_part_options){.precision = FEM_DOUBLE, .threads = 2});
    fem_part *half = part_make(&b, &(fem_part_options){.precision = FEM_SINGLE, .threads = 2});
    fem_vector *a, *c;
    assert_int_equal(whole->call->vector_create(whole, &a), YOKE_OK);
    assert_int_equal(half->call->vector_create(half, &c), YOKE_OK);
    double *u = block_random_array(whole->dofs, &random), *v = block_zeros(whole->dofs, sizeof *v);
    whole->call->write(a, u);
    half->call->copy_scaled(4, a, c); /* powers of two: one rounding only */
    whole->call->copy_scaled(0.25, c, a);
    whole->call->read(a, v);
    for (int64_t i = 0; i < whole->dofs; i++) assert_near(v[i], (double)(float)u[i], 0);
    whole->call->vector_destroy(a);
    half->call->vector_destroy(c);
    free(v);
    free(u);
    whole->call->destroy(whole);
    half->call->destroy(half);
    block_destroy(&b);
}

/* d = a d + c B (b - t), x += d */
static void assert_chebyshev_step(fem_part *part, const double *from[4], int with_product, double near)
{
    const fem_part_functions *call = part->call;
    int64_t n = part->dofs;
    fem_vector *b, *t, *d, *x, *r, *z;
    fem_vector **all[] = {&b, &t, &d, &x, &r, &z};
    double *corrected = block_zeros(n, sizeof *corrected), *result = block_zeros(n, sizeof *result);
    for (int i = 0; i < 6; i++) assert_int_equal(call->vector_create(part, all[i]), YOKE_OK);
    for (int i = 0; i < 4; i++) call->write(*all[i], from[i]);
    if (with_product)
        call->subtract(b, t, r);
    else
        call->copy_scaled(1, b, r);
    call->block_solve(part, r, z);
    call->read(z, corrected);
    call->chebyshev_step(part, 0.6, 1.7, b, with_product ? t : NULL, d, x);
    double largest = 0;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(corrected[i]));
    call->read(d, result);
    for (int64_t i = 0; i < n; i++) assert_near(result[i], 0.6 * from[2][i] + 1.7 * corrected[i], near * (1 + largest));
    call->read(x, result);
    for (int64_t i = 0; i < n; i++) assert_near(result[i], from[3][i] + 0.6 * from[2][i] + 1.7 * corrected[i], near * (1 + largest));
    for (int i = 0; i < 6; i++) call->vector_destroy(*all[i]);
    free(result);
    free(corrected);
}

static void chebyshev_steps_are_what_they_say(void **state)
{
    (void)state;
    for (int components = 1; components <= 3; components += 2)
        for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++) {
            block b;
            uint64_t random = 68;
            part_create_hanging(&b, components);
            block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 0, 1, {0, 0, 0}});
            block_discretise(&b, FEM_Q1);
            fem_part *part = part_make(&b, &(fem_part_options){.precision = precision, .threads = 3});
            const double *from[4];
            for (int i = 0; i < 4; i++) from[i] = block_random_array(part->dofs, &random);
            for (int with_product = 0; with_product < 2; with_product++)
                assert_chebyshev_step(part, from, with_product, precision == FEM_DOUBLE ? 1e-14 : 1e-5);
            for (int i = 0; i < 4; i++) free((void *)(uintptr_t)from[i]);
            part->call->destroy(part);
            block_destroy(&b);
        }
}

/* fine += P coarse and coarse = P^T fine, against the interpolation's own rows; held dofs of the coarse space become zero. */
static void vectors_pass_between_levels_by_the_interpolation_and_its_transpose(void **state)
{
    (void)state;
    for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++) {
        block b;
        uint64_t random = 69;
        part_create_hanging(&b, 3);
        block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 0, 5, {0, 0, 0}});
        block_discretise(&b, FEM_Q1);
        fem_space *fine_space;
        fem_interpolation *p;
        fem_constraints none = {.context = b.context};
        assert_int_equal(fem_space_create(&b.problem, b.forest, FEM_Q2, &fine_space), YOKE_OK);
        assert_int_equal(fem_interpolation_create(b.space, fine_space, 1, &p), YOKE_OK);
        none.prescribed = block_zeros(fine_space->num_nodes, 1);
        fem_part_options options = {.precision = precision, .threads = 3};
        fem_part *coarse = part_make(&b, &options), *fine;
        assert_int_equal(fem_part_cpu_create(fine_space, &none, &options, &fine), YOKE_OK);
        fem_vector *x, *y;
        assert_int_equal(coarse->call->vector_create(coarse, &x), YOKE_OK);
        assert_int_equal(fine->call->vector_create(fine, &y), YOKE_OK);
        double *u = block_random_array(coarse->dofs, &random), *v = block_random_array(fine->dofs, &random);
        double *up = block_zeros(fine->dofs, sizeof *up), *got = block_zeros(fine->dofs, sizeof *got),
               *down = block_zeros(coarse->dofs, sizeof *down);
        double near = precision == FEM_DOUBLE ? 1e-13 : 1e-5;
        fem_interpolation_apply(p, 3, u, up);
        coarse->call->write(x, u);
        fine->call->write(y, v);
        fine->call->prolongate_add(p, x, y);
        fine->call->read(y, got);
        for (int64_t i = 0; i < fine->dofs; i++) assert_near(got[i], v[i] + up[i], near);
        fine->call->write(y, v);
        coarse->call->restrict_to(p, y, x);
        coarse->call->read(x, got);
        for (int64_t i = 0; i < fine_space->num_nodes; i++)
            for (int64_t k = p->to_fine.start[i]; k < p->to_fine.start[i + 1]; k++)
                for (int c = 0; c < 3; c++) down[3 * (int64_t)p->to_fine.node[k] + c] += (double)p->to_fine.weight[k] * v[3 * i + c];
        for (int64_t i = 0; i < coarse->dofs; i++) assert_near(got[i], b.constraints->prescribed[i / 3] >> (i % 3) & 1 ? 0 : down[i], near);
        fine->call->vector_destroy(y);
        coarse->call->vector_destroy(x);
        free(down);
        free(got);
        free(up);
        free(v);
        free(u);
        fine->call->destroy(fine);
        coarse->call->destroy(coarse);
        free(none.prescribed);
        fem_interpolation_destroy(p);
        fem_space_destroy(fine_space);
        block_destroy(&b);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(held_dofs_are_zero_after_masked_operations),
    cmocka_unit_test(vector_operations_are_what_they_say),
    cmocka_unit_test(values_pass_between_single_and_double_precision),
    cmocka_unit_test(chebyshev_steps_are_what_they_say),
    cmocka_unit_test(vectors_pass_between_levels_by_the_interpolation_and_its_transpose),
};

UNIT_MAIN(tests, body_start, body_end)
