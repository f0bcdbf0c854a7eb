/*
 * keep.c - decides which results of a call are kept for the next one.
 */
#include <math.h>

#include "solve/parts.h"

#define CHANGE 0.1 /* maximum relative change of numbers */
#define FALL 0.5   /* if the sampled error falls below this part of its earlier value, a lower order may suffice */

const char *fmm_reason_text(fmm_reason reason)
{
    static const char *const texts[] = {NULL,        "first",   "asked", "particles", "leaves",   "near pairs",
                                        "far pairs", "charges", "order", "error",     "unchecked"};
    return texts[reason];
}

fmm_sizes fmm_solver_sizes(const fmm_solver *s, const fmm_particles *particles)
{
    double sum = 0, absolute = 0;
    for (int64_t i = 0; i < particles->count; i++) {
        sum += particles->charge[i];
        absolute += fabs(particles->charge[i]);
    }
    const fmm_box box = particles->softening > 0 ? fmm_box_around(particles) : (fmm_box){.side = 1};
    const int deepest = fmm_method_deepest(&box, particles->softening);
    return (fmm_sizes){.particles = (double)particles->count,
                       .leaves = (double)fmm_method_tree(s->method)->leaves.count,
                       .near_pairs = (double)fmm_method_count(s->method).near,
                       .far_pairs = NAN,
                       .charge = sum,
                       .charges = absolute,
                       .deepest = deepest,
                       .bound = fmm_method_tree(s->method)->depth >= deepest || deepest < 2};
}

static bool differ(double is, double was) { return fabs(is - was) > CHANGE * was; }

/* Fewer pairs than particles take almost no time. */
static bool pairs_differ(double is, double was, double particles) { return fabs(is - was) > CHANGE * fmax(was, particles); }

fmm_reason fmm_sizes_compare(const fmm_sizes *is, const fmm_sizes *was)
{
    if (differ(is->particles, was->particles)) return FMM_PARTICLES;
    if (differ(is->leaves, was->leaves) || (was->bound && is->deepest > was->deepest)) return FMM_LEAVES;
    if (pairs_differ(is->near_pairs, was->near_pairs, was->particles)) return FMM_NEAR_PAIRS;
    if (pairs_differ(is->far_pairs, was->far_pairs, was->particles)) return FMM_FAR_PAIRS; /* NaN does not differ */
    if (differ(is->charges, was->charges) || fabs(is->charge - was->charge) > CHANGE * was->charges) return FMM_CHARGES;
    return FMM_KEPT;
}

double fmm_solver_sampled_error(const fmm_solver *s)
{
    const fmm_sample *sample = &s->solution.sample;
    if (!sample->count) return NAN;
    return s->solution.of == FMM_ENERGY   ? fmm_energy_error(&s->accuracy, sample)
           : s->solution.of == FMM_FORCES ? sample->force
                                          : sample->potential;
}

void fmm_solver_remember(fmm_solver *s)
{
    const fmm_solution *found = &s->solution;
    const double sampled = fmm_solver_sampled_error(s);
    s->order = found->order;
    s->last.far_pairs = found->far_pairs;
    if (isnan(s->tree_sizes.far_pairs)) s->tree_sizes.far_pairs = found->far_pairs; /* the first run of the choice */
    if (found->order_because || found->raised || isnan(s->sampled)) s->sampled = sampled;
    s->error_fell = sampled < FALL * s->sampled;
}
