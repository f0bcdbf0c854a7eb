/* yoke-bench-ceilings, started by `yoke bench ceilings` and by every benchmark that needs ceilings (common/machine/ceilings.h). */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ceilings/measure.h"
#include "common/console/options.h"
#include "common/console/program.h"
#include "common/files/file.h"
#include "common/files/record.h"
#include "common/machine/isa.h"

typedef struct command_line {
    bool quick, line;
    int64_t threads;
    const char *json;
} command_line;

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "threads",
         .value = "N",
         .help = "number of threads; by default one for each core",
         .number = &line->threads,
         .minimum = 1,
         .maximum = 4096},
        {.name = "quick", .help = "small and short: a trial run", .flag = &line->quick},
        {.name = "line", .help = "print one line of JSON instead of the table", .flag = &line->line},
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "",
        .summary = "Measures what the cores can do at most: STREAM's triad and OpenBLAS's DGEMM on all threads.",
        .options = options,
        .details = "DGEMM is one product for each thread. Where the processor has AVX-512 and OpenBLAS takes other kernels by itself (as\n"
                   "0.3.21 does on Zen 5), those for SkylakeX are tried too, and the better ones count; OPENBLAS_CORETYPE decides if set.",
    };
    return app_options_parse(context, &usage, argc, argv, NULL, answered);
}

/* Lets another process measure the speed of other OpenBLAS kernels. */
static yoke_status try_other_kernel(yoke_context *context, bool quick, app_ceilings *ceilings)
{
    static const char other[] = "SkylakeX";
    app_ceilings tried;
    if (!ceilings->kernel[0] || !strcmp(ceilings->kernel, other) || getenv("OPENBLAS_CORETYPE") || app_isa_level() < 4) return YOKE_OK;
    yoke_status status = app_ceilings_measure(context, ceilings->threads, quick, other, &tried);
    if (status) return status;
    if (tried.triad_bytes_per_s > ceilings->triad_bytes_per_s) ceilings->triad_bytes_per_s = tried.triad_bytes_per_s;
    /* An OpenBLAS that has one kind of kernels only takes these again. */
    if (!strcmp(tried.kernel, ceilings->kernel) || !(tried.dgemm_flops_per_s > ceilings->dgemm_flops_per_s)) return YOKE_OK;
    ceilings->dgemm_flops_per_s = tried.dgemm_flops_per_s;
    memcpy(ceilings->kernel, tried.kernel, sizeof ceilings->kernel);
    return YOKE_OK;
}

static yoke_status print_line(yoke_context *context, app_terminal *terminal, const app_ceilings *ceilings)
{
    json_t *object = app_ceilings_json(ceilings);
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    if (!text) return yoke_fail(context, YOKE_ERROR_MEMORY, "no memory for the record");
    app_print(terminal, "%s\n", text);
    free(text);
    return YOKE_OK;
}

static yoke_status write_record(yoke_context *context, const app_ceilings *ceilings, const char *path, int argc, char **argv)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(context, "yoke bench ceilings", argc, argv, &record);
    if (status) return status;
    status = app_record_set(context, record, "ceilings", app_ceilings_json(ceilings));
    if (!status) status = app_record_write(context, record, path);
    json_decref(record);
    return status;
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    static const bench_ceilings_size full = {30000000, 1600, 4}, small = {100000, 128, 2};
    command_line line = {.threads = 0};
    bool answered = false;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    app_ceilings ceilings = app_ceilings_unknown(line.threads ? (int)line.threads : omp_get_max_threads());
    status = app_file_check(context, line.json);
    if (!status) status = bench_ceilings_measure(context, line.quick ? &small : &full, &ceilings);
    if (!status) status = try_other_kernel(context, line.quick, &ceilings);
    if (status) return status;
    char text[512];
    app_ceilings_text(&ceilings, text, sizeof text);
    if (line.line)
        status = print_line(context, terminal, &ceilings);
    else
        app_print(terminal, "%s\n", text);
    return status || !line.json ? status : write_record(context, &ceilings, line.json, argc, argv);
}

int main(int argc, char **argv) { return app_program("yoke bench ceilings", start, argc, argv); }
