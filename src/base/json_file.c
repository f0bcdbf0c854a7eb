/* Reads JSON files within limits, and writes them completely or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_keys.h"

enum { MAX_VALUES = 10000000, FIRST_BYTES = 1 << 16 };

/* ------------------------------------------------------------------------------------------------- reading */

static yoke_status fail_to_read(yoke_context *context, const char *path, int error)
{
    return yoke_fail(context, YOKE_ERROR_INPUT, "%s: the file cannot be read: %s", path, strerror(error));
}

static yoke_status fail_as_large(yoke_context *context, const char *path)
{
    return yoke_fail(context, YOKE_ERROR_INPUT, "%s: the file is too large; expected at most %d MiB", path, YOKE_JSON_MAX_BYTES >> 20);
}

/* Doubles the memory, to at most one byte more than a file may have, by which a file that is too large is recognised. */
static yoke_status grow(yoke_context *context, char **text, size_t used, size_t *room)
{
    void *larger = NULL;
    size_t wanted = *room == 0 ? FIRST_BYTES : 2 * *room;
    if (wanted > YOKE_JSON_MAX_BYTES + (size_t)1) wanted = YOKE_JSON_MAX_BYTES + (size_t)1;
    yoke_status status = yoke_allocate_untouched(context, (int64_t)wanted, 1, &larger);
    if (status != YOKE_OK) return status;
    if (used > 0) memcpy(larger, *text, used);
    yoke_release(context, *text);
    *text = larger;
    *room = wanted;
    return YOKE_OK;
}

static yoke_status read_all(yoke_context *context, const char *path, int descriptor, char **text, size_t *length)
{
    size_t room = 0;
    yoke_status status = YOKE_OK;
    *length = 0;
    while (status == YOKE_OK) {
        if (*length > YOKE_JSON_MAX_BYTES) return fail_as_large(context, path);
        if (*length == room) status = grow(context, text, *length, &room);
        if (status != YOKE_OK) return status;
        ssize_t got = read(descriptor, *text + *length, room - *length);
        if (got < 0 && errno != EINTR) return fail_to_read(context, path, errno);
        if (got == 0) break;
        if (got > 0) *length += (size_t)got;
    }
    return status;
}

static yoke_status open_and_read(yoke_context *context, const char *path, char **text, size_t *length)
{
    struct stat found;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0) return fail_to_read(context, path, errno);
    yoke_status status = YOKE_OK;
    if (fstat(descriptor, &found) != 0)
        status = fail_to_read(context, path, errno);
    else if (S_ISREG(found.st_mode) && found.st_size > YOKE_JSON_MAX_BYTES)
        status = fail_as_large(context, path);
    else
        status = read_all(context, path, descriptor, text, length);
    close(descriptor);
    return status;
}

/*
 * Counts the marks , [ and {.  There is at most one value more than there are marks.  Values take up to a hundred times the memory of their
 * text.
 */
static int64_t count_marks(const char *text, size_t length)
{
    int64_t marks = 0;
    for (size_t i = 0; i < length; i++) marks += text[i] == ',' || text[i] == '[' || text[i] == '{';
    return marks;
}

yoke_status yoke_json_parse(yoke_context *context, const char *name, const char *text, size_t length, json_t **document)
{
    json_error_t error;
    if (length > YOKE_JSON_MAX_BYTES) return fail_as_large(context, name);
    if (count_marks(text, length) > MAX_VALUES)
        return yoke_fail(context, YOKE_ERROR_INPUT, "%s: there are too many values in the file; expected at most %d", name, MAX_VALUES);
    json_t *parsed = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (parsed != NULL) {
        *document = parsed;
        return YOKE_OK;
    }
    if (json_error_code(&error) == json_error_out_of_memory) return yoke_fail(context, YOKE_ERROR_MEMORY, "%s: out of memory", name);
    for (char *c = error.text; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = ' ';
    return yoke_fail(context, YOKE_ERROR_INPUT, "%s:%d:%d: this is not JSON: %s", name, error.line > 0 ? error.line : 1,
                     error.column > 0 ? error.column : 1, error.text);
}

yoke_status yoke_json_load(yoke_context *context, const char *path, json_t **document)
{
    char *text = NULL;
    size_t length = 0;
    yoke_status status = open_and_read(context, path, &text, &length);
    if (status == YOKE_OK) status = yoke_json_parse(context, path, text, length, document);
    yoke_release(context, text);
    return status;
}

/* ------------------------------------------------------------------------------------------------- writing */

static yoke_status write_all(int descriptor, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t done = write(descriptor, text, length);
        if (done < 0 && errno != EINTR) return YOKE_ERROR_SYSTEM;
        if (done > 0) {
            text += done;
            length -= (size_t)done;
        }
    }
    return YOKE_OK;
}

yoke_status yoke_json_save(yoke_context *context, json_t *document, const char *path)
{
    char *text = NULL;
    yoke_file *file = NULL;
    yoke_status status = yoke_json_text(context, document, &text);
    if (status == YOKE_OK) status = yoke_file_create(context, path, &file);
    if (status == YOKE_OK && write_all(file->descriptor, text, strlen(text)) != YOKE_OK) {
        status = yoke_fail(context, YOKE_ERROR_SYSTEM, "%s could not be written: %s", path, strerror(errno));
        yoke_file_close(file, 0);
    } else if (status == YOKE_OK)
        status = yoke_file_close(file, 1);
    yoke_release(context, text);
    return status;
}
