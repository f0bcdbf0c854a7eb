/* Lists the values of a filled struct as strings by key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/case/schema.h"

typedef struct walk {
    app_schema_value *tell;
    void *user;
    char path[256];
} walk;

static void tell_map(walk *w, const app_key *keys, const char *target);

/* Uses the fewest digits that identify the number. */
static void append_number(double value, char *text, size_t size)
{
    char digits[32];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value) break;
    }
    app_append(text, size, "%s", digits);
}

static void tell_vector(walk *w, const app_vector *vector)
{
    char text[128] = "[";
    if (isnan(vector->value[0]) && isnan(vector->value[1]) && isnan(vector->value[2]) && !app_given(vector->place)) return;
    for (int i = 0; i < 3; i++) {
        if (i > 0) app_append(text, sizeof text, ", ");
        if (isnan(vector->value[i]))
            app_append(text, sizeof text, "free");
        else
            append_number(vector->value[i], text, sizeof text);
    }
    app_append(text, sizeof text, "]");
    w->tell(w->path, text, w->user);
}

static void tell_maps(walk *w, const app_key *key, const char *at)
{
    typedef APP_LIST(char) any_list; /* the layout is the same for items of any type */
    const any_list *list = (const any_list *)(const void *)at;
    const size_t length = strlen(w->path);
    for (int i = 0; i < list->count; i++) {
        app_append(w->path, sizeof w->path, "[%d]", i);
        tell_map(w, key->keys, list->items + (size_t)i * key->size);
        w->path[length] = '\0';
    }
}

static void tell_value(walk *w, const app_key *key, const char *at)
{
    char text[32] = "";
    switch (key->type) {
    case APP_TEXT: {
        const char *value = ((const app_text *)(const void *)at)->value;
        if (value != NULL) w->tell(w->path, value, w->user);
        return;
    }
    case APP_NUMBER: {
        const double value = ((const app_number *)(const void *)at)->value;
        append_number(value, text, sizeof text);
        if (!isnan(value)) w->tell(w->path, text, w->user);
        return;
    }
    case APP_CHOICE:
        w->tell(w->path, key->choices[((const app_integer *)(const void *)at)->value], w->user);
        return;
    case APP_INTEGER:
    case APP_CHOICES:
        snprintf(text, sizeof text, "%lld", (long long)((const app_integer *)(const void *)at)->value);
        w->tell(w->path, text, w->user);
        return;
    case APP_VECTOR:
    case APP_FREE_VECTOR:
        tell_vector(w, (const app_vector *)(const void *)at);
        return;
    case APP_MAP:
        tell_map(w, key->keys, at);
        return;
    case APP_MAPS:
        tell_maps(w, key, at);
    }
}

static void tell_map(walk *w, const app_key *keys, const char *target)
{
    const size_t length = strlen(w->path);
    for (const app_key *key = keys; key->name != NULL; key++) {
        app_append(w->path, sizeof w->path, "%s%s", length > 0 ? "." : "", key->name);
        tell_value(w, key, target + key->offset);
        w->path[length] = '\0';
    }
}

void app_schema_values(const app_key *keys, const void *target, app_schema_value *tell, void *user)
{
    walk w = {.tell = tell, .user = user};
    tell_map(&w, keys, target);
}
