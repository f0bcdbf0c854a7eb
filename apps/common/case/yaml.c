/* Reads YAML through libyaml's document API into a tree with places, and applies overrides to it. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "common/case/yaml.h"

#define BLOCK_BYTES 16384

/* The memory of a tree is allocated in blocks.  The header preserves the alignment of the allocator. */
typedef union block {
    struct {
        union block *next;
        size_t used, size;
    } head;
    char alignment[64];
} block;

struct app_yaml {
    yoke_context *context;
    char *path;
    const char *const *overrides;
    app_yaml_node *root;
    block *blocks;
};

/* ------------------------------------------------------------------------------------------ memory */

yoke_status app_yaml_allocate(app_yaml *yaml, int64_t count, size_t size, void **memory)
{
    if (count < 0 || (size > 0 && (uint64_t)count > (SIZE_MAX / 4) / size))
        return yoke_fail(yaml->context, YOKE_ERROR_MEMORY, "out of memory: %lld x %zu bytes are more than can be addressed",
                         (long long)count, size);
    size_t bytes = ((size_t)count * size + 15) / 16 * 16;
    block *current = yaml->blocks;
    if (current == NULL || current->head.size - current->head.used < bytes) {
        size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        void *fresh;
        yoke_status status = yoke_allocate(yaml->context, (int64_t)(sizeof(block) + room), 1, &fresh);
        if (status != YOKE_OK) return status;
        current = fresh;
        current->head.size = room;
        current->head.next = yaml->blocks;
        yaml->blocks = current;
    }
    *memory = (char *)(current + 1) + current->head.used;
    current->head.used += bytes;
    return YOKE_OK;
}

static yoke_status copy_text(app_yaml *yaml, const char *text, size_t length, char **copy)
{
    void *memory;
    yoke_status status = app_yaml_allocate(yaml, (int64_t)length + 1, 1, &memory);
    if (status != YOKE_OK) return status;
    *copy = memory;
    memcpy(*copy, text, length);
    return YOKE_OK;
}

static yoke_status node_create(app_yaml *yaml, app_yaml_kind kind, app_place place, int count, app_yaml_node **node)
{
    void *memory, *keys = NULL, *items = NULL;
    yoke_status status = app_yaml_allocate(yaml, 1, sizeof **node, &memory);
    if (status == YOKE_OK && kind != APP_YAML_TEXT) status = app_yaml_allocate(yaml, count, sizeof(app_yaml_node *), &items);
    if (status == YOKE_OK && kind == APP_YAML_MAP) status = app_yaml_allocate(yaml, count, sizeof(app_yaml_node *), &keys);
    if (status != YOKE_OK) return status;
    *node = memory;
    **node = (app_yaml_node){.kind = kind, .place = place, .count = count, .keys = keys, .items = items};
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------ messages */

void app_yaml_where(const app_yaml *yaml, app_place place, char *out, size_t size)
{
    if (place.override > 0)
        snprintf(out, size, "--set %.200s", yaml->overrides[place.override - 1]);
    else if (place.line > 0)
        snprintf(out, size, "%s:%d:%d", yaml->path, place.line, place.column);
    else
        snprintf(out, size, "%s", yaml->path);
}

yoke_status app_yaml_fail(const app_yaml *yaml, app_place place, const char *format, ...)
{
    char where[1024], text[2048];
    app_yaml_where(yaml, place, where, sizeof where);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return yoke_fail(yaml->context, YOKE_ERROR_INPUT, "%s: %s", where, text);
}

/* libyaml counts from 0. */
static app_place place_of(yaml_mark_t mark, int override)
{
    return (app_place){.line = (int)mark.line + 1, .column = (int)mark.column + 1, .override = override};
}

/* Line and column of a byte, because encoding errors give only the number of the byte. */
static app_place place_of_byte(const char *text, size_t byte, int override)
{
    app_place place = {.line = 1, .column = 1, .override = override};
    for (size_t i = 0; i < byte; i++) {
        if (text[i] == '\n') {
            place.line++;
            place.column = 1;
        } else if (((unsigned char)text[i] & 0xC0) != 0x80) {
            place.column++;
        }
    }
    return place;
}

static yoke_status fail_of_parser(app_yaml *yaml, const yaml_parser_t *parser, const char *text, size_t bytes, int override)
{
    const char *problem = parser->problem != NULL ? parser->problem : "not understood";
    if (parser->error == YAML_MEMORY_ERROR)
        return yoke_fail(yaml->context, YOKE_ERROR_MEMORY, "%s: out of memory while reading YAML", yaml->path);
    if (parser->error == YAML_READER_ERROR) {
        size_t byte = parser->problem_offset < bytes ? parser->problem_offset : bytes;
        return app_yaml_fail(yaml, place_of_byte(text, byte, override), "%s (byte %zu); the file must be text in UTF-8", problem, byte);
    }
    if (parser->context == NULL) return app_yaml_fail(yaml, place_of(parser->problem_mark, override), "YAML: %s", problem);
    return app_yaml_fail(yaml, place_of(parser->problem_mark, override), "YAML: %s, %s (which began at line %d)", problem, parser->context,
                         (int)parser->context_mark.line + 1);
}

/* ------------------------------------------------------------------------------------------ from libyaml's document to the tree */

typedef struct conversion {
    app_yaml *yaml;
    yaml_document_t *document;
    int override;
} conversion;

static yoke_status convert_node(conversion *run, int id, app_yaml_node **node);

static yoke_status convert_text(conversion *run, const yaml_node_t *from, app_place place, app_yaml_node **node)
{
    const char *value = (const char *)from->data.scalar.value;
    if (strlen(value) != from->data.scalar.length) return app_yaml_fail(run->yaml, place, "a text must not contain a zero character");
    yoke_status status = node_create(run->yaml, APP_YAML_TEXT, place, 0, node);
    char *copy = NULL;
    if (status == YOKE_OK) status = copy_text(run->yaml, value, from->data.scalar.length, &copy);
    if (status != YOKE_OK) return status;
    (*node)->text = copy;
    (*node)->quoted = from->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return YOKE_OK;
}

static yoke_status convert_list(conversion *run, const yaml_node_t *from, app_place place, app_yaml_node **node)
{
    int count = (int)(from->data.sequence.items.top - from->data.sequence.items.start);
    yoke_status status = node_create(run->yaml, APP_YAML_LIST, place, count, node);
    for (int i = 0; i < count && status == YOKE_OK; i++) status = convert_node(run, from->data.sequence.items.start[i], &(*node)->items[i]);
    return status;
}

static yoke_status convert_map(conversion *run, const yaml_node_t *from, app_place place, app_yaml_node **node)
{
    int count = (int)(from->data.mapping.pairs.top - from->data.mapping.pairs.start);
    yoke_status status = node_create(run->yaml, APP_YAML_MAP, place, count, node);
    for (int i = 0; i < count && status == YOKE_OK; i++) {
        yaml_node_pair_t pair = from->data.mapping.pairs.start[i];
        status = convert_node(run, pair.key, &(*node)->keys[i]);
        if (status == YOKE_OK && (*node)->keys[i]->kind != APP_YAML_TEXT)
            status = app_yaml_fail(run->yaml, (*node)->keys[i]->place, "a key must be a word, not a list or a map");
        if (status == YOKE_OK) status = convert_node(run, pair.value, &(*node)->items[i]);
    }
    return status;
}

static yoke_status convert_node(conversion *run, int id, app_yaml_node **node)
{
    const yaml_node_t *from = yaml_document_get_node(run->document, id);
    app_place place = place_of(from->start_mark, run->override);
    const char *standard_tag = from->type == YAML_SCALAR_NODE     ? YAML_STR_TAG
                               : from->type == YAML_SEQUENCE_NODE ? YAML_SEQ_TAG
                                                                  : YAML_MAP_TAG;
    char quoted[APP_QUOTED];
    if (strcmp((const char *)from->tag, standard_tag) != 0)
        return app_yaml_fail(run->yaml, place, "the tag %s is not allowed: write the value without a tag",
                             app_quote((const char *)from->tag, quoted));
    if (from->type == YAML_SCALAR_NODE) return convert_text(run, from, place, node);
    return from->type == YAML_SEQUENCE_NODE ? convert_list(run, from, place, node) : convert_map(run, from, place, node);
}

/* Checks an event of the parser for what is not allowed: deep nesting, aliases, a second document. */
static yoke_status check_event(app_yaml *yaml, const yaml_event_t *event, int override, int *depth, int *documents)
{
    app_place place = place_of(event->start_mark, override);
    if (event->type == YAML_ALIAS_EVENT) return app_yaml_fail(yaml, place, "an alias (*name) is not allowed: write the value again");
    if (event->type == YAML_DOCUMENT_START_EVENT && ++*documents > 1)
        return app_yaml_fail(yaml, place, "a second YAML document begins here: one is expected");
    if (event->type == YAML_SEQUENCE_END_EVENT || event->type == YAML_MAPPING_END_EVENT) --*depth;
    if ((event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT) && ++*depth > APP_YAML_DEPTH)
        return app_yaml_fail(yaml, place, "lists and maps are nested more than %d deep", APP_YAML_DEPTH);
    return YOKE_OK;
}

/* Checks the text before a document is made of it: libyaml's time grows quadratically with the depth, and with any power by aliases. */
static yoke_status check_text(app_yaml *yaml, const char *text, size_t bytes, int override)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return yoke_fail(yaml->context, YOKE_ERROR_MEMORY, "%s: out of memory while reading YAML", yaml->path);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
    yoke_status status = YOKE_OK;
    int depth = 0, documents = 0;
    for (bool more = true; more && status == YOKE_OK;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            status = fail_of_parser(yaml, &parser, text, bytes, override);
            break;
        }
        status = check_event(yaml, &event, override, &depth, &documents);
        more = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return status;
}

/* Parses a text that holds one document; *root is NULL if it holds none. */
static yoke_status parse_text(app_yaml *yaml, const char *text, size_t bytes, int override, app_yaml_node **root)
{
    *root = NULL;
    yoke_status status = check_text(yaml, text, bytes, override);
    if (status != YOKE_OK) return status;
    yaml_parser_t parser;
    yaml_document_t document;
    if (!yaml_parser_initialize(&parser))
        return yoke_fail(yaml->context, YOKE_ERROR_MEMORY, "%s: out of memory while reading YAML", yaml->path);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
    if (yaml_parser_load(&parser, &document)) {
        conversion run = {.yaml = yaml, .document = &document, .override = override};
        if (yaml_document_get_root_node(&document) != NULL) status = convert_node(&run, 1, root);
        yaml_document_delete(&document);
    } else {
        status = fail_of_parser(yaml, &parser, text, bytes, override);
    }
    yaml_parser_delete(&parser);
    return status;
}

/* ------------------------------------------------------------------------------------------ overrides */

/* A step in the path of an override: a key, or an index if the key is empty. */
typedef struct path_step {
    char key[APP_QUOTED];
    int index;      /* -1: the word is not a number */
    int only_index; /* written as [n] */
} path_step;

static app_place override_place(int override) { return (app_place){.line = 1, .column = 1, .override = override}; }

/* Reads the next step of *path, which ends at `end`. */
static yoke_status next_step(app_yaml *yaml, int override, const char **path, const char *end, path_step *step)
{
    const char *from = *path;
    step->only_index = *from == '[';
    if (step->only_index) from++;
    size_t length = strcspn(from, ".[]=");
    const char *after = from + length;
    int good = length > 0 && length < sizeof step->key && after <= end;
    if (good) {
        memcpy(step->key, from, length);
        step->key[length] = '\0';
        int digits = strspn(step->key, "0123456789") == length && length < 7;
        step->index = digits ? atoi(step->key) : -1;
    }
    if (good && step->only_index) {
        good = *after == ']' && step->index >= 0;
        after++;
    }
    if (good && after < end && *after == '.') {
        after++;
        good = after < end && *after != '[';
    } else if (good && after < end) {
        good = *after == '[';
    }
    if (!good)
        return app_yaml_fail(yaml, override_place(override),
                             "the key is not understood; expected KEY=VALUE such as refine.steps=5 or "
                             "materials[0].density=7850");
    *path = after;
    return YOKE_OK;
}

/* Finds the slot of `node` to which a step leads, and creates it if it is missing. */
static yoke_status take_step(app_yaml *yaml, int override, app_yaml_node *node, const path_step *step, app_yaml_node ***slot)
{
    app_place place = override_place(override);
    char quoted[APP_QUOTED];
    if (node->kind == APP_YAML_TEXT)
        return app_yaml_fail(yaml, place, "%s is looked for inside the value %s, which has no keys or items", step->key,
                             app_quote(node->text, quoted));
    if (node->kind == APP_YAML_LIST && (step->index < 0 || step->index > node->count))
        return app_yaml_fail(yaml, place, "'%s' is looked for in a list of %d items; give an index from 0 to %d (%d appends)", step->key,
                             node->count, node->count, node->count);
    if (node->kind == APP_YAML_MAP && step->only_index)
        return app_yaml_fail(yaml, place, "[%s] is looked for in a map; give one of its keys", step->key);
    int at = node->kind == APP_YAML_LIST ? step->index : 0;
    while (node->kind == APP_YAML_MAP && at < node->count && strcmp(node->keys[at]->text, step->key) != 0) at++;
    if (at == node->count) {
        app_yaml_node *grown;
        yoke_status status = node_create(yaml, node->kind, node->place, node->count + 1, &grown);
        if (status != YOKE_OK) return status;
        for (int i = 0; i < node->count; i++) {
            grown->items[i] = node->items[i];
            if (node->kind == APP_YAML_MAP) grown->keys[i] = node->keys[i];
        }
        if (node->kind == APP_YAML_MAP) {
            char *key = NULL;
            status = node_create(yaml, APP_YAML_TEXT, place, 0, &grown->keys[at]);
            if (status == YOKE_OK) status = copy_text(yaml, step->key, strlen(step->key), &key);
            if (status != YOKE_OK) return status;
            grown->keys[at]->text = key;
        }
        *node = *grown;
    }
    *slot = &node->items[at];
    return YOKE_OK;
}

static yoke_status apply_override(app_yaml *yaml, int override)
{
    const char *path = yaml->overrides[override - 1];
    const char *equals = strchr(path, '=');
    if (equals == NULL || equals == path)
        return app_yaml_fail(yaml, override_place(override), "expected KEY=VALUE, such as refine.steps=5");
    app_yaml_node *value;
    yoke_status status = parse_text(yaml, equals + 1, strlen(equals + 1), override, &value);
    if (status == YOKE_OK && value == NULL) status = app_yaml_fail(yaml, override_place(override), "there is no value after '='");
    app_yaml_node **slot = &yaml->root;
    while (status == YOKE_OK && path < equals) {
        path_step step;
        status = next_step(yaml, override, &path, equals, &step);
        if (status == YOKE_OK && *slot == NULL) /* a key in the path that the file does not have */
            status = node_create(yaml, step.index >= 0 ? APP_YAML_LIST : APP_YAML_MAP, override_place(override), 0, slot);
        if (status == YOKE_OK) status = take_step(yaml, override, *slot, &step, &slot);
    }
    if (status == YOKE_OK) *slot = value;
    return status;
}

/* ------------------------------------------------------------------------------------------ the calls */

void app_yaml_destroy(app_yaml *yaml)
{
    if (yaml == NULL) return;
    for (block *current = yaml->blocks; current != NULL;) {
        block *next = current->head.next;
        yoke_release(yaml->context, current);
        current = next;
    }
    yoke_release(yaml->context, yaml);
}

yoke_status app_yaml_parse(yoke_context *context, const char *path, const char *text, size_t bytes, const char *const *overrides,
                           int num_overrides, app_yaml **yaml)
{
    void *memory;
    yoke_status status = yoke_allocate(context, 1, sizeof(app_yaml), &memory);
    if (status != YOKE_OK) return status;
    app_yaml *made = memory;
    made->context = context;
    made->overrides = overrides;
    status = copy_text(made, path, strlen(path), &made->path);
    if (status == YOKE_OK && bytes > APP_YAML_BYTES)
        status = yoke_fail(context, YOKE_ERROR_INPUT, "%s: is larger than %d bytes: not a case file", path, APP_YAML_BYTES);
    if (status == YOKE_OK) status = parse_text(made, text, bytes, 0, &made->root);
    if (status == YOKE_OK && made->root == NULL)
        status = yoke_fail(context, YOKE_ERROR_INPUT, "%s: is empty: no YAML document with keys is in it", path);
    for (int i = 1; i <= num_overrides && status == YOKE_OK; i++) status = apply_override(made, i);
    if (status != YOKE_OK) {
        app_yaml_destroy(made);
        return status;
    }
    *yaml = made;
    return YOKE_OK;
}

/* Reads a regular file of at most APP_YAML_BYTES bytes.  The caller owns the text. */
static yoke_status read_file(yoke_context *context, const char *path, char **text, size_t *bytes)
{
    struct stat about;
    void *memory = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 || fstat(file, &about) != 0) {
        yoke_status failed = yoke_fail(context, YOKE_ERROR_INPUT, "%s: cannot be read: %s", path, strerror(errno));
        if (file >= 0) close(file);
        return failed;
    }
    yoke_status status = YOKE_OK;
    if (!S_ISREG(about.st_mode))
        status = yoke_fail(context, YOKE_ERROR_INPUT, "%s: is not a regular file", path);
    else if (about.st_size > APP_YAML_BYTES)
        status = yoke_fail(context, YOKE_ERROR_INPUT, "%s: is larger than %d bytes: not a case file", path, APP_YAML_BYTES);
    else
        status = yoke_allocate(context, (int64_t)about.st_size + 1, 1, &memory);
    size_t used = 0;
    while (status == YOKE_OK && used < (size_t)about.st_size) {
        ssize_t got = read(file, (char *)memory + used, (size_t)about.st_size - used);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) status = yoke_fail(context, YOKE_ERROR_INPUT, "%s: cannot be read: %s", path, strerror(errno));
        if (got <= 0) break;
        used += (size_t)got;
    }
    close(file);
    if (status != YOKE_OK) {
        yoke_release(context, memory);
        return status;
    }
    *text = memory;
    *bytes = used;
    return YOKE_OK;
}

yoke_status app_yaml_read(yoke_context *context, const char *path, const char *const *overrides, int num_overrides, app_yaml **yaml)
{
    char *text = NULL;
    size_t bytes = 0;
    yoke_status status = read_file(context, path, &text, &bytes);
    if (status != YOKE_OK) return status;
    status = app_yaml_parse(context, path, text, bytes, overrides, num_overrides, yaml);
    yoke_release(context, text);
    return status;
}

yoke_status app_yaml_value(app_yaml *yaml, const char *text, app_yaml_node **node)
{
    yoke_status status = parse_text(yaml, text, strlen(text), 0, node);
    if (status == YOKE_OK && *node == NULL) status = yoke_fail(yaml->context, YOKE_ERROR_INPUT, "an empty value");
    return status;
}

const app_yaml_node *app_yaml_root(const app_yaml *yaml) { return yaml->root; }

const char *app_yaml_path(const app_yaml *yaml) { return yaml->path; }
