/* main.c - the command yoke dense: finds the operation and runs it. */
#include <string.h>

#include "calibrate.h"
#include "common/console/append.h"
#include "common/console/interrupt.h"
#include "common/console/nearest.h"
#include "common/console/program.h"
#include "operation.h"

static const dense_operation *const operations[] = {&dense_operation_gemm, &dense_operation_transpose, &dense_operation_tsp};

enum { OPERATIONS = sizeof operations / sizeof *operations };

static yoke_status answer(yoke_context *context, int argc, char **argv)
{
    char details[512] = "operations:";
    bool answered;
    const app_option none[] = {{.name = NULL}};
    for (int i = 0; i < OPERATIONS; i++) app_append(details, sizeof details, "\n  %-10s %s", operations[i]->name, operations[i]->summary);
    app_append(details, sizeof details, "\n\nyoke dense OPERATION --help explains an operation.");
    const app_usage usage = {.program = "yoke dense",
                             .operands = "OPERATION",
                             .operands_most = 1,
                             .summary = "Runs an operation on dense data, which all devices of the machine share.",
                             .options = none,
                             .details = details};
    app_list operands = {0};
    return app_options_parse(context, &usage, argc, argv, &operands, &answered);
}

static yoke_status missing(yoke_context *context)
{
    char list[128] = "";
    for (int i = 0; i < OPERATIONS; i++) app_append(list, sizeof list, "%s%s", i ? ", " : "", operations[i]->name);
    return yoke_fail(context, YOKE_ERROR_INPUT, "an operation is missing: %s (yoke dense --help says more)", list);
}

static yoke_status unknown(yoke_context *context, const char *word)
{
    const char *names[OPERATIONS];
    for (int i = 0; i < OPERATIONS; i++) names[i] = operations[i]->name;
    return app_unknown(context, "operation", word, OPERATIONS, names);
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    if (argc < 2) return missing(context);
    for (int i = 0; i < OPERATIONS; i++) {
        if (strcmp(argv[1], operations[i]->name) != 0) continue;
        terminal->program = operations[i]->usage.program;
        yoke_status status = app_interrupt_catch(context);
        return status ? status : dense_operation_run(operations[i], context, terminal, argc - 1, argv + 1);
    }
    return argv[1][0] == '-' && argv[1][1] ? answer(context, argc, argv) : unknown(context, argv[1]);
}

int main(int argc, char **argv)
{
    const int calibrates = argc > 1 && !strcmp(argv[1], "calibrate"); /* started so by `yoke calibrate` */
    return calibrates ? app_program("yoke calibrate", dense_calibrate, argc - 1, argv + 1) : app_program("yoke dense", start, argc, argv);
}
