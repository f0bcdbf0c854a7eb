/* yoke bench: lists the benchmarks, and runs the program of one. */
#include <stdio.h>
#include <string.h>

#include "common/console/nearest.h"
#include "common/console/options.h"
#include "tool.h"

/* Each benchmark is a program yoke-bench-NAME of its own, because it may need libraries that the tool itself does not. */
static const struct {
    const char *name, *summary;
} benchmarks[] = {
    {"adapt", "an adaptive run: seconds by phase of each step"},
    {"axmebe", "products y = A u of finite elements: variants, devices, numbers of elements"},
    {"balance", "the balancer on simulated devices with noise, knees and cliffs"},
    {"calibrate", "calibrations of random simulated machines: coverage of the intervals, losses of the plans"},
    {"ceilings", "limits of the cores: STREAM's triad and DGEMM"},
    {"cg", "solves of a cube by conjugate gradients: meshes, preconditioners, threads"},
    {"clarke", "products of matrices on 90 simulated nodes: functional and constant models, Clarke and others, sect. 1.9"},
    {"contention", "products on cores and an accelerator, alone and at the same time: Clarke's sect. 1.5"},
    {"dense-versions", "products of a GPU by size, for three versions of its kernel: Clarke's fig. 1.4"},
    {"energy", "time, energy and power: the measurements of Lang and Ruenger 2014, with their fits"},
    {"fem-reductions", "solves of a case with several ways in which threads and ranks add the products of elements"},
    {"meter", "costs of metering itself: beginning and ending a region, and sampling"},
    {"numa", "vectors on the right, the wrong and interleaved NUMA nodes: Lang's dissertation, sect. 4.3"},
    {"overhead", "the solver with and without the measurements for the balancer"},
    {"plan", "plans for random problems: the time they take, and whether they are optimal"},
    {"profile", "power profiles and energies of short kernels on simulated sensors, compared with the true values"},
    {"reduction", "element vectors added into one vector by several threads: Lang's dissertation, sect. 4.2"},
    {"scaling", "an iteration of yoke fem on up to 10 000 ranks: a formula compared with simulated ranks and a network"},
};

enum { NUM_BENCHMARKS = sizeof benchmarks / sizeof benchmarks[0], LIST_LENGTH = 2048 };

static void list_benchmarks(char list[LIST_LENGTH])
{
    int length = snprintf(list, LIST_LENGTH, "benchmarks:");
    for (int i = 0; i < NUM_BENCHMARKS; i++)
        length += snprintf(list + length, (size_t)(LIST_LENGTH - length), "\n  %-14s %s", benchmarks[i].name, benchmarks[i].summary);
}

static yoke_status unknown(yoke_context *context, const char *name)
{
    const char *names[NUM_BENCHMARKS];
    for (int i = 0; i < NUM_BENCHMARKS; i++) names[i] = benchmarks[i].name;
    return app_unknown(context, "benchmark", name, NUM_BENCHMARKS, names);
}

/* Options before the name of a benchmark belong to `yoke bench` itself. */
static yoke_status parse_own(yoke_context *context, const app_terminal *terminal, char **argv)
{
    static const app_option none[] = {{0}};
    char list[LIST_LENGTH];
    list_benchmarks(list);
    const app_usage usage = {
        .program = terminal->program,
        .operands = "NAME [ARGUMENT]...",
        .operands_most = 1,
        .summary = "Runs a benchmark; without a name, lists all benchmarks. yoke bench NAME --help explains one.",
        .options = none,
        .details = list,
    };
    bool answered;
    app_list operands = {0};
    return app_options_parse(context, &usage, 2, argv, &operands, &answered);
}

yoke_status tool_bench(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    if (argc >= 2 && argv[1][0] == '-') return parse_own(context, terminal, argv);
    if (argc < 2) {
        char list[LIST_LENGTH];
        list_benchmarks(list);
        app_print(terminal, "%s\n", list);
        return YOKE_OK;
    }
    for (int i = 0; i < NUM_BENCHMARKS; i++) {
        if (strcmp(argv[1], benchmarks[i].name) != 0) continue;
        char program[64];
        snprintf(program, sizeof program, "yoke-bench-%s", benchmarks[i].name);
        return tool_become(context, program, argv + 1);
    }
    return unknown(context, argv[1]);
}
