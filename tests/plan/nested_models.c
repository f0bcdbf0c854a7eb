/* Partial models of nodes and devices: what sides cost, and where memory ends. */
#include "unit.h"

#include <math.h>

#include "plan/partition/nested.h"
#include "random_part.h"

enum { NODES = 12 };

/* Nodes with other speeds, two rectangles each, of about as many blocks.  beyond: what all blocks behind the first rectangle's cost besides, as where memory is full. */
static void measure_sides(nested_model *models, int64_t count, double side_s, double beyond)
{
    nested_node nodes[NODES] = {{0}};
    uint64_t state = 7;
    for (int64_t i = 0; i < count; i++) {
        nodes[i].devices = 1;
        const double per_block = 1e-3 * (1 + 9 * random_part(&state)), rows[] = {20 + (double)i, 40 + (double)i}, first = rows[0] * 30;
        models[i] = (nested_model){.count = 0};
        for (int64_t k = 0; k < 2; k++) {
            const double columns = k == 0 ? 30 : floor(first * 1.05 / rows[1]), blocks = rows[k] * columns;
            const double seconds =
                per_block * blocks + side_s * (rows[k] + columns) + beyond * fmax(0, blocks - first) * random_part(&state);
            nested_model_add(&models[i], blocks, seconds, nested_longer(rows[k], columns), k + 1, false);
        }
    }
    nested_find_sides(count, models, nodes);
}

static void what_sides_cost_is_found_where_nodes_agree(void **state)
{
    (void)state;
    static nested_model models[NODES];
    measure_sides(models, NODES, 2e-3, 0);
    for (int i = 0; i < NODES; i++) {
        assert_true(fabs(models[i].side_s / 2e-3 - 1) < 1e-9);
        for (int64_t k = 0; k < models[i].count; k++) {
            const nested_point *p = &models[i].points[k];
            assert_true(fabs(p->seconds + 2e-3 * p->longer - p->measured_s) < 1e-12);
        }
    }
    measure_sides(models, NODES, 0, 0);
    assert_true(fabs(models[0].side_s) < 1e-12);
    measure_sides(models, 3, 2e-3, 0); /* too few */
    assert_true(models[0].side_s == 0);
    measure_sides(models, NODES, 2e-3, 1);
    assert_true(models[0].side_s == 0 && models[0].points[0].seconds == models[0].points[0].measured_s);
}

/* Memory of 1000 blocks: beyond it each takes four times as long more, or all take five seconds more. */
static double bent_s(double blocks) { return 1e-3 * blocks + 4e-3 * fmax(blocks - 1000, 0); }
static double jumping_s(double blocks) { return 1e-3 * blocks + (blocks > 1000 ? 5 : 0); }

/* Two points behind the corner of two lines tell where it is; a jump of the seconds is no corner. */
static void two_points_behind_a_corner_tell_where_it_is(void **state)
{
    (void)state;
    static const double blocks[] = {400, 1500, 2000};
    nested_model of_bent = {.count = 0}, of_jumps = {.count = 0};
    for (int k = 0; k < 3; k++) {
        nested_model_add(&of_bent, blocks[k], bent_s(blocks[k]), 0, k + 1, false);
        nested_model_add(&of_jumps, blocks[k], jumping_s(blocks[k]), 0, k + 1, false);
    }
    for (double x = 100; x <= 1500; x += 50) assert_float_equal(yoke_curve_seconds(&of_bent.curve, x), bent_s(x), 1e-9);
    assert_true(yoke_curve_seconds(&of_jumps.curve, 950) > jumping_s(950));
    assert_true(yoke_curve_seconds(&of_jumps.curve, 1050) < jumping_s(1050));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_sides_cost_is_found_where_nodes_agree),
    cmocka_unit_test(two_points_behind_a_corner_tell_where_it_is),
};

UNIT_MAIN(tests, NULL, NULL)
