/* The finite element space: node numbers, positions, interpolation at hanging nodes, on meshes whose elements are turned against each other. */
#include "space/space.h"

#include <math.h>

#include "unit.h"

#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/maps.h"
#include "fem/fixtures/reference_operator.h"
#include "mesh/shape.h"
#include "near.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

/* A block, refined three times at random places. */
static void create(block *b, const int n[3], cube_map *map, int order, int turn, uint64_t seed)
{
    block_options options = {.elements = {n[0], n[1], n[2]}, .map = map, .order = order, .turn = turn, .components = 1};
    block_create(&options, b);
    for (int i = 0; i < 3; i++) block_refine(b, i == 0 ? 0.6 : 0.2, &seed);
}

static int has_node(const fem_space *space, int slot)
{
    return space->element != FEM_S2 || (slot % 3 == 1) + (slot / 3 % 3 == 1) + (slot / 9 == 1) < 2;
}

/* Position of a reference point of leaf e by the coarse element's map. */
static void place_in_tree(const block *b, const fem_space *space, int32_t e, const double r[3], double x[3])
{
    int n = b->mesh.order + 1;
    double in_tree[3], value[27];
    fem_space_tree_point(space, e, r, in_tree);
    fem_shape(n, in_tree, value, NULL, NULL);
    x[0] = x[1] = x[2] = 0;
    for (int s = 0; s < n * n * n; s++)
        for (int a = 0; a < 3; a++) x[a] += value[s] * b->mesh.geometry[3 * ((int64_t)n * n * n * space->tree[e] + s) + a];
}

/* ------------------------------------------------------------------------------------------------- positions */

static void assert_positions_follow_the_coarse_map(cube_map *map, int order, fem_element element)
{
    block b;
    create(&b, (int[3]){2, 2, 2}, map, order, 5, 11);
    block_discretise(&b, element);
    assert_true(b.space->num_hanging > 100);
    for (int32_t e = 0; e < b.space->num_elements; e++) {
        double local[81];
        fem_space_geometry(b.space, e, local);
        for (int s = 0; s < b.space->slots; s++) {
            double r[3], x[3];
            fem_slot_point(b.space->slots_1d, s, r);
            place_in_tree(&b, b.space, e, r, x);
            for (int a = 0; a < 3; a++) assert_near(local[3 * s + a], x[a], 1e-13);
        }
    }
    block_destroy(&b);
}

/* The map is linear along each edge and bilinear on each face, so interpolation at hanging nodes and middles changes nothing. */
static void positions_follow_straight_coarse_elements_exactly(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) assert_positions_follow_the_coarse_map(body_bend, 1, elements[i]);
}

static void positions_of_q2_follow_curved_coarse_elements_exactly(void **state)
{
    (void)state;
    assert_positions_follow_the_coarse_map(body_bend, 2, FEM_Q2);
}

static void refined_elements_fill_the_volume_of_the_coarse_ones(void **state)
{
    (void)state;
    for (int order = 1; order <= 2; order++)
        for (int i = 0; i < 3; i++) {
            if (order == 2 && elements[i] != FEM_Q2) continue; /* the others only approximate a curved body */
            block b;
            block_options options = {.elements = {2, 2, 1}, .map = body_bend, .order = order, .turn = 7, .components = 1};
            block_create(&options, &b);
            block_discretise(&b, order == 1 ? FEM_Q1 : FEM_Q2);
            double whole = reference_volume(b.space);
            block_destroy(&b);
            create(&b, (int[3]){2, 2, 1}, body_bend, order, 7, 3);
            block_discretise(&b, elements[i]);
            assert_near(reference_volume(b.space), whole, 1e-12 * whole);
            block_destroy(&b);
        }
}

/* ------------------------------------------------------------------------------------------------ polynomials */

static double polynomial(const double x[3], int degree)
{
    double linear = 3 - 2 * x[0] + 0.5 * x[1] + 4 * x[2];
    if (degree == 1) return linear;
    return linear + x[0] * x[0] - 2 * x[1] * x[1] + 0.7 * x[2] * x[2] + 3 * x[1] * x[2] - 5 * x[0] * x[2] + 1.3 * x[0] * x[1];
}

/* The nodal interpolant of a polynomial has its values at all slots, hanging ones included, at their true places. */
static void assert_polynomial_is_reproduced(cube_map *map, fem_element element, int degree)
{
    block b;
    create(&b, (int[3]){2, 2, 2}, map, 1, 5, 23);
    block_discretise(&b, element);
    double *u = block_zeros(b.space->num_nodes, sizeof *u);
    for (int64_t i = 0; i < b.space->num_nodes; i++) u[i] = polynomial(b.space->x + 3 * i, degree);
    for (int32_t e = 0; e < b.space->num_elements; e++) {
        double local[27];
        fem_space_expand(b.space, e, 1, u, local);
        for (int s = 0; s < b.space->slots; s++) {
            double r[3], x[3];
            fem_slot_point(b.space->slots_1d, s, r);
            place_in_tree(&b, b.space, e, r, x);
            assert_near(local[s], polynomial(x, degree), 1e-12);
        }
    }
    free(u);
    block_destroy(&b);
}

static void linear_fields_are_reproduced_on_distorted_meshes_with_hanging_nodes(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) assert_polynomial_is_reproduced(body_bend, elements[i], 1);
}

static void quadratic_fields_are_reproduced_by_s2_and_q2_on_affine_meshes(void **state)
{
    (void)state;
    assert_polynomial_is_reproduced(map_shear, FEM_S2, 2);
    assert_polynomial_is_reproduced(map_shear, FEM_Q2, 2);
}

/* ------------------------------------------------------------------------------------------------- continuity */

/*
 * The leaf's place in the unit cube, from a twin of the block that is not mapped: cube coordinates = low + size x (axes of the element turned).
 */
typedef struct cell {
    double origin[3], axis[3][3]; /* cube point of reference point r: origin + sum over a of r_a axis[a], axes parallel to the cube's */
} cell;

static void cell_of(const block *twin, int32_t e, cell *c)
{
    place_in_tree(twin, twin->space, e, (double[3]){0, 0, 0}, c->origin);
    for (int a = 0; a < 3; a++) {
        double r[3] = {a == 0, a == 1, a == 2}, end[3];
        place_in_tree(twin, twin->space, e, r, end);
        for (int k = 0; k < 3; k++) c->axis[a][k] = end[k] - c->origin[k];
    }
}

/* Whether the cube's point lies in the cell or on its boundary, and where. */
static int find_in_cell(const cell *c, const double point[3], double r[3])
{
    for (int a = 0; a < 3; a++) {
        double along = 0, square = 0;
        for (int k = 0; k < 3; k++) {
            along += (point[k] - c->origin[k]) * c->axis[a][k];
            square += c->axis[a][k] * c->axis[a][k];
        }
        r[a] = along / square;
        if (r[a] < -1e-9 || r[a] > 1 + 1e-9) return 0;
    }
    return 1;
}

static void evaluate(const fem_space *space, int32_t e, const double *u, int n, const double r[3], double *value)
{
    double local[81], shape[27];
    fem_space_expand(space, e, n, u, local);
    fem_shape(space->slots_1d, r, shape, NULL, NULL);
    for (int c = 0; c < n; c++) {
        value[c] = 0;
        for (int s = 0; s < space->slots; s++) value[c] += shape[s] * local[s * n + c];
    }
}

/* Positions and a field of random nodal values, at points of all faces of all leaves, from all leaves that the point belongs to. */
static int64_t assert_continuous(const block *b, const block *twin)
{
    static const double at[4][2] = {{0.3, 0.8}, {0.61, 0.27}, {0, 0.35}, {0.45, 1}};
    const fem_space *space = b->space;
    uint64_t random = 99;
    int64_t meetings = 0;
    double *u = block_random_array(space->num_nodes, &random);
    cell *cells = block_zeros(space->num_elements, sizeof *cells);
    for (int32_t e = 0; e < space->num_elements; e++) cell_of(twin, e, &cells[e]);
    for (int32_t e = 0; e < space->num_elements; e++)
        for (int f = 0; f < 6; f++)
            for (int p = 0; p < 4; p++) {
                double r[3], other_r[3], point[3], x[3], other_x[3], value, other;
                fem_face_point(f, at[p][0], at[p][1], r);
                for (int k = 0; k < 3; k++)
                    point[k] = cells[e].origin[k] + r[0] * cells[e].axis[0][k] + r[1] * cells[e].axis[1][k] + r[2] * cells[e].axis[2][k];
                evaluate(space, e, space->x, 3, r, x);
                evaluate(space, e, u, 1, r, &value);
                for (int32_t o = 0; o < e; o++) {
                    if (!find_in_cell(&cells[o], point, other_r)) continue;
                    meetings++;
                    evaluate(space, o, space->x, 3, other_r, other_x);
                    evaluate(space, o, u, 1, other_r, &other);
                    for (int a = 0; a < 3; a++) assert_near(x[a], other_x[a], 1e-12);
                    assert_near(value, other, 1e-12);
                }
            }
    free(cells);
    free(u);
    return meetings;
}

static void assert_continuous_block(const int n[3], int turn, uint64_t seed)
{
    block b, twin;
    create(&b, n, body_bend, 2, turn, seed);
    create(&twin, n, NULL, 1, turn, seed);
    for (int i = 0; i < 3; i++) {
        block_discretise(&b, elements[i]);
        block_discretise(&twin, elements[i]);
        assert_true(b.space->num_hanging > 0);
        assert_true(assert_continuous(&b, &twin) > 100);
    }
    block_destroy(&twin);
    block_destroy(&b);
}

static void functions_and_positions_are_continuous_over_hanging_faces_and_edges(void **state)
{
    (void)state;
    assert_continuous_block((int[3]){2, 2, 2}, 5, 31);
}

static void functions_are_continuous_between_elements_turned_in_each_of_the_24_ways(void **state)
{
    (void)state;
    for (int turn = 0; turn < BLOCK_TURNS; turn++) {
        block b, twin;
        block_options options = {.elements = {2, 1, 1}, .map = body_bend, .order = 2, .turn = turn, .components = 1};
        block_create(&options, &b);
        options.map = NULL;
        block_create(&options, &twin);
        fem_forest_refine(b.forest, (uint8_t[]){0, 1}); /* the turned one is finer */
        fem_forest_refine(twin.forest, (uint8_t[]){0, 1});
        for (int i = 0; i < 3; i++) {
            block_discretise(&b, elements[i]);
            block_discretise(&twin, elements[i]);
            assert_int_equal(b.space->num_elements, 9);
            assert_true(assert_continuous(&b, &twin) >= 16);
        }
        block_destroy(&twin);
        block_destroy(&b);
    }
}

/* --------------------------------------------------------------------------------------------------- counting */

static int compare_places(const void *a, const void *b) { return memcmp(a, b, 3 * sizeof(int32_t)); }

/* Place of a slot in units of 2^-20 of the unit cube: exact where elements per direction are powers of two. */
static void lattice(const block *b, int32_t e, int slot, int32_t place[3])
{
    double r[3], x[3];
    fem_slot_point(b->space->slots_1d, slot, r);
    place_in_tree(b, b->space, e, r, x);
    for (int a = 0; a < 3; a++) place[a] = (int32_t)lround(x[a] * (1 << 20));
}

/* A place carries an independent node when each leaf that it belongs to has a node just there. */
static int is_independent(const block *b, const cell *cells, const int32_t place[3])
{
    double point[3], r[3];
    for (int a = 0; a < 3; a++) point[a] = (double)place[a] / (1 << 20);
    for (int32_t e = 0; e < b->space->num_elements; e++) {
        int middles = 0, m = b->space->slots_1d - 1;
        if (!find_in_cell(&cells[e], point, r)) continue;
        for (int a = 0; a < 3; a++) {
            if (fabs(m * r[a] - lround(m * r[a])) > 1e-6) return 0;
            middles += fabs(r[a] - 0.5) < 1e-6;
        }
        if (b->space->element == FEM_S2 && middles >= 2) return 0;
    }
    return 1;
}

static void assert_counts(block *b, fem_element element)
{
    block_discretise(b, element);
    const fem_space *space = b->space;
    cell *cells = block_zeros(space->num_elements, sizeof *cells);
    int32_t(*places)[3] = block_zeros((int64_t)space->num_elements * space->slots, sizeof *places);
    int64_t count = 0, distinct = 0, independent = 0;
    for (int32_t e = 0; e < space->num_elements; e++) {
        cell_of(b, e, &cells[e]);
        for (int s = 0; s < space->slots; s++)
            if (has_node(space, s)) lattice(b, e, s, places[count++]);
    }
    qsort(places, (size_t)count, sizeof *places, compare_places);
    for (int64_t i = 0; i < count; i++) {
        if (i > 0 && compare_places(places[i], places[i - 1]) == 0) continue;
        distinct++;
        independent += is_independent(b, cells, places[i]);
    }
    assert_int_equal(space->num_nodes, independent);
    assert_int_equal(space->num_hanging, distinct - independent);
    for (int64_t i = 0; i < space->num_nodes; i++) { /* each node has a place of its own, an independent one */
        for (int a = 0; a < 3; a++) places[i][a] = (int32_t)lround(space->x[3 * i + a] * (1 << 20));
        assert_true(is_independent(b, cells, places[i]));
    }
    qsort(places, (size_t)space->num_nodes, sizeof *places, compare_places);
    for (int64_t i = 1; i < space->num_nodes; i++) assert_true(compare_places(places[i], places[i - 1]) != 0);
    free(places);
    free(cells);
}

static void assert_counts_by_places(fem_element element)
{
    for (int turn = 0; turn < 3; turn++) {
        block b;
        create(&b, (int[3]){2, 2, 2}, NULL, 1, 5 * turn, 40 + (uint64_t)turn);
        assert_counts(&b, element);
        assert_true(b.space->num_hanging > 50);
        block_destroy(&b);
    }
    for (int turn = 0; turn < BLOCK_TURNS; turn++) {
        block b;
        create(&b, (int[3]){2, 1, 1}, NULL, 1, turn, 7);
        assert_counts(&b, element);
        block_destroy(&b);
    }
}

static void independent_and_hanging_nodes_of_q1_are_those_counted_by_places(void **state)
{
    (void)state;
    assert_counts_by_places(FEM_Q1);
}

static void independent_and_hanging_nodes_of_s2_are_those_counted_by_places(void **state)
{
    (void)state;
    assert_counts_by_places(FEM_S2);
}

static void independent_and_hanging_nodes_of_q2_are_those_counted_by_places(void **state)
{
    (void)state;
    assert_counts_by_places(FEM_Q2);
}

/* ---------------------------------------------------------------------------------------------- linear algebra */

static void fold_is_the_transpose_of_expand(void **state)
{
    (void)state;
    block b;
    uint64_t random = 77;
    create(&b, (int[3]){2, 2, 2}, body_bend, 2, 5, 51);
    for (int i = 0; i < 3; i++)
        for (int n = 1; n <= 6; n += n == 1 ? 2 : 3) {
            block_discretise(&b, elements[i]);
            const fem_space *space = b.space;
            int64_t size = (int64_t)space->num_nodes * n;
            double *u = block_random_array(size, &random), *folded = block_zeros(size, sizeof(double)), local_dot = 0, nodal_dot = 0;
            for (int32_t e = 0; e < space->num_elements; e++) {
                double in[27 * 6], *v = block_random_array(space->slots * n, &random);
                fem_space_expand(space, e, n, u, in);
                for (int k = 0; k < space->slots * n; k++) local_dot += in[k] * v[k];
                fem_space_fold(space, e, n, v, folded);
                free(v);
            }
            for (int64_t k = 0; k < size; k++) nodal_dot += u[k] * folded[k];
            assert_near(nodal_dot, local_dot, 1e-11 * sqrt((double)size));
            free(folded);
            free(u);
        }
    block_destroy(&b);
}

static void rows_sum_to_one_and_agree_with_expand(void **state)
{
    (void)state;
    block b;
    uint64_t random = 78;
    create(&b, (int[3]){2, 2, 2}, body_bend, 2, 5, 52);
    for (int i = 0; i < 3; i++) {
        block_discretise(&b, elements[i]);
        const fem_space *space = b.space;
        double *u = block_random_array(space->num_nodes, &random);
        for (int32_t e = 0; e < space->num_elements; e++) {
            double local[27];
            fem_space_expand(space, e, 1, u, local);
            for (int s = 0; s < space->slots; s++) {
                int32_t node[FEM_MAX_ROW];
                double weight[FEM_MAX_ROW], sum = 0, value = 0;
                int count = fem_space_row(space, e, s, node, weight);
                assert_in_range(count, 1, FEM_MAX_ROW);
                for (int k = 0; k < count; k++) {
                    assert_in_range(node[k], 0, space->num_nodes - 1);
                    sum += weight[k];
                    value += weight[k] * u[node[k]];
                }
                assert_near(sum, 1, 1e-14);
                assert_near(value, local[s], 1e-14);
            }
        }
        free(u);
    }
    block_destroy(&b);
}

static void home_of_a_node_is_the_first_element_that_has_it_as_its_own(void **state)
{
    (void)state;
    block b;
    create(&b, (int[3]){2, 2, 2}, NULL, 1, 5, 53);
    for (int i = 0; i < 3; i++) {
        block_discretise(&b, elements[i]);
        const fem_space *space = b.space;
        int32_t *first = block_zeros(space->num_nodes, sizeof *first);
        for (int32_t node = 0; node < space->num_nodes; node++) first[node] = -1;
        for (int32_t e = 0; e < space->num_elements; e++)
            for (int s = 0; s < space->slots; s++) {
                double r[3], x[3];
                int32_t node = space->element_nodes[(int64_t)e * space->slots + s];
                if (node < 0) continue;
                fem_slot_point(space->slots_1d, s, r);
                place_in_tree(&b, space, e, r, x);
                int there = 1;
                for (int a = 0; a < 3; a++) there = there && fabs(x[a] - space->x[3 * (int64_t)node + a]) < 1e-9;
                if (there && first[node] < 0) first[node] = e;
            }
        for (int32_t node = 0; node < space->num_nodes; node++) {
            int32_t row[FEM_MAX_ROW], home = space->home_element[node];
            double weight[FEM_MAX_ROW];
            assert_true(first[node] >= 0 && home >= first[node]); /* a hanging slot may lie at a node's place before its home does */
            assert_int_equal(space->element_nodes[(int64_t)home * space->slots + space->home_slot[node]], node);
            assert_int_equal(fem_space_row(space, home, space->home_slot[node], row, weight), 1);
            assert_int_equal(row[0], node);
        }
        free(first);
    }
    block_destroy(&b);
}

static void corners_of_a_space_are_the_q1_space_on_its_leaves_to_the_bit(void **state)
{
    (void)state;
    block b;
    create(&b, (int[3]){2, 2, 2}, body_bend, 2, 5, 71);
    for (int i = 0; i < 3; i++) {
        fem_space *q1, *corners;
        block_discretise(&b, elements[i]);
        assert_int_equal(fem_space_create(&b.problem, b.forest, FEM_Q1, &q1), YOKE_OK);
        assert_int_equal(fem_space_create_corners(b.space, &corners), YOKE_OK);
        size_t n = (size_t)q1->num_elements, nodes = (size_t)q1->num_nodes;
        assert_int_equal(corners->element, FEM_Q1);
        assert_int_equal(corners->num_elements, q1->num_elements);
        assert_int_equal(corners->num_nodes, q1->num_nodes);
        assert_int_equal(corners->num_hanging, q1->num_hanging);
        assert_memory_equal(corners->element_nodes, q1->element_nodes, 8 * n * sizeof *q1->element_nodes);
        assert_memory_equal(corners->face_code, q1->face_code, n * sizeof *q1->face_code);
        assert_memory_equal(corners->tree, q1->tree, n * sizeof *q1->tree);
        assert_memory_equal(corners->corner, q1->corner, 3 * n * sizeof *q1->corner);
        assert_memory_equal(corners->level, q1->level, n * sizeof *q1->level);
        assert_memory_equal(corners->x, q1->x, 3 * nodes * sizeof *q1->x);
        assert_memory_equal(corners->home_element, q1->home_element, nodes * sizeof *q1->home_element);
        assert_memory_equal(corners->home_slot, q1->home_slot, nodes * sizeof *q1->home_slot);
        fem_space_destroy(corners);
        fem_space_destroy(q1);
    }
    block_destroy(&b);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(positions_follow_straight_coarse_elements_exactly),
    cmocka_unit_test(positions_of_q2_follow_curved_coarse_elements_exactly),
    cmocka_unit_test(refined_elements_fill_the_volume_of_the_coarse_ones),
    cmocka_unit_test(linear_fields_are_reproduced_on_distorted_meshes_with_hanging_nodes),
    cmocka_unit_test(quadratic_fields_are_reproduced_by_s2_and_q2_on_affine_meshes),
    cmocka_unit_test(functions_and_positions_are_continuous_over_hanging_faces_and_edges),
    cmocka_unit_test(functions_are_continuous_between_elements_turned_in_each_of_the_24_ways),
    cmocka_unit_test(independent_and_hanging_nodes_of_q1_are_those_counted_by_places),
    cmocka_unit_test(independent_and_hanging_nodes_of_s2_are_those_counted_by_places),
    cmocka_unit_test(independent_and_hanging_nodes_of_q2_are_those_counted_by_places),
    cmocka_unit_test(fold_is_the_transpose_of_expand),
    cmocka_unit_test(rows_sum_to_one_and_agree_with_expand),
    cmocka_unit_test(home_of_a_node_is_the_first_element_that_has_it_as_its_own),
    cmocka_unit_test(corners_of_a_space_are_the_q1_space_on_its_leaves_to_the_bit),
};

UNIT_MAIN(tests, body_start, body_end)
