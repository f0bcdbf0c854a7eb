/* The multigrid on stretched elements: how few iterations blocks of nodes leave, and what they cost. */
#include <math.h>
#include <stdlib.h>

#include "unit.h"

#include "base/failing.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/decomposition_settings.h"
#include "solver/direct/direct.h"
#include "solver/multigrid/blocks.h"
#include "solver/multigrid/multigrid.h"
#include "stretched_bodies.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

/* ------------------------------------------------------------------------------------------------- the cycle */

/* Levels end with a factor of at most so many dofs, so that small bodies have several. */
static fem_multigrid_options options_for(fem_devices *devices, const int32_t *cut, int64_t direct_dofs)
{
    return (fem_multigrid_options){.devices = devices, .cut = cut, .direct_dofs = direct_dofs, .shared_elements = -1};
}

typedef struct setting {
    block b;
    fem_devices *devices;
    int32_t cut[FEM_MAX_DEVICES + 1];
    fem_decomposition *decomposition;
    fem_multigrid *multigrid;
} setting;

static void open_setting(setting *s, int64_t direct_dofs)
{
    const block *b = &s->b;
    const fem_multigrid_options options = options_for(s->devices, s->cut, direct_dofs);
    const fem_decomposition_options plain = {
        .devices = s->devices, .cut = s->cut, .precision = FEM_DOUBLE, .operator_kind = FEM_MATRIXFREE, .unmeasured = 1};
    if (fem_decomposition_create(b->space, b->constraints, &plain, &s->decomposition)) fail_msg("%s", yoke_last_error(b->context));
    if (fem_multigrid_create(b->space, b->constraints, &options, NULL, &s->multigrid)) fail_msg("%s", yoke_last_error(b->context));
    assert_true(fem_multigrid_levels(s->multigrid) > 1);
}

static void close_setting(setting *s)
{
    fem_multigrid_destroy(s->multigrid);
    fem_decomposition_destroy(s->decomposition);
}

static fem_vector *new_vector(const setting *s)
{
    fem_vector *v;
    if (fem_vector_create(s->decomposition, &v)) fail_msg("%s", yoke_last_error(s->b.context));
    return v;
}

static void precondition(const setting *s, const fem_vector *r, fem_vector *z)
{
    const fem_approximate_inverse m = fem_multigrid_inverse(s->multigrid);
    if (m.apply(m.state, r, sqrt(fem_vector_dot(r, r)), z)) fail_msg("%s", yoke_last_error(s->b.context));
}

/* The solution by a Cholesky factor, once corrected. */
static void solve_directly(const setting *s, const fem_vector *load, fem_vector *x)
{
    fem_direct *direct;
    fem_vector *r = new_vector(s), *z = new_vector(s);
    if (fem_direct_analyze(s->b.space, s->b.constraints, &direct) || fem_direct_factorize(direct, 0, NULL))
        fail_msg("%s", yoke_last_error(s->b.context));
    const fem_approximate_inverse inverse = fem_direct_inverse(direct);
    assert_int_equal(inverse.apply(inverse.state, load, NAN, x), YOKE_OK);
    fem_decomposition_product(s->decomposition, 1, x, r);
    fem_vector_subtract(load, r, r);
    assert_int_equal(inverse.apply(inverse.state, r, NAN, z), YOKE_OK);
    fem_vector_axpy(1, z, x);
    fem_direct_destroy(direct);
    fem_vector_destroy(r);
    fem_vector_destroy(z);
}

/* |x - y| in the energy norm, relative to |y|. */
static double energy_error(const setting *s, const fem_vector *x, const fem_vector *y, fem_vector *work, fem_vector *product)
{
    fem_decomposition_product(s->decomposition, 1, y, product);
    const double whole = fem_vector_dot(y, product);
    fem_vector_subtract(x, y, work);
    fem_decomposition_product(s->decomposition, 1, work, product);
    return sqrt(fem_vector_dot(work, product) / whole);
}

/* Iterations of conjugate gradients until the error in the energy norm, against the direct solution, is 1e-6 of the solution. */
static int iterations(const setting *s)
{
    enum { MOST = 200 };
    fem_vector *v[7];
    for (int i = 0; i < 7; i++) v[i] = new_vector(s);
    fem_vector *r = v[0], *z = v[1], *p = v[2], *q = v[3], *x = v[4], *exact = v[5], *work = v[6];
    double *load = block_zeros(dofs_of(&s->b), sizeof *load), rz = 1;
    assert_int_equal(fem_space_load(s->b.space, s->b.boundary, load), YOKE_OK);
    fem_vector_write(r, load);
    fem_vector_mask(r);
    solve_directly(s, r, exact);
    int count = 0;
    for (; count < MOST && energy_error(s, x, exact, work, q) > 1e-6; count++) {
        precondition(s, r, z);
        fem_vector_agree(z);
        const double next = fem_vector_dot(r, z);
        assert_true(next > 0);
        fem_vector_xpby(z, count ? next / rz : 0, p);
        rz = next;
        fem_decomposition_product(s->decomposition, 1, p, q);
        fem_vector_advance(rz / fem_vector_dot(p, q), p, q, x, r);
    }
    for (int i = 0; i < 7; i++) fem_vector_destroy(v[i]);
    free(load);
    return count;
}

static void assert_iterations(const stretched_shape *of, fem_element element, int refinements, double then, int64_t direct_dofs, int most)
{
    setting s;
    create(of, element, refinements, then, &s.b);
    if (fem_devices_open(s.b.context, NULL, &s.devices)) fail_msg("%s", yoke_last_error(s.b.context));
    s.cut[0] = 0;
    s.cut[1] = s.b.space->num_elements;
    open_setting(&s, direct_dofs);
    const int count = iterations(&s);
    if (count > most) fail_msg("element %d, %lld dofs: %d iterations", element, (long long)dofs_of(&s.b), count);
    close_setting(&s);
    fem_devices_close(s.devices);
    block_destroy(&s.b);
}

static void plates_of_flat_elements_take_few_iterations(void **state)
{
    (void)state;
    unit_leave_to_release();
    for (int i = 0; i < 3; i++) assert_iterations(&thin, elements[i], i == 0 ? 2 : 1, 0, 3000, 20);
    assert_iterations(&thinner, FEM_S2, 2, 0, 6000, 40);
}

static void plates_of_flat_elements_with_hanging_nodes_take_few_iterations(void **state)
{
    (void)state;
    unit_leave_to_release();
    for (int i = 0; i < 3; i++) assert_iterations(&thin, elements[i], i == 0 ? 2 : 1, 0.2, 3000, i == 0 ? 25 : 20);
    assert_iterations(&curved, FEM_Q1, 2, 0.2, 1000,
                      130); /* coarse levels are much too soft: unweighed corrections are not positive definite */
}

static void needles_take_few_iterations(void **state)
{
    (void)state;
    unit_leave_to_release();
    for (int i = 0; i < 3; i++) assert_iterations(&needles, elements[i], i == 0 ? 2 : 1, 0, 3000, 20);
    for (int i = 0; i < 3; i++) assert_iterations(&sharp_needles, elements[i], i == 0 ? 2 : 1, 0, 3000, 40);
}

static void needles_in_wide_cross_sections_take_few_iterations(void **state)
{
    (void)state;
    unit_leave_to_release();
    assert_iterations(&wide_needles, FEM_Q2, 0, 0, 3000, 20);
}

static void graded_layers_take_few_iterations(void **state)
{
    (void)state;
    unit_leave_to_release();
    for (int i = 0; i < 3; i++) assert_iterations(&graded, elements[i], i == 0 ? 2 : 1, 0, 3000, 20);
}

/* u.Mv = v.Mu, as far as single precision goes, and u.Mu > 0: for rough u, and for smooth ones. */
static void the_cycle_is_symmetric_and_positive_definite(void **state)
{
    (void)state;
    const stretched_shape *bodies[] = {&thin, &needles, &graded, &curved};
    const fem_element element[] = {FEM_Q1, FEM_S2, FEM_Q2, FEM_Q1};
    const double most[] = {1e-4, 1e-4, 1e-4, 1e-3}; /* found: 1e-6, and of the curved one 2e-6 to 1.4e-4, by threads and the BLAS */
    uint64_t random = 7;
    for (int i = 0; i < 4; i++) {
        setting s;
        create(bodies[i], element[i], element[i] == FEM_Q1 ? 2 : 1, 0.3, &s.b);
        if (fem_devices_open(s.b.context, NULL, &s.devices)) fail_msg("%s", yoke_last_error(s.b.context));
        s.cut[0] = 0;
        s.cut[1] = s.b.space->num_elements;
        open_setting(&s, i == 3 ? 1000 : 2000);
        fem_vector *u = new_vector(&s), *v = new_vector(&s), *mu = new_vector(&s), *mv = new_vector(&s);
        for (int k = 0; k < (unit_is_sanitized() ? 2 : 6); k++) {
            double *values = block_random_array(dofs_of(&s.b), &random);
            fem_vector_write(u, values);
            fem_vector_mask(u);
            free(values);
            values = block_random_array(dofs_of(&s.b), &random);
            fem_vector_write(v, values);
            fem_vector_mask(v);
            free(values);
            if (k % 2) precondition(&s, u, mu), fem_vector_copy_scaled(1, mu, u);
            precondition(&s, u, mu);
            precondition(&s, v, mv);
            const double uu = fem_vector_dot(u, mu), vv = fem_vector_dot(v, mv), uv = fem_vector_dot(u, mv), vu = fem_vector_dot(v, mu);
            assert_true(uu > 0 && vv > 0);
            if (!(fabs(uv - vu) <= most[i] * sqrt(uu * vv))) fail_msg("body %d: %g and %g, norms %g", i, uv, vu, sqrt(uu * vv));
        }
        fem_vector_destroy(u);
        fem_vector_destroy(v);
        fem_vector_destroy(mu);
        fem_vector_destroy(mv);
        close_setting(&s);
        fem_devices_close(s.devices);
        block_destroy(&s.b);
    }
}

/* Blocks lie across the cuts. */
static void iterations_do_not_depend_on_the_cut(void **state)
{
    (void)state;
    const decomposition_machine sound = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        setting s;
        int alone = 0;
        create(i ? &needles : &thin, elements[i], 1, 0.2, &s.b);
        decomposition_read_machine(&s.b, &sound);
        for (int count = 1; count <= 2; count++) {
            s.devices = decomposition_open(&s.b, count, i);
            decomposition_cut(s.b.space->num_elements, count, count == 1 ? 0 : i, s.cut);
            open_setting(&s, 1000);
            const int found = iterations(&s);
            if (count == 1) alone = found;
            if (abs(found - alone) > 1) fail_msg("%d devices: %d iterations instead of %d", count, found, alone);
            close_setting(&s);
            fem_devices_close(s.devices);
        }
        block_destroy(&s.b);
    }
}

/* --------------------------------------------------------------------------------------------------------- work */

/* Lines of two nodes: a factor of three entries, that take one and four operations. */
static void blocks_are_counted(void **state)
{
    (void)state;
    stretched_shape plate = thin;
    block b;
    multigrid_blocks *blocks;
    double entries, operations;
    plate.components = 1;
    create(&plate, FEM_Q1, 0, 0, &b);
    assert_int_equal(multigrid_blocks_create(b.space, b.constraints, &blocks), YOKE_OK);
    multigrid_blocks_size(blocks, &entries, &operations);
    assert_true(entries == 7 * 7 * 3 && operations == 7 * 7 * 5);
    multigrid_blocks_destroy(blocks);
    block_destroy(&b);
}

static fem_multigrid_work work_of(const stretched_shape *of, fem_element element, int refinements, int64_t direct_dofs, double *dofs)
{
    setting s;
    create(of, element, refinements, 0, &s.b);
    if (fem_devices_open(s.b.context, NULL, &s.devices)) fail_msg("%s", yoke_last_error(s.b.context));
    s.cut[0] = 0;
    s.cut[1] = s.b.space->num_elements;
    open_setting(&s, direct_dofs);
    const fem_multigrid_work work = fem_multigrid_get_work(s.multigrid);
    *dofs = (double)dofs_of(&s.b);
    close_setting(&s);
    fem_devices_close(s.devices);
    block_destroy(&s.b);
    return work;
}

/* What blocks and their levels take is in the account: the more, the wider the blocks. */
static void an_iteration_costs_more_the_wider_blocks_are(void **state)
{
    (void)state;
    const stretched_shape cube = {NULL, {3, 3, 3}, 3, 0, 1, 1, 0.3};
    double dofs;
    const fem_multigrid_work ordinary = work_of(&cube, FEM_Q2, 1, 500, &dofs), usual = fem_multigrid_usual_work(dofs);
    assert_true(ordinary.setup == usual.setup && ordinary.iteration == usual.iteration);
    const fem_multigrid_work lines = work_of(&thin, FEM_Q2, 1, 500, &dofs), lines_usual = fem_multigrid_usual_work(dofs);
    assert_true(lines.iteration > lines_usual.iteration && lines.iteration < 3 * lines_usual.iteration);
    const fem_multigrid_work wide = work_of(&wide_needles, FEM_Q2, 0, 500, &dofs), wide_usual = fem_multigrid_usual_work(dofs);
    assert_true(wide.iteration > 5 * wide_usual.iteration && wide.setup > 10 * wide_usual.setup);
}

/* A level whose factor is too dear is left to algebraic multigrid: that counts, else nobody would ever give it up for the factor. */
static void algebraic_multigrid_is_in_the_account(void **state)
{
    (void)state;
    fem_coarse_keeper *keeper;
    fem_devices *devices;
    fem_multigrid *multigrid;
    block b;
    create(&thin, FEM_Q1, 0, 0, &b);
    const int32_t cut[2] = {0, b.space->num_elements};
    assert_int_equal(fem_devices_open(b.context, NULL, &devices), YOKE_OK);
    assert_int_equal(fem_coarse_keeper_create(b.context, &keeper), YOKE_OK);
    assert_int_equal(fem_coarse_keeper_refuse(keeper, b.space, b.constraints, INFINITY), YOKE_OK);
    const fem_multigrid_options options = {.devices = devices, .cut = cut, .direct_dofs = 10, .algebraic_dofs = 1, .keeper = keeper};
    if (fem_multigrid_create(b.space, b.constraints, &options, NULL, &multigrid)) fail_msg("%s", yoke_last_error(b.context));
    assert_string_equal(fem_multigrid_coarse_name(multigrid), "boomeramg");
    const fem_multigrid_work work = fem_multigrid_get_work(multigrid), usual = fem_multigrid_usual_work((double)dofs_of(&b));
    assert_true(work.iteration > 3 * (usual.iteration - fem_multigrid_least_work().iteration));
    assert_true(work.setup > 10 * (usual.setup - fem_multigrid_least_work().setup));
    fem_multigrid_destroy(multigrid);
    fem_coarse_keeper_destroy(keeper);
    fem_devices_close(devices);
    block_destroy(&b);
}

/* ---------------------------------------------------------------------------------------------------- failures */

static void lack_of_memory_at_any_place_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    failing memory = {0};
    const yoke_options options = failing_options(&memory);
    uint64_t random = 3;
    block b;
    create_in(&needles, &options, &b);
    block_refine(&b, 0.5, &random);
    block_discretise(&b, FEM_Q1);
    yoke_status status = YOKE_ERROR_MEMORY;
    for (int64_t allowed = 0; status; allowed++) {
        multigrid_blocks *blocks = NULL;
        const int64_t before = memory.outstanding;
        failing_allow(&memory, allowed);
        status = multigrid_blocks_create(b.space, b.constraints, &blocks);
        memory.fail_at = 0;
        assert_true(status == YOKE_OK ? blocks != NULL : status == YOKE_ERROR_MEMORY && !blocks);
        multigrid_blocks_destroy(blocks);
        assert_int_equal(memory.outstanding, before);
    }
    block_destroy(&b);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(plates_of_flat_elements_take_few_iterations),
    cmocka_unit_test(plates_of_flat_elements_with_hanging_nodes_take_few_iterations),
    cmocka_unit_test(needles_take_few_iterations),
    cmocka_unit_test(needles_in_wide_cross_sections_take_few_iterations),
    cmocka_unit_test(graded_layers_take_few_iterations),
    cmocka_unit_test(the_cycle_is_symmetric_and_positive_definite),
    cmocka_unit_test(iterations_do_not_depend_on_the_cut),
    cmocka_unit_test(blocks_are_counted),
    cmocka_unit_test(an_iteration_costs_more_the_wider_blocks_are),
    cmocka_unit_test(algebraic_multigrid_is_in_the_account),
    cmocka_unit_test(lack_of_memory_at_any_place_is_reported_and_leaves_nothing),
};

UNIT_MAIN(tests, body_start, body_end)
