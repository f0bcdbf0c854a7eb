/* Error estimate and marking on several ranks: what one rank alone finds. */
#include <math.h>

#include "estimate/estimate.h"
#include "estimate/mark.h"

#include "unit.h"

#include "fem/fixtures/maps.h"
#include "twins.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

/* A face between the first two elements joins face 2, from the first one's side alone: a support inside the body. */
static void add_inner_support(block *b)
{
    fem_group *group = &b->mesh.groups[2];
    group->element[group->count] = 0;
    group->local[group->count++] = 1;
}

/* Elements that are turned against each other, of two materials, refined at random places; faces of all kinds. */
static void create(twins *t, int components, uint64_t seed)
{
    const block_options options = {.elements = {3, 2, 2}, .map = map_bend, .order = 2, .turn = 5, .components = components};
    const unsigned all = components == 1 ? 1 : 7;
    block *both[2] = {&t->alone, &t->shared};
    twins_create(&options, t);
    for (int i = 0; i < 2; i++) {
        block_two_materials(both[i], 30);
        add_inner_support(both[i]);
        for (int m = 0; m < 2; m++)
            for (int c = 0; c < 3; c++) both[i]->material[m].force[c] = (m + 1) * (0.7 - 0.5 * c);
        if (components == 3)
            both[i]->problem.temperature = (fem_temperature){true, -0.7, {0.2, 0.5, -0.3}, 0.6, {0.48, 0.6, 0.64}, {2, 3, -1}, NULL, 0};
        for (int m = 0; m < 2; m++) both[i]->material[m].expansion = 0.4 - 0.1 * m;
    }
    twins_add_condition(t, (fem_condition){.kind = FEM_DIRICHLET, .group = 0, .mask = all});
    twins_add_condition(t, (fem_condition){.kind = FEM_DIRICHLET, .group = 2, .mask = all & 5});
    twins_add_condition(t, (fem_condition){.kind = FEM_TRACTION, .group = 1, .value = {-0.5, 0.1, 0.7}});
    twins_add_condition(t, (fem_condition){.kind = FEM_TRACTION, .group = 5, .value = {0.2, 0.9, -0.4}});
    if (components == 3) twins_add_condition(t, (fem_condition){.kind = FEM_PRESSURE, .group = 3, .value = {-0.8}});
    for (int i = 0; i < 3; i++) twins_refine(t, i == 0 ? 0.6 : 0.2, &seed, NULL);
}

/* A field that differs at each node, in a part of the body by very much. */
static double *field(const fem_space *space)
{
    double *u = block_zeros((int64_t)space->num_nodes * space->components, sizeof *u);
    for (int32_t i = 0; i < space->num_nodes; i++)
        for (int c = 0; c < space->components; c++)
            u[(int64_t)space->components * i + c] =
                sin(0.73 * (double)(space->components * fem_space_global_node(space, i) + c)) + 3 * space->x[3 * i];
    return u;
}

typedef struct estimates {
    double *u, *indicator;
    fem_estimate_result result;
} estimates;

static estimates estimate(const block *b)
{
    estimates found = {field(b->space), block_zeros(b->space->num_elements, sizeof(double)), {.estimate = 0}};
    assert_int_equal(fem_estimate(b->space, b->boundary, found.u, found.indicator, &found.result), YOKE_OK);
    return found;
}

static void release(estimates *found)
{
    free(found->u);
    free(found->indicator);
}

static void assert_close(double a, double b) { assert_true(fabs(a - b) <= 1e-11 * fabs(b)); }

static void assert_same_marks(const twins *t, const estimates *alone, const estimates *shared)
{
    const int64_t all = t->alone.space->num_elements, first = t->shared.space->first_element;
    uint8_t *expected = block_zeros(all, 1), *mark = block_zeros(t->shared.space->num_elements, 1);
    static const double fractions[4] = {0.05, 0.3, 0.7, 1};
    for (int i = 0; i < 4; i++) {
        int64_t marked, marked_alone;
        assert_int_equal(fem_mark(t->alone.context, NULL, all, alone->indicator, fractions[i], expected, &marked_alone), YOKE_OK);
        assert_int_equal(
            fem_mark(t->shared.context, t->ranks, t->shared.space->num_elements, shared->indicator, fractions[i], mark, &marked), YOKE_OK);
        assert_int_equal(marked, marked_alone);
        assert_memory_equal(mark, expected + first, (size_t)t->shared.space->num_elements);
    }
    free(expected);
    free(mark);
}

static void indicators_and_marks_are_those_of_one_rank(void **state)
{
    (void)state;
    for (int components = 1; components <= 3; components += 2) {
        twins t;
        create(&t, components, 11);
        for (int i = 0; i < 3; i++) {
            twins_discretise(&t, elements[i]);
            estimates alone = estimate(&t.alone), shared = estimate(&t.shared);
            assert_true(t.alone.space->num_hanging > 50);
            for (int32_t e = 0; e < t.shared.space->num_elements; e++)
                assert_close(shared.indicator[e], alone.indicator[t.shared.space->first_element + e]);
            assert_close(shared.result.estimate, alone.result.estimate);
            assert_close(shared.result.energy_norm, alone.result.energy_norm);
            assert_close(shared.result.relative, alone.result.relative);
            assert_same_marks(&t, &alone, &shared);
            release(&alone);
            release(&shared);
        }
        twins_destroy(&t);
    }
}

/* Elements in equal groups, as symmetry gives them, with rounding that differs from rank to rank. */
static void ties_are_marked_on_all_ranks(void **state)
{
    enum { EACH = 12 };
    (void)state;
    yoke_context *context;
    double indicator[EACH];
    uint8_t mark[EACH];
    const int rank = app_ranks_number(twins_ranks()), count = app_ranks_count(twins_ranks());
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    for (int i = 0; i < EACH; i++) indicator[i] = (1 + i % 4) * (1 + 1e-13 * ((rank + i) % 3 - 1));
    for (int k = 1; k <= 20; k++) {
        int64_t marked, mine = 0;
        assert_int_equal(fem_mark(context, twins_ranks(), EACH, indicator, k / 20.0 - 0.01, mark, &marked), YOKE_OK);
        assert_int_equal(marked % (EACH / 4 * count), 0);
        for (int i = 0; i < EACH; i++) mine += mark[i];
        assert_int_equal(mine * count, marked);
    }
    /* All that counts is on one rank; some have nothing. */
    int64_t marked;
    for (int i = 0; i < EACH; i++) indicator[i] = rank == count - 1 ? i + 1 : 1e-6 * i;
    assert_int_equal(fem_mark(context, twins_ranks(), rank == 0 && count > 2 ? 0 : EACH, indicator, 0.2, mark, &marked), YOKE_OK);
    assert_int_equal(marked, 1);
    if (rank == count - 1) assert_int_equal(mark[EACH - 1], 1);
    yoke_context_destroy(context);
}

static void an_element_without_a_finite_estimate_ends_all_ranks(void **state)
{
    (void)state;
    twins t;
    create(&t, 3, 13);
    twins_discretise(&t, FEM_Q1);
    const fem_space *space = t.shared.space;
    const int last = app_ranks_count(t.ranks) - 1;
    double *u = field(space), *indicator = block_zeros(space->num_elements, sizeof *indicator);
    fem_estimate_result result;
    /* A value inside the last rank's part. */
    if (app_ranks_number(t.ranks) == last) u[3 * (int64_t)(space->num_nodes - 1)] = NAN;
    assert_int_equal(fem_estimate(space, t.shared.boundary, u, indicator, &result), YOKE_ERROR_NUMERIC);
    if (app_ranks_number(t.ranks) == last) assert_non_null(strstr(yoke_last_error(t.shared.context), "is not a finite number"));
    indicator[0] = app_ranks_number(t.ranks) == last ? -1 : 1;
    uint8_t *mark = block_zeros(space->num_elements, 1);
    int64_t marked;
    assert_int_equal(fem_mark(t.shared.context, t.ranks, 1, indicator, 0.5, mark, &marked), YOKE_ERROR_NUMERIC);
    free(mark);
    free(u);
    free(indicator);
    twins_destroy(&t);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(indicators_and_marks_are_those_of_one_rank),
    cmocka_unit_test(ties_are_marked_on_all_ranks),
    cmocka_unit_test(an_element_without_a_finite_estimate_ends_all_ranks),
};

UNIT_MAIN(tests, twins_start, twins_end)
