/* What simulated devices draw: the arithmetic of the machine file's powers, whatever order the work comes in. */
#include <math.h>
#include <string.h>

#include "sim_fixture.h"

/* Joules of all that has a power, at the host's time. */
static void expect_j(yoke_context *context, double a_j, double dram_j, const char *what)
{
    const sim_machine *all = sim_machine_of(context);
    expect(sim_energy_j(&all->devices[0].domain, all->host_s), a_j, what);
    expect(sim_energy_j(&all->dram, all->host_s), dram_j, what);
}

#define MACHINE                                                                         \
    "{\"name\": \"m\", \"dram\": {\"idle_w\": 1, \"busy_w\": 8, \"copy_w\": 16},"       \
    " \"devices\": [{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1,"     \
    "  \"copy\": {\"latency_s\": 1, \"bytes_per_s\": 10, \"free_bytes\": 100},"         \
    "  \"power\": {\"idle_w\": 10, \"busy_w\": 100, \"copy_w\": 5}},"                   \
    " {\"name\": \"b\", \"class\": \"gpu\", \"seconds_per_unit\": 0.5, \"start_s\": 2," \
    "  \"copy\": {\"latency_s\": 0.25, \"bytes_per_s\": 100}}]}"

static void idle_hardware_draws_power_too(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine(MACHINE, &memory);
    expect_j(context, 0, 0, "at the start");
    assert_int_equal(yoke_machine_sleep(context, 7), YOKE_OK);
    expect_j(context, 70, 7, "asleep");
    assert_int_equal(yoke_machine_sleep(context, 0), YOKE_OK);
    expect_j(context, 70, 7, "asleep for no time");
    assert_int_equal(yoke_machine_sleep(context, -1), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_machine_sleep(context, NAN), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_machine_sleep(NULL, 1), YOKE_ERROR_ARGUMENT);
    yoke_context_destroy(context);
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    assert_int_equal(yoke_machine_sleep(context, 1), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(context), "yoke_machine_read"));
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
}

static void work_in_the_future_draws_nothing_yet(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine(MACHINE, &memory);
    device a = open_device(context, "sim:a");
    assert_int_equal(launch(&a, 0, 10), YOKE_OK); /* 0 to 10 */
    expect_j(context, 0, 0, "asked for");
    assert_int_equal(yoke_machine_sleep(context, 4), YOKE_OK);
    expect_j(context, 400, 32, "under way");
    finish(&a);
    expect_j(context, 1000, 80, "done");
    assert_int_equal(launch(&a, 0, 0), YOKE_OK); /* no units, no time, no joules */
    finish(&a);
    expect_j(context, 1000, 80, "without units");
    assert_int_equal(copy(&a, 0, 150), YOKE_OK); /* 1 + 50 / 10 s */
    finish(&a);
    expect_j(context, 1000 + 6 * (10 + 5), 80 + 6 * (1 + 16), "copied");
    assert_int_equal(copy(&a, 0, 100), YOKE_OK); /* the first 100 bytes are free */
    finish(&a);
    expect_j(context, 1000 + 7 * (10 + 5), 80 + 7 * (1 + 16), "copied for the latency alone");
    close_device(&a);
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
}

static void work_beside_work_is_counted_once(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine(MACHINE, &memory);
    device a = open_device(context, "sim:a"), b = open_device(context, "sim:b");
    assert_int_equal(launch(&a, 0, 10), YOKE_OK);  /* 0 to 10 */
    assert_int_equal(launch(&a, 1, 4), YOKE_OK);   /* 0 to 4, within it */
    assert_int_equal(copy(&a, 2, 120), YOKE_OK);   /* 0 to 3 beside them */
    assert_int_equal(launch(&a, 2, 12), YOKE_OK);  /* 3 to 15 */
    assert_int_equal(launch(&b, 0, 100), YOKE_OK); /* a GPU leaves the memory alone, 0 to 52 */
    assert_int_equal(copy(&b, 1, 275), YOKE_OK);   /* 0 to 3: one copy beside another */
    finish(&a);
    finish(&b);
    expect_j(context, 52 * 10 + 15 * 90 + 3 * 5, 52 * 1 + 15 * 7 + 3 * 16, "together");
    close_device(&a);
    a = open_device(context, "sim:a"); /* a device that is opened again has drawn what it has drawn */
    assert_int_equal(launch(&a, 0, 1), YOKE_OK);
    finish(&a);
    expect_j(context, 53 * 10 + 16 * 90 + 3 * 5, 53 * 1 + 16 * 7 + 3 * 16, "opened again");
    close_device(&a);
    close_device(&b);
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
}

/* Seconds that are marked, of a second-by-second account kept beside. */
enum { ACCOUNT = 400000 };

static void mark(char *account, int64_t begin, int64_t end)
{
    assert_true(begin >= 0 && end <= ACCOUNT);
    memset(account + begin, 1, (size_t)(end - begin));
}

static double marked(const char *account, int64_t end)
{
    int64_t seconds = 0;
    for (int64_t i = 0; i < end; i++) seconds += account[i];
    return (double)seconds;
}

static void any_order_of_work_and_waits_adds_up(void **state)
{
    (void)state;
    static char busy[ACCOUNT], copying[ACCOUNT];
    failing memory = {0};
    yoke_context *context = machine(MACHINE, &memory);
    const sim_machine *all = sim_machine_of(context);
    device a = open_device(context, "sim:a");
    int64_t ends[QUEUES] = {0}, now = 0;
    uint32_t random = 1;
    for (int k = 0; k < 20000; k++) {
        random = random * 1664525u + 1013904223u;
        int queue = (int)(random >> 8) % QUEUES, what = (int)(random >> 16) % 8;
        int64_t units = 1 + (int64_t)(random >> 24) % 16, begin = ends[queue] > now ? ends[queue] : now;
        if (what < 3) {
            assert_int_equal(launch(&a, queue, units), YOKE_OK);
            mark(busy, begin, ends[queue] = begin + units);
        } else if (what < 6) {
            assert_int_equal(copy(&a, queue, 100 + 10 * units), YOKE_OK);
            mark(copying, begin, ends[queue] = begin + 1 + units);
        } else if (what == 6) {
            assert_int_equal(yoke_queue_finish(a.queues[queue]), YOKE_OK);
            now = ends[queue] > now ? ends[queue] : now;
        } else {
            assert_int_equal(yoke_machine_sleep(context, (double)units), YOKE_OK);
            now += units;
        }
        assert_true(all->host_s == (double)now);
        if (k % 100 != 99) continue;
        double b = marked(busy, now), c = marked(copying, now);
        expect_j(context, 10 * (double)now + 90 * b + 5 * c, (double)now + 7 * b + 16 * c, "so far");
    }
    close_device(&a);
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
}

static void a_meter_is_updated_in_its_period(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine("{\"name\": \"m\", \"devices\": [{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1,"
                                    " \"power\": {\"idle_w\": 10, \"busy_w\": 100}, \"meter\": {\"period_s\": 8}}]}",
                                    &memory);
    const sim_machine *all = sim_machine_of(context);
    const sim_domain *domain = &all->devices[0].domain;
    device a = open_device(context, "sim:a");
    for (int64_t k = 0; k < 1000; k++) { /* 3 s busy, 2 s idle */
        assert_int_equal(launch(&a, 0, 3), YOKE_OK);
        finish(&a);
        assert_int_equal(yoke_machine_sleep(context, 2), YOKE_OK);
        int64_t now = 5 * (k + 1), shown = now / 8 * 8, rest = shown % 5;
        assert_true(sim_meter_update_s(domain, all->host_s) == (double)shown);
        expect(sim_energy_shown_j(domain, all->host_s), 10 * (double)shown + 90 * (double)(shown / 5 * 3 + (rest < 3 ? rest : 3)), "shown");
    }
    close_device(&a);
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
}

static void memory_that_ends_is_an_error_and_nothing_is_lost(void **state)
{
    (void)state;
    for (int64_t fail = 1;; fail++) {
        failing memory = {0};
        yoke_context *context = machine(MACHINE, &memory);
        device a = open_device(context, "sim:a");
        memory.fail_at = memory.calls + fail;
        yoke_status status = YOKE_OK;
        for (int k = 0; k < 80 && status == YOKE_OK; k++) { /* the queue grows several times */
            status = launch(&a, 0, 1);
            if (status == YOKE_OK) status = copy(&a, 0, 100);
        }
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
        memory.fail_at = 0;
        finish(&a);
        close_device(&a);
        yoke_context_destroy(context);
        assert_int_equal(memory.outstanding, 0);
        if (status == YOKE_OK) {
            assert_true(fail > 4);
            return;
        }
    }
}

typedef struct watching {
    const sim_machine *machine;
    int64_t calls;
    double last_s;
} watching;

static void moved(void *user)
{
    watching *seen = user;
    assert_true(seen->machine->host_s > seen->last_s);
    seen->last_s = seen->machine->host_s;
    seen->calls++;
}

static void watches_see_the_clock_move(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine(MACHINE, &memory);
    sim_machine *all = sim_machine_of(context);
    watching seen = {all, 0, -1};
    sim_watch watch = {.every_s = 0.5, .next_s = 0.5, .moved = moved, .user = &seen};
    all->watches = &watch;
    assert_int_equal(yoke_machine_sleep(context, 0.25), YOKE_OK);
    assert_int_equal(seen.calls, 0);
    assert_int_equal(yoke_machine_sleep(context, 10), YOKE_OK); /* 0.5, 1, ..., 10 */
    assert_int_equal(seen.calls, 20);
    assert_true(all->host_s == 10.25 && seen.last_s == 10);
    watch.every_s = 1e-30; /* a wait is looked at a million times, and ends */
    assert_int_equal(yoke_machine_sleep(context, 1e9), YOKE_OK);
    assert_in_range(seen.calls, 20 + 900000, 20 + 1000002);
    assert_true(all->host_s == 1e9 + 10.25);
    all->watches = NULL;
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(idle_hardware_draws_power_too),    cmocka_unit_test(work_in_the_future_draws_nothing_yet),
    cmocka_unit_test(work_beside_work_is_counted_once), cmocka_unit_test(any_order_of_work_and_waits_adds_up),
    cmocka_unit_test(a_meter_is_updated_in_its_period), cmocka_unit_test(memory_that_ends_is_an_error_and_nothing_is_lost),
    cmocka_unit_test(watches_see_the_clock_move),
};

UNIT_MAIN(tests, NULL, NULL)
