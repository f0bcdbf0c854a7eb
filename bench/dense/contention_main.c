/* yoke-bench-contention, started by `yoke bench contention`. */
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
#include "dense/contention.h"
#include "dense/sizes.h"

typedef struct command_line {
    const char *device, *cores, *rest, *sizes, *accuracy, *directory, *json, *machine;
    int64_t repeats;
} command_line;

typedef struct bench {
    yoke_context *context;
    app_terminal *terminal;
    const command_line *line;
    bench_contention_options options;
    bench_sizes sizes;
    int num_rows;
    bench_contention_row row[BENCH_MAX_SIZES];
} bench;

static yoke_status read_options(bench *b)
{
    const command_line *line = b->line;
    b->options = (bench_contention_options){.cores = line->cores,
                                            .rest = line->rest,
                                            .gpu = line->device,
                                            .repeats_least = line->repeats < 3 ? line->repeats : 3,
                                            .repeats_most = line->repeats,
                                            .accuracy = 0.025};
    yoke_status status = app_option_real(b->context, "accuracy", line->accuracy, 1e-6, 1, &b->options.accuracy);
    if (!status && (!line->device || !line->cores || !line->rest))
        status =
            yoke_fail(b->context, YOKE_ERROR_INPUT,
                      "expected an accelerator (--device opencl:0.0), all cores (--cores openmp:0-5) and those but the one that serves it "
                      "(--rest openmp:0-4)");
    if (!status) status = bench_sizes_read(b->context, line->sizes ? line->sizes : "512,1024,1536,2048", &b->sizes);
    if (!status) status = app_directory_make(b->context, line->directory);
    return status ? status : app_file_check(b->context, line->json);
}

static yoke_status measure(bench *b)
{
    app_blas blas;
    const char *why = app_blas_open(&blas);
    yoke_status status = why ? yoke_fail(b->context, YOKE_ERROR_UNAVAILABLE, "%s", why) : YOKE_OK;
    if (!status && b->line->machine) status = yoke_machine_read(b->context, b->line->machine);
    for (int i = 0; i < b->sizes.count && !status; i++) {
        app_progress(b->terminal, "n = %lld", (long long)b->sizes.n[i]);
        status = bench_contention_measure(b->context, &b->options, &blas, b->sizes.n[i], &b->row[i]);
        if (!status) b->num_rows++;
    }
    app_blas_close(&blas);
    return status;
}

/* -------------------------------------------------------------------------------------------------- output */

static const char *const names[BENCH_GROUPS] = {"all cores", "rest", "gpu", "all + gpu", "rest + gpu"};

static const app_column columns[] = {
    {"n", "rows and columns of all three matrices, of doubles"},
    {"group", "who works: all cores, all but the one that serves the accelerator (rest), the accelerator (gpu)"},
    {"cores", "GFLOP/s of the cores, and half the width of its 95 % interval"},
    {"gpu", "the same of the accelerator"},
    {"lost %", "part of the speed alone that cores and accelerator lose beside each other"},
    {"both", "GFLOP/s of the group"},
    {NULL, NULL}};

static void print_speed(const bench *b, const bench_speed *speed)
{
    if (speed->mean > 0)
        app_print(b->terminal, "  %8.2f +- %-6.2f", 1e-9 * speed->mean, 1e-9 * speed->interval);
    else
        app_print(b->terminal, "  %18s", "-");
}

static void print_table(const bench *b)
{
    app_print(b->terminal, "%6s  %-10s  %-18s  %-18s  %16s  %8s\n", "n", "group", "cores", "gpu", "lost %", "both");
    for (int i = 0; i < b->num_rows; i++)
        for (int group = 0; group < BENCH_GROUPS; group++) {
            const bench_contention_row *row = &b->row[i];
            const double host = bench_contention_loss(row, (bench_group)group, 1), gpu = bench_contention_loss(row, (bench_group)group, 0);
            app_print(b->terminal, "%6lld  %-10s", (long long)row->n, names[group]);
            print_speed(b, &row->host[group]);
            print_speed(b, &row->gpu[group]);
            if (isnan(host))
                app_print(b->terminal, "  %16s", "-");
            else
                app_print(b->terminal, "  %7.1f, %7.1f", 100 * host, 100 * gpu);
            app_print(b->terminal, "  %8.2f%s\n", 1e-9 * (row->host[group].mean + row->gpu[group].mean),
                      row->reliable ? "" : "  not reliable");
        }
}

static void print_data(FILE *out, const void *data)
{
    const bench *b = data;
    fputs(
        "# n, then for all cores, rest, gpu, all + gpu, rest + gpu: GFLOP/s of the cores, its interval, of the accelerator, its interval\n",
        out);
    for (int i = 0; i < b->num_rows; i++) {
        fprintf(out, "%lld", (long long)b->row[i].n);
        for (int group = 0; group < BENCH_GROUPS; group++) {
            const bench_speed *host = &b->row[i].host[group], *gpu = &b->row[i].gpu[group];
            fprintf(out, " %.9g %.9g %.9g %.9g", 1e-9 * host->mean, 1e-9 * host->interval, 1e-9 * gpu->mean, 1e-9 * gpu->interval);
        }
        fputc('\n', out);
    }
}

static void print_script(FILE *out, const void *data)
{
    (void)data;
    static const struct {
        int column;
        const char *title;
    } curves[] = {{2, "all cores alone"},          {6, "cores but one alone"}, {12, "accelerator alone"},   {14, "all cores beside it"},
                  {18, "cores but one beside it"}, {16, "beside all cores"},   {20, "beside cores but one"}};
    fputs("# gnuplot contention.gp, in the directory of contention.dat\nset terminal svg size 800, 500 noenhanced background 'white'\n"
          "set output 'contention.svg'\nset grid\nset key outside right\nset xlabel 'n'\nset ylabel 'GFLOP/s'\nset yrange [0:*]\nplot ",
          out);
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++)
        fprintf(out, "%s'contention.dat' using 1:%d:%d with yerrorlines title '%s'", i ? ", " : "", curves[i].column, curves[i].column + 1,
                curves[i].title);
    fputc('\n', out);
}

static json_t *speed_of(const bench_speed *speed)
{
    return speed->mean > 0
               ? json_pack("{s:o, s:o}", "gflops", app_json_number(1e-9 * speed->mean), "interval", app_json_number(1e-9 * speed->interval))
               : json_null();
}

static json_t *rows_of(const bench *b)
{
    json_t *list = json_array();
    for (int i = 0; i < b->num_rows; i++)
        for (int group = 0; group < BENCH_GROUPS; group++) {
            const bench_contention_row *row = &b->row[i];
            list = app_json_append(list, json_pack("{s:I, s:s, s:I, s:b, s:o, s:o, s:o, s:o}", "n", (json_int_t)row->n, "group",
                                                   names[group], "repeats", (json_int_t)row->repeats, "reliable", row->reliable, "cores",
                                                   speed_of(&row->host[group]), "gpu", speed_of(&row->gpu[group]), "cores_lost",
                                                   app_json_number(bench_contention_loss(row, (bench_group)group, 1)), "gpu_lost",
                                                   app_json_number(bench_contention_loss(row, (bench_group)group, 0))));
        }
    return list;
}

static yoke_status write_record(const bench *b, int argc, char **argv)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(b->context, "yoke bench contention", argc, argv, &record);
    if (!status) status = app_record_set(b->context, record, "rows", rows_of(b));
    if (!status) status = app_record_write(b->context, record, b->line->json);
    json_decref(record);
    return status;
}

/* ------------------------------------------------------------------------------------------------- program */

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "device", .value = "NAME", .help = "the accelerator, as cuda:0 or opencl:0.0", .text = &line->device},
        {.name = "cores", .value = "NAME", .help = "all cores, as openmp:0-5", .text = &line->cores},
        {.name = "rest", .value = "NAME", .help = "all cores but the one that serves the accelerator, as openmp:0-4", .text = &line->rest},
        {.name = "machine", .value = "FILE", .help = "a simulated machine; its devices are sim:NAME", .text = &line->machine},
        {.name = "sizes", .value = "N,N,...", .help = "rows of the matrices; by default 512 to 2048", .text = &line->sizes},
        {.name = "repeats",
         .value = "N",
         .help = "of each group at most; by default 30",
         .number = &line->repeats,
         .minimum = 1,
         .maximum = 1000},
        {.name = "accuracy",
         .value = "X",
         .help = "repeats end where all 95 % intervals are below this part; by default 0.025",
         .text = &line->accuracy},
        app_option_out(&line->directory, "where data and figure go; by default out/bench-contention"),
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {.name = NULL},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "",
        .summary = "Speeds of cores and an accelerator that multiply matrices, alone and beside each other (Clarke, sect. 1.5).",
        .options = options,
        .columns = columns,
        .details =
            "Beside each other both begin at the same time, with rows in proportion to their speeds alone. Without a GPU, PoCL on one core "
            "is\n"
            "one that is served by itself: POCL_MAX_PTHREAD_COUNT=1 YOKE_OPENCL_CORES=1-1, with --cores openmp:0-1 --rest openmp:0-0.\n"
            "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 a device or the BLAS is not there, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, NULL, answered);
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.repeats = 30, .directory = "out/bench-contention"};
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
    const app_plot plot = {.directory = line.directory, .base = "contention", .print_data = print_data, .print_script = print_script};
    status = app_plot_show(context, terminal, &plot, &b);
    return status || !line.json ? status : write_record(&b, argc, argv);
}

int main(int argc, char **argv) { return app_program("yoke bench contention", start, argc, argv); }
