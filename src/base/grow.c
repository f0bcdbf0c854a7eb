#include "base/grow.h"

#include <string.h>

yoke_status(yoke_grow)(yoke_context *context, void *pointer, int64_t count, int64_t *capacity, int64_t least, size_t size)
{
    void *items, *longer = NULL;
    if (count < *capacity) return YOKE_OK;
    int64_t wanted = *capacity > 0 ? 2 * *capacity : least;
    yoke_status status = yoke_allocate(context, wanted, size, &longer);
    if (status != YOKE_OK) return status;
    memcpy(&items, pointer, sizeof items); /* as in yoke_allocate */
    if (count > 0) memcpy(longer, items, (size_t)count * size);
    yoke_release(context, items);
    memcpy(pointer, &longer, sizeof longer);
    *capacity = wanted;
    return YOKE_OK;
}
