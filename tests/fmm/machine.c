/* What operations take on a machine: measured, kept, corrected by runs. */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

#include "clouds.h"
#include "known_costs.h"
#include "tune/choose.h"
#include "tune/costs/free.h"
#include "tune/tune.h"

/* Powers of order + 1 are straight in logarithms, and so exact between the orders that are measured. */
static void assert_costs(const fmm_machine *m, const known *k)
{
    for (int n = 1; n <= FMM_SMALL_LEAF; n++) {
        assert_near_part(m->in_double.near[n], source_of(k, n), 1e-9);
        assert_near_part(m->in_single.near[n], source_of(k, n) / 2, 1e-9);
        assert_true(m->pairs.near[n] == m->in_double.near[n]);
    }
    const fmm_pair_costs *const both[2] = {&m->in_double, &m->in_single};
    for (int of = 0; of < 2; of++) {
        assert_near_part(both[of]->leaf, k->near_leaf, 1e-6);
        assert_near_part(both[of]->particle, k->near_particle, 1e-6);
    }
    for (int p = 0; p <= FMM_MAX_ORDER; p++) {
        assert_near_part(m->tables[p], unit_of(k, FMM_TABLES, p), 1e-9);
        assert_near_part(m->pair[p], unit_of(k, FMM_PAIR, p), 1e-9);
        assert_true(fabs(m->batch[p]) <= 1e-9 * m->pair[p]);
        assert_near_part(m->cell[p], unit_of(k, FMM_CELL, p), 1e-9);
        assert_near_part(m->visit[p] + 16 * m->visited[p], unit_of(k, FMM_VISIT_16, p), 1e-9);
        assert_near_part(m->visit[p] + 64 * m->visited[p], unit_of(k, FMM_VISIT_64, p), 1e-9);
        assert_near_part(m->leaf[p] + 32 * m->particle[p], unit_of(k, FMM_LEAF_32, p), 1e-9);
        assert_near_part(m->leaf[p] + 8 * m->particle[p], unit_of(k, FMM_LEAF_8, p), 1e-9);
    }
    assert_near_part(m->sort, 2e-8, 1e-9);
    assert_near_part(m->tree_leaf + 8 * m->tree_particle, unit_of(k, FMM_TREE, 8), 1e-9);
    assert_near_part(m->adaptive_particle, 1.2e-8, 1e-9);
    assert_near_part(m->adaptive_leaf, 5e-7, 1e-9);
    assert_near_part(m->in_double.uneven, KNOWN_UNEVEN, 1e-9);
    assert_near_part(m->in_single.uneven, KNOWN_UNEVEN, 1e-9);
    assert_near_part(m->tree_leaf + 32 * m->tree_particle, unit_of(k, FMM_TREE, 32), 1e-9);
}

static void costs_of_a_machine_are_found(void **state)
{
    (void)state;
    known costs = usual;
    fmm_machine machine;
    yoke_run *run = open_run(NULL);
    measure(run, &costs, &machine);
    assert_costs(&machine, &usual);
    assert_near_part(machine.in_double.large, source_of(&usual, 128) / 128, 1e-9);
    assert_near_part(machine.in_single.large, source_of(&usual, 128) / 256, 1e-9);
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
        assert_near_part(choice.predicted.time_s, fmm_chosen(&choice)->predicted.total, 5e-3);
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
    assert_near_part(machine.cell[8], unit_of(&usual, FMM_CELL, 10), 1e-9);
    assert_near_part(machine.pair[8], unit_of(&usual, FMM_PAIR, 10), 1e-9);
    assert_true(machine.pairs.near[8] <= unit_of(&usual, FMM_NEAR, 12) && machine.pairs.near[8] > 0.5 * source_of(&usual, 8));
    for (int p = 0; p <= FMM_MAX_ORDER; p++)
        if (p < 7 || p > 9) assert_near_part(machine.cell[p], unit_of(&usual, FMM_CELL, p), 1e-9);
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
        assert_near_part(machine.pair[p], costs.pair * pow(p + 1, 3), 1e-9);
        assert_near_part(machine.batch[p], 3 * machine.pair[p], 1e-9);
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

/* Writes `text` into the store before the first `place` of the entry of a work, and leaves out what is there up to `rest`. */
static void write_into_entry(const char *path, const char *work, const char *place, const char *text, const char *rest)
{
    enum { BYTES = 1 << 20 };
    char *store = calloc(1, BYTES), name[64];
    FILE *file = fopen(path, "r");
    assert_non_null(store);
    assert_non_null(file);
    assert_true(fread(store, 1, BYTES - 1, file) < BYTES - 1);
    (void)fclose(file);
    (void)snprintf(name, sizeof name, "\"work\": \"%s\",", work);
    char *at = strstr(store, name);
    assert_non_null(at);
    at = strstr(at, place);
    assert_non_null(at);
    const char *then = strstr(at, rest);
    assert_non_null(then);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "%.*s%s%s", (int)(at - store), store, text, then) > 0);
    assert_int_equal(fclose(file), 0);
    free(store);
}

/* Says in the store that other programs had the cores half of the time in which a work was measured. */
static void say_disturbed(const char *path, const char *work)
{
    write_into_entry(path, work, "\"work\"", "\"disturbed\": 0.5, ", "\"work\"");
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
    assert_near_part(machine.disturbed, 0.5, 1e-12);
    const fmm_factor kept = machine.factor[FMM_PART_NEAR];
    assert_true(kept.runs == 3 && kept.alike == -2);
    assert_near_part(kept.next, 0.7, 1e-9);
    yoke_run_destroy(run);
    run = open_run(path);
    assert_int_equal(fmm_machine_measure_again(context, run, 0, &options, &machine), YOKE_OK);
    assert_true(now.calls >= 2 && now.calls <= costs.calls / 10);
    yoke_run_destroy(run);
    run = open_run(path);
    assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_SECONDS, &machine), YOKE_OK);
    assert_true(machine.disturbed == 0);
    assert_near_part(machine.cell[8], unit_of(&usual, FMM_CELL, 8), 1e-9);
    assert_near_part(machine.tables[8], unit_of(&costs, FMM_TABLES, 8) * costs.times, 1e-9);
    assert_true(machine.factor[FMM_PART_NEAR].value == 1 && machine.factor[FMM_PART_NEAR].runs == 0);
    yoke_run_destroy(run);
    (void)remove(path);
}

/* A store may have been damaged, or edited. */
static void costs_that_no_machine_has_are_measured_again(void **state)
{
    (void)state;
    static const char *const seconds[] = {"\"seconds\": 1e200", "\"seconds\": 1e-200"};
    for (int k = 0; k < 2; k++) {
        char path[64];
        known costs = usual;
        fmm_machine machine;
        const fmm_machine_options options = {.gradient = 1, .trial = trial, .user = &costs};
        const fmm_orders wanted = fmm_orders_around(4) | fmm_orders_around(8);
        (void)snprintf(path, sizeof path, "tune-impossible-%ld.json", (long)getpid());
        keep_known_costs(path, &costs, &machine);
        write_into_entry(path, "fmm pair p=8", "\"seconds\":", seconds[k], ", \"seconds_interval\"");
        yoke_run *run = open_run(path);
        assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_SECONDS, &machine), YOKE_OK);
        assert_true(fmm_machine_missing(&machine, wanted, FMM_IN_BOTH) == fmm_orders_around(8));
        yoke_run_destroy(run);
        run = open_run(path);
        assert_int_equal(fmm_machine_measure_missing(context, run, 0, &options, fmm_orders_around(8), FMM_IN_BOTH, &machine), YOKE_OK);
        assert_int_equal(yoke_run_save(run, NULL), YOKE_OK);
        yoke_run_destroy(run);
        run = open_run(path);
        assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_SECONDS, &machine), YOKE_OK);
        assert_true(fmm_machine_missing(&machine, wanted, FMM_IN_BOTH) == 0);
        assert_near_part(machine.pair[8], unit_of(&usual, FMM_PAIR, 8), 1e-9);
        yoke_run_destroy(run);
        (void)remove(path);
    }
}

static void whether_the_cores_are_free_is_told(void **state)
{
    (void)state;
    int are_free = -1; /* nobody knows what else runs beside this test */
    assert_int_equal(fmm_cores_are_free(context, &are_free), YOKE_OK);
    assert_true(are_free == 0 || are_free == 1);
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
        assert_near_part(machine.pair[4], unit_of(&usual, FMM_PAIR, 4), 1e-9);
        assert_true(isnan(machine.pair[5]) && isnan(machine.leaf[3]) && isnan(machine.family[5]));
        if (r == 0) assert_true(isnan(machine.pair[13]) && isnan(machine.cell[12]));
        if (r == 1) assert_near_part(machine.pair[13], unit_of(&usual, FMM_PAIR, 13), 1e-9);
        if (r == 1) assert_near_part(machine.family[13], unit_of(&usual, FMM_FAMILY, 13), 1e-9);
        if (r == 1) assert_near_part(machine.pairs.near[8], source_of(&usual, 8), 1e-9);
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
        assert_near_part(machine.in_single.large, source_of(&usual, 128) / 256, 1e-9);
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
    cmocka_unit_test(costs_that_no_machine_has_are_measured_again),
    cmocka_unit_test(whether_the_cores_are_free_is_told),
    cmocka_unit_test(orders_are_measured_where_they_are_needed),
    cmocka_unit_test(precisions_are_measured_where_they_are_needed),
    cmocka_unit_test(progress_says_what_is_measured_in_words),
};

UNIT_MAIN(tests, context_start, context_end)
