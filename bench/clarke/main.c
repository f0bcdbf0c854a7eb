/* yoke-bench-clarke, started by `yoke bench clarke`. */
#include "clarke/output.h"
#include "common/console/interrupt.h"
#include "common/console/options.h"
#include "common/console/program.h"
#include "common/files/file.h"
#include "common/files/record.h"

typedef struct command_line {
    int64_t nodes, blocks, edge, limits;
    bool work_only;
    const char *directory, *json;
} command_line;

/* Numbers along the edge of a block such that the product that is actually computed has a side of about 1200. */
static int64_t edge_of(const command_line *line, int64_t blocks)
{
    enum { SIDE = 1200, LARGEST = 8 };
    if (line->edge >= 0) return line->edge;
    return blocks >= SIDE ? 1 : SIDE / blocks > LARGEST ? LARGEST : SIDE / blocks;
}

/* Figure 1.10: all strategies for several sizes of matrices. */
static yoke_status run_sizes(yoke_context *context, app_terminal *terminal, const command_line *line, clarke_study *study)
{
    static const int64_t of_90[] = {235, 352, 469, 586, 703, 820, 969, 1055, 1172}, of_8[] = {120, 160, 200, 240, 280, 320, 400};
    const int64_t *sizes = line->blocks > 0 ? &line->blocks : line->nodes == 90 ? of_90 : of_8;
    const int count = line->blocks > 0 ? 1 : line->nodes == 90 ? (int)(sizeof of_90 / sizeof *of_90) : (int)(sizeof of_8 / sizeof *of_8);
    yoke_status status = YOKE_OK;
    app_print(terminal, "%lld simulated nodes (Table 1.3, Figure 1.10): TFLOPS (imbalance of nodes)\n", (long long)line->nodes);
    clarke_print_runs_head(terminal);
    for (int k = 0; k < count && !status; k++) {
        clarke_run *runs = &study->runs[study->num_runs];
        for (int s = 0; s < CLARKE_STRATEGIES && !status; s++) {
            status = clarke_try(context, &study->cluster, (yoke_nested_strategy)s, sizes[k], edge_of(line, sizes[k]),
                                0.01 * (double)line->limits, &runs[s]);
            if (!status) status = app_interrupt_check(context);
        }
        if (status) break;
        study->num_runs += CLARKE_STRATEGIES;
        clarke_print_runs(terminal, runs);
        for (int s = 0; s < CLARKE_STRATEGIES && !status; s++)
            if (runs[s].wrong > 0)
                status = yoke_fail(context, YOKE_ERROR_INTERNAL, "the product of %lld blocks by %s is wrong: %lld entries differ",
                                   (long long)sizes[k], clarke_strategy_name((yoke_nested_strategy)s), (long long)runs[s].wrong);
    }
    return status;
}

static yoke_status write_record(yoke_context *context, const command_line *line, const clarke_study *study, int argc, char **argv)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(context, "yoke bench clarke", argc, argv, &record);
    if (!status) status = app_record_set(context, record, "nodes", json_integer(line->nodes));
    if (!status)
        status = app_record_set(
            context, record, "network",
            json_pack("{s:f, s:f}", "latency_s", study->cluster.network.latency_s, "bytes_per_s", study->cluster.network.bytes_per_s));
    if (!status) status = app_record_set(context, record, "work_only", json_boolean(line->work_only));
    if (!status) status = app_record_set(context, record, "limits_percent", json_integer(line->limits));
    if (!status) status = app_record_set(context, record, "runs", clarke_runs_value(study));
    if (!status) status = app_record_set(context, record, "models", clarke_steps_value(study));
    if (!status) status = app_record_set(context, record, "speeds", clarke_speeds_value(study));
    if (!status) status = app_record_write(context, record, line->json);
    json_decref(record);
    return status;
}

static yoke_status run(yoke_context *context, app_terminal *terminal, const command_line *line, int argc, char **argv, clarke_study *study)
{
    bool drawn = false;
    if (line->nodes == 90)
        clarke_grenoble(&study->cluster);
    else
        clarke_eight(&study->cluster);
    study->cluster.work_only = line->work_only;
    yoke_status status = run_sizes(context, terminal, line, study);
    if (!status) status = clarke_partial_models(context, study);
    if (!status) status = clarke_speed_functions(context, study);
    if (status) return status;
    app_print(terminal, "\nFour devices share 240 x 240 blocks by partial models (Figure 1.6)\n");
    clarke_print_steps(terminal, study);
    status = clarke_write(context, line->directory, study, &drawn);
    if (!status) app_print(terminal, "data%s in %s\n", drawn ? " and figure" : "", line->directory);
    if (!status && line->json) status = write_record(context, line, study, argc, argv);
    return status;
}

static const app_column columns[] = {
    {"N, blocks", "side of the matrices, in numbers and in blocks of 128"},
    {"fpm", "TFLOPS by functional models, and by how much the longest node is longer than the shortest"},
    {"cpm-multi", "the same by constant models that are measured again and again"},
    {"cpm", "by constant models that are measured once"},
    {"even", "all devices alike"},
    {"rounds", "partitions that functional models needed"},
    {"measuring", "time that these took, of that of the product"},
    {"comm", "time of the product that the network adds"},
    {"products", "whether the products that were carried out on small blocks are right"},
    {0},
};

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.nodes = 90, .edge = -1, .limits = 100, .directory = "out/bench-clarke"};
    const app_option options[] = {
        {.name = "nodes",
         .value = "N",
         .help = "90 (Table 1.3), or 8 of them; by default 90",
         .number = &line.nodes,
         .minimum = 8,
         .maximum = 90},
        {.name = "blocks",
         .value = "N",
         .help = "one matrix of N x N blocks of 128; by default several sizes",
         .number = &line.blocks,
         .minimum = 16,
         .maximum = 2000},
        {.name = "edge",
         .value = "N",
         .help = "blocks of N x N numbers for the products that are carried out; 0: none; by default as many as give 1200 a side",
         .number = &line.edge,
         .minimum = 0,
         .maximum = 64},
        {.name = "limits",
         .value = "PERCENT",
         .help = "how many of the blocks that fit their memory nodes and cards say that fit; 0: they say nothing; by default 100",
         .number = &line.limits,
         .minimum = 0,
         .maximum = 1000},
        {.name = "work-only", .help = "models of work alone, as the chapter's; by default of work and messages", .flag = &line.work_only},
        app_option_out(&line.directory, "where data and figure go; by default out/bench-clarke"),
        app_option_json(&line.json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "",
        .summary = "Divides products of matrices between simulated nodes as Clarke and others do (sect. 1.8 and 1.9).",
        .options = options,
        .columns = columns,
        .details =
            "Seconds are those of a model of the nodes and of a network (docs/notes/clarke.md). The products are carried out by the\n"
            "same partitions on small blocks, message by message, and checked exactly.\n"
            "Exit codes: 0 done; 1 failed while running, 2 bad input, 130 or 143 interrupted.",
    };
    bool answered = false;
    clarke_study *study = NULL;
    yoke_status status = app_options_parse(context, &usage, argc, argv, NULL, &answered);
    if (status || answered) return status;
    if (line.nodes != 8 && line.nodes != 90)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--nodes %lld: 8 or 90 are possible", (long long)line.nodes);
    status = app_interrupt_catch(context);
    if (!status) status = app_file_check(context, line.json);
    if (!status) status = yoke_allocate(context, 1, sizeof *study, &study);
    if (status) return status;
    status = run(context, terminal, &line, argc, argv, study);
    yoke_release(context, study);
    return status;
}

int main(int argc, char **argv) { return app_program("yoke bench clarke", start, argc, argv); }
