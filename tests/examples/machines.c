/* The machine files in examples/machines give the papers' numbers: times and joules of runs on them, by their meters. */
#include <math.h>

#include "base/failing.h"
#include "unit.h"
#include "yoke/yoke.h"

static void nothing(const yoke_group *group, void *const *arguments)
{
    (void)group;
    (void)arguments;
}

static const yoke_host_kernel kernels[] = {{"nothing", nothing}};
static const yoke_program_source source = {.name = "one kernel", .host_kernels = kernels, .num_host_kernels = 1};

enum { CPU, GPU, DEVICES };

typedef struct fixture {
    failing memory;
    yoke_context *context;
    yoke_device *devices[DEVICES];
    yoke_queue *queues[DEVICES];
    yoke_program *programs[DEVICES];
    yoke_function *functions[DEVICES];
    yoke_meters *meter;
} fixture;

static void open_all(fixture *f, const char *name)
{
    static const char *const names[] = {"sim:cpu", "sim:gpu"};
    char path[1024];
    *f = (fixture){.memory = {0}};
    snprintf(path, sizeof path, "%s/examples/machines/%s.json", getenv("YOKE_SOURCE_DIR"), name);
    yoke_options options = failing_options(&f->memory);
    assert_int_equal(yoke_context_create(&options, &f->context), YOKE_OK);
    if (yoke_machine_read(f->context, path) != YOKE_OK) fail_msg("%s", yoke_last_error(f->context));
    for (int i = 0; i < DEVICES; i++) {
        assert_int_equal(yoke_device_open(f->context, names[i], &f->devices[i]), YOKE_OK);
        assert_int_equal(yoke_queue_create(f->devices[i], 0, &f->queues[i]), YOKE_OK);
        assert_int_equal(yoke_program_create(f->devices[i], &source, &f->programs[i]), YOKE_OK);
        assert_int_equal(yoke_program_function(f->programs[i], "nothing", &f->functions[i]), YOKE_OK);
    }
    assert_int_equal(yoke_meters_open(f->context, NULL, &f->meter), YOKE_OK);
}

static void close_all(fixture *f)
{
    yoke_meters_close(f->meter);
    for (int i = 0; i < DEVICES; i++) {
        yoke_program_destroy(f->programs[i]);
        yoke_queue_destroy(f->queues[i]);
        yoke_device_close(f->devices[i]);
    }
    yoke_context_destroy(f->context);
    assert_int_equal(f->memory.outstanding, 0);
}

/* Seconds and joules of so many units on each device, beside each other. */
static void run(fixture *f, int64_t cpu, int64_t gpu, double *seconds, double *joules)
{
    const int64_t units[] = {cpu, gpu};
    yoke_region *region = NULL;
    yoke_energy total;
    double begin_s = yoke_device_clock_s(f->devices[CPU]);
    assert_int_equal(yoke_region_begin(f->meter, &region), YOKE_OK);
    for (int i = 0; i < DEVICES; i++)
        if (units[i] > 0) assert_int_equal(yoke_queue_launch(f->queues[i], f->functions[i], 1, 1, units[i], NULL, 0), YOKE_OK);
    for (int i = 0; i < DEVICES; i++) assert_int_equal(yoke_queue_finish(f->queues[i]), YOKE_OK);
    *seconds = yoke_device_clock_s(f->devices[CPU]) - begin_s;
    assert_int_equal(yoke_region_end(region, NULL, NULL, &total), YOKE_OK);
    *joules = total.value_j;
}

static void expect(double found, double expected, double within, const char *what)
{
    if (!(fabs(found / expected - 1) <= within)) fail_msg("%s: %.17g instead of %.17g", what, found, expected);
}

/* ------------------------------------------------------------------------------------------- 2013 and 2014 */

static void sandybridge_has_the_energies_of_the_paper(void **state)
{
    (void)state;
    fixture f;
    double seconds, joules;
    open_all(&f, "sandybridge");
    run(&f, 10000, 0, &seconds, &joules);
    expect(seconds, 17e-3, 1e-9, "t_cpu");
    expect(joules - 78 * seconds, 2.855, 1e-6, "CPU only, without the waiting GPU: 286 uJ an element");
    run(&f, 0, 10000, &seconds, &joules);
    expect(seconds, 16.9e-3, 1e-9, "t_gpu");
    expect(joules - 84.3 * seconds, 2.35, 1e-6, "GPU only, without the waiting CPUs: 235 uJ an element");
    expect(joules + 10000 * 814e-6 / 32.4, 4.02590457, 1e-6, "eq. 41 of the dissertation's ch. 4, with what is moved");
    close_all(&f);
}

static void moving_an_element_to_sandybridges_gpu_costs_what_the_paper_measured(void **state)
{
    (void)state;
    enum { FREE = 512, PAID = 100, BYTES = 26568 };
    fixture f;
    yoke_region *region = NULL;
    yoke_energy total;
    yoke_buffer *buffer = NULL;
    double seconds;
    void *memory = NULL;
    open_all(&f, "sandybridge");
    assert_int_equal(yoke_allocate(f.context, FREE + PAID, BYTES, &memory), YOKE_OK);
    assert_int_equal(yoke_buffer_create(f.devices[GPU], (FREE + PAID) * BYTES, &buffer), YOKE_OK);
    assert_int_equal(yoke_region_begin(f.meter, &region), YOKE_OK);
    assert_int_equal(yoke_queue_write(f.queues[GPU], buffer, 0, (FREE + PAID) * BYTES, memory), YOKE_OK);
    assert_int_equal(yoke_queue_finish(f.queues[GPU]), YOKE_OK);
    assert_int_equal(yoke_region_end(region, &seconds, NULL, &total), YOKE_OK);
    expect(seconds, PAID * 11.8e-6, 1e-4, "t_copy");
    expect(total.value_j - seconds * (84.3 + 78), PAID * 814e-6, 1e-4, "E_copy");
    yoke_buffer_destroy(buffer);
    yoke_release(f.context, memory);
    close_all(&f);
}

static void sandybridges_frequencies_follow_the_laws(void **state)
{
    (void)state;
    fixture f;
    yoke_frequencies *frequencies = NULL;
    double seconds, joules;
    open_all(&f, "sandybridge");
    assert_int_equal(yoke_frequencies_open(f.context, NULL, &frequencies), YOKE_OK);
    for (int k = 12; k <= 20; k++) {
        double ghz = k / 10.0;
        assert_int_equal(yoke_frequency_set(frequencies, "sim:cpu", ghz * 1e9, NULL), YOKE_OK);
        run(&f, 100000, 0, &seconds, &joules);
        expect(100000 / seconds, (222 * ghz - 70) * 1e3, 1e-6, "v");
        expect(joules / seconds - 78 - 7.8, 2.2 * ghz * ghz * ghz + 29 * ghz + 24, 1e-6, "P");
    }
    yoke_frequencies_close(frequencies);
    close_all(&f);
}

static void westmere_has_the_share_of_its_paper(void **state)
{
    (void)state;
    fixture f;
    double cpu_s, gpu_s, joules;
    open_all(&f, "westmere");
    run(&f, 100000, 0, &cpu_s, &joules);
    run(&f, 0, 100000, &gpu_s, &joules);
    expect(1 / (1 + gpu_s / cpu_s), 0.49379752, 1e-6, "eq. 11");
    close_all(&f);
}

/* --------------------------------------------------------------------------------------------------- PEACH */

/* Joules of a GFLOP and GFLOPS where the GPU has that part of the work. */
static void run_peach(fixture *f, double alpha, double *joules, double *rate)
{
    const int64_t units = 1000000;
    const double gflop = 13122e-9 * (double)units;
    double seconds;
    int64_t gpu = llround(alpha * (double)units);
    run(f, units - gpu, gpu, &seconds, joules);
    *joules /= gflop;
    *rate = gflop / seconds;
}

static void peach_systems_have_the_energies_of_eq_12(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double alpha, joules;
    } cases[] = {
        {"peach-1", 0, 1.3825938566552902}, {"peach-1", 0.7822209, 0.39668500074327334}, {"peach-1", 1, 0.3081527936145952},
        {"peach-2", 0, 1.5044368600682594}, {"peach-2", 0.50800128, 0.9379880106795627}, {"peach-2", 1, 1.1476547780385415},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fixture f;
        double joules, rate;
        open_all(&f, cases[i].name);
        run_peach(&f, cases[i].alpha, &joules, &rate);
        expect(joules, cases[i].joules, 2e-6, cases[i].name);
        close_all(&f);
    }
}

/* Cells of table VII as the printed fits give them: at frequencies below the highest, which have measured values instead. */
static void peach_1_has_the_frequencies_of_table_vii(void **state)
{
    (void)state;
    static const struct {
        double cpu_hz, gpu_hz, alpha, rate, efficiency;
    } cells[] = {{2.4e9, 666e6, 0.80, 1242.3625, 2.67892415},
                 {2.4e9, 640e6, 0.78, 1224.38461538, 2.61718934},
                 {2.4e9, 640e6, 1, 955.02, 3.15834381}};
    fixture f;
    yoke_frequencies *frequencies = NULL;
    open_all(&f, "peach-1");
    assert_int_equal(yoke_frequencies_open(f.context, NULL, &frequencies), YOKE_OK);
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        double joules, rate;
        assert_int_equal(yoke_frequency_set(frequencies, "sim:cpu", cells[i].cpu_hz, NULL), YOKE_OK);
        assert_int_equal(yoke_frequency_set(frequencies, "sim:gpu", cells[i].gpu_hz, NULL), YOKE_OK);
        run_peach(&f, cells[i].alpha, &joules, &rate);
        expect(rate, cells[i].rate, 1e-6, "R");
        expect(1 / joules, cells[i].efficiency, 1e-6, "eta");
    }
    yoke_frequencies_close(frequencies);
    close_all(&f);
}

/* ------------------------------------------------------------------------------------------------ of today */

static void the_node_of_2026_is_complete(void **state)
{
    (void)state;
    fixture f;
    yoke_frequencies *frequencies = NULL;
    double alone_s = 0, together_s = 0, seconds, joules;
    open_all(&f, "node-2026");
    assert_int_equal(yoke_frequencies_open(f.context, NULL, &frequencies), YOKE_OK);
    assert_int_equal(frequencies->count, 2);
    for (int i = 0; i < 2; i++) assert_int_equal(frequencies->infos[i].num_levels, 8);
    yoke_frequencies_close(frequencies);
    for (int k = 0; k < 4000; k++) { /* the GPU for longer than the CPU, so that its time is that of both */
        run(&f, 0, 100000, &seconds, &joules);
        alone_s += seconds / 4000;
        run(&f, 14000, 100000, &seconds, &joules);
        together_s += seconds / 4000;
    }
    /* 3 % noise in 4000 runs: 0.05 % in the mean, and the CPU takes 400 of 410 us. */
    expect(alone_s, 1e-5 + 100000 * 4e-9, 2e-3, "the GPU alone");
    assert_true(together_s > 1.03 * alone_s && together_s < 1.06 * alone_s);
    close_all(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sandybridge_has_the_energies_of_the_paper),
    cmocka_unit_test(moving_an_element_to_sandybridges_gpu_costs_what_the_paper_measured),
    cmocka_unit_test(sandybridges_frequencies_follow_the_laws),
    cmocka_unit_test(westmere_has_the_share_of_its_paper),
    cmocka_unit_test(peach_systems_have_the_energies_of_eq_12),
    cmocka_unit_test(peach_1_has_the_frequencies_of_table_vii),
    cmocka_unit_test(the_node_of_2026_is_complete),
};

UNIT_MAIN(tests, NULL, NULL)
