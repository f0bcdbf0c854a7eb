/* How loops over cells are divided among threads. */
#include "method/turns.h"

#include <omp.h>

#include "context.h"

enum { COUNT = 500, EACH = 40 };

/* Siblings with 0 to EACH - 1 particles each, of which the second half has most. */
static int64_t fill(fmm_siblings *siblings)
{
    int32_t particles = 0;
    for (int i = 0; i < COUNT; i++) {
        siblings[i].particle = particles;
        particles += i * 7 % (i < COUNT / 2 ? EACH / 4 : EACH);
    }
    return particles;
}

static void each_number_is_taken_once_by_any_number_of_threads(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 7, FMM_MOST_PARTS + 3};
    static fmm_siblings siblings[COUNT];
    const int64_t particles = fill(siblings);
    for (int k = 0; k < 5; k++)
        for (int64_t some = 1; some < 4; some++) {
            fmm_loops loops;
            int times[FMM_LOOPS][COUNT] = {{0}};
            fmm_loops_begin(&loops, particles, NULL, threads[k]);
#pragma omp parallel num_threads(threads[k])
            for (int loop = 0; loop < FMM_LOOPS; loop++) { /* threads may be in different loops */
                fmm_turns turns = fmm_turns_of_siblings(&loops, loop, siblings, loop, COUNT - loop);
                int64_t from, to;
                while (fmm_turns_next(&turns, some, &from, &to))
                    for (int64_t i = from; i < to; i++) {
#pragma omp atomic
                        times[loop][i]++;
                    }
            }
            for (int loop = 0; loop < FMM_LOOPS; loop++)
                for (int i = 0; i < COUNT; i++) assert_int_equal(times[loop][i], i >= loop && i < COUNT - loop);
        }
}

static void a_thread_begins_where_its_part_of_the_particles_begins(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    static fmm_siblings siblings[COUNT];
    const int64_t particles = fill(siblings);
    fmm_loops loops;
    fmm_loops_begin(&loops, particles, NULL, THREADS);
    int64_t first[THREADS] = {0};
    int there = 0;
#pragma omp parallel num_threads(THREADS)
    {
        fmm_turns turns = fmm_turns_of_siblings(&loops, 0, siblings, 0, COUNT);
        int64_t from = -1, to;
        if (!fmm_turns_next(&turns, 1, &from, &to)) from = -1;
#pragma omp critical(turns_test)
        first[omp_get_thread_num()] = from, there = omp_get_num_threads();
    }
    for (int t = 0; t < there; t++) {
        assert_true(siblings[first[t]].particle >= particles * t / there);
        assert_true(first[t] == 0 || siblings[first[t] - 1].particle < particles * t / there);
    }
}

static void an_empty_loop_has_no_number(void **state)
{
    (void)state;
    fmm_loops loops;
    fmm_loops_begin(&loops, 0, NULL, 1);
    fmm_siblings none = {0};
    int64_t from, to;
    fmm_turns turns = fmm_turns_of_siblings(&loops, 0, &none, 0, 0);
    assert_false(fmm_turns_next(&turns, 1, &from, &to));
    assert_false(fmm_turns_next(&turns, 1, &from, &to));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_number_is_taken_once_by_any_number_of_threads),
    cmocka_unit_test(a_thread_begins_where_its_part_of_the_particles_begins),
    cmocka_unit_test(an_empty_loop_has_no_number),
};

UNIT_MAIN(tests, context_start, context_end)
