#include "common/files/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/files/file.h"

json_t *app_json_number(double number) { return isfinite(number) ? json_real(number) : json_null(); }

json_t *app_json_append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) == 0) return array;
    json_decref(array);
    return NULL;
}

json_t *app_json_numbers(const double *numbers, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++) array = app_json_append(array, app_json_number(numbers[i]));
    return array;
}

double app_json_read_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

bool app_json_read_numbers(const json_t *array, double *numbers, int count)
{
    if (!json_is_array(array) || json_array_size(array) != (size_t)count) return false;
    for (int i = 0; i < count; i++) {
        const json_t *number = json_array_get(array, (size_t)i);
        if (!json_is_number(number) && !json_is_null(number)) return false;
        numbers[i] = json_is_null(number) ? (double)NAN : json_number_value(number);
    }
    return true;
}

json_t *app_json_text(const char *text)
{
    json_t *string = json_string(text);
    if (string != NULL) return string;
    /* The text is not UTF-8 (or there is no memory): keep only ASCII characters. */
    size_t length = strlen(text);
    char *copy = malloc(length + 1);
    if (copy == NULL) return NULL;
    for (size_t i = 0; i <= length; i++) copy[i] = (char)((unsigned char)text[i] < 0x80 ? text[i] : '?');
    string = json_string(copy);
    free(copy);
    return string;
}

json_t *app_json_texts(const char *const *texts, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++) array = app_json_append(array, app_json_text(texts[i]));
    return array;
}

json_t *app_json_date(void)
{
    char text[32];
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) == NULL || strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0) return json_null();
    return json_string(text);
}

yoke_status app_record_create(yoke_context *context, const char *program, int argc, char **argv, json_t **record)
{
    char *machine = NULL;
    yoke_status status = yoke_describe(context, 1, &machine);
    if (status != YOKE_OK) return status;
    json_t *created = json_pack("{s:s, s:s, s:o, s:o, s:o}", "program", program, "version", yoke_version(), "date", app_json_date(),
                                "command", app_json_texts((const char *const *)argv, argc), "machine", json_loads(machine, 0, NULL));
    yoke_release(context, machine);
    if (created == NULL) return yoke_fail(context, YOKE_ERROR_MEMORY, "out of memory for the run record");
    *record = created;
    return YOKE_OK;
}

yoke_status app_record_set(yoke_context *context, json_t *record, const char *key, json_t *value)
{
    if (json_object_set_new(record, key, value) != 0)
        return yoke_fail(context, YOKE_ERROR_MEMORY, "out of memory for %s of the run record", key);
    return YOKE_OK;
}

yoke_status app_record_write(yoke_context *context, const json_t *record, const char *path)
{
    app_file *file = NULL;
    yoke_status status = app_file_create(context, path, &file);
    if (status != YOKE_OK) return status;
    FILE *stream = app_file_stream(file);
    /* A failed write sets the error indicator of the stream; otherwise the failure is lack of memory. */
    if (json_dumpf(record, stream, JSON_INDENT(2)) != 0 && !ferror(stream)) {
        app_file_abandon(file);
        return yoke_fail(context, YOKE_ERROR_MEMORY, "out of memory to write %s", path);
    }
    fputc('\n', stream);
    return app_file_commit(file);
}
