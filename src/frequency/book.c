/* The settings that must be restored, in memory and as text for the guard. */
#include <stdio.h>
#include <string.h>

#include "frequency/frequency.h"

/* ---------------------------------------------------------------------------------------------------- list */

yoke_status frequency_book_add(frequency_book *book, const frequency_saved *saved)
{
    yoke_status status = yoke_grow(book->context, &book->entries, book->count, &book->capacity, 8, sizeof *book->entries);
    if (status == YOKE_OK) book->entries[book->count++] = *saved;
    return status;
}

int frequency_book_has(const frequency_book *book, const char *where)
{
    for (int64_t i = 0; i < book->count; i++)
        if (strcmp(book->entries[i].where, where) == 0) return 1;
    return 0;
}

void frequency_book_clear(frequency_book *book)
{
    yoke_release(book->context, book->entries);
    *book = (frequency_book){.context = book->context};
}

/* --------------------------------------------------------------------------------------------------- lines */

static const char *const keys[FREQUENCY_NUM_FILES] = {
    [FREQUENCY_GOVERNOR] = "governor ",     [FREQUENCY_MIN] = "least ", [FREQUENCY_MAX] = "most ", [FREQUENCY_SPEED] = "speed ",
    [FREQUENCY_PREFERENCE] = "preference ",
};

size_t frequency_saved_print(const frequency_saved *saved, char text[FREQUENCY_TEXT_BYTES])
{
    int length = snprintf(text, FREQUENCY_TEXT_BYTES, "%s %s\n", saved->place == FREQUENCY_OF_GPU ? "gpu" : "policy", saved->where);
    for (int file = 0; file < FREQUENCY_NUM_FILES; file++)
        if (saved->place == FREQUENCY_OF_POLICY && saved->setting.value[file][0] != '\0')
            length += snprintf(text + length, (size_t)(FREQUENCY_TEXT_BYTES - length), "%s%s\n", keys[file], saved->setting.value[file]);
    return (size_t)length;
}

static yoke_status begin_entry(frequency_book *book, frequency_place place, const char *where)
{
    frequency_saved saved = {.place = place};
    if (strlen(where) == 0 || strlen(where) >= sizeof saved.where)
        return yoke_fail(book->context, YOKE_ERROR_INPUT, "a place without a name, or with one that is too long");
    if (place == FREQUENCY_OF_POLICY && where[0] != '/')
        return yoke_fail(book->context, YOKE_ERROR_INPUT, "'%.80s' is no absolute path", where);
    memcpy(saved.where, where, strlen(where) + 1);
    return frequency_book_add(book, &saved);
}

yoke_status frequency_book_parse(frequency_book *book, char *line)
{
    if (strncmp(line, "policy ", 7) == 0) return begin_entry(book, FREQUENCY_OF_POLICY, line + 7);
    if (strncmp(line, "gpu ", 4) == 0) return begin_entry(book, FREQUENCY_OF_GPU, line + 4);
    for (int file = 0; file < FREQUENCY_NUM_FILES; file++) {
        size_t length = strlen(keys[file]);
        if (strncmp(line, keys[file], length) != 0) continue;
        if (book->count == 0 || strlen(line + length) >= FREQUENCY_WORD_BYTES) break;
        memcpy(book->entries[book->count - 1].setting.value[file], line + length, strlen(line + length) + 1);
        return YOKE_OK;
    }
    return yoke_fail(book->context, YOKE_ERROR_INPUT, "'%.80s' is no line of what is to be restored", line);
}

/* ------------------------------------------------------------------------------------------------- restore */

int64_t frequency_book_restore(const frequency_book *book, const struct yoke_nvml *nvml, frequency_report *report, void *user)
{
    int64_t failed = 0;
    for (int64_t i = 0; i < book->count; i++) {
        const frequency_saved *saved = &book->entries[i];
        char why[METER_WHY_BYTES] = "", text[METER_WHY_BYTES + 64];
        int error, done;
        if (saved->place == FREQUENCY_OF_POLICY)
            done = frequency_policy_apply(saved->where, &saved->setting, why, &error);
        else
            done = nvml != NULL && frequency_nvml_reset(nvml, saved->where, why);
        if (done) continue;
        failed++;
        snprintf(text, sizeof text, "%s%.30s%s%s", saved->place == FREQUENCY_OF_GPU ? "GPU " : "",
                 saved->place == FREQUENCY_OF_GPU ? saved->where : "", saved->place == FREQUENCY_OF_GPU ? ": " : "", why);
        report(user, text);
    }
    return failed;
}
