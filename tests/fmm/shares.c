/*
 * Tree, shares and frequencies chosen together, on simulated machines: what the chosen tree took against the least of all depths, cuts and frequencies by the
 * machine's own numbers.
 */
#include <math.h>

#include "device/machine_text.h"
#include "particles/generate.h"
#include "tune/shares.h"
#include "tune/tune.h"
#include "unit.h"

/* Trees: those of each depth, and those between the last two depths. */
enum { COUNT = 8192, ORDER = 4, DEPTHS = 4, LEAST_CELLS = 5, TREES = DEPTHS + 3, MAX_LEAVES = 512, LEVELS = 3 };

/* ------------------------------------------------------------------------------------------------------ machines */

typedef struct level {
    double hz, unit_s, idle_w, busy_w;
} level;

/* The accelerator's launches begin with start_s; its copies take latency_s and their bytes, and draw as much as its work. */
typedef struct truth {
    level cpu[LEVELS], gpu[LEVELS];
    double start_s, latency_s, bytes_per_s;
} truth;

static const truth hungry = {.cpu = {{1e9, 2e-9, 20, 60}, {2e9, 2e-9, 20, 60}, {3e9, 2e-9, 20, 60}},
                             .gpu = {{1e9, 2e-10, 30, 1030}, {2e9, 2e-10, 30, 1030}, {3e9, 2e-10, 30, 1030}},
                             .start_s = 1e-5,
                             .latency_s = 1e-5,
                             .bytes_per_s = 1e10},
                   far_away = {.cpu = {{1e9, 2e-9, 20, 60}, {2e9, 2e-9, 20, 60}, {3e9, 2e-9, 20, 60}},
                               .gpu = {{1e9, 2e-10, 10, 60}, {2e9, 2e-10, 10, 60}, {3e9, 2e-10, 10, 60}},
                               .start_s = 1e-5,
                               .latency_s = 1e-4,
                               .bytes_per_s = 4e7},
                   tunable = {.cpu = {{1e9, 5e-9, 15, 25}, {2e9, 2.8e-9, 18, 45}, {3e9, 2e-9, 20, 110}},
                              .gpu = {{0.6e9, 4.5e-10, 25, 90}, {1e9, 2.9e-10, 28, 170}, {1.5e9, 2e-10, 30, 400}},
                              .start_s = 1e-5,
                              .latency_s = 1e-5,
                              .bytes_per_s = 1e10};

static int print_levels(char *to, size_t room, const level *of)
{
    int at = snprintf(to, room, "\"clock\": {\"levels\": [");
    for (int l = 0; l < LEVELS; l++)
        at += snprintf(
            to + at, room - (size_t)at,
            "%s{\"frequency_hz\": %.17g, \"seconds_per_unit\": %.17g, \"power\": {\"idle_w\": %g, \"busy_w\": %g, \"copy_w\": %g}}",
            l ? ", " : "", of[l].hz, of[l].unit_s, of[l].idle_w, of[l].busy_w, of[l].busy_w - of[l].idle_w);
    return at + snprintf(to + at, room - (size_t)at, "]}");
}

/* fault: keys of the accelerator, or "". */
static yoke_context *open_machine(const truth *of, const char *fault, failing *memory)
{
    char cpu[1000], gpu[1000], text[4000];
    (void)print_levels(cpu, sizeof cpu, of->cpu);
    (void)print_levels(gpu, sizeof gpu, of->gpu);
    (void)snprintf(
        text, sizeof text,
        "{\"name\": \"m\", \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"power\": {\"idle_w\": 1, \"busy_w\": 2}, %s}, "
        "{\"name\": \"gpu\", \"class\": \"gpu\", \"power\": {\"idle_w\": 1, \"busy_w\": 2}, \"start_s\": %.17g, "
        "\"copy\": {\"latency_s\": %.17g, \"bytes_per_s\": %.17g}, %s%s}]}",
        cpu, of->start_s, of->latency_s, of->bytes_per_s, gpu, fault);
    return machine(text, memory);
}

/* --------------------------------------------------------------------------------------------------- brute force */

typedef struct tree {
    int64_t leaves;
    double pairs[MAX_LEAVES + 1]; /* ordered pairs before each leaf */
    double far;                   /* units of the far field */
} tree;

static double objective_of(yoke_objective objective, double time_s, double energy_j)
{
    return objective == YOKE_OBJECTIVE_TIME     ? time_s
           : objective == YOKE_OBJECTIVE_ENERGY ? energy_j
           : objective == YOKE_OBJECTIVE_EDP    ? energy_j * time_s
                                                : energy_j * time_s * time_s;
}

/* The first `cut` leaves are the CPU's. */
static double cost(const truth *m, const tree *t, int64_t cut, int c, int g, yoke_objective objective)
{
    const double all = t->pairs[t->leaves], here = t->pairs[cut], there = all - here;
    const int used = cut < t->leaves;
    const double copied = 32 * COUNT * (1 + (double)(t->leaves - cut) / (double)t->leaves); /* positions; results of its leaves */
    const double cpu_s = m->cpu[c].unit_s * (t->far + here);
    const double gpu_s = used ? m->start_s + m->gpu[g].unit_s * there + 2 * m->latency_s + copied / m->bytes_per_s : 0;
    const double time_s = fmax(cpu_s, gpu_s);
    const double energy_j = (m->cpu[c].idle_w + m->gpu[g].idle_w) * time_s + (m->cpu[c].busy_w - m->cpu[c].idle_w) * cpu_s +
                            (m->gpu[g].busy_w - m->gpu[g].idle_w) * gpu_s;
    return objective_of(objective, time_s, energy_j);
}

typedef struct found {
    double value;
    int tree, cpu, gpu;
    double part; /* of the accelerator */
} found;

static found find_least(const truth *m, const tree trees[TREES], yoke_objective objective)
{
    found best = {.value = INFINITY};
    for (int d = 0; d < TREES; d++)
        for (int64_t cut = 0; cut <= trees[d].leaves; cut++)
            for (int c = 0; c < LEVELS; c++)
                for (int g = 0; g < LEVELS; g++) {
                    const double value = cost(m, &trees[d], cut, c, g, objective);
                    if (value < best.value) best = (found){value, d, c, g, 1 - trees[d].pairs[cut] / trees[d].pairs[trees[d].leaves]};
                }
    return best;
}

/* --------------------------------------------------------------------------------------------------------- runs */

typedef struct bench {
    yoke_context *context;
    fmm_particles *particles;
    fmm_field *field;
    yoke_run *run;
    fmm_tune_options options;
    fmm_tuner *tuner;
    fmm_tuned tuned;
} bench;

#define ok(b, status) ok_at(__LINE__, b, status)
static void ok_at(int line, const bench *b, yoke_status status)
{
    if (status) fail_msg("line %d: %s", line, yoke_last_error(b->context));
}

static void open_bench(bench *b, const truth *m, const char *fault, yoke_objective objective, failing *memory)
{
    const yoke_run_options options = {.devices = "sim:cpu,sim:gpu", .objective = objective};
    *b = (bench){.context = open_machine(m, fault, memory)};
    ok(b, fmm_particles_generate(b->context, FMM_GRID, COUNT, FMM_RANDOM, 1, &b->particles));
    ok(b, fmm_field_create(b->context, COUNT, 1, &b->field));
    ok(b, fmm_shared_open(b->context, &options, &b->run));
    b->options = (fmm_tune_options){.objective = objective, .gradient = 1, .depth = -1, .devices = b->run};
    ok(b, fmm_tuner_create(b->context, &b->options, &b->tuner));
    fmm_tuner_set_particles(b->tuner, b->particles);
}

static void close_bench(bench *b, failing *memory)
{
    fmm_tuner_destroy(b->tuner);
    yoke_run_destroy(b->run);
    fmm_field_destroy(b->field);
    fmm_particles_destroy(b->particles);
    yoke_context_destroy(b->context);
    assert_int_equal(memory->outstanding, 0);
}

/* Runs a tree; its leaves' pairs into *shape. */
static fmm_shared_told run_tree(bench *b, fmm_method_options words, const fmm_shared_options *options, fmm_shared_part parts[2],
                                tree *shape)
{
    words.direct = fmm_method_direct(ORDER, 1), words.gradient = 1;
    fmm_method *method = NULL;
    fmm_shared *shared = NULL;
    fmm_shared_told told;
    int taken;
    ok(b, fmm_method_create(b->particles, &words, &method));
    ok(b, fmm_method_set_order(method, ORDER));
    ok(b, fmm_shared_create(method, b->run, options, &shared));
    ok(b, fmm_shared_run(shared, b->particles->charge, b->field, NULL));
    fmm_shared_tell(shared, &told);
    assert_int_equal(fmm_shared_parts(shared, parts, 2), 2);
    if (shape) {
        shape->leaves = fmm_method_tree(method)->leaves.count;
        assert_true(shape->leaves <= MAX_LEAVES);
        const double *sum = fmm_shared_planned(shared, &taken)->rounds[0].phases[0].weight_sum;
        for (int64_t l = 0; l <= shape->leaves; l++) shape->pairs[l] = sum[l];
        assert_true(sum[shape->leaves] == (double)(fmm_method_count(method).near + COUNT));
    }
    fmm_shared_destroy(shared);
    fmm_method_destroy(method);
    return told;
}

static double far_units_of(const fmm_analysis *counted, int depth)
{
    const double p = ORDER + 1;
    return depth < 2 ? 0
                     : 2 * (double)counted->counts[depth].far * p * p * p + 2 * (double)counted->cells[depth].cells * p * p * p +
                           2 * COUNT * p * p;
}

/* What a tree asks: pairs by the method itself, the far field by counting what it does.  cells: as in fmm_method_options. */
static void find_tree(int depth, int64_t cells, tree *found_tree)
{
    static const double none = 0;
    failing memory = {0};
    bench b;
    fmm_analysis *counted = NULL;
    fmm_shared_part parts[2];
    open_bench(&b, &hungry, "", YOKE_OBJECTIVE_TIME, &memory);
    ok(&b, cells ? fmm_analysis_create_cells(b.particles, cells, &counted) : fmm_analysis_create(b.particles, depth, &counted));
    (void)run_tree(&b, (fmm_method_options){.depth = depth, .cells = cells}, &(fmm_shared_options){.share = &none}, parts, found_tree);
    found_tree->far = far_units_of(counted, cells ? fmm_depth_of_cells(cells) : depth);
    fmm_analysis_destroy(counted);
    close_bench(&b, &memory);
}

static fmm_method_options words_of(const fmm_choice *choice)
{
    if (choice->takes_cells) return (fmm_method_options){.cells = choice->cells};
    if (choice->adaptive < 0) return (fmm_method_options){.depth = choice->depth};
    return (fmm_method_options){.depth = FMM_MAX_DEPTH, .capacity = choice->capacity[choice->adaptive]};
}

/* What the choice takes is the least of all, to 1 %, and as predicted, to 10 %; *chosen: what it is. */
static void expect_least(const truth *m, const tree trees[TREES], yoke_objective objective, found *chosen)
{
    static bench b;
    failing memory = {0};
    fmm_shared_part parts[2];
    open_bench(&b, m, "", objective, &memory);
    ok(&b, fmm_tuner_choose(b.tuner, ORDER, &b.tuned));
    const fmm_choice *choice = &b.tuned.choice;
    const fmm_depth *tree_of = fmm_chosen(choice);
    assert_int_equal(tree_of->devices, 2);
    const fmm_shared_options options = {.work = tree_of->work};
    const fmm_shared_told told = run_tree(&b, words_of(choice), &options, parts, NULL);
    const double value = objective_of(objective, told.measured.time_s, told.measured.energy_j);
    *chosen = (found){.value = value,
                      .tree = choice->takes_cells ? DEPTHS + (int)choice->cells - LEAST_CELLS : choice->depth,
                      .part = parts[1].pairs / (parts[0].pairs + parts[1].pairs)};
    const found least = find_least(m, trees, objective);
    if (!(value <= 1.01 * least.value && value >= 0.97 * least.value))
        fail_msg(
            "objective %d: %g instead of %g: tree %d, %g of the pairs on the accelerator; least with tree %d, %g, frequencies %d and %d",
            (int)objective, value, least.value, chosen->tree, chosen->part, least.tree, least.part, least.cpu, least.gpu);
    assert_true(fabs(choice->predicted.time_s / told.measured.time_s - 1) <= 0.1);
    if (objective != YOKE_OBJECTIVE_TIME) assert_true(fabs(choice->predicted.energy_j / told.measured.energy_j - 1) <= 0.1);
    close_bench(&b, &memory);
}

static void expect_least_of_all(const truth *m, found chosen[4])
{
    static tree trees[TREES];
    for (int k = 0; k < TREES && trees[k].leaves == 0; k++) find_tree(k, k < DEPTHS ? 0 : k - DEPTHS + LEAST_CELLS, &trees[k]);
    for (int o = 0; o < 4; o++) expect_least(m, trees, (yoke_objective)o, &chosen[o]);
}

/* Much faster and much more hungry than the CPU: in least time it takes over so many pairs that the tree is flat, which takes too much energy. */
static void a_hungry_accelerator_is_for_least_time(void **state)
{
    (void)state;
    found chosen[4];
    expect_least_of_all(&hungry, chosen);
    assert_true(chosen[YOKE_OBJECTIVE_TIME].tree != chosen[YOKE_OBJECTIVE_ENERGY].tree);
    assert_true(fabs(chosen[YOKE_OBJECTIVE_TIME].part - chosen[YOKE_OBJECTIVE_ENERGY].part) > 0.02);
}

/* Copies take as long as a part of the sums on the CPU: less is done there than without a bus, and nothing where energy counts. */
static void an_accelerator_behind_a_slow_bus_gets_what_is_worth_its_copies(void **state)
{
    (void)state;
    found chosen[4];
    expect_least_of_all(&far_away, chosen);
    assert_true(chosen[YOKE_OBJECTIVE_TIME].part > 0.4 && chosen[YOKE_OBJECTIVE_TIME].part < 0.8 &&
                chosen[YOKE_OBJECTIVE_ENERGY].part <= 0);
}

static void frequencies_are_chosen_with_tree_and_share(void **state)
{
    (void)state;
    found chosen[4];
    expect_least_of_all(&tunable, chosen);
}

/* --------------------------------------------------------------------------------------------------------- faults */

/* Chooses and runs on a machine whose accelerator is lost at a call of its driver; nonzero: that came.  planned: it had a part in the choice. */
static int lose(bench *b, int call, double *planned, failing *memory)
{
    char fault[80];
    fmm_shared_part parts[2] = {{0}};
    (void)snprintf(fault, sizeof fault, ", \"fault\": {\"call\": %d, \"kind\": \"lost\"}", call);
    open_bench(b, &hungry, fault, YOKE_OBJECTIVE_TIME, memory);
    ok(b, fmm_tuner_choose(b->tuner, ORDER, &b->tuned));
    const fmm_depth *tree_of = fmm_chosen(&b->tuned.choice);
    *planned = tree_of->part[1];
    (void)run_tree(b, words_of(&b->tuned.choice), &(fmm_shared_options){.work = tree_of->work}, parts, NULL);
    const yoke_run_device *devices;
    int64_t count;
    ok(b, yoke_run_devices(b->run, &devices, &count));
    return !devices[1].active;
}

/* It is lost in the last of its calls, which are those of the run: its leaves are done, and the next choice is one without it. */
static void the_choice_after_a_device_failed_is_without_it(void **state)
{
    (void)state;
    static bench b;
    double planned;
    int comes = 20, late = 1 << 14;
    while (late - comes > 1) {
        failing memory = {0};
        const int middle = (comes + late) / 2;
        *(lose(&b, middle, &planned, &memory) ? &comes : &late) = middle;
        close_bench(&b, &memory);
    }
    for (int call = comes; call > comes - 6; call -= 2) {
        failing memory = {0};
        assert_true(lose(&b, call, &planned, &memory) && planned > 0.5);
        fmm_tuner_set_particles(b.tuner, b.particles);
        ok(&b, fmm_tuner_choose(b.tuner, ORDER, &b.tuned));
        const fmm_depth *after = fmm_chosen(&b.tuned.choice);
        assert_true(after->part[0] >= 1 && after->part[1] <= 0);
        close_bench(&b, &memory);
    }
}

static void few_particles_or_none_have_a_choice_too(void **state)
{
    (void)state;
    static bench b;
    for (int64_t count = 0; count < 3; count++) {
        failing memory = {0};
        fmm_particles *few = NULL;
        open_bench(&b, &hungry, "", YOKE_OBJECTIVE_ENERGY, &memory);
        ok(&b, fmm_particles_generate(b.context, FMM_XENON, count, FMM_EQUAL, 1, &few));
        fmm_tuner_set_particles(b.tuner, few);
        ok(&b, fmm_tuner_choose(b.tuner, ORDER, &b.tuned));
        assert_true(b.tuned.choice.predicted.time_s >= 0 && b.tuned.choice.predicted.time_s < 1e-3);
        assert_true(b.tuned.choice.predicted.energy_j >= 0);
        fmm_particles_destroy(few);
        close_bench(&b, &memory);
    }
}

static int start(void **state)
{
    (void)state;
    return 0;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_hungry_accelerator_is_for_least_time),
    cmocka_unit_test(an_accelerator_behind_a_slow_bus_gets_what_is_worth_its_copies),
    cmocka_unit_test(frequencies_are_chosen_with_tree_and_share),
    cmocka_unit_test(the_choice_after_a_device_failed_is_without_it),
    cmocka_unit_test(few_particles_or_none_have_a_choice_too),
};

UNIT_MAIN(tests, start, start)
