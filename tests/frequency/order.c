/*
 * The whole of it, library and guard, before a kernel that refuses every write that is out of order (kernel.c): nothing is refused, whatever the
 * frequencies were before, and wherever the process is killed.
 */
#define _XOPEN_SOURCE 700
#include "policy_tree.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Governor, limits, speed, preference before; the governor "" is the driver's usual one. */
static const char *const befores[][5] = {
    {"", "", "", "<unsupported>", ""},
    {"performance", "3000000", "3600000", "<unsupported>", "performance"},
    {"powersave", "800000", "800000", "<unsupported>", "power"},
    {"userspace", "1000000", "1500000", "1200000", "balance_power"},
};
enum { NUM_BEFORES = 4, NUM_POLICIES = 6 };

typedef struct fixture {
    frequency_tree machine;
    char refusals[160];
    char *before;
} fixture;

static void begin(fixture *test, const char *driver, const char *const before[5])
{
    static const char *const names[5] = {"scaling_governor", "scaling_min_freq", "scaling_max_freq", "scaling_setspeed",
                                         "energy_performance_preference"};
    frequency_tree_begin(&test->machine, driver, NUM_POLICIES);
    for (int policy = 0; policy < NUM_POLICIES; policy++)
        for (int i = 0; i < 5; i++)
            if (before[i][0] != '\0' && !(i == 4 && strcmp(driver, "acpi-cpufreq") == 0))
                frequency_tree_write(&test->machine, policy, names[i], before[i]);
    snprintf(test->refusals, sizeof test->refusals, "%s.refusals", test->machine.files.root);
    setenv("YOKE_TEST_REFUSALS", test->refusals, 1);
}

static char *picture_without_frequency(const fixture *test)
{
    for (int policy = 0; policy < NUM_POLICIES; policy++) frequency_tree_write(&test->machine, policy, "scaling_cur_freq", "1200000");
    return frequency_tree_picture(&test->machine);
}

static void expect_restored_without_refusal(fixture *test)
{
    char line[512] = "";
    frequency_tree_wait_unlocked(&test->machine);
    FILE *refusals = fopen(test->refusals, "r");
    if (refusals != NULL && fgets(line, sizeof line, refusals) != NULL) fail_msg("the kernel refused %s", line);
    char *after = picture_without_frequency(test);
    assert_string_equal(after, test->before);
    free(after);
}

static void end(fixture *test)
{
    unlink(test->refusals);
    free(test->before);
    frequency_tree_end(&test->machine);
}

/* The changer, before that kernel.  *word: readable when it has made its first change. */
static pid_t start(const fixture *test, const char *changes, int *word)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        setenv("LD_PRELOAD", FREQUENCY_KERNEL, 1);
        execl(FREQUENCY_CHANGER, FREQUENCY_CHANGER, test->machine.files.root, changes, (char *)NULL);
        _exit(90);
    }
    close(ends[1]);
    *word = ends[0];
    return child;
}

static void all_changes_are_taken_and_restored(void **state)
{
    (void)state;
    for (int i = 0; i < NUM_DRIVERS; i++)
        for (int k = 0; k < NUM_BEFORES; k++) {
            int own = strcmp(frequency_tree_drivers[i], "intel_pstate") == 0 || strcmp(frequency_tree_drivers[i], "amd-pstate-epp") == 0,
                word, status = 0;
            if (own && strcmp(befores[k][0], "userspace") == 0) continue; /* they do not have it */
            fixture test;
            begin(&test, frequency_tree_drivers[i], befores[k]);
            test.before = picture_without_frequency(&test);
            pid_t child = start(&test, "30", &word);
            assert_int_equal(waitpid(child, &status, 0), child);
            close(word);
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), 0);
            expect_restored_without_refusal(&test);
            end(&test);
        }
}

static void after_a_kill_at_any_moment_nothing_is_refused_either(void **state)
{
    (void)state;
    uint64_t random = 4711;
    for (int i = 0; i < NUM_DRIVERS; i++)
        for (int k = 0; k < 40; k++) {
            int own = strcmp(frequency_tree_drivers[i], "intel_pstate") == 0 || strcmp(frequency_tree_drivers[i], "amd-pstate-epp") == 0,
                word, status = 0;
            const char *const *before = befores[k % (own ? NUM_BEFORES - 1 : NUM_BEFORES)];
            fixture test;
            char byte;
            begin(&test, frequency_tree_drivers[i], before);
            test.before = picture_without_frequency(&test);
            pid_t child = start(&test, "0", &word);
            assert_int_equal(read(word, &byte, 1), 1);
            random = random * 6364136223846793005u + 1442695040888963407u;
            const struct timespec moment = {0, (long)((random >> 33) % 8000000)};
            nanosleep(&moment, NULL);
            assert_int_equal(kill(child, SIGKILL), 0);
            assert_int_equal(waitpid(child, &status, 0), child);
            close(word);
            assert_true(WIFSIGNALED(status));
            expect_restored_without_refusal(&test);
            end(&test);
        }
}

static void write_through_the_kernel(const fixture *test, const char *name, const char *text, int *taken)
{
    char command[1024];
    snprintf(command, sizeof command, "LD_PRELOAD=%s %s write %s/sys/devices/system/cpu/cpufreq/policy0/%s %s", FREQUENCY_KERNEL,
             FREQUENCY_CHANGER, test->machine.files.root, name, text);
    *taken = system(command) == 0;
}

/* Else the two tests above would show nothing. */
static void that_kernel_does_refuse(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        int taken;
    } writes[] = {
        {"scaling_min_freq", "1200000", 1}, {"scaling_max_freq", "1000000", 0}, {"scaling_max_freq", "1200000", 1},
        {"scaling_min_freq", "1300000", 0}, {"scaling_setspeed", "1200000", 0}, {"scaling_governor", "userspace", 1},
        {"scaling_setspeed", "1200000", 1}, {"scaling_setspeed", "1300000", 0}, {"scaling_governor", "nonsense", 0},
        {"scaling_min_freq", "800000", 1},
    };
    fixture test;
    begin(&test, "intel_cpufreq", befores[0]);
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        int taken = -1;
        write_through_the_kernel(&test, writes[i].name, writes[i].text, &taken);
        if (taken != writes[i].taken) fail_msg("'%s' for %s is %s", writes[i].text, writes[i].name, taken ? "taken" : "refused");
    }
    frequency_tree_holds(&test.machine, 0, "scaling_setspeed", "1200000");
    frequency_tree_holds(&test.machine, 0, "scaling_cur_freq", "1200000");
    test.before = NULL;
    end(&test);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(all_changes_are_taken_and_restored),
    cmocka_unit_test(after_a_kill_at_any_moment_nothing_is_refused_either),
    cmocka_unit_test(that_kernel_does_refuse),
};

UNIT_MAIN(tests, NULL, NULL)
