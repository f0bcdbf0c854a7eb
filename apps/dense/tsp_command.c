/*
 * tsp_command.c - yoke dense tsp: the command line, and what it asks for in its order.
 */
#include <string.h>

#include "command.h"
#include "common/interrupt.h"
#include "devices.h"
#include "inputs.h"
#include "output/output.h"
#include "tsp/tsp.h"

enum { RESTARTS = 1000, CHECKS = 16 };

typedef struct command_line {
    app_list operands;
    int64_t n, restarts, seed;
    const char *output;
    bool check;
    dense_words words;
} command_line;

typedef struct work {
    yoke_context *context;
    app_terminal *terminal;
    const command_line *line;
    dense_cities cities;
    dense_tour tour;
    yoke_run *run;
    dense_shared *shared;
    int64_t seed;
    double begin_s, total_s;
} work;

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    enum { OWN = 5 };
    app_option options[OWN + DENSE_DEVICE_OPTIONS + 1] = {
        {.name = "n",
         .value = "N",
         .help = "cities at random places instead of FILE",
         .number = &line->n,
         .minimum = 1,
         .maximum = DENSE_MAX_CITIES},
        {.name = "restarts",
         .value = "R",
         .help = "random tours to begin with; by default 1000",
         .number = &line->restarts,
         .minimum = 1,
         .maximum = 1000000000},
        {.name = "seed",
         .value = "S",
         .help = "of the random tours and places; by default 1",
         .number = &line->seed,
         .minimum = 0,
         .maximum = INT64_MAX},
        {.name = "output", .value = "FILE.tour", .help = "write the shortest tour (TSPLIB)", .text = &line->output},
        {.name = "check", .help = "climb some restarts again on the cores, and compare", .flag = &line->check},
    };
    dense_device_options(options + OWN, &line->words, terminal);
    const app_usage usage = {
        .program = "yoke dense tsp",
        .operands = "[FILE.tsp]",
        .operands_most = 1,
        .summary = "Looks for a short tour through all cities, on all devices of the machine.",
        .options = options,
        .columns = dense_columns,
        .details =
            "Each restart begins with a random tour and takes the best exchange of two edges (2-opt) until none makes it shorter; the "
            "shortest\n"
            "of all counts. The result depends on cities, seed and number of restarts, not on the devices. FILE is one of TSPLIB, with\n"
            "distances EUC_2D, CEIL_2D, MAN_2D, MAX_2D or ATT. A unit is a restart.\n"
            "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 a device is not there, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, &line->operands, answered);
}

static yoke_status check(yoke_context *context, const command_line *line)
{
    if (line->operands.count && line->n) return yoke_fail(context, YOKE_ERROR_INPUT, "FILE and -n: give one of them");
    if (!line->operands.count && !line->n) return yoke_fail(context, YOKE_ERROR_INPUT, "no cities: give -n N, or a file of TSPLIB");
    yoke_status status = dense_devices_check(context, &line->words);
    return status ? status : dense_input_check_output(context, line->output, line->words.json);
}

static yoke_status show_progress(void *user, int64_t done, int64_t units)
{
    work *w = user;
    app_progress(w->terminal, "%lld of %lld restarts", (long long)done, (long long)units);
    return app_interrupt_check(w->context);
}

static yoke_status compute(work *w)
{
    const dense_tsp_options options = {.restarts = w->line->restarts ? w->line->restarts : RESTARTS,
                                       .seed = w->seed,
                                       .check = w->line->check ? CHECKS : 0,
                                       .progress = show_progress,
                                       .user = w};
    yoke_status status = yoke_allocate(w->context, 1, sizeof *w->shared, &w->shared);
    if (!status) status = dense_devices_open(w->context, &w->line->words, &w->run);
    return status ? status : dense_tsp(w->run, &w->cities, &options, &w->tour, w->shared);
}

static yoke_status show(work *w)
{
    const dense_shared *s = w->shared;
    const dense_tour *t = &w->tour;
    const long long restarts = w->line->restarts ? w->line->restarts : RESTARTS;
    app_print(w->terminal, "tsp, %s, %d cities: length %lld, found by %lld of %lld restarts; mean %.6g\n", w->cities.name, w->cities.count,
              (long long)t->length, (long long)t->times, restarts, t->mean);
    app_print(w->terminal, "%.4g s, %.4g exchanges weighed a second; a unit is a restart\n", s->measured_s, t->evaluations / s->measured_s);
    dense_show(w->terminal, s);
    if (w->line->check) app_print(w->terminal, "check: the cores find the same tours\n");
    return w->line->words.explain ? dense_explain(w->terminal, w->context, w->run) : YOKE_OK;
}

static json_t *tour_of(const work *w)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < w->cities.count; i++) list = app_json_append(list, json_integer(w->tour.city[i] + 1));
    return list;
}

static yoke_status write_record(work *w, int argc, char **argv)
{
    json_t *record = NULL;
    const dense_tour *t = &w->tour;
    yoke_status status = dense_record_create(w->context, "tsp", argc, argv, w->shared, w->total_s, &record);
    if (!status) status = app_record_set(w->context, record, "name", app_json_text(w->cities.name));
    if (!status) status = app_record_set(w->context, record, "n", json_integer(w->cities.count));
    if (!status) status = app_record_set(w->context, record, "restarts", json_integer(w->line->restarts ? w->line->restarts : RESTARTS));
    if (!status) status = app_record_set(w->context, record, "seed", json_integer(w->seed));
    if (!status) status = app_record_set(w->context, record, "length", json_integer(t->length));
    if (!status) status = app_record_set(w->context, record, "found_by", json_integer(t->times));
    if (!status) status = app_record_set(w->context, record, "mean_length", app_json_number(t->mean));
    if (!status) status = app_record_set(w->context, record, "tour", tour_of(w));
    if (!status) status = app_record_set(w->context, record, "exchanges_per_s", app_json_number(t->evaluations / w->shared->measured_s));
    if (!status)
        status = app_record_set(w->context, record, "check",
                                w->line->check ? json_pack("{s:s, s:b}", "kind", "restarts", "passed", 1) : json_null());
    if (!status) status = app_record_write(w->context, record, w->line->words.json);
    json_decref(record);
    return status;
}

static yoke_status run(work *w, int argc, char **argv)
{
    const command_line *line = w->line;
    yoke_status status = line->operands.count ? dense_cities_read(w->context, line->operands.text[0], &w->cities)
                                              : dense_cities_random(w->context, line->n, (uint64_t)w->seed, &w->cities);
    if (!status) status = compute(w);
    if (!status && line->output) status = dense_tour_write(&w->cities, &w->tour, line->output);
    w->total_s = yoke_clock_s() - w->begin_s;
    if (!status) status = show(w);
    return status || !line->words.json ? status : write_record(w, argc, argv);
}

yoke_status dense_command_tsp(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.seed = -1};
    bool answered = false;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    work w = {.context = context, .terminal = terminal, .line = &line, .seed = line.seed >= 0 ? line.seed : 1, .begin_s = yoke_clock_s()};
    if (line.output && !strcmp(line.output, "-")) terminal->aside = true; /* only the tour is written there then */
    status = check(context, &line);
    if (!status) status = run(&w, argc, argv);
    yoke_run_destroy(w.run);
    dense_tour_destroy(&w.tour);
    dense_cities_destroy(&w.cities);
    yoke_release(context, w.shared);
    return status;
}
