/* The multigrid on stretched elements: which nodes make a block, what is solved in it, and how few iterations that leaves. */
#include <math.h>
#include <stdlib.h>

#include "unit.h"

#include "base/failing.h"
#include "fem/body.h"
#include "fem/decomposition_settings.h"
#include "solver/direct.h"
#include "solver/multigrid/blocks.h"
#include "solver/multigrid/couplings.h"
#include "solver/multigrid/multigrid.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

/* ----------------------------------------------------------------------------------------------------- bodies */

/* Elements by 6 x 6 x 1: ten, and fifty, times as wide as thick. */
static void plate_10(const double in[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = (i < 2 ? 0.5 : 1.0 / 120) * in[i];
}

static void plate_50(const double in[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = (i < 2 ? 0.5 : 1.0 / 600) * in[i];
}

/* Elements of a cube by 3 x 3 x 3: ten, and a hundred, times as long as wide. */
static void needles_10(const double in[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = (i ? 1 : 10) * in[i];
}

static void needles_100(const double in[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = (i ? 1 : 100) * in[i];
}

/* Elements of 2 x 21 x 21: a hundred times as long as wide, in a cross-section of 43 nodes of second order. */
static void wide_needles_100(const double in[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = (i ? 1 : 200.0 / 21) * in[i];
}

/* Layers by four elements that get thinner towards one side: a hundred times in all. */
static void layers(const double in[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = i < 2 ? in[i] : (pow(100, in[i] * 4.0 / 3) - 1) / (pow(100, 4.0 / 3) - 1);
}

/* Elements by 6 x 6 x 1: ten times as wide as thick, with curved edges in the plane. */
static void curved_plate(const double in[3], double out[3])
{
    out[0] = in[0] + 0.08 * sin(6 * in[1]) * sin(3 * in[0]);
    out[1] = in[1] + 0.08 * sin(5 * in[0]);
    out[2] = in[2] / 60;
}

typedef struct shape {
    cube_map *map;
    int elements[3];
    int components, clamped, loaded; /* groups */
    int order;                       /* of the geometry */
    double nu;
} shape;

static const shape thin = {plate_10, {6, 6, 1}, 3, 1, 5, 1, 0.3}, thinner = {plate_50, {6, 6, 1}, 3, 1, 5, 1, 0.3},
                   needles = {needles_10, {3, 3, 3}, 3, 0, 1, 1, 0.3}, sharp_needles = {needles_100, {3, 3, 3}, 3, 0, 1, 1, 0.3},
                   wide_needles = {wide_needles_100, {2, 21, 21}, 3, 0, 1, 1, 0.3}, graded = {layers, {4, 4, 4}, 3, 0, 1, 1, 0.3},
                   curved = {curved_plate, {6, 6, 1}, 3, 0, 5, 2, 0.49};

static void create_in(const shape *of, const yoke_options *memory, block *b)
{
    block_options options = {.elements = {of->elements[0], of->elements[1], of->elements[2]},
                             .map = of->map,
                             .order = of->order,
                             .turn = 5,
                             .components = of->components,
                             .memory = memory};
    block_create(&options, b);
    const double nu = of->nu; /* E = 1 */
    if (of->components == 3) b->material[0].lambda = nu / ((1 + nu) * (1 - 2 * nu)), b->material[0].mu = 0.5 / (1 + nu);
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, of->clamped, 7, {0, 0, 0}});
    block_add_condition(b, (fem_condition){FEM_TRACTION, of->loaded, 0, {0.3, -1, 2}});
}

static void create(const shape *of, fem_element element, int refinements, double then, block *b)
{
    uint64_t random = 3;
    create_in(of, NULL, b);
    for (int i = 0; i < refinements; i++) block_refine(b, 1, &random);
    if (then > 0) block_refine(b, then, &random);
    block_discretise(b, element);
    assert_true(!(then > 0) || b->space->num_hanging > 0);
}

static int64_t dofs_of(const block *b) { return (int64_t)b->space->num_nodes * b->space->components; }

/* ----------------------------------------------------------------------------------------------------- blocks */

static void make_partition(const block *b, double most_bytes, multigrid_partition *p)
{
    multigrid_reach *reach;
    assert_int_equal(multigrid_reach_create(b->space, b->constraints, NULL, &reach), YOKE_OK);
    assert_int_equal(multigrid_partition_create(reach, most_bytes, p), YOKE_OK);
    multigrid_reach_destroy(reach);
}

/* Nodes at the same place along `axes` (bit a) are one block, all of them, and no others. */
static void assert_blocks(const block *b, int axes)
{
    multigrid_partition p;
    make_partition(b, 1e9, &p);
    for (int32_t n = 0; n < b->space->num_nodes; n++) assert_int_equal(p.node[p.begin[p.block[n]] + p.place[n]], n);
    for (int32_t n = 0; n < b->space->num_nodes; n++) {
        for (int32_t m = 0; m < n; m++) {
            int together = 1;
            for (int a = 0; a < 3; a++)
                together = together && (!(axes >> a & 1) || fabs(b->space->x[3 * n + a] - b->space->x[3 * m + a]) < 1e-9);
            assert_int_equal(p.block[n] == p.block[m], together);
        }
    }
    multigrid_partition_release(b->context, &p);
}

static void lines_through_a_plate_are_blocks(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        block b;
        create(&thin, elements[i], 1, 0, &b);
        assert_true(multigrid_is_stretched(&b.mesh));
        assert_blocks(&b, 1 | 2);
        block_destroy(&b);
    }
}

static void cross_sections_of_needles_are_blocks(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        block b;
        create(&needles, elements[i], 0, 0, &b);
        assert_true(multigrid_is_stretched(&b.mesh));
        assert_blocks(&b, 1);
        block_destroy(&b);
    }
}

static int32_t count_blocks(const block *b, double most_bytes)
{
    multigrid_partition p;
    make_partition(b, most_bytes, &p);
    const int32_t count = p.num_blocks;
    for (int32_t n = 0; n < b->space->num_nodes; n++) assert_int_equal(p.node[p.begin[p.block[n]] + p.place[n]], n);
    multigrid_partition_release(b->context, &p);
    return count;
}

/* Of the three planes of nodes as many stay whole as there is memory for. */
static void wide_cross_sections_are_blocks_where_memory_allows(void **state)
{
    (void)state;
    block b;
    create(&wide_needles, FEM_Q1, 0, 0, &b);
    const double section = 4.0 * 3 * 22 * 22 * 1.8 * 3 * 22;
    const int bands = (2 * 21 + 16) / 16; /* of 16 distances along the diagonal */
    assert_int_equal(count_blocks(&b, 3.1 * section), 3);
    assert_int_equal(count_blocks(&b, 1.1 * section), 1 + 2 * bands);
    assert_int_equal(count_blocks(&b, 0), 3 * bands);
    block_destroy(&b);
}

static void a_cube_has_no_blocks(void **state)
{
    (void)state;
    const shape cube = {NULL, {3, 3, 3}, 3, 0, 1, 1, 0.3};
    block b;
    create(&cube, FEM_Q2, 0, 0.3, &b);
    assert_false(multigrid_is_stretched(&b.mesh));
    assert_blocks(&b, 1 | 2 | 4);
    block_destroy(&b);
}

/*
 * B A u = u for any u that is not zero in one block alone, looked at there.  Factors have single precision; sums over a row of a large one
 * lose more, and how much depends on the compiler's order of adding: of 1849 nodes 1e-4 to 2e-4.
 */
static void assert_blocks_are_inverse(const block *b, fem_devices *devices, uint64_t *random)
{
    const int32_t cut[2] = {0, b->space->num_elements};
    const int n = b->space->components;
    const fem_decomposition_options options = {.devices = devices, .cut = cut, .precision = FEM_DOUBLE, .operator_kind = FEM_MATRIXFREE};
    fem_decomposition *decomposition;
    fem_vector *u, *au;
    multigrid_blocks *blocks;
    multigrid_partition p;
    double *values = block_zeros(dofs_of(b), sizeof *values), *found = block_zeros(dofs_of(b), sizeof *found);
    assert_int_equal(fem_decomposition_create(b->space, b->constraints, &options, &decomposition), YOKE_OK);
    assert_int_equal(fem_vector_create(decomposition, &u), YOKE_OK);
    assert_int_equal(fem_vector_create(decomposition, &au), YOKE_OK);
    make_partition(b, 1e9, &p);
    assert_int_equal(multigrid_blocks_create(b->space, b->constraints, &blocks), YOKE_OK);
    assert_true(multigrid_blocks_memory_bytes(blocks) > 0);
    for (int32_t k = 0; k < p.num_blocks; k += p.num_blocks / 20 + 1) {
        double off = 0, largest = 0;
        memset(values, 0, sizeof *values * (size_t)dofs_of(b));
        for (int32_t i = p.begin[k]; i < p.begin[k + 1]; i++)
            for (int c = 0; c < n; c++)
                if (!(b->constraints->prescribed[p.node[i]] >> c & 1)) values[(int64_t)p.node[i] * n + c] = 2 * block_random(random) - 1;
        fem_vector_write(u, values);
        fem_decomposition_product(decomposition, 0, u, au);
        fem_vector_read(au, found);
        multigrid_blocks_solve(blocks, 2, found, found);
        for (int32_t i = p.begin[k]; i < p.begin[k + 1]; i++) {
            for (int c = 0; c < n; c++) {
                const double expected = 2 * values[(int64_t)p.node[i] * n + c];
                off = fmax(off, fabs(found[(int64_t)p.node[i] * n + c] - expected));
                largest = fmax(largest, fabs(expected));
            }
        }
        const int nodes = p.begin[k + 1] - p.begin[k];
        if (!(off <= (2e-4 + 1e-6 * nodes) * largest)) fail_msg("block %d of %d nodes: off by %g of %g", k, nodes, off, largest);
    }
    multigrid_blocks_destroy(blocks);
    multigrid_partition_release(b->context, &p);
    fem_vector_destroy(u);
    fem_vector_destroy(au);
    fem_decomposition_destroy(decomposition);
    free(values);
    free(found);
}

static void assert_body_has_inverse_blocks(const shape *of, fem_element element, double then, uint64_t *random)
{
    block b;
    fem_devices *devices;
    create(of, element, 0, then, &b);
    assert_int_equal(fem_devices_open(b.context, NULL, &devices), YOKE_OK);
    assert_blocks_are_inverse(&b, devices, random);
    fem_devices_close(devices);
    block_destroy(&b);
}

static void blocks_are_solved_as_the_operator_says(void **state)
{
    (void)state;
    uint64_t random = 11;
    for (int components = 1; components <= 3; components += 2) {
        for (int i = 0; i < 6; i++) {
            shape one = i < 3 ? thin : needles;
            one.components = components;
            assert_body_has_inverse_blocks(&one, elements[i % 3], i % 3 == 2 ? 0.3 : 0.5, &random);
        }
    }
}

/* Their matrices are made in several portions, and a factor's rows are hundreds of entries long. */
static void large_blocks_are_solved_as_the_operator_says(void **state)
{
    (void)state;
    uint64_t random = 12;
    assert_body_has_inverse_blocks(&wide_needles, FEM_Q2, 0, &random);
}

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

static void assert_iterations(const shape *of, fem_element element, int refinements, double then, int64_t direct_dofs, int most)
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
    const shape *bodies[] = {&thin, &needles, &graded, &curved};
    const fem_element element[] = {FEM_Q1, FEM_S2, FEM_Q2, FEM_Q1};
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
            if (!(fabs(uv - vu) <= 1e-4 * sqrt(uu * vv))) fail_msg("body %d: %g and %g, norms %g", i, uv, vu, sqrt(uu * vv));
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
    shape plate = thin;
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

static fem_multigrid_work work_of(const shape *of, fem_element element, int refinements, int64_t direct_dofs, double *dofs)
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
    const shape cube = {NULL, {3, 3, 3}, 3, 0, 1, 1, 0.3};
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
    cmocka_unit_test(lines_through_a_plate_are_blocks),
    cmocka_unit_test(cross_sections_of_needles_are_blocks),
    cmocka_unit_test(wide_cross_sections_are_blocks_where_memory_allows),
    cmocka_unit_test(a_cube_has_no_blocks),
    cmocka_unit_test(blocks_are_solved_as_the_operator_says),
    cmocka_unit_test(large_blocks_are_solved_as_the_operator_says),
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
