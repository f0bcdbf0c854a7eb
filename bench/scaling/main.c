/* yoke-bench-scaling, started by `yoke bench scaling`. */
#include "common/console/interrupt.h"
#include "common/console/options.h"
#include "common/console/program.h"
#include "common/files/file.h"
#include "common/files/record.h"
#include "scaling/network.h"
#include "scaling/output.h"

typedef struct command_line {
    const char *network, *latency, *overhead, *bandwidth, *fine, *coarse, *noise;
    int64_t gathered, aligned, ranks, simulated, cores;
    bool measure;
    app_list records;
    const char *directory, *json;
} command_line;

/* Seconds per iteration and element of q2 and of q1 on one core of the virtual machine of docs/notes/fem-scaling.md. */
static const scaling_machine measured_core = {.fine_s = 2.6e-6, .coarse_s = 0.42e-6};

static yoke_status settle(yoke_context *context, const command_line *line, scaling_setting *setting)
{
    int number = 0;
    double latency_us, overhead_us, bandwidth_gb, fine_us, coarse_us;
    yoke_status status = app_option_choice(context, "network", line->network, scaling_network_names, &number);
    if (status) return status;
    *setting = (scaling_setting){.network = scaling_network_of(number),
                                 .machine = measured_core,
                                 .solver = {line->gathered, line->aligned},
                                 .most_ranks = line->ranks,
                                 .most_simulated = line->simulated};
    latency_us = 1e6 * setting->network.latency_s;
    overhead_us = 1e6 * setting->network.overhead_s;
    bandwidth_gb = 1e-9 * setting->network.bytes_per_s;
    fine_us = 1e6 * setting->machine.fine_s;
    coarse_us = 1e6 * setting->machine.coarse_s;
    status = app_option_real(context, "latency", line->latency, 0, 1e6, &latency_us);
    if (!status) status = app_option_real(context, "overhead", line->overhead, 0, 1e6, &overhead_us);
    if (!status) status = app_option_real(context, "bandwidth", line->bandwidth, 1e-6, 1e6, &bandwidth_gb);
    if (!status) status = app_option_real(context, "fine", line->fine, 1e-6, 1e6, &fine_us);
    if (!status) status = app_option_real(context, "coarse", line->coarse, 1e-6, 1e6, &coarse_us);
    if (!status) status = app_option_real(context, "noise", line->noise, 0, 100, &setting->noise);
    setting->network.latency_s = 1e-6 * latency_us;
    setting->network.overhead_s = 1e-6 * overhead_us;
    setting->network.bytes_per_s = 1e9 * bandwidth_gb;
    setting->machine.fine_s = 1e-6 * fine_us;
    setting->machine.coarse_s = 1e-6 * coarse_us;
    return status;
}

static yoke_status write_record(yoke_context *context, const command_line *line, const scaling_results *results, int argc, char **argv)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(context, "yoke bench scaling", argc, argv, &record);
    if (!status) status = app_record_set(context, record, "setting", scaling_setting_value(&results->setting));
    if (!status) status = app_record_set(context, record, "rows", scaling_rows_value(results));
    if (!status) status = app_record_set(context, record, "records", scaling_measured_value(results));
    if (!status) status = app_record_write(context, record, line->json);
    json_decref(record);
    return status;
}

static yoke_status compare(yoke_context *context, app_terminal *terminal, const command_line *line, scaling_results *results)
{
    yoke_status status = yoke_allocate(context, line->records.count + 1, sizeof *results->measured, &results->measured);
    for (int i = 0; i < line->records.count && !status; i++) {
        status = scaling_read(context, line->records.text[i], &results->measured[i]);
        if (!status) results->num_measured++;
    }
    if (status || !results->num_measured) return status;
    scaling_compare(&results->setting, line->cores, results->measured, results->num_measured);
    scaling_print_measured(terminal, results);
    return status;
}

static yoke_status run(yoke_context *context, app_terminal *terminal, const command_line *line, int argc, char **argv,
                       scaling_results *results)
{
    bool drawn = false;
    const scaling_network *network = &results->setting.network;
    yoke_status status = settle(context, line, &results->setting);
    if (status) return status;
    app_print(terminal, "%s: %s; latency %.3g us, overhead %.3g us, %.3g GB/s\n", network->name, network->text, 1e6 * network->latency_s,
              1e6 * network->overhead_s, 1e-9 * network->bytes_per_s);
    results->num_rows = scaling_rows(&results->setting, results->rows);
    for (int i = 0; i < results->num_rows && !status; i++) {
        if (i == 0 || results->rows[i].weak != results->rows[i - 1].weak) scaling_print_head(terminal, results->rows[i].weak);
        status = scaling_try(context, &results->setting, &results->rows[i]);
        if (!status) scaling_print_row(terminal, &results->rows[i]);
        if (!status) status = app_interrupt_check(context);
    }
    if (!status) status = compare(context, terminal, line, results);
    if (!status) status = scaling_write(context, line->directory, results, &drawn);
    if (!status) app_print(terminal, "\ndata%s in %s\n", drawn ? " and figure" : "", line->directory);
    if (!status && line->json) status = write_record(context, line, results, argc, argv);
    return status;
}

/* Measures on the MPI ranks. */
static yoke_status measure(yoke_context *context, app_terminal *terminal)
{
    app_ranks *ranks = NULL;
    scaling_sums sums;
    yoke_status status = app_ranks_start(context, &ranks);
    if (!status && app_ranks_count(ranks) < 2)
        status =
            app_ranks_agree(ranks, yoke_fail(context, YOKE_ERROR_INPUT, "--measure needs ranks: mpirun -n 2 yoke bench scaling --measure"));
    if (!status) status = scaling_measure(context, ranks, &sums);
    if (!status && app_ranks_number(ranks) == 0)
        app_print(terminal, "%d ranks: a sum of three numbers takes %.3g us, a broadcast passes %.3g GB/s\n", app_ranks_count(ranks),
                  1e6 * sums.sum_s, 1e-9 * sums.bytes_per_s);
    return app_ranks_end(ranks, terminal, status);
}

static const app_column columns[] = {
    {"ranks, elements", "number of ranks, and q2 elements of all"},
    {"work", "of a rank with as many elements as the others"},
    {"cuts", "more, as ranks begin only where the mesh can be coarsened"},
    {"halo", "messages between neighbours, as far as work does not hide them"},
    {"sums", "sums over all ranks, and agreement"},
    {"gather", "values of the last level to and from rank 0"},
    {"rank 0", "its work on the last level and all that are coarser, while the others wait"},
    {"formula", "all of these"},
    {"simulated", "the same where each rank has a clock, and all messages are simulated; -: not done"},
    {"%", "efficiency: speed for each rank over that of one rank alone"},
    {"largest", "what takes longest beside work"},
    {0},
};

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "network", .value = "NAME", .help = "host (as measured, by default), ethernet or infiniband", .text = &line->network},
        {.name = "latency", .value = "US", .help = "of a message, microseconds", .text = &line->latency},
        {.name = "overhead", .value = "US", .help = "of the core that sends or receives one, microseconds", .text = &line->overhead},
        {.name = "bandwidth", .value = "GB/S", .help = "of a rank, in each direction", .text = &line->bandwidth},
        {.name = "fine", .value = "US", .help = "of an element of q2 in an iteration, without coarser levels", .text = &line->fine},
        {.name = "coarse", .value = "US", .help = "of an element of q1 on one level", .text = &line->coarse},
        {.name = "noise",
         .value = "PART",
         .help = "simulated work takes up to so much longer, at random; 0.1 is 10 %",
         .text = &line->noise},
        {.name = "gathered",
         .value = "N",
         .help = "a level of at most so many elements is left to rank 0; by default 20000",
         .number = &line->gathered,
         .minimum = 1,
         .maximum = 1000000000},
        {.name = "aligned",
         .value = "N",
         .help = "at most so often the distributed mesh is coarsened; by default 4",
         .number = &line->aligned,
         .minimum = 0,
         .maximum = 6},
        {.name = "ranks",
         .value = "N",
         .help = "at most so many ranks; by default 10000",
         .number = &line->ranks,
         .minimum = 10,
         .maximum = 10000},
        {.name = "simulated",
         .value = "N",
         .help = "simulates at most so many; by default 10000",
         .number = &line->simulated,
         .minimum = 0,
         .maximum = 10000},
        {.name = "record",
         .value = "FILE",
         .help = "run.json of yoke fem, to be compared; may be given several times",
         .list = &line->records},
        {.name = "cores",
         .value = "N",
         .help = "of the machine that all ranks of these runs shared",
         .number = &line->cores,
         .minimum = 1,
         .maximum = 1000000},
        {.name = "measure", .help = "only measures sums and broadcasts between the ranks that mpirun has started", .flag = &line->measure},
        app_option_out(&line->directory, "where data and figure go; by default out/bench-scaling"),
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "",
        .summary = "Time of an iteration of yoke fem on up to 10 000 ranks: a formula, and simulated ranks with a network.",
        .options = options,
        .columns = columns,
        .details = "The mesh is a uniform cube of q2 elements. Assumptions and results are in docs/notes/fem-scaling.md.\n"
                   "Exit codes: 0 done; 1 failed while running, 2 bad input, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, NULL, answered);
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {
        .gathered = 20000, .aligned = 4, .ranks = 10000, .simulated = 10000, .cores = 1000000, .directory = "out/bench-scaling"};
    bool answered = false;
    scaling_results *results = NULL;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    if (line.measure) return measure(context, terminal);
    status = app_interrupt_catch(context);
    if (!status) status = app_file_check(context, line.json);
    if (!status) status = yoke_allocate(context, 1, sizeof *results, &results);
    if (status) return status;
    status = run(context, terminal, &line, argc, argv, results);
    yoke_release(context, results->measured);
    yoke_release(context, results);
    return status;
}

int main(int argc, char **argv) { return app_program("yoke bench scaling", start, argc, argv); }
