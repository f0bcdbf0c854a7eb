/*
 * parts.h - what a solver holds, and its steps; private to this folder.
 */
#ifndef FMM_SOLVE_PARTS_H
#define FMM_SOLVE_PARTS_H

#include "solve/solve.h"

/* What a choice was made for; NaN: not known yet. */
typedef struct fmm_sizes {
    double particles, leaves, near_pairs, far_pairs;
    double charge, charges; /* their sum; that of their sizes */
    int order;              /* of a tree's choice */
    int deepest;            /* tree that the softening allows */
    bool bound;             /* by that: the tree has this depth */
} fmm_sizes;

struct fmm_solver {
    yoke_context *context;
    fmm_solver_options options;
    fmm_tune_options tune;
    fmm_tuner *tuner;      /* NULL: not needed yet */
    yoke_run *run;         /* of the devices; NULL: not open */
    char *with_cores;      /* the devices of the options and the cores, where these have no host; NULL: as the options have them */
    const double *share;   /* of accelerators in the near field; NULL: chosen */
    fmm_tuned tuned;       /* of the choice that is kept */
    bool chosen;           /* there is one */
    fmm_sizes tree_sizes;  /* that it was made for */
    int depth;             /* of the kept tree */
    int64_t capacity;      /* the same; 0: uniform */
    int64_t cells;         /* the same; 0: not between two depths */
    fmm_method *method;    /* of the last particles; NULL: there is none */
    fmm_new_memory memory; /* of this call */
    int listed_order;      /* that its lists were made for: which cells are summed directly */
    int order;             /* that was run last */
    uint64_t waves;        /* levels of the kept tree that have plane waves, if the error allows a set */
    bool single;           /* the near field was predicted in single precision */
    bool ordered;          /* the order was chosen for this tree and the last charges */
    bool order_known;      /* it was chosen in this call or one before */
    fmm_sizes order_sizes; /* that it was chosen for */
    double sampled;        /* error with it then; NaN: none */
    bool error_fell;       /* far below that in the last call */
    fmm_sizes last;        /* of the last call */
    fmm_accuracy accuracy;
    fmm_reference *reference; /* direct sums of this call's particles; NULL: none yet */
    fmm_solution solution;    /* of this call */
};

static inline bool fmm_chooses_order(const fmm_solver *s) { return s->options.order < 0; }

yoke_status fmm_solver_tell(const fmm_solver *s, fmm_stage stage, const char *what);

/* A tree of the kept choice, or of a new one where there is none yet, where it is asked for (`anew`), or where the kept one was for others. */
yoke_status fmm_solver_grow(fmm_solver *s, const fmm_particles *particles, bool anew);
/* Where memory is kept: gets what sorting so many particles and their fields need of it, as far as it is not there; no method holds any then. */
yoke_status fmm_solver_get_memory(fmm_solver *s, int64_t particles);
/* Where methods add what they get; NULL: nothing is got. */
static inline fmm_new_memory *fmm_solver_new_memory(fmm_solver *s) { return s->options.keeps_memory ? &s->memory : NULL; }
/* Direct sums at some particles, where the error is checked, for the check and what comes before it; once in a call. */
yoke_status fmm_solver_sum_some(fmm_solver *s, const fmm_particles *particles);
/* The order of the kept tree, where it is chosen, and tells of it. */
yoke_status fmm_solver_find_order(fmm_solver *s, const fmm_particles *particles);
/*
 * Whether the near field may be in single precision: for an error, where that adds little to it, without softening and on the cores alone.  The first before
 * there is a tree.
 */
bool fmm_solver_may_be_single(const fmm_solver *s, const fmm_particles *particles);
bool fmm_solver_is_single(const fmm_solver *s, const fmm_particles *particles);
/* Runs the other sensible trees. */
yoke_status fmm_solver_measure(fmm_solver *s, const fmm_particles *particles);
/* Runs the kept tree until the error is kept. */
yoke_status fmm_solver_compute(fmm_solver *s, const fmm_particles *particles, fmm_field *field);

/* Of the kept tree, far_pairs NaN, order 0. */
fmm_sizes fmm_solver_sizes(const fmm_solver *s, const fmm_particles *particles);
/* Which of them differ by more than a tenth; FMM_KEPT: none. */
fmm_reason fmm_sizes_compare(const fmm_sizes *is, const fmm_sizes *was);
/* After a run: what the next call decides by. */
void fmm_solver_remember(fmm_solver *s);

/* The run of the devices, once for all: it learns from each.  Errors: those of fmm_shared_open. */
yoke_status fmm_solver_open_devices(fmm_solver *s);
typedef struct fmm_shared_run_seconds {
    fmm_method_seconds here;
    fmm_seconds as_predicted;
} fmm_shared_run_seconds;
/* A method run on the devices.  tree: what was planned of it; NULL: nothing.  Errors: those of fmm_shared_create and fmm_shared_run. */
yoke_status fmm_solver_run_shared(fmm_solver *s, fmm_method *method, const fmm_depth *tree, int order, const double *charge,
                                  fmm_field *field, fmm_shared_run_seconds *seconds);

/*
 * After a run of the chosen tree with another order than it was chosen with, as where its own particles need less: what the run's plan told of it is its
 * prediction.
 */
void fmm_solver_predict_order(fmm_solver *s, int order);

/* The seconds of a run, as predictions have them. */
fmm_seconds fmm_solver_seconds(const fmm_method_seconds *seconds);

#endif
