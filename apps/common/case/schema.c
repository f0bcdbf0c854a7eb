/* Fills structs from a YAML tree according to a table of keys. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/case/schema.h"

#define MAX_KEYS 64

typedef struct reader {
    app_yaml *yaml;
    bool defaults;  /* the value being read is a default, which has no place */
    char path[256]; /* path of the value being read, as in messages: materials[0].density */
} reader;

static yoke_status read_map(reader *run, const app_yaml_node *node, const app_key *keys, void *target);

static app_place place_of(const reader *run, const app_yaml_node *node) { return run->defaults ? (app_place){0} : node->place; }

/* ------------------------------------------------------------------------------------------ texts */

/* Writes " > 0", " in (-1, 0.5)", or nothing. */
static const char *range_text(const app_range *range, char *out, size_t size)
{
    out[0] = '\0';
    if (range == NULL || (isinf(range->low) && isinf(range->high))) return out;
    if (isinf(range->high))
        snprintf(out, size, " %s %.10g", range->low_open ? ">" : ">=", range->low);
    else if (isinf(range->low))
        snprintf(out, size, " %s %.10g", range->high_open ? "<" : "<=", range->high);
    else
        snprintf(out, size, " in %c%.10g, %.10g%c", range->low_open ? '(' : '[', range->low, range->high, range->high_open ? ')' : ']');
    return out;
}

/* Describes what a key expects: "a finite number in Pa > 0". */
static const char *expectation(const app_key *key, char *out, size_t size)
{
    static const char *const texts[] = {
        [APP_TEXT] = "a text",
        [APP_NUMBER] = "a finite number",
        [APP_INTEGER] = "an integer",
        [APP_CHOICE] = "one of",
        [APP_CHOICES] = "a list of some of",
        [APP_VECTOR] = "a list of three finite numbers [x, y, z]",
        [APP_FREE_VECTOR] = "a list of three, each a finite number or the word free,",
        [APP_MAP] = "a map with keys",
        [APP_MAPS] = "a list of maps",
    };
    char range[80];
    snprintf(out, size, "%s", texts[key->type]);
    for (int i = 0; key->choices != NULL && key->choices[i] != NULL; i++)
        app_append(out, size, "%s%s", i > 0 ? ", " : " ", key->choices[i]);
    if (key->unit != NULL) app_append(out, size, " in %s", key->unit);
    app_append(out, size, "%s", range_text(key->range, range, sizeof range));
    return out;
}

static bool is_nothing(const app_yaml_node *node)
{
    return node->kind == APP_YAML_TEXT && !node->quoted &&
           (node->text[0] == '\0' || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

/* Fails because the node does not have the type that the key expects. */
static yoke_status fail_of_type(const reader *run, const app_key *key, const app_yaml_node *node)
{
    char expected[512], quoted[APP_QUOTED];
    const char *what = node->kind == APP_YAML_LIST ? "a list" : node->kind == APP_YAML_MAP ? "a map" : app_quote(node->text, quoted);
    expectation(key, expected, sizeof expected);
    if (is_nothing(node)) return app_yaml_fail(run->yaml, node->place, "%s has no value; expected %s", run->path, expected);
    return app_yaml_fail(run->yaml, node->place, "%s must be %s, not %s%s", run->path, expected, what,
                         node->kind == APP_YAML_TEXT && node->quoted ? " in quotes" : "");
}

/* ------------------------------------------------------------------------------------------ values */

typedef enum number_result { NUMBER_GOOD, NUMBER_NONE, NUMBER_RANGE } number_result;

/*
 * Accepts decimal digits with an optional sign, point and exponent, and nothing after them: no hexadecimal number, no inf, no nan, no "_".
 */
static number_result parse_number(const char *text, double *value)
{
    const char *at = text + (*text == '+' || *text == '-');
    size_t whole = strspn(at, "0123456789"), part = 0;
    at += whole;
    if (*at == '.') {
        part = strspn(at + 1, "0123456789");
        at += 1 + part;
    }
    if (whole + part == 0) return NUMBER_NONE;
    if (*at == 'e' || *at == 'E') {
        at += 1 + (at[1] == '+' || at[1] == '-');
        size_t digits = strspn(at, "0123456789");
        if (digits == 0) return NUMBER_NONE;
        at += digits;
    }
    if (*at != '\0') return NUMBER_NONE;
    errno = 0;
    char *end;
    *value = strtod(text, &end);
    if (end != at) /* the locale has another decimal point */
        return NUMBER_NONE;
    return errno == ERANGE || !isfinite(*value) ? NUMBER_RANGE : NUMBER_GOOD;
}

static bool inside(const app_range *range, double value)
{
    if (range == NULL) return true;
    return (range->low_open ? value > range->low : value >= range->low) && (range->high_open ? value < range->high : value <= range->high);
}

static yoke_status fail_of_range(const reader *run, const app_key *key, const app_yaml_node *node)
{
    char range[80], quoted[APP_QUOTED];
    return app_yaml_fail(run->yaml, node->place, "%s is %s; it must be%s", run->path, app_quote(node->text, quoted),
                         range_text(key->range, range, sizeof range));
}

static yoke_status read_number(reader *run, const app_key *key, const app_yaml_node *node, double *value)
{
    char quoted[APP_QUOTED];
    if (node->kind != APP_YAML_TEXT || node->quoted || is_nothing(node)) return fail_of_type(run, key, node);
    number_result result = parse_number(node->text, value);
    if (result == NUMBER_NONE) return fail_of_type(run, key, node);
    if (result == NUMBER_RANGE)
        return app_yaml_fail(run->yaml, node->place, "%s is %s, which is outside the range of double precision", run->path,
                             app_quote(node->text, quoted));
    return inside(key->range, *value) ? YOKE_OK : fail_of_range(run, key, node);
}

static yoke_status read_integer(reader *run, const app_key *key, const app_yaml_node *node, int64_t *value)
{
    if (node->kind != APP_YAML_TEXT || node->quoted || is_nothing(node)) return fail_of_type(run, key, node);
    const char *digits = node->text + (*node->text == '+' || *node->text == '-');
    if (*digits == '\0' || strspn(digits, "0123456789") != strlen(digits)) return fail_of_type(run, key, node);
    char quoted[APP_QUOTED];
    errno = 0;
    long long parsed = strtoll(node->text, NULL, 10);
    if (errno == ERANGE)
        return app_yaml_fail(run->yaml, node->place, "%s is %s, which is outside the range of 64-bit integers", run->path,
                             app_quote(node->text, quoted));
    *value = parsed;
    return inside(key->range, (double)parsed) ? YOKE_OK : fail_of_range(run, key, node);
}

static yoke_status read_vector(reader *run, const app_key *key, const app_yaml_node *node, app_vector *vector)
{
    if (node->kind != APP_YAML_LIST) return fail_of_type(run, key, node);
    if (node->count != 3)
        return app_yaml_fail(run->yaml, node->place, "%s has %d components; three are needed: [x, y, z]", run->path, node->count);
    size_t length = strlen(run->path);
    for (int i = 0; i < 3; i++) {
        const app_yaml_node *item = node->items[i];
        vector->value[i] = NAN;
        if (key->type == APP_FREE_VECTOR && item->kind == APP_YAML_TEXT && !item->quoted && strcmp(item->text, "free") == 0) continue;
        app_append(run->path, sizeof run->path, "[%d]", i);
        app_key component = *key;
        if (key->type == APP_VECTOR) component.type = APP_NUMBER;
        yoke_status status = read_number(run, &component, item, &vector->value[i]);
        if (status != YOKE_OK) return status;
        run->path[length] = '\0';
        vector->mask |= 1u << i;
    }
    return YOKE_OK;
}

static int count_choices(const app_key *key)
{
    int count = 0;
    while (key->choices[count] != NULL) count++;
    return count;
}

static yoke_status read_choice(reader *run, const app_key *key, const app_yaml_node *node, int64_t *choice)
{
    if (node->kind != APP_YAML_TEXT || is_nothing(node)) return fail_of_type(run, key, node);
    for (int i = 0; key->choices[i] != NULL; i++)
        if (strcmp(key->choices[i], node->text) == 0) {
            *choice = i;
            return YOKE_OK;
        }
    char text[1024], quoted[APP_QUOTED];
    snprintf(text, sizeof text, "%s is %s, which is not known", run->path, app_quote(node->text, quoted));
    app_append_names(text, sizeof text, "values", node->text, key->choices, count_choices(key));
    return app_yaml_fail(run->yaml, node->place, "%s", text);
}

static yoke_status read_choices(reader *run, const app_key *key, const app_yaml_node *node, int64_t *set)
{
    if (node->kind != APP_YAML_LIST) return fail_of_type(run, key, node);
    for (int i = 0; i < node->count; i++) {
        int64_t choice = 0;
        yoke_status status = read_choice(run, key, node->items[i], &choice);
        if (status != YOKE_OK) return status;
        if ((*set >> choice & 1) != 0)
            return app_yaml_fail(run->yaml, node->items[i]->place, "%s names '%s' twice", run->path, key->choices[choice]);
        *set |= (int64_t)1 << choice;
    }
    return YOKE_OK;
}

static yoke_status read_text(reader *run, const app_key *key, const app_yaml_node *node, const char **value)
{
    if (node->kind != APP_YAML_TEXT || is_nothing(node)) return fail_of_type(run, key, node);
    if (node->text[0] == '\0') return app_yaml_fail(run->yaml, node->place, "%s is an empty text", run->path);
    *value = node->text;
    return YOKE_OK;
}

static yoke_status read_maps(reader *run, const app_key *key, const app_yaml_node *node, char *target)
{
    typedef APP_LIST(void) any_list; /* the layout is the same for items of any type */
    if (node->kind != APP_YAML_LIST) return fail_of_type(run, key, node);
    if (node->count > APP_SCHEMA_ITEMS)
        return app_yaml_fail(run->yaml, node->place, "%s has %d items; at most %d are read", run->path, node->count, APP_SCHEMA_ITEMS);
    if (key->required && node->count == 0)
        return app_yaml_fail(run->yaml, node->place, "%s is an empty list; at least one item is needed", run->path);
    any_list list = {.place = place_of(run, node), .count = node->count};
    yoke_status status = app_yaml_allocate(run->yaml, node->count, key->size, &list.items);
    size_t length = strlen(run->path);
    for (int i = 0; i < node->count && status == YOKE_OK; i++) {
        app_append(run->path, sizeof run->path, "[%d]", i);
        status = read_map(run, node->items[i], key->keys, (char *)list.items + (size_t)i * key->size);
        run->path[length] = '\0';
    }
    memcpy(target, &list, sizeof list);
    return status;
}

/* Reads the value of one key into the struct that holds it. */
static yoke_status read_value(reader *run, const app_key *key, const app_yaml_node *node, void *target)
{
    char *at = (char *)target + key->offset;
    app_place place = place_of(run, node);
    switch (key->type) {
    case APP_TEXT:
        ((app_text *)(void *)at)->place = place;
        return read_text(run, key, node, &((app_text *)(void *)at)->value);
    case APP_NUMBER:
        ((app_number *)(void *)at)->place = place;
        return read_number(run, key, node, &((app_number *)(void *)at)->value);
    case APP_VECTOR:
    case APP_FREE_VECTOR:
        ((app_vector *)(void *)at)->place = place;
        return read_vector(run, key, node, (app_vector *)(void *)at);
    case APP_MAP:
        return node->kind == APP_YAML_MAP ? read_map(run, node, key->keys, at) : fail_of_type(run, key, node);
    case APP_MAPS:
        return read_maps(run, key, node, at);
    default:
        break;
    }
    app_integer *integer = (app_integer *)(void *)at;
    integer->place = place;
    if (key->type == APP_INTEGER) return read_integer(run, key, node, &integer->value);
    return key->type == APP_CHOICE ? read_choice(run, key, node, &integer->value) : read_choices(run, key, node, &integer->value);
}

/* ------------------------------------------------------------------------------------------ maps */

static int list_names(const app_key *keys, const char *names[MAX_KEYS])
{
    int count = 0;
    while (keys[count].name != NULL && count < MAX_KEYS) {
        names[count] = keys[count].name;
        count++;
    }
    return count;
}

static yoke_status fail_of_key(const reader *run, const app_key *keys, const app_yaml_node *key)
{
    const char *names[MAX_KEYS];
    int count = list_names(keys, names);
    char text[1024], quoted[APP_QUOTED];
    snprintf(text, sizeof text, "unknown key %s in %s", app_quote(key->text, quoted), run->path[0] != '\0' ? run->path : "the case");
    app_append_names(text, sizeof text, "keys", key->text, names, count);
    return app_yaml_fail(run->yaml, key->place, "%s", text);
}

/* Sets the default of a key that is not given. */
static yoke_status read_default(reader *run, const app_key *key, const app_yaml_node *map, void *target)
{
    if (key->required && !run->defaults) /* if a map is not given, its keys are not required */
        return app_yaml_fail(run->yaml, map->place, "%s lacks the key '%s': %s", run->path[0] != '\0' ? run->path : "the case", key->name,
                             key->meaning);
    const app_yaml_node nothing = {.kind = APP_YAML_MAP};
    app_yaml_node *node;
    bool before = run->defaults;
    yoke_status status = YOKE_OK;
    run->defaults = true;
    if (key->type == APP_MAP) {
        status = read_map(run, &nothing, key->keys, (char *)target + key->offset);
    } else if (key->standard != NULL) {
        status = app_yaml_value(run->yaml, key->standard, &node);
        if (status == YOKE_OK) status = read_value(run, key, node, target);
    } else if (key->type == APP_NUMBER) {
        ((app_number *)(void *)((char *)target + key->offset))->value = NAN;
    } else if (key->type == APP_VECTOR || key->type == APP_FREE_VECTOR) {
        app_vector *vector = (app_vector *)(void *)((char *)target + key->offset);
        vector->value[0] = vector->value[1] = vector->value[2] = NAN;
    }
    run->defaults = before;
    return status;
}

static yoke_status read_map(reader *run, const app_yaml_node *node, const app_key *keys, void *target)
{
    const app_yaml_node *seen[MAX_KEYS] = {NULL};
    char quoted[APP_QUOTED];
    if (node->kind != APP_YAML_MAP)
        return app_yaml_fail(run->yaml, node->place, "%s must be a map {key: value, ...}, not %s",
                             run->path[0] != '\0' ? run->path : "the case",
                             node->kind == APP_YAML_LIST ? "a list" : app_quote(node->text, quoted));
    app_place place = place_of(run, node);
    memcpy(target, &place, sizeof place);
    size_t length = strlen(run->path);
    for (int i = 0; i < node->count; i++) {
        int k = 0;
        while (keys[k].name != NULL && strcmp(keys[k].name, node->keys[i]->text) != 0) k++;
        if (keys[k].name == NULL) return fail_of_key(run, keys, node->keys[i]);
        app_append(run->path, sizeof run->path, "%s%s", length > 0 ? "." : "", keys[k].name);
        if (seen[k] != NULL)
            return app_yaml_fail(run->yaml, node->keys[i]->place, "%s is given twice (first at line %d)", run->path, seen[k]->place.line);
        seen[k] = node->keys[i];
        yoke_status status = read_value(run, &keys[k], node->items[i], target);
        if (status != YOKE_OK) return status;
        run->path[length] = '\0';
    }
    yoke_status status = YOKE_OK;
    for (int k = 0; keys[k].name != NULL && status == YOKE_OK; k++)
        if (seen[k] == NULL) status = read_default(run, &keys[k], node, target);
    return status;
}

yoke_status app_schema_read(app_yaml *yaml, const app_key *keys, void *target)
{
    reader run = {.yaml = yaml};
    return read_map(&run, app_yaml_root(yaml), keys, target);
}

/* ------------------------------------------------------------------------------------------ the reference */

#define REFERENCE_BYTES 32768

static const char *type_text(const app_key *key)
{
    static const char *const texts[] = {
        [APP_TEXT] = "text",
        [APP_NUMBER] = "number",
        [APP_INTEGER] = "integer",
        [APP_CHOICE] = "word",
        [APP_CHOICES] = "list of words",
        [APP_VECTOR] = "[x, y, z]",
        [APP_FREE_VECTOR] = "[x, y, z], each a number or `free`",
        [APP_MAP] = "map",
        [APP_MAPS] = "list of maps",
    };
    return texts[key->type];
}

/* Writes the table of a map, then those of the maps in it.  `path` is "" for the whole case, otherwise as in refine.boxes[]. */
static void write_tables(const char *path, const app_key *keys, char *text)
{
    app_append(text, REFERENCE_BYTES, path[0] != '\0' ? "### `%s`\n\n" : "### The whole case%s\n\n", path);
    app_append(text, REFERENCE_BYTES, "| key | type | unit | range | default | meaning |\n|---|---|---|---|---|---|\n");
    for (const app_key *key = keys; key->name != NULL; key++) {
        char range[512], standard[80] = "";
        range_text(key->range, range, sizeof range);
        for (int i = 0; key->choices != NULL && key->choices[i] != NULL; i++)
            app_append(range, sizeof range, "%s`%s`", i > 0 ? ", " : "", key->choices[i]);
        if (key->standard != NULL) snprintf(standard, sizeof standard, "`%s`", key->standard);
        app_append(text, REFERENCE_BYTES, "| `%s` | %s | %s | %s | %s | %s |\n", key->name, type_text(key),
                   key->unit != NULL ? key->unit : "", range + (range[0] == ' '), key->required ? "required" : standard, key->meaning);
    }
    app_append(text, REFERENCE_BYTES, "\n");
    for (const app_key *key = keys; key->name != NULL; key++) {
        char below[128];
        snprintf(below, sizeof below, "%s%s%s%s", path, path[0] != '\0' ? "." : "", key->name, key->type == APP_MAPS ? "[]" : "");
        if (key->type == APP_MAP || key->type == APP_MAPS) write_tables(below, key->keys, text);
    }
}

yoke_status app_schema_reference(yoke_context *context, const app_key *keys, char **text)
{
    void *memory;
    yoke_status status = yoke_allocate(context, REFERENCE_BYTES, 1, &memory);
    if (status != YOKE_OK) return status;
    *text = memory;
    write_tables("", keys, *text);
    return YOKE_OK;
}
