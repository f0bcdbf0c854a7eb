/* Units shared by simulated devices: how large rounds are, and what hosts do first. */
#include <math.h>

#include "machine.h"
#include "share/share.h"

static dense_shared shared;
static int64_t done, ready_before;

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
    if (dense_share(context, run, &kernel, &shared)) fail_msg("%s", yoke_last_error(context));
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
    if (dense_share(context, run, &kernel, &shared)) fail_msg("%s", yoke_last_error(context));
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

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(rounds_have_as_many_units_as_are_good),
    cmocka_unit_test(a_device_that_loses_more_than_the_other_brings_works_alone),
    cmocka_unit_test(a_small_work_is_one_round),
};

UNIT_MAIN(tests, NULL, NULL)
