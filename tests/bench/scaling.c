/*
 * scaling.c - iterations of yoke fem on many ranks: cuts and shared nodes by hand, and the formula beside simulated ranks.
 */
#include "unit.h"

#include <math.h>

#include "scaling/study.h"

static int create(void **state) { return yoke_context_create(NULL, (yoke_context **)state); }

static int destroy(void **state)
{
    yoke_context_destroy(*state);
    return 0;
}

static const scaling_machine machine = {2e-6, 4e-7};
static const scaling_solver solver = {20000, 4};

static void levels_end_on_one_rank(void **state)
{
    (void)state;
    scaling_levels levels;
    scaling_make_levels(20000, &solver, &levels);
    assert_int_equal(levels.count, 2); /* q2 and q1 on the mesh, which rank 0 has */
    assert_true(levels.granule == 1);
    scaling_make_levels(8 * 20000 + 8, &solver, &levels);
    assert_int_equal(levels.count, 4);
    assert_true(levels.granule == 64 && levels.elements[3] == levels.elements[0] / 64);
    scaling_make_levels(1e9, &solver, &levels); /* cuts are aligned four times at most */
    assert_int_equal(levels.count, 6);
    assert_true(levels.granule == 4096);
}

/* Per level in an iteration: 8 products, the restriction to it or the finest product, an interpolation; z; and rank 0's messages. */
static void two_ranks_send_what_yoke_fem_sends(void **state)
{
    (void)state;
    const scaling_network network = {.bytes_per_s = 1e9};
    scaling_terms terms;
    scaling_formula(&network, &machine, &solver, 7680, 2, &terms);
    assert_true(fabs(terms.messages - 26) < 1e-9); /* docs/notes/fem-ranks.md: 26.3 with those before the first iteration */
    scaling_formula(&network, &machine, &solver, 61440, 2, &terms);
    assert_true(fabs(terms.messages - 46) < 1e-9); /* 46.3 */
    scaling_formula(&network, &machine, &solver, 7680, 1, &terms);
    assert_true(terms.messages == 0 && terms.bytes == 0);
    assert_true(fabs(terms.total_s - 7680 * (machine.fine_s + machine.coarse_s * 8 / 7)) < 1e-12);
}

/* A cube of 4 x 4 x 4 cells on 8 ranks: each has 2 x 2 x 2 of them and 7 neighbours. */
static void shared_nodes_by_hand(void **state)
{
    yoke_context *context = *state;
    scaling_mesh mesh = {.trees = 1, .depth = 2, .ranks = 8};
    scaling_graph graph;
    int faces = 0, edges = 0, corners = 0;
    assert_int_equal(scaling_mesh_cut(context, &mesh, 8), YOKE_OK);
    for (int r = 0; r <= 8; r++) assert_int_equal(mesh.first[r], 8 * r);
    assert_int_equal(scaling_graph_create(context, &mesh, 2, &graph), YOKE_OK);
    for (int r = 0; r < 8; r++) {
        assert_int_equal(graph.first[r + 1] - graph.first[r], 7);
        for (int64_t i = graph.first[r]; i < graph.first[r + 1]; i++) {
            const scaling_border *border = &graph.border[i];
            const double nodes = scaling_border_nodes(border, 2); /* q2: 5 nodes on a side of 2 cells */
            faces += border->faces == 4 && nodes == 25;
            edges += border->faces == 0 && border->edges == 2 && nodes == 5;
            corners += border->faces == 0 && border->edges == 0 && nodes == 1;
        }
    }
    assert_int_equal(faces, 8 * 3);
    assert_int_equal(edges, 8 * 3);
    assert_int_equal(corners, 8);
    scaling_graph_release(context, &graph);
    yoke_release(context, mesh.first);
}

static void neighbours_know_of_each_other(void **state)
{
    yoke_context *context = *state;
    scaling_mesh mesh = {.trees = 3, .depth = 3, .ranks = 50};
    scaling_graph graph;
    assert_int_equal(scaling_mesh_cut(context, &mesh, 8), YOKE_OK);
    assert_int_equal(mesh.first[50], 27 * 512);
    assert_int_equal(scaling_graph_create(context, &mesh, 3, &graph), YOKE_OK);
    for (int32_t r = 0; r < 50; r++)
        for (int64_t i = graph.first[r]; i < graph.first[r + 1]; i++) {
            const scaling_border *one = &graph.border[i], *other = NULL;
            for (int64_t k = graph.first[one->neighbour]; k < graph.first[one->neighbour + 1]; k++)
                if (graph.border[k].neighbour == r) other = &graph.border[k];
            assert_non_null(other);
            assert_true(other->faces == one->faces && other->edges == one->edges && other->corners == one->corners);
        }
    scaling_graph_release(context, &graph);
    yoke_release(context, mesh.first);
}

/* Ranks that are cubes, as the formula takes them: the simulation sends as much, and takes as long but for the wait of some. */
static void the_formula_is_what_simulated_cubes_do(void **state)
{
    yoke_context *context = *state;
    const scaling_network networks[] = {{"fast", "", 1e-6, 1e-7, 1e10}, {"slow", "", 5e-5, 5e-6, 1e8}};
    for (int n = 0; n < 2; n++)
        for (int depth = 4; depth <= 6; depth++) {
            scaling_mesh mesh = {.trees = 2, .depth = depth, .ranks = 8};
            scaling_terms terms;
            scaling_simulated simulated;
            const double elements = (double)scaling_mesh_elements(&mesh);
            scaling_formula(&networks[n], &machine, &solver, elements, 8, &terms);
            assert_int_equal(scaling_simulate(context, &networks[n], &machine, &solver, &mesh, 0, &simulated), YOKE_OK);
            assert_true(fabs(simulated.messages - terms.messages) < 1e-6);
            assert_true(fabs(simulated.bytes / terms.bytes - 1) < 0.02);
            assert_true(fabs(simulated.iteration_s / terms.total_s - 1) < 0.05);
            assert_true(simulated.largest == 1 && simulated.neighbours == 7);
        }
}

static void cuts_between_granules_cost_what_the_formula_says(void **state)
{
    yoke_context *context = *state;
    const scaling_network network = {.bytes_per_s = 1e12};
    scaling_mesh mesh = {.trees = 1, .depth = 6, .ranks = 100}; /* 262 144 elements in 4096 granules of 64 */
    scaling_terms terms;
    scaling_simulated simulated;
    scaling_formula(&network, &machine, &solver, (double)scaling_mesh_elements(&mesh), 100, &terms);
    assert_int_equal(scaling_simulate(context, &network, &machine, &solver, &mesh, 0, &simulated), YOKE_OK);
    assert_true(fabs(simulated.largest - 41 / 40.96) < 1e-9);
    assert_true(fabs(simulated.work_s - terms.work_s - terms.imbalance_s) < 1e-9 * terms.work_s);
    const double quiet = simulated.iteration_s;
    assert_int_equal(scaling_simulate(context, &network, &machine, &solver, &mesh, 0.2, &simulated), YOKE_OK);
    assert_true(simulated.iteration_s > 1.1 * quiet && simulated.iteration_s < 1.2 * quiet); /* all wait for the slowest one */
}

static void more_ranks_than_elements_are_simulated(void **state)
{
    yoke_context *context = *state;
    const scaling_network network = {.latency_s = 1e-6, .bytes_per_s = 1e9};
    scaling_mesh mesh = {.trees = 1, .depth = 1, .ranks = 20};
    scaling_simulated simulated;
    assert_int_equal(scaling_simulate(context, &network, &machine, &solver, &mesh, 0, &simulated), YOKE_OK);
    assert_true(isfinite(simulated.iteration_s) && simulated.iteration_s > 0 && simulated.most_neighbours == 7);
}

static void efficiency_is_that_of_the_definition(void **state)
{
    scaling_setting setting = {.network = {.bytes_per_s = 1e9}, .machine = machine, .solver = solver, .most_ranks = 10000};
    scaling_row rows[SCALING_MAX_ROWS];
    const int count = scaling_rows(&setting, rows);
    assert_true(count > 4 && count <= SCALING_MAX_ROWS);
    for (int i = 0; i < count; i++) {
        scaling_row *row = &rows[i];
        assert_int_equal(scaling_try(*state, &setting, row), YOKE_OK);
        const double efficiency = scaling_efficiency(row);
        const double alone = (double)row->elements * (machine.fine_s + machine.coarse_s * 8 / 7);
        assert_true(fabs(efficiency - alone / ((double)row->ranks * row->terms.total_s)) < 1e-9);
        assert_true(efficiency > 0 && efficiency <= 1 && isnan(scaling_simulated_efficiency(row)));
        assert_true(i == 0 || row->weak != rows[i - 1].weak || efficiency <= 1.02 * scaling_efficiency(&rows[i - 1]));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(levels_end_on_one_rank),
    cmocka_unit_test(two_ranks_send_what_yoke_fem_sends),
    cmocka_unit_test(shared_nodes_by_hand),
    cmocka_unit_test(neighbours_know_of_each_other),
    cmocka_unit_test(the_formula_is_what_simulated_cubes_do),
    cmocka_unit_test(cuts_between_granules_cost_what_the_formula_says),
    cmocka_unit_test(more_ranks_than_elements_are_simulated),
    cmocka_unit_test(efficiency_is_that_of_the_definition),
};

UNIT_MAIN(tests, create, destroy)
