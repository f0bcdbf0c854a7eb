/*
 * main.c - the command yoke fmm: the command line, and what it asks for in its order.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "common/file.h"
#include "common/interrupt.h"
#include "common/options.h"
#include "common/program.h"
#include "devices.h"
#include "fast.h"
#include "near/direct.h"
#include "output/explain.h"
#include "output/record.h"
#include "output/write.h"
#include "particles/coincident.h"
#include "particles/format.h"
#include "particles/frames.h"
#include "particles/generate.h"
#include "particles/read.h"

typedef struct command_line {
    app_list operands;
    const char *distribution, *charges, *error, *error_of, *frames, *save, *output, *json, *devices, *share, *machine;
    int64_t particles, seed, frame, threads;
    bool direct, potential_only, skip_coincident;
    fmm_tuning_words tuning;
    fmm_fast_options fast;
} command_line;

/* What a run works on. */
typedef struct work {
    yoke_context *context;
    app_terminal *terminal;
    const command_line *line;
    fmm_reader *reader;        /* NULL: particles are generated */
    fmm_writer *save, *output; /* NULL: not wanted */
    int64_t first, last;       /* frames */
    fmm_result *results;       /* [frames done] */
    int64_t room;              /* for results */
    /* of the frame that is worked on */
    fmm_particles *particles;
    fmm_field *field;
    fmm_tuned tuned;
    fmm_result result;
    double begin_s;
    yoke_run *run; /* of the devices; NULL: not open */
} work;

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "direct", .help = "sum over all pairs: exact, and slow for many particles", .flag = &line->direct},
        {.name = "depth",
         .value = "D",
         .help = "depth of the tree; 0: sum over all pairs; by default the tree of least time (--objective)",
         .number = &line->fast.depth,
         .minimum = 0,
         .maximum = FMM_MAX_DEPTH},
        {.name = "leaf",
         .value = "N",
         .help = "adaptive tree: cells with more than N particles are split, as far as --depth",
         .number = &line->fast.leaf,
         .minimum = 1,
         .maximum = FMM_MAX_PARTICLES},
        {.name = "error", .value = "E", .help = "relative error, in the 2-norm over all particles; by default 1e-3", .text = &line->error},
        {.name = "error-of", .value = "KIND", .help = "of which the error is: potentials (by default) or forces", .text = &line->error_of},
        {.name = "order",
         .value = "P",
         .help = "order of the expansions; by default the least that keeps the error",
         .number = &line->fast.order,
         .minimum = 0,
         .maximum = FMM_MAX_ORDER},
        {.name = "objective",
         .value = "WHAT",
         .help = "of the chosen depth: time (by default), energy, edp or ed2p",
         .text = &line->tuning.objective},
        {.name = "store",
         .value = "FILE",
         .help = "where costs of operations are kept; by default this machine's store; none: nowhere",
         .text = &line->tuning.store},
        {.name = "declare",
         .value = "idle=W,busy=W",
         .help = "powers of this machine where it has no meter",
         .text = &line->tuning.declared},
        {.name = "explain", .help = "print predicted times by depth", .flag = &line->tuning.explain},
        {.name = "measure-all", .help = "run the other sensible depths too, and print both", .flag = &line->tuning.measure_all},
        {.name = "plot", .value = "FILE.svg", .help = "draw these times", .text = &line->tuning.plot},
        {.name = "check",
         .value = "N",
         .help = "compare with direct sums at N particles; 0: none; by default as many as take little time",
         .number = &line->fast.check,
         .minimum = 0,
         .maximum = FMM_MAX_PARTICLES},
        {.name = "generate",
         .value = "KIND",
         .help = "instead of FILE, in the unit cube: grid, shells, xenon, uniform, clusters, line, plane, spiral, outlier",
         .text = &line->distribution},
        {.name = "particles",
         .value = "N",
         .help = "generate as many; by default 262144, and 113000 of xenon",
         .number = &line->particles,
         .minimum = 0,
         .maximum = FMM_MAX_PARTICLES},
        {.name = "seed",
         .value = "S",
         .help = "of generated positions; random charges take S + 1; by default 1",
         .number = &line->seed,
         .minimum = 0,
         .maximum = INT64_MAX},
        {.name = "charges",
         .value = "KIND",
         .help = "generated: alternating (by default), random (signs) or equal",
         .text = &line->charges},
        {.name = "save", .value = "FILE", .help = "write the particles", .text = &line->save},
        {.name = "frame",
         .value = "N",
         .help = "the frame of FILE that is read, from 1; by default the first",
         .number = &line->frame,
         .minimum = 1,
         .maximum = INT32_MAX},
        {.name = "frames",
         .value = "A:B",
         .help = "the frames of FILE from A to B, one after the other; or all; results go to .xyz or .h5",
         .text = &line->frames},
        {.name = "output", .value = "FILE", .help = "write the particles with potential and force", .text = &line->output},
        {.name = "potential-only", .help = "compute no forces", .flag = &line->potential_only},
        {.name = "skip-coincident",
         .help = "particles at the same place do not act on each other; else they are an error",
         .flag = &line->skip_coincident},
        {.name = "devices",
         .value = "LIST",
         .help = "devices that sum over pairs, as in openmp,opencl:0.0; auto: all; by default the cores",
         .text = &line->devices},
        {.name = "share",
         .value = "X",
         .help = "part of the near field for accelerators, 0 to 1; by default that of least time",
         .text = &line->share},
        {.name = "machine", .value = "FILE", .help = "a simulated machine; its devices are sim:NAME", .text = &line->machine},
        {.name = "threads",
         .value = "N",
         .help = "threads on the cores; by default one per core",
         .number = &line->threads,
         .minimum = 1,
         .maximum = 1024},
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {.name = NULL},
    };
    const app_usage usage = {
        .program = "yoke fmm",
        .operands = "[FILE]",
        .operands_least = 0,
        .operands_most = 1,
        .summary = "Computes potentials and forces of charged particles in open space.",
        .options = options,
        .columns = fmm_explain_columns,
        .details = "The potential at a particle is the sum of q / r over all others, the force on it -q times the potential's gradient.\n"
                   "Kinds of files, by the end of their names: .txt, .dat, .xyzq (columns x y z q, with or without a header),\n"
                   ".csv (the same with commas), .xyz (kind x y z q, or extended XYZ with a column charge), .h5, .h5md, .hdf5\n"
                   "(H5MD), .vtu (results for ParaView). Results have the columns x y z q potential fx fy fz in the input's order.\n"
                   "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 a device is not there, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, &line->operands, answered);
}

/* ------------------------------------------------------------------------------------------------ checks */

/* A file that is to be written: its kind, and whether it can be. */
static yoke_status check_result_file(yoke_context *context, const char *path)
{
    fmm_format format;
    if (!path) return YOKE_OK;
    yoke_status status = fmm_format_of(context, path, &format);
    return status ? status : app_file_check(context, path);
}

/* Two results in one file: the second would take the place of the first, or on a stream follow it. */
static yoke_status check_different(yoke_context *context, const char *option, const char *path, const char *other_option, const char *other)
{
    if (!path || !other || strcmp(path, other) != 0 || !strncmp(path, "/dev/", 5)) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_INPUT, "%s and %s both name %s: give different files", option, other_option, path);
}

static yoke_status check_results(yoke_context *context, const command_line *line)
{
    yoke_status status = check_different(context, "--save", line->save, "--output", line->output);
    if (!status) status = check_different(context, "--save", line->save, "--json", line->json);
    if (!status) status = check_different(context, "--output", line->output, "--json", line->json);
    if (!status) status = check_result_file(context, line->save);
    if (!status) status = check_result_file(context, line->output);
    return status ? status : app_file_check(context, line->json);
}

static bool asks_fast(const command_line *line)
{
    return line->fast.depth >= 0 || line->fast.leaf > 0 || line->fast.order >= 0 || line->error || line->error_of;
}

/* Only --save, or --save with --frames, computes nothing. */
static bool is_fast(const command_line *line)
{
    bool wanted = !line->save || line->output || line->json || line->devices || line->fast.check >= 0 || fmm_tuning_asked(&line->tuning);
    return !line->direct && (asks_fast(line) || wanted);
}

/* The error that is requested. */
static yoke_status read_request(yoke_context *context, command_line *line)
{
    static const char *const kinds[] = {"potentials", "forces", NULL};
    int of = 0;
    line->fast.request.error = 1e-3;
    yoke_status status = app_option_real(context, "error", line->error, 1e-300, 1, &line->fast.request.error);
    if (!status) status = app_option_choice(context, "error-of", line->error_of, kinds, &of);
    if (!status) line->fast.request.of = (fmm_quantity)of;
    return status;
}

static yoke_status check(yoke_context *context, const command_line *line)
{
    bool file = line->operands.count > 0;
    if (file && line->distribution) return yoke_fail(context, YOKE_ERROR_INPUT, "FILE and --generate: give one of them");
    if (!file && !line->distribution)
        return yoke_fail(context, YOKE_ERROR_INPUT, "no particles: give FILE, or --generate KIND (grid, shells, xenon, ...)");
    if (file && (line->particles >= 0 || line->seed >= 0 || line->charges))
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "--particles, --seed and --charges belong to --generate; FILE has particles of its own");
    if (!file && (line->frame > 0 || line->frames)) return yoke_fail(context, YOKE_ERROR_INPUT, "--frame and --frames belong to FILE");
    if (line->frame > 0 && line->frames) return yoke_fail(context, YOKE_ERROR_INPUT, "--frame and --frames: give one of them");
    bool fast = is_fast(line);
    if (line->direct && asks_fast(line))
        return yoke_fail(context, YOKE_ERROR_INPUT, "--direct has none of --depth, --leaf, --order, --error and --error-of");
    if (line->fast.order >= 0 && (line->error || line->error_of))
        return yoke_fail(context, YOKE_ERROR_INPUT, "--order leaves nothing for --error to choose: give one of them");
    if (line->error_of && line->fast.request.of == FMM_FORCES && line->potential_only)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--error-of forces and --potential-only: there are no forces then");
    if (line->share && (!fast || !line->devices))
        return yoke_fail(context, YOKE_ERROR_INPUT, "--share needs --devices, and does not belong to --direct");
    if (!fast && line->fast.check >= 0) return yoke_fail(context, YOKE_ERROR_INPUT, "--check does not belong to --direct");
    if ((!fast || line->fast.leaf > 0) && fmm_tuning_asked(&line->tuning))
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "--objective, --store, --declare, --explain, --measure-all and --plot do not belong to --direct or --leaf");
    if (line->frames && (line->tuning.explain || line->tuning.measure_all || line->tuning.plot))
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "--explain, --measure-all and --plot are for one frame: give --frame N instead of --frames");
    if (line->machine && !line->devices) return yoke_fail(context, YOKE_ERROR_INPUT, "--machine needs --devices");
    yoke_status status = fmm_devices_check(context, line->share);
    return status ? status : fmm_tuning_check(context, &line->tuning);
}

/* ------------------------------------------------------------------------------------------------ a run */

/* Opens the file, if there is one, and says which frames are worked on. */
static yoke_status open_input(work *w)
{
    const command_line *line = w->line;
    w->first = w->last = line->frame > 0 ? line->frame : 1;
    if (line->operands.count == 0) return YOKE_OK;
    app_progress(w->terminal, "reading %s", line->operands.text[0]);
    yoke_status status = fmm_reader_open(w->context, line->operands.text[0], &w->reader);
    if (status || !line->frames) return status;
    return fmm_frames_parse(w->context, line->frames, fmm_reader_frames(w->reader), &w->first, &w->last);
}

static yoke_status generate(work *w)
{
    static const char *const charges[] = {"alternating", "random", "equal", NULL};
    const command_line *line = w->line;
    int distribution, sign;
    yoke_status status = app_option_choice(w->context, "generate", line->distribution, fmm_distribution_names, &distribution);
    if (!status) status = app_option_choice(w->context, "charges", line->charges, charges, &sign);
    if (status) return status;
    w->result.input = fmm_distribution_names[distribution];
    return fmm_particles_generate(w->context, (fmm_distribution)distribution,
                                  line->particles >= 0 ? line->particles : fmm_distribution_count((fmm_distribution)distribution),
                                  (fmm_charges)sign, line->seed >= 0 ? (uint64_t)line->seed : 1, &w->particles);
}

static yoke_status get_particles(work *w, int64_t frame)
{
    w->result.frame = frame;
    if (!w->reader) return generate(w);
    w->result.input = w->line->operands.text[0];
    w->result.frames = fmm_reader_frames(w->reader);
    return fmm_reader_read(w->reader, frame, &w->particles);
}

static yoke_status show_progress(int64_t done, int64_t count, void *user)
{
    work *w = user;
    app_progress(w->terminal, "%lld of %lld particles", (long long)done, (long long)count);
    return app_interrupt_check(w->context);
}

static yoke_status sum_directly(work *w)
{
    const fmm_direct_options options = {.devices = w->line->devices, .machine = w->line->machine, .progress = show_progress, .user = w};
    double n = (double)w->particles->count, begin_s = yoke_clock_s();
    yoke_status status = fmm_direct(w->particles, &options, w->field);
    w->result.near_s = yoke_clock_s() - begin_s;
    w->result.pairs = n > 0 ? n * (n - 1) : 0;
    return status;
}

/* The devices' run is kept for all frames: it learns from each. */
static yoke_status compute_fast(work *w)
{
    const command_line *line = w->line;
    fmm_fast_options options = line->fast;
    yoke_status status = YOKE_OK;
    if (line->devices && !w->run) status = fmm_devices_open(w->context, line->devices, line->share, &line->tuning, &w->run);
    options.run = w->run;
    options.tries = !line->share;
    return status ? status : fmm_fast(w->terminal, w->particles, &options, w->field, &w->tuned, &w->result);
}

static yoke_status compute(work *w)
{
    fmm_result *result = &w->result;
    yoke_status status = w->line->skip_coincident ? YOKE_OK : fmm_coincident_refuse(w->particles, "with --skip-coincident");
    if (!status) status = fmm_field_create(w->context, w->particles->count, !w->line->potential_only, &w->field);
    if (!status) status = w->line->direct ? sum_directly(w) : compute_fast(w);
    if (status) return status;
    result->total_energy = fmm_field_energy(w->particles, w->field);
    if (!isfinite(result->total_energy)) yoke_log(w->context, YOKE_LOG_WARNING, "the total energy is larger than the largest double");
    if (!w->field->gx) return YOKE_OK;
    fmm_total_force force = fmm_field_total_force(w->particles, w->field);
    memcpy(result->total_force, force.sum, sizeof force.sum);
    result->force_lengths = force.lengths;
    return YOKE_OK;
}

static void show_times(work *w)
{
    const fmm_result *r = &w->result;
    app_print(w->terminal, "read %.3g s, ", r->read_s);
    if (r->depth < 0) {
        app_print(w->terminal, "sums %.3g s (%.3g pairs/s)", r->near_s, r->pairs / r->near_s);
    } else {
        app_print(w->terminal, "tree %.3g s, ", r->tree_s);
        if (!isnan(r->requested_error)) app_print(w->terminal, "choice %.3g s, ", r->tune_s);
        app_print(w->terminal, "far field %.3g s (%.3g pairs of cells), near field %.3g s (%.3g pairs, %.3g pairs/s)", r->far_s,
                  r->far_pairs, r->near_s, r->pairs, r->pairs / r->near_s);
    }
    if (r->sample.count) app_print(w->terminal, ", check %.3g s", r->check_s);
    app_print(w->terminal, ", total %.3g s\n", r->total_s);
}

static yoke_status show(work *w)
{
    const fmm_result *r = &w->result;
    app_print(w->terminal, "%lld particle%s (%s), ", (long long)r->particles, r->particles == 1 ? "" : "s", r->input);
    if (r->depth < 0)
        app_print(w->terminal, "direct summation\n");
    else if (r->leaf > 0)
        app_print(w->terminal, "fast multipole method, %lld leaves of at most %lld particles, depth %d, order %d\n", (long long)r->leaves,
                  (long long)r->leaf, r->depth, r->order);
    else
        app_print(w->terminal, "fast multipole method, depth %d, order %d\n", r->depth, r->order);
    if (!isnan(r->requested_error))
        app_print(w->terminal, "requested error of %s %.2g, predicted %.2g\n", r->forces ? "forces" : "potentials", r->requested_error,
                  r->forces ? r->predicted_force : r->predicted_potential);
    app_print(w->terminal, "total energy %.15g\n", r->total_energy);
    if (r->gradient)
        app_print(w->terminal, "sum of all forces (%.2g, %.2g, %.2g), of their lengths %.4g\n", r->total_force[0], r->total_force[1],
                  r->total_force[2], r->force_lengths);
    if (r->sample.count) app_print(w->terminal, "error of potentials %.2g", r->sample.potential);
    if (r->sample.count && r->gradient) app_print(w->terminal, ", of forces %.2g", r->sample.force);
    if (r->sample.count) app_print(w->terminal, ", relative, in the 2-norm; direct sums at %lld particles\n", (long long)r->sample.count);
    show_times(w);
    yoke_status status = YOKE_OK;
    if (r->parts) status = fmm_devices_show(w->terminal, w->context, w->run, w->line->tuning.explain, r);
    if (status) return status;
    return r->tuned ? fmm_tuning_show(w->terminal, w->context, &w->line->tuning, r->total_s, &w->tuned) : YOKE_OK;
}

/* A line of the table of several frames. */
static yoke_status show_frame(work *w)
{
    const fmm_result *r = &w->result;
    char error[20] = "-";
    double force = hypot(hypot(r->total_force[0], r->total_force[1]), r->total_force[2]);
    if (r->sample.count) snprintf(error, sizeof error, "%.2g", r->sample.potential);
    if (r->frame == w->first)
        app_print(w->terminal, "%8s  %10s  %22s  %13s  %8s  %8s\n", "frame", "particles", "total energy", "sum of forces", "error",
                  "seconds");
    app_print(w->terminal, "%8lld  %10lld  %22.15g  %13.2g  %8s  %8.3g\n", (long long)r->frame, (long long)r->particles, r->total_energy,
              r->force_lengths > 0 ? force / r->force_lengths : force, error, r->total_s);
    return YOKE_OK;
}

static yoke_status open_results(work *w)
{
    int64_t frames = w->last - w->first + 1;
    yoke_status status = YOKE_OK;
    if (w->line->save) status = fmm_writer_create(w->context, w->line->save, frames, &w->save);
    if (!status && w->line->output) status = fmm_writer_create(w->context, w->line->output, frames, &w->output);
    return status;
}

static yoke_status commit(fmm_writer **writer)
{
    fmm_writer *written = *writer;
    *writer = NULL;
    return written ? fmm_writer_commit(written) : YOKE_OK;
}

static bool computes(const command_line *line) { return line->direct || is_fast(line); }

static yoke_status run_frame(work *w, int64_t frame)
{
    yoke_status status = get_particles(w, frame);
    w->result.read_s = yoke_clock_s() - w->begin_s;
    if (!status) status = app_interrupt_check(w->context);
    if (!status) w->result.particles = w->particles->count;
    if (!status && w->save) status = fmm_writer_add(w->save, w->particles, NULL);
    if (!status && frame == w->last) status = commit(&w->save);
    if (status || !computes(w->line)) return status;
    status = compute(w);
    double begin_s = yoke_clock_s();
    if (!status && w->output) status = fmm_writer_add(w->output, w->particles, w->field);
    if (!status && frame == w->last) status = commit(&w->output);
    if (w->line->output) w->result.write_s = yoke_clock_s() - begin_s;
    w->result.total_s = yoke_clock_s() - w->begin_s;
    return status;
}

/* One frame of several: what is wrong with it says which it is. */
static yoke_status name_frame(work *w, int64_t frame, yoke_status status)
{
    char text[1024];
    if (!status || status == YOKE_ERROR_INTERRUPTED || !w->line->frames) return status;
    snprintf(text, sizeof text, "%s", yoke_last_error(w->context));
    return yoke_fail(w->context, status, "frame %lld: %s", (long long)frame, text);
}

static void release_frame(work *w)
{
    fmm_field_destroy(w->field);
    fmm_particles_destroy(w->particles);
    w->field = NULL;
    w->particles = NULL;
}

static yoke_status run(work *w, int argc, char **argv)
{
    const command_line *line = w->line;
    const fmm_result empty = w->result;
    yoke_status status = open_input(w);
    if (!status) status = open_results(w);
    for (int64_t frame = w->first; frame <= w->last && !status; frame++) {
        w->result = empty;
        status = name_frame(w, frame, run_frame(w, frame));
        if (!status) status = yoke_grow(w->context, &w->results, frame - w->first, &w->room, 16, sizeof *w->results);
        if (status) break;
        w->results[frame - w->first] = w->result;
        if (computes(line)) status = line->frames ? show_frame(w) : show(w);
        release_frame(w);
        w->begin_s = yoke_clock_s();
    }
    if (status || !computes(line) || !line->json) return status;
    return fmm_record_write(w->context, line->json, argc, argv, w->results, line->frames ? w->last - w->first + 1 : 0);
}

static bool is_standard_output(const char *path) { return path && !strcmp(path, "-"); }

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.particles = -1, .seed = -1, .fast = {.tuning = &line.tuning, .depth = -1, .leaf = -1, .order = -1, .check = -1}};
    bool answered = false;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    work w = {.context = context,
              .terminal = terminal,
              .line = &line,
              .result = {.instructions = fmm_direct_instructions(),
                         .gradient = !line.potential_only,
                         .depth = -1,
                         .order = -1,
                         .sample = {.potential = NAN, .force = NAN},
                         .requested_error = NAN,
                         .predicted_potential = NAN,
                         .predicted_force = NAN,
                         .tree_s = NAN,
                         .tune_s = NAN,
                         .far_s = NAN,
                         .far_pairs = NAN,
                         .w_pairs = NAN,
                         .leaves = -1,
                         .check_s = NAN,
                         .total_energy = NAN,
                         .total_force = {NAN, NAN, NAN},
                         .write_s = NAN},
              .begin_s = yoke_clock_s()};
    if (is_standard_output(line.save) || is_standard_output(line.output))
        terminal->aside = true; /* only particles are printed there then */
    if (line.threads) omp_set_num_threads((int)line.threads);
    status = read_request(context, &line);
    if (!status) status = check(context, &line);
    if (!status) status = check_results(context, &line);
    if (!status) status = app_interrupt_catch(context);
    if (!status && line.machine) status = yoke_machine_read(context, line.machine);
    if (!status) status = run(&w, argc, argv);
    release_frame(&w);
    fmm_reader_close(w.reader);
    yoke_run_destroy(w.run);
    fmm_writer_abandon(w.save);
    fmm_writer_abandon(w.output);
    yoke_release(context, w.results);
    return status;
}

int main(int argc, char **argv) { return app_program("yoke fmm", start, argc, argv); }
