/* Passes messages to the log function of the context. */
#include "base/context.h"

void yoke_log(yoke_context *context, yoke_log_level level, const char *format, ...)
{
    if (context == NULL || context->options.log == NULL || level > context->options.log_level) return;
    char text[YOKE_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    yoke_format_text(text, format, arguments);
    va_end(arguments);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\n' || *c == '\r') *c = ' ';
    context->options.log(level, text, context->options.log_user);
}
