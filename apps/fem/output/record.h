/*
 * record.h - run.json of `yoke fem`: the request, and the cost and results of each refinement step.  docs/reference/run-record.md describes
 * the keys.
 *
 * The files are replaced as a whole after each step, so that a run that is interrupted leaves its last finished step.
 */
#ifndef FEM_OUTPUT_RECORD_H
#define FEM_OUTPUT_RECORD_H

#include <jansson.h>

#include "case/case.h"
#include "output/profile.h"
#include "output/quantities/extremes.h"
#include "output/quantities/probe.h"
#include "output/quantities/reaction.h"

/* Work of one part in a step. */
typedef struct fem_part_record {
    int rank;
    const char *device; /* borrowed: "openmp", "cuda:0" */
    int threads;        /* of the host that work for it */
    int64_t elements;
    double seconds_per_element, seconds_per_product; /* of the fine operator */
    double predicted_seconds_per_product;            /* before the step */
    int64_t halo_bytes;                              /* to and from the device per product */
    double setup_moved_s;                            /* time to move its elements' data there */
    double frequency_hz;                             /* NaN: not set */
} fem_part_record;

/* Distribution of a step's mesh over the ranks; num_ranks 0: there is one rank, and nothing to report. */
typedef struct fem_partition_record {
    int num_ranks;
    const char *choice;                                          /* "equal", "speeds", "kept"; borrowed */
    double tolerance;                                            /* of equal parts, relative; NaN: they were not compared */
    double gain_s, cost_s;                                       /* predicted: saved in the solve, spent on moving; NaN: not known */
    int64_t moved;                                               /* elements that went to another rank */
    double moved_s;                                              /* time for that; NaN: nothing moved */
    const int64_t *elements;                                     /* [num_ranks] borrowed */
    const double *seconds_per_product, *predicted_per_product_s; /* [num_ranks] of the rank's longest part; borrowed */
} fem_partition_record;

/* A share that was considered: elements of each device, time and energy of the solve and the copies before it. */
typedef struct fem_weighed_record {
    const char *name, *note; /* borrowed */
    const int64_t *elements; /* [num_devices] borrowed */
    double time_s, energy_j;
} fem_weighed_record;

/* A device that failed while the step was solved, and was not used afterwards. */
typedef struct fem_failure_record {
    int rank;                 /* of the device */
    const char *device, *why; /* borrowed */
} fem_failure_record;

/* Which parts have elements. */
typedef enum fem_share { FEM_SHARE_CPU, FEM_SHARE_GPU, FEM_SHARE_BOTH } fem_share;

/* One refinement step; NaN: not known. */
typedef struct fem_step_record {
    int step; /* 0: before any refinement */
    int64_t elements, dofs, hanging_nodes;
    const char *preconditioner;                     /* "jacobi", "multigrid", "direct" */
    const char *preconditioner_reason;              /* why it was chosen; NULL or "": there was no choice */
    double multigrid_operations, direct_operations; /* compared costs, as in solver/multigrid/costs.h; NaN: nothing was compared */
    int64_t iterations, operator_applications;      /* fine level, smoother included */
    double relative_residual, energy_error;         /* of the iteration: as in fem_solution */
    int stopped_by_rounding;
    double error_estimate, relative_error_estimate; /* energy norm; divided by the energy norm of the solution */
    double strain_energy_j, max_displacement_m;
    double max_von_mises_pa;
    fem_extreme extremes[FEM_EXTREMES];
    int num_parts;
    const fem_part_record *parts; /* [num_parts] borrowed */
    fem_partition_record partition;
    fem_share share;
    double gpu_share;     /* elements on devices other than the host's cores, divided by all elements */
    const char *decision; /* reason for the distribution of elements; NULL: nothing was decided.  Borrowed */
    int num_failures;
    const fem_failure_record *failures;          /* [num_failures] borrowed */
    const char *objective, *powers;              /* "time", ...; source of the powers: "measured", ... */
    double predicted_time_s, predicted_energy_j; /* of the solve, by the models, before it */
    double predicted_product_s, predicted_product_j;
    double predicted_applications;         /* l, as operator_applications */
    double time_with_l_s, energy_with_l_j; /* by the same models with the actual number of products */
    double measured_time_s, measured_energy_j;
    double measured_product_s, measured_product_j;
    int num_devices, num_weighed;
    const char *const *device_names;   /* [num_devices] borrowed */
    const fem_weighed_record *weighed; /* [num_weighed] borrowed */
    const char *energy_kind;           /* "measured", "estimated", "simulated", "replayed"; NULL: not metered */
    double memory_bytes;               /* of operator, preconditioner and vectors, on all ranks */
    /* Sent by ranks to each other in an iteration, as in fem_solution: by all ranks, and by the one that sends most. */
    double messages_per_iteration, sent_bytes_per_iteration;
    double most_messages_per_iteration, most_sent_bytes_per_iteration;
    double refine_s, setup_s, solve_s, estimate_s, write_s;
} fem_step_record;

/* All numbers zero or NaN ("not known"), no parts. */
fem_step_record fem_step_unknown(int step);

/* Forces and probes of one step's solution, all borrowed. */
typedef struct fem_step_results {
    const fem_problem *problem; /* names of groups, components */
    int num_reactions;
    const fem_reaction *reactions; /* [num_reactions] */
    double load_force_n[3], load_moment_nm[3];
    int num_probes;
    const fem_probe *probes;       /* [num_probes] */
    const fem_probe_value *values; /* [num_probes] */
} fem_step_results;

typedef struct fem_record fem_record;

/*
 * Starts a record with the command line and the case.  paths [num_paths] (at most FEM_RECORD_PATHS; borrowed; NULLs are ignored) are the
 * files to write; a path that is not a regular file (/dev/stdout) is written once, at the end.  Nothing is written before the first step.
 * Errors: ARGUMENT (too many paths), MEMORY, SYSTEM.
 */
#define FEM_RECORD_PATHS 2
yoke_status fem_record_create(const fem_case *input, int argc, char **argv, int num_paths, const char *const *paths, fem_record **record);
/* Records the mesh with which the run begins, and the number of ranks.  Errors: MEMORY. */
yoke_status fem_record_mesh(fem_record *record, const fem_mesh *mesh);

/* Creates the record's data of the steps so far, for a checkpoint; NULL: out of memory. */
json_t *fem_record_state(const fem_record *record);
/*
 * Continues a record from this state.  The function takes ownership of `restart` and appends it to the record's list of restarts.  The time
 * so far is added to that of this run.  Writes nothing.  Errors: INPUT (it is not such a state), MEMORY.
 */
yoke_status fem_record_resume(fem_record *record, const json_t *state, json_t *restart);
/*
 * Whether the record at `path` is that of a run of this case that has ended by itself, with the same limits of refinement and the same
 * solver.  Then *stopped_by has the reason, to be released with yoke_release; otherwise it is NULL.  Errors: MEMORY.
 */
yoke_status fem_record_ended(const fem_case *input, const char *path, char **stopped_by);

/* Releases the record; writes nothing. */
void fem_record_destroy(fem_record *record);

/*
 * Appends a finished step, replaces the previous step's results by its results, and writes the files.
 * Errors: MEMORY, INPUT, SYSTEM (a file cannot be written: path and cause); the record on disk is then that of the previous step.
 */
yoke_status fem_record_step(fem_record *record, const fem_step_record *step, const fem_step_results *results);

/* Writes the files with the present contents.  Errors: as above. */
yoke_status fem_record_write(fem_record *record);

/* Appends a warning about the results to the record; it is written at the next write.  Errors: MEMORY. */
yoke_status fem_record_warn(fem_record *record, const char *warning);

/* Adds the energy of kernels to the record; it is written at the next write.  Errors: MEMORY. */
yoke_status fem_record_profile(fem_record *record, const fem_profile *profile);

/*
 * Records why the run ended ("tolerance", "steps", ...; see docs/reference/run-record.md) and writes the files.  Errors: as
 * fem_record_step.
 */
yoke_status fem_record_finish(fem_record *record, const char *stopped_by);

#endif
