/* Texts of messages: quotes untrusted input, names places, lists names. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/case/yaml.h"
#include "common/console/nearest.h"

#define NAMES_SHOWN 24

void app_append(char *out, size_t size, const char *format, ...)
{
    size_t used = strlen(out);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(out + used, size - used, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length >= size - used && size >= 4) memcpy(out + size - 4, "...", 4);
}

const char *app_quote(const char *text, char out[APP_QUOTED])
{
    size_t length = strlen(text), shown = length;
    if (length > 60) {
        shown = 60;
        while (shown > 0 && ((unsigned char)text[shown] & 0xC0) == 0x80) shown--;
    }
    size_t end = 0;
    out[end++] = '\'';
    for (size_t i = 0; i < shown; i++) {
        unsigned char c = (unsigned char)text[i];
        out[end++] = c < 32 || c == 127 ? '?' : text[i];
    }
    snprintf(out + end, APP_QUOTED - end, "%s'", shown < length ? "..." : "");
    return out;
}

void app_append_names(char *out, size_t size, const char *items, const char *word, const char *const *names, int num_names)
{
    char quoted[APP_QUOTED];
    app_append(out, size, "; %s that exist: ", items);
    for (int i = 0; i < num_names && i < NAMES_SHOWN; i++) {
        app_quote(names[i], quoted);
        app_append(out, size, "%s%.*s", i > 0 ? ", " : "", (int)strlen(quoted) - 2, quoted + 1);
    }
    if (num_names == 0) app_append(out, size, "none");
    if (num_names > NAMES_SHOWN) app_append(out, size, " and %d more", num_names - NAMES_SHOWN);
    const char *nearest = app_nearest(word, num_names, names);
    if (nearest != NULL) app_append(out, size, "; did you mean %s?", app_quote(nearest, quoted));
}
