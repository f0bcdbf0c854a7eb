#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/console/interrupt.h"
#include "near/direct.h"
#include "output/record.h"
#include "output/write.h"
#include "particles/coincident.h"
#include "particles/frames.h"
#include "particles/generate.h"
#include "particles/read.h"
#include "show.h"

/* Data of a run. */
typedef struct work {
    yoke_context *context;
    app_terminal *terminal;
    const fmm_command *line;
    fmm_reader *reader;        /* NULL: particles are generated */
    fmm_writer *save, *output; /* NULL: not wanted */
    fmm_stop stop;
    fmm_solver *solver;  /* for all frames; NULL: direct summation, or nothing is computed */
    bool said_costs;     /* the message that this machine is measured was printed */
    bool said_periodic;  /* the warning of a periodic box was given */
    int64_t first, last; /* frames */
    fmm_result *results; /* [frames done] */
    int64_t room;        /* for results */
    /* of the current frame */
    fmm_particles *particles;
    fmm_field *field;
    fmm_result result;
    double begin_s;
} work;

/* Opens the file, if there is one, and finds the first and last frame. */
static yoke_status open_input(work *w)
{
    const fmm_command *line = w->line;
    w->first = w->last = line->frame > 0 ? line->frame : 1;
    if (line->operands.count == 0) return YOKE_OK;
    app_progress(w->terminal, "reading %s", line->operands.text[0]);
    yoke_status status = fmm_reader_open(w->context, line->operands.text[0], &w->reader);
    if (status || !line->frames) return status;
    return fmm_frames_parse(w->context, line->frames, fmm_reader_frames(w->reader), &w->first, &w->last);
}

static bool computes(const fmm_command *line) { return line->direct || fmm_command_is_fast(line); }

/* Refuses particles for which this machine has certainly not enough memory: systems promise more than there is, and end programs later. */
static yoke_status check_memory(work *w, int64_t particles)
{
    const double gib = 0x1p30;
    const bool gradient = !w->line->potential_only;
    int doubles = 4; /* of the particles */
    if (computes(w->line)) doubles += gradient ? 4 : 1;
    if (fmm_command_is_fast(w->line)) doubles += fmm_solver_arrays(gradient);
    const double bytes = (double)particles * doubles * sizeof(double);
    yoke_topology topology;
    if (bytes < gib) return YOKE_OK;
    yoke_status status = yoke_topology_get(w->context, &topology);
    if (status || bytes <= (double)topology.memory_bytes) return status;
    return yoke_fail(w->context, YOKE_ERROR_INPUT, "%lld particles need at least %.0f GiB of memory, but there are %.0f GiB",
                     (long long)particles, ceil(bytes / gib), floor((double)topology.memory_bytes / gib));
}

static yoke_status generate(work *w)
{
    static const char *const charges[] = {"alternating", "random", "equal", NULL};
    const fmm_command *line = w->line;
    int distribution, sign;
    yoke_status status = app_option_choice(w->context, "generate", line->distribution, fmm_distribution_names, &distribution);
    if (!status) status = app_option_choice(w->context, "charges", line->charges, charges, &sign);
    if (status) return status;
    w->result.input = fmm_distribution_names[distribution];
    const int64_t count = line->particles >= 0 ? line->particles : fmm_distribution_count((fmm_distribution)distribution);
    status = check_memory(w, count);
    if (status) return status;
    return fmm_particles_generate(w->context, (fmm_distribution)distribution, count, (fmm_charges)sign,
                                  line->seed >= 0 ? (uint64_t)line->seed : 1, &w->particles);
}

static yoke_status get_particles(work *w, int64_t frame)
{
    w->result.frame = frame;
    if (!w->reader) return generate(w);
    w->result.input = w->line->operands.text[0];
    w->result.frames = fmm_reader_frames(w->reader);
    yoke_status status = fmm_reader_read(w->reader, frame, &w->particles);
    if (!status && w->particles->notes.periodic && !w->said_periodic)
        yoke_log(w->context, YOKE_LOG_WARNING, "%s: its box is periodic, but charges act in open space: periodic images are left out",
                 w->result.input);
    if (!status) w->said_periodic |= w->particles->notes.periodic;
    return status;
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
    w->result.solved.near_s = yoke_clock_s() - begin_s;
    w->result.solved.pairs = n > 0 ? n * (n - 1) : 0;
    return status;
}

static yoke_status show_stage(void *user, fmm_stage stage, const char *what)
{
    work *w = user;
    if (stage == FMM_STAGE_COSTS && !w->said_costs)
        app_print(w->terminal, "measuring the costs of operations on this machine%s\n",
                  w->line->solve.store ? "; later runs use them" : "");
    if (stage == FMM_STAGE_COSTS) w->said_costs = true;
    app_progress(w->terminal, stage == FMM_STAGE_COSTS ? "measuring %s" : "%s", what);
    return app_interrupt_check(w->context);
}

static bool is_interrupted(void *user)
{
    (void)user;
    return app_interrupted() != 0;
}

static yoke_status fail_interrupted(void *user) { return app_interrupt_check(user); }

static const char remedy[] = "with --softening H they act by a finite potential, with --skip-coincident not at all";

static bool refuses_coincident(const fmm_command *line) { return !line->skip_coincident && line->soft == 0; }

static yoke_status create_solver(work *w)
{
    fmm_solver_options options = w->line->solve;
    options.remedy = refuses_coincident(w->line) ? remedy : NULL;
    options.progress = show_stage;
    options.user = w;
    options.stop = &w->stop;
    return fmm_solver_create(w->context, &options, &w->solver);
}

/* Whether a part of the energy underflows. */
static bool is_too_small(const fmm_particles *p, const fmm_field *field)
{
    for (int64_t i = 0; i < p->count; i++)
        if (p->charge[i] != 0 && field->potential[i] != 0 && p->charge[i] * field->potential[i] == 0) return true;
    return false;
}

static yoke_status compute(work *w)
{
    fmm_result *result = &w->result;
    w->particles->softening = result->softening = w->line->soft;
    yoke_status status = YOKE_OK;
    if (!w->solver && refuses_coincident(w->line)) status = fmm_coincident_refuse(w->particles, remedy);
    if (!status) status = fmm_field_create(w->context, w->particles->count, !w->line->potential_only, &w->field);
    if (!status) status = w->solver ? fmm_solver_run(w->solver, w->particles, FMM_NEW_PLACES, w->field, &result->solved) : sum_directly(w);
    if (status) return status;
    result->total_energy = fmm_field_energy(w->particles, w->field);
    if (!isfinite(result->total_energy)) yoke_log(w->context, YOKE_LOG_WARNING, "the total energy is larger than the largest double");
    if (is_too_small(w->particles, w->field))
        yoke_log(w->context, YOKE_LOG_WARNING,
                 "charges times potentials are less than the smallest double, and count as 0 in the energy: choose units in which charges "
                 "are larger");
    if (!w->field->gx) return YOKE_OK;
    fmm_total_force force = fmm_field_total_force(w->particles, w->field);
    memcpy(result->total_force, force.sum, sizeof force.sum);
    result->force_lengths = force.lengths;
    return YOKE_OK;
}

static yoke_status open_results(work *w)
{
    int64_t frames = w->last - w->first + 1;
    yoke_status status = YOKE_OK;
    if (w->line->save) status = fmm_writer_create(w->context, w->line->save, frames, false, &w->stop, &w->save);
    if (!status && w->line->output)
        status = fmm_writer_create(w->context, w->line->output, frames, w->line->gradient, &w->stop, &w->output);
    return status;
}

static yoke_status commit(fmm_writer **writer)
{
    fmm_writer *written = *writer;
    *writer = NULL;
    return written ? fmm_writer_commit(written) : YOKE_OK;
}

static yoke_status run_frame(work *w, int64_t frame)
{
    yoke_status status = get_particles(w, frame);
    w->result.read_s = yoke_clock_s() - w->begin_s;
    if (!status) status = app_interrupt_check(w->context);
    if (!status) status = check_memory(w, w->particles->count);
    if (!status) w->result.particles = w->particles->count;
    if (!status && w->reader && w->particles->count == 0)
        yoke_log(w->context, YOKE_LOG_WARNING, "%s: no particles; their energy is 0", w->result.input);
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

/* Adds the number of the frame to an error message, if there are several frames. */
static yoke_status name_frame(work *w, int64_t frame, yoke_status status)
{
    char text[1024];
    if (!status || status == YOKE_ERROR_INTERRUPTED || !w->line->frames) return status;
    snprintf(text, sizeof text, "%s", yoke_last_error(w->context));
    return yoke_fail(w->context, status, "frame %lld: %s", (long long)frame, text);
}

/* Adds to the error message for an objective that needs unknown powers which options give them. */
static yoke_status name_powers(work *w, yoke_status status)
{
    const fmm_command *line = w->line;
    char text[1024];
    if (status != YOKE_ERROR_UNAVAILABLE || line->solve.objective == YOKE_OBJECTIVE_TIME || line->solve.store) return status;
    snprintf(text, sizeof text, "%s", yoke_last_error(w->context));
    return yoke_fail(w->context, status, "%s; %s states powers, and --store FILE keeps those that are found", text,
                     line->devices ? "--power DEVICE=IDLE:BUSY" : "--declare idle=W,busy=W");
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
    const fmm_command *line = w->line;
    const fmm_result empty = w->result;
    yoke_status status = open_input(w);
    if (!status) status = open_results(w);
    if (!status && fmm_command_is_fast(line)) status = create_solver(w);
    for (int64_t frame = w->first; frame <= w->last && !status; frame++) {
        w->result = empty;
        status = name_frame(w, frame, name_powers(w, run_frame(w, frame)));
        if (!status) status = yoke_grow(w->context, &w->results, frame - w->first, &w->room, 16, sizeof *w->results);
        if (status) break;
        w->results[frame - w->first] = w->result;
        if (computes(line) && line->frames) fmm_show_frame(w->terminal, &w->result, frame == w->first);
        if (computes(line) && !line->frames)
            status = fmm_show(w->terminal, w->context, line, &w->result, w->solver ? fmm_solver_devices(w->solver) : NULL);
        release_frame(w);
        w->begin_s = yoke_clock_s();
    }
    if (status || !computes(line) || !line->json) return status;
    return fmm_record_write(w->context, line->json, argc, argv, w->results, line->frames ? w->last - w->first + 1 : 0);
}

yoke_status fmm_frames_run(yoke_context *context, app_terminal *terminal, const fmm_command *line, int argc, char **argv)
{
    work w = {.context = context,
              .terminal = terminal,
              .line = line,
              .stop = {is_interrupted, fail_interrupted, context},
              .result = {.instructions = fmm_direct_instructions(),
                         .gradient = !line->potential_only,
                         .solved = fmm_solution_none(),
                         .total_energy = NAN,
                         .total_force = {NAN, NAN, NAN},
                         .write_s = NAN},
              .begin_s = yoke_clock_s()};
    yoke_status status = run(&w, argc, argv);
    release_frame(&w);
    fmm_solver_destroy(w.solver);
    fmm_reader_close(w.reader);
    fmm_writer_abandon(w.save);
    fmm_writer_abandon(w.output);
    yoke_release(context, w.results);
    return status;
}
