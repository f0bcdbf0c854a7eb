/* The simplex method of the planner, against duality: what is feasible on both sides at the same cost is optimal. */
#include "plan/round/simplex.h"

#include "context.h"

#include <math.h>

#include "plan/random.h"

enum { ROWS = 12, COLUMNS = 40, ENTRIES = 6 };

/* Unit columns that cost much, then columns with a few entries. */
static void fill(random_state *random, plan_simplex *simplex, double b[ROWS], double dense[COLUMNS][ROWS], double costs[COLUMNS])
{
    for (int r = 0; r < ROWS; r++) b[r] = random_uniform(random, 0, 1) < 0.2 ? 0 : random_uniform(random, 0.1, 5);
    plan_simplex_start(simplex, ROWS, b);
    for (int c = 0; c < COLUMNS; c++) {
        int rows[ENTRIES], count = 0;
        double values[ENTRIES];
        costs[c] = c < ROWS ? 100 : random_uniform(random, 0, 3);
        for (int r = 0; r < ROWS; r++) dense[c][r] = 0;
        if (c < ROWS) {
            rows[count] = c;
            values[count++] = 1;
        }
        for (int first = (int)random_whole(random, 0, 3); c >= ROWS && count < ENTRIES && first < ROWS;
             first += (int)random_whole(random, 1, 4)) {
            rows[count] = first;
            values[count++] = random_uniform(random, -0.5, 2);
        }
        for (int k = 0; k < count; k++) dense[c][rows[k]] = values[k];
        assert_int_equal(plan_simplex_add(simplex, costs[c], count, rows, values), c);
    }
}

static void solutions_are_optimal_by_duality(void **state)
{
    (void)state;
    enum { PROGRAMS = 500 };
    int steps = 0, forced = 0;
    plan_simplex simplex;
    assert_int_equal(plan_simplex_create(context, ROWS, COLUMNS, ENTRIES, &simplex), YOKE_OK);
    for (int number = 0; number < PROGRAMS; number++) {
        random_state random = {(uint64_t)number * 0x9e3779b97f4a7c15u + 5};
        double b[ROWS], dense[COLUMNS][ROWS], costs[COLUMNS], cost = 0, worth = 0;
        fill(&random, &simplex, b, dense, costs);
        double least = 0;
        if (number % 2) plan_simplex_force(&simplex, ROWS, simplex.row_of[ROWS * ENTRIES]);
        for (int r = 0; r < ROWS; r++) least = fmin(least, simplex.x[r]);
        forced += number % 2 && least == 0;
        if (least < 0) fill(&random, &simplex, b, dense, costs); /* not feasible: another program */
        steps += plan_simplex_solve(&simplex, 10000);
        for (int r = 0; r < ROWS; r++) {
            double sum = 0;
            for (int c = 0; c < COLUMNS; c++) sum += dense[c][r] * plan_simplex_value(&simplex, c);
            assert_true(fabs(sum - b[r]) < 1e-9);
            worth += simplex.multipliers[r] * b[r];
        }
        for (int c = 0; c < COLUMNS; c++) {
            double reduced = costs[c];
            for (int r = 0; r < ROWS; r++) reduced -= simplex.multipliers[r] * dense[c][r];
            assert_true(plan_simplex_value(&simplex, c) > -1e-9 && reduced > -1e-8);
            cost += costs[c] * plan_simplex_value(&simplex, c);
        }
        assert_true(fabs(cost - worth) < 1e-7 * (1 + fabs(cost)));
        assert_true(fabs(cost - plan_simplex_cost(&simplex)) < 1e-9 * (1 + fabs(cost)));
    }
    plan_simplex_destroy(&simplex);
    print_message("%d steps\n", steps);
    assert_true(steps > PROGRAMS && forced > PROGRAMS / 20);
}

static void a_full_program_refuses_columns(void **state)
{
    (void)state;
    plan_simplex simplex;
    const double b[1] = {1}, one = 1;
    const int row = 0;
    assert_int_equal(plan_simplex_create(context, 1, 2, 1, &simplex), YOKE_OK);
    plan_simplex_start(&simplex, 1, b);
    assert_int_equal(plan_simplex_add(&simplex, 2, 1, &row, &one), 0);
    assert_int_equal(plan_simplex_add(&simplex, 1, 1, &row, &one), 1);
    assert_int_equal(plan_simplex_add(&simplex, 1, 1, &row, &one), -1);
    assert_int_equal(plan_simplex_solve(&simplex, 10), 1);
    assert_true(plan_simplex_cost(&simplex) == 1);
    plan_simplex_destroy(&simplex);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(solutions_are_optimal_by_duality),
    cmocka_unit_test(a_full_program_refuses_columns),
};

UNIT_MAIN(tests, context_start, context_end)
