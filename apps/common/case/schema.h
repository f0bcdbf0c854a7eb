/*
 * schema.h - a static table defines the keys of a YAML file: their type, unit and range, default and meaning.
 *
 * Reading by the table fills plain structs; every value keeps the place where it was written.  The reference of the keys in the
 * documentation is made from the same table.
 */
#ifndef APP_SCHEMA_H
#define APP_SCHEMA_H

#include <math.h>
#include <stdbool.h>

#include "common/case/yaml.h"

/*
 * Values that the table fills.  A value that is neither written nor has a default is NULL, NaN, or 0 with an all-zero place (see
 * app_given).
 */
typedef struct app_text {
    app_place place;
    const char *value; /* borrowed from the tree */
} app_text;

typedef struct app_number {
    app_place place;
    double value;
} app_number;

typedef struct app_integer { /* also a choice (index of the name) and a set of choices (bit i: the i-th name) */
    app_place place;
    int64_t value;
} app_integer;

typedef struct app_vector {
    app_place place;
    double value[3];
    unsigned mask; /* bit i: value[i] is a number; clear: it was written as `free` */
} app_vector;

/* A list of maps; each item's struct begins with an app_place, as does the struct that a map fills. */
#define APP_LIST(type)   \
    struct {             \
        app_place place; \
        int count;       \
        type *items;     \
    }

static inline bool app_given(app_place place) { return place.line > 0; }

typedef enum app_type {
    APP_TEXT,        /* app_text                                                              */
    APP_NUMBER,      /* app_number: finite, consumed whole                                    */
    APP_INTEGER,     /* app_integer                                                           */
    APP_CHOICE,      /* app_integer: one of `choices`                                         */
    APP_CHOICES,     /* app_integer: list of some of `choices` (at most 63)                   */
    APP_VECTOR,      /* app_vector: list of three numbers                                     */
    APP_FREE_VECTOR, /* app_vector: list of three, each a number or the word `free`           */
    APP_MAP,         /* a struct by `keys`                                                    */
    APP_MAPS         /* APP_LIST of structs of `size` bytes by `keys`                         */
} app_type;

typedef struct app_range { /* an open end excludes its value; an infinite end is no bound */
    double low, high;
    bool low_open, high_open;
} app_range;

typedef struct app_key {
    const char *name; /* NULL ends a table */
    app_type type;
    bool required;              /* for a key of a map: required if the map is given */
    size_t offset;              /* of the member of this type in the struct that the table fills */
    const app_range *range;     /* numbers, integers, each component of a vector; NULL: all finite values */
    const char *unit;           /* NULL: none */
    const char *standard;       /* the default as YAML; NULL: none */
    const char *const *choices; /* ended by NULL */
    const struct app_key *keys; /* maps */
    size_t size;                /* maps: bytes of the struct */
    const char *meaning;        /* one or two sentences for the reference */
} app_key;

/* The largest number of items of a list of maps. */
#define APP_SCHEMA_ITEMS 10000

/*
 * Fills `target`, zeroed by the caller, from the tree by the table.  The memory of lists belongs to the tree.
 * Errors: INPUT (unknown, missing, repeated keys, wrong types, ranges; the text has place, key and what was expected), MEMORY.
 */
yoke_status app_schema_read(app_yaml *yaml, const app_key *keys, void *target);

/*
 * Calls `tell` for each value of a struct that was filled by the table, in the table's order, with its key as in messages
 * ("materials[0].density") and the value as a text (a set of choices as a number).  Values that are neither written nor have a default
 * are skipped.
 */
typedef void app_schema_value(const char *key, const char *value, void *user);
void app_schema_values(const app_key *keys, const void *target, app_schema_value *tell, void *user);

/*
 * The reference of all keys as Markdown tables.  The text is freed with yoke_release.
 * Errors: MEMORY.
 */
yoke_status app_schema_reference(yoke_context *context, const app_key *keys, char **text);

#endif
