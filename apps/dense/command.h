/*
 * command.h - the operations of yoke dense: what they have in common, and their command lines.
 */
#ifndef DENSE_COMMAND_H
#define DENSE_COMMAND_H

#include "common/terminal.h"

/* argv[0] is the operation.  Errors: those of what it does. */
typedef yoke_status dense_command(yoke_context *context, app_terminal *terminal, int argc, char **argv);

dense_command dense_command_gemm, dense_command_transpose, dense_command_tsp;

#endif
