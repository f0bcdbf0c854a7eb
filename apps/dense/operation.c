/* operation.c - the common frame of all operations of yoke dense, from the command line to the run record. */
#include "operation.h"

#include <omp.h>
#include <string.h>

#include "common/console/interrupt.h"
#include "common/files/file.h"
#include "common/ranks/devices.h"
#include "inputs.h"
#include "output/output.h"

/* Adds an option if it has a help text. */
static void add(app_option_table *options, app_option option)
{
    if (option.help) app_options_add(options, (const app_option[]){option, {.name = NULL}});
}

static void add_number(app_option_table *options, const char *name, const char *value, const char *help, int64_t *number, int64_t minimum,
                       int64_t maximum)
{
    add(options, (app_option){.name = name, .value = value, .help = help, .number = number, .minimum = minimum, .maximum = maximum});
}

static yoke_status parse(const dense_operation *operation, dense_work *w, int argc, char **argv, bool *answered)
{
    app_option_table options = {0};
    const dense_help *help = &operation->help;
    app_usage usage = operation->usage;
    int64_t seed = -1;
    add_number(&options, "n", "N", help->n, &w->n, 1, help->most_n);
    add_number(&options, "m", "M", help->m, &w->m, 1, help->most_n);
    if (operation->options) operation->options(w->own, &options);
    add(&options, (app_option){.name = "precision", .value = "KIND", .help = help->precision, .text = &w->precision});
    add_number(&options, "seed", "S", help->seed, &seed, 0, INT64_MAX - 2);
    add(&options, (app_option){.name = "output", .value = help->output_value, .help = help->output, .text = &w->output});
    add_number(&options, "b", "B", help->block, &w->block, 1, help->most_block);
    add(&options, (app_option){.name = "check", .help = help->check, .flag = &w->check});
    add(&options, (app_option){.name = "ceiling", .help = help->ceiling, .flag = &w->ceiling});
    dense_device_options(&options, &w->words, w->terminal);
    usage.options = options.options;
    usage.columns = operation->on_ranks ? dense_columns : dense_columns + 1;
    yoke_status status = app_options_parse(w->context, &usage, argc, argv, &w->operands, answered);
    w->seed_given = seed >= 0;
    w->seed = w->seed_given ? seed : 1;
    return status;
}

/* Checks the files that the command line names, except for the input files or the result. */
static yoke_status check_files(const dense_work *w, bool inputs, bool output)
{
    const char *const *input = w->operands.text;
    const app_named_file files[] = {{"FILE", inputs && w->operands.count > 0 ? input[0] : NULL, true},
                                    {"FILE", inputs && w->operands.count > 1 ? input[1] : NULL, true},
                                    {"--machine", w->words.machine, true},
                                    {"--store", app_option_store(w->words.store, NULL), false},
                                    {"--output", output ? w->output : NULL, false},
                                    {"--json", w->words.json, false},
                                    {0}};
    return app_files_check(w->context, files);
}

static yoke_status check(const dense_operation *operation, const dense_work *w)
{
    yoke_status status = operation->check ? operation->check(w) : YOKE_OK;
    if (!status) status = dense_devices_check(w->context, &w->words);
    if (!status) status = check_files(w, true, !operation->may_replace_input);
    return status || !operation->may_replace_input ? status : check_files(w, false, true);
}

yoke_status dense_work_progress(dense_work *work, const char *what, int64_t done, int64_t units)
{
    app_progress(work->terminal, "%lld of %lld %s", (long long)done, (long long)units, what);
    return app_interrupt_check(work->context);
}

static yoke_status show(const dense_operation *operation, const dense_work *w)
{
    operation->show_head(w);
    dense_show(w->terminal, w->shared);
    if (operation->show_tail) operation->show_tail(w);
    return w->words.explain ? dense_explain(w->terminal, w->context, w->run) : YOKE_OK;
}

static yoke_status write_record(const dense_operation *operation, const dense_work *w, int argc, char **argv)
{
    json_t *record = NULL;
    yoke_status status = dense_record_create(w->context, operation->name, argc, argv, w->shared, w->total_s, &record);
    if (!status) status = dense_record_add(w->context, record, operation->keys(w));
    if (!status) status = app_record_write(w->context, record, w->words.json);
    json_decref(record);
    return status;
}

/* If the user names no devices, a rank uses its share of the machine's devices; each rank has a simulated machine of its own. */
static yoke_status open_devices_of_a_rank(dense_work *w)
{
    enum { NAMES = 8192 };
    char names[NAMES];
    dense_words words = w->words;
    const char *named = words.machine ? "" : words.devices && strcmp(words.devices, "auto") != 0 ? words.devices : NULL;
    yoke_status status = app_devices_of_rank(w->context, w->ranks, named, names, sizeof names);
    if (!named) words.devices = names;
    return status ? status : app_ranks_agree(w->ranks, dense_devices_open(w->context, &words, &w->run));
}

static yoke_status run_on_ranks(const dense_operation *operation, dense_work *w, int argc, char **argv)
{
    yoke_status status = YOKE_OK;
    if (!operation->on_ranks)
        status =
            yoke_fail(w->context, YOKE_ERROR_INPUT, "started with %d MPI ranks, but %s runs on one; its devices and threads share the work",
                      app_ranks_count(w->ranks), operation->usage.program);
    if (!status && w->ceiling) status = yoke_fail(w->context, YOKE_ERROR_INPUT, "--ceiling works on one rank; run it without mpirun");
    status = app_ranks_agree(w->ranks, status);
    if (status) return status;
    if (!w->words.threads) w->words.threads = app_ranks_threads(w->ranks, omp_get_max_threads());
    status = open_devices_of_a_rank(w);
    return status ? status : operation->on_ranks(w, argc, argv);
}

static yoke_status run(const dense_operation *operation, dense_work *w, int argc, char **argv)
{
    if (app_ranks_count(w->ranks) > 1) return run_on_ranks(operation, w, argc, argv);
    yoke_status status = operation->begin ? operation->begin(w) : YOKE_OK;
    if (!status) status = yoke_allocate(w->context, 1, sizeof *w->shared, &w->shared);
    if (!status) status = dense_devices_open(w->context, &w->words, &w->run);
    if (!status) status = operation->compute(w);
    if (!status && w->output && operation->write) status = operation->write(w);
    w->total_s = yoke_clock_s() - w->begin_s;
    if (!status && w->ceiling && operation->compare) status = operation->compare(w);
    if (!status) status = show(operation, w);
    if (!status && w->words.json) status = write_record(operation, w, argc, argv);
    return status || !operation->judge ? status : operation->judge(w);
}

yoke_status dense_operation_run(const dense_operation *operation, yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    dense_work w = {.context = context, .terminal = terminal, .begin_s = yoke_clock_s()};
    bool answered = false;
    char *own = NULL;
    yoke_status status = yoke_allocate(context, (int64_t)operation->own_bytes, sizeof *own, &own);
    if (status) return status;
    w.own = own;
    status = app_ranks_start(context, &w.ranks);
    if (app_ranks_number(w.ranks) > 0) terminal->quiet = true;                                 /* rank 0 prints the results */
    if (!status && app_ranks_number(w.ranks) > 0) answered = app_options_ask_help(argc, argv); /* rank 0 prints the help */
    if (!status) status = app_ranks_agree(w.ranks, answered ? YOKE_OK : parse(operation, &w, argc, argv, &answered));
    double any = answered; /* if one rank is asked for help, the others must not wait for it */
    if (!status) app_ranks_max(w.ranks, &any, 1);
    if (!status && !(any > 0)) {
        if (w.output && !strcmp(w.output, "-")) terminal->aside = true; /* standard output is then only for the result */
        status = app_ranks_agree(w.ranks, check(operation, &w));
        if (!status) status = run(operation, &w, argc, argv);
        yoke_run_destroy(w.run);
        if (operation->destroy) operation->destroy(&w);
        yoke_release(context, w.shared);
    }
    yoke_release(context, own);
    return app_ranks_end(w.ranks, terminal, status);
}
