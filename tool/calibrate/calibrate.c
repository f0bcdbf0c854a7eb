/* `yoke calibrate`: the tool's own kernels. */
#include "calibrate/calibrate.h"

#include "tool.h"

static const app_calibrate_kernel kernels[] = {
    {.name = "fma",
     .help = "arithmetic; a unit is 131 thousand operations",
     .settings = "fma",
     .open = calibrate_open,
     .close = calibrate_close},
    {.name = "triad", .help = "memory; a unit is 12 kB that move", .settings = "triad", .open = calibrate_open, .close = calibrate_close},
    {0},
};

yoke_status tool_calibrate(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    const app_calibrate_front front = {.kernels = kernels};
    return app_calibrate(context, terminal, argc, argv, &front);
}
