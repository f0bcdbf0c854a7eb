/*
 * solve.h - computes the field of particles by the fast multipole method.  Tree and order are given, or chosen for a requested error and
 * for least time.  Runs are repeated until the error is within the request.
 *
 * A solver is created once and run for many sets of particles, one after the other: frames, or time steps.  It keeps the costs of
 * operations on this machine, the devices, and the last tree.  The choice of a tree is kept while its counts change by less than a tenth.
 * The order is kept with it while the sampled error confirms it; a lower order is taken only if it meets the request by a margin, so that
 * orders do not alternate.
 */
#ifndef FMM_SOLVE_SOLVE_H
#define FMM_SOLVE_SOLVE_H

#include <stdbool.h>

#include "method/shared.h"
#include "near/sample.h"
#include "tune/order/accuracy.h"
#include "tune/tune.h"

enum { FMM_MAX_PARTS = 16 };

/* The stage that is about to begin. */
typedef enum fmm_stage {
    FMM_STAGE_COSTS, /* the cost of an operation on this machine is measured */
    FMM_STAGE_TREE,  /* trees are compared */
    FMM_STAGE_ORDER, /* the order is chosen */
    FMM_STAGE_OTHER, /* another tree is run for comparison */
    FMM_STAGE_RUN,   /* the field is computed */
    FMM_STAGE_CHECK  /* the field is compared with direct sums */
} fmm_stage;
/* Called before each stage, with a description for the user; a status other than OK ends the call and is returned. */
typedef yoke_status fmm_solve_progress(void *user, fmm_stage stage, const char *what);

/* Texts and arrays are borrowed until the solver is destroyed. */
typedef struct fmm_solver_options {
    fmm_request request; /* used if no order is given */
    int order;           /* below 0: chosen */
    int depth;           /* depth of the tree, or the largest depth of an adaptive one; below 0: chosen */
    int64_t cells;       /* for a uniform tree, as in fmm_method_options; 0: none, or chosen */
    int64_t leaf;        /* capacity of an adaptive tree's leaves; 0: none, or chosen */
    /* Particles with charges at the same position are refused, and this says what the user can do, as in particles/coincident.h.  NULL: they
     * do not act on each other; with a softening, which allows them, they do. */
    const char *remedy;
    int64_t check; /* number of particles that are compared with direct sums; below 0: as many as take little time */
    bool gradient;
    bool predict;             /* predictions also if the tree is given; never for few particles (tune/tune.h) */
    bool keeps_memory;        /* released memory serves later allocations; memory is then requested before its use (expansion/pages.h) */
    bool measure_all;         /* the other sensible trees are run too, ... */
    int64_t repeat;           /* ... this many times, each time twice in succession; the shortest times of the parts count */
    bool by_operations;       /* as in fmm_tune_options */
    yoke_objective objective; /* of the chosen tree */
    fmm_measure measure;      /* as in fmm_tune_options */
    const char *store;        /* as in yoke_run_options */
    const char *declared;     /* as in yoke_run_options */
    const char *devices;      /* devices that share the near field, as in yoke_run_options; NULL: the cores alone */
    const double *share;      /* share of the accelerators in the near field; NULL: chosen */
    const yoke_run_power *powers; /* powers of all devices, if there are no meters; NULL: none are declared */
    int64_t num_powers;
    fmm_solve_progress *progress; /* NULL: none */
    void *user;                   /* passed to progress */
    const fmm_stop *stop;         /* ends runs; NULL: only progress does */
} fmm_solver_options;

/* Why a call chose a tree or an order, although the solver may have one from earlier calls. */
typedef enum fmm_reason {
    FMM_KEPT,       /* it did not choose: the earlier choice is kept, or the tree or the order is given */
    FMM_FIRST,      /* there was no earlier choice */
    FMM_ASKED,      /* fmm_solver_choose was called */
    FMM_PARTICLES,  /* the number of particles differs by more than a tenth */
    FMM_LEAVES,     /* so does the number of leaves of the kept tree */
    FMM_NEAR_PAIRS, /* so does the number of its near pairs */
    FMM_FAR_PAIRS,  /* so does the number of its far pairs, in the previous call */
    FMM_CHARGES,    /* so do the charges: their sum, or the sum of their absolute values */
    FMM_ORDER,      /* for a tree: the order is no longer near the one for which the tree was chosen */
    FMM_ERROR,      /* for an order: the sampled error fell to less than half, so a lower order may suffice */
    FMM_UNCHECKED   /* for an order: there is no sample that shows whether the previous order keeps the error */
} fmm_reason;
/* The reason as a text, for example "near pairs"; NULL for FMM_KEPT. */
const char *fmm_reason_text(fmm_reason reason);

/* Results and times of a call.  NaN: not known, or not done. */
typedef struct fmm_solution {
    int depth, order;     /* below 0: direct summation without a tree */
    int64_t cells;        /* cells along each side of the particles; 0: as many as the depth has along the box, or no tree */
    int64_t leaf, leaves; /* capacity of the leaves, 0: a uniform tree or none; number of leaves, below 0: no tree */
    bool chose, built;    /* in this call a tree was chosen; a tree was built */
    fmm_reason tree_because, order_because;
    double pairs, far_pairs,
        w_pairs;            /* ordered pairs: of particles that were summed; of cells; of a cell and a particle of a larger leaf */
    const fmm_tuned *tuned; /* owned by the solver; NULL: nothing was predicted, as the tree was given or particles are few */
    double requested_error;
    fmm_quantity of;                             /* the quantity to which the request applies */
    double predicted_potential, predicted_force; /* errors predicted for the chosen order, when it was chosen */
    double predicted_energy;                     /* error predicted for the order of the run, relative to the energy (NaN: not known) */
    uint64_t waves;                              /* levels whose M2L used plane waves, ... */
    int set;                                     /* ... of this set; 0: none */
    bool single;                                 /* the near field was in single precision */
    int raised;                                  /* difference of the order to the chosen one, after runs that missed the request */
    fmm_sample sample;                           /* count 0: no check was done */
    int parts;                                   /* 0: the near field was not shared among devices */
    fmm_shared_part part[FMM_MAX_PARTS];
    fmm_shared_told devices;                       /* if it was shared: results of the devices' run */
    double tree_s, tune_s, far_s, near_s, check_s; /* seconds of all runs */
    /* Of the tree and both fields on the cores alone, without choices and checks; not metered for the objective time, unless powers are
     * declared. */
    yoke_energy energy;
    /* New memory that was requested from the system before its use, not included in the seconds above; NaN: none was requested so. */
    double memory_bytes, memory_s, memory_predicted_s;
} fmm_solution;

/* A solution in which nothing is known. */
fmm_solution fmm_solution_none(void);

typedef struct fmm_solver fmm_solver;

/* Errors: MEMORY; those of yoke_meters_open. */
yoke_status fmm_solver_create(yoke_context *context, const fmm_solver_options *options, fmm_solver **solver);
/* The number of doubles for each particle that a run needs at least, beside those of particles and field. */
int fmm_solver_arrays(bool gradient);
/* NULL is allowed. */
void fmm_solver_destroy(fmm_solver *solver);

/* What has changed since the solver's last call. */
typedef enum fmm_change { FMM_NEW_PLACES, FMM_NEW_CHARGES, FMM_NOTHING_NEW } fmm_change;

/*
 * Chooses tree and order for the particles, and builds the tree.  fmm_solver_run does this itself when it is needed.
 * Errors: those of fmm_tuner_create, fmm_tuner_choose, fmm_choose_order, fmm_method_create, fmm_coincident_refuse and progress; INPUT (a
 * given depth was not compared).
 */
yoke_status fmm_solver_choose(fmm_solver *solver, const fmm_particles *particles, fmm_solution *solution);

/*
 * Computes the field.  Its arrays are overwritten; it must have gradients as the options say.  If the sample (near/sample.h) and the
 * prediction together show that the error is above the request, the far field is computed again with a higher order, and a warning is
 * given; another one if the error remains above the request, because of rounding or of the highest order.  solution: written on success.
 * Errors: as above; those of fmm_method_run, fmm_shared_open, fmm_shared_run and fmm_reference_compare.
 */
yoke_status fmm_solver_run(fmm_solver *solver, const fmm_particles *particles, fmm_change change, fmm_field *field, fmm_solution *solution);

/* The choice that is kept, with its measurements; NULL: there is none. */
const fmm_tuned *fmm_solver_tuned(const fmm_solver *solver);
/* The run of the devices that share the near field, for explanations; NULL: none, or not opened yet. */
yoke_run *fmm_solver_devices(const fmm_solver *solver);

/*
 * Texts for the user, which the caller releases by yoke_release.  fmm_tuned_text: the table of the trees that were compared, with a header,
 * the corrections from earlier runs, and by how much longer the chosen tree took.  fmm_parts_text: the part of each device in the near
 * field.  fmm_solver_explain: both, with the explanation of the devices' run, as far as they exist.
 * Errors: MEMORY.
 */
yoke_status fmm_tuned_text(yoke_context *context, const fmm_tuned *tuned, char **text);
yoke_status fmm_parts_text(yoke_context *context, const fmm_solution *found, char **text);
yoke_status fmm_solver_explain(const fmm_solver *solver, const fmm_solution *found, char **text);
/* The additional time of the chosen tree over the fastest measured one, relative to the latter; NaN: fewer than two were measured. */
double fmm_tuned_regret(const fmm_tuned *tuned);

#endif
