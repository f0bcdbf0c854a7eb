/*
 * json_keys.h - reads JSON files according to tables of keys: a key that is not in the table is an error, with its place and what was
 * expected.
 */
#ifndef YOKE_BASE_JSON_KEYS_H
#define YOKE_BASE_JSON_KEYS_H

#include <jansson.h>

#include "yoke/yoke.h"

enum { YOKE_JSON_MAX_BYTES = 64 << 20 };

/* The present position in a document. */
typedef struct yoke_json_reader {
    yoke_context *context;
    const char *file;
    char pointer[256]; /* JSON pointer (RFC 6901) of the value that is read: "/devices/0/levels" */
} yoke_json_reader;

typedef enum yoke_json_kind {
    YOKE_JSON_NUMBER, /* double */
    YOKE_JSON_COUNT,  /* int64_t: an integer, or a number without a fraction as in 8e9 */
    YOKE_JSON_FLAG,   /* int: true or false */
    YOKE_JSON_TEXT,   /* char[most + 1]: one line of `least` to `most` bytes */
    YOKE_JSON_OTHER   /* read by the key's own function, while the pointer is that of the value */
} yoke_json_kind;

/* A key of an object; a table lists all keys that an object may have. */
typedef struct yoke_json_key {
    const char *name;
    yoke_json_kind kind;
    size_t offset; /* of the member in the structure that is filled */
    double least, most;
    int required;
    /* Nonzero: null may be given for an unknown number, which becomes NaN, and for an unknown count, as if the key were missing. */
    int nullable;
    yoke_status (*read)(yoke_json_reader *reader, const json_t *value, void *member);
} yoke_json_key;

/*
 * Reads a whole document of at most YOKE_JSON_MAX_BYTES bytes and ten million values, with any value at its top.  It is freed with
 * json_decref.
 * Errors: INPUT (cannot be read, too large, not JSON: line and column), MEMORY.
 */
yoke_status yoke_json_load(yoke_context *context, const char *path, json_t **document);
/* The same for a text in memory; name: its name in messages.  Errors: INPUT, MEMORY. */
yoke_status yoke_json_parse(yoke_context *context, const char *name, const char *text, size_t length, json_t **document);

/* Enters a member or an item of the value at the present position; yoke_json_leave with the result returns to that value. */
size_t yoke_json_enter(yoke_json_reader *reader, const char *name);
size_t yoke_json_enter_item(yoke_json_reader *reader, int64_t index);
void yoke_json_leave(yoke_json_reader *reader, size_t outer);

/* Fails with INPUT: "FILE: POINTER: expected ..., found ...", where FOUND is the value in the document; the second one with any text. */
yoke_status yoke_json_expected(const yoke_json_reader *reader, const char *expected, const json_t *found);
yoke_status yoke_json_fail(const yoke_json_reader *reader, const char *format, ...) YOKE_PRINTF(2, 3);

/* Writes the members of `object` whose keys the document has; the others are unchanged.  Errors: INPUT, those of the functions. */
yoke_status yoke_json_read_object(yoke_json_reader *reader, const yoke_json_key *keys, int count, const json_t *document, void *object);

/* Reads a number from least to most; a text of one line, least to most bytes, which belongs to the document.  Errors: INPUT. */
yoke_status yoke_json_read_number(const yoke_json_reader *reader, const json_t *value, double least, double most, double *number);
yoke_status yoke_json_read_text(const yoke_json_reader *reader, const json_t *value, size_t least, size_t most, const char **text);

#endif
