/* Writes the text of a store to its file. */
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
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

/* Writes the store to the open file.  Returns 0, or the system's error. */
static int fill(const yoke_store *store, const yoke_file *open_file)
{
    const int descriptor = dup(open_file->descriptor);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (file == NULL) {
        const int error = errno;
        if (descriptor >= 0) close(descriptor);
        return error;
    }
    errno = 0;
    write_store(file, store);
    const int written = fflush(file) == 0 && !ferror(file), error = errno;
    if (fclose(file) != 0 && written) return errno;
    return written ? 0 : error != 0 ? error : EIO;
}

/* Keeps the file of another machine or another program beside the new one.  Returns 0, or the system's error. */
static int keep_old(const yoke_file *file)
{
    char old[PATH_MAX + YOKE_FILE_SUFFIX_BYTES];
    snprintf(old, sizeof old, "%s.bak", file->path);
    return rename(file->path, old) == 0 || errno == ENOENT ? 0 : errno;
}

static yoke_status replace(const yoke_store *store)
{
    yoke_file *file = NULL;
    yoke_status status = yoke_file_create(store->context, store->path, &file);
    if (status != YOKE_OK) return status;
    int error = fill(store, file);
    if (error == 0 && store->keep_old) error = keep_old(file);
    if (error == 0) return yoke_file_close(file, 1);
    yoke_file_close(file, 0);
    return yoke_fail(store->context, error == ENOMEM ? YOKE_ERROR_MEMORY : YOKE_ERROR_SYSTEM, "%s could not be written: %s", store->path,
                     strerror(error));
}

yoke_status yoke_store_write(yoke_store *store)
{
    if (store == NULL) return yoke_fail(NULL, YOKE_ERROR_ARGUMENT, "yoke_store_write: store is NULL");
    yoke_status status = yoke_store_lock(store);
    if (status != YOKE_OK) return status;
    status = replace(store);
    yoke_store_unlock(store);
    if (status != YOKE_OK) return status == YOKE_ERROR_INPUT ? YOKE_ERROR_SYSTEM : status;
    store->keep_old = 0;
    for (int64_t i = 0; i < store->count; i++) store->items[i].is_put = 0;
    return YOKE_OK;
}
