/*
 * append.h - texts that are built piece by piece.
 */
#ifndef APP_APPEND_H
#define APP_APPEND_H

#include <stddef.h>

#include "yoke/yoke.h"

/* Appends to text [size]; the part that does not fit is cut. */
void app_append(char *text, size_t size, const char *format, ...) YOKE_PRINTF(3, 4);

#endif
