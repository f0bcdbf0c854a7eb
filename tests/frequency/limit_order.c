#include "frequency/frequency.h"

#include "unit.h"

/*
 * The plan's order on a model of the kernel, with the rules of the strictest one: the limits are in order after every write (Linux before 5.3
 * refuses others, later ones shift what was not asked for), a speed is taken under userspace only, and the drivers with policies of their own
 * refuse energy preferences under performance.
 */

typedef struct kernel {
    frequency_setting is;
    int own_policy; /* intel_pstate and amd-pstate in active mode */
} kernel;

static uint64_t random_state;

static uint64_t random_number(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static void set_khz(char *value, int64_t khz) { frequency_khz_text(khz, value); }

static int64_t least_of(const kernel *machine) { return frequency_khz(machine->is.value[FREQUENCY_MIN]); }
static int64_t most_of(const kernel *machine) { return frequency_khz(machine->is.value[FREQUENCY_MAX]); }
static int has_governor(const kernel *machine, const char *name) { return strcmp(machine->is.value[FREQUENCY_GOVERNOR], name) == 0; }

/* What the kernel itself changes with limits and governor. */
static void follow(kernel *machine)
{
    char *speed = machine->is.value[FREQUENCY_SPEED];
    if (!has_governor(machine, "userspace")) {
        strcpy(speed, "<unsupported>");
        return;
    }
    int64_t khz = frequency_khz(speed);
    if (khz < least_of(machine)) set_khz(speed, least_of(machine)); /* also where there was none */
    if (frequency_khz(speed) > most_of(machine)) set_khz(speed, most_of(machine));
}

/* Returns 0 where it refuses. */
static int kernel_write(kernel *machine, frequency_file file, const char *value)
{
    static const char *const own[] = {"performance", "powersave"}, *const other[] = {"performance", "powersave", "userspace", "schedutil"};
    int64_t khz = frequency_khz(value);
    int known = 0;
    switch (file) {
    case FREQUENCY_MIN:
        if (khz < 0 || khz > most_of(machine)) return 0;
        break;
    case FREQUENCY_MAX:
        if (khz < 0 || khz < least_of(machine)) return 0;
        break;
    case FREQUENCY_SPEED:
        if (!has_governor(machine, "userspace") || khz < least_of(machine) || khz > most_of(machine)) return 0;
        break;
    case FREQUENCY_PREFERENCE:
        if (machine->own_policy && has_governor(machine, "performance") && strcmp(value, "performance") != 0) return 0;
        break;
    case FREQUENCY_GOVERNOR:
        for (size_t i = 0; i < (machine->own_policy ? 2 : 4); i++) known |= strcmp(value, machine->own_policy ? own[i] : other[i]) == 0;
        if (!known) return 0;
        /* The preference goes with the governor. */
        if (machine->own_policy)
            strcpy(machine->is.value[FREQUENCY_PREFERENCE], strcmp(value, "performance") == 0 ? "performance" : "power");
        break;
    case FREQUENCY_NUM_FILES:
        return 0;
    }
    strcpy(machine->is.value[file], value);
    follow(machine);
    return 1;
}

/* A state that a machine can be in. */
static kernel random_kernel(int own_policy)
{
    static const char *const governors[] = {"performance", "powersave", "userspace", "schedutil"};
    static const char *const preferences[] = {"performance", "balance_performance", "balance_power", "power", "64"};
    kernel machine = {.own_policy = own_policy};
    int64_t a = 800000 + 100000 * (int64_t)random_number(29), b = 800000 + 100000 * (int64_t)random_number(29);
    set_khz(machine.is.value[FREQUENCY_MIN], a < b ? a : b);
    set_khz(machine.is.value[FREQUENCY_MAX], a < b ? b : a);
    strcpy(machine.is.value[FREQUENCY_GOVERNOR], governors[random_number(own_policy ? 2 : 4)]);
    int fixed = own_policy && has_governor(&machine, "performance");
    strcpy(machine.is.value[FREQUENCY_PREFERENCE], fixed ? "performance" : preferences[random_number(5)]);
    set_khz(machine.is.value[FREQUENCY_SPEED], 800000 + 100000 * (int64_t)random_number(29));
    follow(&machine);
    return machine;
}

/* Plans and writes until nothing differs; shows that every write is taken.  Stops after `steps` writes; returns how many there were. */
static int carry_out(kernel *machine, const frequency_setting *wanted, int steps)
{
    int done = 0;
    for (int pass = 0; pass < 3; pass++) {
        frequency_step plan[FREQUENCY_MAX_STEPS];
        int count = frequency_plan(&machine->is, wanted, plan);
        assert_in_range(count, 0, FREQUENCY_MAX_STEPS);
        for (int i = 0; i < count; i++) {
            if (done == steps) return done;
            if (!kernel_write(machine, plan[i].file, plan[i].value))
                fail_msg("the kernel would refuse '%s' for %s (limits %s to %s, governor %s)", plan[i].value,
                         frequency_file_name(plan[i].file), machine->is.value[FREQUENCY_MIN], machine->is.value[FREQUENCY_MAX],
                         machine->is.value[FREQUENCY_GOVERNOR]);
            done++;
        }
        if (count == 0) return done;
    }
    frequency_step left[FREQUENCY_MAX_STEPS];
    assert_int_equal(frequency_plan(&machine->is, wanted, left), 0);
    return done;
}

static void expect_same(const frequency_setting *left, const frequency_setting *right)
{
    for (int file = 0; file < FREQUENCY_NUM_FILES; file++) assert_string_equal(left->value[file], right->value[file]);
}

static void any_state_is_reached_from_any_other_and_no_write_is_refused(void **state)
{
    (void)state;
    random_state = 88172645463325252u;
    for (int i = 0; i < 100000; i++) {
        kernel machine = random_kernel(i % 2), wanted = random_kernel(i % 2);
        carry_out(&machine, &wanted.is, 100);
        expect_same(&machine.is, &wanted.is);
    }
}

/* What frequency/cpufreq.c asks for: a speed under userspace, or equal limits. */
static frequency_setting one_speed(const kernel *now, int64_t khz)
{
    frequency_setting wanted = {{{0}}};
    if (!now->own_policy) strcpy(wanted.value[FREQUENCY_GOVERNOR], "userspace");
    if (!now->own_policy) set_khz(wanted.value[FREQUENCY_SPEED], khz);
    if (now->own_policy || least_of(now) > khz) set_khz(wanted.value[FREQUENCY_MIN], khz);
    if (now->own_policy || most_of(now) < khz) set_khz(wanted.value[FREQUENCY_MAX], khz);
    return wanted;
}

static void a_change_broken_off_at_any_write_is_taken_back(void **state)
{
    (void)state;
    random_state = 1442695040888963407u;
    for (int i = 0; i < 100000; i++) {
        kernel machine = random_kernel(i % 2);
        const frequency_setting saved = machine.is;
        int changes = 1 + (int)random_number(3);
        for (int k = 0; k < changes; k++) {
            frequency_setting wanted = one_speed(&machine, 800000 + 100000 * (int64_t)random_number(29));
            carry_out(&machine, &wanted, k + 1 < changes ? 100 : (int)random_number(6));
        }
        carry_out(&machine, &saved, 100);
        expect_same(&machine.is, &saved);
    }
}

static frequency_setting setting(const char *governor, const char *least, const char *most, const char *speed)
{
    frequency_setting made = {{{0}}};
    strcpy(made.value[FREQUENCY_GOVERNOR], governor);
    strcpy(made.value[FREQUENCY_MIN], least);
    strcpy(made.value[FREQUENCY_MAX], most);
    strcpy(made.value[FREQUENCY_SPEED], speed);
    return made;
}

static void expect_order(const frequency_setting *now, const frequency_setting *wanted, const char *order)
{
    static const char letters[] = {
        [FREQUENCY_GOVERNOR] = 'g', [FREQUENCY_MIN] = 'l', [FREQUENCY_MAX] = 'm', [FREQUENCY_SPEED] = 's', [FREQUENCY_PREFERENCE] = 'p'};
    frequency_step steps[FREQUENCY_MAX_STEPS];
    char got[FREQUENCY_MAX_STEPS + 1] = "";
    int count = frequency_plan(now, wanted, steps);
    for (int i = 0; i < count; i++) got[i] = letters[steps[i].file];
    assert_string_equal(got, order);
}

static void raising_begins_with_the_upper_limit_and_lowering_with_the_lower_one(void **state)
{
    (void)state;
    frequency_setting low = setting("powersave", "1000000", "1000000", ""), high = setting("powersave", "2000000", "2000000", "");
    expect_order(&low, &high, "ml");
    expect_order(&high, &low, "lm");
    expect_order(&high, &high, "");
}

static void the_governor_comes_before_the_speed(void **state)
{
    (void)state;
    frequency_setting before = setting("schedutil", "800000", "3600000", "<unsupported>");
    frequency_setting wanted = setting("userspace", "", "", "2000000"), there = setting("userspace", "800000", "3600000", "1000000");
    expect_order(&before, &wanted, "gs");
    expect_order(&there, &wanted, "s");
    /* The text comes back by itself: nothing is written that the kernel would refuse. */
    expect_order(&there, &before, "g");
}

static void a_state_that_cannot_be_read_is_written_whole(void **state)
{
    (void)state;
    frequency_setting nothing = setting("", "", "", ""), wanted = setting("schedutil", "800000", "3600000", "");
    expect_order(&nothing, &wanted, "mlg");
}

static void numbers_of_khz_are_whole_and_nothing_else(void **state)
{
    (void)state;
    assert_int_equal(frequency_khz("0"), 0);
    assert_int_equal(frequency_khz("3600000"), 3600000);
    static const char *const none[] = {"", "-1", "1.5", "<unsupported>", " 1", "1 ", "0x10", "99999999999999999999999999"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) assert_int_equal(frequency_khz(none[i]), -1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(any_state_is_reached_from_any_other_and_no_write_is_refused),
    cmocka_unit_test(a_change_broken_off_at_any_write_is_taken_back),
    cmocka_unit_test(raising_begins_with_the_upper_limit_and_lowering_with_the_lower_one),
    cmocka_unit_test(the_governor_comes_before_the_speed),
    cmocka_unit_test(a_state_that_cannot_be_read_is_written_whole),
    cmocka_unit_test(numbers_of_khz_are_whole_and_nothing_else),
};

UNIT_MAIN(tests, NULL, NULL)
