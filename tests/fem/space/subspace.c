/* Runs of elements as spaces of their own. */
#include "unit.h"

#include "base/failing.h"
#include "fem/fixtures/block.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/reference_operator.h"
#include "space/subspace.h"

static const fem_element kinds[3] = {FEM_Q1, FEM_S2, FEM_Q2};

static void create(block *b, int components, fem_element element, const yoke_options *memory)
{
    uint64_t random = 91;
    block_options options = {.elements = {2, 2, 2}, .map = body_bend, .order = 2, .turn = 5, .components = components, .memory = memory};
    block_create(&options, b);
    block_two_materials(b, 7);
    block_refine(b, 0.6, &random);
    block_refine(b, 0.3, &random);
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, 1, components == 3 ? 6 : 1, {3, 4, 5}});
    block_discretise(b, element);
}

static void cut(const block *b, int32_t begin, int32_t end, int64_t num_more, const int32_t *more, fem_subspace **sub)
{
    if (fem_subspace_create(b->space, b->constraints, begin, end, num_more, more, sub)) fail_msg("%s", yoke_last_error(b->context));
}

/* ----------------------------------------------------------------------------------------------- what must be so */

static void assert_elements(const fem_space *whole, int32_t begin, const fem_subspace *sub)
{
    const fem_space *space = sub->space;
    for (int32_t e = 0; e < space->num_elements; e++) {
        int64_t from = (int64_t)begin + e;
        assert_int_equal(space->face_code[e], whole->face_code[from]);
        assert_int_equal(space->tree[e], whole->tree[from]);
        assert_int_equal(space->level[e], whole->level[from]);
        assert_memory_equal(space->corner + 3 * (int64_t)e, whole->corner + 3 * from, 3 * sizeof *space->corner);
        assert_ptr_equal(fem_space_material(space, e), fem_space_material(whole, (int32_t)from));
        for (int s = 0; s < whole->slots; s++) {
            int32_t node = space->element_nodes[(int64_t)e * whole->slots + s];
            int32_t global = whole->element_nodes[from * whole->slots + s];
            assert_int_equal(node < 0 ? -1 : sub->global_node[node], global);
        }
    }
}

/* Touched nodes in the order of touching, then the others in the order of the whole; none twice, none without a reason. */
static void assert_numbers(const fem_space *whole, const fem_subspace *sub)
{
    const fem_space *space = sub->space;
    int32_t seen = 0;
    uint8_t *had = block_zeros(whole->num_nodes, 1);
    for (int64_t i = 0; i < (int64_t)space->num_elements * space->slots; i++) {
        assert_true(space->element_nodes[i] <= seen);
        if (space->element_nodes[i] == seen) seen++;
    }
    assert_int_equal(sub->num_touched, seen);
    for (int32_t i = 0; i < space->num_nodes; i++) {
        assert_int_equal(had[sub->global_node[i]]++, 0);
        assert_true(i <= seen || sub->global_node[i] > sub->global_node[i - 1]);
    }
    free(had);
}

static void assert_nodes(const block *b, const fem_subspace *sub)
{
    int n = b->problem.components;
    for (int32_t i = 0; i < sub->space->num_nodes; i++) {
        int64_t global = sub->global_node[i];
        assert_memory_equal(sub->space->x + 3 * (int64_t)i, b->space->x + 3 * global, 3 * sizeof(double));
        assert_int_equal(sub->constraints->prescribed[i], b->constraints->prescribed[global]);
        assert_memory_equal(sub->constraints->value + (int64_t)n * i, b->constraints->value + n * global, (size_t)n * sizeof(double));
    }
}

static void assert_subspace(const block *b, int32_t begin, int32_t end, const fem_subspace *sub)
{
    assert_int_equal(sub->space->num_elements, end - begin);
    assert_int_equal(sub->space->components, b->problem.components);
    assert_int_equal(sub->space->element, b->space->element);
    assert_elements(b->space, begin, sub);
    assert_numbers(b->space, sub);
    assert_nodes(b, sub);
}

/* --------------------------------------------------------------------------------------------------------- tests */

static void every_element_of_a_cut_is_in_one_subspace_with_its_nodes(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int components = 1; components <= 3; components += 2) {
            block b;
            create(&b, components, kinds[i], NULL);
            int32_t elements = b.space->num_elements;
            for (int count = 1; count <= 5; count++) {
                int32_t covered = 0;
                for (int k = 0; k < count; k++) {
                    fem_subspace *sub;
                    int32_t begin = elements * k / count, end = elements * (k + 1) / count;
                    cut(&b, begin, end, 0, NULL, &sub);
                    assert_subspace(&b, begin, end, sub);
                    assert_int_equal(sub->num_touched, sub->space->num_nodes);
                    covered += sub->space->num_elements;
                    fem_subspace_destroy(sub);
                }
                assert_int_equal(covered, elements);
            }
            block_destroy(&b);
        }
}

static void all_elements_together_are_the_space_itself(void **state)
{
    (void)state;
    block b;
    fem_subspace *sub;
    create(&b, 3, FEM_S2, NULL);
    cut(&b, 0, b.space->num_elements, 0, NULL, &sub);
    assert_int_equal(sub->space->num_nodes, b.space->num_nodes);
    for (int32_t i = 0; i < b.space->num_nodes; i++) assert_int_equal(sub->global_node[i], i);
    fem_subspace_destroy(sub);
    block_destroy(&b);
}

static void additional_nodes_follow_the_touched_ones(void **state)
{
    (void)state;
    block b;
    create(&b, 3, FEM_Q2, NULL);
    int32_t nodes = b.space->num_nodes, begin = b.space->num_elements / 3, end = begin + 20;
    for (int all = 0; all < 2; all++) {
        fem_subspace *sub;
        int32_t *more = block_zeros(2 * (int64_t)nodes, sizeof *more);
        int64_t count = 0;
        for (int32_t i = nodes - 1; i >= 0; i -= all ? 1 : 5) more[count++] = i; /* descending, touched ones among them */
        for (int32_t i = 0; i < nodes; i += 10) more[count++] = i;               /* many of them again */
        cut(&b, begin, end, count, more, &sub);
        assert_subspace(&b, begin, end, sub);
        uint8_t *wanted = block_zeros(nodes, 1);
        for (int64_t i = 0; i < count; i++) wanted[more[i]] = 1;
        for (int32_t i = 0; i < sub->space->num_nodes; i++) {
            assert_true(i < sub->num_touched || wanted[sub->global_node[i]]);
            wanted[sub->global_node[i]] = 0;
        }
        for (int32_t i = 0; i < nodes; i++) assert_int_equal(wanted[i], 0); /* all are there */
        if (all) assert_int_equal(sub->space->num_nodes, nodes);
        assert_true(sub->num_touched < sub->space->num_nodes);
        free(wanted);
        free(more);
        fem_subspace_destroy(sub);
    }
    block_destroy(&b);
}

static void a_subspace_may_have_nodes_without_elements_or_nothing(void **state)
{
    (void)state;
    block b;
    create(&b, 1, FEM_Q1, NULL);
    const int32_t more[4] = {7, 3, 7, 5};
    for (int count = 0; count <= 4; count += 4) {
        fem_subspace *sub;
        cut(&b, 4, 4, count, more, &sub);
        assert_subspace(&b, 4, 4, sub);
        assert_int_equal(sub->num_touched, 0);
        assert_int_equal(sub->space->num_nodes, count ? 3 : 0);
        fem_subspace_destroy(sub);
    }
    fem_subspace_destroy(NULL);
    block_destroy(&b);
}

/* What operators do on a subspace: sums over its elements, which together are the whole. */
static void products_over_the_subspaces_of_a_cut_add_up(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        block b;
        uint64_t random = 23;
        create(&b, 3, kinds[i], NULL);
        int64_t n = 3 * (int64_t)b.space->num_nodes;
        double *u = block_random_array(n, &random), *y = block_zeros(n, sizeof *y), *expected = block_zeros(n, sizeof *expected);
        reference_product(b.space, u, expected);
        for (int k = 0; k < 3; k++) {
            fem_subspace *sub;
            int32_t elements = b.space->num_elements;
            cut(&b, elements * k / 3, elements * (k + 1) / 3, 0, NULL, &sub);
            int64_t own = 3 * (int64_t)sub->space->num_nodes;
            double *x = block_zeros(own, sizeof *x), *part = block_zeros(own, sizeof *part);
            for (int64_t d = 0; d < own; d++) x[d] = u[3 * (int64_t)sub->global_node[d / 3] + d % 3];
            reference_product(sub->space, x, part);
            for (int64_t d = 0; d < own; d++) y[3 * (int64_t)sub->global_node[d / 3] + d % 3] += part[d];
            free(part);
            free(x);
            fem_subspace_destroy(sub);
        }
        assert_true(block_difference(y, expected, n) <= 1e-13);
        free(expected);
        free(y);
        free(u);
        block_destroy(&b);
    }
}

static void lack_of_memory_at_any_place_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_options options = failing_options(&memory);
    block b;
    create(&b, 3, FEM_Q2, &options);
    int64_t outstanding = memory.outstanding;
    yoke_status status = YOKE_ERROR_MEMORY;
    for (int n = 1; status; n++) {
        fem_subspace *sub = NULL;
        memory.fail_at = memory.calls + n;
        status = fem_subspace_create(b.space, b.constraints, 3, 30, 1, &(int32_t){0}, &sub);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
        assert_true(n < 50 && (n > 5 || status) && (status == YOKE_OK) == (sub != NULL));
        fem_subspace_destroy(sub);
        assert_int_equal(memory.outstanding, outstanding);
    }
    memory.fail_at = 0;
    block_destroy(&b);
    assert_int_equal(memory.outstanding, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_element_of_a_cut_is_in_one_subspace_with_its_nodes),
    cmocka_unit_test(all_elements_together_are_the_space_itself),
    cmocka_unit_test(additional_nodes_follow_the_touched_ones),
    cmocka_unit_test(a_subspace_may_have_nodes_without_elements_or_nothing),
    cmocka_unit_test(products_over_the_subspaces_of_a_cut_add_up),
    cmocka_unit_test(lack_of_memory_at_any_place_is_reported_and_leaves_nothing),
};

UNIT_MAIN(tests, body_start, body_end)
