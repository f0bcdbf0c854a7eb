/* Writes the text of a store to its file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/store/store.h"

/* ---------------------------------------------------------------------------------------------- the text */

static void write_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++)
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(file, "\\u%04x", *c);
        else
            fputc(*c, file);
    fputc('"', file);
}

/* The shortest of the usual representations that is read as the same number, in any locale. */
static void write_number(FILE *file, double number)
{
    char text[40];
    if (isnan(number)) {
        fputs("null", file);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        double back = strtod(text, NULL);
        if (back <= number && back >= number) break;
    }
    const char *point = localeconv()->decimal_point;
    char *found = point[0] != '\0' && strcmp(point, ".") != 0 ? strstr(text, point) : NULL;
    if (found != NULL) {
        *found = '.';
        memmove(found + 1, found + strlen(point), strlen(found + strlen(point)) + 1);
    }
    fputs(text, file);
}

static void write_named_number(FILE *file, const char *before, const char *name, double number)
{
    fprintf(file, "%s\"%s\": ", before, name);
    write_number(file, number);
}

static void write_sample(FILE *file, const yoke_sample *sample)
{
    write_named_number(file, "        {", "units", sample->units);
    write_named_number(file, ", ", "frequency_hz", sample->frequency_hz);
    write_named_number(file, ", ", "seconds", sample->seconds);
    write_named_number(file, ", ", "seconds_interval", sample->seconds_interval);
    write_named_number(file, ", ", "joules", sample->joules);
    write_named_number(file, ", ", "joules_interval", sample->joules_interval);
    fprintf(file, ", \"repeats\": %lld, \"rejected\": %lld, \"together\": %s}", (long long)sample->repeats, (long long)sample->rejected,
            sample->together ? "true" : "false");
}

static void write_power(FILE *file, const yoke_store_power *power)
{
    write_named_number(file, "        {", "frequency_hz", power->frequency_hz);
    write_named_number(file, ", ", "idle_power_w", power->idle_power_w);
    write_named_number(file, ", ", "idle_power_interval_w", power->idle_power_interval_w);
    write_named_number(file, ", ", "busy_power_w", power->busy_power_w);
    write_named_number(file, ", ", "busy_power_interval_w", power->busy_power_interval_w);
    write_named_number(file, ", ", "memory_power_w", power->memory_power_w);
    write_named_number(file, ", ", "hosting_power_w", power->hosting_power_w);
    write_named_number(file, ", ", "hosting_power_interval_w", power->hosting_power_interval_w);
    fputs("}", file);
}

static void write_named_text(FILE *file, const char *before, const char *name, const char *text)
{
    fprintf(file, "%s\"%s\": ", before, name);
    write_text(file, text);
}

static void write_entry(FILE *file, const yoke_store_entry *entry)
{
    write_named_text(file, "    {", "work", entry->work);
    write_named_text(file, ",\n      ", "device", entry->device);
    write_named_text(file, ",\n      ", "description", entry->description);
    write_named_text(file, ",\n      ", "kernel", entry->kernel);
    write_named_number(file, ",\n      ", "idle_power_w", entry->idle_power_w);
    write_named_number(file, ", ", "idle_power_interval_w", entry->idle_power_interval_w);
    write_named_number(file, ",\n      ", "busy_power_w", entry->busy_power_w);
    write_named_number(file, ", ", "busy_power_interval_w", entry->busy_power_interval_w);
    write_named_text(file, ",\n      ", "power_kind", yoke_energy_kind_text(entry->power_kind));
    write_named_number(file, ",\n      ", "copy_start_s", entry->copy_start_s);
    write_named_number(file, ", ", "copy_seconds_per_byte", entry->copy_seconds_per_byte);
    if (entry->disturbed > 0) write_named_number(file, ",\n      ", "disturbed", entry->disturbed);
    for (int64_t i = 0; i < entry->num_powers; i++) {
        fputs(i == 0 ? ",\n      \"powers\": [\n" : ",\n", file);
        write_power(file, &entry->powers[i]);
    }
    if (entry->num_powers > 0) fputs("]", file);
    fputs(",\n      \"samples\": [", file);
    for (int64_t i = 0; i < entry->num_samples; i++) {
        fputs(i == 0 ? "\n" : ",\n", file);
        write_sample(file, &entry->samples[i]);
    }
    fputs("] }", file);
}

static void write_store(FILE *file, const yoke_store *store)
{
    fprintf(file, "{ \"format\": %d,\n", STORE_FORMAT);
    write_named_text(file, "  ", "machine", store->machine);
    fputs(",\n  \"entries\": [", file);
    for (int64_t i = 0; i < store->count; i++) {
        fputs(i == 0 ? "\n" : ",\n", file);
        write_entry(file, &store->items[i].entry);
    }
    fputs("] }\n", file);
}

yoke_status yoke_store_text(const yoke_store *store, char **text)
{
    char *written = NULL;
    size_t bytes = 0;
    void *copy = NULL;
    FILE *file = open_memstream(&written, &bytes);
    if (file == NULL) return yoke_fail(store->context, YOKE_ERROR_MEMORY, "out of memory for the text of a store");
    write_store(file, store);
    const int failed = ferror(file);
    yoke_status status = fclose(file) != 0 || failed ? yoke_fail(store->context, YOKE_ERROR_MEMORY, "out of memory for the text of a store")
                                                     : yoke_allocate_untouched(store->context, (int64_t)bytes + 1, 1, &copy);
    if (status == YOKE_OK) *text = memcpy(copy, written, bytes + 1);
    free(written);
    return status;
}

/* ---------------------------------------------------------------------------------------------- the file */

/* Creates a new file in the directory of the path, and writes its name to `name`.  Returns -1 and errno on failure. */
static int open_beside(const char *path, char name[PATH_MAX + STORE_SUFFIX_BYTES])
{
    for (int attempt = 0; attempt < 100; attempt++) {
        snprintf(name, PATH_MAX + STORE_SUFFIX_BYTES, "%s.%ld-%d.part", path, (long)getpid(), attempt);
        int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}

/* Writes the store to an open file, and closes it.  Returns 0, or the system's error. */
static int fill(int descriptor, const yoke_store *store)
{
    FILE *file = fdopen(descriptor, "w");
    if (file == NULL) {
        int error = errno;
        close(descriptor);
        return error;
    }
    errno = 0;
    write_store(file, store);
    int written = fflush(file) == 0 && !ferror(file) && fsync(descriptor) == 0, error = errno;
    if (fclose(file) != 0 && written) return errno;
    return written ? 0 : error != 0 ? error : EIO;
}

/* Replaces the target by a new file.  Returns 0, or the system's error. */
static int replace(const yoke_store *store, const char *target)
{
    char beside[PATH_MAX + STORE_SUFFIX_BYTES], old[PATH_MAX + STORE_SUFFIX_BYTES];
    if (access(target, W_OK) != 0 && errno != ENOENT) return errno; /* rename would replace a file that must not be written */
    int descriptor = open_beside(target, beside);
    if (descriptor < 0) return errno;
    int error = fill(descriptor, store);
    if (error == 0 && store->keep_old) {
        snprintf(old, sizeof old, "%s.bak", target);
        if (rename(target, old) != 0 && errno != ENOENT) error = errno;
    }
    if (error == 0 && rename(beside, target) != 0) error = errno;
    if (error != 0) unlink(beside);
    return error;
}

yoke_status yoke_store_write(yoke_store *store)
{
    char target[PATH_MAX];
    if (store == NULL) return yoke_fail(NULL, YOKE_ERROR_ARGUMENT, "yoke_store_write: store is NULL");
    yoke_status status = yoke_store_lock(store);
    if (status != YOKE_OK) return status;
    int error = store_follow(store, target) ? replace(store, target) : ENAMETOOLONG;
    yoke_store_unlock(store);
    if (error != 0)
        return yoke_fail(store->context, error == ENOMEM ? YOKE_ERROR_MEMORY : YOKE_ERROR_SYSTEM, "the store %s could not be written: %s",
                         store->path, strerror(error));
    store->keep_old = 0;
    for (int64_t i = 0; i < store->count; i++) store->items[i].is_put = 0;
    return YOKE_OK;
}
