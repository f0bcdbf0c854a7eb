/* yoke-bench-numa, started by `yoke bench numa`. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/console/interrupt.h"
#include "common/console/options.h"
#include "common/console/program.h"
#include "common/files/directory.h"
#include "common/files/file.h"
#include "common/files/plot.h"
#include "common/files/record.h"
#include "numa/measure.h"

enum { NUM_ROWS = 2 * NUMA_PLACEMENTS, MAX_PASSES = 1000000 };

typedef struct command_line {
    int64_t megabytes, repeats, pretend;
    double seconds;
    const char *seconds_text, *directory, *json;
} command_line;

/* Seconds of a pass, and joules of the machine's meters during it: means with half widths of 95 % intervals. */
typedef struct numa_row {
    bool product;
    numa_placement placement;
    double mean_s, interval_s, bytes_per_s, mean_j, interval_j, misplaced;
} numa_row;

typedef struct bench {
    yoke_context *context;
    app_terminal *terminal;
    const command_line *line;
    numa_machine machine;
    yoke_meters *meter;
    numa_vectors vectors[NUMA_PLACEMENTS];
    int num_rows;
    numa_row row[NUM_ROWS];
    char energy_note[256];    /* why there are no energies, or "" */
    double *seconds, *joules; /* [placements][repeats] */
} bench;

/* ----------------------------------------------------------------------------------------------- measuring */

static yoke_status measure_once(bench *b, bool product, int placement, int64_t passes, int64_t at)
{
    yoke_region *region = NULL;
    yoke_energy energy;
    double sum, seconds;
    const numa_vectors *vectors = &b->vectors[placement];
    yoke_status status = yoke_region_begin(b->meter, &region);
    if (status) return status;
    const double taken = numa_run(vectors, product, passes, &sum);
    status = yoke_region_end(region, &seconds, NULL, &energy);
    if (status) return status;
    if (sum != numa_expected(vectors, product))
        return yoke_fail(b->context, YOKE_ERROR_INTERNAL, "%s placement gave %.17g instead of %.17g",
                         numa_placement_name((numa_placement)placement), sum, numa_expected(vectors, product));
    b->seconds[placement * b->line->repeats + at] = taken / (double)passes;
    b->joules[placement * b->line->repeats + at] = energy.value_j / (double)passes;
    if (isnan(energy.value_j) && b->energy_note[0] == '\0') snprintf(b->energy_note, sizeof b->energy_note, "%s", energy.why_not);
    return app_interrupt_check(b->context);
}

/* Alternates between the placements, so that changes of the machine affect all of them. */
static yoke_status measure_kernel(bench *b, bool product)
{
    double sum;
    int64_t passes = 1;
    while (numa_run(&b->vectors[NUMA_RIGHT], product, passes, &sum) < b->line->seconds && passes < MAX_PASSES) passes *= 2;
    yoke_status status = YOKE_OK;
    for (int64_t r = 0; r < b->line->repeats && !status; r++) {
        for (int p = 0; p < NUMA_PLACEMENTS && !status; p++) status = measure_once(b, product, p, passes, r);
        app_progress(b->terminal, "%s: %lld of %lld", product ? "product" : "triad", (long long)r + 1, (long long)b->line->repeats);
    }
    for (int p = 0; p < NUMA_PLACEMENTS && !status; p++) {
        numa_row *row = &b->row[b->num_rows++];
        *row = (numa_row){.product = product, .placement = (numa_placement)p};
        numa_mean(b->line->repeats, b->seconds + p * b->line->repeats, &row->mean_s, &row->interval_s);
        numa_mean(b->line->repeats, b->joules + p * b->line->repeats, &row->mean_j, &row->interval_j);
        row->bytes_per_s = (product ? 2.0 : 3.0) * (double)b->vectors[p].bytes / row->mean_s;
        row->misplaced = numa_misplaced(&b->vectors[p], (numa_placement)p);
    }
    return status;
}

static yoke_status measure(bench *b)
{
    void *seconds = NULL, *joules = NULL;
    yoke_status status = yoke_allocate(b->context, NUMA_PLACEMENTS * b->line->repeats, sizeof(double), &seconds);
    if (!status) status = yoke_allocate(b->context, NUMA_PLACEMENTS * b->line->repeats, sizeof(double), &joules);
    if (!status) status = yoke_meters_open(b->context, NULL, &b->meter);
    b->seconds = seconds;
    b->joules = joules;
    for (int p = 0; p < NUMA_PLACEMENTS && !status; p++)
        status = numa_vectors_create(b->context, &b->machine, (numa_placement)p, b->line->megabytes * 1000000 / (int64_t)sizeof(double),
                                     &b->vectors[p]);
    if (!status) status = measure_kernel(b, false);
    if (!status) status = measure_kernel(b, true);
    for (int p = 0; p < NUMA_PLACEMENTS; p++)
        if (b->vectors[p].bytes > 0) numa_vectors_destroy(&b->vectors[p]);
    yoke_meters_close(b->meter);
    yoke_release(b->context, joules);
    yoke_release(b->context, seconds);
    return status;
}

/* -------------------------------------------------------------------------------------------------- output */

static const char *kernel_name(const numa_row *row) { return row->product ? "product" : "triad"; }

/* Table 4.1: if the interval overlaps that of the correct placement, no difference was found. */
static const char *judge(const bench *b, const numa_row *row)
{
    const numa_row *right = &b->row[row->product ? NUMA_PLACEMENTS : 0];
    if (row->placement == NUMA_RIGHT) return "";
    return fabs(row->mean_s - right->mean_s) <= row->interval_s + right->interval_s ? "intervals overlap" : "differs";
}

static void print_rows(const bench *b)
{
    app_print(b->terminal, "%d nodes%s, threads on each: %d, vectors of %.1f MB\n%-8s %-12s %24s %8s %8s %22s\n", b->machine.nodes,
              b->machine.pretended ? " (pretended: all are the same one, placements do not differ)" : "", b->machine.threads_per_node,
              (double)b->line->megabytes, "kernel", "placement", "ms", "GB/s", "/right", "J");
    for (int i = 0; i < b->num_rows; i++) {
        const numa_row *row = &b->row[i], *right = &b->row[row->product ? NUMA_PLACEMENTS : 0];
        char time[40], energy[40] = "not metered";
        snprintf(time, sizeof time, "%.4f +- %.4f", 1e3 * row->mean_s, 1e3 * row->interval_s);
        if (!isnan(row->mean_j)) snprintf(energy, sizeof energy, "%.4g +- %.2g", row->mean_j, row->interval_j);
        app_print(b->terminal, "%-8s %-12s %24s %8.1f %8.3f %22s  %s\n", kernel_name(row), numa_placement_name(row->placement), time,
                  1e-9 * row->bytes_per_s, row->mean_s / right->mean_s, energy, judge(b, row));
        if (row->misplaced > 0)
            app_print(b->terminal, "  %.0f %% of the intervals are not where they should be\n", 100 * row->misplaced);
        else if (isnan(row->misplaced))
            app_print(b->terminal, "  the system does not say where the pages lie\n");
    }
    if (b->energy_note[0]) app_print(b->terminal, "energy: %s\n", b->energy_note);
}

static void write_number(FILE *out, double value)
{
    fputc(',', out);
    if (isfinite(value)) fprintf(out, "%.9g", value);
}

static void print_csv(FILE *out, const void *data)
{
    const bench *b = data;
    fputs("kernel,placement,mean_s,interval_s,bytes_per_s,mean_j,interval_j,misplaced\n", out);
    for (int i = 0; i < b->num_rows; i++) {
        const numa_row *row = &b->row[i];
        const double values[] = {row->mean_s, row->interval_s, row->bytes_per_s, row->mean_j, row->interval_j, row->misplaced};
        fprintf(out, "%s,%s", kernel_name(row), numa_placement_name(row->placement));
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) write_number(out, values[k]);
        fputc('\n', out);
    }
}

static void print_script(FILE *out, const void *data)
{
    (void)data;
    fprintf(
        out,
        "# gnuplot numa.gp, in the directory of numa.csv\nset datafile separator ','\nset terminal svg size 900, 420 noenhanced background "
        "'white'\nset output 'numa.svg'\nset grid\nset yrange [0:*]\nset xrange [-0.5:%d.5]\nset ylabel 'ms, with 95 %% intervals'\nset "
        "multiplot "
        "layout 1, 2\n",
        NUMA_PLACEMENTS - 1);
    for (int kernel = 0; kernel < 2; kernel++)
        fprintf(out, "plot 'numa.csv' skip 1 every ::%d::%d using 0:(1e3*$3):(1e3*$4):xtic(2) with yerrorbars pointtype 7 title '%s'\n",
                kernel * NUMA_PLACEMENTS, (kernel + 1) * NUMA_PLACEMENTS - 1, kernel ? "product" : "triad");
    fputs("unset multiplot\n", out);
}

/* NULL: out of memory. */
static json_t *rows_value(const bench *b)
{
    json_t *array = json_array();
    for (int i = 0; i < b->num_rows; i++) {
        const numa_row *row = &b->row[i];
        json_t *value = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "kernel", kernel_name(row), "placement",
                                  numa_placement_name(row->placement), "mean_s", app_json_number(row->mean_s), "interval_s",
                                  app_json_number(row->interval_s), "bytes_per_s", app_json_number(row->bytes_per_s), "mean_j",
                                  app_json_number(row->mean_j), "interval_j", app_json_number(row->interval_j), "misplaced",
                                  app_json_number(row->misplaced));
        array = app_json_append(array, value);
    }
    return array;
}

static yoke_status write_record(const bench *b, int argc, char **argv)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(b->context, "yoke bench numa", argc, argv, &record);
    if (!status) status = app_record_set(b->context, record, "nodes", json_integer(b->machine.nodes));
    if (!status) status = app_record_set(b->context, record, "threads_per_node", json_integer(b->machine.threads_per_node));
    if (!status) status = app_record_set(b->context, record, "pretended", json_boolean(b->machine.pretended));
    if (!status) status = app_record_set(b->context, record, "rows", rows_value(b));
    if (!status) status = app_record_write(b->context, record, b->line->json);
    json_decref(record);
    return status;
}

/* ------------------------------------------------------------------------------------------------- program */

static const app_column columns[] = {
    {"kernel", "triad: a = b + 3 c; product: of two vectors"},
    {"placement", "of each thread's data: on its own (right) node, on another (wrong) one, or interleaved over all"},
    {"ms", "of a pass: mean and half width of its 95 % interval"},
    {"GB/s", "bytes over that"},
    {"/right", "time over that of the right placement"},
    {"J", "energy of a pass: mean and half width of its 95 % interval"},
    {0},
};

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "megabytes",
         .value = "N",
         .help = "size of each of the three vectors; by default 100, far more than the caches",
         .number = &line->megabytes,
         .minimum = 1,
         .maximum = 100000},
        {.name = "repeats",
         .value = "N",
         .help = "measurements of each; by default 20",
         .number = &line->repeats,
         .minimum = 2,
         .maximum = 10000},
        {.name = "seconds", .value = "S", .help = "minimum length of a measurement; by default 0.1", .text = &line->seconds_text},
        {.name = "pretend",
         .value = "N",
         .help = "treat a single NUMA node as N nodes: a trial run, which compares nothing",
         .number = &line->pretend,
         .minimum = 2,
         .maximum = NUMA_MAX_NODES},
        app_option_out(&line->directory, "where data and figure go; by default out/bench-numa"),
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "",
        .summary =
            "Measures triad and product of vectors on the right, the wrong and interleaved NUMA nodes (Lang's dissertation, sect. 4.3).",
        .options = options,
        .columns = columns,
        .details = "At the end of a row: whether its interval overlaps with that of the right placement. On a machine with one NUMA node "
                   "there is nothing to compare.\n"
                   "Exit codes: 0 done, or one node; 1 failed while running, 2 bad input, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, NULL, answered);
}

static yoke_status check_line(yoke_context *context, command_line *line)
{
    yoke_status status = app_option_real(context, "seconds", line->seconds_text, 1e-9, 1000, &line->seconds);
    return status ? status : app_file_check(context, line->json);
}

static yoke_status run(bench *b)
{
    if (b->machine.nodes == 1) {
        app_print(b->terminal, "this machine has one NUMA node: there is nothing to compare\n");
        return YOKE_OK;
    }
    yoke_status status = app_directory_make(b->context, b->line->directory);
    if (!status) status = measure(b);
    if (status) return status;
    print_rows(b);
    const app_plot plot = {
        .directory = b->line->directory, .base = "numa", .ending = ".csv", .print_data = print_csv, .print_script = print_script};
    status = app_plot_show(b->context, b->terminal, &plot, b);
    return status;
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.megabytes = 100, .repeats = 20, .seconds = 0.1, .directory = "out/bench-numa"};
    bool answered = false;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    bench b = {.context = context, .terminal = terminal, .line = &line};
    status = app_interrupt_catch(context);
    if (!status) status = check_line(context, &line);
    if (!status) status = numa_machine_load(context, (int)line.pretend, &b.machine);
    if (status) return status;
    status = run(&b);
    if (!status && line.json) status = write_record(&b, argc, argv);
    numa_machine_unload(&b.machine);
    return status;
}

int main(int argc, char **argv) { return app_program("yoke bench numa", start, argc, argv); }
