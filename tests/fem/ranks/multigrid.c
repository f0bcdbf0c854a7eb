/* The multigrid on several ranks: the cycle of one rank where levels are distributed, blocks that ranks share, algebraic multigrid on all ranks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "fem/fixtures/body.h"
#include "solver/multigrid/multigrid.h"
#include "twins.h"

/* A space with devices, a decomposition and a multigrid. */
typedef struct solver {
    const block *b;
    fem_devices *devices;
    int32_t cut[FEM_MAX_DEVICES + 1];
    fem_decomposition *decomposition;
    fem_multigrid *multigrid;
    int64_t dofs;
    double *values;
} solver;

static void solver_create(const block *b, const char *devices, const fem_multigrid_options *options, solver *s)
{
    memset(s, 0, sizeof *s);
    s->b = b;
    s->dofs = (int64_t)b->space->num_nodes * b->space->components;
    s->values = block_zeros(s->dofs, sizeof *s->values);
    assert_int_equal(fem_devices_open(b->context, devices, &s->devices), YOKE_OK);
    for (int i = 0; i <= s->devices->count; i++) s->cut[i] = (int32_t)((int64_t)b->space->num_elements * i / s->devices->count);
    const fem_decomposition_options decomposition = {
        .devices = s->devices, .cut = s->cut, .precision = FEM_DOUBLE, .operator_kind = FEM_MATRIXFREE};
    fem_multigrid_options own = *options;
    own.devices = s->devices;
    own.cut = s->cut;
    assert_int_equal(fem_decomposition_create(b->space, b->constraints, &decomposition, &s->decomposition), YOKE_OK);
    if (fem_multigrid_create(b->space, b->constraints, &own, NULL, &s->multigrid)) fail_msg("%s", yoke_last_error(b->context));
}

static void solver_destroy(solver *s)
{
    free(s->values);
    fem_multigrid_destroy(s->multigrid);
    fem_decomposition_destroy(s->decomposition);
    fem_devices_close(s->devices);
}

static double number_of(int64_t dof)
{
    uint64_t random = (uint64_t)dof + 1;
    block_random(&random);
    return 2 * block_random(&random) - 1;
}

/* Numbers that depend on the dof only. */
static void fill(solver *s)
{
    const int n = s->b->space->components;
    for (int64_t i = 0; i < s->dofs; i++) s->values[i] = number_of(fem_space_global_node(s->b->space, (int32_t)(i / n)) * n + i % n);
}

/* values = M of `fill`, masked. */
static void apply(solver *s)
{
    fem_vector *r, *z;
    const fem_approximate_inverse inverse = fem_multigrid_inverse(s->multigrid);
    assert_int_equal(fem_vector_create(s->decomposition, &r), YOKE_OK);
    assert_int_equal(fem_vector_create(s->decomposition, &z), YOKE_OK);
    fill(s);
    fem_vector_write(r, s->values);
    fem_vector_mask(r);
    assert_int_equal(inverse.apply(inverse.state, r, sqrt(fem_vector_dot(r, r)), z), YOKE_OK);
    fem_vector_read(z, s->values);
    fem_vector_destroy(r);
    fem_vector_destroy(z);
}

/* Iterations to a residual of 1e-8 for the right side of `fill`; values = the solution.  *energy: its energy. */
static int iterate(solver *s, double *energy)
{
    fem_vector *vector[3];
    fem_cg_result result;
    const fem_cg_options options = {.relative_residual = 1e-8, .max_iterations = 200, .stagnation = 60, .from_zero = 1};
    const fem_approximate_inverse inverse = fem_multigrid_inverse(s->multigrid);
    for (int i = 0; i < 3; i++) assert_int_equal(fem_vector_create(s->decomposition, &vector[i]), YOKE_OK);
    fill(s);
    fem_vector_write(vector[0], s->values);
    fem_vector_mask(vector[0]);
    fem_vector_zero(vector[1]);
    if (fem_cg(s->decomposition, &inverse, vector[0], vector[1], vector[2], &options, NULL, &result))
        fail_msg("%s", yoke_last_error(s->b->context));
    *energy = 0.5 * fem_vector_dot(vector[1], vector[2]);
    fem_vector_read(vector[1], s->values);
    for (int i = 0; i < 3; i++) fem_vector_destroy(vector[i]);
    return result.iterations;
}

/* The cycle of one rank, up to rounding in single precision, and the same bits each time; what it costs is the same, but for lanes that stay empty. */
static void assert_cycle_of_one_rank(const twins *t, const char *devices, const fem_multigrid_options *options, int levels)
{
    solver alone, shared, again;
    const int n = t->shared.space->components;
    double off = 0, largest = 0;
    solver_create(&t->alone, NULL, options, &alone);
    solver_create(&t->shared, devices, options, &shared);
    solver_create(&t->shared, devices, options, &again);
    if (t->shared.space->ranks && fem_multigrid_levels(shared.multigrid) != levels)
        fail_msg("%d levels are distributed, not %d, of %lld elements", fem_multigrid_levels(shared.multigrid), levels,
                 (long long)t->shared.space->num_global_elements);
    apply(&alone);
    apply(&shared);
    apply(&again);
    assert_memory_equal(again.values, shared.values, sizeof(double) * (size_t)shared.dofs);
    for (int64_t i = 0; i < alone.dofs; i++) largest = fmax(largest, fabs(alone.values[i]));
    for (int64_t i = 0; i < shared.dofs; i++)
        off = fmax(off, fabs(shared.values[i] - alone.values[fem_space_global_node(t->shared.space, (int32_t)(i / n)) * n + i % n]));
    if (!(off <= 2e-5 * largest))
        fail_msg("off by %g of %g with %d distributed levels of %lld elements", off, largest, levels,
                 (long long)t->shared.space->num_global_elements);
    const fem_multigrid_work one = fem_multigrid_get_work(alone.multigrid), all = fem_multigrid_get_work(shared.multigrid);
    assert_true(fabs(all.setup / one.setup - 1) < 0.2 && fabs(all.iteration / one.iteration - 1) < 0.2);
    solver_destroy(&alone);
    solver_destroy(&shared);
    solver_destroy(&again);
}

/* ------------------------------------------------------------------------------------------------ stretched bodies */

static void scale(const double in[3], double y, double z, double out[3])
{
    out[0] = in[0];
    out[1] = y * (in[1] + 0.1 * in[0] * in[0]);
    out[2] = z * (in[2] + 0.1 * in[0] * in[1]);
}

static void flatten(const double in[3], double out[3]) { scale(in, 1, 0.03, out); }

static void flatten_less(const double in[3], double out[3]) { scale(in, 1, 0.15, out); }

/* Needles: blocks are cross-sections. */
static void lengthen(const double in[3], double out[3]) { scale(in, 0.2, 0.2, out); }

/* Unevenly refined with `then` > 0; few elements are many, and few dofs too many for a factor. */
static void create(twins *t, cube_map *map, const int elements[3], int refinements, double then, fem_element element)
{
    uint64_t random = 3;
    const block_options options = {.elements = {elements[0], elements[1], elements[2]}, .map = map, .order = 2, .turn = 5, .components = 3};
    twins_create(&options, t);
    t->shared.forest->most_gathered = 20;
    twins_add_condition(t, (fem_condition){FEM_DIRICHLET, 0, 7, {0, 0, 0}});
    for (int i = 0; i < refinements; i++) twins_refine(t, 1, &random, NULL);
    if (then > 0) twins_refine(t, then, &random, NULL);
    twins_discretise(t, element);
}

static void check_stretched(cube_map *map, const int elements[3], int refinements, double then, fem_element element, int levels)
{
    const fem_multigrid_options options = {.direct_dofs = 400};
    twins t;
    create(&t, map, elements, refinements, then, element);
    assert_cycle_of_one_rank(&t, NULL, &options, levels);
    assert_cycle_of_one_rank(&t, "openmp:0,openmp:1", &options, levels);
    twins_destroy(&t);
}

/* Lines through the plate lie on several ranks where it is cut across. */
static void of_a_plate_the_cycle_is_that_of_one_rank(void **state)
{
    (void)state;
    static const int one_thick[3] = {4, 4, 1}, three_thick[3] = {2, 2, 3};
    check_stretched(flatten, one_thick, 1, 0, FEM_Q2, 2);
    check_stretched(flatten, one_thick, 1, 0.3, FEM_Q2, 3);
    check_stretched(flatten_less, three_thick, 1, 0, FEM_S2, 2);
    check_stretched(flatten_less, three_thick, 2, 0, FEM_Q1, 3);
}

static void of_needles_the_cycle_is_that_of_one_rank(void **state)
{
    (void)state;
    static const int needles[3] = {2, 4, 4};
    check_stretched(lengthen, needles, 1, 0, FEM_Q2, 3);
    check_stretched(lengthen, needles, 1, 0.3, FEM_Q1, 3);
}

/* ----------------------------------------------------------------------------------------------- algebraic multigrid */

static void check_large(cube_map *map, int components, fem_element element, int count, const char *name)
{
    const block_options of = {.elements = {count, count, count}, .map = map, .order = 2, .turn = 5, .components = components};
    const fem_multigrid_options options = {.direct_dofs = 100, .algebraic_dofs = 1};
    solver alone, shared, again;
    twins t;
    double energy[3];
    int iterations[3];
    twins_create(&of, &t);
    t.shared.forest->most_gathered = 20;
    twins_add_condition(&t, (fem_condition){FEM_DIRICHLET, 0, 7, {0, 0, 0}});
    assert_int_equal(fem_forest_partition(t.shared.forest, NULL), YOKE_OK);
    twins_discretise(&t, element);
    solver_create(&t.alone, NULL, &options, &alone);
    solver_create(&t.shared, NULL, &options, &shared);
    solver_create(&t.shared, NULL, &options, &again);
    assert_string_equal(fem_multigrid_coarse_name(alone.multigrid), name);
    assert_string_equal(fem_multigrid_coarse_name(shared.multigrid), name);
    iterations[0] = iterate(&alone, &energy[0]);
    iterations[1] = iterate(&shared, &energy[1]);
    iterations[2] = iterate(&again, &energy[2]);
    assert_int_equal(iterations[2], iterations[1]);
    assert_memory_equal(again.values, shared.values, sizeof(double) * (size_t)shared.dofs);
    if (!(fabs(energy[1] / energy[0] - 1) < 1e-8)) fail_msg("energy off by %g", energy[1] / energy[0] - 1);
    if (abs(iterations[1] - iterations[0]) > 1) fail_msg("%d iterations instead of %d", iterations[1], iterations[0]);
    solver_destroy(&alone);
    solver_destroy(&shared);
    solver_destroy(&again);
    twins_destroy(&t);
}

static void algebraic_multigrid_on_all_ranks_solves_as_on_one(void **state)
{
    (void)state;
    check_large(body_bend, 3, FEM_Q1, 8, "boomeramg");
    check_large(body_bend, 3, FEM_Q2, 6, "boomeramg");
    check_large(body_bend, 1, FEM_Q1, 9, "boomeramg");
}

/* Where cuts have moved, and without the keeper: the same solution up to rounding.  Twice, with the same bits; the levels were made so many times. */
static void assert_levels_made(const twins *t, fem_coarse_keeper *keeper, int made)
{
    const fem_multigrid_options anew = {.direct_dofs = 100, .algebraic_dofs = 1},
                                kept = {.direct_dofs = 100, .algebraic_dofs = 1, .keeper = keeper};
    const int64_t before = fem_coarse_keeper_made(keeper);
    solver without, with, again;
    double energy[3];
    int iterations[3];
    solver_create(&t->shared, NULL, &anew, &without);
    iterations[0] = iterate(&without, &energy[0]);
    solver_create(&t->shared, NULL, &kept, &with);
    iterations[1] = iterate(&with, &energy[1]);
    solver_destroy(&with);
    solver_create(&t->shared, NULL, &kept, &again);
    iterations[2] = iterate(&again, &energy[2]);
    assert_int_equal(fem_coarse_keeper_made(keeper) - before, made);
    assert_string_equal(fem_multigrid_coarse_name(again.multigrid), "boomeramg");
    assert_true(iterations[2] == iterations[1] && energy[2] == energy[1]);
    if (!(fabs(energy[1] / energy[0] - 1) < 1e-8)) fail_msg("energy off by %g", energy[1] / energy[0] - 1);
    if (abs(iterations[1] - iterations[0]) > 1) fail_msg("%d iterations instead of %d", iterations[1], iterations[0]);
    solver_destroy(&without);
    solver_destroy(&again);
}

static void algebraic_levels_are_kept_where_ranks_have_other_elements(void **state)
{
    (void)state;
    const block_options of = {.elements = {7, 7, 7}, .map = body_bend, .order = 2, .turn = 5, .components = 3};
    const double shares[][4] = {{1, 1, 1, 1}, {4, 1, 2, 3}, {1, 0, 5, 1}}; /* a rank without elements, too */
    fem_coarse_keeper *keeper;
    uint64_t random = 3;
    twins t;
    twins_create(&of, &t);
    t.shared.forest->most_gathered = 20;
    twins_add_condition(&t, (fem_condition){FEM_DIRICHLET, 0, 7, {0, 0, 0}});
    assert_int_equal(fem_coarse_keeper_create(t.shared.context, &keeper), YOKE_OK);
    for (int i = 0; i < 3; i++) {
        twins_refine(&t, i ? 0.1 : 0, &random, shares[i]);
        twins_discretise(&t, FEM_Q1);
        assert_levels_made(&t, keeper, i == 0);
    }
    t.shared.material[0].mu *= 1.01;
    assert_levels_made(&t, keeper, 1);
    t.shared.mesh.geometry[0] -= 0.01; /* on every rank, of an element that one has */
    twins_discretise(&t, FEM_Q1);
    assert_levels_made(&t, keeper, 1);
    fem_coarse_keeper_destroy(keeper);
    twins_destroy(&t);
}

static void a_large_last_level_of_a_plate_is_factored_where_that_is_cheap(void **state)
{
    (void)state;
    check_large(flatten, 3, FEM_Q2, 6, "cholmod");
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(of_a_plate_the_cycle_is_that_of_one_rank),
                                          cmocka_unit_test(of_needles_the_cycle_is_that_of_one_rank),
                                          cmocka_unit_test(algebraic_multigrid_on_all_ranks_solves_as_on_one),
                                          cmocka_unit_test(algebraic_levels_are_kept_where_ranks_have_other_elements),
                                          cmocka_unit_test(a_large_last_level_of_a_plate_is_factored_where_that_is_cheap)};

UNIT_MAIN(tests, twins_start, twins_end)
