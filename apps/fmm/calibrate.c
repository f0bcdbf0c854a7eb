#include "calibrate.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "common/calibrate/calibrate.h"
#include "common/console/interrupt.h"
#include "common/console/options.h"
#include "common/files/file.h"
#include "tune/costs/machine.h"

typedef struct command_line {
    const char *kernel, *store, *declared;
    int64_t threads;
} command_line;

typedef struct calibration {
    yoke_context *context;
    app_terminal *terminal;
    command_line *line;
    yoke_run *run;
    fmm_machine machine[2]; /* without gradients, and with them */
} calibration;

static const app_column columns[] = {
    {"order", "of the expansions"},
    {"tables us", "of the operators, once"},
    {"M2L ns", "of a pair of cells"},
    {"batch ns", "of pairs in the same direction, beside the pairs"},
    {"M2M+L2L ns", "of a cell"},
    {"M2P+P2L ns", "of a cell and a leaf, with forces"},
    {"a particle", "and of each particle of the leaf"},
    {"P2M+L2P ns", "of a leaf, with forces"},
    {"a particle", "and of each of its particles"},
    {"waves us", "of tables of plane waves for M2L, once (-: orders without)"},
    {"family us", "M2L of all children of a cell by plane waves"},
    {"particles", "of a leaf"},
    {"near ns", "near field of a pair of particles, with forces"},
    {"potential ns", "the same without forces"},
    {NULL, NULL},
};

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "kernel", .value = "fmm", .help = "this one; yoke calibrate --help lists all", .text = &line->kernel},
        {.name = "store",
         .value = "FILE",
         .help = "where results are kept; by default this machine's store; none: nowhere",
         .text = &line->store},
        {.name = "declare", .value = "idle=W,busy=W", .help = "powers of this machine where it has no meter", .text = &line->declared},
        {.name = "threads",
         .value = "N",
         .help = "threads on the cores; the store keeps costs of the latest number; by default one per core",
         .number = &line->threads,
         .minimum = 1,
         .maximum = 1024},
        app_option_quiet(&terminal->quiet),
        {.name = NULL},
    };
    const app_usage usage = {
        .program = "yoke calibrate --kernel fmm",
        .operands = "",
        .summary = "Measures what the operations of yoke fmm take on this machine, with and without forces, and what power they draw.",
        .options = options,
        .columns = columns,
        .details =
            "yoke fmm measures the same where the store has nothing. What its runs taught of predictions by older costs is forgotten.",
    };
    return app_options_parse(context, &usage, argc, argv, NULL, answered);
}

static yoke_status show_progress(void *user, const char *what)
{
    calibration *c = user;
    app_progress(c->terminal, "measuring %s", what);
    return app_interrupt_check(c->context);
}

static yoke_status measure(calibration *c)
{
    yoke_status status = YOKE_OK;
    for (int gradient = 0; gradient < 2 && !status; gradient++) {
        const fmm_machine_options options = {.gradient = gradient, .progress = show_progress, .user = c};
        const yoke_run_options plain = {.devices = "openmp", .store = c->line->store, .keep_frequencies = 1, .no_meters = 1};
        yoke_run *run = NULL;
        status = yoke_run_create(c->context, &plain, &run);
        if (!status) status = app_calibrate_try_store(run, &c->line->store);
        if (!status) status = fmm_machine_measure(c->context, run, 0, &options, &c->machine[gradient]);
        if (!status && c->line->store) status = yoke_run_save(run, NULL);
        yoke_run_destroy(run);
    }
    return status;
}

/* Measures powers in a separate run, because a run with meters would measure the powers of each operation. */
static yoke_status measure_powers(calibration *c)
{
    const fmm_machine_options options = {.gradient = 1, .progress = show_progress, .user = c};
    const yoke_run_options metered = {
        .devices = "openmp", .store = c->line->store, .declared = c->line->declared, .keep_frequencies = 1, .measure_all = 1};
    const yoke_run_device *devices;
    int64_t count;
    yoke_status status = yoke_run_create(c->context, &metered, &c->run);
    if (!status && c->line->store)
        status = fmm_machine_get(c->run, 0, 1, FMM_MEASURE_SECONDS, &c->machine[1]); /* it declares the kernels' texts to the run */
    if (!status) status = yoke_run_devices(c->run, &devices, &count);
    if (!status && devices[0].meters[0]) status = fmm_machine_measure_powers(c->context, c->run, &options);
    return status || !c->line->store ? status : yoke_run_save(c->run, NULL);
}

static void print_orders(app_terminal *terminal, const fmm_machine *m)
{
    const int *orders;
    const int count = fmm_measured_sizes(FMM_PAIR, &orders);
    app_print(terminal,
              "order  tables us     M2L ns   batch ns  M2M+L2L ns  M2P+P2L ns  a particle  P2M+L2P ns  a particle  waves us  family us\n");
    for (int k = 0; k < count; k++) {
        const int p = orders[k];
        app_print(terminal, "%5d %10.4g %10.4g %10.4g %11.4g %11.4g %11.4g %11.4g %11.4g", p, 1e6 * m->tables[p], 1e9 * m->pair[p],
                  1e9 * m->batch[p], 1e9 * m->cell[p], 1e9 * m->visit[p], 1e9 * m->visited[p], 1e9 * m->leaf[p], 1e9 * m->particle[p]);
        if (m->family[p] > 0)
            app_print(terminal, " %9.4g %10.4g\n", 1e6 * m->waves[p], 1e6 * m->family[p]);
        else
            app_print(terminal, " %9s %10s\n", "-", "-");
    }
}

/* Time of a pair in leaves of n particles, in ns. */
static double pair_ns(const fmm_pair_costs *pairs, int n) { return 1e9 * (n <= FMM_SMALL_LEAF ? pairs->near[n] / n : pairs->large); }

static void print_near(app_terminal *terminal, const fmm_machine *potential, const fmm_machine *forces)
{
    const int *sizes;
    const int count = fmm_measured_sizes(FMM_NEAR, &sizes);
    app_print(terminal, "\nparticles    near ns  potential ns  single near ns  single potential ns\n");
    for (int k = 0; k < count; k++)
        app_print(terminal, "%9d %10.4g %13.4g %15.4g %20.4g\n", sizes[k], pair_ns(&forces->in_double, sizes[k]),
                  pair_ns(&potential->in_double, sizes[k]), pair_ns(&forces->in_single, sizes[k]),
                  pair_ns(&potential->in_single, sizes[k]));
}

static yoke_status show(const calibration *c)
{
    const yoke_run_device *devices;
    int64_t count;
    const char *path = NULL;
    print_orders(c->terminal, &c->machine[1]);
    print_near(c->terminal, &c->machine[0], &c->machine[1]);
    app_print(c->terminal, "\nsorting %.3g ns a particle, tree and lists %.3g ns a particle and %.3g ns a leaf\n", 1e9 * c->machine[1].sort,
              1e9 * c->machine[1].tree_particle, 1e9 * c->machine[1].tree_leaf);
    yoke_status status = yoke_run_devices(c->run, &devices, &count);
    if (status) return status;
    if (isnan(devices[0].idle_w + devices[0].dynamic_w))
        app_print(c->terminal, "powers: not known (%s)\n", devices[0].why_no_meter);
    else
        app_print(c->terminal, "powers: %.4g W at rest, %.4g W more at work\n", devices[0].idle_w, devices[0].dynamic_w);
    const double disturbed = fmax(c->machine[0].disturbed, c->machine[1].disturbed);
    if (disturbed > 0)
        yoke_log(
            c->context, YOKE_LOG_WARNING,
            "other programs had a core for up to %.0f %% of the time in which costs were measured: measure again while the cores are free",
            100 * disturbed);
    if (!c->line->store) return YOKE_OK;
    status = yoke_run_save(c->run, &path);
    if (!status) app_print(c->terminal, "kept in %s\n", path);
    return status;
}

yoke_status fmm_calibrate(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {0};
    bool answered = false;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    if (!line.kernel || strcmp(line.kernel, "fmm") != 0)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--kernel %s: this program has fmm only", line.kernel ? line.kernel : "is missing");
    status = app_file_check(context, app_option_store(line.store, NULL));
    line.store = app_option_store(line.store, "");
    if (line.threads > 0) omp_set_num_threads((int)line.threads);
    calibration c = {.context = context, .terminal = terminal, .line = &line};
    if (!status) status = app_interrupt_catch(context);
    if (!status) status = measure(&c);
    if (!status) status = measure_powers(&c);
    if (!status) status = show(&c);
    yoke_run_destroy(c.run);
    return status;
}
