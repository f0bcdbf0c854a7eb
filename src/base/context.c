#include "base/context.h"

#include <stdio.h>
#include <string.h>

/* The text of the last failure without a context, for each thread. */
static _Thread_local char thread_error[YOKE_TEXT_BYTES];

void yoke_format_text(char text[YOKE_TEXT_BYTES], const char *format, va_list arguments)
{
    int length = vsnprintf(text, YOKE_TEXT_BYTES, format, arguments);
    if (length < 0)
        strcpy(text, "(this text could not be printed)");
    else if (length >= YOKE_TEXT_BYTES)
        strcpy(text + YOKE_TEXT_BYTES - 4, "...");
}

yoke_status yoke_fail(yoke_context *context, yoke_status status, const char *format, ...)
{
    /* Formatted in separate memory first, as the arguments may refer to the text that is to be replaced. */
    char text[YOKE_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    yoke_format_text(text, format, arguments);
    va_end(arguments);
    if (context == NULL) {
        strcpy(thread_error, text);
        return status;
    }
    pthread_mutex_lock(&context->lock);
    strcpy(context->error, text);
    pthread_mutex_unlock(&context->lock);
    return status;
}

const char *yoke_last_error(const yoke_context *context) { return context != NULL ? context->error : thread_error; }

static yoke_status check_options(const yoke_options *options)
{
    if ((options->allocate == NULL) != (options->release == NULL))
        return yoke_fail(NULL, YOKE_ERROR_ARGUMENT,
                         "yoke_context_create: options has only one of allocate and release; give both, or none for the default");
    if ((int)options->log_level < YOKE_LOG_ERROR || (int)options->log_level > YOKE_LOG_DEBUG)
        return yoke_fail(NULL, YOKE_ERROR_ARGUMENT, "yoke_context_create: log_level %d is not a yoke_log_level", (int)options->log_level);
    return YOKE_OK;
}

yoke_status yoke_context_create_for(int interface_number, const yoke_options *options, yoke_context **context)
{
    if (interface_number != YOKE_INTERFACE)
        return yoke_fail(
            NULL, YOKE_ERROR_ARGUMENT,
            "this program was built for libyoke %d.%d, and runs with %s, whose structs may differ; build it again with the headers of "
            "this library, or let it find the other one (LD_LIBRARY_PATH)",
            interface_number / 1000, interface_number % 1000, yoke_version());
    if (context == NULL) return yoke_fail(NULL, YOKE_ERROR_ARGUMENT, "yoke_context_create: context is NULL; pass the address of a pointer");
    yoke_options chosen = {0};
    if (options != NULL) chosen = *options;
    yoke_status status = check_options(&chosen);
    if (status != YOKE_OK) return status;
    if (chosen.allocate == NULL) {
        chosen.allocate = yoke_default_allocate;
        chosen.release = yoke_default_release;
    }
    yoke_context *created = chosen.allocate(sizeof *created, chosen.memory_user);
    if (created == NULL)
        return yoke_fail(NULL, YOKE_ERROR_MEMORY, "yoke_context_create: out of memory (%zu bytes asked for)", sizeof *created);
    memset(created, 0, sizeof *created);
    created->options = chosen;
    int error = pthread_mutex_init(&created->lock, NULL);
    if (error != 0) {
        chosen.release(created, chosen.memory_user);
        return yoke_fail(NULL, YOKE_ERROR_SYSTEM, "yoke_context_create: no mutex: %s", strerror(error));
    }
    *context = created;
    return YOKE_OK;
}

void yoke_context_destroy(yoke_context *context)
{
    if (context == NULL) return;
    if (context->devices != NULL) context->devices_forget(context->devices);
    yoke_topology_forget(context);
    pthread_mutex_destroy(&context->lock);
    context->options.release(context, context->options.memory_user);
}
