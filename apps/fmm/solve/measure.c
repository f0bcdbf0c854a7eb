/*
 * measure.c - all sensible trees, run to compare them.
 */
#include <stdio.h>

#include "solve/parts.h"

/* As fmm_method_options have it. */
typedef struct tree_words {
    int depth;
    int64_t capacity, cells;
} tree_words;

static double now_s(const fmm_clock *clock) { return clock ? clock->now(clock->user) : yoke_clock_s(); }

static yoke_status measure(fmm_solver *s, const fmm_particles *particles, tree_words tree, const fmm_depth *of, fmm_field *field,
                           fmm_seconds *measured)
{
    char what[64];
    const int gradient = s->options.gradient, order = of->order;
    const fmm_clock *clock = fmm_tuner_clock(s->tuner);
    const fmm_method_options options = {.depth = tree.depth,
                                        .cells = tree.cells,
                                        .capacity = tree.capacity,
                                        .direct = fmm_method_direct(order, gradient),
                                        .gradient = gradient,
                                        .clock = clock};
    fmm_method *method = NULL;
    fmm_shared_run_seconds seconds;
    if (tree.capacity)
        (void)snprintf(what, sizeof what, "leaves of %lld particles", (long long)tree.capacity);
    else if (tree.cells)
        (void)snprintf(what, sizeof what, "%lld cells along each side", (long long)tree.cells);
    else
        (void)snprintf(what, sizeof what, "depth %d", tree.depth);
    yoke_status status = fmm_solver_tell(s, FMM_STAGE_OTHER, what);
    if (!status) status = fmm_method_create(particles, &options, &method);
    const double begin_s = now_s(clock);
    if (!status) status = fmm_method_set_order(method, order);
    if (!status && of->waves) status = fmm_method_set_waves(method, of->waves, of->set);
    const double tables_s = now_s(clock) - begin_s;
    if (!status && s->options.devices) {
        status = fmm_solver_run_shared(s, method, of, of->order, particles->charge, field, &seconds);
        if (!status) *measured = seconds.as_predicted;
    } else if (!status) {
        status = fmm_method_run(method, particles->charge, field, &seconds.here);
        seconds.here.tree += tables_s;
        if (!status) *measured = fmm_solver_seconds(&seconds.here);
    }
    fmm_method_destroy(method);
    return status;
}

/*
 * Those that are not predicted to take more than some times as long as the chosen one, and that one too: the first run on particles takes memory from the
 * system, and its tree longer.
 */
yoke_status fmm_solver_measure(fmm_solver *s, const fmm_particles *particles)
{
    static const double sensible = 4;
    fmm_tuned *tuned = &s->tuned;
    const fmm_choice *choice = &tuned->choice;
    const double chosen_s = fmm_chosen(choice)->predicted.total;
    fmm_field *field = NULL;
    yoke_status status = fmm_field_create(s->context, particles->count, s->options.gradient, &field);
    for (int d = choice->first; d <= choice->last && !status; d++) {
        if (choice->of[d].predicted.total > sensible * chosen_s) continue;
        status = measure(s, particles, (tree_words){.depth = d}, &choice->of[d], field, &tuned->measured[d]);
    }
    for (int k = 0; k < choice->num_capacities && !status; k++) {
        if (choice->at[k].predicted.total > sensible * chosen_s) continue;
        status = measure(s, particles, (tree_words){.depth = FMM_MAX_DEPTH, .capacity = choice->capacity[k]}, &choice->at[k], field,
                         &tuned->measured_at[k]);
    }
    if (choice->cells > 0 && choice->of_cells.predicted.total <= sensible * chosen_s && !status)
        status = measure(s, particles, (tree_words){.cells = choice->cells}, &choice->of_cells, field, &tuned->measured_cells);
    fmm_field_destroy(field);
    return status;
}
