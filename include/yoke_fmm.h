/*
 * yoke_fmm.h - libyoke_fmm: potentials and forces of charged particles in open space, by a fast multipole method that chooses its own tree.
 *
 *     yoke_context_create(NULL, &context);
 *     yoke_fmm_create(context, &(yoke_fmm_options){.error = 1e-4}, &fmm);
 *     yoke_fmm_run(fmm, &particles, &field);                          once for each step of time
 *     yoke_fmm_destroy(fmm);
 *
 * An object serves one thread at a time.  Objects of different contexts (yoke_context_create) may be used by different threads at once.
 * Functions fail with a status; yoke_last_error of the context has cause and remedy.  docs/reference/fmm-library.md says more; Fortran: yoke_fmm.f90.
 */
#ifndef YOKE_FMM_H
#define YOKE_FMM_H

#include "yoke/core.h"
#include "yoke/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_fmm yoke_fmm;

/* Zero is what is usual.  As for all structs of yoke (yoke/core.h) members are added at the end only. */
typedef struct yoke_fmm_options {
    double error;        /* requested, of the potentials: relative, in the 2-norm over all particles; 0: 1e-3, or what `order` leaves */
    int error_of_forces; /* nonzero: it is of the forces */
    int order;           /* of the expansions, 1 to 50; 0: chosen for the error */
    int direct;          /* nonzero: sums over all pairs, exact but for rounding */
    int depth;           /* of the uniform tree, or of an adaptive one (leaf) the greatest; 0: chosen */
    int64_t leaf;        /* an adaptive tree whose cells are split where they have more particles; 0: chosen */
    int potential_only;  /* nonzero: no gradients */
    int skip_coincident; /* nonzero: particles at the same place do not act on each other; zero: those with charges are an error */
    int threads;         /* on the cores, at most 1024; 0: as many as OpenMP has */
    yoke_objective objective; /* of the chosen tree */
    const char
        *store; /* file for costs of operations on this machine; NULL: this machine's store; "none": they are measured by each object */
    const char *declared; /* powers of a machine without meters, as in yoke_run_options; may be NULL */
    int64_t
        check; /* so many particles are compared with direct sums at each run, which is done again with a higher order where they say that the error is not kept; 0: none */
    double
        softening; /* H: nearer together than H charges act by (15 - 10 u^2 + 3 u^4) / (8 H), u = r / H, instead of 1 / r; at the same place, too; 0: none */
    const char *devices; /* that share the near field, as in yoke_run_options ("openmp,cuda:0", "auto"); NULL: the cores alone */
    const double *share; /* part of the near field for accelerators, 0 to 1, if there are devices; NULL: chosen */
    /* Called by the calling thread before each stage of a call, in words; nonzero ends the call with YOKE_ERROR_INTERRUPTED.  NULL: none. */
    int (*progress)(void *user, const char *what);
    void *user; /* of progress */
} yoke_fmm_options;

/*
 * Makes an object.  Options and their texts are copied.
 * yoke_fmm_create_for is for other languages: interface_number is the YOKE_INTERFACE that their declarations were made from.
 * Errors: ARGUMENT (another interface; an option outside its range, or options that contradict each other: which), MEMORY.
 */
YOKE_API yoke_status yoke_fmm_create_for(int interface_number, yoke_context *context, const yoke_fmm_options *options, yoke_fmm **fmm);
static inline yoke_status yoke_fmm_create(yoke_context *context, const yoke_fmm_options *options, yoke_fmm **fmm)
{
    return yoke_fmm_create_for(YOKE_INTERFACE, context, options, fmm);
}
/* Takes NULL. */
YOKE_API void yoke_fmm_destroy(yoke_fmm *fmm);

/*
 * Charges at positions in any consistent unit; the caller's arrays.  Particle i has x[i * stride], y[i * stride], z[i * stride] and
 * charge[i * charge_stride].  Positions x0 y0 z0 x1 y1 z1 ... in one array p: {count, p, p + 1, p + 2, q, .stride = 3}.
 */
typedef struct yoke_fmm_particles {
    int64_t count; /* 0 to 2^31 - 1 */
    const double *x, *y, *z, *charge;
    int64_t stride, charge_stride; /* in doubles; 0: 1 */
} yoke_fmm_particles;

/*
 * Where results are written, for particle i as above: the potential sum_{j != i} q_j / r_ij, and its gradient.  The force on i is -q_i times the gradient.
 * Results are no part of the particles' arrays.
 */
typedef struct yoke_fmm_field {
    double *potential;
    double *gx, *gy, *gz;                      /* NULL, all three: not wanted */
    int64_t potential_stride, gradient_stride; /* in doubles; 0: 1 */
} yoke_fmm_field;

/*
 * Chooses the tree for these particles, and builds it.  yoke_fmm_run does so by itself; this is for a program that wants to know when.  On a machine
 * whose store (docs/reference/store.md) has no costs yet they are measured first, for about 3 s.
 * Errors: ARGUMENT (NULL, a negative count or stride), INPUT (a position or charge that is not finite, or particles with charges at one place: which),
 * INTERRUPTED, MEMORY; those of yoke_run_create.
 */
YOKE_API yoke_status yoke_fmm_tune(yoke_fmm *fmm, const yoke_fmm_particles *particles);

/*
 * Computes the field of the particles.  At the positions of the last call the tree is used again, so that other charges cost less.  Elsewhere a new tree is
 * built, of the depth or leaf size that was chosen last.  The choice of the tree is made anew where the number of particles, of leaves, of near or of far
 * pairs differs by more than a tenth from that of the last choice.  The order, where it is chosen, is kept with it if there is a check that says so;
 * without one it is chosen in each call.  The same bits come out for any number of threads while the choices are the same.
 * Errors: as above; UNAVAILABLE (a device is not there, or all failed), ARGUMENT (gradients wanted of an object with potential_only), INPUT (charges too
 * different to be summed: which; an error that cannot be reached: which one can be), NUMERIC (a potential or a force is larger than the largest double:
 * which).  The field is written on success only; after INTERRUPTED the object can be used again.
 */
YOKE_API yoke_status yoke_fmm_run(yoke_fmm *fmm, const yoke_fmm_particles *particles, const yoke_fmm_field *field);

/* Of the last yoke_fmm_run or yoke_fmm_tune; NaN: not known, or not done. */
typedef struct yoke_fmm_result {
    int64_t particles;
    int order, depth;                     /* depth below 2: all pairs were summed */
    int64_t leaf, leaves;                 /* most particles in a leaf of the adaptive tree, 0: the tree is uniform; number of leaves */
    int tuned, built;                     /* nonzero: this call chose a tree; built one */
    double near_pairs, far_pairs;         /* ordered: of particles, of cells */
    double predicted_s, predicted_j;      /* of tree and both fields, when the tree was chosen; NaN: it was given */
    double tune_s, tree_s, near_s, far_s; /* seconds of this call */
    double total_energy;                  /* half the sum of charges times potentials */
    double predicted_potential_error, predicted_force_error; /* with an order that was chosen; else NaN */
    int64_t sampled;                                         /* particles that were compared with direct sums */
    double sampled_potential_error, sampled_force_error;     /* relative, in the 2-norm over them */
    const char *tuned_because;        /* why this call chose a tree: "first", "near pairs", ... (fmm-library.md); NULL: it did not */
    const char *order_chosen_because; /* the same of the order */
    int raised;                       /* by how much the order is above the chosen one, because a sample missed the request */
    int devices, failed_devices;      /* that shared the near field; 0: it was not shared.  How many of them failed in this call */
} yoke_fmm_result;

/* Errors: ARGUMENT (NULL). */
YOKE_API yoke_status yoke_fmm_get_result(const yoke_fmm *fmm, yoke_fmm_result *result);

/*
 * The trees that were compared at the last choice, a line each, with predicted times: the table of yoke fmm --explain, whose --help says what its columns
 * are.  With devices also what they did, and why.  The caller gives the text back with yoke_release.
 * Errors: ARGUMENT (NULL), MEMORY.
 */
YOKE_API yoke_status yoke_fmm_explain(const yoke_fmm *fmm, char **text);

#ifdef __cplusplus
}
#endif

#endif
