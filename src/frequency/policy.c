/* Reads and writes the files of one policy. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "frequency/frequency.h"

enum { PASSES = 6, FILE_BYTES = FREQUENCY_PATH_BYTES + FREQUENCY_WORD_BYTES };

/* Returns 0 or errno. */
static int read_word(const char *directory, frequency_file file, char word[FREQUENCY_WORD_BYTES])
{
    char path[FILE_BYTES], text[2 * FREQUENCY_WORD_BYTES];
    word[0] = '\0';
    snprintf(path, sizeof path, "%s/%s", directory, frequency_file_name(file));
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return errno;
    ssize_t length;
    do length = read(descriptor, text, sizeof text - 1);
    while (length < 0 && errno == EINTR);
    int error = length < 0 ? errno : 0;
    close(descriptor);
    if (error != 0) return error;
    text[length] = '\0';
    text[strcspn(text, "\n")] = '\0';
    /* A longer text is not a word, and a file with other than printable characters is not a sysfs file. */
    if (strlen(text) >= FREQUENCY_WORD_BYTES) return EINVAL;
    for (const char *byte = text; *byte != '\0'; byte++)
        if (*byte < ' ' || *byte > '~') return EINVAL;
    memcpy(word, text, strlen(text) + 1);
    return 0;
}

/* Writes the value with a newline, as echo does, in a single call.  Returns 0, or errno. */
static int write_word(const char *directory, frequency_file file, const char *value)
{
    char path[FILE_BYTES], text[FREQUENCY_WORD_BYTES + 1];
    snprintf(path, sizeof path, "%s/%s", directory, frequency_file_name(file));
    int length = snprintf(text, sizeof text, "%s\n", value);
    int descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return errno;
    ssize_t written;
    do written = write(descriptor, text, (size_t)length);
    while (written < 0 && errno == EINTR);
    int error = written < 0 ? errno : written == length ? 0 : EIO;
    if (close(descriptor) != 0 && error == 0) error = errno;
    return error;
}

int frequency_policy_read(const char *directory, frequency_setting *setting)
{
    int first = 0;
    for (int file = 0; file < FREQUENCY_NUM_FILES; file++) {
        int error = read_word(directory, (frequency_file)file, setting->value[file]);
        if (error != 0 && first == 0 && (file == FREQUENCY_GOVERNOR || file == FREQUENCY_MIN || file == FREQUENCY_MAX)) first = error;
    }
    return first;
}

static void pause_a_moment(void)
{
    const struct timespec moment = {0, 5000000};
    nanosleep(&moment, NULL);
}

static void say_difference(const char *directory, const frequency_setting *now, const frequency_setting *wanted, char why[METER_WHY_BYTES])
{
    for (int file = 0; file < FREQUENCY_NUM_FILES; file++)
        if (wanted->value[file][0] != '\0' && strcmp(now->value[file], wanted->value[file]) != 0) {
            snprintf(why, METER_WHY_BYTES, "%.100s/%s reads '%s' instead of '%s'", directory, frequency_file_name((frequency_file)file),
                     now->value[file], wanted->value[file]);
            return;
        }
}

/* Writes the steps, in reverse order if `backward`.  Returns 0, or errno of the first write that is refused. */
static int write_steps(const char *directory, const frequency_step *steps, int count, int backward, char why[METER_WHY_BYTES])
{
    int first = 0;
    for (int i = 0; i < count; i++) {
        const frequency_step *step = &steps[backward ? count - 1 - i : i];
        int error = write_word(directory, step->file, step->value);
        if (error == 0 || first != 0) continue;
        first = error;
        snprintf(why, METER_WHY_BYTES, "%.140s/%s does not take '%s': %s", directory, frequency_file_name(step->file), step->value,
                 strerror(error));
    }
    return first;
}

/*
 * If the hardware has other steps, scaling_setspeed shows another speed than the one that was written.  The speed counts as set if the
 * write succeeded.
 */
static void forgive_speed(frequency_setting *now, const frequency_setting *wanted, int told)
{
    if (told && strcmp(now->value[FREQUENCY_GOVERNOR], "userspace") == 0)
        memcpy(now->value[FREQUENCY_SPEED], wanted->value[FREQUENCY_SPEED], FREQUENCY_WORD_BYTES);
}

int frequency_policy_apply(const char *directory, const frequency_setting *wanted, char why[METER_WHY_BYTES], int *error)
{
    frequency_setting now;
    int told = 0;
    *error = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        frequency_step steps[FREQUENCY_MAX_STEPS];
        int unreadable = frequency_policy_read(directory, &now);
        if (unreadable == ENOENT || unreadable == EBUSY || unreadable == ENODEV) {
            *error = unreadable;
            snprintf(why, METER_WHY_BYTES, "%.150s: %s", directory,
                     unreadable == EBUSY ? "its CPUs are offline" : "it is gone, with its CPUs");
            return 0;
        }
        forgive_speed(&now, wanted, told);
        int count = frequency_plan(&now, wanted, steps);
        if (count == 0) break;
        if (pass > 1) pause_a_moment();
        *error = write_steps(directory, steps, count, pass % 2, why);
        if (*error == EACCES || *error == EPERM || *error == EROFS) return 0; /* another attempt would not help */
        for (int i = 0; i < count; i++) told |= *error == 0 && steps[i].file == FREQUENCY_SPEED;
    }
    frequency_policy_read(directory, &now);
    forgive_speed(&now, wanted, told);
    frequency_step left[FREQUENCY_MAX_STEPS];
    if (frequency_plan(&now, wanted, left) == 0) {
        *error = 0;
        return 1;
    }
    if (*error == 0) say_difference(directory, &now, wanted, why);
    return 0;
}
