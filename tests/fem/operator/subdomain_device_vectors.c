/* Vectors of the device subdomain, rows between levels, bad input and failures. */
#include <math.h>

#include "unit.h"

#include "base/failing.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/subdomain_device_fixture.h"
#include "fem/fixtures/subdomain_settings.h"

static void assert_near(double value, double expected, double near)
{
    if (!(fabs(value - expected) <= near)) fail_msg("%.17g, expected %.17g within %g", value, expected, near);
}

/* ------------------------------------------------------------------------------------------------------ vectors */

typedef struct vectors {
    fem_subdomain *subdomain;
    fem_subdomain_vector *a, *b, *c;
    double *from_a, *from_b, *result;
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

static void assert_sums(vectors *v)
{
    const fem_subdomain *subdomain = v->subdomain;
    const fem_subdomain_vector *left[4] = {v->a, v->b, v->a, v->b}, *right[4] = {v->a, v->b, v->b, v->a};
    double aa = 0, ab = 0, bb = 0, sums[4];
    for (int64_t i = 0; i < subdomain->dofs; i++) {
        if (subdomain->owned && !subdomain->owned[i / subdomain->space->components]) continue;
        aa += v->from_a[i] * v->from_a[i];
        ab += v->from_a[i] * v->from_b[i];
        bb += v->from_b[i] * v->from_b[i];
    }
    const double expected[4] = {aa, bb, ab, ab};
    for (int count = 1; count <= 4; count++) {
        subdomain->call->dots(v->subdomain, count, left, right);
        subdomain->call->dots_wait(v->subdomain, count, sums);
        for (int i = 0; i < count; i++) assert_near(sums[i], expected[i], v->near * (double)subdomain->dofs);
    }
}

static void assert_vector_operations(vectors *v)
{
    const fem_subdomain_functions *call = v->subdomain->call;
    call->read_wait(v->subdomain, v->c, v->result);
    for (int64_t i = 0; i < v->subdomain->dofs; i++) assert_near(v->result[i], 0, 0); /* new vectors are zero */
    fill(v);
    assert_values(v, v->a, 1, 0);
    call->axpy(v->subdomain, -0.75, v->a, v->b);
    assert_values(v, v->b, -0.75, 1);
    fill(v);
    call->xpby(v->subdomain, v->a, 0.3, v->b);
    assert_values(v, v->b, 1, 0.3);
    fill(v);
    call->subtract(v->subdomain, v->a, v->b, v->c);
    assert_values(v, v->c, 1, -1);
    call->subtract(v->subdomain, v->a, v->b, v->b); /* in place, as the solver does */
    assert_values(v, v->b, 1, -1);
    fill(v);
    call->copy_scaled(v->subdomain, 2.5, v->subdomain, v->a, v->c);
    assert_values(v, v->c, 2.5, 0);
    assert_sums(v);
    call->zero(v->subdomain, v->c);
    call->advance(v->subdomain, 0.4, v->b, v->a, v->c, v->b); /* c += 0.4 b, b -= 0.4 a */
    assert_values(v, v->c, 0, 0.4);
    assert_values(v, v->b, -0.4, 1);
}

static void vector_operations_are_what_they_say(void **state)
{
    (void)state;
    block b;
    uint64_t random = 66;
    fem_subdomain_options options = {0};
    subdomain_create_hanging(&b, 3);
    block_discretise(&b, FEM_Q2);
    uint8_t *owned = block_zeros(b.space->num_nodes, 1);
    for (int32_t i = 0; i < b.space->num_nodes; i++) owned[i] = i % 3 != 1;
    device_open(&b, &options);
    for (int kind = 0; kind < 4; kind++) {
        options.precision = kind % 2 ? FEM_SINGLE : FEM_DOUBLE;
        options.owned = kind / 2 ? owned : NULL;
        fem_subdomain *subdomain = device_make(&b, &options);
        vectors v = {.subdomain = subdomain, .near = options.precision == FEM_DOUBLE ? 1e-15 : 5e-7};
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
        device_destroy(&b, subdomain);
    }
    device_close(&options);
    free(owned);
    block_destroy(&b);
}

static void values_pass_between_single_and_double_precision(void **state)
{
    (void)state;
    block b;
    uint64_t random = 67;
    fem_subdomain_options options = {0};
    subdomain_create_hanging(&b, 3);
    block_discretise(&b, FEM_Q1);
    device_open(&b, &options);
    fem_subdomain *whole = device_make(&b, &options);
    options.precision = FEM_SINGLE;
    fem_subdomain *half = device_make(&b, &options);
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
    device_destroy(&b, whole);
    device_destroy(&b, half);
    device_close(&options);
    block_destroy(&b);
}

/* fine += P coarse and coarse = P^T fine, against the interpolation's own rows. */
static void vectors_pass_between_levels_by_rows(void **state)
{
    (void)state;
    for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++) {
        block b;
        uint64_t random = 69;
        fem_subdomain_options options = {0};
        fem_space *fine_space;
        fem_interpolation *p;
        fem_constraints none = {0};
        subdomain_create_hanging(&b, precision == FEM_DOUBLE ? 3 : 1);
        block_discretise(&b, FEM_Q1);
        assert_int_equal(fem_space_create(&b.problem, b.forest, FEM_Q2, &fine_space), YOKE_OK);
        assert_int_equal(fem_interpolation_create(b.space, fine_space, 1, &p), YOKE_OK);
        none.prescribed = block_zeros(fine_space->num_nodes, 1);
        device_open(&b, &options);
        options.precision = precision;
        fem_subdomain *coarse = device_make(&b, &options), *fine;
        fem_subdomain_rows *up, *down;
        fem_subdomain_vector *x, *y;
        assert_int_equal(fem_subdomain_device_create(fine_space, &none, &options, &fine), YOKE_OK);
        int64_t before = fine->call->memory_bytes(fine);
        assert_int_equal(fine->call->rows_create(fine, fine_space->num_nodes, &p->to_fine, &up), YOKE_OK);
        assert_int_equal(coarse->call->rows_create(coarse, b.space->num_nodes, &p->to_coarse, &down), YOKE_OK);
        assert_true(fine->call->memory_bytes(fine) > before);
        assert_int_equal(coarse->call->vector_create(coarse, &x), YOKE_OK);
        assert_int_equal(fine->call->vector_create(fine, &y), YOKE_OK);
        int n = b.problem.components;
        double *u = block_random_array(coarse->dofs, &random), *v = block_random_array(fine->dofs, &random);
        double *up_u = block_zeros(fine->dofs, sizeof *up_u), *got = block_zeros(fine->dofs, sizeof *got);
        double *down_v = block_zeros(coarse->dofs, sizeof *down_v), near = precision == FEM_DOUBLE ? 1e-13 : 1e-5;
        fem_interpolation_apply(p, n, u, up_u);
        coarse->call->write(coarse, x, u);
        fine->call->write(fine, y, v);
        fine->call->rows_add(fine, up, x, y);
        fine->call->read_wait(fine, y, got);
        for (int64_t i = 0; i < fine->dofs; i++) assert_near(got[i], v[i] + up_u[i], near);
        fine->call->write(fine, y, v);
        coarse->call->rows_set(coarse, down, y, x);
        coarse->call->read_wait(coarse, x, got);
        for (int64_t i = 0; i < fine_space->num_nodes; i++)
            for (int64_t k = p->to_fine.start[i]; k < p->to_fine.start[i + 1]; k++)
                for (int c = 0; c < n; c++) down_v[n * (int64_t)p->to_fine.node[k] + c] += (double)p->to_fine.weight[k] * v[n * i + c];
        for (int64_t i = 0; i < coarse->dofs; i++) assert_near(got[i], down_v[i], 4 * near);
        fine->call->vector_destroy(fine, y);
        coarse->call->vector_destroy(coarse, x);
        fine->call->rows_destroy(fine, up);
        coarse->call->rows_destroy(coarse, down);
        assert_true(fine->call->memory_bytes(fine) == before);
        free(down_v);
        free(got);
        free(up_u);
        free(v);
        free(u);
        device_destroy(&b, fine);
        device_destroy(&b, coarse);
        device_close(&options);
        free(none.prescribed);
        fem_interpolation_destroy(p);
        fem_space_destroy(fine_space);
        block_destroy(&b);
    }
}

/* ----------------------------------------------------------------------------------------- bad input, failures */

/* The same text as from the CPU subdomain, but for rounding in the determinant of a flat element. */
static void folded_elements_are_reported_as_by_the_cpu_subdomain(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        block b;
        fem_subdomain *subdomain = NULL;
        block_options shape = {.elements = {8, 4, 5}, .order = 1, .turn = 0, .components = 3};
        block_create(&shape, &b);
        fem_subdomain_options options = {0};
        device_open(&b, &options);
        for (block_fault how = BLOCK_INSIDE_OUT; how <= BLOCK_NOT_A_NUMBER; how++) {
            char expected[512];
            device_set_kind(&options, (i + how) % DEVICE_KINDS);
            block_discretise(&b, device_elements[i]);
            block_spoil(b.space, 50, how);
            block_spoil(b.space, 120, how);
            fem_subdomain_options cpu = {.precision = options.precision};
            int32_t at_interface = b.space->element_nodes[120 * (int64_t)b.space->slots]; /* the second one comes first on the device */
            options.num_interface = 1;
            options.interface_nodes = &at_interface;
            assert_int_equal(fem_subdomain_cpu_create(b.space, b.constraints, &cpu, &subdomain), YOKE_ERROR_INPUT);
            snprintf(expected, sizeof expected, "%s", yoke_last_error(b.context));
            if (how == BLOCK_FLAT) *strstr(expected, "determinant") = 0;
            assert_int_equal(fem_subdomain_device_create(b.space, b.constraints, &options, &subdomain), YOKE_ERROR_INPUT);
            assert_null(subdomain);
            if (strncmp(yoke_last_error(b.context), expected, strlen(expected)))
                fail_msg("\"%s\", expected \"%s\"", yoke_last_error(b.context), expected);
        }
        device_close(&options);
        block_destroy(&b);
    }
}

static void lack_of_memory_at_any_place_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    if (device_compiles()) skip(); /* drivers have memory of their own */
    for (int stored = 0; stored < 2; stored++) {
        failing memory = {0};
        yoke_options context_options = failing_options(&memory);
        block_options shape = {.elements = {5, 2, 3}, .order = 1, .turn = 5, .components = 3, .memory = &context_options};
        block b;
        block_create(&shape, &b);
        block_discretise(&b, FEM_S2);
        fem_subdomain_options options = {0};
        device_open(&b, &options);
        options.operator_kind = stored ? FEM_STORED : FEM_MATRIXFREE;
        options.num_interface = 2;
        options.interface_nodes = (int32_t[2]){3, 70};
        fem_programs *programs = options.programs;
        int64_t outstanding = memory.outstanding;
        yoke_status status = YOKE_ERROR_MEMORY;
        for (int n = 1; status; n++) {
            fem_subdomain *subdomain = NULL;
            fem_subdomain_vector *x = NULL;
            fem_subdomain_rows *rows = NULL;
            fem_rows identity = {(int64_t[3]){0, 1, 2}, (int32_t[2]){0, 1}, (float[2]){1, 1}};
            options.programs = NULL;
            memory.fail_at = memory.calls + n;
            status = fem_subdomain_device_create(b.space, b.constraints, &options, &subdomain);
            if (!status) status = subdomain->call->vector_create(subdomain, &x);
            if (!status) status = subdomain->call->rows_create(subdomain, 2, &identity, &rows);
            device_matrices m = {&b, b.space->x, block_zeros(subdomain_dofs(&b), sizeof(double)),
                                 block_zeros(b.space->num_elements, sizeof(int32_t))};
            if (!status) status = subdomain->call->visit_matrices(subdomain, device_add_matrix, &m);
            free(m.y);
            free(m.visits);
            if (status && status != YOKE_ERROR_MEMORY && status != YOKE_ERROR_DEVICE_MEMORY) fail_msg("%s", yoke_last_error(b.context));
            assert_true(n < 400 && (n > 20 || status));
            if (rows) subdomain->call->rows_destroy(subdomain, rows);
            if (x) subdomain->call->vector_destroy(subdomain, x);
            if (subdomain) subdomain->call->destroy(subdomain);
            assert_int_equal(memory.outstanding, outstanding);
        }
        memory.fail_at = 0;
        options.programs = programs;
        device_close(&options);
        block_destroy(&b);
        assert_int_equal(memory.outstanding, 0);
    }
}

static void after_a_failure_nothing_is_done_and_sums_are_not_numbers(void **state)
{
    (void)state;
    block b;
    uint64_t random = 26;
    fem_subdomain_options options = {0};
    subdomain_create_hanging(&b, 3);
    block_discretise(&b, FEM_Q1);
    double *u = block_random_array(subdomain_dofs(&b), &random), *got = block_zeros(subdomain_dofs(&b), sizeof *got), sum;
    device_open(&b, &options);
    fem_subdomain *subdomain = device_make(&b, &options);
    fem_subdomain_vector *x, *y;
    const fem_subdomain_vector *pair[1];
    assert_int_equal(subdomain->call->vector_create(subdomain, &x), YOKE_OK);
    subdomain->call->write(subdomain, x, u);
    subdomain->call->finish(subdomain);
    subdomain->status = YOKE_ERROR_DEVICE; /* as the queue's calls would leave it */
    subdomain->call->zero(subdomain, x);
    subdomain->call->product_interface(subdomain, x, x);
    subdomain->call->product_interior(subdomain, x, x);
    subdomain->call->interface_wait(subdomain);
    pair[0] = x;
    subdomain->call->dots(subdomain, 1, pair, pair);
    subdomain->call->dots_wait(subdomain, 1, &sum);
    assert_true(isnan(sum));
    assert_true(isnan(subdomain->call->product_seconds_wait(subdomain)));
    assert_int_equal(subdomain->call->vector_create(subdomain, &y), YOKE_ERROR_DEVICE);
    subdomain->call->read_wait(subdomain, x, got);
    assert_true(isnan(got[0]));
    subdomain->status = YOKE_OK;
    subdomain->call->read_wait(subdomain, x, got);
    assert_memory_equal(got, u, sizeof(double) * (size_t)subdomain->dofs);
    subdomain->call->vector_destroy(subdomain, x);
    device_destroy(&b, subdomain);
    device_close(&options);
    free(got);
    free(u);
    block_destroy(&b);
}

static void the_bytes_said_beforehand_are_about_those_taken(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int kind = 0; kind < DEVICE_KINDS; kind++) {
            block b;
            fem_subdomain_options options = {0};
            block_options shape = {.elements = {5, 6, 5}, .order = 1, .components = 3};
            block_create(&shape, &b);
            block_discretise(&b, device_elements[i]);
            device_open(&b, &options);
            device_set_kind(&options, kind);
            fem_subdomain *subdomain = device_make(&b, &options);
            double taken = (double)subdomain->call->memory_bytes(subdomain),
                   said = fem_subdomain_device_bytes(b.space, &options, b.space->num_elements, 0);
            double more = fem_subdomain_device_bytes(b.space, &options, b.space->num_elements, 2) - said;
            assert_true(said >= taken && said <= 2.5 * taken + 1e5);
            assert_near(more, 2.0 * (double)subdomain->dofs * (options.precision == FEM_DOUBLE ? 8 : 4), 1e-6 * more);
            device_destroy(&b, subdomain);
            device_close(&options);
            block_destroy(&b);
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(vector_operations_are_what_they_say),
    cmocka_unit_test(values_pass_between_single_and_double_precision),
    cmocka_unit_test(vectors_pass_between_levels_by_rows),
    cmocka_unit_test(folded_elements_are_reported_as_by_the_cpu_subdomain),
    cmocka_unit_test(lack_of_memory_at_any_place_is_reported_and_leaves_nothing),
    cmocka_unit_test(after_a_failure_nothing_is_done_and_sums_are_not_numbers),
    cmocka_unit_test(the_bytes_said_beforehand_are_about_those_taken),
};

UNIT_MAIN(tests, device_start, body_end)
