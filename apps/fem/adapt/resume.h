/*
 * resume.h - what of a run is neither in the forest nor in the values at its nodes, as JSON in a checkpoint.
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
    fem_distribution *distribution; /* with what it was made of: the checkpoint's part on devices and ranks */
    int step;                       /* the number of the mesh */
    int iterations;                 /* of its solve so far */
    double refine_s;                /* that the mesh took */
    double relative_estimate;       /* of the step's error, where it is solved */
} fem_run_state;

/* New; NULL: out of memory.  speeds: of fem_distribution_save, which is given up. */
json_t *fem_run_state_save(const fem_run_state *state, json_t *speeds);
/* What a checkpoint has of devices and ranks, for the options of a distribution; NULL: nothing, as it was written before there was such a part. */
const json_t *fem_run_state_speeds(const fem_checkpoint *checkpoint);

/* Whether a checkpoint, which was read from `path`, belongs to this case and mesh.  Errors: INPUT, as fem_identity_check. */
yoke_status fem_run_state_check(const fem_case *input, const fem_mesh *mesh, const fem_checkpoint *checkpoint, const char *path);

/*
 * Sets what `state` refers to, and its own numbers, to those of the checkpoint; the record's list of restarts gets one more, by the command line
 * argv [argc].  Errors: INPUT (it is damaged), MEMORY.
 */
yoke_status fem_run_state_restore(fem_run_state *state, const fem_checkpoint *checkpoint, const char *path, int argc, char **argv);

/* The working directory and the words of the run, borrowed from the checkpoint.  Errors: INPUT (it is damaged). */
yoke_status fem_run_state_words(const fem_checkpoint *checkpoint, const char *path, const char **directory, const json_t **words);

#endif
