#include "base/json_document.h"

static const struct {
    const char *is, *expected;
} texts[] = {
    [YOKE_JSON_MACHINE_FILE] = {"a machine file, for --machine", "a machine file (docs/reference/machine-file.md)"},
    [YOKE_JSON_MODEL_FILE] =
        {"a model file, for `yoke plan`",
         "a model file (docs/reference/model-file.md), as `yoke calibrate [--machine FILE] --model MODEL.json` writes it"},
    [YOKE_JSON_STORE] = {"a store of measured costs, for --store", "a store, which yoke itself writes; name another file"},
    [YOKE_JSON_RECORD] = {"a record, which --json writes", NULL},
};

static int has(const json_t *object, const char *key) { return json_object_get(object, key) != NULL; }

/* Whether the document is clearly of a kind: by keys that only this kind has. */
static int is_of(yoke_json_document kind, const json_t *document)
{
    const json_t *device = json_array_get(json_object_get(document, "devices"), 0);
    switch (kind) {
    case YOKE_JSON_MACHINE_FILE:
        return has(device, "class") && !has(document, "program");
    case YOKE_JSON_MODEL_FILE:
        return (has(document, "units") || has(document, "round")) && (has(device, "levels") || has(device, "laws"));
    case YOKE_JSON_STORE:
        return has(document, "format") && has(document, "entries");
    case YOKE_JSON_RECORD:
        return has(document, "program") && has(document, "version");
    }
    return 0;
}

yoke_status yoke_json_expect_document(const yoke_json_reader *reader, yoke_json_document expected, const json_t *document)
{
    for (yoke_json_document kind = YOKE_JSON_MACHINE_FILE; kind <= YOKE_JSON_RECORD; kind++)
        if (kind != expected && is_of(kind, document))
            return yoke_json_fail(reader, "this is %s; expected %s", texts[kind].is, texts[expected].expected);
    return YOKE_OK;
}
