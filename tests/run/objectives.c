/* Objectives and limits of runs on simulated machines, against the best of all choices by the machines' own numbers. */
#include <math.h>

#include "unit.h"
#include "worker.h"

enum { N = 100000, LEVELS = 4, MOST_LEVELS = 9, STEPS = 1000, TEXT = 6000 };

typedef struct level {
    double hz, per_unit_s, start_s, idle_w, busy_w;
    double overhead_w; /* of a CPU */
} level;

typedef struct node {
    level levels[2][MOST_LEVELS]; /* of a CPU and a GPU */
    int count[2];                 /* of levels */
    double base_w, host_overhead_w;
} node;

typedef struct cost {
    double time_s, energy_j, peak_w;
} cost;

static double uniform(uint64_t *state, double from, double to) /* splitmix64 */
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return from + (to - from) * (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Speeds and powers that rise with the frequency, the starts of a GPU not. */
static node random_node(uint64_t seed)
{
    node made;
    uint64_t state = seed;
    const double per_unit_s[] = {uniform(&state, 1e-6, 1e-5), uniform(&state, 5e-7, 4e-6)};
    const double dynamic_w[] = {uniform(&state, 50, 200), uniform(&state, 100, 400)},
                 idle_w[] = {uniform(&state, 10, 60), uniform(&state, 10, 60)};
    for (int d = 0; d < 2; d++) {
        double flat = uniform(&state, 0, 0.6), start_s = d == 0 ? 0 : uniform(&state, 0, 5e-3);
        for (int l = 0; l < LEVELS; l++) {
            double f = 0.4 + 0.6 * l / (LEVELS - 1.0);
            made.levels[d][l] = (level){.hz = f * (d == 0 ? 3e9 : 1.5e9),
                                        .per_unit_s = per_unit_s[d] / (flat + (1 - flat) * f),
                                        .start_s = start_s,
                                        .idle_w = idle_w[d] * (0.7 + 0.3 * f),
                                        .busy_w = idle_w[d] * (0.7 + 0.3 * f) + dynamic_w[d] * (0.3 * f + 0.7 * f * f * f)};
        }
    }
    made.base_w = uniform(&state, 0, 60);
    made.host_overhead_w = uniform(&state, 0, 20);
    for (int l = 0; l < LEVELS; l++) made.levels[0][l].overhead_w = made.host_overhead_w;
    made.count[0] = made.count[1] = LEVELS;
    return made;
}

static void append_device(char *text, const char *name, const char *class, const level *levels, int count)
{
    size_t at = strlen(text);
    at += (size_t)snprintf(text + at, TEXT - at, "{\"name\": \"%s\", \"class\": \"%s\", \"clock\": {\"levels\": [", name, class);
    for (int l = 0; l < count; l++) {
        at += (size_t)snprintf(
            text + at, TEXT - at,
            "%s{\"frequency_hz\": %.17g, \"seconds_per_unit\": %.17g, \"start_s\": %.17g, \"power\": {\"idle_w\": %.17g, \"busy_w\": "
            "%.17g}",
            l > 0 ? "," : "", levels[l].hz, levels[l].per_unit_s, levels[l].start_s, levels[l].idle_w, levels[l].busy_w);
        if (strcmp(class, "cpu") == 0) at += (size_t)snprintf(text + at, TEXT - at, ", \"hosting_w\": %.17g", levels[l].overhead_w);
        at += (size_t)snprintf(text + at, TEXT - at, "}");
    }
    snprintf(text + at, TEXT - at, "]}}");
}

static void write_node(const node *of, char *text)
{
    snprintf(text, TEXT, "{\"name\": \"random\", \"hosting_w\": %.17g, \"host\": {\"idle_w\": %.17g}, \"devices\": [", of->host_overhead_w,
             of->base_w);
    append_device(text, "cpu", "cpu", of->levels[0], of->count[0]);
    strcat(text, ",");
    append_device(text, "gpu", "gpu", of->levels[1], of->count[1]);
    strcat(text, "]}");
}

/* What units and levels cost, by docs/reference/machine-file.md. */
static cost cost_of(const node *of, int64_t gpu_units, int cpu_level, int gpu_level)
{
    const level *c = &of->levels[0][cpu_level], *g = &of->levels[1][gpu_level];
    double cpu_s = gpu_units < N ? c->start_s + c->per_unit_s * (double)(N - gpu_units) : 0;
    double gpu_s = gpu_units > 0 ? g->start_s + g->per_unit_s * (double)gpu_units : 0;
    double time_s = fmax(cpu_s, gpu_s), idle_w = of->base_w + c->idle_w + g->idle_w;
    double energy_j =
        idle_w * time_s + (c->busy_w - c->idle_w) * cpu_s + (g->busy_w - g->idle_w) * gpu_s + c->overhead_w * fmax(0, gpu_s - cpu_s);
    double peak_w = idle_w + (cpu_s > 0 ? c->busy_w - c->idle_w : 0) + (gpu_s > 0 ? g->busy_w - g->idle_w + c->overhead_w : 0);
    return (cost){time_s, energy_j, peak_w};
}

static double value_of(yoke_objective objective, cost c)
{
    const double values[] = {c.time_s, c.energy_j, c.energy_j * c.time_s, c.energy_j * c.time_s * c.time_s};
    return values[objective];
}

/* The least value of the objective within limits, over levels and shares. */
static double best_value(const node *of, yoke_objective objective, double deadline_s, double cap_w)
{
    double best = INFINITY;
    for (int c = 0; c < of->count[0]; c++)
        for (int g = 0; g < of->count[1]; g++)
            for (int s = 0; s <= STEPS; s++) {
                cost one = cost_of(of, (int64_t)s * N / STEPS, c, g);
                if (one.time_s <= deadline_s && one.peak_w <= cap_w) best = fmin(best, value_of(objective, one));
            }
    return best;
}

/* The last one of so many rounds, or one after it: what serves to learn is no result. */
static cost run_node(const node *of, const yoke_run_options *options, int rounds, worker *w, failing *memory)
{
    char text[TEXT];
    write_node(of, text);
    worker_open(w, memory, text, options);
    worker_rounds(w, N, rounds);
    for (int k = 0; k < 3 && w->assignment->decision == YOKE_RUN_EXPLORED; k++) worker_rounds(w, N, 1);
    return (cost){w->measured.time_s, w->measured.energy_j, NAN};
}

static void every_objective_finds_its_best_share_and_frequencies(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (int objective = 0; objective < 4; objective++) {
            const node of = random_node(seed);
            const yoke_run_options options = {.objective = (yoke_objective)objective};
            failing memory = {0};
            worker w;
            cost found = run_node(&of, &options, 14, &w, &memory);
            double value = value_of((yoke_objective)objective, found),
                   best = best_value(&of, (yoke_objective)objective, INFINITY, INFINITY);
            if (!(value <= 1.02 * best)) fail_msg("machine %d, objective %d: %g instead of %g", (int)seed, objective, value, best);
            if (!(fabs(w.assignment->predicted.energy_j / found.energy_j - 1) < 0.02))
                fail_msg("machine %d, objective %d: predicted %g J, took %g J", (int)seed, objective, w.assignment->predicted.energy_j,
                         found.energy_j);
            worker_close(&w);
            assert_int_equal(memory.outstanding, 0);
        }
}

/* Speeds that no longer rise from some frequency on, powers that do, and a host overhead that rises with the frequency. */
static node kinked_node(uint64_t seed)
{
    node made = {.count = {MOST_LEVELS, 4}};
    uint64_t state = seed;
    const double kink[] = {uniform(&state, 0.45, 1), uniform(&state, 0.6, 1)};
    const double per_unit_s[] = {uniform(&state, 1e-6, 1e-5), uniform(&state, 5e-7, 4e-6)};
    const double dynamic_w[] = {uniform(&state, 50, 200), uniform(&state, 100, 400)},
                 idle_w[] = {uniform(&state, 10, 60), uniform(&state, 10, 60)};
    const double overhead_w[] = {uniform(&state, 0, 15), uniform(&state, 15, 60)};
    for (int d = 0; d < 2; d++)
        for (int l = 0; l < made.count[d]; l++) {
            const double part = l / (made.count[d] - 1.0), f = 0.45 + 0.55 * part;
            made.levels[d][l] = (level){.hz = f * (d == 0 ? 2.6e9 : 1e9),
                                        .per_unit_s = per_unit_s[d] / fmin(f, kink[d]),
                                        .idle_w = idle_w[d],
                                        .busy_w = idle_w[d] + dynamic_w[d] * (0.2 * f + 0.8 * f * f * f),
                                        .overhead_w = d == 0 ? overhead_w[0] + (overhead_w[1] - overhead_w[0]) * part : 0};
        }
    made.base_w = uniform(&state, 0, 100);
    return made;
}

/* Transposition of PEACH's system I, as in bench/peach: 2.5 GHz are as fast as 2.6 GHz, and lie between frequencies that are tried first. */
static node transposing_node(void)
{
    static const double ghz[] = {1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4, 2.5, 2.6}, mhz[] = {614, 640, 666, 705};
    node made = {.count = {9, 4}, .base_w = 76.7};
    for (int l = 0; l < 9; l++)
        made.levels[0][l] = (level){.hz = 1e9 * ghz[l],
                                    .per_unit_s = 2e-2 / (13.09 * fmin(1, ghz[l] / 2.5)),
                                    .idle_w = 42.4,
                                    .busy_w = 42.4 + 137.3 * (124 * ghz[l] - 100.23) / (124 * 2.6 - 100.23),
                                    .overhead_w = 10 + 20 * (ghz[l] - 1.2) / 1.4};
    for (int l = 0; l < 4; l++)
        made.levels[1][l] = (level){.hz = 1e6 * mhz[l], .per_unit_s = 2e-2 / 2.9, .idle_w = 46.6, .busy_w = 57.4 + 0.01 * l};
    return made;
}

static void kinks_between_frequencies_that_are_tried_first_are_found(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed <= 12; seed++)
        for (int objective = 1; objective < 4; objective++) {
            const node of = seed == 0 ? transposing_node() : kinked_node(seed);
            const yoke_run_options options = {.objective = (yoke_objective)objective};
            failing memory = {0};
            worker w;
            const double value = value_of((yoke_objective)objective, run_node(&of, &options, 40, &w, &memory)),
                         best = best_value(&of, (yoke_objective)objective, INFINITY, INFINITY);
            if (!(value <= 1.01 * best))
                fail_msg("machine %d, objective %d: %g instead of %g, at %g GHz and %g MHz", (int)seed, objective, value, best,
                         1e-9 * w.assignment->frequency_hz[0], 1e-6 * w.assignment->frequency_hz[1]);
            worker_close(&w);
        }
}

static void a_slowdown_and_a_deadline_are_kept(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        const node of = random_node(seed);
        const double min_s = best_value(&of, YOKE_OBJECTIVE_TIME, INFINITY, INFINITY);
        const yoke_run_options limits[] = {{.objective = YOKE_OBJECTIVE_ENERGY, .max_slowdown = 1.1},
                                           {.objective = YOKE_OBJECTIVE_ENERGY, .deadline_s = 1.3 * min_s}};
        const double at_most[] = {1.1 * min_s, 1.3 * min_s};
        for (int k = 0; k < 2; k++) {
            failing memory = {0};
            worker w;
            cost found = run_node(&of, &limits[k], 14, &w, &memory);
            double best = best_value(&of, YOKE_OBJECTIVE_ENERGY, at_most[k], INFINITY);
            if (!(found.time_s <= 1.03 * at_most[k]))
                fail_msg("machine %d, limit %d: %g s instead of %g s", (int)seed, k, found.time_s, at_most[k]);
            if (!(found.energy_j <= 1.03 * best))
                fail_msg("machine %d, limit %d: %g J instead of %g J", (int)seed, k, found.energy_j, best);
            assert_true(w.assignment->feasible);
            worker_close(&w);
        }
    }
}

static void what_cannot_be_kept_is_said_with_the_nearest_that_can(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        const node of = random_node(seed);
        const double min_s = best_value(&of, YOKE_OBJECTIVE_TIME, INFINITY, INFINITY);
        const yoke_run_options options = {.objective = YOKE_OBJECTIVE_ENERGY, .deadline_s = 0.5 * min_s};
        failing memory = {0};
        worker w;
        char *text = NULL;
        cost found = run_node(&of, &options, 10, &w, &memory);
        assert_false(w.assignment->feasible);
        assert_string_equal(w.assignment->binding, "deadline");
        if (!(fabs(w.assignment->nearest / min_s - 1) < 0.02))
            fail_msg("machine %d: nearest %g, least %g", (int)seed, w.assignment->nearest, min_s);
        if (!(found.time_s <= 1.02 * min_s)) fail_msg("machine %d: %g s instead of %g s", (int)seed, found.time_s, min_s);
        assert_int_equal(yoke_run_explain(w.run, &text), YOKE_OK);
        assert_non_null(strstr(text, "cannot be met; the nearest that can is"));
        yoke_release(w.context, text);
        worker_close(&w);
    }
}

static void a_power_cap_is_kept(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        const node of = random_node(seed);
        const double cap_w = of.base_w + of.host_overhead_w + 0.8 * (of.levels[0][LEVELS - 1].busy_w + of.levels[1][LEVELS - 1].busy_w);
        const yoke_run_options options = {.power_cap_w = cap_w};
        failing memory = {0};
        worker w;
        cost found = run_node(&of, &options, 14, &w, &memory);
        double best = best_value(&of, YOKE_OBJECTIVE_TIME, INFINITY, cap_w);
        int levels[2] = {0, 0};
        for (int d = 0; d < 2; d++)
            while (of.levels[d][levels[d]].hz < w.assignment->frequency_hz[d] * (1 - 1e-9)) levels[d]++;
        cost truly = cost_of(&of, worker_units(&w, 1), levels[0], levels[1]);
        if (!(truly.peak_w <= 1.03 * cap_w)) fail_msg("machine %d: %g W with a cap of %g W", (int)seed, truly.peak_w, cap_w);
        if (!(found.time_s <= 1.03 * best)) fail_msg("machine %d: %g s instead of %g s", (int)seed, found.time_s, best);
        worker_close(&w);
    }
}

static void both_kinds_work_where_both_are_asked_for(void **state)
{
    (void)state;
    node of = random_node(1);
    for (int l = 0; l < LEVELS; l++) { /* a GPU so good that alone it is best */
        of.levels[1][l].per_unit_s = 1e-8;
        of.levels[1][l].start_s = 0;
        of.levels[1][l].busy_w = of.levels[1][l].idle_w + 1;
    }
    const yoke_run_use uses[] = {YOKE_RUN_ANY, YOKE_RUN_BOTH};
    for (int k = 0; k < 2; k++) {
        const yoke_run_options options = {.objective = YOKE_OBJECTIVE_ENERGY, .use = uses[k]};
        failing memory = {0};
        worker w;
        char *text = NULL;
        run_node(&of, &options, 12, &w, &memory);
        assert_int_equal(worker_units(&w, 0) > 0, k);
        assert_int_equal(yoke_run_explain(w.run, &text), YOKE_OK);
        assert_int_equal(strstr(text, "both have to work") != NULL, k);
        yoke_release(w.context, text);
        worker_close(&w);
    }
}

/* The application itself takes 20 ms after each call. */
static void what_rounds_take_beside_their_phases_is_predicted_and_kept_within_limits(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        const node of = random_node(seed);
        const double min_s = best_value(&of, YOKE_OBJECTIVE_TIME, INFINITY, INFINITY), deadline_s = 1.2 * min_s + 0.02;
        const yoke_run_options options[] = {{.deadline_s = 0}, {.objective = YOKE_OBJECTIVE_ENERGY, .deadline_s = deadline_s}};
        for (int k = 0; k < 2; k++) {
            failing memory = {0};
            char text[TEXT];
            worker w;
            write_node(&of, text);
            worker_open(&w, &memory, text, &options[k]);
            w.extra_s = 0.02;
            worker_rounds(&w, N, 16);
            const yoke_cost *predicted = &w.assignment->predicted;
            if (!(fabs(predicted->time_s / w.measured.time_s - 1) < 0.01))
                fail_msg("predicted %g s, took %g s", predicted->time_s, w.measured.time_s);
            if (!(fabs(predicted->energy_j / w.measured.energy_j - 1) < 0.02))
                fail_msg("predicted %g J, took %g J", predicted->energy_j, w.measured.energy_j);
            if (k == 1 && !(w.measured.time_s <= 1.03 * deadline_s))
                fail_msg("%g s with a deadline of %g s", w.measured.time_s, deadline_s);
            if (k == 1 && !(w.measured.time_s >= min_s + 0.02)) fail_msg("%g s, less than can be", w.measured.time_s);
            worker_close(&w);
        }
    }
}

static void declared_powers_are_planned_with(void **state)
{
    (void)state;
    const char *const text = "{\"name\": \"silent\", \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 4e-6},"
                             "{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-6}]}";
    const yoke_run_power powers[] = {{.device = "sim:cpu", .idle_w = 10, .busy_w = 400}, {.device = "sim:gpu", .idle_w = 10, .busy_w = 60}};
    const yoke_run_options options = {.objective = YOKE_OBJECTIVE_ENERGY, .powers = powers, .num_powers = 2, .base_w = 5};
    failing memory = {0};
    worker w;
    worker_open(&w, &memory, text, &options);
    worker_rounds(&w, N, 6);
    /* A unit costs the CPU 390 W x 4 us and saves 75 W x 1 us of waiting at most: the GPU alone is best, 75 W for 0.1 s. */
    assert_int_equal(worker_units(&w, 1), N);
    assert_true(fabs(w.assignment->predicted.energy_j - 0.1 * (5 + 10 + 60)) < 1e-3);
    assert_true(isnan(w.measured.energy_j));
    worker_close(&w);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_objective_finds_its_best_share_and_frequencies),
    cmocka_unit_test(kinks_between_frequencies_that_are_tried_first_are_found),
    cmocka_unit_test(a_slowdown_and_a_deadline_are_kept),
    cmocka_unit_test(what_cannot_be_kept_is_said_with_the_nearest_that_can),
    cmocka_unit_test(a_power_cap_is_kept),
    cmocka_unit_test(both_kinds_work_where_both_are_asked_for),
    cmocka_unit_test(what_rounds_take_beside_their_phases_is_predicted_and_kept_within_limits),
    cmocka_unit_test(declared_powers_are_planned_with),
};

UNIT_MAIN(tests, NULL, NULL)
