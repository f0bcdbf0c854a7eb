/*
 * json.h - JSON documents of the library.
 */
#ifndef YOKE_BASE_JSON_H
#define YOKE_BASE_JSON_H

#include <jansson.h>

#include "yoke/yoke.h"

/*
 * Writes the text of the document to memory of yoke_allocate, and frees the document.  document may be NULL, by which jansson reports
 * that it could not build it: so the result of json_pack can be passed unchecked.
 * Errors: MEMORY.
 */
yoke_status yoke_json_text(yoke_context *context, json_t *document, char **text);

/* The number; null if it is not finite, by which files denote an unknown number. */
json_t *yoke_json_number(double number);
/* Sets object[key] = value and takes ownership of value.  If memory is exhausted (then or before) the object becomes NULL. */
void yoke_json_set(json_t **object, const char *key, json_t *value);
/* Appends a value and takes its ownership.  Returns the array, or NULL if memory is exhausted (then or before), and both are freed. */
json_t *yoke_json_append(json_t *array, json_t *value);

/* As yoke_json_text, to a file by yoke_file_create.  Errors: MEMORY, INPUT, SYSTEM, as there. */
yoke_status yoke_json_save(yoke_context *context, json_t *document, const char *path);

#endif
