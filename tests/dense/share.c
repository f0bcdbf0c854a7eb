/* Units shared by simulated devices: how large rounds are, and what hosts do first. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "machine.h"
#include "run/run.h"
#include "share/sharing.h"

static dense_shared shared;
static int64_t done, ready_before;

/* Tests run beside each other in one directory. */
static void make_path(char path[64]) { (void)snprintf(path, 64, "share-test-%ld.store.json", (long)getpid()); }

static void count(void *user, int64_t first, int64_t last)
{
    (void)user;
    done += last - first;
}

static void nothing(const yoke_group *group, void *const *arguments)
{
    (void)group;
    (void)arguments;
}

static struct {
    yoke_queue *queue;
    yoke_program *program;
    yoke_function *function;
} card;

static void make_ready(void *user)
{
    (void)user;
    ready_before = done == 0;
}

static yoke_status share_all(yoke_context *context, yoke_run *run, const dense_kernel *kernel)
{
    dense_sharing *sharing = NULL;
    shared = (dense_shared){.num_parts = 0};
    yoke_status status = dense_sharing_open(context, run, kernel, &sharing);
    if (!status) status = dense_sharing_do(sharing, &shared);
    dense_sharing_close(sharing);
    return status;
}

/* On the CPU alone, which does 500 units a second. */
static void share(int64_t units, int64_t good_units)
{
    yoke_context *context;
    failing memory;
    yoke_run *run;
    const yoke_run_options options = {.devices = "sim:cpu"};
    const dense_kernel kernel = {
        .work = "count", .units = units, .first_units = 1, .good_units = good_units, .ready = make_ready, .host = count};
    done = ready_before = 0;
    open_machine(&context, &memory, "", "", &options, &run);
    if (share_all(context, run, &kernel)) fail_msg("%s", yoke_last_error(context));
    assert_int_equal(done, units);
    assert_true(ready_before);
    yoke_run_destroy(run);
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
}

/* Rounds of 2 s; longer ones where so few units are slow, but 6 s at most. */
static void rounds_have_as_many_units_as_are_good(void **state)
{
    (void)state;
    static const int64_t good[] = {0, 500, 2500, 100000}, expected[] = {1000, 1000, 2500, 3000};
    for (int i = 0; i < 4; i++) {
        share(40000, good[i]);
        assert_true(shared.num_rounds > 4);
        for (int round = 2; round < shared.num_rounds - 2; round++)
            if (llabs(shared.round[round].units - expected[i]) > expected[i] / 100)
                fail_msg("%lld good units: round %d has %lld", (long long)good[i], round, (long long)shared.round[round].units);
    }
}

static yoke_status open_card(void *user, int number, yoke_device *device, yoke_queue *queue)
{
    static const yoke_host_kernel kernels[] = {{"nothing", nothing}};
    static const yoke_program_source source = {.name = "nothing", .host_kernels = kernels, .num_host_kernels = 1};
    (void)user, (void)number;
    card.program = NULL;
    yoke_status status = yoke_program_create(device, &source, &card.program);
    if (!status) status = yoke_program_function(card.program, "nothing", &card.function);
    card.queue = queue;
    return status;
}

static void close_card(void *user, int number)
{
    (void)user, (void)number;
    yoke_program_destroy(card.program);
}

static yoke_status prepare_card(void *user, int number, int64_t units)
{
    (void)user, (void)number, (void)units;
    return YOKE_OK;
}

static yoke_status start_card(void *user, int number, int64_t first, int64_t last)
{
    (void)user, (void)number;
    return yoke_queue_launch(card.queue, card.function, 1, 1, last - first, NULL, 0);
}

/* 4000 units on both devices.  contention: further members of the CPU's object. */
static void share_both(const char *contention, const yoke_run_options *options)
{
    yoke_context *context;
    failing memory;
    yoke_run *run;
    const dense_kernel kernel = {.work = "count",
                                 .units = 4000,
                                 .first_units = 1000,
                                 .host = count,
                                 .open = open_card,
                                 .close = close_card,
                                 .prepare = prepare_card,
                                 .start = start_card};
    open_machine(&context, &memory, contention, contention, options, &run);
    if (share_all(context, run, &kernel)) fail_msg("%s", yoke_last_error(context));
    assert_int_equal(shared.part[0].units + shared.part[1].units, 4000);
    yoke_run_destroy(run);
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
}

/*
 * The GPU does 1000 units a second alone and the CPU 500.  Beside each other both take three times as long, 500 units a second together: the GPU is to do all of what comes
 * after the first rounds.  Where they do not disturb each other both work, and a share that is given is kept in all rounds.
 */
static void a_device_that_loses_more_than_the_other_brings_works_alone(void **state)
{
    (void)state;
    static const double share = 0.25;
    share_both(", \"contention\": 2", NULL);
    const dense_round *last = &shared.round[shared.num_rounds - 1];
    if (last->part[0].units != 0) fail_msg("the CPU has %lld of %lld units", (long long)last->part[0].units, (long long)last->units);
    assert_true(shared.measured_s < 1.25 * 4);
    share_both("", NULL);
    last = &shared.round[shared.num_rounds - 1];
    assert_true(fabs((double)last->part[0].units / (double)last->units - 1.0 / 3) < 0.02);
    assert_true(shared.measured_s < 1.05 * 4000 / 1500.0);
    share_both("", &(yoke_run_options){.share = &share});
    assert_true(llabs(shared.part[1].units - 1000) <= shared.num_rounds); /* rounded in each round */
}

static void a_small_work_is_one_round(void **state)
{
    (void)state;
    share(32, 0);
    assert_int_equal(shared.num_rounds, 1);
}

/* Every unit is in one range of one device. */
static void expect_each_once(int64_t units)
{
    static char had[8192];
    assert_true(units <= (int64_t)sizeof had);
    memset(had, 0, sizeof had);
    for (int i = 0; i < shared.num_parts; i++)
        for (int k = 0; k < shared.part[i].num_ranges; k++)
            for (int64_t unit = shared.part[i].range[k].first; unit < shared.part[i].range[k].last; unit++) had[unit]++;
    for (int64_t unit = 0; unit < units; unit++) assert_int_equal(had[unit], 1);
}

static dense_kernel launches(int64_t units)
{
    return (dense_kernel){.work = "launches",
                          .units = units,
                          .first_units = 1,
                          .host = count,
                          .open = open_card,
                          .close = close_card,
                          .prepare = prepare_card,
                          .start = start_card};
}

/* Seconds of units of 1 ms on the CPU and so much longer on the GPU, both so many times as long beside the other one, less 1.  fault: a further member of the GPU's object. */
static double share_with_faulty_gpu(double slower, double contention, double of_gpu, int64_t units, const char *store, const char *fault)
{
    char text[400];
    yoke_context *context;
    failing memory = {0};
    yoke_run *run;
    const yoke_run_options options = {.store = store};
    const dense_kernel kernel = launches(units);
    snprintf(text, sizeof text,
             "{\"name\": \"m\", \"contention\": %g, \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 1e-3}, "
             "{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": %g, \"contention\": %g%s}]}",
             contention, slower * 1e-3, of_gpu, fault);
    context = machine(text, &memory);
    if (yoke_run_create(context, &options, &run)) fail_msg("%s", yoke_last_error(context));
    if (share_all(context, run, &kernel)) fail_msg("%s", yoke_last_error(context));
    assert_int_equal(shared.part[0].units + shared.part[1].units, units);
    expect_each_once(units);
    yoke_run_destroy(run);
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
    return shared.measured_s;
}

static double share_with_gpu(double slower, double contention, double of_gpu, int64_t units, const char *store)
{
    return share_with_faulty_gpu(slower, contention, of_gpu, units, store, "");
}

/*
 * Whichever device is the slow one, the other one goes on while it is tried: a first run takes at most 1 % longer than the faster one alone.  The next run is planned by what
 * was learned: at most a unit's time longer than both together can be.
 */
static void nobody_waits_for_a_slow_device_in_a_first_run(void **state)
{
    (void)state;
    static const double slower[] = {0.01, 0.1, 0.5, 2, 10, 100};
    char path[64];
    make_path(path);
    const int64_t units = 256;
    for (int k = 0; k < 6; k++) {
        const double fast_s = fmin(1, slower[k]) * 1e-3, slow_s = fmax(1, slower[k]) * 1e-3;
        remove(path);
        const double first_s = share_with_gpu(slower[k], 0, 0, units, path), next_s = share_with_gpu(slower[k], 0, 0, units, path);
        const double alone_s = fast_s * (double)units, together_s = alone_s / (1 + fast_s / slow_s);
        if (!(first_s <= 1.01 * alone_s))
            fail_msg("%g times slower: the first run takes %g of the best device", slower[k], first_s / alone_s);
        if (!(next_s <= fmin(alone_s, together_s + slow_s) * 1.001))
            fail_msg("%g times slower: the next run takes %g of the best share", slower[k], next_s / together_s);
    }
    remove(path);
}

/* Where a unit is longer than all the others the run ends with it. */
static void a_first_run_is_not_longer_than_a_unit_of_the_slow_device(void **state)
{
    (void)state;
    assert_true(share_with_gpu(1000, 0, 0, 256, NULL) <= 1000 * 1e-3 * (1 + 1e-9));
    assert_true(share_with_gpu(1e-3, 0, 0, 256, NULL) <= 1e-3 * (1 + 1e-9));
}

/* The CPU draws 40 W more at work and the GPU 80 W, in a first round in which one goes on while the other one is tried, as in any. */
static void powers_follow_from_a_first_round(void **state)
{
    (void)state;
    static const double slower[] = {0.05, 20}, dynamic_w[] = {40, 80};
    const int64_t units = 64;
    for (int k = 0; k < 2; k++) {
        char text[400];
        failing memory = {0};
        yoke_run *run;
        const yoke_run_device *devices;
        int64_t count;
        double sum_j = 0;
        const dense_kernel kernel = launches(units);
        snprintf(text, sizeof text,
                 "{\"name\": \"m\", \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 1e-3, \"power\": "
                 "{\"idle_w\": 10, "
                 "\"busy_w\": 50}}, {\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": %g, \"power\": {\"idle_w\": 20, "
                 "\"busy_w\": 100}}]}",
                 slower[k] * 1e-3);
        yoke_context *context = machine(text, &memory);
        if (yoke_run_create(context, NULL, &run) || share_all(context, run, &kernel)) fail_msg("%s", yoke_last_error(context));
        if (yoke_run_devices(run, &devices, &count)) fail_msg("%s", yoke_last_error(context));
        for (int i = 0; i < 2; i++) {
            sum_j += shared.part[i].energy_j;
            if (!(fabs(devices[i].dynamic_w / dynamic_w[i] - 1) < 1e-6))
                fail_msg("%g times slower: device %d: %g W", slower[k], i, devices[i].dynamic_w);
        }
        assert_true(shared.round[0].part[0].units + shared.round[0].part[1].units > 2);
        assert_true(fabs(sum_j / shared.measured_j - 1) < 1e-6);
        yoke_run_destroy(run);
        yoke_context_destroy(context);
        assert_int_equal(memory.outstanding, 0);
    }
}

/* Wherever the GPU fails, tried or not, what it did not do is done by the CPU. */
static void units_of_a_device_that_fails_in_its_trial_are_done_by_the_other(void **state)
{
    (void)state;
    static const double slower[] = {0.1, 10};
    for (int k = 0; k < 2; k++)
        for (int call = 1; call < 60; call++) {
            char fault[64];
            snprintf(fault, sizeof fault, ", \"fault\": {\"call\": %d, \"kind\": \"lost\"}", call);
            (void)share_with_faulty_gpu(slower[k], 0, 0, 256, NULL, fault);
        }
}

/*
 * Two devices on the same cores, and two that need the same memory: together they do 0.61, 0.78, 0.89 and 0.9 of what the CPU does alone.  What is found out in the
 * first run costs some percent of it, and nothing in the next one.
 */
static void devices_that_lose_more_than_they_bring_are_left_out(void **state)
{
    (void)state;
    static const double slower[] = {4.5, 1.8, 4, 8}, contention[] = {1, 1, 0.4, 0.25};
    char path[64];
    make_path(path);
    const int64_t units = 6400;
    for (int k = 0; k < 4; k++) {
        remove(path);
        for (int again = 0; again < 2; again++) {
            const double seconds = share_with_gpu(slower[k], contention[k], contention[k], units, path), best_s = 1e-3 * (double)units;
            if (!(seconds < (again ? 1.001 : 1.08) * best_s))
                fail_msg("%g times slower, contention %g, run %d: %g of the speed of the CPU alone", slower[k], contention[k], again,
                         best_s / seconds);
        }
    }
    remove(path);
}

/* A run so short that both had one unit tells the store what they take beside each other only: the next run finds out the rest. */
static void what_a_store_does_not_know_is_tried(void **state)
{
    (void)state;
    char path[64];
    make_path(path);
    const int64_t units = 6400;
    remove(path);
    (void)share_with_gpu(1.8, 1, 1, 2, path);
    const double seconds = share_with_gpu(1.8, 1, 1, units, path), best_s = 1e-3 * (double)units;
    if (!(seconds < 1.08 * best_s)) fail_msg("%g of the speed of the CPU alone", best_s / seconds);
    remove(path);
}

/* Both devices beside each other as they are, and the CPU alone as in a trial that took twice as long, by a store of a run of the same machine. */
static void write_disturbed_trial(const char *path, double slower, double contention, int64_t units)
{
    static char text[32768];
    const double part = 1 / (1 + 1 / slower); /* of the CPU */
    int of_cpu = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    file = fopen(path, "w");
    assert_non_null(file);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        static const char *const sample =
            "{\"units\": %g, \"frequency_hz\": null, \"seconds\": %.9g, \"seconds_interval\": null, \"joules\": null, "
            "\"joules_interval\": null, \"repeats\": 1, \"rejected\": 0, \"together\": %s}%s";
        const char *end = strstr(line, "}]"); /* of the last sample of a device */
        if (strstr(line, "\"device\"")) of_cpu = strstr(line, "sim:cpu") != NULL;
        if (!strstr(line, "{\"units\"")) fprintf(file, "%s\n", line);
        if (!strstr(line, "{\"units\"") || !end) continue;
        const double few = round((of_cpu ? part : 1 - part) * (double)units / 16), second = of_cpu ? 1e-3 : slower * 1e-3;
        if (of_cpu) fprintf(file, sample, few, 2 * few * second, "false", ",\n");
        fprintf(file, sample, few, few * second * (1 + contention), "true", ",\n");
        fprintf(file, sample, 10 * few, 10 * few * second * (1 + contention), "true", end + 1);
        fprintf(file, "\n");
    }
    fclose(file);
}

/* Trials are repeated, so chance does not decide for ever: the next runs find out that the CPU alone is better, at little cost. */
static void a_trial_that_was_disturbed_is_repeated(void **state)
{
    (void)state;
    static const double slower[] = {1.8, 25, 4, 8}, contention[] = {0.8, 0.8, 0.4, 0.25};
    char path[64];
    make_path(path);
    const int64_t units = 6400;
    for (int k = 0; k < 4; k++) {
        remove(path);
        (void)share_with_gpu(slower[k], contention[k], contention[k], units, path);
        write_disturbed_trial(path, slower[k], contention[k], units);
        for (int again = 0; again < 5; again++) {
            const double seconds = share_with_gpu(slower[k], contention[k], contention[k], units, path), best_s = 1e-3 * (double)units;
            if (!(seconds < (again < 2 ? 1.06 : 1.01) * best_s))
                fail_msg("%g times slower, contention %g, run %d: %g of the speed of the CPU alone", slower[k], contention[k], again,
                         best_s / seconds);
        }
    }
    remove(path);
}

/* The GPU looks slower beside the CPU, and is faster alone. */
static void the_device_that_is_the_best_alone_is_found(void **state)
{
    (void)state;
    char path[64];
    make_path(path);
    const int64_t units = 6400;
    remove(path);
    for (int again = 0; again < 2; again++) {
        const double seconds = share_with_gpu(0.9, 1, 3, units, path), best_s = 0.9e-3 * (double)units;
        if (!(seconds < (again ? 1.001 : 1.1) * best_s)) fail_msg("run %d: %g of the speed of the GPU alone", again, best_s / seconds);
    }
    remove(path);
}

static void devices_that_gain_from_each_other_share(void **state)
{
    (void)state;
    static const double slower[] = {1, 1.8, 4.5, 8}, contention[] = {0, 0.05};
    char path[64];
    make_path(path);
    const int64_t units = 6400;
    for (int k = 0; k < 8; k++) {
        remove(path);
        for (int again = 0; again < 2; again++) {
            const double c = contention[k / 4], best_s = 1e-3 * (double)units * (1 + c) / (1 + 1 / slower[k % 4]);
            const double seconds = share_with_gpu(slower[k % 4], c, c, units, path);
            if (!(seconds < (again ? 1.01 : 1.1) * best_s))
                fail_msg("%g times slower, contention %g, run %d: %g of the best speed", slower[k % 4], c, again, best_s / seconds);
        }
    }
    remove(path);
}

/* As if the GPU worked on the CPU's cores: who rests before `left` units, and which of those the GPU is to try. */
static void expect_on_the_same_cores(yoke_run *run, const dense_kernel *kernel, int64_t left, int cpu_rests, int gpu_rests,
                                     int64_t units_of_trial)
{
    dense_sharing s = {.run = run, .kernel = kernel};
    if (dense_share_get_devices(&s) || dense_share_choose_cores(&s, left)) fail_msg("no devices");
    assert_int_equal(dense_share_works(&s, 0), !cpu_rests);
    assert_int_equal(dense_share_works(&s, 1), !gpu_rests);
    assert_int_equal(dense_share_try_cores(&s), units_of_trial > 0 ? 1 : -1);
    assert_int_equal(s.alone_units, units_of_trial);
    if (dense_share_choose_cores(&s, left)) fail_msg("no memory");
    assert_int_equal(dense_share_try_cores(&s), -1); /* once in a work */
}

/* Not known: the GPU rests, and is tried where the CPU works for longer than 30 s.  Known: the faster one works. */
static void of_devices_on_the_same_cores_the_faster_one_works(void **state)
{
    (void)state;
    static const double slower[] = {0.5, 4};
    for (int k = 0; k < 2; k++) {
        char text[200];
        failing memory = {0};
        yoke_run *run;
        const dense_kernel kernel = {.work = "count",
                                     .units = 20000,
                                     .first_units = 1000,
                                     .host = count,
                                     .open = open_card,
                                     .close = close_card,
                                     .prepare = prepare_card,
                                     .start = start_card};
        dense_kernel few = kernel;
        few.units = 100;
        snprintf(text, sizeof text,
                 "{\"name\": \"m\", \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 2e-3}, "
                 "{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": %g}]}",
                 slower[k] * 2e-3);
        yoke_context *context = machine(text, &memory);
        if (yoke_run_create(context, NULL, &run)) fail_msg("%s", yoke_last_error(context));
        run->devices[1].shares_cores = 1;
        expect_on_the_same_cores(run, &kernel, 20000, 0, 1, 0);
        if (share_all(context, run, &few)) fail_msg("%s", yoke_last_error(context));
        assert_int_equal(shared.part[1].units, 0);
        expect_on_the_same_cores(run, &kernel, 14900, 0, 1, 0);
        expect_on_the_same_cores(run, &kernel, 20000, 0, 1, 40);
        if (share_all(context, run, &kernel)) fail_msg("%s", yoke_last_error(context));
        assert_int_equal(shared.part[1].units, slower[k] < 1 ? 19960 + 40 : 40);
        assert_int_equal(shared.part[0].units + shared.part[1].units, 20000);
        assert_true((shared.part[0].why[0] != '\0') == (slower[k] < 1) && (shared.part[1].why[0] != '\0') == (slower[k] > 1));
        expect_on_the_same_cores(run, &kernel, 20000, slower[k]<1, slower[k]> 1, 0);
        yoke_run_destroy(run);
        yoke_context_destroy(context);
        assert_int_equal(memory.outstanding, 0);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(rounds_have_as_many_units_as_are_good),
    cmocka_unit_test(a_device_that_loses_more_than_the_other_brings_works_alone),
    cmocka_unit_test(a_small_work_is_one_round),
    cmocka_unit_test(nobody_waits_for_a_slow_device_in_a_first_run),
    cmocka_unit_test(a_first_run_is_not_longer_than_a_unit_of_the_slow_device),
    cmocka_unit_test(powers_follow_from_a_first_round),
    cmocka_unit_test(units_of_a_device_that_fails_in_its_trial_are_done_by_the_other),
    cmocka_unit_test(devices_that_lose_more_than_they_bring_are_left_out),
    cmocka_unit_test(what_a_store_does_not_know_is_tried),
    cmocka_unit_test(a_trial_that_was_disturbed_is_repeated),
    cmocka_unit_test(the_device_that_is_the_best_alone_is_found),
    cmocka_unit_test(devices_that_gain_from_each_other_share),
    cmocka_unit_test(of_devices_on_the_same_cores_the_faster_one_works),
};

UNIT_MAIN(tests, NULL, NULL)
