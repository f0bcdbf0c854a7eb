/*
 * record.h - the run record: the JSON document that --json writes.
 *
 * jansson's functions return NULL if memory is exhausted and accept NULL from each other.  So a value may be built without checks and is
 * checked once, by app_record_set.
 */
#ifndef APP_RECORD_H
#define APP_RECORD_H

#include <stdbool.h>

#include <jansson.h>

#include "yoke/yoke.h"

/* A JSON number; null if the number is NaN or infinite, which mean "not known". */
json_t *app_json_number(double number);
/* An array of them. */
json_t *app_json_numbers(const double *numbers, int count);
/* The number of this key; NaN if there is none. */
double app_json_read_number(const json_t *object, const char *key);
/* Reads an array of numbers back, null as NaN.  Returns whether it is an array of `count` numbers and nulls. */
bool app_json_read_numbers(const json_t *array, double *numbers, int count);
/* A JSON string; bytes that are not UTF-8 (file names may hold any) become "?". */
json_t *app_json_text(const char *text);
/* An array of them. */
json_t *app_json_texts(const char *const *texts, int count);

/* The present time as a text: UTC, ISO 8601. */
json_t *app_json_date(void);

/* Appends a value and takes its ownership.  Returns the array, or NULL if memory is exhausted (then or before), and both are freed. */
json_t *app_json_append(json_t *array, json_t *value);

/*
 * Creates a record with the members that all records have: program, version, date (UTC, ISO 8601), command[], machine {topology,
 * devices[], ...} (yoke_describe, with the devices that were listed or opened on this context: no driver is opened for the record).
 * The caller frees it with json_decref.  Errors: MEMORY, SYSTEM.
 */
yoke_status app_record_create(yoke_context *context, const char *program, int argc, char **argv, json_t **record);

/* Sets record[key] = value and takes ownership of value; NULL stands for a value that could not be built.  Errors: MEMORY. */
yoke_status app_record_set(yoke_context *context, json_t *record, const char *key, json_t *value);

/* Writes the record (or any document) as a whole file.  Errors: INPUT, SYSTEM, MEMORY, as app_file_create and app_file_commit. */
yoke_status app_record_write(yoke_context *context, const json_t *record, const char *path);

#endif
