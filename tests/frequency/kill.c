/*
 * Processes that change frequencies and end in every way.  Each time the tree must be afterwards what it was before, byte for byte.
 */
#define _XOPEN_SOURCE 700
#include "policy_tree.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Processes are slow under sanitizers. */
enum { NUM_POLICIES = 16 };
static const double patience_s = 60;

static void pause_for(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}

/* Waits until the pipe says that the child has come so far; 0: it has ended before. */
static int wait_for_byte(int descriptor)
{
    char byte;
    ssize_t got;
    do got = read(descriptor, &byte, 1);
    while (got < 0 && errno == EINTR);
    return got == 1;
}

/* In a child: opens, and sets one frequency after the other; says so after `before_word` changes.  Never returns. */
static void change_for_ever(const frequency_tree *machine, int word, int before_word)
{
    yoke_context *context = NULL;
    yoke_frequencies *frequencies = NULL;
    yoke_frequency_options options = frequency_tree_options(machine);
    alarm(120); /* nothing is left of a test that fails */
    if (before_word == 0 && write(word, "x", 1) != 1) _exit(10);
    if (yoke_context_create(NULL, &context) != YOKE_OK) _exit(11);
    if (yoke_frequencies_open(context, &options, &frequencies) != YOKE_OK) _exit(12);
    for (int64_t i = 1;; i++) {
        if (yoke_frequency_set(frequencies, "cpu", 8e8 + 1e8 * (double)(7 * i % 29), NULL) != YOKE_OK) _exit(13);
        if (i == before_word && write(word, "x", 1) != 1) _exit(14);
    }
}

/* A child that changes frequencies, in a process group of its own.  Returns when it has made so many changes. */
static pid_t start_changing(const frequency_tree *machine, int changes)
{
    int word[2];
    assert_int_equal(pipe(word), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setpgid(0, 0);
        close(word[0]);
        change_for_ever(machine, word[1], changes);
    }
    close(word[1]);
    setpgid(child, child);
    assert_true(wait_for_byte(word[0]));
    close(word[0]);
    return child;
}

/* Ends the child and shows that it was this signal that did. */
static void end_by(pid_t child, pid_t target, int number)
{
    int status = 0;
    assert_int_equal(kill(target, number), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != number) fail_msg("the child ended by itself, with status %d", status);
}

static void expect_restored(frequency_tree *machine, const char *before, double *seconds)
{
    *seconds = frequency_tree_wait_for(machine, before, patience_s);
    assert_false(isnan(*seconds));
    /* And it stays so: when the guard has gone, nobody is left who writes. */
    frequency_tree_wait_unlocked(machine);
    char *after = frequency_tree_picture(machine);
    assert_string_equal(after, before);
    free(after);
}

static uint64_t random_below(uint64_t *state, uint64_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % below;
}

/* The moments: while it starts, saves, writes the first policies, and in the middle of later changes. */
static void a_hundred_of_a_hundred_kills_at_random_moments_are_restored(void **state)
{
    (void)state;
    uint64_t random = 20260601;
    double longest_s = 0;
    const int kills = unit_is_sanitized() ? 30 : 100;
    int dirty = 0;
    for (int i = 0; i < kills; i++) {
        frequency_tree machine;
        double seconds;
        frequency_tree_begin(&machine, frequency_tree_drivers[i % NUM_DRIVERS], NUM_POLICIES);
        if (i % 3 == 0) frequency_tree_write(&machine, 1, "scaling_max_freq", "1500000");
        char *before = frequency_tree_picture(&machine);
        pid_t child = start_changing(&machine, i % 2);
        pause_for(1e-6 * (double)random_below(&random, i % 2 == 0 ? 12000 : 4000));
        if (i % 4 >= 2) { /* what the kill finds */
            assert_int_equal(kill(child, SIGSTOP), 0);
            pause_for(1e-3);
            char *left = frequency_tree_picture(&machine);
            dirty += strcmp(left, before) != 0;
            free(left);
        }
        end_by(child, child, SIGKILL);
        expect_restored(&machine, before, &seconds);
        longest_s = seconds > longest_s ? seconds : longest_s;
        free(before);
        frequency_tree_end(&machine);
    }
    print_message("%d of %d restored; of those that were looked at before, %d were changed; the longest took %.1f ms\n", kills, kills,
                  dirty, 1e3 * longest_s);
    assert_true(dirty > 0); /* else the kills would have come at the wrong moments */
}

static void a_kill_after_exactly_each_of_the_writes_is_restored(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "intel_cpufreq", 3);
    char *before = frequency_tree_picture(&machine);
    /* Stopped at a moment, and killed there: what is seen is what the guard finds. */
    for (int i = 0; i < 20; i++) {
        double seconds;
        pid_t child = start_changing(&machine, 1);
        pause_for(1e-4 * i);
        assert_int_equal(kill(child, SIGSTOP), 0);
        pause_for(1e-3);
        end_by(child, child, SIGKILL);
        expect_restored(&machine, before, &seconds);
    }
    free(before);
    frequency_tree_end(&machine);
}

static void signals_to_the_whole_group_do_not_reach_the_guard(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        frequency_tree machine;
        double seconds;
        frequency_tree_begin(&machine, "intel_pstate", NUM_POLICIES);
        char *before = frequency_tree_picture(&machine);
        pid_t child = start_changing(&machine, 3);
        assert_true(frequency_tree_guard_of(child) > 0);
        assert_true(getpgid(frequency_tree_guard_of(child)) != child);
        end_by(child, -child, signals[i]);
        expect_restored(&machine, before, &seconds);
        free(before);
        frequency_tree_end(&machine);
    }
}

static void signals_to_the_guard_itself_do_not_end_it(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE};
    frequency_tree machine;
    double seconds;
    frequency_tree_begin(&machine, "intel_pstate", 2);
    char *before = frequency_tree_picture(&machine);
    pid_t child = start_changing(&machine, 1), guard = frequency_tree_guard_of(child);
    assert_true(guard > 0);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) assert_int_equal(kill(guard, signals[i]), 0);
    pause_for(0.02);
    assert_int_equal(frequency_tree_guard_of(child), guard);
    end_by(child, child, SIGKILL);
    expect_restored(&machine, before, &seconds);
    free(before);
    frequency_tree_end(&machine);
}

/* Ends with this exit status without closing; 0: closes. */
static void ending_without_closing(const frequency_tree *machine, int exit_status)
{
    double seconds;
    char *before = frequency_tree_picture(machine);
    frequency_tree copy = *machine;
    pid_t child = fork();
    int status = 0;
    assert_true(child >= 0);
    if (child == 0) {
        alarm(120);
        yoke_context *context = NULL;
        yoke_frequencies *frequencies = NULL;
        yoke_frequency_options options = frequency_tree_options(machine);
        if (yoke_context_create(NULL, &context) != YOKE_OK) _exit(11);
        if (yoke_frequencies_open(context, &options, &frequencies) != YOKE_OK) _exit(12);
        if (yoke_frequency_set(frequencies, "cpu", 2e9, NULL) != YOKE_OK) _exit(13);
        if (exit_status == 0) yoke_frequencies_close(frequencies);
        _exit(exit_status);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), exit_status);
    if (exit_status == 0) { /* closing waits for it */
        char *after = frequency_tree_picture(machine);
        assert_string_equal(after, before);
        free(after);
    }
    expect_restored(&copy, before, &seconds);
    free(before);
}

static void an_exit_without_closing_is_restored(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "intel_cpufreq", NUM_POLICIES);
    ending_without_closing(&machine, 0);
    ending_without_closing(&machine, 3);
    frequency_tree_end(&machine);
}

/* A forked child keeps socket and lock open; the guard sees the end of the process itself. */
static void a_forked_child_that_lives_on_does_not_hide_the_end(void **state)
{
    (void)state;
    frequency_tree machine;
    int word[2];
    frequency_tree_begin(&machine, "intel_pstate", 2);
    char *before = frequency_tree_picture(&machine);
    assert_int_equal(pipe(word), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(120);
        yoke_context *context = NULL;
        yoke_frequencies *frequencies = NULL;
        yoke_frequency_options options = frequency_tree_options(&machine);
        if (yoke_context_create(NULL, &context) != YOKE_OK || yoke_frequencies_open(context, &options, &frequencies) != YOKE_OK ||
            yoke_frequency_set(frequencies, "cpu", 2e9, NULL) != YOKE_OK)
            _exit(11);
        pid_t orphan = fork();
        if (orphan == 0) alarm(120);
        if (orphan == 0)
            for (;;) pause_for(1);
        if (write(word[1], &orphan, sizeof orphan) != sizeof orphan) _exit(12);
        for (;;) pause_for(1);
    }
    close(word[1]);
    pid_t orphan = 0;
    assert_int_equal(read(word[0], &orphan, sizeof orphan), sizeof orphan);
    close(word[0]);
    end_by(child, child, SIGKILL);
    assert_false(isnan(frequency_tree_wait_for(&machine, before, patience_s)));
    assert_int_equal(kill(orphan, SIGKILL), 0);
    free(before);
    frequency_tree_wait_unlocked(&machine);
    frequency_tree_end(&machine);
}

/* The next yoke waits for the guard of the one that was killed, so that it does not save what that had set. */
static void the_next_yoke_saves_what_was_before_the_kill(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "acpi-cpufreq", 2 * NUM_POLICIES);
    char *before = frequency_tree_picture(&machine);
    for (int i = 0; i < 5; i++) {
        pid_t child = start_changing(&machine, 2);
        end_by(child, child, SIGKILL);
        yoke_frequencies *frequencies = frequency_tree_open(&machine);
        assert_int_equal(yoke_frequency_set(frequencies, "cpu", 1.6e9, NULL), YOKE_OK);
        yoke_frequencies_close(frequencies);
        char *after = frequency_tree_picture(&machine);
        assert_string_equal(after, before);
        free(after);
    }
    free(before);
    frequency_tree_end(&machine);
}

/* A pipe of the program must not stay open in the guard: who reads from it would wait for ever. */
static void the_guard_keeps_nothing_of_the_program_open(void **state)
{
    (void)state;
    frequency_tree machine;
    int ends[2];
    frequency_tree_begin(&machine, "intel_pstate", 1);
    assert_int_equal(pipe(ends), 0); /* without FD_CLOEXEC */
    yoke_frequencies *frequencies = frequency_tree_open(&machine);
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 2e9, NULL), YOKE_OK);
    close(ends[1]);
    assert_false(wait_for_byte(ends[0]));
    close(ends[0]);
    yoke_frequencies_close(frequencies);
    frequency_tree_end(&machine);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_hundred_of_a_hundred_kills_at_random_moments_are_restored),
    cmocka_unit_test(a_kill_after_exactly_each_of_the_writes_is_restored),
    cmocka_unit_test(signals_to_the_whole_group_do_not_reach_the_guard),
    cmocka_unit_test(signals_to_the_guard_itself_do_not_end_it),
    cmocka_unit_test(an_exit_without_closing_is_restored),
    cmocka_unit_test(a_forked_child_that_lives_on_does_not_hide_the_end),
    cmocka_unit_test(the_next_yoke_saves_what_was_before_the_kill),
    cmocka_unit_test(the_guard_keeps_nothing_of_the_program_open),
};

UNIT_MAIN(tests, NULL, NULL)
