#include "common/program.h"

int app_program(const char *name, app_program_function *run, int argc, char **argv)
{
    app_terminal terminal;
    app_terminal_start(&terminal, name);
    yoke_options options = {.log = app_terminal_log, .log_user = &terminal, .log_level = YOKE_LOG_INFO};
    yoke_context *context = NULL;
    yoke_status status = yoke_context_create(&options, &context);
    if (!status) status = run(context, &terminal, argc, argv);
    int code = app_terminal_end(&terminal, context, status);
    yoke_context_destroy(context);
    return code;
}
