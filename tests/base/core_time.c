/* What other programs take from this one, as far as the system tells. */
#define _GNU_SOURCE /* pthread_setaffinity_np, CPU_SET */
#include "base/core_time.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>

#include "unit.h"
#include "yoke/yoke.h"

enum { THREADS = 3 };
static const double spin_s = 0.05;

static void *spin(void *ready)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(*(const int *)ready, &one);
    (void)pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    const double end_s = yoke_clock_s() + spin_s;
    while (yoke_clock_s() < end_s) continue;
    return NULL;
}

/* The first core that this process may use. */
static int first_core(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set)) return i;
    fail_msg("no core");
    return 0;
}

/* Three threads on one core: each waits two thirds of the time. */
static void threads_that_want_the_same_core_wait(void **state)
{
    (void)state;
    yoke_core_time before, after;
    pthread_t threads[THREADS];
    int core = first_core();
    yoke_core_time_get(&before);
    if (isnan(before.waited_s)) skip();
    for (int t = 0; t < THREADS; t++) assert_int_equal(pthread_create(&threads[t], NULL, spin, &core), 0);
    for (int k = 0; k < 1000000; k++) { /* what ended is in no sum: asked while they are there */
        yoke_core_time_get(&after);
        if (after.waited_s - before.waited_s > 0.5 * spin_s) break;
    }
    assert_true(after.waited_s - before.waited_s > 0.5 * spin_s && after.used_s > before.used_s);
    for (int t = 0; t < THREADS; t++) assert_int_equal(pthread_join(threads[t], NULL), 0);
}

static void what_a_process_takes_from_itself_is_not_lost(void **state)
{
    (void)state;
    const yoke_core_time before = {5, 1}, busy = {7, 2}, alone = {7, 1}, half = {6, 2}, none = {NAN, NAN}, less = {4, 0.5};
    assert_true(fabs(yoke_core_time_lost(&before, &half, 1, 2) - 1) < 1e-12); /* one of two cores was used: the other one by others */
    assert_true(yoke_core_time_lost(&before, &busy, 1, 2) == 0);              /* both were: four threads took turns */
    assert_true(fabs(yoke_core_time_lost(&before, &busy, 1.25, 2) - 0.5) < 1e-12);
    assert_true(yoke_core_time_lost(&before, &alone, 2, 2) == 0);
    assert_true(yoke_core_time_lost(&none, &none, 1, 2) == 0 && yoke_core_time_lost(&before, &less, 1, 2) == 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(threads_that_want_the_same_core_wait),
    cmocka_unit_test(what_a_process_takes_from_itself_is_not_lost),
};

UNIT_MAIN(tests, NULL, NULL)
