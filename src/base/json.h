/*
 * json.h - JSON documents of the library.
 */
#ifndef YOKE_BASE_JSON_H
#define YOKE_BASE_JSON_H

#include <jansson.h>

#include "yoke/yoke.h"

/*
 * Gives the document up and writes its text to memory of yoke_allocate's.  document may be NULL, which is how jansson says that it could not
 * build it: so the result of json_pack can be handed over unchecked.
 * Errors: MEMORY.
 */
yoke_status yoke_json_text(yoke_context *context, json_t *document, char **text);

/* The number; null where it is not finite, which is how files write what is not known. */
json_t *yoke_json_number(double number);
/* Sets object[key] = value, which is given up; where memory ended (then or before) the object becomes NULL. */
void yoke_json_set(json_t **object, const char *key, json_t *value);
/* Appends a value, which is given up; returns the array, or NULL where memory ended (then or before) and both are gone. */
json_t *yoke_json_append(json_t *array, json_t *value);

/*
 * As yoke_json_text, to a file by yoke_file_create.  Errors: MEMORY, INPUT, SYSTEM, as there.
 */
yoke_status yoke_json_save(yoke_context *context, json_t *document, const char *path);

#endif
