/* The order in which the kernel accepts new limits. */
#include <stdio.h>
#include <string.h>

#include "frequency/frequency.h"

const char *frequency_file_name(frequency_file file)
{
    static const char *const names[FREQUENCY_NUM_FILES] = {
        [FREQUENCY_GOVERNOR] = "scaling_governor",
        [FREQUENCY_MIN] = "scaling_min_freq",
        [FREQUENCY_MAX] = "scaling_max_freq",
        [FREQUENCY_SPEED] = "scaling_setspeed",
        [FREQUENCY_PREFERENCE] = "energy_performance_preference",
    };
    return names[file];
}

int64_t frequency_khz(const char *text)
{
    static const int64_t most = 1000000000000; /* no frequency reaches a petahertz */
    int64_t khz = 0;
    if (text[0] == '\0') return -1;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9') return -1;
        khz = 10 * khz + (*text - '0');
        if (khz > most) return -1;
    }
    return khz;
}

void frequency_khz_text(int64_t khz, char text[FREQUENCY_WORD_BYTES]) { snprintf(text, FREQUENCY_WORD_BYTES, "%lld", (long long)khz); }

static int differs(const frequency_setting *now, const frequency_setting *wanted, frequency_file file)
{
    return wanted->value[file][0] != '\0' && strcmp(now->value[file], wanted->value[file]) != 0;
}

static int add(frequency_step *steps, int count, const frequency_setting *wanted, frequency_file file)
{
    steps[count] = (frequency_step){file, wanted->value[file]};
    return count + 1;
}

/*
 * Orders the limits.  The upper limit comes first if it is not below the present lower one, as when both are raised; otherwise the lower
 * limit comes first, as when both are lowered.  One of the two orders always works, since lower and upper limit are in order both in now
 * and in wanted.
 */
static int plan_limits(const frequency_setting *now, const frequency_setting *wanted, frequency_step *steps)
{
    int lower = differs(now, wanted, FREQUENCY_MIN), upper = differs(now, wanted, FREQUENCY_MAX), count = 0;
    int64_t least = frequency_khz(now->value[FREQUENCY_MIN]), most = frequency_khz(wanted->value[FREQUENCY_MAX]);
    int upper_first = least < 0 || most < 0 || most >= least;
    if (upper && upper_first) count = add(steps, count, wanted, FREQUENCY_MAX);
    if (lower) count = add(steps, count, wanted, FREQUENCY_MIN);
    if (upper && !upper_first) count = add(steps, count, wanted, FREQUENCY_MAX);
    return count;
}

int frequency_plan(const frequency_setting *now, const frequency_setting *wanted, frequency_step steps[FREQUENCY_MAX_STEPS])
{
    int count = plan_limits(now, wanted, steps);
    int governor = differs(now, wanted, FREQUENCY_GOVERNOR);
    const char *in_force = (wanted->value[FREQUENCY_GOVERNOR][0] != '\0' ? wanted : now)->value[FREQUENCY_GOVERNOR];
    if (governor) count = add(steps, count, wanted, FREQUENCY_GOVERNOR);
    int number = frequency_khz(wanted->value[FREQUENCY_SPEED]) >= 0;
    /* A governor that has just been set begins with its own speed. */
    if (number && strcmp(in_force, "userspace") == 0 && (governor || differs(now, wanted, FREQUENCY_SPEED)))
        count = add(steps, count, wanted, FREQUENCY_SPEED);
    /* "<unsupported>" is restored together with the governor; if it is not, this is a recorded tree without a kernel. */
    if (!number && !governor && differs(now, wanted, FREQUENCY_SPEED)) count = add(steps, count, wanted, FREQUENCY_SPEED);
    /* After the governor: under performance the drivers reject all energy preferences except their own. */
    if (differs(now, wanted, FREQUENCY_PREFERENCE)) count = add(steps, count, wanted, FREQUENCY_PREFERENCE);
    return count;
}
