#include "tool.h"

yoke_status tool_fem(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    (void)terminal;
    (void)argc;
    return tool_become(context, "yoke-fem", argv);
}
