/*
 * json_document.h - tells yoke's kinds of JSON files apart, so that a reader says which kind was given instead of its own.
 */
#ifndef YOKE_BASE_JSON_DOCUMENT_H
#define YOKE_BASE_JSON_DOCUMENT_H

#include "base/json_keys.h"

typedef enum yoke_json_document { YOKE_JSON_MACHINE_FILE, YOKE_JSON_MODEL_FILE, YOKE_JSON_STORE, YOKE_JSON_RECORD } yoke_json_document;

/* Fails with INPUT if the document is clearly of another kind than `expected`, which is not YOKE_JSON_RECORD: no file of that kind is read. */
yoke_status yoke_json_expect_document(const yoke_json_reader *reader, yoke_json_document expected, const json_t *document);

#endif
