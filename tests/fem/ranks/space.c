/* Forest and space on several ranks: the leaves, nodes, numbers and places that one rank alone has. */
#include <math.h>
#include <stdlib.h>

#include <p8est_algorithms.h>

#include "adapt/carry.h"
#include "space/interpolation.h"

#include "unit.h"

#include "fem/fixtures/maps.h"
#include "twins.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

/* Elements that are turned against each other, refined at random places. */
static void create(twins *t, int turn, uint64_t seed, const double *share)
{
    const block_options options = {.elements = {3, 2, 2}, .map = map_bend, .order = 2, .turn = turn, .components = 3};
    twins_create(&options, t);
    for (int i = 0; i < 3; i++) twins_refine(t, i == 0 ? 0.6 : 0.2, &seed, share);
}

static int64_t first_leaf(const twins *t) { return app_ranks_offset(t->ranks, t->shared.space->num_elements, NULL); }

/* ------------------------------------------------------------------------------------------------------- places */

static void position(const fem_mesh *mesh, int32_t tree, const int32_t at[3], double x[3])
{
    for (int d = 0; d < 3; d++) x[d] = 0;
    for (int c = 0; c < 8; c++) {
        double weight = 1;
        for (int a = 0; a < 3; a++) {
            const double r = at[a] / (double)FEM_PLACE_LENGTH;
            weight *= c >> a & 1 ? r : 1 - r;
        }
        for (int d = 0; d < 3; d++) x[d] += weight * mesh->vertices[3 * (int64_t)mesh->corners[8 * (int64_t)tree + c] + d];
    }
}

/* Of a place that several trees have, the lowest one with it: the same point of the body. */
static void places_are_found_in_the_lowest_tree(void **state)
{
    (void)state;
    static const int32_t steps[5] = {0, 1, FEM_PLACE_LENGTH / 3, FEM_PLACE_LENGTH - 8, FEM_PLACE_LENGTH};
    const block_options options = {.elements = {3, 3, 3}, .map = map_bend, .order = 1, .turn = 5, .components = 1};
    int lower = 0;
    twins t;
    twins_create(&options, &t);
    const fem_skeleton *skeleton = t.shared.forest->skeleton;
    for (int32_t i = 0; i < 27 * 125; i++) {
        const int32_t tree = i / 125, at[3] = {steps[i % 5], steps[i / 5 % 5], steps[i / 25 % 5]};
        int32_t there[3];
        uint64_t place, again;
        double here[3], x[3];
        const uint32_t entity = fem_skeleton_place(skeleton, tree, at, &place);
        const int32_t lowest = fem_skeleton_point(skeleton, entity, place, there);
        assert_true(lowest <= tree);
        assert_int_equal(fem_skeleton_place(skeleton, lowest, there, &again), entity);
        assert_true(again == place);
        position(&t.shared.mesh, tree, at, here);
        position(&t.shared.mesh, lowest, there, x);
        for (int d = 0; d < 3; d++) assert_true(fabs(x[d] - here[d]) < 1e-12);
        lower += lowest < tree;
    }
    assert_true(lower > 1000);
    twins_destroy(&t);
}

/* Along a bar a rank has to do with the ones beside it only. */
static void nodes_meet_on_ranks_nearby(void **state)
{
    (void)state;
    const block_options options = {.elements = {40, 1, 1}, .order = 1, .components = 1};
    int others = 0;
    twins t;
    twins_create(&options, &t);
    const int rank = app_ranks_number(t.ranks);
    twins_discretise(&t, FEM_Q1);
    for (int32_t e = 0; e < t.shared.space->num_elements; e++) {
        for (int c = 0; c < 8; c++) {
            uint64_t place;
            int32_t at[3];
            for (int a = 0; a < 3; a++) at[a] = c >> a & 1 ? FEM_PLACE_LENGTH : 0;
            const uint32_t entity = fem_skeleton_place(t.shared.forest->skeleton, t.shared.space->tree[e], at, &place);
            const int meeting = fem_forest_rank_at(t.shared.forest, entity, place);
            assert_true(abs(meeting - rank) <= 1);
            others += meeting != rank;
        }
    }
    assert_true(others <= 8);
    twins_destroy(&t);
}

/* ------------------------------------------------------------------------------------------------------ numbers */

static void assert_same_space(const fem_space *alone, const fem_space *shared, int64_t first)
{
    assert_int_equal(shared->first_element, first);
    assert_int_equal(shared->num_global_elements, alone->num_elements);
    assert_int_equal(shared->num_global_nodes, alone->num_nodes);
    assert_int_equal(shared->num_hanging, alone->num_hanging);
    for (int32_t e = 0; e < shared->num_elements; e++) {
        const int64_t a = first + e;
        assert_int_equal(shared->tree[e], alone->tree[a]);
        assert_int_equal(shared->level[e], alone->level[a]);
        assert_memory_equal(shared->corner + 3 * (int64_t)e, alone->corner + 3 * a, 3 * sizeof(int32_t));
        assert_int_equal(shared->face_code[e], alone->face_code[a]);
        for (int s = 0; s < shared->slots; s++) {
            const int32_t node = shared->element_nodes[(int64_t)e * shared->slots + s], twin = alone->element_nodes[a * alone->slots + s];
            assert_true((node < 0) == (twin < 0));
            if (node >= 0) assert_int_equal(fem_space_global_node(shared, node), twin);
        }
    }
    for (int32_t i = 0; i < shared->num_nodes; i++)
        assert_memory_equal(shared->x + 3 * (int64_t)i, alone->x + 3 * fem_space_global_node(shared, i), 3 * sizeof(double));
}

static void check_elements(const twins *t) { assert_same_space(t->alone.space, t->shared.space, first_leaf(t)); }

static void numbers_and_places_are_those_of_one_rank(void **state)
{
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        twins t;
        create(&t, 5 * turn, 11 + (uint64_t)turn, NULL);
        for (int i = 0; i < 3; i++) {
            twins_discretise(&t, elements[i]);
            assert_true(t.alone.space->num_hanging > 100);
            check_elements(&t);
        }
        twins_destroy(&t);
    }
}

static void corners_have_the_numbers_of_one_rank(void **state)
{
    (void)state;
    twins t;
    create(&t, 7, 3, NULL);
    for (int i = 1; i < 3; i++) {
        fem_space *alone, *shared;
        twins_discretise(&t, elements[i]);
        assert_int_equal(fem_space_create_corners(t.alone.space, &alone), YOKE_OK);
        assert_int_equal(fem_space_create_corners(t.shared.space, &shared), YOKE_OK);
        assert_same_space(alone, shared, first_leaf(&t));
        fem_space_destroy(alone);
        fem_space_destroy(shared);
    }
    twins_destroy(&t);
}

/* Also where ranks have nothing, or almost all; where nobody is to have anything all have the same. */
static void unequal_shares_do_not_matter(void **state)
{
    (void)state;
    static const double shares[4][4] = {{1, 0, 0, 0}, {0, 3, 1, 2}, {1, 1e-3, 10, 0}, {0, 0, 0, 0}};
    for (int i = 0; i < 4; i++) {
        twins t;
        double share[4];
        memcpy(share, shares[i], sizeof share);
        if (i < 3) share[0] += 1e-12;
        create(&t, 5, 17, share);
        twins_discretise(&t, elements[i % 3]);
        check_elements(&t);
        twins_destroy(&t);
    }
}

/* ------------------------------------------------------------------------------------------------------- sums */

static void each_node_counts_once_and_has_one_owner(void **state)
{
    (void)state;
    int64_t homeless = 0;
    for (int i = 0; i < 3; i++) {
        twins t;
        create(&t, 5, 23, NULL);
        twins_discretise(&t, elements[i]);
        const fem_space *space = t.shared.space;
        int64_t counted = 0, owned = 0, all_counted, all_owned;
        for (int32_t n = 0; n < space->num_nodes; n++) {
            counted += fem_space_counts(space, n);
            owned += fem_space_owns(space, n);
            homeless += space->home_element[n] < 0;
            if (fem_space_counts(space, n)) assert_true(space->home_element[n] >= 0);
        }
        app_ranks_offset(t.ranks, counted, &all_counted);
        app_ranks_offset(t.ranks, owned, &all_owned);
        assert_int_equal(all_counted, t.alone.space->num_nodes);
        assert_int_equal(all_owned, t.alone.space->num_nodes);
        twins_destroy(&t);
    }
    app_ranks_offset(twins_ranks(), homeless, &homeless);
    assert_true(homeless > 0 || app_ranks_count(twins_ranks()) == 1); /* the case that is harder: faces hang across the cuts */
}

/* Folding fields of elements over ranks: the sums of one rank, and the same bits wherever a node is shared. */
static void folded_fields_add_up(void **state)
{
    (void)state;
    twins t;
    create(&t, 5, 29, NULL);
    for (int i = 0; i < 3; i++) {
        twins_discretise(&t, elements[i]);
        const fem_space *alone = t.alone.space, *shared = t.shared.space;
        double *expected = block_zeros(3 * (int64_t)alone->num_nodes, sizeof(double)),
               *sum = block_zeros(3 * (int64_t)shared->num_nodes, sizeof(double));
        for (int64_t e = 0; e < alone->num_elements; e++) {
            double local[81];
            for (int k = 0; k < 81; k++) local[k] = sin(0.37 * (double)(e + 1) * (k + 1));
            fem_space_fold(alone, (int32_t)e, 3, local, expected);
            if (e < shared->first_element || e >= shared->first_element + shared->num_elements) continue;
            for (int k = 0; k < 81; k++) local[k] = sin(0.37 * (double)(e + 1) * (k + 1));
            fem_space_fold(shared, (int32_t)(e - shared->first_element), 3, local, sum);
        }
        assert_int_equal(fem_halo_sum(shared->halo, 3, sum), YOKE_OK);
        for (int32_t n = 0; n < shared->num_nodes; n++)
            for (int c = 0; c < 3; c++) assert_true(fabs(sum[3 * n + c] - expected[3 * fem_space_global_node(shared, n) + c]) < 1e-12);
        double *agreed = block_zeros(3 * (int64_t)shared->num_nodes, sizeof(double));
        memcpy(agreed, sum, sizeof(double) * 3 * (size_t)shared->num_nodes);
        assert_int_equal(fem_halo_agree(shared->halo, 3, agreed), YOKE_OK);
        assert_memory_equal(agreed, sum, sizeof(double) * 3 * (size_t)shared->num_nodes);
        free(expected);
        free(sum);
        free(agreed);
    }
    twins_destroy(&t);
}

/* ------------------------------------------------------------------------------------------------ other leaves */

/* The numbers of a node over all ranks, as a field. */
static void fill_by_number(const fem_space *space, double *nodal)
{
    for (int32_t i = 0; i < space->num_nodes; i++)
        for (int c = 0; c < 3; c++) nodal[3 * i + c] = sin((double)(3 * fem_space_global_node(space, i) + c));
}

/* The forest of t->shared, refined as that of t->alone is; the one that one rank refines. */
static void refine_both(const twins *t, fem_forest **alone, fem_forest **shared)
{
    assert_int_equal(fem_forest_copy(t->alone.forest, alone), YOKE_OK);
    assert_int_equal(fem_forest_copy(t->shared.forest, shared), YOKE_OK);
    for (uint64_t i = 0, seed = 31; i < 2; i++) { /* twice: some leaves are two levels below the old ones */
        const int64_t leaves = fem_forest_leaves(*alone), first = app_ranks_offset(t->ranks, fem_forest_leaves(*shared), NULL);
        uint8_t *mark = block_zeros(leaves, 1);
        for (int64_t e = 0; e < leaves; e++) mark[e] = block_random(&seed) < 0.2;
        assert_int_equal(fem_forest_refine(*alone, mark), YOKE_OK);
        assert_int_equal(fem_forest_refine(*shared, mark + first), YOKE_OK);
        free(mark);
    }
}

/* On one rank: the field on the refined leaves. */
static double *interpolate_alone(const fem_space *old, const fem_space *refined)
{
    fem_interpolation *interpolation;
    double *before = block_zeros(3 * (int64_t)old->num_nodes, sizeof(double)),
           *after = block_zeros(3 * (int64_t)refined->num_nodes, sizeof(double));
    fill_by_number(old, before);
    assert_int_equal(fem_interpolation_create(old, refined, 0, &interpolation), YOKE_OK);
    fem_interpolation_apply(interpolation, 3, before, after);
    fem_interpolation_destroy(interpolation);
    free(before);
    return after;
}

/* On several ranks: the same, and the leaves are distributed anew, for share NULL as they were made. */
static double *carry_over(const fem_space *old, fem_forest *refined, const double *share, fem_space **moved)
{
    fem_carry carry;
    double *before = block_zeros(3 * (int64_t)old->num_nodes, sizeof(double));
    fill_by_number(old, before);
    assert_int_equal(fem_carry_take(old, before, refined, &carry), YOKE_OK);
    if (share) assert_int_equal(fem_forest_partition(refined, share), YOKE_OK);
    assert_int_equal(fem_space_create(old->problem, refined, old->element, moved), YOKE_OK);
    double *after = block_zeros(3 * (int64_t)(*moved)->num_nodes, sizeof(double));
    assert_int_equal(fem_carry_give(&carry, *moved, after), YOKE_OK);
    fem_carry_release(&carry);
    free(before);
    return after;
}

/* From the leaves before a refinement to those after it, and on to other ranks; also where they stay, and where a rank has no leaves afterwards. */
static void fields_follow_the_leaves(void **state)
{
    (void)state;
    static const double shares[2][4] = {{1, 3, 2, 2}, {0, 1, 5, 0}};
    if (app_ranks_count(twins_ranks()) == 1) return;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            twins t;
            fem_forest *alone, *shared;
            fem_space *refined, *moved;
            create(&t, 5, 37, NULL);
            twins_discretise(&t, elements[i]);
            refine_both(&t, &alone, &shared);
            assert_int_equal(fem_space_create(&t.alone.problem, alone, elements[i], &refined), YOKE_OK);
            double *expected = interpolate_alone(t.alone.space, refined),
                   *found = carry_over(t.shared.space, shared, k ? shares[k - 1] : NULL, &moved);
            assert_int_equal(moved->num_global_nodes, refined->num_nodes);
            for (int32_t n = 0; n < moved->num_nodes; n++)
                for (int c = 0; c < 3; c++) assert_true(fabs(found[3 * n + c] - expected[3 * fem_space_global_node(moved, n) + c]) < 1e-6);
            free(expected);
            free(found);
            fem_space_destroy(moved);
            fem_space_destroy(refined);
            fem_forest_destroy(shared);
            fem_forest_destroy(alone);
            twins_destroy(&t);
        }
    }
}

/* As often as cuts were aligned for it, distributed forests become those of one rank; and the whole forest on rank 0 at any time. */
static void coarser_forests_are_those_of_one_rank(void **state)
{
    (void)state;
    twins t;
    create(&t, 5, 41, NULL);
    t.shared.forest->most_gathered = 40;
    for (uint64_t i = 0, seed = 43; i < 2; i++) twins_refine(&t, 0.3, &seed, NULL);
    assert_true(t.shared.forest->aligned >= 2);
    for (int level = 0; level <= 2; level++) {
        fem_forest *whole;
        twins_discretise(&t, FEM_Q1);
        check_elements(&t);
        assert_int_equal(fem_forest_gather(t.shared.forest, &whole), YOKE_OK);
        assert_true((whole != NULL) == (app_ranks_number(t.ranks) == 0 && app_ranks_count(t.ranks) > 1));
        if (whole) assert_true(p8est_is_equal(whole->p8est, t.alone.forest->p8est, 0));
        fem_forest_destroy(whole);
        assert_int_equal(fem_forest_coarsen(t.alone.forest), YOKE_OK);
        assert_int_equal(fem_forest_coarsen(t.shared.forest), YOKE_OK);
    }
    twins_destroy(&t);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(places_are_found_in_the_lowest_tree),
    cmocka_unit_test(nodes_meet_on_ranks_nearby),
    cmocka_unit_test(numbers_and_places_are_those_of_one_rank),
    cmocka_unit_test(corners_have_the_numbers_of_one_rank),
    cmocka_unit_test(unequal_shares_do_not_matter),
    cmocka_unit_test(each_node_counts_once_and_has_one_owner),
    cmocka_unit_test(folded_fields_add_up),
    cmocka_unit_test(fields_follow_the_leaves),
    cmocka_unit_test(coarser_forests_are_those_of_one_rank),
};

UNIT_MAIN(tests, twins_start, twins_end)
