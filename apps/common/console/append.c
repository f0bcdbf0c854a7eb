#include "common/console/append.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void app_append(char *text, size_t size, const char *format, ...)
{
    const size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}
