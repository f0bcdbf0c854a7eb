#include "base/json_keys.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"

/* ------------------------------------------------------------------------------------------------ the place */

static size_t enter(yoke_json_reader *reader, const char *step)
{
    size_t outer = strlen(reader->pointer);
    snprintf(reader->pointer + outer, sizeof reader->pointer - outer, "/%s", step);
    return outer;
}

size_t yoke_json_enter(yoke_json_reader *reader, const char *name)
{
    char step[96];
    size_t used = 0;
    /*
     * Characters of a name that a pointer may not have are escaped (RFC 6901); control characters, which a terminal obeys, are not shown.
     */
    for (const char *c = name; *c != '\0' && used + 3 < sizeof step; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte == '~' || byte == '/') {
            step[used++] = '~';
            step[used++] = byte == '~' ? '0' : '1';
        } else
            step[used++] = byte < ' ' || byte == 0x7f ? '?' : *c;
    }
    step[used] = '\0';
    return enter(reader, step);
}

size_t yoke_json_enter_item(yoke_json_reader *reader, int64_t index)
{
    char step[24];
    snprintf(step, sizeof step, "%lld", (long long)index);
    return enter(reader, step);
}

void yoke_json_leave(yoke_json_reader *reader, size_t outer) { reader->pointer[outer] = '\0'; }

yoke_status yoke_json_fail(const yoke_json_reader *reader, const char *format, ...)
{
    char text[YOKE_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    yoke_format_text(text, format, arguments);
    va_end(arguments);
    return yoke_fail(reader->context, YOKE_ERROR_INPUT, "%s: %s%s%s", reader->file, reader->pointer, reader->pointer[0] != '\0' ? ": " : "",
                     text);
}

/* Makes a text that can be shown: shortened, and without control characters, which a terminal obeys. */
static void show_text(const char *text, char shown[64])
{
    int length = snprintf(shown, 64, "the text \"%.40s\"%s", text, strlen(text) > 40 ? "..." : "");
    for (int i = 0; i < length; i++)
        if ((unsigned char)shown[i] < ' ' || shown[i] == 0x7f) shown[i] = '?';
}

static const char *show(const json_t *value, char shown[64])
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return json_object_size(value) == 0 ? "an empty object" : "an object";
    case JSON_ARRAY:
        snprintf(shown, 64, "an array of %zu", json_array_size(value));
        return json_array_size(value) == 0 ? "an empty array" : shown;
    case JSON_STRING:
        show_text(json_string_value(value), shown);
        return shown;
    case JSON_INTEGER:
        snprintf(shown, 64, "%lld", (long long)json_integer_value(value));
        return shown;
    case JSON_REAL:
        snprintf(shown, 64, "%.17g", json_real_value(value));
        return shown;
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        break;
    }
    return "null";
}

yoke_status yoke_json_expected(const yoke_json_reader *reader, const char *expected, const json_t *found)
{
    char shown[64];
    return yoke_json_fail(reader, "expected %s, found %s", expected, show(found, shown));
}

/* ------------------------------------------------------------------------------------------- single values */

yoke_status yoke_json_read_number(const yoke_json_reader *reader, const json_t *value, double least, double most, double *number)
{
    char expected[80];
    double found = json_is_number(value) ? json_number_value(value) : NAN;
    if (found >= least && found <= most) {
        *number = found;
        return YOKE_OK;
    }
    snprintf(expected, sizeof expected, "a number from %g to %g", least, most);
    return yoke_json_expected(reader, expected, value);
}

static yoke_status read_count(const yoke_json_reader *reader, const yoke_json_key *key, const json_t *value, int64_t *count)
{
    char expected[80];
    double found = json_is_number(value) ? json_number_value(value) : NAN;
    /* As a double, an integer next to a limit of more than 53 bits becomes the limit, so it is also compared as an integer. */
    int64_t whole = json_is_integer(value)                      ? (int64_t)json_integer_value(value)
                    : found >= key->least && found <= key->most ? (int64_t)found
                                                                : 0;
    if (found >= key->least && found <= key->most && floor(found) == found && whole <= (int64_t)key->most) {
        *count = whole;
        return YOKE_OK;
    }
    snprintf(expected, sizeof expected, "a whole number from %.0f to %.0f", key->least, key->most);
    return yoke_json_expected(reader, expected, value);
}

yoke_status yoke_json_read_text(const yoke_json_reader *reader, const json_t *value, size_t least, size_t most, const char **text)
{
    if (!json_is_string(value)) return yoke_json_expected(reader, "a text", value);
    const char *found = json_string_value(value);
    size_t length = json_string_length(value);
    if (length < least || length > most)
        return yoke_json_fail(reader, "expected a text of %zu to %zu bytes, found %zu", least, most, length);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)found[i] < ' ' || found[i] == 0x7f)
            return yoke_json_fail(reader, "expected a text of one line, found the control character %d", found[i]);
    *text = found;
    return YOKE_OK;
}

static yoke_status copy_text(const yoke_json_reader *reader, const yoke_json_key *key, const json_t *value, char *member)
{
    const char *text = NULL;
    yoke_status status = yoke_json_read_text(reader, value, (size_t)key->least, (size_t)key->most, &text);
    if (status == YOKE_OK) strcpy(member, text);
    return status;
}

static yoke_status read_value(yoke_json_reader *reader, const yoke_json_key *key, const json_t *value, char *member)
{
    switch (key->kind) {
    case YOKE_JSON_NUMBER:
        if (key->nullable && json_is_null(value)) {
            *(double *)(void *)member = NAN;
            return YOKE_OK;
        }
        return yoke_json_read_number(reader, value, key->least, key->most, (double *)(void *)member);
    case YOKE_JSON_COUNT:
        if (key->nullable && json_is_null(value)) return YOKE_OK;
        return read_count(reader, key, value, (int64_t *)(void *)member);
    case YOKE_JSON_FLAG:
        if (!json_is_boolean(value)) return yoke_json_expected(reader, "true or false", value);
        *(int *)(void *)member = json_is_true(value);
        return YOKE_OK;
    case YOKE_JSON_TEXT:
        return copy_text(reader, key, value, member);
    case YOKE_JSON_OTHER:
        break;
    }
    return key->read(reader, value, member);
}

/* ------------------------------------------------------------------------------------------------- objects */

static int least_of(int a, int b) { return a < b ? a : b; }

/*
 * Number of letters that must be changed, added, left out or exchanged with their neighbours to make one word of the other.  Both words
 * have fewer than 32 letters.
 */
static int letters_between(const char *a, const char *b)
{
    int rows[3][33], *before = rows[0], *last = rows[1], *now = rows[2];
    size_t na = strlen(a), nb = strlen(b);
    for (size_t j = 0; j <= nb; j++) before[j] = last[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        now[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            now[j] = least_of(last[j - 1] + (a[i - 1] != b[j - 1]), 1 + least_of(last[j], now[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = least_of(now[j], before[j - 2] + 1);
        }
        int *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[nb];
}

static const char *nearest(const yoke_json_key *keys, int count, const char *name)
{
    const char *found = NULL;
    if (strlen(name) > 31) return NULL;
    int best = 1 + ((int)strlen(name) + 2) / 3;
    for (int i = 0; i < count; i++) {
        int letters = strlen(keys[i].name) > 31 ? best : letters_between(name, keys[i].name);
        if (letters < best) {
            best = letters;
            found = keys[i].name;
        }
    }
    return found;
}

static yoke_status fail_unknown(yoke_json_reader *reader, const yoke_json_key *keys, int count, const char *name)
{
    char names[512] = "";
    const char *meant = nearest(keys, count, name);
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", keys[i].name);
    yoke_json_enter(reader, name);
    if (meant != NULL) return yoke_json_fail(reader, "there is no such key here; did you mean \"%s\"? (there are: %s)", meant, names);
    return yoke_json_fail(reader, "there is no such key here; there are: %s", names);
}

static const yoke_json_key *find_key(const yoke_json_key *keys, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(keys[i].name, name) == 0) return &keys[i];
    return NULL;
}

yoke_status yoke_json_read_object(yoke_json_reader *reader, const yoke_json_key *keys, int count, const json_t *document, void *object)
{
    const char *name;
    const json_t *value;
    if (!json_is_object(document)) return yoke_json_expected(reader, "an object {...}", document);
    /* jansson's loop requires an object that is not const, though it does not change it. */
    json_object_foreach ((json_t *)(uintptr_t)document, name, value) {
        const yoke_json_key *key = find_key(keys, count, name);
        if (key == NULL) return fail_unknown(reader, keys, count, name);
        size_t outer = yoke_json_enter(reader, name);
        yoke_status status = read_value(reader, key, value, (char *)object + key->offset);
        if (status != YOKE_OK) return status;
        yoke_json_leave(reader, outer);
    }
    for (int i = 0; i < count; i++)
        if (keys[i].required && json_object_get(document, keys[i].name) == NULL) {
            yoke_json_enter(reader, keys[i].name);
            return yoke_json_fail(reader, "this key is missing");
        }
    return YOKE_OK;
}
