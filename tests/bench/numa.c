/* Vectors on NUMA nodes: results, whole pages, threads; means and their intervals against tables. */
#include <math.h>

#include "numa/measure.h"
#include "unit.h"

static void every_placement_gives_the_right_results(void **state)
{
    (void)state;
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    for (int pretend = 0; pretend <= 3; pretend += 3) {
        numa_machine machine;
        assert_int_equal(numa_machine_load(context, pretend, &machine), YOKE_OK);
        assert_true(machine.nodes >= (pretend > 1 && machine.pretended ? pretend : 1) && machine.threads_per_node >= 1);
        for (int p = 0; p < NUMA_PLACEMENTS; p++) {
            numa_vectors vectors;
            double sum = 0;
            if (numa_vectors_create(context, &machine, (numa_placement)p, 5001, &vectors) != YOKE_OK) {
                assert_int_equal(p, NUMA_INTERLEAVED); /* containers may forbid that, and nothing else */
                assert_non_null(strstr(yoke_last_error(context), "mbind"));
                continue;
            }
            assert_true(vectors.bytes >= 5001 * sizeof(double));
            for (int product = 0; product < 2; product++) {
                assert_true(numa_run(&vectors, product, 3, &sum) >= 0);
                assert_true(sum == numa_expected(&vectors, product));
            }
            if (machine.node[0] == machine.node[machine.nodes - 1]) assert_false(numa_misplaced(&vectors, (numa_placement)p) > 0);
            numa_vectors_destroy(&vectors);
        }
        numa_machine_unload(&machine);
    }
    yoke_context_destroy(context);
}

/* Student's t for 97.5 %: 12.706 (1), 2.776 (4), 2.571 (5), 2.262 (9), 2.093 (19), 1.984 (99). */
static void intervals_are_those_of_student(void **state)
{
    (void)state;
    static const struct {
        int64_t count;
        double t;
    } tables[] = {{2, 12.706}, {5, 2.776}, {6, 2.571}, {10, 2.262}, {20, 2.093}, {100, 1.984}};
    double values[100], mean, interval;
    for (size_t k = 0; k < sizeof tables / sizeof tables[0]; k++) {
        const int64_t n = tables[k].count;
        double squares = 0, middle = 0.5 * (double)(n - 1);
        for (int64_t i = 0; i < n; i++) values[i] = (double)i, squares += ((double)i - middle) * ((double)i - middle);
        numa_mean(n, values, &mean, &interval);
        assert_true(fabs(mean - middle) < 1e-12);
        const double t = interval / sqrt(squares / (double)(n - 1) / (double)n);
        if (!(fabs(t - tables[k].t) < 2e-3)) fail_msg("%lld values: t = %.6f instead of %.3f", (long long)n, t, tables[k].t);
    }
    numa_mean(1, values, &mean, &interval);
    assert_true(mean == 0 && isnan(interval));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_placement_gives_the_right_results),
    cmocka_unit_test(intervals_are_those_of_student),
};

UNIT_MAIN(tests, NULL, NULL)
