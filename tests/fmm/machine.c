/* What operations take on a machine: measured, kept, corrected by runs. */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

#include "clouds.h"
#include "known_costs.h"
#include "tree/lists.h"
#include "tune/choose.h"
#include "tune/costs/bench.h"
#include "tune/costs/free.h"
#include "tune/costs/surface.h"
#include "tune/tune.h"

/* Powers of order + 1 are straight in logarithms, and so exact between the orders that are measured. */
static void assert_costs(const fmm_machine *m, const known *k)
{
    for (int n = 1; n <= FMM_SMALL_LEAF; n++) {
        assert_near(m->in_double.near[n], source_of(k, n), 1e-9);
        assert_near(m->in_single.near[n], source_of(k, n) / 2, 1e-9);
        assert_true(m->pairs.near[n] == m->in_double.near[n]);
    }
    const fmm_pair_costs *const both[2] = {&m->in_double, &m->in_single};
    for (int of = 0; of < 2; of++) {
        assert_near(both[of]->leaf, k->near_leaf, 1e-6);
        assert_near(both[of]->particle, k->near_particle, 1e-6);
    }
    for (int p = 0; p <= FMM_MAX_ORDER; p++) {
        assert_near(m->tables[p], unit_of(k, FMM_TABLES, p), 1e-9);
        assert_near(m->pair[p], unit_of(k, FMM_PAIR, p), 1e-9);
        assert_true(fabs(m->batch[p]) <= 1e-9 * m->pair[p]);
        assert_near(m->cell[p], unit_of(k, FMM_CELL, p), 1e-9);
        assert_near(m->visit[p], unit_of(k, FMM_VISIT, p), 1e-9);
        assert_near(m->leaf[p] + 32 * m->particle[p], unit_of(k, FMM_LEAF_32, p), 1e-9);
        assert_near(m->leaf[p] + 8 * m->particle[p], unit_of(k, FMM_LEAF_8, p), 1e-9);
    }
    assert_near(m->sort, 2e-8, 1e-9);
    assert_near(m->tree_leaf + 8 * m->tree_particle, unit_of(k, FMM_TREE, 8), 1e-9);
    assert_near(m->adaptive_particle, 1.2e-8, 1e-9);
    assert_near(m->adaptive_leaf, 5e-7, 1e-9);
    assert_near(m->in_double.uneven, 21 / 13.5, 1e-9);
    assert_near(m->in_single.uneven, 21 / 13.5, 1e-9);
    assert_near(m->tree_leaf + 32 * m->tree_particle, unit_of(k, FMM_TREE, 32), 1e-9);
}

static void costs_of_a_machine_are_found(void **state)
{
    (void)state;
    known costs = usual;
    fmm_machine machine;
    yoke_run *run = open_run(NULL);
    measure(run, &costs, &machine);
    assert_costs(&machine, &usual);
    assert_near(machine.in_double.large, source_of(&usual, 128) / 128, 1e-9);
    assert_near(machine.in_single.large, source_of(&usual, 128) / 256, 1e-9);
    yoke_run_destroy(run);
}

static yoke_status trial_with_slow_lone_leaves(void *user, fmm_operation operation, int size, int64_t calls, double *seconds)
{
    yoke_status status = trial(user, operation, size, calls, seconds);
    if (operation == FMM_LONE && size == FMM_MAX_BENCH_PARTICLES) *seconds *= 4;
    return status;
}

/* Other programs disturbed one of the two sizes of lone leaves: pairs of no size become much cheaper by that. */
static void one_disturbed_size_does_not_make_pairs_free(void **state)
{
    (void)state;
    known costs = usual;
    fmm_machine machine;
    const fmm_machine_options options = {.gradient = 1, .trial = trial_with_slow_lone_leaves, .user = &costs};
    yoke_run *run = open_run(NULL);
    assert_int_equal(fmm_machine_measure(context, run, 0, &options, &machine), YOKE_OK);
    for (int n = 1; n <= FMM_SMALL_LEAF; n++) assert_true(machine.in_double.near[n] > 0.4 * source_of(&usual, n));
    yoke_run_destroy(run);
}

/* The store has those of several numbers of threads side by side. */
static void each_number_of_threads_has_costs_of_its_own(void **state)
{
    (void)state;
    const int usually = omp_get_max_threads();
    char path[64];
    (void)snprintf(path, sizeof path, "tune-threads-%ld.json", (long)getpid());
    for (int get = 0; get < 2; get++)
        for (int threads = 1; threads <= 3; threads++) {
            known costs = usual;
            fmm_machine machine;
            costs.pair *= threads;
            omp_set_num_threads(threads);
            yoke_run *run = open_run(path);
            if (get)
                assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_SECONDS, &machine), YOKE_OK);
            else
                measure(run, &costs, &machine);
            assert_costs(&machine, &costs);
            assert_int_equal(yoke_run_save(run, NULL), YOKE_OK);
            yoke_run_destroy(run);
        }
    omp_set_num_threads(usually);
    (void)remove(path);
}

/* What the run plans with is what the trees were predicted with, also where measurements were disturbed: of order 8, and of leaves of 64 particles. */
static void plans_are_by_the_predicted_times_where_measurements_were_disturbed(void **state)
{
    (void)state;
    fmm_particles *p = cloud_create(context, UNIFORM, 20000);
    fmm_analysis *analysis = NULL;
    assert_int_equal(fmm_analysis_create(p, 4, &analysis), YOKE_OK);
    for (int disturbed = 8; disturbed <= 64; disturbed += 56) {
        known costs = usual;
        fmm_machine machine;
        fmm_choice choice = {.first = 0, .last = 4};
        costs.disturbed = disturbed;
        costs.times = 3;
        yoke_run *run = open_run(NULL);
        measure(run, &costs, &machine);
        for (int d = 0; d <= 4; d++) fmm_depth_predict(&machine, analysis, d, 8, 1, &choice.of[d]);
        assert_int_equal(fmm_choose(run, 0, 1, &machine, &choice), YOKE_OK);
        assert_near(choice.predicted.time_s, fmm_chosen(&choice)->predicted.total, 5e-3);
        yoke_run_destroy(run);
    }
    fmm_analysis_destroy(analysis);
    fmm_particles_destroy(p);
}

/* Those of order 8 and of leaves of 8 particles; they count as the next size that was measured, 10 and 12. */
static void disturbed_measurements_count_as_the_next_size(void **state)
{
    (void)state;
    known costs = usual;
    fmm_machine machine;
    yoke_run *run = open_run(NULL);
    costs.disturbed = 8;
    measure(run, &costs, &machine);
    assert_near(machine.cell[8], unit_of(&usual, FMM_CELL, 10), 1e-9);
    assert_near(machine.pair[8], unit_of(&usual, FMM_PAIR, 10), 1e-9);
    assert_true(machine.pairs.near[8] <= unit_of(&usual, FMM_NEAR, 12) && machine.pairs.near[8] > 0.5 * source_of(&usual, 8));
    for (int p = 0; p <= FMM_MAX_ORDER; p++)
        if (p < 7 || p > 9) assert_near(machine.cell[p], unit_of(&usual, FMM_CELL, p), 1e-9);
    yoke_run_destroy(run);
}

static void what_a_batch_takes_beside_its_pairs_is_found(void **state)
{
    (void)state;
    known costs = usual;
    fmm_machine machine;
    yoke_run *run = open_run(NULL);
    costs.batch = 3;
    measure(run, &costs, &machine);
    for (int p = 0; p <= FMM_MAX_ORDER; p++) {
        assert_near(machine.pair[p], costs.pair * pow(p + 1, 3), 1e-9);
        assert_near(machine.batch[p], 3 * machine.pair[p], 1e-9);
    }
    yoke_run_destroy(run);
}

static void costs_in_the_store_are_found_again_by_another_run(void **state)
{
    (void)state;
    char path[64];
    known costs = usual;
    fmm_machine machine, again = {0};
    (void)snprintf(path, sizeof path, "tune-store-%ld.json", (long)getpid());
    yoke_run *run = open_run(path);
    assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_SECONDS, &machine), YOKE_ERROR_UNAVAILABLE);
    yoke_run_destroy(run);
    run = open_run(path);
    measure(run, &costs, &machine);
    assert_int_equal(yoke_run_save(run, NULL), YOKE_OK);
    yoke_run_destroy(run);
    run = open_run(path);
    assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_SECONDS, &again), YOKE_OK);
    assert_costs(&again, &usual);
    yoke_run_destroy(run);
    run = open_run(path); /* without gradients the sums are others */
    assert_int_equal(fmm_machine_get(run, 0, 0, FMM_MEASURE_SECONDS, &again), YOKE_ERROR_UNAVAILABLE);
    yoke_run_destroy(run);
    (void)remove(path);
}

/* Says in the store that other programs had the cores half of the time in which a work was measured. */
static void say_disturbed(const char *path, const char *work)
{
    enum { BYTES = 1 << 20 };
    char *text = calloc(1, BYTES), place[64];
    FILE *file = fopen(path, "r");
    assert_non_null(text);
    assert_non_null(file);
    assert_true(fread(text, 1, BYTES - 1, file) < BYTES - 1);
    (void)fclose(file);
    (void)snprintf(place, sizeof place, "\"work\": \"%s\",", work);
    char *at = strstr(text, place);
    assert_non_null(at);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "%.*s\"disturbed\": 0.5, %s", (int)(at - text), text, at) > 0);
    assert_int_equal(fclose(file), 0);
    free(text);
}

/* Only those: each size is measured by some trials.  Told seconds are those of a call, whatever its trials took. */
static void disturbed_costs_are_measured_again(void **state)
{
    (void)state;
    char path[64];
    known costs = usual, now = usual;
    const fmm_machine_options options = {.gradient = 1, .trial = trial, .user = &now};
    fmm_machine machine;
    (void)snprintf(path, sizeof path, "tune-again-%ld.json", (long)getpid());
    yoke_run *run = open_run(path);
    costs.disturbed = 8;
    costs.times = 1.2;
    measure(run, &costs, &machine);
    yoke_run_destroy(run);
    run = open_run(path);
    assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_SECONDS, &machine), YOKE_OK); /* it knows other factors then */
    machine.factor[FMM_PART_NEAR] = (fmm_factor){.value = 0.8, .runs = 3, .alike = -2, .next = 0.7};
    assert_int_equal(fmm_machine_put_factors(run, 1, &machine), YOKE_OK);
    yoke_run_destroy(run);
    say_disturbed(path, "fmm cell p=8");
    say_disturbed(path, "fmm pair p=8");
    run = open_run(path);
    assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_SECONDS, &machine), YOKE_OK);
    assert_near(machine.disturbed, 0.5, 1e-12);
    const fmm_factor kept = machine.factor[FMM_PART_NEAR];
    assert_true(kept.runs == 3 && kept.alike == -2);
    assert_near(kept.next, 0.7, 1e-9);
    yoke_run_destroy(run);
    run = open_run(path);
    assert_int_equal(fmm_machine_measure_again(context, run, 0, &options, &machine), YOKE_OK);
    assert_true(now.calls >= 2 && now.calls <= costs.calls / 10);
    yoke_run_destroy(run);
    run = open_run(path);
    assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_SECONDS, &machine), YOKE_OK);
    assert_true(machine.disturbed == 0);
    assert_near(machine.cell[8], unit_of(&usual, FMM_CELL, 8), 1e-9);
    assert_near(machine.tables[8], unit_of(&costs, FMM_TABLES, 8) * costs.times, 1e-9);
    assert_true(machine.factor[FMM_PART_NEAR].value == 1 && machine.factor[FMM_PART_NEAR].runs == 0);
    yoke_run_destroy(run);
    (void)remove(path);
}

static void whether_the_cores_are_free_is_told(void **state)
{
    (void)state;
    int are_free = -1; /* nobody knows what else runs beside this test */
    assert_int_equal(fmm_cores_are_free(context, &are_free), YOKE_OK);
    assert_true(are_free == 0 || are_free == 1);
}

/* ---------------------------------------------------------------------------------------------- learning from runs */

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
    assert_near(after_runs(1, 20, 0), 1, 1e-12);
    assert_near(after_runs(3, FMM_ALIKE_RUNS - 1, 0), 3, 1e-12);
    assert_near(after_runs(3, FMM_ALIKE_RUNS, 0), 1, 1e-12);
    assert_near(after_runs(0.8, FMM_ALIKE_RUNS - 1, 0), 0.8, 1e-12);
    assert_near(after_runs(0.8, FMM_ALIKE_RUNS, 0), 1, 1e-12);
    assert_near(after_runs(0.5, FMM_ALIKE_RUNS, 0), 0.75, 1e-12);
    assert_near(after_runs(0.5, 2 * FMM_ALIKE_RUNS, 0), 1, 1e-12);
    assert_near(after_runs(3, 12, 1), 1, 1e-12);
}

static void disturbed_runs_do_not_change_what_is_predicted(void **state)
{
    (void)state;
    assert_near(after_runs(1, 3, 1), 1, 1e-12);
    assert_near(after_runs(1, 40, 1), 1, 1e-12);
    assert_near(after_runs(1.1, 40, 1), 1, 1e-12);
    fmm_factor factor = {.value = 1};
    for (int r = 0; r < 1000; r++) factor = fmm_factor_learn(factor, 1e30, 0);
    assert_true(factor.value <= FMM_MOST_FACTOR);
    for (int r = 0; r < 1000; r++) factor = fmm_factor_learn(factor, 1e-300, 0);
    assert_true(factor.value >= 1 / FMM_MOST_FACTOR);
    const double bad[] = {NAN, INFINITY, 0, -1};
    for (int k = 0; k < 4; k++) assert_true(fmm_factor_learn(factor, bad[k], 0).runs == factor.runs);
}

/* Of runs that all took longer the least counts, of those that took less the most; one of the other kind ends the former, not the latter. */
static void what_runs_have_in_common_is_learned(void **state)
{
    (void)state;
    static const double longer[] = {1.3, 1.07, 0.9, 1.5, 1.4, 1.3, 1.25}, less[] = {0.7, 0.8, 0.6, 1.5, 0.75, 0.7};
    fmm_factor factor = {.value = 1};
    for (int r = 0; r < 2; r++) factor = fmm_factor_learn(factor, longer[r], 0);
    assert_int_equal(factor.alike, 2);
    for (int r = 0; r < 5; r++) factor = fmm_factor_learn(factor, r == 2 ? 1 : longer[r + 2], 0);
    assert_near(factor.value, 1, 0); /* 0.9 took less, and begins to be counted */
    factor = (fmm_factor){.value = 1};
    for (int r = 0; r < FMM_ALIKE_RUNS; r++) factor = fmm_factor_learn(factor, longer[r < 2 ? r : r + 1], 0);
    assert_near(factor.value, 1.07, 1e-12);
    factor = (fmm_factor){.value = 1};
    for (int r = 0; r < 6; r++) factor = fmm_factor_learn(factor, less[r], 0);
    assert_near(factor.value, 0.8, 1e-12);
    assert_int_equal(factor.alike, 0);
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
    assert_near(told.value, 1 / 1.1, 0.01);
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
    yoke_run *run = open_run(path);
    measure(run, &costs, &machine);
    assert_int_equal(yoke_run_save(run, NULL), YOKE_OK);
    yoke_run_destroy(run);
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
        assert_near(of->predicted.near, plain.predicted.near * (r == 0 ? 1 : tuned.factor[FMM_PART_NEAR].value), 1e-9);
        assert_near(tuned.factor[FMM_PART_FAR].value, expected, 1e-9);
        assert_near(of->predicted.total, of->predicted.tree + of->predicted.near + of->predicted.far, 1e-12);
        tuned.measured[3] = (fmm_seconds){
            .tree = NAN, .near = 0.5 * plain.predicted.near, .far = (1.06 + 0.01 * r) * of->predicted.far, .total = plain.predicted.total};
        assert_int_equal(fmm_tuner_learn(tuner, &tuned), YOKE_OK);
        fmm_tuner_destroy(tuner);
    }
    run = open_run(path);
    assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_SECONDS, &machine), YOKE_OK);
    assert_near(machine.factor[FMM_PART_NEAR].value, 0.5, 1e-9);
    assert_int_equal(machine.factor[FMM_PART_NEAR].runs, FMM_ALIKE_RUNS + 1);
    yoke_run_destroy(run);
    run = open_run(path);
    measure(run, &costs, &machine); /* measured anew: nothing is known of predictions by these costs */
    for (int part = 0; part < FMM_TIMED_PARTS; part++) assert_true(machine.factor[part].value == 1 && machine.factor[part].runs == 0);
    yoke_run_destroy(run);
    fmm_particles_destroy(p);
    (void)remove(path);
}

/* ----------------------------------------------------------------------------------------------- the benchmark */

static void units_of_the_benchmark_are_those_that_are_counted(void **state)
{
    (void)state;
    enum { SIDE = 16 };
    fmm_particles *p = NULL;
    fmm_tree *tree = NULL;
    fmm_counts counts[5];
    fmm_cell_counts cells[5];
    assert_int_equal(fmm_particles_create(context, SIDE * SIDE * SIDE, &p), YOKE_OK);
    for (int i = 0; i < p->count; i++) p->x[i] = i % SIDE + 0.5, p->y[i] = i / SIDE % SIDE + 0.5, p->z[i] = i / SIDE / SIDE + 0.5;
    assert_int_equal(fmm_tree_create(p, (fmm_box){.side = SIDE}, 4, &tree), YOKE_OK);
    assert_int_equal(fmm_count_cells(tree, counts, cells), YOKE_OK);
    assert_int_equal(fmm_bench_units(FMM_PAIR, 4), 2 * counts[4].far);
    assert_int_equal(fmm_bench_units(FMM_NEAR, 32), cells[4].sources[1] * 32);
    assert_int_equal(fmm_bench_units(FMM_NEAR, 128), cells[3].sources[8] * 16);
    assert_near(fmm_bench_sources(32) * 4096, (double)cells[4].sources[1] * 32, 1e-12);
    fmm_tree_destroy(tree);
    fmm_particles_destroy(p);
}

/* Batches of M2L are estimated from the numbers of cells and pairs; where cells are missing, those of all levels within a fifth. */
static void batches_of_the_benchmark_are_about_those_of_the_method(void **state)
{
    (void)state;
    static const double within[2] = {0.1, 0.2};
    static const fmm_operation operations[2] = {FMM_PAIR, FMM_SPARSE};
    fmm_bench *bench = NULL;
    assert_int_equal(fmm_bench_create(context, 1, NULL, &bench), YOKE_OK);
    for (int k = 0; k < 2; k++) {
        enum { ORDER = 4, TOGETHER = 16 };
        int32_t target[8 * TOGETHER], ahead[8 * TOGETHER], behind[8 * TOGETHER];
        double seconds, batches = 0, pairs = 0;
        fmm_far_list far;
        fmm_walk walk;
        assert_int_equal(fmm_bench_run(bench, operations[k], ORDER, 1, &seconds), YOKE_OK);
        const fmm_tree *tree = fmm_bench_tree(bench);
        fmm_walk_start(&walk, tree);
        assert_int_equal(fmm_far_list_create(context, 8 * TOGETHER, &far), YOKE_OK);
        for (int l = 2; l <= tree->depth; l++) {
            const fmm_level *cells = &tree->level[l];
            for (int32_t first = 0, last; first < cells->count; first = last) { /* whole families, of at most 128 cells */
                last = first + 8 * TOGETHER < cells->count ? tree->level[l - 1].child[cells->parent[first + 8 * TOGETHER]] : cells->count;
                fmm_far_list_fill(&far, &walk, l, cells->parent[first], cells->parent[last - 1] + 1);
                pairs += (double)far.start[FMM_DIRECTIONS];
                for (int d = FMM_NO_DIRECTION + 1; d < FMM_DIRECTIONS; d++)
                    batches += fmm_far_list_sides(&far, d, target, ahead, behind) > 0;
            }
        }
        assert_true(pairs == (double)fmm_bench_units(operations[k], ORDER));
        assert_near(fmm_bench_batch(operations[k], ORDER), pairs / batches, within[k]);
        fmm_far_list_destroy(context, &far);
    }
    fmm_bench_destroy(bench);
}

/* Of a full cube of this depth. */
static int64_t pairs_to_depth(int depth)
{
    int64_t sum = 0;
    for (int l = 2; l <= depth; l++) {
        const int64_t parents = (int64_t)1 << (l - 1), around = 4 * (3 * parents - 2), near = 6 * parents - 2;
        sum += around * around * around - near * near * near;
    }
    return sum;
}

/* More threads have larger cubes, but not of high orders, whose expansions are large. */
static void cubes_of_the_benchmark_have_cells_for_all_threads(void **state)
{
    (void)state;
    static const int threads[3] = {2, 16, 64}, low[3] = {3, 4, 5}, high[3] = {3, 4, 4};
    const int usually = omp_get_max_threads();
    for (int k = 0; k < 3; k++) {
        omp_set_num_threads(threads[k]);
        assert_int_equal(fmm_bench_units(FMM_PAIR, 14), pairs_to_depth(low[k]));
        assert_int_equal(fmm_bench_units(FMM_PAIR, FMM_MAX_ORDER), pairs_to_depth(high[k]));
    }
    omp_set_num_threads(usually);
}

/* Numbers that are kept are those of the cells. */
static void cells_of_the_surface_are_counted(void **state)
{
    (void)state;
    for (int level = 2; level < FMM_MAX_SURFACE_LEVEL; level++) {
        const int64_t side = (int64_t)1 << level;
        int64_t cells = 0, pairs = 0, at[3], to[3];
        for (at[2] = 0; at[2] < side; at[2]++)
            for (at[1] = 0; at[1] < side; at[1]++)
                for (at[0] = 0; at[0] < side; at[0]++) {
                    if (!fmm_surface_cuts(level, at)) continue;
                    assert_true(fmm_surface_cuts(level - 1, (const int64_t[3]){at[0] / 2, at[1] / 2, at[2] / 2}));
                    cells++;
                    for (int64_t k = 0; k < 6 * 6 * 6; k++) { /* children of its parent's neighbours */
                        int near = 1, inside = 1;
                        const int64_t step[3] = {k % 6, k / 6 % 6, k / 36};
                        for (int c = 0; c < 3; c++) {
                            to[c] = 2 * (at[c] / 2 - 1) + step[c];
                            near &= to[c] >= at[c] - 1 && to[c] <= at[c] + 1;
                            inside &= to[c] >= 0 && to[c] < side;
                        }
                        pairs += inside && !near && fmm_surface_cuts(level, to);
                    }
                }
        assert_int_equal(fmm_surface_count(level).cells, cells);
        assert_int_equal(fmm_surface_count(level).pairs, pairs);
    }
}

static void each_operation_takes_time_and_wrong_sizes_are_refused(void **state)
{
    (void)state;
    fmm_bench *bench = NULL;
    assert_int_equal(fmm_bench_create(context, 1, NULL, &bench), YOKE_OK);
    for (int o = 0; o < FMM_OPERATIONS; o++) {
        const int is_adaptive = o == FMM_ADAPTIVE, is_uneven = o == FMM_UNEVEN || o == FMM_SINGLE_UNEVEN;
        const int small = is_uneven                                             ? FMM_UNEVEN_CAPACITY
                          : is_adaptive                                         ? FMM_LOW_CAPACITY
                          : o < FMM_TABLES || o == FMM_WAVES || o == FMM_FAMILY ? 4
                                                                                : 0;
        const int large = is_uneven ? FMM_UNEVEN_CAPACITY : is_adaptive ? FMM_HIGH_CAPACITY : o < FMM_TABLES ? 16 : 12;
        double less = 0, more = 0;
        assert_int_equal(fmm_bench_run(bench, o, small, 3, &less), YOKE_OK);
        assert_int_equal(fmm_bench_run(bench, o, large, 3, &more), YOKE_OK);
        assert_true(less > 0 && more > 0 && isfinite(less) && isfinite(more));
    }
    double seconds = 0;
    assert_int_equal(fmm_bench_run(bench, FMM_PAIR, FMM_MAX_ORDER + 1, 1, &seconds), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_bench_run(bench, FMM_NEAR, 0, 1, &seconds), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_bench_run(bench, FMM_ADAPTIVE, 33, 1, &seconds), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_bench_run(bench, FMM_FAMILY, 3, 1, &seconds), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_bench_run(bench, FMM_WAVES, 25, 1, &seconds), YOKE_ERROR_ARGUMENT);
    fmm_bench_destroy(bench);
}

/* Leaves of two levels at the lower capacity, of one at the higher. */
static void adaptive_trees_of_the_benchmark_have_the_leaves_that_they_tell(void **state)
{
    (void)state;
    fmm_bench *bench = NULL;
    assert_int_equal(fmm_bench_create(context, 1, NULL, &bench), YOKE_OK);
    for (int capacity = FMM_LOW_CAPACITY; capacity <= FMM_HIGH_CAPACITY; capacity += FMM_HIGH_CAPACITY - FMM_LOW_CAPACITY) {
        double seconds = 0;
        assert_int_equal(fmm_bench_run(bench, FMM_ADAPTIVE, capacity, 1, &seconds), YOKE_OK);
        const fmm_tree *tree = fmm_bench_tree(bench);
        assert_int_equal(tree->leaves.count, fmm_bench_units(FMM_ADAPTIVE, capacity));
        assert_near((double)tree->count / (double)tree->leaves.count, fmm_bench_leaf_particles(capacity), 1e-12);
        assert_int_equal(tree->depth, capacity == FMM_LOW_CAPACITY ? 5 : 4);
    }
    fmm_operations counted;
    const fmm_bench_pairs told = fmm_bench_uneven();
    const int64_t capacity = FMM_UNEVEN_CAPACITY;
    double seconds = 0;
    assert_int_equal(fmm_bench_run(bench, FMM_UNEVEN, FMM_UNEVEN_CAPACITY, 1, &seconds), YOKE_OK);
    assert_int_equal(fmm_count_operations(fmm_bench_tree(bench), fmm_bench_tree(bench)->direct, 1, &capacity, &counted), YOKE_OK);
    assert_true((double)counted.leaves == told.leaves && (double)counted.near == told.near && (double)counted.uneven == told.uneven);
    assert_true((double)counted.sources == told.sources);
    fmm_bench_destroy(bench);
}

typedef struct heard {
    int named, orders, forces; /* texts with a name of a work, with an order, with forces */
} heard;

static yoke_status hear(void *user, const char *what)
{
    heard *h = user;
    h->named += strncmp(what, "fmm ", 4) == 0 || strchr(what, '=') != NULL;
    h->orders += strcmp(what, "M2L, order 8") == 0;
    h->forces += strcmp(what, "near field in single precision, leaves of 64 particles, with forces") == 0;
    return YOKE_OK;
}

static yoke_status known_trial(void *user, fmm_operation operation, int size, int64_t calls, double *seconds)
{
    known costs = usual;
    (void)user;
    return trial(&costs, operation, size, calls, seconds);
}

/* Names of works are for the store. */
static void progress_says_what_is_measured_in_words(void **state)
{
    (void)state;
    for (int gradient = 0; gradient < 2; gradient++) {
        heard texts = {0};
        const fmm_machine_options options = {.gradient = gradient, .trial = known_trial, .progress = hear, .user = &texts};
        fmm_machine machine;
        yoke_run *run = open_run(NULL);
        assert_int_equal(fmm_machine_measure(context, run, 0, &options, &machine), YOKE_OK);
        yoke_run_destroy(run);
        assert_true(texts.named == 0 && texts.orders == 1 && texts.forces == gradient);
    }
}

/* What a run needs is measured, and kept; another one with other orders adds what is missing, once. */
static void orders_are_measured_where_they_are_needed(void **state)
{
    (void)state;
    char path[64];
    known costs = usual;
    const fmm_machine_options options = {.gradient = 1, .trial = trial, .user = &costs};
    (void)snprintf(path, sizeof path, "orders-store-%ld.json", (long)getpid());
    for (int r = 0; r < 3; r++) { /* orders 4; 13, between 12 and 14; both */
        const fmm_orders wanted[3] = {fmm_orders_around(4), fmm_orders_around(13), fmm_orders_around(4) | fmm_orders_around(13)};
        fmm_machine machine = {0};
        yoke_run *run = open_run(path);
        assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_SECONDS, &machine), r ? YOKE_OK : YOKE_ERROR_UNAVAILABLE);
        assert_true(fmm_machine_missing(&machine, wanted[r], FMM_IN_BOTH) == (r < 2 ? wanted[r] : 0));
        yoke_run_destroy(run);
        if (r == 2) break;
        run = open_run(path);
        costs.calls = 0;
        assert_int_equal(fmm_machine_measure_missing(context, run, 0, &options, wanted[r], FMM_IN_BOTH, &machine), YOKE_OK);
        assert_true(costs.calls > 0 && yoke_run_save(run, NULL) == YOKE_OK);
        yoke_run_destroy(run);
        assert_near(machine.pair[4], unit_of(&usual, FMM_PAIR, 4), 1e-9);
        assert_true(isnan(machine.pair[5]) && isnan(machine.leaf[3]) && isnan(machine.family[5]));
        if (r == 0) assert_true(isnan(machine.pair[13]) && isnan(machine.cell[12]));
        if (r == 1) assert_near(machine.pair[13], unit_of(&usual, FMM_PAIR, 13), 1e-9);
        if (r == 1) assert_near(machine.family[13], unit_of(&usual, FMM_FAMILY, 13), 1e-9);
        if (r == 1) assert_near(machine.pairs.near[8], source_of(&usual, 8), 1e-9);
    }
    (void)remove(path);
}

/* The near field in the precision that is asked for; the other one is added later, and orders are not measured again. */
static void precisions_are_measured_where_they_are_needed(void **state)
{
    (void)state;
    static const fmm_precisions asked[3] = {FMM_IN_SINGLE, FMM_IN_DOUBLE, FMM_IN_BOTH};
    char path[64];
    int near_works = 0;
    (void)snprintf(path, sizeof path, "precisions-store-%ld.json", (long)getpid());
    for (int o = FMM_UNEVEN; o < FMM_SINGLE_UNEVEN; o++) {
        const int *sizes;
        near_works += fmm_measured_sizes(o, &sizes);
    }
    for (int r = 0, calls_of_all = 0; r < 3; r++) {
        const fmm_orders wanted = fmm_orders_around(8);
        known costs = usual;
        const fmm_machine_options options = {.gradient = 1, .trial = trial, .user = &costs};
        fmm_machine machine = {0};
        yoke_run *run = open_run(path);
        assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_SECONDS, &machine), r ? YOKE_OK : YOKE_ERROR_UNAVAILABLE);
        assert_true(fmm_machine_missing(&machine, wanted, asked[r]) == (r < 2 ? wanted : 0));
        yoke_run_destroy(run);
        run = open_run(path);
        costs.calls = 0;
        if (r < 2) assert_int_equal(fmm_machine_measure_missing(context, run, 0, &options, wanted, asked[r], &machine), YOKE_OK);
        assert_true(isnan(machine.in_double.large) == (r == 0) && isnan(machine.in_double.unit) == (r == 0));
        assert_near(machine.in_single.large, source_of(&usual, 128) / 256, 1e-9);
        if (r == 0) calls_of_all = costs.calls;
        if (r == 1) assert_true(costs.calls >= near_works && costs.calls < calls_of_all);
        fmm_machine_take_single(&machine, 1);
        assert_true(machine.pairs.large == machine.in_single.large);
        assert_int_equal(yoke_run_save(run, NULL), YOKE_OK);
        yoke_run_destroy(run);
    }
    (void)remove(path);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(costs_of_a_machine_are_found),
    cmocka_unit_test(disturbed_measurements_count_as_the_next_size),
    cmocka_unit_test(plans_are_by_the_predicted_times_where_measurements_were_disturbed),
    cmocka_unit_test(what_a_batch_takes_beside_its_pairs_is_found),
    cmocka_unit_test(costs_in_the_store_are_found_again_by_another_run),
    cmocka_unit_test(one_disturbed_size_does_not_make_pairs_free),
    cmocka_unit_test(each_number_of_threads_has_costs_of_its_own),
    cmocka_unit_test(disturbed_costs_are_measured_again),
    cmocka_unit_test(whether_the_cores_are_free_is_told),
    cmocka_unit_test(costs_measured_on_a_busy_machine_heal_within_some_runs),
    cmocka_unit_test(disturbed_costs_heal_faster),
    cmocka_unit_test(disturbed_runs_do_not_change_what_is_predicted),
    cmocka_unit_test(what_runs_have_in_common_is_learned),
    cmocka_unit_test(what_runs_taught_is_in_the_store),
    cmocka_unit_test(units_of_the_benchmark_are_those_that_are_counted),
    cmocka_unit_test(batches_of_the_benchmark_are_about_those_of_the_method),
    cmocka_unit_test(cubes_of_the_benchmark_have_cells_for_all_threads),
    cmocka_unit_test(cells_of_the_surface_are_counted),
    cmocka_unit_test(adaptive_trees_of_the_benchmark_have_the_leaves_that_they_tell),
    cmocka_unit_test(orders_are_measured_where_they_are_needed),
    cmocka_unit_test(precisions_are_measured_where_they_are_needed),
    cmocka_unit_test(progress_says_what_is_measured_in_words),
    cmocka_unit_test(each_operation_takes_time_and_wrong_sizes_are_refused),
};

UNIT_MAIN(tests, context_start, context_end)
