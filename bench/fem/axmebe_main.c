/* yoke-bench-axmebe, started by `yoke bench axmebe`. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/console/interrupt.h"
#include "common/console/options.h"
#include "common/console/program.h"
#include "common/files/directory.h"
#include "common/files/file.h"
#include "common/files/record.h"
#include "fem/axmebe_output.h"
#include "fem/words.h"
#include "session.h"

static const int64_t quick_triad = 100000; /* number of triples in a quick run */

typedef struct command_line {
    const char *devices, *sizes, *element, *components, *variants, *exchange, *seconds, *json, *directory, *case_file, *meshes;
} command_line;

static const app_column columns[] = {
    {"devices", "the device, or the set that works together"},
    {"variant", "see below"},
    {"exchange", "of a set: what travels in a product: halo, or full (whole vectors)"},
    {"elements, dofs", "of the mesh"},
    {"us/elem", "microseconds of a product over elements: median, vectors staying on the device"},
    {"Mdof/s", "million dofs over seconds of a product"},
    {"GB/s", "bytes that a product must move at least (element data, node numbers, u and y once) over seconds"},
    {"/triad", "GB/s over the bandwidth of STREAM's triad on that device; above 1 where the data stay in a cache"},
    {"/DGEMM", "Mdof/s per GFLOP/s of DGEMM on the same threads"},
    {"GFLOP/s", "of the product itself"},
    {"us/elem+", "us/elem with u copied to the device before each product, and y back after it"},
    {"bytes moved", "between devices that work together, in one product"},
    {"difference", "from the result of the stored operator on the host's cores, relative to its norm"},
    {"mesh", "as in --mesh, or the case"},
    {0},
};

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "devices",
         .value = "LIST",
         .help = "devices, and sets of them that work together, as in openmp,cuda:0,openmp:0-0+opencl:0.0; by default all usable ones",
         .text = &line->devices},
        {.name = "elements",
         .value = "LIST",
         .help = "approximate numbers of elements; by default 512,1000,4096,8000,32768",
         .text = &line->sizes},
        {.name = "element", .value = "KIND", .help = "q1, s2 or q2 (the default)", .text = &line->element},
        {.name = "components", .value = "N", .help = "values at a node: 3 (the default), or 1: Poisson", .text = &line->components},
        {.name = "mesh",
         .value = "LIST",
         .help = "cubes: curved (the default), affine, deformed, or these with -hanging nodes, as in curved,curved-hanging",
         .text = &line->meshes},
        {.name = "case", .value = "FILE", .help = "mesh, materials and element of a case file instead of a cube", .text = &line->case_file},
        {.name = "variants",
         .value = "LIST",
         .help = "matrixfree,stored,matrixfree-colour,matrixfree-atomic,alg3-1,alg3-2,alg3-3,alg3-4; by default all",
         .text = &line->variants},
        {.name = "exchange", .value = "SCHEME", .help = "for sets of devices: halo, full or both (the default)", .text = &line->exchange},
        {.name = "seconds", .value = "S", .help = "time for each measurement; by default 0.5; 0: a trial run", .text = &line->seconds},
        app_option_out(&line->directory, "where data and figures go; by default out/bench-axmebe"),
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "",
        .summary = "Measures the product y = A u of finite elements: variants x devices x numbers of elements.",
        .options = options,
        .columns = columns,
        .details =
            "matrixfree-colour and matrixfree-atomic add up by colours and by atomic additions, on devices other than the host's cores.\n"
            "alg3-1 ... alg3-4 are the variants of Lang and Ruenger 2013, Alg. 3: the vendor's BLAS for each element, an own kernel for\n"
            "each element, one for all, and everything in one kernel. docs/notes/benchmarks.md says more.\n"
            "Exit codes: 0 done, 1 a variant gave a wrong result or the run failed, 2 bad input, 3 a device is not there.",
    };
    return app_options_parse(context, &usage, argc, argv, NULL, answered);
}

/* --------------------------------------------------------------------------------------------------- options */

static yoke_status add_set(yoke_context *context, const char *name, fem_axmebe_options *options)
{
    if (options->num_sets == FEM_AXMEBE_MAX_SETS || strlen(name) >= FEM_AXMEBE_NAME - 1)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--devices: at most %d sets, each of at most %d characters", FEM_AXMEBE_MAX_SETS,
                         FEM_AXMEBE_NAME - 2);
    strcpy(options->set[options->num_sets++], name);
    return YOKE_OK;
}

static yoke_status read_devices(yoke_context *context, const char *list, fem_axmebe_options *options)
{
    char word[FEM_AXMEBE_NAME];
    yoke_device_info *devices = NULL;
    int64_t count = 0;
    yoke_status status = YOKE_OK;
    while (!status && fem_bench_next_word(&list, word, sizeof word)) status = add_set(context, word, options);
    if (status || options->num_sets) return status;
    status = yoke_devices_list(context, NULL, 0, &devices, &count);
    for (int64_t i = 0; !status && i < count; i++)
        if (devices[i].usable) status = add_set(context, devices[i].name, options);
    yoke_release(context, devices);
    return status;
}

static yoke_status read_lists(yoke_context *context, const command_line *line, fem_axmebe_options *options)
{
    options->variants = (1u << FEM_AXMEBE_VARIANTS) - 1;
    options->meshes = 1u << FEM_CUBE_CURVED;
    yoke_status status = fem_bench_read_numbers(context, "elements", line->sizes ? line->sizes : "512,1000,4096,8000,32768", 100000000,
                                                FEM_AXMEBE_MAX_SIZES, options->size, &options->num_sizes);
    if (!status && line->variants)
        status = fem_bench_read_words(context, "variants", line->variants, fem_axmebe_variant_name, FEM_AXMEBE_VARIANTS,
                                      "matrixfree, stored, matrixfree-colour, matrixfree-atomic, alg3-1, alg3-2, alg3-3 and alg3-4",
                                      &options->variants);
    if (!status && line->meshes)
        status = fem_bench_read_words(context, "mesh", line->meshes, fem_bench_mesh_name, FEM_BENCH_MESHES,
                                      "curved, affine and deformed, and each with -hanging", &options->meshes);
    return status;
}

static yoke_status read_words(yoke_context *context, const command_line *line, fem_axmebe_options *options)
{
    static const char *const exchanges[] = {"halo", "full", "both"};
    const int exchange = fem_bench_find_word(line->exchange ? line->exchange : "both", exchanges, 3);
    const char *components = line->components ? line->components : "3";
    if (line->case_file && (line->element || line->components || line->meshes))
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "--case says which mesh, element and how many components: leave --element, --mesh and --components out");
    if (exchange < 0) return yoke_fail(context, YOKE_ERROR_INPUT, "--exchange %s: expected halo, full or both", line->exchange);
    if (strcmp(components, "1") != 0 && strcmp(components, "3") != 0)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--components %s: expected 1 or 3", components);
    options->components = components[0] - '0';
    options->exchanges = exchange == 2 ? 3 : 1u << exchange;
    return fem_bench_read_element(context, line->element, &options->element);
}

static yoke_status read_options(yoke_context *context, const command_line *line, fem_axmebe_options *options)
{
    options->seconds = 0.5;
    yoke_status status = read_lists(context, line, options);
    if (!status) status = read_words(context, line, options);
    if (!status) status = app_option_real(context, "seconds", line->seconds, 0, 3600, &options->seconds);
    if (!status && options->seconds == 0) options->triad = quick_triad;
    options->ceilings = options->seconds == 0 ? 1 : 2;
    if (!status) status = read_devices(context, line->devices, options);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- run */

static yoke_status write_record(yoke_context *context, const command_line *line, const fem_axmebe_options *options,
                                const fem_axmebe_result *result, int argc, char **argv)
{
    json_t *record = NULL;
    if (!line->json) return YOKE_OK;
    yoke_status status = app_record_create(context, "yoke bench axmebe", argc, argv, &record);
    if (status) return status;
    status = app_record_set(context, record, "element", json_string(fem_bench_element_name[options->element]));
    if (!status) status = app_record_set(context, record, "components", json_integer(options->components));
    if (!status) status = app_record_set(context, record, "ceilings", fem_axmebe_ceilings(result));
    if (!status) status = app_record_set(context, record, "rows", fem_axmebe_rows(result));
    if (!status) status = app_record_write(context, record, line->json);
    json_decref(record);
    return status;
}

/* Writes the results, even if the run failed later; status: that of the run. */
static yoke_status finish(yoke_context *context, app_terminal *terminal, const command_line *line, const fem_axmebe_options *options,
                          const fem_axmebe_result *result, int argc, char **argv)
{
    bool drawn = false;
    yoke_status status = YOKE_OK;
    fem_axmebe_print_ceilings(terminal, result);
    fem_axmebe_print_exchange(terminal, result);
    fem_axmebe_print_hanging(terminal, result);
    fem_axmebe_print_scaling(terminal, result);
    if (result->num_rows) status = fem_axmebe_write(result, line->directory, &drawn);
    if (!status) status = write_record(context, line, options, result, argc, argv);
    if (!status && result->num_rows)
        app_print(terminal, "data%s in %s\n", drawn ? " and figures" : "; figures: gnuplot axmebe.gp", line->directory);
    return status;
}

static yoke_status run(yoke_context *context, app_terminal *terminal, const command_line *line, fem_axmebe_options *options, int argc,
                       char **argv)
{
    fem_case *input = NULL;
    fem_mesh *mesh = NULL;
    fem_problem *problem = NULL;
    fem_axmebe_result result = {0};
    yoke_status status = app_directory_make(context, line->directory);
    if (!status) status = app_file_check(context, line->json);
    if (!status && line->case_file) status = fem_case_read(context, line->case_file, NULL, 0, &input);
    if (!status && input) status = fem_case_read_mesh(input, NULL, NULL, &mesh);
    if (!status && input) status = fem_problem_create(input, mesh, &problem);
    if (!status && problem) {
        options->problem = problem;
        options->element = problem->element;
        options->components = problem->components;
    }
    if (!status) {
        fem_axmebe_print_header(terminal);
        status = fem_axmebe_run(context, options, fem_axmebe_print_row, terminal, &result);
        yoke_status written = finish(context, terminal, line, options, &result, argc, argv);
        if (!status) status = written;
    }
    fem_axmebe_result_destroy(&result);
    fem_problem_destroy(problem);
    fem_mesh_destroy(mesh);
    fem_case_destroy(input);
    return status;
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    fem_axmebe_options options = {0};
    command_line line = {.directory = "out/bench-axmebe"};
    bool answered = false;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    status = read_options(context, &line, &options);
    if (!status) status = app_interrupt_catch(context);
    if (!status) status = fem_session_start(context, NULL);
    return status ? status : run(context, terminal, &line, &options, argc, argv);
}

int main(int argc, char **argv)
{
    int code = app_program("yoke bench axmebe", start, argc, argv);
    fem_session_end(NULL);
    return code;
}
