/* Each way to add element vectors gives what plain serial addition gives; the groups of elements are what they say. */
#include <math.h>

#include "reduction/method.h"
#include "reduction/synthetic.h"
#include "unit.h"

static yoke_context *context_of_test(void)
{
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    return context;
}

static void check_method(const reduction_work *work, reduction_kind kind, int64_t locks, int threads, const double *reference, double *y)
{
    const int64_t dofs = work->mesh->nodes * NODE_DOFS;
    reduction_method method;
    assert_int_equal(reduction_method_create(work, kind, locks, threads, &method), YOKE_OK);
    for (int pass = 0; pass < 2; pass++) { /* the second finds the vector full */
        int64_t wrong = -1;
        for (int64_t i = 0; i < dofs; i++) y[i] = -1e300;
        reduction_add(&method, y);
        double error = reduction_error(dofs, y, reference, &wrong);
        assert_int_equal(wrong, 0);
        assert_true(error <= 1e-13);
    }
    reduction_method_release(&method);
}

/* All ways but the unsynchronised one, which is right on one thread only. */
static void check_size(int64_t elements, reduction_order order, bool product)
{
    static const int threads[] = {1, 2, 3, 7};
    yoke_context *context = context_of_test();
    reduction_mesh mesh;
    reduction_work work;
    void *y = NULL, *reference = NULL;
    assert_int_equal(reduction_mesh_create(context, elements, order, &mesh), YOKE_OK);
    assert_int_equal(reduction_work_create(&mesh, product, &work), YOKE_OK);
    assert_int_equal(yoke_allocate(context, mesh.nodes * NODE_DOFS, sizeof(double), &y), YOKE_OK);
    assert_int_equal(yoke_allocate(context, mesh.nodes * NODE_DOFS, sizeof(double), &reference), YOKE_OK);
    reduction_reference(&work, reference);
    check_method(&work, REDUCTION_UNSYNCHRONISED, 0, 1, reference, y);
    for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
        for (int kind = REDUCTION_PRIVATE; kind < REDUCTION_UNSYNCHRONISED; kind++)
            if (kind != REDUCTION_LOCKS) check_method(&work, (reduction_kind)kind, 0, threads[t], reference, y);
        for (int64_t locks = 1; locks <= 4096; locks *= 16) check_method(&work, REDUCTION_LOCKS, locks, threads[t], reference, y);
    }
    yoke_release(context, reference);
    yoke_release(context, y);
    reduction_work_release(&work);
    reduction_mesh_release(&mesh);
    yoke_context_destroy(context);
}

static void one_element_is_added_right(void **state)
{
    (void)state;
    check_size(1, REDUCTION_MORTON, false);
    check_size(1, REDUCTION_ROWS, true);
}

static void more_threads_than_elements_add_right(void **state)
{
    (void)state;
    check_size(2, REDUCTION_MORTON, true);
    check_size(5, REDUCTION_RANDOM, false);
}

static void odd_sizes_add_right_in_every_order(void **state)
{
    (void)state;
    check_size(27, REDUCTION_ROWS, false);
    check_size(61, REDUCTION_RANDOM, true);
    check_size(203, REDUCTION_MORTON, false);
}

/* The sum of all elements' numbers is that of the vector: a reference that itself adds too little would be seen. */
static void the_reference_loses_nothing(void **state)
{
    (void)state;
    yoke_context *context = context_of_test();
    reduction_mesh mesh;
    reduction_work work;
    void *y = NULL;
    assert_int_equal(reduction_mesh_create(context, 100, REDUCTION_MORTON, &mesh), YOKE_OK);
    assert_int_equal(reduction_work_create(&mesh, false, &work), YOKE_OK);
    assert_int_equal(yoke_allocate(context, mesh.nodes * NODE_DOFS, sizeof(double), &y), YOKE_OK);
    reduction_reference(&work, y);
    double sum = 0, expected = 0;
    for (int64_t i = 0; i < mesh.nodes * NODE_DOFS; i++) sum += ((double *)y)[i];
    for (int64_t i = 0; i < mesh.elements * ELEMENT_DOFS; i++) expected += work.vectors[i];
    assert_true(sum / expected - 1 < 1e-12 && sum / expected - 1 > -1e-12);
    yoke_release(context, y);
    reduction_work_release(&work);
    reduction_mesh_release(&mesh);
    yoke_context_destroy(context);
}

static void a_wrong_vector_is_seen(void **state)
{
    (void)state;
    const double reference[] = {1, 2, 3, 4}, y[] = {1, 2 * (1 + 1e-15), 3.1, NAN};
    int64_t wrong = 0;
    double error = reduction_error(3, y, reference, &wrong);
    assert_int_equal(wrong, 1);
    assert_true(error > 0.03 && error < 0.04);
    reduction_error(4, y, reference, &wrong);
    assert_int_equal(wrong, 2);
}

/* A full cube of n^3 elements has (2n + 1)^3 nodes, whatever their order, and 8 colours do where elements come row by row. */
static void cubes_have_the_nodes_and_colours_that_they_must(void **state)
{
    (void)state;
    yoke_context *context = context_of_test();
    for (int order = REDUCTION_MORTON; order <= REDUCTION_RANDOM; order++) {
        reduction_mesh mesh;
        reduction_groups groups;
        assert_int_equal(reduction_mesh_create(context, 125, (reduction_order)order, &mesh), YOKE_OK);
        assert_int_equal(mesh.nodes, 1331);
        assert_int_equal(reduction_colour(&mesh, &groups), YOKE_OK);
        assert_in_range(groups.count, 8, 27);
        if (order == REDUCTION_ROWS) assert_int_equal(groups.count, 8);
        assert_int_equal(groups.first[groups.count], 125);
        for (int64_t g = 0; g < groups.count; g++) {
            char seen[1331] = {0};
            for (int64_t i = groups.first[g]; i < groups.first[g + 1]; i++)
                for (int k = 0; k < ELEMENT_NODES; k++) assert_int_equal(seen[mesh.node[groups.element[i] * ELEMENT_NODES + k]]++, 0);
        }
        reduction_groups_release(&groups);
        reduction_mesh_release(&mesh);
    }
    yoke_context_destroy(context);
}

static void impossible_meshes_are_refused(void **state)
{
    (void)state;
    yoke_context *context = context_of_test();
    reduction_mesh mesh;
    assert_int_equal(reduction_mesh_create(context, 0, REDUCTION_ROWS, &mesh), YOKE_ERROR_ARGUMENT);
    assert_int_equal(reduction_mesh_create(context, 2000001, REDUCTION_ROWS, &mesh), YOKE_ERROR_ARGUMENT);
    yoke_context_destroy(context);
}

static void synthetic_additions_lose_nothing_where_they_are_synchronised(void **state)
{
    (void)state;
    for (int kind = 0; kind < NUM_SYNTHETIC; kind++)
        for (int threads = 1; threads <= 4; threads++) {
            double seconds = -1;
            int64_t sum = -1;
            synthetic_run((synthetic_kind)kind, threads, 2000, 3, &seconds, &sum);
            assert_true(seconds >= 0);
            if (kind != SYNTHETIC_UNSYNCHRONISED || threads == 1)
                assert_int_equal(sum, 2000 * threads);
            else
                assert_in_range(sum, 1, 2000 * threads);
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_element_is_added_right),
    cmocka_unit_test(more_threads_than_elements_add_right),
    cmocka_unit_test(odd_sizes_add_right_in_every_order),
    cmocka_unit_test(the_reference_loses_nothing),
    cmocka_unit_test(a_wrong_vector_is_seen),
    cmocka_unit_test(cubes_have_the_nodes_and_colours_that_they_must),
    cmocka_unit_test(impossible_meshes_are_refused),
    cmocka_unit_test(synthetic_additions_lose_nothing_where_they_are_synchronised),
};

UNIT_MAIN(tests, NULL, NULL)
