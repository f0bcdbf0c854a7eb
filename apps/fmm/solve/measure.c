/*
 * measure.c - runs all sensible trees to compare them.
 */
#include <math.h>
#include <stdio.h>

#include "solve/parts.h"

/* A tree as in fmm_method_options. */
typedef struct tree_words {
    int depth;
    int64_t capacity, cells;
} tree_words;

static yoke_status measure(fmm_solver *s, const fmm_particles *particles, tree_words tree, const fmm_depth *of, fmm_field *field,
                           fmm_seconds *measured)
{
    char what[64];
    const fmm_clock *clock = fmm_tuner_clock(s->tuner);
    fmm_new_memory memory = {0}; /* its time is not part of the tree and the fields, as in a run of this tree alone */
    fmm_method_options options = {.depth = tree.depth,
                                  .cells = tree.cells,
                                  .capacity = tree.capacity,
                                  .direct = s->tuned.choice.direct,
                                  .gradient = s->options.gradient,
                                  .clock = clock,
                                  .stop = s->options.stop,
                                  .memory = s->options.keeps_memory ? &memory : NULL};
    fmm_method *method = NULL;
    fmm_shared_run_seconds seconds = {0};
    if (tree.capacity)
        (void)snprintf(what, sizeof what, "leaves of %lld particles", (long long)tree.capacity);
    else if (tree.cells)
        (void)snprintf(what, sizeof what, "%lld cells along each side", (long long)tree.cells);
    else
        (void)snprintf(what, sizeof what, "depth %d", tree.depth);
    yoke_status status = fmm_solver_tell(s, FMM_STAGE_OTHER, what);
    const double sort_begin_s = fmm_clock_now_s(clock);
    if (!status) status = fmm_tree_create_undivided(particles, tree.cells, &options.tree);
    const double sort_s = fmm_clock_now_s(clock) - sort_begin_s;
    if (!status) status = fmm_method_create(particles, &options, &method);
    const double begin_s = fmm_clock_now_s(clock);
    if (!status) status = fmm_method_set_order(method, of->order);
    if (!status && of->waves) status = fmm_method_set_waves(method, of->waves, of->set);
    const double tables_s = fmm_clock_now_s(clock) - begin_s;
    if (!status) fmm_method_set_single(method, s->single);
    if (!status) fmm_method_get_memory(method);
    if (!status && s->options.devices) {
        status = fmm_solver_run_shared(s, method, of, of->order, particles->charge, field, &seconds);
        if (!status) *measured = seconds.as_predicted;
        if (!status && !s->solution.devices.simulated) measured->tree += sort_s, measured->total += sort_s;
    } else if (!status) {
        status = fmm_method_run(method, particles->charge, field, &seconds.here);
        seconds.here.tree += sort_s + tables_s;
        if (!status) *measured = fmm_solver_seconds(&seconds.here);
    }
    fmm_method_destroy(method);
    return status;
}

static void shorten(fmm_seconds *of, const fmm_seconds *now)
{
    of->tree = fmin(of->tree, now->tree); /* NaN: not measured yet */
    of->near = fmin(of->near, now->near);
    of->far = fmin(of->far, now->far);
    of->total = of->tree + of->near + of->far;
}

/* The words for a tree of a choice, by its number. */
static tree_words words_of(const fmm_choice *choice, int number)
{
    const int depths = choice->last - choice->first + 1;
    if (number < depths) return (tree_words){.depth = choice->first + number};
    if (number < depths + choice->num_capacities)
        return (tree_words){.depth = FMM_MAX_DEPTH, .capacity = choice->capacity[number - depths]};
    return (tree_words){.cells = choice->cells};
}

/*
 * Runs each tree twice, if it is predicted to take at most most_s.  Memory that was not used for a tenth of a second can take twice as long
 * (notes/fmm-depth.md).  A run of one tree has requested its memory just before, and the second run here has used it just before.
 */
static yoke_status measure_trees(fmm_solver *s, const fmm_particles *particles, double most_s, fmm_field *field)
{
    enum { SUCCESSIVE = 2 };
    fmm_choice *choice = &s->tuned.choice;
    yoke_status status = YOKE_OK;
    for (int r = 0; r < SUCCESSIVE * fmm_choice_count(choice) && !status; r++) {
        const int number = r / SUCCESSIVE;
        fmm_depth *tree = fmm_choice_tree(choice, number);
        fmm_seconds now;
        if (tree->predicted.total > most_s) continue;
        status = measure(s, particles, words_of(choice, number), tree, field, &now);
        if (!status) shorten(&tree->measured, &now);
    }
    return status;
}

/*
 * Runs all trees that are predicted to take at most `sensible` times as long as the chosen one, including the chosen one, all in the same
 * way: the first run on particles uses new memory, so that its tree takes longer.
 */
yoke_status fmm_solver_measure(fmm_solver *s, const fmm_particles *particles)
{
    static const double sensible = 4;
    fmm_field *field = NULL;
    yoke_status status = fmm_field_create(s->context, particles->count, s->options.gradient, &field);
    for (int64_t k = 0; k < s->options.repeat && !status; k++)
        status = measure_trees(s, particles, sensible * fmm_chosen(&s->tuned.choice)->predicted.total, field);
    fmm_field_destroy(field);
    return status;
}
