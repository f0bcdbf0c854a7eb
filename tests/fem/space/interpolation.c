/* A function of one space seen in another one on the same or on finer leaves. */
#include "space/interpolation.h"

#include <math.h>

#include "unit.h"

#include "base/failing.h"
#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/maps.h"
#include "mesh/shape.h"
#include "near.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

/* A coarse space and a fine one on leaves `levels` deeper in places. */
typedef struct two_spaces {
    block b;
    fem_forest *coarse_forest;
    fem_space *coarse, *fine;
    fem_interpolation *p;
} two_spaces;

static void create(two_spaces *t, fem_element coarse, fem_element fine, int levels, int transpose)
{
    uint64_t random = 29;
    block_options options = {.elements = {2, 2, 1}, .map = map_shear, .order = 1, .turn = 5, .components = 1};
    memset(t, 0, sizeof *t);
    block_create(&options, &t->b);
    block_refine(&t->b, 0.6, &random);
    block_refine(&t->b, 0.3, &random);
    assert_int_equal(fem_forest_copy(t->b.forest, &t->coarse_forest), YOKE_OK);
    for (int i = 0; i < levels; i++) block_refine(&t->b, 0.2, &random);
    assert_int_equal(fem_space_create(&t->b.problem, t->coarse_forest, coarse, &t->coarse), YOKE_OK);
    assert_int_equal(fem_space_create(&t->b.problem, t->b.forest, fine, &t->fine), YOKE_OK);
    assert_true(t->coarse->num_hanging > 0 && t->fine->num_hanging > 0);
    assert_int_equal(fem_interpolation_create(t->coarse, t->fine, transpose, &t->p), YOKE_OK);
}

static void destroy(two_spaces *t)
{
    fem_interpolation_destroy(t->p);
    fem_space_destroy(t->fine);
    fem_space_destroy(t->coarse);
    fem_forest_destroy(t->coarse_forest);
    block_destroy(&t->b);
}

static double polynomial(const double x[3], int degree)
{
    double linear = 3 - 2 * x[0] + 0.5 * x[1] + 4 * x[2];
    if (degree == 1) return linear;
    return linear + x[0] * x[0] - 2 * x[1] * x[1] + 0.7 * x[2] * x[2] + 3 * x[1] * x[2] - 5 * x[0] * x[2] + 1.3 * x[0] * x[1];
}

static void assert_exact_for_polynomials(fem_element coarse, fem_element fine, int levels)
{
    two_spaces t;
    int degree = coarse == FEM_Q1 || fine == FEM_Q1 ? 1 : 2;
    create(&t, coarse, fine, levels, 0);
    double *u = block_zeros(3 * (int64_t)t.coarse->num_nodes, sizeof *u), *v = block_zeros(3 * (int64_t)t.fine->num_nodes, sizeof *v);
    for (int64_t i = 0; i < t.coarse->num_nodes; i++)
        for (int c = 0; c < 3; c++) u[3 * i + c] = (c - 1) * polynomial(t.coarse->x + 3 * i, degree);
    fem_interpolation_apply(t.p, 3, u, v);
    for (int64_t i = 0; i < t.fine->num_nodes; i++)
        for (int c = 0; c < 3; c++) assert_near(v[3 * i + c], (c - 1) * polynomial(t.fine->x + 3 * i, degree), 1e-12);
    free(v);
    free(u);
    destroy(&t);
}

static void polynomials_pass_exactly_to_leaves_one_level_finer(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) assert_exact_for_polynomials(elements[i], elements[i], 1);
}

static void polynomials_pass_exactly_to_leaves_three_levels_finer(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) assert_exact_for_polynomials(elements[i], elements[i], 3);
}

static void linear_fields_pass_exactly_from_q1_to_s2_and_q2_on_the_same_leaves(void **state)
{
    (void)state;
    assert_exact_for_polynomials(FEM_Q1, FEM_S2, 0);
    assert_exact_for_polynomials(FEM_Q1, FEM_Q2, 0);
}

static void s2_passes_exactly_to_q2(void **state)
{
    (void)state;
    assert_exact_for_polynomials(FEM_S2, FEM_Q2, 0);
    assert_exact_for_polynomials(FEM_S2, FEM_Q2, 2);
}

/* Whether the leaf of `space` holds the point of the tree, and where. */
static int in_leaf(const fem_space *space, int32_t e, int32_t tree, const double in_tree[3], double r[3])
{
    if (space->tree[e] != tree) return 0;
    for (int a = 0; a < 3; a++) {
        r[a] = (in_tree[a] - space->corner[3 * (int64_t)e + a] / (double)P8EST_ROOT_LEN) * (1 << space->level[e]);
        if (r[a] < 0 || r[a] > 1) return 0;
    }
    return 1;
}

/* Any function of the coarse space: its values at the fine nodes, found by search. */
static void values_at_fine_nodes_are_those_of_the_coarse_function(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int levels = 0; levels <= 2; levels++) {
            two_spaces t;
            uint64_t random = 4;
            create(&t, elements[i], elements[i], levels, 0);
            double *u = block_random_array(t.coarse->num_nodes, &random), *v = block_zeros(t.fine->num_nodes, sizeof *v);
            fem_interpolation_apply(t.p, 1, u, v);
            for (int32_t node = 0; node < t.fine->num_nodes; node++) {
                int32_t f = t.fine->home_element[node], c = 0;
                double r[3], in_tree[3], at[3], shape[27], local[27], value = 0;
                fem_slot_point(t.fine->slots_1d, t.fine->home_slot[node], r);
                fem_space_tree_point(t.fine, f, r, in_tree);
                while (!in_leaf(t.coarse, c, t.fine->tree[f], in_tree, at)) assert_true(++c < t.coarse->num_elements);
                fem_shape(t.coarse->slots_1d, at, shape, NULL, NULL);
                fem_space_expand(t.coarse, c, 1, u, local);
                for (int s = 0; s < t.coarse->slots; s++) value += shape[s] * local[s];
                assert_near(v[node], value, 1e-12);
                if (levels == 0) assert_near(v[node], u[node], 0);
            }
            free(v);
            free(u);
            destroy(&t);
        }
}

static void to_coarse_is_the_transpose(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        for (int levels = 0; levels <= 1; levels++) {
            two_spaces t;
            uint64_t random = 6;
            create(&t, i < 3 ? elements[i] : FEM_Q1, i < 3 ? elements[i] : FEM_Q2, levels, 1);
            double *u = block_random_array(t.coarse->num_nodes, &random), *w = block_random_array(t.fine->num_nodes, &random);
            double *v = block_zeros(t.fine->num_nodes, sizeof *v), fine = 0, coarse = 0;
            fem_interpolation_apply(t.p, 1, u, v);
            for (int64_t k = 0; k < t.fine->num_nodes; k++) fine += v[k] * w[k];
            for (int64_t c = 0; c < t.coarse->num_nodes; c++)
                for (int64_t k = t.p->to_coarse.start[c]; k < t.p->to_coarse.start[c + 1]; k++)
                    coarse += u[c] * (double)t.p->to_coarse.weight[k] * w[t.p->to_coarse.node[k]];
            assert_near(coarse, fine, 1e-11);
            assert_int_equal(t.p->to_coarse.start[t.coarse->num_nodes], t.p->to_fine.start[t.fine->num_nodes]);
            free(v);
            free(w);
            free(u);
            destroy(&t);
        }
}

static void coarser_leaves_are_refused(void **state)
{
    (void)state;
    two_spaces t;
    fem_interpolation *back = NULL;
    create(&t, FEM_Q1, FEM_Q1, 1, 0);
    assert_int_equal(fem_interpolation_create(t.fine, t.coarse, 0, &back), YOKE_ERROR_ARGUMENT);
    assert_null(back);
    destroy(&t);
}

static void coarsened_forest_holds_the_leaves_of_the_finer_one(void **state)
{
    (void)state;
    block b;
    uint64_t random = 12;
    block_options options = {.elements = {2, 2, 1}, .order = 1, .turn = 5, .components = 1};
    block_create(&options, &b);
    for (int i = 0; i < 4; i++) block_refine(&b, i ? 0.3 : 1, &random);
    fem_forest *finer = b.forest;
    fem_forest *made[8];
    int count = 0;
    for (int more = 1; more; count++) {
        assert_true(count < 8);
        assert_int_equal(fem_forest_copy(finer, &made[count]), YOKE_OK);
        assert_int_equal(fem_forest_coarsen(made[count]), YOKE_OK);
        fem_space *fine, *coarse;
        fem_interpolation *p;
        assert_int_equal(fem_space_create(&b.problem, finer, FEM_Q1, &fine), YOKE_OK);
        assert_int_equal(fem_space_create(&b.problem, made[count], FEM_Q1, &coarse), YOKE_OK);
        assert_int_equal(fem_interpolation_create(coarse, fine, 0, &p), YOKE_OK);
        more = coarse->num_elements < fine->num_elements;
        fem_interpolation_destroy(p);
        fem_space_destroy(coarse);
        fem_space_destroy(fine);
        finer = made[count];
    }
    assert_int_equal(fem_forest_leaves(finer), 4); /* the coarse mesh */
    assert_true(count >= 4);
    while (count > 0) fem_forest_destroy(made[--count]);
    block_destroy(&b);
}

static void lack_of_memory_at_any_place_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_options options = failing_options(&memory);
    block_options shape = {.elements = {2, 1, 1}, .order = 1, .turn = 5, .components = 1, .memory = &options};
    block b;
    fem_space *fine;
    block_create(&shape, &b);
    block_discretise(&b, FEM_Q2);
    fem_forest *forest;
    assert_int_equal(fem_forest_copy(b.forest, &forest), YOKE_OK);
    uint8_t mark[2] = {1, 0};
    assert_int_equal(fem_forest_refine(forest, mark), YOKE_OK);
    assert_int_equal(fem_space_create(&b.problem, forest, FEM_Q2, &fine), YOKE_OK);
    int64_t outstanding = memory.outstanding;
    yoke_status status = YOKE_ERROR_MEMORY;
    for (int n = 1; status; n++) {
        fem_interpolation *p = NULL;
        memory.fail_at = memory.calls + n;
        status = fem_interpolation_create(b.space, fine, 1, &p);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
        assert_true(n < 20 && (n > 6 || status));
        fem_interpolation_destroy(p);
        assert_int_equal(memory.outstanding, outstanding);
    }
    memory.fail_at = 0;
    fem_space_destroy(fine);
    fem_forest_destroy(forest);
    block_destroy(&b);
    assert_int_equal(memory.outstanding, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(polynomials_pass_exactly_to_leaves_one_level_finer),
    cmocka_unit_test(polynomials_pass_exactly_to_leaves_three_levels_finer),
    cmocka_unit_test(linear_fields_pass_exactly_from_q1_to_s2_and_q2_on_the_same_leaves),
    cmocka_unit_test(s2_passes_exactly_to_q2),
    cmocka_unit_test(values_at_fine_nodes_are_those_of_the_coarse_function),
    cmocka_unit_test(to_coarse_is_the_transpose),
    cmocka_unit_test(coarser_leaves_are_refused),
    cmocka_unit_test(coarsened_forest_holds_the_leaves_of_the_finer_one),
    cmocka_unit_test(lack_of_memory_at_any_place_is_reported_and_leaves_nothing),
};

UNIT_MAIN(tests, body_start, body_end)
