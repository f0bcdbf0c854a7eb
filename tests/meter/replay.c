/* Recorded streams: exact on a clock that the test moves, and hostile files. */
#include <math.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

#include "base/failing.h"
#include "meter/replay.h"
#include "scripted.h"

static yoke_context *context;
static char path[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/yoke-replay-XXXXXX");
    int descriptor = mkstemp(path);
    if (descriptor >= 0) close(descriptor);
    return descriptor < 0 || yoke_context_create(NULL, &context) != YOKE_OK;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    yoke_context_destroy(context);
    return 0;
}

static void record_bytes(const char *text, size_t bytes)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    fclose(file);
}

static void record(const char *text) { record_bytes(text, strlen(text)); }

/* On the scripted clock. */
static yoke_status try_open(yoke_context *on, meter_set **set)
{
    static const meter_kind *const kinds[] = {&meter_replay};
    const meter_site site = {.context = on, .root = "", .replay = path, .time = &scripted_time};
    return meter_set_open(&site, kinds, 1, &(meter_set_options){0}, set);
}

static meter_set *open_replay(void)
{
    meter_set *set = NULL;
    if (try_open(context, &set) != YOKE_OK) fail_msg("%s", yoke_last_error(context));
    return set;
}

static yoke_energy measure(meter_set *set, double from_s, double to_s, int64_t which)
{
    yoke_region *region;
    yoke_energy energies[8];
    scripted.now_s = from_s;
    assert_int_equal(meter_region_begin(set, &region), YOKE_OK);
    scripted.now_s = to_s;
    assert_int_equal(meter_region_end(region, NULL, energies, NULL), YOKE_OK);
    return energies[which];
}

static const char two[] = "# yoke replay 1\n"
                          "# a comment, and a blank line\n\n"
                          "domain package-0 counter unit_j=1e-6 range=262143328850 most_w=400 covers=package-0\n"
                          "domain gpu power most_w=500 window_s=0.5 covers=gpu-0000:3b:00.0\n"
                          "0 262143000000 100\n"
                          "0.5 262143100000 100.5\n"
                          "1 50000000\t101\n"
                          "1.5 75000000 102\n"
                          "2.0 100000000 -\n"
                          "2.5 125000000 100\n";

static void a_recording_is_shown_on_the_clock_since_opening(void **state)
{
    (void)state;
    record(two);
    scripted_clear();
    scripted.now_s = 1000;
    meter_set *set = open_replay();
    assert_int_equal(set->count, 2);
    assert_string_equal(set->infos[0].name, "replay:package-0");
    assert_string_equal(set->infos[1].covers, "gpu-0000:3b:00.0");
    assert_int_equal(set->infos[0].source, YOKE_ENERGY_REPLAYED);
    assert_true(set->infos[0].period_s == 0.5);
    /* From 0.5 s to 1.5 s, over the wrap. */
    yoke_energy energy = measure(set, 1000.7, 1001.5, 0);
    assert_true(fabs(energy.value_j - (262143.328850 - 262143.1 + 75)) < 1e-9);
    assert_int_equal(energy.kind, YOKE_ENERGY_REPLAYED);
    meter_set_close(set);
}

static void power_is_held_and_integrated(void **state)
{
    (void)state;
    record(two);
    scripted_clear();
    meter_set *set = open_replay();
    yoke_energy energy = measure(set, 0.1, 1.1, 1);
    assert_true(fabs(energy.value_j - 100.5) < 1e-9 && energy.uncertainty_j > 0);
    energy = measure(set, 1.6, 2.2, 1); /* ends at a failed reading */
    assert_true(isnan(energy.value_j));
    assert_non_null(strstr(energy.why_not, "failed reading"));
    meter_set_close(set);
}

static void nothing_is_told_beyond_the_end(void **state)
{
    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s", two, cut ? "3.0 15000" : "");
        record(text);
        scripted_clear();
        meter_set *set = open_replay();
        yoke_energy energy = measure(set, 1, 2.5, 0);
        assert_true(fabs(energy.value_j - 75) < 1e-9);
        energy = measure(set, 1, 2.6, 0);
        assert_true(isnan(energy.value_j));
        assert_non_null(strstr(energy.why_not, "recording ends at 2.5 s"));
        assert_true((strstr(energy.why_not, "cut off") != NULL) == cut);
        energy = measure(set, 2.7, 3.5, 0);
        assert_true(isnan(energy.value_j));
        meter_set_close(set);
    }
}

static void every_truncation_is_refused_or_right(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < strlen(two); bytes++) {
        record_bytes(two, bytes);
        scripted_clear();
        meter_set *set = NULL;
        yoke_status status = try_open(context, &set);
        if (status != YOKE_OK) {
            assert_int_equal(status, YOKE_ERROR_INPUT);
            continue;
        }
        yoke_energy energy = measure(set, 0, 1.5, 0);
        assert_true(isnan(energy.value_j) || fabs(energy.value_j - 75.328850) < 1e-9);
        meter_set_close(set);
    }
}

static void a_lost_meter_stays_lost(void **state)
{
    (void)state;
    record("# yoke replay 1\ndomain a energy\n0 5\n1 7\n2 x\n3 11\n");
    scripted_clear();
    meter_set *set = open_replay();
    assert_true(measure(set, 0, 1, 0).value_j == 2);
    yoke_energy energy = measure(set, 1, 2, 0);
    assert_true(isnan(energy.value_j));
    assert_non_null(strstr(energy.why_not, "lost"));
    assert_true(isnan(measure(set, 2, 3, 0).value_j));
    meter_set_close(set);
}

static void hostile_recordings_are_refused_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "# yoke replay 1"},
        {"# yoke replay 2\n", "line 1"},
        {"# yoke replay 1\n", "rows"},
        {"# yoke replay 1\n0 1\n", "line 2: expected a domain"},
        {"# yoke replay 1\ndomain a counter\n0 1\n", "unit_j"},
        {"# yoke replay 1\ndomain a joules\n0 1\n", "counter|power|energy"},
        {"# yoke replay 1\ndomain a power watts=5\n0 1\n", "line 2"},
        {"# yoke replay 1\ndomain a power most_w=5x\n0 1\n", "line 2"},
        {"# yoke replay 1\ndomain a power\n", "rows"},
        {"# yoke replay 1\ndomain a power\n1 1\n", "first row at time 0"},
        {"# yoke replay 1\ndomain a power\n0 1\n0 2\n", "line 4: expected times that ascend"},
        {"# yoke replay 1\ndomain a power\n0 1\nnan 2\n", "line 4"},
        {"# yoke replay 1\ndomain a power\n0 nan\n", "line 3"},
        {"# yoke replay 1\ndomain a power\n0\n", "one value for each domain"},
        {"# yoke replay 1\ndomain a power\n0 1 2\n", "not more values"},
        {"# yoke replay 1\ndomain a counter unit_j=1\n0 -5\n", "line 3"},
        {"# yoke replay 1\ndomain a counter unit_j=1\n0 99999999999999999999999\n", "line 3"},
        {"# yoke replay 1\ndomain a power\n0 1\ndomain b power\n", "no more domains"},
        {"# yoke replay 1\ndomain a power covers=\n0 1\n", "line 2"},
        {"# yoke replay 1\ndomain\n0 1\n", "line 2"},
        {"# yoke replay 1\ndomain a power\n0 1\n2e9 1\n", "1e9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        record(cases[i].text);
        meter_set *set = NULL;
        yoke_status status = try_open(context, &set);
        if (status != YOKE_ERROR_INPUT || strstr(yoke_last_error(context), cases[i].says) == NULL)
            fail_msg("case %zu: status %d, \"%s\" does not say \"%s\"", i, (int)status, yoke_last_error(context), cases[i].says);
    }
    record_bytes("# yoke replay 1\ndomain a power\n0 \0 1\n", 37);
    meter_set *set = NULL;
    assert_int_equal(try_open(context, &set), YOKE_ERROR_INPUT);
}

static void a_domain_that_makes_no_sense_is_not_usable(void **state)
{
    (void)state;
    record("# yoke replay 1\ndomain a counter unit_j=0\ndomain b power most_w=-5\ndomain c power\n0 1 1 1\n1 1 1 1\n");
    scripted_clear();
    meter_set *set = open_replay();
    assert_int_equal(set->count, 1);
    assert_string_equal(set->infos[0].name, "replay:c");
    meter_set_close(set);
}

static void random_bytes_do_no_harm(void **state)
{
    (void)state;
    uint64_t random = 1;
    char text[sizeof two];
    for (int run = 0; run < 2000; run++) {
        memcpy(text, two, sizeof text);
        for (int i = 0; i < 4; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407U;
            text[(random >> 33) % (sizeof text - 1)] = (char)(random >> 20);
        }
        record_bytes(text, sizeof text - 1);
        scripted_clear();
        meter_set *set = NULL;
        if (try_open(context, &set) != YOKE_OK) continue;
        if (set->count > 0 && set->count <= 8) {
            yoke_energy energy = measure(set, 0, 1.5, 0);
            assert_true(isnan(energy.value_j) == (energy.why_not[0] != '\0'));
        }
        meter_set_close(set);
    }
}

static void failing_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_options options = failing_options(&memory);
    yoke_context *poor = NULL;
    record(two);
    assert_int_equal(yoke_context_create(&options, &poor), YOKE_OK);
    int64_t before = memory.outstanding;
    for (int64_t n = 1;; n++) {
        meter_set *set = NULL;
        memory.fail_at = memory.calls + n;
        yoke_status status = try_open(poor, &set);
        memory.fail_at = 0;
        if (status == YOKE_OK) meter_set_close(set);
        assert_int_equal(memory.outstanding, before);
        if (status == YOKE_OK) break;
        assert_int_equal(status, YOKE_ERROR_MEMORY);
        assert_in_range(n, 1, 100);
    }
    yoke_context_destroy(poor);
}

static void a_recording_stands_for_the_whole_machine(void **state)
{
    (void)state;
    record(two);
    const yoke_meter_options options = {.replay = path, .declared = "idle=1,busy=2"};
    yoke_meters *meter = NULL;
    const yoke_meter_info *infos = NULL;
    int64_t count = 0;
    assert_int_equal(yoke_meters_open(context, &options, &meter), YOKE_OK);
    infos = meter->infos;
    count = meter->count;
    assert_int_equal(count, 2);
    for (int64_t i = 0; i < count; i++) assert_string_equal(infos[i].kind, "replay");
    yoke_region *region;
    yoke_energy energies[2];
    double seconds;
    assert_int_equal(yoke_region_begin(meter, &region), YOKE_OK);
    nanosleep(&(struct timespec){.tv_nsec = 700000000}, NULL);
    assert_int_equal(yoke_region_end(region, &seconds, energies, NULL), YOKE_OK);
    /* The thread has read often enough to integrate. */
    assert_true(isnan(energies[1].value_j) ? energies[1].why_not[0] != '\0'
                                           : fabs(energies[1].value_j - 100.4 * seconds) < energies[1].uncertainty_j);
    yoke_meters_close(meter);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_recording_is_shown_on_the_clock_since_opening),
    cmocka_unit_test(power_is_held_and_integrated),
    cmocka_unit_test(nothing_is_told_beyond_the_end),
    cmocka_unit_test(every_truncation_is_refused_or_right),
    cmocka_unit_test(a_lost_meter_stays_lost),
    cmocka_unit_test(hostile_recordings_are_refused_with_their_line),
    cmocka_unit_test(a_domain_that_makes_no_sense_is_not_usable),
    cmocka_unit_test(random_bytes_do_no_harm),
    cmocka_unit_test(failing_allocations_leave_nothing_behind),
    cmocka_unit_test(a_recording_stands_for_the_whole_machine),
};

UNIT_MAIN(tests, set_up, tear_down)
