/*
 * tool.h - the subcommands of yoke.
 */
#ifndef TOOL_TOOL_H
#define TOOL_TOOL_H

#include "common/terminal.h"
#include "yoke/yoke.h"

typedef struct tool_command {
    const char *name;
    const char *summary;
    /* argv[0] is the subcommand.  Returns how it went; the text of a failure is on the context. */
    yoke_status (*run)(yoke_context *context, app_terminal *terminal, int argc, char **argv);
} tool_command;

/* Shows the machine. */
yoke_status tool_info(yoke_context *context, app_terminal *terminal, int argc, char **argv);

/* Becomes the program yoke-fem, which lies beside yoke or in PATH; returns only on failure.  Errors: UNAVAILABLE (not installed), SYSTEM. */
yoke_status tool_fem(yoke_context *context, app_terminal *terminal, int argc, char **argv);

#endif
