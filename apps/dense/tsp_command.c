/* tsp_command.c - yoke dense tsp: its own part of the common frame of operations (operation.h). */
#include "operation.h"
#include "output/output.h"
#include "tsp/tsp.h"

enum { RESTARTS = 1000, CHECKS = 16 };

typedef struct search {
    int64_t restarts; /* 0: not given */
    dense_cities cities;
    dense_tour tour;
} search;

static void add_options(void *own, app_option_table *table)
{
    search *s = own;
    const app_option options[] = {
        {.name = "restarts",
         .value = "R",
         .help = "number of random tours to start from; by default 1000",
         .number = &s->restarts,
         .minimum = 1,
         .maximum = DENSE_MAX_RESTARTS},
        {.name = NULL},
    };
    app_options_add(table, options);
}

static int64_t restarts_of(const search *s) { return s->restarts ? s->restarts : RESTARTS; }

static yoke_status check(const dense_work *w)
{
    if (w->operands.count && w->n) return yoke_fail(w->context, YOKE_ERROR_INPUT, "FILE and -n: give one of them");
    if (!w->operands.count && !w->n) return yoke_fail(w->context, YOKE_ERROR_INPUT, "no cities: give -n N, or a file of TSPLIB");
    return YOKE_OK;
}
static yoke_status begin(dense_work *w)
{
    search *s = w->own;
    return w->operands.count ? dense_cities_read(w->context, w->operands.text[0], &s->cities)
                             : dense_cities_random(w->context, w->n, (uint64_t)w->seed, &s->cities);
}

static yoke_status show_progress(void *user, int64_t done, int64_t units) { return dense_work_progress(user, "restarts", done, units); }

static yoke_status compute(dense_work *w)
{
    search *s = w->own;
    const dense_tsp_options chosen = {
        .restarts = restarts_of(s), .seed = w->seed, .check = w->check ? CHECKS : 0, .progress = {show_progress, w}};
    return dense_tsp(w->run, &s->cities, &chosen, &s->tour, w->shared);
}

static yoke_status write(dense_work *w)
{
    const search *s = w->own;
    return dense_tour_write(&s->cities, &s->tour, w->output);
}

/* --------------------------------------------------------------------------------------------------- output */

static void show_head(const dense_work *w)
{
    const search *s = w->own;
    const dense_tour *t = &s->tour;
    const double seconds = w->shared->measured_s;
    app_print(w->terminal, "tsp, %s, %d cities: length %lld, found by %lld of %lld restarts; mean %.6g\n", s->cities.name, s->cities.count,
              (long long)t->length, (long long)t->times, (long long)restarts_of(s), t->mean);
    app_print(w->terminal, "%.4g s, %.4g exchanges weighed a second; a unit is a restart\n", seconds, t->evaluations / seconds);
}

static void show_tail(const dense_work *w)
{
    if (w->check) app_print(w->terminal, "check: the cores find the same tours\n");
}

static json_t *keys(const dense_work *w)
{
    const search *s = w->own;
    const dense_tour *t = &s->tour;
    json_t *tour = json_array();
    for (int32_t i = 0; i < s->cities.count; i++) tour = app_json_append(tour, json_integer(t->city[i] + 1));
    return json_pack("{s:o, s:i, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "name", app_json_text(s->cities.name), "n", (int)s->cities.count,
                     "restarts", (json_int_t)restarts_of(s), "seed", (json_int_t)w->seed, "length", (json_int_t)t->length, "found_by",
                     (json_int_t)t->times, "mean_length", app_json_number(t->mean), "tour", tour, "exchanges_per_s",
                     app_json_number(t->evaluations / w->shared->measured_s), "check",
                     w->check ? json_pack("{s:s, s:b}", "kind", "restarts", "passed", 1) : json_null());
}

static void destroy(dense_work *w)
{
    search *s = w->own;
    dense_tour_destroy(&s->tour);
    dense_cities_destroy(&s->cities);
}

const dense_operation dense_operation_tsp = {
    .name = "tsp",
    .summary = "short tours through cities (travelling salesman problem)",
    .usage =
        {.program = "yoke dense tsp",
         .operands = "[FILE.tsp]",
         .operands_most = 1,
         .summary = "Searches for a short tour through all cities, on all devices of the machine.",
         .details =
             "Each restart begins with a random tour, and makes the best exchange of two edges (2-opt) until none makes it shorter.\n"
             "The result is the shortest tour of all restarts. It depends on cities, seed and number of restarts, not on the devices.\n"
             "FILE is a TSPLIB file with distances EUC_2D, CEIL_2D, MAN_2D, MAX_2D or ATT. A unit is a restart.\n"
             "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 a device is not there, 130 or 143 interrupted."},
    .help = {.n = "number of cities at random positions, instead of FILE",
             .seed = "seed of the random tours and positions; by default 1",
             .output_value = "FILE.tour",
             .output = "write the shortest tour (TSPLIB)",
             .check = "repeat some restarts on the cores, and compare",
             .most_n = DENSE_MAX_CITIES},
    .own_bytes = sizeof(search),
    .options = add_options,
    .check = check,
    .begin = begin,
    .compute = compute,
    .write = write,
    .show_head = show_head,
    .show_tail = show_tail,
    .keys = keys,
    .destroy = destroy,
};
