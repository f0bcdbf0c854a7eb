/*
 * Frequencies of NVIDIA GPUs on the stand-in of NVML, whose locked clocks are kept in a file, so that library and guard see the same cards.
 */
#define _XOPEN_SOURCE 700
#include "policy_tree.h"

#include <math.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "meter/vendor.h"
#include "run/machine/list.h"

static vendor_stub stub;
static char state_file[128];

typedef struct cards {
    frequency_tree machine; /* has no cpufreq */
    yoke_frequencies *frequencies;
} cards;

static void cards_begin(cards *here, const char *settings)
{
    vendor_use(&stub, "YOKE_NVML", "YOKE_STUB_NVML", STUB_DIRECTORY "/libstub_nvml.so");
    vendor_set(&stub, settings);
    snprintf(state_file, sizeof state_file, "/tmp/yoke-clock-nvml-%ld", (long)getpid());
    unlink(state_file);
    setenv("YOKE_STUB_NVML_STATE", state_file, 1);
    frequency_tree_begin(&here->machine, "", 0);
    here->frequencies = NULL;
}

static void cards_end(cards *here)
{
    yoke_frequencies_close(here->frequencies);
    frequency_tree_end(&here->machine);
    assert_int_equal(stub.balance(), 0);
    assert_int_equal(stub.misuse(), 0);
    unlink(state_file);
}

static yoke_frequency_info find_frequency(cards *here, const char *name)
{
    yoke_frequency_options options = frequency_tree_options(&here->machine);
    yoke_frequency_info *list = NULL, found = {.name = ""};
    int64_t count = 0;
    assert_int_equal(yoke_frequencies_list(here->machine.context, &options, &list, &count), YOKE_OK);
    for (int64_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) found = list[i];
    yoke_release(here->machine.context, list);
    assert_string_equal(found.name, name);
    return found;
}

/* Does the state file say that a card is locked? */
static int is_locked(int card, int mhz)
{
    char line[128], wanted[64];
    int found = 0;
    FILE *file = fopen(state_file, "r");
    if (file == NULL) return 0;
    snprintf(wanted, sizeof wanted, mhz > 0 ? "locked_least.%d=%d" : "locked_least.%d=", card, mhz);
    flock(fileno(file), LOCK_SH); /* as the stand-in does */
    while (fgets(line, sizeof line, file) != NULL) found |= strncmp(line, wanted, strlen(wanted)) == 0;
    fclose(file);
    return found;
}

static void cards_are_listed_with_their_levels(void **state)
{
    (void)state;
    cards here;
    cards_begin(&here, "devices=2");
    yoke_frequency_info card = find_frequency(&here, "nvml:1");
    assert_true(card.settable);
    assert_string_equal(card.kind, "nvml");
    assert_true(card.pci[0] != '\0');
    assert_true(card.min_hz == 210e6 && card.max_hz == 1410e6 && card.current_hz == 210e6);
    assert_int_equal(card.num_levels, 81); /* as an A100 has: steps of 15 MHz */
    assert_true(card.levels_hz[0] == 210e6 && card.levels_hz[1] == 225e6 && card.levels_hz[80] == 1410e6);
    cards_end(&here);
}

static void a_frequency_is_locked_reached_and_reset(void **state)
{
    (void)state;
    cards here;
    double reached_hz = 0;
    cards_begin(&here, "devices=2");
    here.frequencies = frequency_tree_open(&here.machine);
    assert_int_equal(yoke_frequency_set(here.frequencies, "nvml:1", 1e9, &reached_hz), YOKE_OK);
    assert_true(reached_hz == 1005e6 || reached_hz == 990e6); /* the nearest levels */
    assert_true(is_locked(1, 0));
    assert_false(is_locked(0, 0));
    assert_int_equal(yoke_frequency_set(here.frequencies, "nvml:1", 1410e6, &reached_hz), YOKE_OK);
    assert_true(is_locked(1, 1410));
    assert_string_equal(here.machine.log, "");
    yoke_frequencies_close(here.frequencies);
    here.frequencies = NULL;
    assert_false(is_locked(1, 0));
    assert_string_equal(here.machine.log, "");
    cards_end(&here);
}

static void a_card_that_was_not_set_keeps_what_its_administrator_locked(void **state)
{
    (void)state;
    cards here;
    cards_begin(&here, "devices=2");
    FILE *file = fopen(state_file, "w");
    assert_non_null(file);
    fputs("locked_least.0=600\nlocked_most.0=600\n", file);
    assert_int_equal(fclose(file), 0);
    here.frequencies = frequency_tree_open(&here.machine);
    assert_int_equal(yoke_frequency_set(here.frequencies, "nvml:1", 1e9, NULL), YOKE_OK);
    yoke_frequencies_close(here.frequencies);
    here.frequencies = NULL;
    assert_true(is_locked(0, 600));
    assert_false(is_locked(1, 0));
    cards_end(&here);
}

static void a_power_cap_is_named(void **state)
{
    (void)state;
    cards here;
    double reached_hz = 0;
    cards_begin(&here, "cap_mhz=900");
    here.frequencies = frequency_tree_open(&here.machine);
    assert_int_equal(yoke_frequency_set(here.frequencies, "nvml:0", 1410e6, &reached_hz), YOKE_OK);
    assert_true(reached_hz == 900e6);
    frequency_tree_mentions(here.machine.log, "W nvml:0 was asked for 1.41 GHz and runs at 0.9 GHz");
    frequency_tree_mentions(here.machine.log, "its power limit");
    cards_end(&here);
}

static void heat_is_named(void **state)
{
    (void)state;
    cards here;
    cards_begin(&here, "cap_mhz=900,reasons=64");
    here.frequencies = frequency_tree_open(&here.machine);
    assert_int_equal(yoke_frequency_set(here.frequencies, "nvml:0", 1410e6, NULL), YOKE_OK);
    frequency_tree_mentions(here.machine.log, "reason: heat");
    cards_end(&here);
}

static void without_permission_there_is_a_remedy_and_nothing_is_changed(void **state)
{
    (void)state;
    cards here;
    cards_begin(&here, "fail.nvmlDeviceSetGpuLockedClocks=4");
    here.frequencies = frequency_tree_open(&here.machine);
    for (int i = 0; i < 2; i++) { /* known from the first time on */
        assert_int_equal(yoke_frequency_set(here.frequencies, "nvml:0", 1e9, NULL), YOKE_ERROR_UNAVAILABLE);
        frequency_tree_mentions(yoke_last_error(here.machine.context), "clocks cannot be locked");
        frequency_tree_mentions(yoke_last_error(here.machine.context), "run as root");
    }
    assert_false(is_locked(0, 0));
    cards_end(&here);
}

static void a_card_that_cannot_says_so(void **state)
{
    (void)state;
    cards here;
    cards_begin(&here, "fail.nvmlDeviceSetGpuLockedClocks=3");
    here.frequencies = frequency_tree_open(&here.machine);
    assert_int_equal(yoke_frequency_set(here.frequencies, "nvml:0", 1e9, NULL), YOKE_ERROR_UNAVAILABLE);
    frequency_tree_mentions(yoke_last_error(here.machine.context), "Volta");
    cards_end(&here);
}

static void a_library_without_locked_clocks_says_so(void **state)
{
    (void)state;
    cards here;
    cards_begin(&here, NULL);
    setenv("YOKE_NVML", STUB_DIRECTORY "/libstub_nvml_old.so", 1);
    yoke_frequency_info card = find_frequency(&here, "nvml:0");
    setenv("YOKE_NVML", STUB_DIRECTORY "/libstub_nvml.so", 1);
    assert_false(card.settable);
    frequency_tree_mentions(card.why_not, "cannot lock clocks");
    frequency_tree_mentions(card.remedy, "driver");
    cards_end(&here);
}

static void without_a_library_there_is_one_entry_with_the_reason(void **state)
{
    (void)state;
    cards here;
    cards_begin(&here, NULL);
    setenv("YOKE_NVML", "", 1);
    yoke_frequency_info card = find_frequency(&here, "nvml");
    setenv("YOKE_NVML", STUB_DIRECTORY "/libstub_nvml.so", 1);
    assert_false(card.settable);
    frequency_tree_mentions(card.why_not, "YOKE_NVML");
    assert_true(card.remedy[0] != '\0');
    cards_end(&here);
}

static void a_reset_that_fails_is_reported(void **state)
{
    (void)state;
    cards here;
    cards_begin(&here, NULL);
    setenv("YOKE_STUB_NVML", "fail.nvmlDeviceResetGpuLockedClocks=999", 1); /* the guard inherits it */
    here.frequencies = frequency_tree_open(&here.machine);
    assert_int_equal(yoke_frequency_set(here.frequencies, "nvml:0", 1e9, NULL), YOKE_OK);
    yoke_frequencies_close(here.frequencies);
    here.frequencies = NULL;
    frequency_tree_mentions(here.machine.log, "E a frequency could not be restored: GPU ");
    frequency_tree_mentions(here.machine.log, "nvidia-smi --reset-gpu-clocks");
    cards_end(&here);
}

static void a_card_whose_driver_the_guard_cannot_use_is_not_changed(void **state)
{
    (void)state;
    cards here;
    cards_begin(&here, NULL);
    here.frequencies = frequency_tree_open(&here.machine);
    vendor_set(&stub, "fail.nvmlInit_v2=9"); /* for the guard: the library here is initialised */
    assert_int_equal(yoke_frequency_set(here.frequencies, "nvml:0", 1e9, NULL), YOKE_ERROR_SYSTEM);
    frequency_tree_mentions(yoke_last_error(here.machine.context), "cannot restore this frequency");
    vendor_set(&stub, NULL);
    assert_false(is_locked(0, 0));
    cards_end(&here);
}

static void kills_are_restored(void **state)
{
    (void)state;
    cards here;
    cards_begin(&here, "devices=2");
    for (int i = 0; i < 20; i++) {
        int word[2];
        char byte;
        assert_int_equal(pipe(word), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(120); /* nothing is left of a test that fails */
            yoke_context *context = NULL;
            yoke_frequencies *frequencies = NULL;
            yoke_frequency_options options = frequency_tree_options(&here.machine);
            if (yoke_context_create(NULL, &context) != YOKE_OK || yoke_frequencies_open(context, &options, &frequencies) != YOKE_OK)
                _exit(11);
            for (int k = 0;; k++) {
                if (yoke_frequency_set(frequencies, k % 2 == 0 ? "nvml:0" : "nvml:1", 1e9 + 1e7 * (k % 30), NULL) != YOKE_OK) _exit(12);
                if (k == i % 4 && write(word[1], "x", 1) != 1) _exit(13);
            }
        }
        close(word[1]);
        assert_int_equal(read(word[0], &byte, 1), 1);
        close(word[0]);
        assert_true(is_locked(0, 0));
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        frequency_tree_wait_unlocked(&here.machine);
        assert_false(is_locked(0, 0));
        assert_false(is_locked(1, 0));
    }
    cards_end(&here);
}

static void no_failing_allocation_is_missed(void **state)
{
    (void)state;
    cards here;
    cards_begin(&here, "devices=9");
    yoke_frequency_options options = frequency_tree_options(&here.machine);
    int64_t kept = here.machine.memory.outstanding;
    yoke_status status = YOKE_ERROR_MEMORY;
    for (int64_t at = 1; status != YOKE_OK; at++) {
        yoke_frequencies *frequencies = NULL;
        here.machine.memory.fail_at = here.machine.memory.calls + at;
        status = yoke_frequencies_open(here.machine.context, &options, &frequencies);
        if (status == YOKE_OK) status = yoke_frequency_set(frequencies, "nvml:8", 1e9, NULL);
        here.machine.memory.fail_at = 0;
        yoke_frequencies_close(frequencies);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
        assert_int_equal(here.machine.memory.outstanding, kept);
        assert_int_equal(stub.balance(), 0);
        assert_false(is_locked(8, 0));
    }
    cards_end(&here);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(cards_are_listed_with_their_levels),
    cmocka_unit_test(a_frequency_is_locked_reached_and_reset),
    cmocka_unit_test(a_card_that_was_not_set_keeps_what_its_administrator_locked),
    cmocka_unit_test(a_power_cap_is_named),
    cmocka_unit_test(heat_is_named),
    cmocka_unit_test(without_permission_there_is_a_remedy_and_nothing_is_changed),
    cmocka_unit_test(a_card_that_cannot_says_so),
    cmocka_unit_test(a_library_without_locked_clocks_says_so),
    cmocka_unit_test(without_a_library_there_is_one_entry_with_the_reason),
    cmocka_unit_test(a_reset_that_fails_is_reported),
    cmocka_unit_test(a_card_whose_driver_the_guard_cannot_use_is_not_changed),
    cmocka_unit_test(kills_are_restored),
    cmocka_unit_test(no_failing_allocation_is_missed),
};

UNIT_MAIN(tests, NULL, NULL)
