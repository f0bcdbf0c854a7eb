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

static void a_small_work_is_one_round(void **state)
{
    (void)state;
    share(32, 0);
    assert_int_equal(shared.num_rounds, 1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(rounds_have_as_many_units_as_are_good),
    cmocka_unit_test(a_small_work_is_one_round),
};

UNIT_MAIN(tests, NULL, NULL)
