/* Corrections of predictions that are learned from runs. */
#include <stdio.h>
#include <unistd.h>

#include "clouds.h"
#include "known_costs.h"
#include "solve/solve.h"
#include "tune/choose.h"
#include "tune/tune.h"

/* Costs were measured while other programs had the cores: each is `wrong` times the truth.  Every third run is disturbed and takes five times as long. */
static double after_runs(double wrong, int runs, int disturbed)
{
    fmm_factor factor = {.value = 1};
    for (int r = 0; r < runs; r++) factor = fmm_factor_learn(factor, (disturbed && r % 3 == 2 ? 5 : 1) / wrong, 0);
    assert_int_equal(factor.runs, runs);
    return wrong * factor.value;
}

static void costs_measured_on_a_busy_machine_heal_within_some_runs(void **state)
{
    (void)state;
    assert_near_part(after_runs(1, 20, 0), 1, 1e-12);
    assert_near_part(after_runs(3, FMM_ALIKE_RUNS - 1, 0), 3, 1e-12);
    assert_near_part(after_runs(3, FMM_ALIKE_RUNS, 0), 1, 1e-12);
    assert_near_part(after_runs(0.8, FMM_ALIKE_RUNS - 1, 0), 0.8, 1e-12);
    assert_near_part(after_runs(0.8, FMM_ALIKE_RUNS, 0), 1, 1e-12);
    assert_near_part(after_runs(0.5, FMM_ALIKE_RUNS, 0), 0.75, 1e-12);
    assert_near_part(after_runs(0.5, 2 * FMM_ALIKE_RUNS, 0), 1, 1e-12);
    assert_near_part(after_runs(3, 12, 1), 1, 1e-12);
}

static void disturbed_runs_do_not_change_what_is_predicted(void **state)
{
    (void)state;
    assert_near_part(after_runs(1, 3, 1), 1, 1e-12);
    assert_near_part(after_runs(1, 40, 1), 1, 1e-12);
    assert_near_part(after_runs(1.1, 40, 1), 1, 1e-12);
    fmm_factor factor = {.value = 1};
    for (int r = 0; r < 1000; r++) factor = fmm_factor_learn(factor, 1e30, 0);
    assert_true(factor.value <= FMM_MOST_FACTOR);
    for (int r = 0; r < 1000; r++) factor = fmm_factor_learn(factor, 1e-300, 0);
    assert_true(factor.value >= 1 / FMM_MOST_FACTOR);
    const double bad[] = {NAN, INFINITY, 0, -1};
    for (int k = 0; k < 4; k++) assert_true(fmm_factor_learn(factor, bad[k], 0).runs == factor.runs);
}

/* Of runs that all took longer the least counts, of those that took less the most; one of the other kind ends the former, and outweighs one of the
 * latter. */
static void what_runs_have_in_common_is_learned(void **state)
{
    (void)state;
    static const double longer[] = {1.3, 1.07, 0.9, 1.5, 1.4, 1.3, 1.25}, less[] = {0.7, 0.8, 0.6, 1.5, 0.75, 0.7, 0.7};
    fmm_factor factor = {.value = 1};
    for (int r = 0; r < 2; r++) factor = fmm_factor_learn(factor, longer[r], 0);
    assert_int_equal(factor.alike, 2);
    for (int r = 0; r < 5; r++) factor = fmm_factor_learn(factor, r == 2 ? 1 : longer[r + 2], 0);
    assert_near_part(factor.value, 1, 0); /* 0.9 took less, and begins to be counted */
    factor = (fmm_factor){.value = 1};
    for (int r = 0; r < FMM_ALIKE_RUNS; r++) factor = fmm_factor_learn(factor, longer[r < 2 ? r : r + 1], 0);
    assert_near_part(factor.value, 1.07, 1e-12);
    factor = (fmm_factor){.value = 1};
    for (int r = 0; r < 7; r++) factor = fmm_factor_learn(factor, less[r], 0);
    assert_near_part(factor.value, 0.8, 1e-12);
    assert_int_equal(factor.alike, 0);
    factor.value = 0.45; /* far too low: longer runs count, although one run took less before */
    factor = fmm_factor_learn(factor, 0.4, 0);
    assert_int_equal(factor.alike, -1);
    for (int r = 0; r < 25; r++) factor = fmm_factor_learn(factor, 1, 0);
    assert_near_part(factor.value, 1, 1e-12);
}

/* Costs that are a tenth too high, and known to have been disturbed: three runs show it. */
static void disturbed_costs_heal_faster(void **state)
{
    (void)state;
    fmm_factor told = {.value = 1}, plain = {.value = 1};
    for (int r = 0; r < FMM_ALIKE_RUNS - 1; r++) {
        told = fmm_factor_learn(told, 1 / 1.1, 1);
        plain = fmm_factor_learn(plain, 1 / 1.1, 0);
    }
    assert_near_part(told.value, 1 / 1.1, 0.01);
    assert_true(plain.value > told.value);
}

/* A tree of depth 3 that took other times than was predicted; what was learned serves another tuner, and no other kernels. */
static void what_runs_taught_is_in_the_store(void **state)
{
    (void)state;
    char path[64];
    (void)snprintf(path, sizeof path, "tune-factors-%ld.json", (long)getpid());
    known costs = usual;
    fmm_machine machine;
    keep_known_costs(path, &costs, &machine);
    fmm_particles *p = cloud_create(context, UNIFORM, 20000);
    const fmm_tune_options options = {.store = path, .gradient = 1, .depth = 3};
    for (int r = 0; r <= FMM_ALIKE_RUNS; r++) {
        fmm_tuned tuned;
        fmm_tuner *tuner = choose_tree(&options, p, 8, &tuned);
        const fmm_depth *of = fmm_chosen(&tuned.choice);
        fmm_analysis *analysis = NULL;
        fmm_depth plain;
        assert_int_equal(fmm_analysis_create(p, 3, &analysis), YOKE_OK);
        fmm_depth_predict(&machine, analysis, 3, 8, 1, &plain);
        fmm_analysis_destroy(analysis);
        const double expected = r < FMM_ALIKE_RUNS ? 1 : 1.06;
        for (int part = 0; part < FMM_TIMED_PARTS; part++) assert_int_equal(tuned.factor[part].runs, part == FMM_PART_TREE ? 0 : r);
        assert_near_part(of->predicted.near, plain.predicted.near * (r == 0 ? 1 : tuned.factor[FMM_PART_NEAR].value), 1e-9);
        assert_near_part(tuned.factor[FMM_PART_FAR].value, expected, 1e-9);
        assert_near_part(of->predicted.total, of->predicted.tree + of->predicted.near + of->predicted.far, 1e-12);
        tuned.choice.of[3].measured = (fmm_seconds){
            .tree = NAN, .near = 0.5 * plain.predicted.near, .far = (1.06 + 0.01 * r) * of->predicted.far, .total = plain.predicted.total};
        assert_int_equal(fmm_tuner_learn(tuner, &tuned), YOKE_OK);
        fmm_tuner_destroy(tuner);
    }
    yoke_run *run = open_run(path);
    assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_SECONDS, &machine), YOKE_OK);
    assert_near_part(machine.factor[FMM_PART_NEAR].value, 0.5, 1e-9);
    assert_int_equal(machine.factor[FMM_PART_NEAR].runs, FMM_ALIKE_RUNS + 1);
    yoke_run_destroy(run);
    run = open_run(path);
    measure(run, &costs, &machine); /* measured anew: nothing is known of predictions by these costs */
    for (int part = 0; part < FMM_TIMED_PARTS; part++) assert_true(machine.factor[part].value == 1 && machine.factor[part].runs == 0);
    yoke_run_destroy(run);
    fmm_particles_destroy(p);
    (void)remove(path);
}

/* Returns the number of runs that the store knows of, after a run that chooses its tree itself or after such a choice. */
static int runs_after(const char *path, const fmm_particles *p, int chooses_before)
{
    const fmm_solver_options options = {.request = {.error = 1e-6}, .order = -1, .depth = -1, .gradient = true, .store = path};
    fmm_solver *solver = NULL;
    fmm_solution found;
    fmm_field *field = NULL;
    assert_int_equal(fmm_field_create(context, p->count, 1, &field), YOKE_OK);
    assert_int_equal(fmm_solver_create(context, &options, &solver), YOKE_OK);
    if (chooses_before) assert_int_equal(fmm_solver_choose(solver, p, &found), YOKE_OK);
    for (int k = 0; k < 2; k++) /* the second run of the same tree teaches nothing */
        assert_int_equal(fmm_solver_run(solver, p, k || chooses_before ? FMM_NOTHING_NEW : FMM_NEW_PLACES, field, &found), YOKE_OK);
    assert_true(fmm_chosen(&fmm_solver_tuned(solver)->choice)->measured.tree > fmm_solver_tuned(solver)->sort_s);
    fmm_solver_destroy(solver);
    fmm_field_destroy(field);
    yoke_run *run = open_run(path);
    fmm_machine machine;
    assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_SECONDS, &machine), YOKE_OK);
    yoke_run_destroy(run);
    return machine.factor[FMM_PART_FAR].runs;
}

static void a_run_after_the_choice_of_its_tree_teaches_too(void **state)
{
    (void)state;
    char path[64];
    (void)snprintf(path, sizeof path, "tune-after-%ld.json", (long)getpid());
    known costs = usual;
    fmm_machine machine;
    keep_known_costs(path, &costs, &machine);
    fmm_particles *p = cloud_create(context, UNIFORM, 40000);
    assert_int_equal(runs_after(path, p, 0), 1);
    assert_int_equal(runs_after(path, p, 1), 2);
    fmm_particles_destroy(p);
    (void)remove(path);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(costs_measured_on_a_busy_machine_heal_within_some_runs),
    cmocka_unit_test(disturbed_costs_heal_faster),
    cmocka_unit_test(disturbed_runs_do_not_change_what_is_predicted),
    cmocka_unit_test(what_runs_have_in_common_is_learned),
    cmocka_unit_test(what_runs_taught_is_in_the_store),
    cmocka_unit_test(a_run_after_the_choice_of_its_tree_teaches_too),
};

UNIT_MAIN(tests, context_start, context_end)
