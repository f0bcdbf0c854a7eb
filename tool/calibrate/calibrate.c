/* `yoke calibrate`: the tool's own kernels, and the programs that have the others. */
#include "calibrate/calibrate.h"

#include <string.h>

#include "tool.h"

static const app_calibrate_kernel kernels[] = {
    {.name = "fma",
     .help = "arithmetic; a unit is 131 thousand operations",
     .settings = "fma",
     .open = calibrate_open,
     .close = calibrate_close},
    {.name = "triad", .help = "memory traffic; a unit is 12 kB", .settings = "triad", .open = calibrate_open, .close = calibrate_close},
    {0},
};

static const app_calibrate_other others[] = {
    {"axmebe", "element-by-element product of yoke fem; a unit is an element", "yoke-fem"},
    {"axmebe-coarse", "this product on the coarser levels of multigrid", "yoke-fem"},
    {"gemm", "product of two matrices of yoke dense; a unit is a block of rows", "yoke-dense"},
    {"transpose", "transposition of yoke dense; a unit is a block of rows", "yoke-dense"},
    {"tsp", "tours of yoke dense; a unit is a restart", "yoke-dense"},
    {"fmm", "all operations of yoke fmm on the cores", "yoke-fmm"},
    {0},
};

/* Executes PROGRAM calibrate with the same options. */
static yoke_status become(yoke_context *context, const char *program, int argc, char **argv)
{
    static char word[] = "calibrate";
    char **words = NULL;
    yoke_status status = yoke_allocate(context, argc + 2, sizeof *words, &words);
    if (status) return status;
    words[1] = word;
    for (int i = 1; i < argc; i++) words[i + 1] = argv[i];
    status = tool_become(context, program, words);
    yoke_release(context, words);
    return status;
}

yoke_status tool_calibrate(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    const app_calibrate_front front = {.kernels = kernels, .others = others};
    const char *program = app_calibrate_program(&front, argc, argv);
    return program ? become(context, program, argc, argv) : app_calibrate(context, terminal, argc, argv, &front);
}
