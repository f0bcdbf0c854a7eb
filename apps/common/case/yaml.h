/*
 * yaml.h - a YAML file as a tree whose nodes know where they were written, and `--set a.b=value` on top of it.
 *
 * Files are read by libyaml.  Features that a case file does not need are errors, with their place: anchors and aliases (they can expand
 * to any size), tags, several documents, nesting below APP_YAML_DEPTH, files above APP_YAML_BYTES, zero characters in texts.
 * app_yaml_destroy frees a tree and all that is allocated from it at once.
 */
#ifndef APP_YAML_H
#define APP_YAML_H

#include "yoke/yoke.h"

#define APP_YAML_BYTES (1 << 20)
#define APP_YAML_DEPTH 16

/* The place where a value was written.  All members zero: none, the value is a default. */
typedef struct app_place {
    int line, column; /* from 1, columns in characters; for an override: within its value */
    int override;     /* 0: in the file; n: in the n-th override, from 1 */
} app_place;

typedef enum app_yaml_kind { APP_YAML_TEXT, APP_YAML_LIST, APP_YAML_MAP } app_yaml_kind;

typedef struct app_yaml_node {
    app_yaml_kind kind;
    app_place place;
    int quoted;                   /* text: written in quotes or as a block, so that it is no number */
    const char *text;             /* text: the value; in a list and a map NULL */
    int count;                    /* list, map: number of items */
    struct app_yaml_node **keys;  /* map: [count] texts */
    struct app_yaml_node **items; /* list, map: [count] */
} app_yaml_node;

typedef struct app_yaml app_yaml;

/*
 * Reads the file at `path` and applies the overrides "a.b[1].c=value" (also a.b.1.c) in order.  A value is YAML itself.  It replaces an
 * existing value, adds a key that does not exist, or, at the index one past the end, appends to a list.
 * The tree borrows the context and the overrides; overrides may be NULL if num_overrides is 0.
 * Errors: INPUT (the text begins "PATH:LINE:COLUMN: " or "--set OVERRIDE: "), MEMORY.
 */
yoke_status app_yaml_read(yoke_context *context, const char *path, const char *const *overrides, int num_overrides, app_yaml **yaml);

/* As app_yaml_read, from `bytes` characters at `text`; path is for messages. */
yoke_status app_yaml_parse(yoke_context *context, const char *path, const char *text, size_t bytes, const char *const *overrides,
                           int num_overrides, app_yaml **yaml);
void app_yaml_destroy(app_yaml *yaml);

const app_yaml_node *app_yaml_root(const app_yaml *yaml);
const char *app_yaml_path(const app_yaml *yaml);

/* Memory that lives as long as the tree, set to zero.  Errors: MEMORY. */
yoke_status app_yaml_allocate(app_yaml *yaml, int64_t count, size_t size, void **memory);

/* Parses one more value, such as a default of a schema.  Errors: INPUT, MEMORY. */
yoke_status app_yaml_value(app_yaml *yaml, const char *text, app_yaml_node **node);

/* Writes "PATH:LINE:COLUMN" or "--set OVERRIDE" to out, cut to `size` bytes; PATH alone for a default. */
void app_yaml_where(const app_yaml *yaml, app_place place, char *out, size_t size);

/* Fails with status INPUT and the text "WHERE: " followed by the formatted text. */
yoke_status app_yaml_fail(const app_yaml *yaml, app_place place, const char *format, ...) YOKE_PRINTF(3, 4);

/* ------------------------------------------------------------------------------------------ texts of messages */

/* Appends to the text in out[size]; a text that does not fit is cut, with "..." at its end. */
void app_append(char *out, size_t size, const char *format, ...) YOKE_PRINTF(3, 4);

/* Size of the result of app_quote. */
#define APP_QUOTED 80
/* 'text' in single quotes for a message: cut after 60 bytes (at a character's end), control characters shown as '?'.  Returns out. */
const char *app_quote(const char *text, char out[APP_QUOTED]);

/* Appends "; ITEMS that exist: a, b, c; did you mean 'b'?" to out (at most 24 names and a count of the rest).  "none" for no names. */
void app_append_names(char *out, size_t size, const char *items, const char *word, const char *const *names, int num_names);

#endif
