/*
 * yoke_fmm.h - libyoke_fmm: potentials and forces of charged particles in open space, by a fast multipole method that chooses its own tree.
 *
 *     yoke_context_create(NULL, &context);
 *     yoke_fmm_create(context, &(yoke_fmm_options){.error = 1e-4}, &fmm);
 *     yoke_fmm_run(fmm, &particles, &field);                          once for each time step
 *     yoke_fmm_destroy(fmm);
 *
 * Only one thread at a time may use an object.  Different threads may use objects of different contexts (yoke_context_create) concurrently.
 * Functions return a status; after an error yoke_last_error of the context has cause and remedy.  docs/reference/fmm-library.md is the
 * guide; yoke_fmm.f90 is the Fortran module.
 */
#ifndef YOKE_FMM_H
#define YOKE_FMM_H

#include "yoke/core.h"
#include "yoke/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_fmm yoke_fmm;

/* Zero selects the usual value of each option.  As in all structs of yoke (yoke/core.h), new members are added only at the end. */
typedef struct yoke_fmm_options {
    /* Requested error of the potentials: relative, in the 2-norm over all particles, above 0 and at most 1.  It chooses the order, so it is
     * not allowed together with `order` or `direct`.  0: 1e-3, unless one of these is given. */
    double error;
    int error_of_forces;      /* nonzero: `error` is that of the forces; no effect with `order` or `direct` */
    int order;                /* order of the expansions, 1 to 50; 0: chosen for the error */
    int direct;               /* nonzero: sums over all pairs, exact except for rounding; `order` then has no effect */
    int depth;                /* depth of the uniform tree, 1 to 21, or the largest depth of an adaptive one (leaf); 0: chosen */
    int64_t leaf;             /* capacity of an adaptive tree: cells with more particles are split; 0: chosen */
    int potential_only;       /* nonzero: no gradients */
    int skip_coincident;      /* nonzero: particles at the same position do not act on each other; zero: those with charges are an error */
    int threads;              /* number of threads on the cores, at most 1024; 0: as many as OpenMP has */
    yoke_objective objective; /* of the choice of the tree */
    /* File for the measured costs of operations; NULL: the machine's store (docs/reference/store.md); "none": each object measures them. */
    const char *store;
    const char *declared; /* powers of a machine without meters, as in yoke_run_options; may be NULL */
    /* Number of particles at which each run is compared with direct sums (yoke_fmm_result.sampled_potential_error); 0: none.  If the order
     * is chosen and these show a larger error than `error`, the far field is computed again with a higher order, unless three in succession
     * do not reduce it.  This is a sample, and no guarantee for all particles. */
    int64_t check;
    /* Softening length H: charges nearer together than H act by (15 - 10 u^2 + 3 u^4) / (8 H), u = r / H, instead of 1 / r, also at the
     * same position.  Leaves are not smaller than H: a tree that would have such leaves (`depth`) is an error.  0: none. */
    double softening;
    const char *devices; /* devices that share the near field, as in yoke_run_options ("openmp,cuda:0", "auto"); NULL: the cores alone */
    const double *share; /* share of the accelerators in the near field, 0 to 1, if there are devices; NULL: chosen */
    /* The calling thread calls this before each stage of a call, with a description of the stage; nonzero ends the call with
     * YOKE_ERROR_INTERRUPTED.  NULL: none. */
    int (*progress)(void *user, const char *what);
    void *user; /* passed to progress */
} yoke_fmm_options;

/*
 * Creates an object.  Options and their texts are copied.
 * yoke_fmm_create_for is for other languages: interface_number is the YOKE_INTERFACE from which their declarations were made.
 * Errors: ARGUMENT (another interface; an option outside its range, or options that contradict each other: `error` and `order` or `direct`,
 * `direct` and `depth` or `leaf`, `error_of_forces` and `potential_only`, `softening` and `skip_coincident`, `share` without `devices`; the
 * message names them), INPUT (`declared` states no powers), MEMORY.
 */
YOKE_API yoke_status yoke_fmm_create_for(int interface_number, yoke_context *context, const yoke_fmm_options *options, yoke_fmm **fmm);
static inline yoke_status yoke_fmm_create(yoke_context *context, const yoke_fmm_options *options, yoke_fmm **fmm)
{
    return yoke_fmm_create_for(YOKE_INTERFACE, context, options, fmm);
}
/* Releases all resources of the object.  NULL is allowed. */
YOKE_API void yoke_fmm_destroy(yoke_fmm *fmm);

/*
 * Charges at positions in any consistent unit.  The arrays belong to the caller.  Particle i has x[i * stride], y[i * stride],
 * z[i * stride] and charge[i * charge_stride].
 * For positions x0 y0 z0 x1 y1 z1 ... in one array p write {count, p, p + 1, p + 2, q, .stride = 3}.
 */
typedef struct yoke_fmm_particles {
    int64_t count; /* 0 to 2^31 - 1 */
    const double *x, *y, *z, *charge;
    int64_t stride, charge_stride; /* in doubles; 0 stands for 1 */
} yoke_fmm_particles;

/*
 * Arrays for the results, indexed as above: for particle i the potential sum_{j != i} q_j / r_ij, and its gradient.  The force on i is -q_i
 * times the gradient.  These arrays must not overlap those of the particles.
 */
typedef struct yoke_fmm_field {
    double *potential;
    double *gx, *gy, *gz;                      /* all three NULL: no gradients wanted */
    int64_t potential_stride, gradient_stride; /* in doubles; 0 stands for 1 */
} yoke_fmm_field;

/*
 * Chooses tree and order for these particles, unless the options give them, and builds the tree.  Fewer than 1000 particles get no tree
 * unless the options give one: all their pairs are summed.  yoke_fmm_run does this itself when it is needed; this function lets the caller
 * decide when.  If the store has no costs yet, they are measured first; on two cores of an AMD EPYC (Zen 3) this takes 3 to 8 s.
 * Errors: ARGUMENT (NULL, a count outside its range, a negative stride), INPUT (a position or charge that is not finite, or particles with
 * charges at the same position: the message names the particle; charges too different to be summed: the message names them; an error that
 * cannot be reached: the message has one that can be; a depth that is too great for the softening; a softening below 1e-90 of the largest
 * coordinate), INTERRUPTED, MEMORY; those of yoke_run_create.
 */
YOKE_API yoke_status yoke_fmm_tune(yoke_fmm *fmm, const yoke_fmm_particles *particles);

/*
 * Computes the field of the particles.  If the positions are those of the last call, the tree is reused, so that new charges alone cost
 * less.  Otherwise a new tree is built, of the depth or leaf size that was chosen last.  The tree is chosen again if the number of
 * particles, of leaves, of near pairs or of far pairs differs by more than a tenth from that of the last choice.  If the order is chosen,
 * it is kept with the tree as long as the check confirms it; without a check it is chosen in each call.  While the choices are the same,
 * results have the same bits for any number of threads.
 * Errors: as above; UNAVAILABLE (a device is not available, or all devices failed), ARGUMENT (gradients are wanted, but the object has
 * potential_only), INPUT (a potential or a force is larger than the largest double: the message names the particle).  The field is
 * written on success only; after an error the object can be used again.
 */
YOKE_API yoke_status yoke_fmm_run(yoke_fmm *fmm, const yoke_fmm_particles *particles, const yoke_fmm_field *field);

/* Results of the last yoke_fmm_run or yoke_fmm_tune.  NaN: not known, or not done. */
typedef struct yoke_fmm_result {
    int64_t particles;
    int order, depth;                     /* depth below 2: all pairs were summed; of a uniform tree between two depths: the deeper one */
    int64_t leaf, leaves;                 /* capacity of the leaves of an adaptive tree, 0: the tree is uniform; number of leaves */
    int tuned, built;                     /* nonzero: this call chose a tree; this call built a tree */
    double near_pairs, far_pairs;         /* ordered pairs: of particles, of cells */
    double predicted_s, predicted_j;      /* time and energy of tree and both fields, if the tree was chosen; else NaN */
    double tune_s, tree_s, near_s, far_s; /* seconds of this call */
    double total_energy;                  /* half the sum of charges times potentials; infinite or NaN if it is too large */
    double predicted_potential_error, predicted_force_error; /* if the order was chosen; else NaN */
    int64_t sampled;                                         /* number of particles that were compared with direct sums */
    double sampled_potential_error, sampled_force_error; /* relative to the 2-norm over all particles, estimated from these: no bounds */
    const char *tuned_because;        /* why this call chose a tree: "first", "near pairs", ... (fmm-library.md); NULL: it did not */
    const char *order_chosen_because; /* why this call chose an order, likewise */
    int raised;                       /* difference between the order and the chosen one, because a sample missed the request */
    int devices, failed_devices;      /* number of devices that shared the near field, 0: it was not shared; how many failed in this call */
} yoke_fmm_result;

/* Errors: ARGUMENT (NULL). */
YOKE_API yoke_status yoke_fmm_get_result(const yoke_fmm *fmm, yoke_fmm_result *result);

/*
 * Returns a text with the trees that were compared at the last choice, one line for each, with predicted times: the table of yoke fmm
 * --explain, whose columns yoke fmm --help explains.  With devices the text also has what each device did, and why.  The caller releases it
 * by yoke_release.
 * Errors: ARGUMENT (NULL), MEMORY.
 */
YOKE_API yoke_status yoke_fmm_explain(const yoke_fmm *fmm, char **text);

#ifdef __cplusplus
}
#endif

#endif
