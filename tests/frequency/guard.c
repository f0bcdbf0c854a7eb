/* One yoke at a time has the frequencies, and its guard restores them. */
#define _XOPEN_SOURCE 700
#include "policy_tree.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------ lock */

static void a_second_yoke_leaves_the_frequencies_alone_and_names_the_first(void **state)
{
    (void)state;
    frequency_tree machine, other;
    frequency_tree_begin(&machine, "intel_pstate", 1);
    frequency_tree_begin(&other, "intel_pstate", 1);
    yoke_frequency_options options = frequency_tree_options(&machine);
    yoke_frequencies *first = frequency_tree_open(&machine), *second = NULL;
    char owner[64];
    snprintf(owner, sizeof owner, "process %ld", (long)getpid());
    assert_int_equal(yoke_frequencies_open(machine.context, &options, &second), YOKE_ERROR_UNAVAILABLE);
    frequency_tree_mentions(yoke_last_error(machine.context), owner);
    assert_null(second);
    frequency_tree_find(machine.context, &options, "cpu"); /* listing needs no lock */
    yoke_frequencies_close(frequency_tree_open(&other));   /* another machine has its own lock */
    yoke_frequencies_close(first);
    yoke_frequencies_close(frequency_tree_open(&machine));
    frequency_tree_end(&machine);
    frequency_tree_end(&other);
}

/* ----------------------------------------------------------------------------------------------------- guard */

static void wait_for_end(pid_t process)
{
    for (int i = 0; i < 60000 && kill(process, 0) == 0; i++) {
        const struct timespec moment = {0, 1000000};
        nanosleep(&moment, NULL);
    }
}

static void a_guard_that_was_killed_is_started_again(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "intel_pstate", 2);
    char *before = frequency_tree_picture(&machine);
    yoke_frequencies *frequencies = frequency_tree_open(&machine);
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 2e9, NULL), YOKE_OK);
    pid_t guard = frequency_tree_guard_of(getpid());
    assert_true(guard > 0);
    assert_int_equal(kill(guard, SIGKILL), 0);
    wait_for_end(guard);
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 1e9, NULL), YOKE_OK);
    frequency_tree_mentions(machine.log, "another is started");
    pid_t next = frequency_tree_guard_of(getpid());
    assert_true(next > 0 && next != guard);
    yoke_frequencies_close(frequencies);
    char *after = frequency_tree_picture(&machine);
    assert_string_equal(after, before);
    free(before);
    free(after);
    frequency_tree_end(&machine);
}

static void without_its_guard_the_process_itself_restores(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "intel_cpufreq", 2);
    char *before = frequency_tree_picture(&machine);
    yoke_frequencies *frequencies = frequency_tree_open(&machine);
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 2e9, NULL), YOKE_OK);
    pid_t guard = frequency_tree_guard_of(getpid());
    assert_int_equal(kill(guard, SIGKILL), 0);
    wait_for_end(guard);
    yoke_frequencies_close(frequencies);
    frequency_tree_mentions(machine.log, "restored without it");
    char *after = frequency_tree_picture(&machine);
    assert_string_equal(after, before);
    free(before);
    free(after);
    frequency_tree_end(&machine);
}

static void a_program_that_is_no_guard_gets_no_frequencies(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "intel_pstate", 1);
    char *before = frequency_tree_picture(&machine);
    setenv("YOKE_CLOCK_GUARD", "/bin/true", 1);
    yoke_frequencies *frequencies = frequency_tree_open(&machine);
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 2e9, NULL), YOKE_ERROR_SYSTEM);
    frequency_tree_mentions(yoke_last_error(machine.context), "frequencies are not changed");
    yoke_frequencies_close(frequencies);
    unsetenv("YOKE_CLOCK_GUARD");
    char *after = frequency_tree_picture(&machine);
    assert_string_equal(after, before);
    free(before);
    free(after);
    frequency_tree_end(&machine);
}

static void the_guard_refuses_to_run_by_hand(void **state)
{
    (void)state;
    static const char *const arguments[] = {"", "--help", "0 /", "abc /", "-5 /", "1"};
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        char command[1024];
        snprintf(command, sizeof command, "%s/bin/yoke-clock-guard %s 2>/dev/null </dev/null", getenv("YOKE_BUILD_DIR"), arguments[i]);
        int status = system(command);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 2);
    }
}

static void a_program_that_waits_for_all_its_children_does_not_wait_for_the_guard(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "intel_pstate", 1);
    yoke_frequencies *frequencies = frequency_tree_open(&machine);
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 2e9, NULL), YOKE_OK);
    assert_true(frequency_tree_guard_of(getpid()) > 0);
    assert_int_equal(wait(NULL), -1);
    yoke_frequencies_close(frequencies);
    frequency_tree_end(&machine);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_second_yoke_leaves_the_frequencies_alone_and_names_the_first),
    cmocka_unit_test(a_guard_that_was_killed_is_started_again),
    cmocka_unit_test(without_its_guard_the_process_itself_restores),
    cmocka_unit_test(a_program_that_is_no_guard_gets_no_frequencies),
    cmocka_unit_test(the_guard_refuses_to_run_by_hand),
    cmocka_unit_test(a_program_that_waits_for_all_its_children_does_not_wait_for_the_guard),
};

UNIT_MAIN(tests, NULL, NULL)
