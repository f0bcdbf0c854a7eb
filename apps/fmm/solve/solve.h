/*
 * solve.h - the field of particles by the fast multipole method: tree and order that are given, or chosen for an error and for least time; runs until the
 * error is kept.
 *
 * A solver is made once and run for many particles, one after the other: frames, or steps of time.  It keeps what operations cost on this machine, the
 * devices, and the last tree.  The choice of a tree is kept while its counts change by less than a tenth.  An order is kept with it while the sampled error
 * says that it does; a lower one is taken only where it keeps the error by a margin, so that orders do not alternate.
 */
#ifndef FMM_SOLVE_SOLVE_H
#define FMM_SOLVE_SOLVE_H

#include <stdbool.h>

#include "method/shared.h"
#include "near/sample.h"
#include "tune/order/accuracy.h"
#include "tune/tune.h"

enum { FMM_MAX_PARTS = 16 };

/* What is about to be done. */
typedef enum fmm_stage {
    FMM_STAGE_COSTS, /* an operation's cost on this machine is measured */
    FMM_STAGE_TREE,  /* trees are compared */
    FMM_STAGE_ORDER, /* the order is chosen */
    FMM_STAGE_OTHER, /* a tree is run to compare it */
    FMM_STAGE_RUN,   /* the field is computed */
    FMM_STAGE_CHECK  /* it is compared with direct sums */
} fmm_stage;
/* Called before each stage, with its description for people; a status that is not OK ends the call, and is passed on. */
typedef yoke_status fmm_solve_progress(void *user, fmm_stage stage, const char *what);

/* Texts and arrays are borrowed until the solver is destroyed. */
typedef struct fmm_solver_options {
    fmm_request request; /* used where no order is given */
    int order;           /* below 0: chosen */
    int depth;           /* of the tree, of an adaptive one the greatest; below 0: chosen */
    int64_t cells;       /* of a uniform tree, as in fmm_method_options; 0: none, or chosen */
    int64_t leaf;        /* capacity of an adaptive tree's leaves; 0: none, or chosen */
    int64_t check;       /* so many particles are compared with direct sums; below 0: as many as take little time */
    bool gradient;
    bool predict;             /* also where the tree is given; never of few particles (tune/tune.h) */
    bool keeps_memory;        /* memory that is released serves later allocations, so that it is got ahead of its use (expansion/pages.h) */
    bool measure_all;         /* the other sensible trees are run too, ... */
    int64_t repeat;           /* ... so often; the shortest times of the parts count */
    bool by_operations;       /* as in fmm_tune_options */
    yoke_objective objective; /* of the chosen tree */
    fmm_measure measure;      /* as in fmm_tune_options */
    const char *store;        /* as in yoke_run_options */
    const char *declared;     /* the same */
    const char *devices;      /* that share the near field, as in yoke_run_options; NULL: the cores alone */
    const double *share;      /* of accelerators in it; NULL: chosen */
    const yoke_run_power *powers; /* of all of them, where they have no meters; NULL: none are stated */
    int64_t num_powers;
    fmm_solve_progress *progress; /* NULL: none */
    void *user;                   /* of progress */
} fmm_solver_options;

/* Why a call chose a tree or an order, where the solver has one of the calls before. */
typedef enum fmm_reason {
    FMM_KEPT,       /* it did not: what was chosen before holds, or is given */
    FMM_FIRST,      /* there was none */
    FMM_ASKED,      /* fmm_solver_choose */
    FMM_PARTICLES,  /* the number of particles differs by more than a tenth */
    FMM_LEAVES,     /* the same of the leaves of the kept tree */
    FMM_NEAR_PAIRS, /* of its near pairs */
    FMM_FAR_PAIRS,  /* of its far pairs, in the call before */
    FMM_CHARGES,    /* of the charges: their sum, and that of their sizes */
    FMM_ORDER,      /* of a tree: the order is no longer near the one that it was chosen for */
    FMM_ERROR,      /* of an order: the sampled error fell to less than half, so that a lower order may do */
    FMM_UNCHECKED   /* of an order: no sample tells whether the one of the call before keeps the error */
} fmm_reason;
/* "near pairs"; NULL: FMM_KEPT. */
const char *fmm_reason_text(fmm_reason reason);

/* What a call found and took; NaN: not known, or not done. */
typedef struct fmm_solution {
    int depth, order;     /* below 0: there is no tree, but direct summation */
    int64_t cells;        /* along each side of the particles; 0: as many as the depth has along the box, or none */
    int64_t leaf, leaves; /* the capacity of the leaves, 0: of a uniform tree or none; their number, below 0: none */
    bool chose, built;    /* in this call: a tree was chosen; one was built */
    fmm_reason tree_because, order_because;
    double pairs, far_pairs, w_pairs; /* ordered: of particles that were summed; of cells; of a cell and a particle of a larger leaf */
    const fmm_tuned *tuned;           /* the solver's; NULL: the tree was given, or particles are few, and nothing was predicted */
    double requested_error;
    fmm_quantity of;                             /* what the request is of */
    double predicted_potential, predicted_force; /* errors of the order that was chosen, when it was */
    double predicted_energy;                     /* of the order that was run, relative to the energy (NaN: none is known) */
    uint64_t waves;                              /* levels whose M2L was by plane waves, ... */
    int set;                                     /* ... of this set; 0: none */
    bool single;                                 /* the near field was in single precision */
    int raised;                                  /* by how much the order is above that, after runs that missed the request */
    fmm_sample sample;                           /* count 0: not done */
    int parts;                                   /* 0: the near field was not shared among devices */
    fmm_shared_part part[FMM_MAX_PARTS];
    fmm_shared_told devices;                       /* where it was: what the devices' run told */
    double tree_s, tune_s, far_s, near_s, check_s; /* of all runs */
    /* Memory that the system had to give for them, ahead of its use, which the seconds above are without; NaN: it was not got so. */
    double memory_bytes, memory_s, memory_predicted_s;
} fmm_solution;

/* One of which nothing is known. */
fmm_solution fmm_solution_none(void);

typedef struct fmm_solver fmm_solver;

/* Errors: MEMORY. */
yoke_status fmm_solver_create(yoke_context *context, const fmm_solver_options *options, fmm_solver **solver);
/* NULL allowed. */
void fmm_solver_destroy(fmm_solver *solver);

/* What is other than in the solver's last call. */
typedef enum fmm_change { FMM_NEW_PLACES, FMM_NEW_CHARGES, FMM_NOTHING_NEW } fmm_change;

/*
 * Chooses tree and order for the particles, and builds the tree; as fmm_solver_run does where that is needed.
 * Errors: those of fmm_tuner_create, fmm_tuner_choose, fmm_choose_order, fmm_method_create and progress; INPUT (a given depth was not compared).
 */
yoke_status fmm_solver_choose(fmm_solver *solver, const fmm_particles *particles, fmm_solution *solution);

/*
 * The field's arrays are overwritten; it has gradients as the options say.  A run whose error is above the request by the sample (near/sample.h) and the
 * prediction together is followed by the far field with a higher order, with a warning.  solution: written on success.
 * Errors: as above; those of fmm_method_run, fmm_shared_open, fmm_shared_run and fmm_sample_error.
 */
yoke_status fmm_solver_run(fmm_solver *solver, const fmm_particles *particles, fmm_change change, fmm_field *field, fmm_solution *solution);

/* The choice that is kept, with what was measured of it; NULL: there is none. */
const fmm_tuned *fmm_solver_tuned(const fmm_solver *solver);
/* The devices that share the near field, to explain them; NULL: none, or not opened yet. */
yoke_run *fmm_solver_devices(const fmm_solver *solver);

/*
 * For people; the caller gives the texts back with yoke_release.  The trees that were compared, with a head, what earlier runs taught, and by how much the
 * chosen one took longer; what each device did of the near field; and both with what the devices' run explains, as far as they are there.
 * Errors: MEMORY.
 */
yoke_status fmm_tuned_text(yoke_context *context, const fmm_tuned *tuned, char **text);
yoke_status fmm_parts_text(yoke_context *context, const fmm_solution *found, char **text);
yoke_status fmm_solver_explain(const fmm_solver *solver, const fmm_solution *found, char **text);
/* How much longer the chosen tree took than the fastest that was measured, as a part of that; NaN: fewer than two were measured. */
double fmm_tuned_regret(const fmm_tuned *tuned);

#endif
