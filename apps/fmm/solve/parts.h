/*
 * parts.h - the data of a solver, and its steps; private to this folder.
 */
#ifndef FMM_SOLVE_PARTS_H
#define FMM_SOLVE_PARTS_H

#include "solve/solve.h"

/* The numbers for which a choice was made; NaN: not known yet. */
typedef struct fmm_sizes {
    double particles, leaves, near_pairs, far_pairs;
    double charge, charges; /* sum of the charges; sum of their absolute values */
    int order;              /* for the choice of a tree: the order of the expansions */
    int deepest;            /* depth of the deepest tree that the softening allows */
    bool bound;             /* the softening limits the tree: it has this depth */
} fmm_sizes;

struct fmm_solver {
    yoke_context *context;
    fmm_solver_options options;
    fmm_tune_options tune;
    fmm_tuner *tuner;     /* NULL: not needed yet */
    yoke_run *run;        /* of the devices; NULL: not open */
    yoke_meters *meters;  /* of runs on the cores alone; NULL: energies are not wanted */
    char *with_cores;     /* the devices of the options and the cores, if the options have no host; NULL: the devices of the options */
    const double *share;  /* share of accelerators in the near field; NULL: chosen */
    fmm_tuned tuned;      /* the choice that is kept */
    bool chosen;          /* there is a choice */
    fmm_sizes tree_sizes; /* numbers for which it was made */
    int depth;            /* of the kept tree */
    int64_t capacity;     /* of the kept tree; 0: uniform */
    int64_t cells;        /* of the kept tree; 0: not between two depths */
    const fmm_particles *given; /* particles of this call, where the user has them */
    fmm_method *method;         /* for the last particles; NULL: there is none */
    fmm_new_memory memory;      /* of this call */
    double tree_s;              /* seconds in which it was built */
    bool teaches;               /* it is the tree for which predictions were made, and no run of it was learned from */
    int64_t direct;             /* of the method, as in fmm_method_options */
    int order;                  /* order of the last run */
    uint64_t waves;             /* levels of the kept tree that have plane waves, if there is a set for the error */
    bool single;                /* the near field was predicted in single precision */
    bool ordered;               /* the order was chosen for this tree and the last charges */
    bool order_known;           /* it was chosen in this call or an earlier one */
    fmm_sizes order_sizes;      /* numbers for which it was chosen */
    double sampled;             /* sampled error with it at that time; NaN: none */
    bool error_fell;            /* in the last call the error was far below that */
    fmm_sizes last;             /* of the last call */
    fmm_accuracy accuracy;
    double energy_size;       /* fmm_sample.energy_size of the last run */
    fmm_reference *reference; /* direct sums of this call's particles; NULL: none yet */
    fmm_solution solution;    /* of this call */
};

static inline bool fmm_chooses_order(const fmm_solver *s) { return s->options.order < 0; }

/* Calls progress, if there is one. */
yoke_status fmm_solver_tell(const fmm_solver *s, fmm_stage stage, const char *what);

/* Builds a tree by the kept choice.  It makes a new choice if there is none, if one is asked for (`anew`), or if the particles differ too
 * much from those of the kept choice. */
yoke_status fmm_solver_grow(fmm_solver *s, const fmm_particles *particles, bool anew);
/* Refuses particles with charges at the same position, if the options say so.  The method's tree shows at once where there are none. */
yoke_status fmm_solver_refuse_coincident(const fmm_solver *s);
/* Where methods add the memory that they request; NULL: none is requested. */
static inline fmm_new_memory *fmm_solver_new_memory(fmm_solver *s) { return s->options.keeps_memory ? &s->memory : NULL; }
/* Computes direct sums at some particles, if the error is checked, for the check and for the steps before it; once in a call. */
yoke_status fmm_solver_sum_some(fmm_solver *s, const fmm_particles *particles);
/* Opens meters if energies on the cores are wanted: for an objective other than time, or declared powers.  Errors: those of
 * yoke_meters_open. */
yoke_status fmm_solver_open_meters(fmm_solver *s);
/* Measures a part of the call's energy, and adds it to the solution.  region: NULL without meters.  Errors: MEMORY. */
yoke_status fmm_solver_begin_energy(fmm_solver *s, yoke_region **region);
yoke_status fmm_solver_end_energy(fmm_solver *s, yoke_region *region);
/* Finds the order for the kept tree, if the order is chosen, and reports it.  anew: the order of the last call is not kept. */
yoke_status fmm_solver_find_order(fmm_solver *s, const fmm_particles *particles, bool anew);
/*
 * Whether the near field may be in single precision: for a requested error to which this adds little, without softening and on the cores
 * alone.  The first function is used before there is a tree.
 */
bool fmm_solver_may_be_single(const fmm_solver *s, const fmm_particles *particles);
bool fmm_solver_is_single(const fmm_solver *s, const fmm_particles *particles);
/* Runs the other sensible trees. */
yoke_status fmm_solver_measure(fmm_solver *s, const fmm_particles *particles);
/* Runs the kept tree until the error is within the request. */
yoke_status fmm_solver_compute(fmm_solver *s, const fmm_particles *particles, fmm_field *field);

/* The numbers of the kept tree, with far_pairs NaN and order 0. */
fmm_sizes fmm_solver_sizes(const fmm_solver *s, const fmm_particles *particles);
/* Which of the numbers differ by more than a tenth; FMM_KEPT: none. */
fmm_reason fmm_sizes_compare(const fmm_sizes *is, const fmm_sizes *was);
/* After a run: stores the numbers by which the next call decides. */
void fmm_solver_remember(fmm_solver *s);
/* The sampled error of the requested quantity; NaN: there is no sample. */
double fmm_solver_sampled_error(const fmm_solver *s);

/* Opens the run of the devices, once for all calls, because it learns from each of them.  Errors: those of fmm_shared_open. */
yoke_status fmm_solver_open_devices(fmm_solver *s);
typedef struct fmm_shared_run_seconds {
    fmm_method_seconds here;
    fmm_seconds as_predicted;
} fmm_shared_run_seconds;
/* Runs a method on the devices.  tree: its plan; NULL: none.  Errors: those of fmm_shared_create and fmm_shared_run. */
yoke_status fmm_solver_run_shared(fmm_solver *s, fmm_method *method, const fmm_depth *tree, int order, const double *charge,
                                  fmm_field *field, fmm_shared_run_seconds *seconds);

/*
 * After a run of the chosen tree with another order than that of the choice, for example because its particles need a lower one: the cost
 * predicted by the run's plan becomes the prediction of the tree.
 */
void fmm_solver_predict_order(fmm_solver *s, int order);

/* The seconds of a run, in the parts that predictions have. */
fmm_seconds fmm_solver_seconds(const fmm_method_seconds *seconds);

#endif
