/* Powers and seconds of the store in the choice of trees: which count, and which do not. */
#include "tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "clouds.h"
#include "known_costs.h"

/* Powers in the store become those of a meter; what a run was told would hold for that run only. */
static void call_measured(const char *path)
{
    enum { BYTES = 1 << 20 };
    static const char from[] = "\"estimated\"", to[] = "\"measured\" ";
    char *text = calloc(1, BYTES);
    FILE *file = fopen(path, "r");
    assert_non_null(text);
    assert_non_null(file);
    assert_true(fread(text, 1, BYTES - 1, file) < BYTES - 1);
    (void)fclose(file);
    char *at = strstr(text, from);
    assert_non_null(at);
    for (; at; at = strstr(at, from)) memcpy(at, to, sizeof to - 1);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    free(text);
}

/* A second run, whose powers come from the store, plans by them in its first plan; it took the fastest tree before, and its peak power was not known. */
static void powers_in_the_store_serve_the_first_choice_of_another_run(void **state)
{
    (void)state;
    char path[64];
    known costs = usual;
    (void)snprintf(path, sizeof path, "tune-powers-%ld.json", (long)getpid());
    const yoke_run_options options = {
        .devices = "openmp", .objective = YOKE_OBJECTIVE_ENERGY, .declared = "idle=30,busy=50", .store = path, .keep_frequencies = 1};
    const fmm_machine_options machine_options = {.gradient = 1, .trial = trial, .user = &costs};
    fmm_particles *p = cloud_create(context, UNIFORM, 5000);
    fmm_analysis *analysis = NULL;
    assert_int_equal(fmm_analysis_create(p, 4, &analysis), YOKE_OK);
    fmm_machine machine;
    yoke_run *run = open_run(path);
    measure(run, &costs, &machine);
    assert_int_equal(yoke_run_save(run, NULL), YOKE_OK);
    yoke_run_destroy(run);
    for (int r = 0; r < 2; r++) {
        fmm_choice choice = {.first = 0, .last = 4};
        assert_int_equal(yoke_run_create(context, &options, &run), YOKE_OK);
        assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_SECONDS, &machine), YOKE_OK);
        if (r == 0) assert_int_equal(fmm_machine_measure_powers(context, run, &machine_options), YOKE_OK);
        for (int d = 0; d <= 4; d++) fmm_depth_predict(&machine, analysis, d, 4, 1, &choice.of[d]);
        assert_int_equal(fmm_choose(run, 0, 1, &machine, &choice), YOKE_OK);
        assert_true(choice.predicted.time_s > 0 && choice.predicted.energy_j > 0 && choice.predicted.peak_power_w > 0);
        if (r == 0) assert_int_equal(yoke_run_save(run, NULL), YOKE_OK);
        yoke_run_destroy(run);
        if (r == 0) call_measured(path);
    }
    fmm_analysis_destroy(analysis);
    fmm_particles_destroy(p);
    (void)remove(path);
}

/* A run that declares powers knows nothing of those that an earlier one declared, and measures its own. */
static void declared_powers_are_those_of_this_run(void **state)
{
    (void)state;
    char path[64];
    known costs = usual;
    fmm_machine machine;
    (void)snprintf(path, sizeof path, "tune-declared-%ld.json", (long)getpid());
    const fmm_machine_options machine_options = {.gradient = 1, .trial = trial, .user = &costs};
    yoke_run_options options = {
        .devices = "openmp", .objective = YOKE_OBJECTIVE_ENERGY, .declared = "idle=30,busy=50", .store = path, .keep_frequencies = 1};
    yoke_run *run = open_run(path);
    measure(run, &costs, &machine);
    yoke_run_destroy(run);
    for (int r = 0; r < 3; r++) { /* the last one is told of none */
        const yoke_run_device *devices;
        int64_t count;
        if (r == 1) options.declared = "idle=300,busy=500";
        if (r == 2) options.declared = NULL;
        assert_int_equal(yoke_run_create(context, &options, &run), YOKE_OK);
        assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_SECONDS, &machine), YOKE_OK);
        assert_int_equal(yoke_run_devices(run, &devices, &count), YOKE_OK);
        assert_int_equal(isnan(devices[0].idle_w + devices[0].dynamic_w) != 0, r < 2);
        if (r == 0) assert_int_equal(fmm_machine_measure_powers(context, run, &machine_options), YOKE_OK);
        yoke_run_destroy(run);
    }
    (void)remove(path);
}

/* The store has powers; what all else draws at rest is measured anew, for 0.3 s, and told with the costs. */
static void what_is_measured_at_rest_is_no_part_of_the_choice(void **state)
{
    (void)state;
    char path[64];
    known costs = usual;
    fmm_machine machine;
    fmm_tuned tuned;
    fmm_tuner *tuner = NULL;
    (void)snprintf(path, sizeof path, "tune-rest-%ld.json", (long)getpid());
    const fmm_tune_options options = {
        .store = path, .gradient = 1, .depth = -1, .objective = YOKE_OBJECTIVE_ENERGY, .declared = "idle=30,busy=50"};
    yoke_run *run = open_run(path);
    measure(run, &costs, &machine);
    assert_int_equal(yoke_run_save(run, NULL), YOKE_OK);
    yoke_run_destroy(run);
    fmm_particles *p = cloud_create(context, UNIFORM, 5000);
    for (int r = 0; r < 2; r++) {
        assert_int_equal(fmm_tuner_create(context, &options, &tuner), YOKE_OK);
        fmm_tuner_set_particles(tuner, p);
        assert_int_equal(fmm_tuner_choose(tuner, 8, &tuned), YOKE_OK);
        assert_true(tuned.choice.predicted.energy_j > 0 && tuned.machine_s >= 0.25);
        fmm_tuner_destroy(tuner);
    }
    fmm_particles_destroy(p);
    (void)remove(path);
}

/* Nor is what devices draw and take: it is told with the costs. */
static void what_is_measured_of_devices_is_no_part_of_the_choice(void **state)
{
    (void)state;
    char path[64];
    known costs = usual;
    fmm_machine machine;
    fmm_tuned tuned;
    fmm_tuner *tuner = NULL;
    (void)snprintf(path, sizeof path, "tune-devices-%ld.json", (long)getpid());
    const yoke_run_options of_devices = {.devices = "openmp",
                                         .objective = YOKE_OBJECTIVE_ENERGY,
                                         .declared = "idle=30,busy=50",
                                         .store = path,
                                         .measure_first = 1,
                                         .keep_frequencies = 1};
    fmm_tune_options options = {
        .store = path, .gradient = 1, .depth = 3, .objective = YOKE_OBJECTIVE_ENERGY, .declared = of_devices.declared};
    yoke_run *run = open_run(path);
    measure(run, &costs, &machine);
    yoke_run_destroy(run);
    fmm_particles *p = cloud_create(context, UNIFORM, 2000);
    assert_int_equal(fmm_shared_open(context, &of_devices, &options.devices), YOKE_OK);
    assert_int_equal(fmm_tuner_create(context, &options, &tuner), YOKE_OK);
    fmm_tuner_set_particles(tuner, p);
    assert_int_equal(fmm_tuner_choose(tuner, 2, &tuned), YOKE_OK);
    assert_true(tuned.choice.predicted.energy_j > 0);
    assert_true(tuned.machine_s >= 0.25 && tuned.analysis_s < tuned.machine_s); /* 0.3 s at rest */
    fmm_tuner_destroy(tuner);
    yoke_run_destroy(options.devices);
    fmm_particles_destroy(p);
    (void)remove(path);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(powers_in_the_store_serve_the_first_choice_of_another_run),
    cmocka_unit_test(declared_powers_are_those_of_this_run),
    cmocka_unit_test(what_is_measured_at_rest_is_no_part_of_the_choice),
    cmocka_unit_test(what_is_measured_of_devices_is_no_part_of_the_choice),
};

UNIT_MAIN(tests, context_start, context_end)
