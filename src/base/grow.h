/*
 * grow.h - arrays that become longer.
 */
#ifndef YOKE_BASE_GROW_H
#define YOKE_BASE_GROW_H

#include "yoke/yoke.h"

/*
 * Makes room for an item behind the first `count` ones.  Where there is none, the array *pointer (NULL at first) moves to memory for twice `capacity`
 * items, `least` at first, which is zero behind what it held.  Errors: MEMORY; the array is as it was.
 */
yoke_status yoke_grow(yoke_context *context, void *pointer, int64_t count, int64_t *capacity, int64_t least, size_t size);
#define yoke_grow(context, pointer, count, capacity, least, size) yoke_grow(context, YOKE_POINTER_AT(pointer), count, capacity, least, size)

#endif
