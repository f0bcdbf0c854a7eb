/*
 * resume.h - the part of a run's state that is neither in the forest nor in the values at its nodes, as JSON in a checkpoint.
 */
#ifndef FEM_ADAPT_RESUME_H
#define FEM_ADAPT_RESUME_H

#include "adapt/distribution/distribution.h"
#include "checkpoint/checkpoints.h"
#include "output/record.h"
#include "output/summary.h"
#include "solver/choice.h"

/* All borrowed. */
typedef struct fem_run_state {
    const fem_case *input;
    const fem_mesh *mesh;
    int num_words;
    const char *const *words; /* [num_words] of the command line: case and options */
    fem_record *record;
    fem_summary *summary;
    fem_solver_choice *choice;
    fem_distribution *distribution; /* including its options: the checkpoint's part on devices and ranks */
    int step;                       /* the number of the mesh */
    int iterations;                 /* of its solve so far */
    double refine_s;                /* time to create the mesh */
    double relative_estimate;       /* of the step's error, if the step is solved */
} fem_run_state;

/* Creates the state; NULL: out of memory.  speeds: result of fem_distribution_save, of which it takes ownership. */
json_t *fem_run_state_save(const fem_run_state *state, json_t *speeds);
/*
 * The measurements of devices and ranks in a checkpoint, for the options of a distribution; NULL: none, because the checkpoint was written
 * by a version without this part.
 */
const json_t *fem_run_state_speeds(const fem_checkpoint *checkpoint);

/* Checks whether a checkpoint that was read from `path` belongs to this case and mesh.  Errors: INPUT, as fem_identity_check. */
yoke_status fem_run_state_check(const fem_case *input, const fem_mesh *mesh, const fem_checkpoint *checkpoint, const char *path);

/*
 * Sets the objects and the numbers of `state` to those of the checkpoint.  Adds an entry to the record's list of restarts, with the command
 * line argv [argc].  Errors: INPUT (the checkpoint is damaged), MEMORY.
 */
yoke_status fem_run_state_restore(fem_run_state *state, const fem_checkpoint *checkpoint, const char *path, int argc, char **argv);

/* The working directory and the words of the run, borrowed from the checkpoint.  Errors: INPUT (the checkpoint is damaged). */
yoke_status fem_run_state_words(const fem_checkpoint *checkpoint, const char *path, const char **directory, const json_t **words);

#endif
