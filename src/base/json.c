#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

yoke_status yoke_json_text(yoke_context *context, json_t *document, char **text)
{
    char *dumped = document != NULL ? json_dumps(document, JSON_INDENT(2)) : NULL;
    json_decref(document);
    if (dumped == NULL) return yoke_fail(context, YOKE_ERROR_MEMORY, "out of memory for a JSON text");
    size_t bytes = strlen(dumped) + 1;
    void *copy = NULL;
    yoke_status status = yoke_allocate_untouched(context, (int64_t)bytes, 1, &copy);
    if (status == YOKE_OK) *text = memcpy(copy, dumped, bytes);
    free(dumped);
    return status;
}

json_t *yoke_json_number(double number) { return isfinite(number) ? json_real(number) : json_null(); }

void yoke_json_set(json_t **object, const char *key, json_t *value)
{
    if (json_object_set_new(*object, key, value) == 0) return;
    json_decref(*object);
    *object = NULL;
}

json_t *yoke_json_append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) == 0) return array;
    json_decref(array);
    return NULL;
}
