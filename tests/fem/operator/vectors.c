/* Vectors of the CPU subdomain: what is done with them between products, in both precisions and at any number of threads. */
#include <math.h>

#include "unit.h"

#include "fem/fixtures/body.h"
#include "fem/fixtures/subdomain_settings.h"
#include "near.h"

/* ----------------------------------------------------------------------------------------------------- constrained dofs */

static void constrained_dofs_are_zero_after_masked_operations(void **state)
{
    (void)state;
    for (int components = 1; components <= 3; components += 2)
        for (int threads = 1; threads <= 3; threads++) {
            block b;
            uint64_t random = 55;
            subdomain_create_hanging(&b, components);
            block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 0, components == 3 ? 5 : 1, {1, 1, 1}});
            block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 3, components == 3 ? 2 : 1, {1, 1, 1}});
            block_discretise(&b, FEM_Q2);
            int64_t n = subdomain_dofs(&b), constrained = 0;
            fem_subdomain *subdomain = subdomain_make(&b, threads, &(fem_subdomain_options){0});
            double *u = block_random_array(n, &random), *full = block_zeros(n, sizeof *full), *masked = block_zeros(n, sizeof *masked);
            double *solved = block_zeros(n, sizeof *solved), *inside = block_zeros(n, sizeof *inside);
            fem_subdomain_vector *x, *z;
            assert_int_equal(subdomain->call->vector_create(subdomain, &x), YOKE_OK);
            assert_int_equal(subdomain->call->vector_create(subdomain, &z), YOKE_OK);
            subdomain->call->write(subdomain, x, u);
            subdomain->call->block_solve(subdomain, x, z);
            subdomain->call->read_wait(subdomain, z, solved);
            subdomain->call->mask(subdomain, x);
            subdomain->call->read_wait(subdomain, x, inside);
            subdomain_multiply(subdomain, 0, inside, full);
            subdomain_multiply(subdomain, 1, inside, masked);
            for (int64_t k = 0; k < n; k++) {
                int is_constrained = b.constraints->prescribed[k / components] >> (k % components) & 1;
                constrained += is_constrained;
                assert_near(inside[k], is_constrained ? 0 : u[k], 0);
                assert_near(masked[k], is_constrained ? 0 : full[k], 0);
                if (is_constrained)
                    assert_near(solved[k], 0, 0);
                else
                    assert_true(solved[k] != 0);
            }
            assert_true(constrained > 50);
            subdomain->call->vector_destroy(subdomain, x);
            subdomain->call->vector_destroy(subdomain, z);
            free(inside);
            free(solved);
            free(masked);
            free(full);
            free(u);
            subdomain->call->destroy(subdomain);
            block_destroy(&b);
        }
}

/* ------------------------------------------------------------------------------------------------------- vectors */

typedef struct vectors {
    fem_subdomain *subdomain;
    fem_subdomain_vector *a, *b, *c;
    double *from_a, *from_b, *result; /* what was written, what was read */
    double near;
} vectors;

static void fill(vectors *v)
{
    v->subdomain->call->write(v->subdomain, v->a, v->from_a);
    v->subdomain->call->write(v->subdomain, v->b, v->from_b);
}

static void assert_values(vectors *v, const fem_subdomain_vector *x, double by_a, double by_b)
{
    v->subdomain->call->read_wait(v->subdomain, x, v->result);
    for (int64_t i = 0; i < v->subdomain->dofs; i++) assert_near(v->result[i], by_a * v->from_a[i] + by_b * v->from_b[i], v->near);
}

/* As many pairs at once as there may be. */
static void assert_sums(vectors *v)
{
    const fem_subdomain_vector *x[FEM_MAX_DOTS] = {v->b, v->a, v->a, v->b}, *y[FEM_MAX_DOTS] = {v->b, v->b, v->a, v->a};
    int64_t n = v->subdomain->dofs;
    double sums[FEM_MAX_DOTS], again[FEM_MAX_DOTS];
    v->subdomain->call->dots(v->subdomain, FEM_MAX_DOTS, x, y);
    v->subdomain->call->dots_wait(v->subdomain, FEM_MAX_DOTS, sums);
    assert_near(sums[0], subdomain_dot(v->from_b, v->from_b, n), v->near * (double)n);
    assert_near(sums[1], subdomain_dot(v->from_a, v->from_b, n), v->near * (double)n);
    assert_near(sums[2], subdomain_dot(v->from_a, v->from_a, n), v->near * (double)n);
    assert_near(sums[3], sums[1], 0);
    v->subdomain->call->dots(v->subdomain, 1, x + 2, y + 2); /* the others beside it change nothing */
    v->subdomain->call->dots_wait(v->subdomain, 1, again);
    assert_near(again[0], sums[2], 0);
}

static void assert_vector_operations(vectors *v)
{
    fem_subdomain *subdomain = v->subdomain;
    const fem_subdomain_functions *call = subdomain->call;
    call->read_wait(subdomain, v->c, v->result);
    for (int64_t i = 0; i < subdomain->dofs; i++) assert_near(v->result[i], 0, 0); /* new vectors are zero */
    fill(v);
    assert_values(v, v->a, 1, 0);
    call->axpy(subdomain, -0.75, v->a, v->b);
    assert_values(v, v->b, -0.75, 1);
    fill(v);
    call->xpby(subdomain, v->a, 0.3, v->b);
    assert_values(v, v->b, 1, 0.3);
    fill(v);
    call->subtract(subdomain, v->a, v->b, v->c);
    assert_values(v, v->c, 1, -1);
    call->subtract(subdomain, v->a, v->b, v->b); /* in place, as the solver does */
    assert_values(v, v->b, 1, -1);
    fill(v);
    call->copy_scaled(subdomain, 2.5, subdomain, v->a, v->c);
    assert_values(v, v->c, 2.5, 0);
    assert_sums(v);
    call->zero(subdomain, v->c);
    assert_values(v, v->c, 0, 0);
    call->advance(subdomain, 0.4, v->b, v->a, v->c, v->b); /* c += 0.4 b, b -= 0.4 a */
    assert_values(v, v->c, 0, 0.4);
    assert_values(v, v->b, -0.4, 1);
    assert_int_equal(subdomain->status, YOKE_OK);
}

static void vector_operations_are_what_they_say(void **state)
{
    (void)state;
    for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++)
        for (int threads = 1; threads <= 3; threads++) {
            block b;
            uint64_t random = 66;
            subdomain_create_hanging(&b, 3);
            block_discretise(&b, FEM_Q1);
            fem_subdomain *subdomain = subdomain_make(&b, threads, &(fem_subdomain_options){.precision = precision});
            vectors v = {.subdomain = subdomain, .near = precision == FEM_DOUBLE ? 1e-15 : 5e-7};
            fem_subdomain_vector **all[] = {&v.a, &v.b, &v.c};
            for (int i = 0; i < 3; i++) assert_int_equal(subdomain->call->vector_create(subdomain, all[i]), YOKE_OK);
            v.from_a = block_random_array(subdomain->dofs, &random);
            v.from_b = block_random_array(subdomain->dofs, &random);
            v.result = block_zeros(subdomain->dofs, sizeof(double));
            assert_vector_operations(&v);
            for (int i = 0; i < 3; i++) subdomain->call->vector_destroy(subdomain, *all[i]);
            free(v.from_a);
            free(v.from_b);
            free(v.result);
            subdomain->call->destroy(subdomain);
            block_destroy(&b);
        }
}

static void values_pass_between_single_and_double_precision(void **state)
{
    (void)state;
    block b;
    uint64_t random = 67;
    subdomain_create_hanging(&b, 3);
    block_discretise(&b, FEM_Q1);
    fem_subdomain *whole = subdomain_make(&b, 2, &(fem_subdomain_options){.precision = FEM_DOUBLE});
    fem_subdomain *half = subdomain_make(&b, 2, &(fem_subdomain_options){.precision = FEM_SINGLE});
    fem_subdomain_vector *a, *c;
    assert_int_equal(whole->call->vector_create(whole, &a), YOKE_OK);
    assert_int_equal(half->call->vector_create(half, &c), YOKE_OK);
    double *u = block_random_array(whole->dofs, &random), *v = block_zeros(whole->dofs, sizeof *v);
    whole->call->write(whole, a, u);
    half->call->copy_scaled(half, 4, whole, a, c); /* powers of two: one rounding only */
    whole->call->copy_scaled(whole, 0.25, half, c, a);
    whole->call->read_wait(whole, a, v);
    for (int64_t i = 0; i < whole->dofs; i++) assert_near(v[i], (double)(float)u[i], 0);
    whole->call->vector_destroy(whole, a);
    half->call->vector_destroy(half, c);
    free(v);
    free(u);
    whole->call->destroy(whole);
    half->call->destroy(half);
    block_destroy(&b);
}

/* d = old d + 1.7 B (b - t), x += d; from zero: d = x = 1.7 B b, whatever they were */
static void assert_chebyshev_step(fem_subdomain *subdomain, const double *from[4], double old, int from_zero, double near)
{
    const fem_subdomain_functions *call = subdomain->call;
    int64_t n = subdomain->dofs;
    fem_subdomain_vector *b, *t, *d, *x, *r, *z;
    fem_subdomain_vector **all[] = {&b, &t, &d, &x, &r, &z};
    double *corrected = block_zeros(n, sizeof *corrected), *result = block_zeros(n, sizeof *result);
    for (int i = 0; i < 6; i++) assert_int_equal(call->vector_create(subdomain, all[i]), YOKE_OK);
    for (int i = 0; i < 4; i++) call->write(subdomain, *all[i], from[i]);
    if (from_zero)
        call->copy_scaled(subdomain, 1, subdomain, b, r);
    else
        call->subtract(subdomain, b, t, r);
    call->block_solve(subdomain, r, z);
    call->read_wait(subdomain, z, corrected);
    call->chebyshev_step(subdomain, old, 1.7, b, from_zero ? NULL : t, d, x);
    double largest = 0;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(corrected[i]));
    assert_true(largest > 0);
    for (int64_t i = 0; i < n; i++) corrected[i] = (from_zero ? 0 : old * from[2][i]) + 1.7 * corrected[i];
    call->read_wait(subdomain, d, result);
    for (int64_t i = 0; i < n; i++) assert_near(result[i], corrected[i], near * (1 + largest));
    call->read_wait(subdomain, x, result);
    for (int64_t i = 0; i < n; i++) assert_near(result[i], (from_zero ? 0 : from[3][i]) + corrected[i], near * (1 + largest));
    for (int i = 0; i < 6; i++) call->vector_destroy(subdomain, *all[i]);
    free(result);
    free(corrected);
}

static void chebyshev_steps_are_what_they_say(void **state)
{
    (void)state;
    const fem_kernels *kernels[FEM_MAX_KERNELS];
    int count = fem_kernels_list(kernels);
    for (int kind = 0; kind < 4 * count; kind++) {
        int components = kind % 2 ? 3 : 1, precision = kind / 2 % 2 ? FEM_DOUBLE : FEM_SINGLE;
        block b;
        uint64_t random = 68;
        subdomain_create_hanging(&b, components);
        block_add_condition(&b, (fem_condition){FEM_DIRICHLET, 0, 1, {0, 0, 0}});
        block_discretise(&b, FEM_Q1);
        fem_subdomain *subdomain = subdomain_make(&b, 3, &(fem_subdomain_options){.precision = precision, .kernels = kernels[kind / 4]});
        const double *from[4];
        double near = precision == FEM_DOUBLE ? 1e-14 : 1e-5;
        for (int i = 0; i < 4; i++) from[i] = block_random_array(subdomain->dofs, &random);
        assert_chebyshev_step(subdomain, from, 0.6, 0, near);
        assert_chebyshev_step(subdomain, from, 0, 0, near);
        assert_chebyshev_step(subdomain, from, 0.6, 1, near);
        for (int i = 0; i < 4; i++) free((void *)(uintptr_t)from[i]);
        subdomain->call->destroy(subdomain);
        block_destroy(&b);
    }
}

/* to += rows from and to = rows from, the rows of one level's nodes over the other's. */
static void assert_rows(fem_subdomain *to_subdomain, const fem_rows *rows, fem_subdomain *from_subdomain, uint64_t *random)
{
    int n = to_subdomain->space->components;
    double near = to_subdomain->precision == FEM_DOUBLE ? 1e-13 : 1e-5;
    int64_t bytes = to_subdomain->call->memory_bytes(to_subdomain);
    double *u = block_random_array(from_subdomain->dofs, random), *v = block_random_array(to_subdomain->dofs, random);
    double *expected = block_zeros(to_subdomain->dofs, sizeof *expected), *got = block_zeros(to_subdomain->dofs, sizeof *got);
    fem_subdomain_vector *x, *y;
    fem_subdomain_rows *copy;
    assert_int_equal(from_subdomain->call->vector_create(from_subdomain, &x), YOKE_OK);
    assert_int_equal(to_subdomain->call->vector_create(to_subdomain, &y), YOKE_OK);
    assert_int_equal(to_subdomain->call->rows_create(to_subdomain, to_subdomain->space->num_nodes, rows, &copy), YOKE_OK);
    assert_true(to_subdomain->call->memory_bytes(to_subdomain) > bytes);
    for (int32_t i = 0; i < to_subdomain->space->num_nodes; i++)
        for (int64_t k = rows->start[i]; k < rows->start[i + 1]; k++)
            for (int c = 0; c < n; c++) expected[n * (int64_t)i + c] += (double)rows->weight[k] * u[n * (int64_t)rows->node[k] + c];
    from_subdomain->call->write(from_subdomain, x, u);
    to_subdomain->call->write(to_subdomain, y, v);
    to_subdomain->call->rows_add(to_subdomain, copy, x, y);
    to_subdomain->call->read_wait(to_subdomain, y, got);
    for (int64_t i = 0; i < to_subdomain->dofs; i++) assert_near(got[i], v[i] + expected[i], near);
    to_subdomain->call->rows_set(to_subdomain, copy, x, y);
    to_subdomain->call->read_wait(to_subdomain, y, got);
    for (int64_t i = 0; i < to_subdomain->dofs; i++) assert_near(got[i], expected[i], near);
    to_subdomain->call->rows_destroy(to_subdomain, copy);
    assert_int_equal(to_subdomain->call->memory_bytes(to_subdomain), bytes);
    to_subdomain->call->vector_destroy(to_subdomain, y);
    from_subdomain->call->vector_destroy(from_subdomain, x);
    free(got);
    free(expected);
    free(v);
    free(u);
}

static void vectors_pass_between_levels_by_rows_over_nodes(void **state)
{
    (void)state;
    for (int components = 1; components <= 3; components += 2)
        for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++) {
            block b;
            uint64_t random = 69;
            subdomain_create_hanging(&b, components);
            block_discretise(&b, FEM_Q1);
            fem_space *fine_space;
            fem_interpolation *p;
            fem_constraints none = {.context = b.context};
            assert_int_equal(fem_space_create(&b.problem, b.forest, FEM_Q2, &fine_space), YOKE_OK);
            assert_int_equal(fem_interpolation_create(b.space, fine_space, 1, &p), YOKE_OK);
            none.prescribed = block_zeros(fine_space->num_nodes, 1);
            fem_subdomain_options options = {.precision = precision};
            fem_subdomain *coarse = subdomain_make(&b, 3, &options), *fine;
            assert_int_equal(fem_subdomain_cpu_create(fine_space, &none, &options, &fine), YOKE_OK);
            assert_rows(fine, &p->to_fine, coarse, &random);
            assert_rows(coarse, &p->to_coarse, fine, &random);
            fine->call->destroy(fine);
            coarse->call->destroy(coarse);
            free(none.prescribed);
            fem_interpolation_destroy(p);
            fem_space_destroy(fine_space);
            block_destroy(&b);
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(constrained_dofs_are_zero_after_masked_operations), cmocka_unit_test(vector_operations_are_what_they_say),
    cmocka_unit_test(values_pass_between_single_and_double_precision),   cmocka_unit_test(chebyshev_steps_are_what_they_say),
    cmocka_unit_test(vectors_pass_between_levels_by_rows_over_nodes),
};

UNIT_MAIN(tests, body_start, body_end)
