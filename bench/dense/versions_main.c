/* yoke-bench-dense-versions, started by `yoke bench dense-versions`. */
#include <math.h>
#include <string.h>

#include "common/console/interrupt.h"
#include "common/console/options.h"
#include "common/console/program.h"
#include "common/files/directory.h"
#include "common/files/file.h"
#include "common/files/plot.h"
#include "common/files/record.h"
#include "dense/sizes.h"
#include "dense/versions.h"

enum { CURVES = 4, MAX_ROWS = CURVES * BENCH_MAX_SIZES };

typedef struct curve {
    int version, engines;
    const char *title;
} curve;

/* The last curve is only for simulated cards, because the number of copy engines of a real card cannot be chosen. */
static const curve curves[CURVES] = {{1, 1, "version 1: C moves for each panel"},
                                     {2, 1, "version 2: C stays"},
                                     {3, 1, "version 3: copies overlap, one copy engine"},
                                     {3, 2, "version 3: copies overlap, two copy engines"}};

typedef struct command_line {
    const char *device, *sizes, *memory, *directory, *json;
    int64_t repeats, depth;
} command_line;

typedef struct bench {
    yoke_context *context;
    app_terminal *terminal;
    const command_line *line;
    bench_versions_options options;
    bench_sizes sizes;
    int num_curves, num_rows;
    bench_versions_row row[MAX_ROWS]; /* [curves][sizes] */
} bench;

/* ------------------------------------------------------------------------------------------------- options */

static yoke_status read_options(bench *b)
{
    const command_line *line = b->line;
    double memory = 0;
    b->options = (bench_versions_options){.device = line->device,
                                          .card = {.flops_per_s = 900e9 / 16, .bytes_per_s = 6e9, .memory_bytes = 2e9 / 256},
                                          .directory = line->directory,
                                          .depth = line->depth    ? line->depth
                                                   : line->device ? DENSE_GEMM_DEPTH
                                                                  : 640 / 16,
                                          .repeats = line->repeats};
    b->num_curves = line->device ? 3 : CURVES;
    yoke_status status = app_option_real(b->context, "memory", line->memory, 1, 1e15, &memory);
    b->options.memory_bytes = (int64_t)memory;
    if (!status)
        status = bench_sizes_read(b->context, line->sizes ? line->sizes : "96,160,224,288,352,416,480,544,608,672,736,800,864,928,992",
                                  &b->sizes);
    if (!status) status = app_directory_make(b->context, line->directory);
    return status ? status : app_file_check(b->context, line->json);
}

static const char *title_of(const bench *b, int c)
{
    return b->line->device && curves[c].version == 3 ? "version 3: copies overlap" : curves[c].title;
}

/* -------------------------------------------------------------------------------------------------- measuring */

static yoke_status measure(bench *b)
{
    yoke_status status = YOKE_OK;
    for (int c = 0; c < b->num_curves && !status; c++)
        for (int i = 0; i < b->sizes.count && !status; i++) {
            const int64_t n = b->sizes.n[i];
            app_progress(b->terminal, "%s: n = %lld", title_of(b, c), (long long)n);
            status = bench_versions_measure(b->context, &b->options, n, curves[c].version, b->line->device ? 0 : curves[c].engines,
                                            &b->row[b->num_rows]);
            if (!status) b->num_rows++;
            if (!status) status = app_interrupt_check(b->context);
        }
    return status;
}

/* -------------------------------------------------------------------------------------------------- output */

static const app_column columns[] = {{"n", "rows and columns of all three matrices, of doubles"},
                                     {"1", "GFLOP/s of version 1: C moves for each panel of B"},
                                     {"2", "of version 2: C stays on the device"},
                                     {"3", "of version 3: copies overlap; on the simulated card with one copy engine"},
                                     {"3 (two engines)", "the same with two copy engines: on the simulated card"},
                                     {"memory", "out: the product of version 2 does not fit into the memory of the device"},
                                     {NULL, NULL}};

static void print_table(const bench *b)
{
    const int sizes = b->sizes.count;
    app_print(b->terminal, "%6s  %8s  %8s  %8s%s  memory\n", "n", "1", "2", "3", b->num_curves == CURVES ? "  3 (two engines)" : "");
    for (int i = 0; i < sizes; i++) {
        app_print(b->terminal, "%6lld", (long long)b->row[i].n);
        for (int c = 0; c < b->num_curves; c++) app_print(b->terminal, "  %*.2f", c < 3 ? 8 : 15, 1e-9 * b->row[c * sizes + i].flops_per_s);
        app_print(b->terminal, "  %s\n", b->row[sizes + i].out_of_core ? "out" : "in");
    }
}

static void print_data(FILE *out, const void *data)
{
    const bench *b = data;
    for (int c = 0; c < b->num_curves; c++) {
        fprintf(out, "%s# %s: n, GFLOP/s, seconds, out of core\n", c ? "\n\n" : "", title_of(b, c));
        for (int i = 0; i < b->sizes.count; i++) {
            const bench_versions_row *row = &b->row[c * b->sizes.count + i];
            fprintf(out, "%lld %.9g %.9g %d\n", (long long)row->n, 1e-9 * row->flops_per_s, row->seconds, row->out_of_core);
        }
    }
}

static void print_script(FILE *out, const void *data)
{
    const bench *b = data;
    fputs("# gnuplot dense-versions.gp, in the directory of dense-versions.dat\nset terminal svg size 800, 500 noenhanced background "
          "'white'\n"
          "set output 'dense-versions.svg'\nset grid\nset key bottom right\nset xlabel 'n'\nset ylabel 'GFLOP/s'\nset yrange [0:*]\nplot ",
          out);
    for (int c = 0; c < b->num_curves; c++)
        fprintf(out, "%s'dense-versions.dat' index %d using 1:2 with linespoints pointtype %d title '%s'", c ? ", " : "", c, c + 4,
                title_of(b, c));
    fputc('\n', out);
}

static json_t *rows_of(const bench *b)
{
    json_t *list = json_array();
    for (int i = 0; i < b->num_rows; i++) {
        const bench_versions_row *row = &b->row[i];
        list = app_json_append(list, json_pack("{s:I, s:i, s:o, s:o, s:o, s:s, s:b, s:o}", "n", (json_int_t)row->n, "version", row->version,
                                               "copy_engines", row->engines ? json_integer(row->engines) : json_null(), "seconds",
                                               app_json_number(row->seconds), "gflops", app_json_number(1e-9 * row->flops_per_s), "by",
                                               row->by, "out_of_core", row->out_of_core, "relative_error", app_json_number(row->error)));
    }
    return list;
}

static yoke_status write_record(const bench *b, int argc, char **argv)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(b->context, "yoke bench dense-versions", argc, argv, &record);
    if (!status) status = app_record_set(b->context, record, "device", b->line->device ? app_json_text(b->line->device) : json_null());
    if (!status) status = app_record_set(b->context, record, "depth", json_integer(b->options.depth));
    if (!status) status = app_record_set(b->context, record, "rows", rows_of(b));
    if (!status) status = app_record_write(b->context, record, b->line->json);
    json_decref(record);
    return status;
}

/* ------------------------------------------------------------------------------------------------- program */

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "device", .value = "NAME", .help = "a device, as opencl:0.0; by default a simulated card", .text = &line->device},
        {.name = "sizes", .value = "N,N,...", .help = "rows of the matrices; by default 96 to 992", .text = &line->sizes},
        {.name = "memory", .value = "BYTES", .help = "that the device may take; by default all", .text = &line->memory},
        {.name = "depth",
         .value = "ROWS",
         .help = "of a panel of B; by default 512, on the simulated card 40",
         .number = &line->depth,
         .minimum = 1,
         .maximum = 65536},
        {.name = "repeats",
         .value = "N",
         .help = "products of each size, of which the shortest time counts; by default 2",
         .number = &line->repeats,
         .minimum = 1,
         .maximum = 1000},
        app_option_out(&line->directory, "where data and figure go; by default out/bench-dense-versions"),
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {.name = NULL},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "",
        .summary = "Speeds of a GPU's product by size for three versions of its kernel (Clarke, fig. 1.4), in core and out of core.",
        .options = options,
        .columns = columns,
        .details = "The simulated card is a GeForce GTX 680 whose speed and sides of matrices are 1/16: the relation of copies to products "
                   "is the\n"
                   "same. It computes real results, which are checked.\n"
                   "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 the device is not there, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, NULL, answered);
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.repeats = 2, .directory = "out/bench-dense-versions"};
    bool answered = false;
    static bench b;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    b = (bench){.context = context, .terminal = terminal, .line = &line};
    status = app_interrupt_catch(context);
    if (!status) status = read_options(&b);
    if (!status) status = measure(&b);
    if (status) return status;
    print_table(&b);
    const app_plot plot = {.directory = line.directory, .base = "dense-versions", .print_data = print_data, .print_script = print_script};
    status = app_plot_show(context, terminal, &plot, &b);
    return status || !line.json ? status : write_record(&b, argc, argv);
}

int main(int argc, char **argv) { return app_program("yoke bench dense-versions", start, argc, argv); }
