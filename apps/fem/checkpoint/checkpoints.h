/*
 * checkpoints.h - the checkpoints of a run in its output directory: decides when one is due, keeps the latest ones, and finds the latest
 * valid one.
 *
 * They are numbered, each one higher than all that existed before.  A new one is put in place before an old one is removed.
 */
#ifndef FEM_CHECKPOINT_CHECKPOINTS_H
#define FEM_CHECKPOINT_CHECKPOINTS_H

#include "case/case.h"
#include "checkpoint/file.h"
#include "output/results.h"

typedef struct fem_checkpoints fem_checkpoints;

/*
 * Creates the checkpoints of a run into `results` (borrowed, as are the keys and the ranks).  latest: the number of the checkpoint from
 * which the run continues, which then belongs to this run too; -1: the run begins anew.  begun: the run finished a step before, so that all
 * earlier checkpoints in the directory are its own; they stay until a new one is complete.  Time counts from this call on.  This function and
 * the following ones are collective.  Errors: MEMORY.
 */
yoke_status fem_checkpoints_create(fem_results *results, yoke_context *context, app_ranks *ranks, const char *directory,
                                   const fem_case_checkpoint *keys, int64_t latest, bool begun, fem_checkpoints **checkpoints);
void fem_checkpoints_destroy(fem_checkpoints *checkpoints); /* NULL allowed */

/* Nonzero: a checkpoint is to be written after this step.  numbers: how many numbers it would have over all ranks. */
int fem_checkpoints_due_after_step(fem_checkpoints *checkpoints, int64_t numbers);
/*
 * Nonzero: a checkpoint with this many numbers is to be written within a solve, before this iteration (never the first one, before which
 * there is no result).  leaving: the run is about to be interrupted, which all ranks know.  On several ranks this can be nonzero at few
 * iterations only, because the ranks have to agree.
 */
int fem_checkpoints_due_within(const fem_checkpoints *checkpoints, int iteration, int64_t numbers, int leaving);

/* Number of this run's checkpoints that exist. */
int64_t fem_checkpoints_kept(const fem_checkpoints *checkpoints);

/* Writes a checkpoint and removes those that are too many.  Errors: as fem_checkpoint_write; earlier checkpoints then stay. */
yoke_status fem_checkpoints_write(fem_checkpoints *checkpoints, const fem_checkpoint_part *part);

/*
 * Opens the latest valid checkpoint of a directory, and sets its number.  Damaged ones are skipped, with a warning.  Collective.
 * Errors, on all ranks: INPUT (the directory cannot be read, there is no checkpoint, or none is valid), MEMORY.
 */
yoke_status fem_checkpoints_open_latest(yoke_context *context, app_ranks *ranks, const char *directory, fem_checkpoint **checkpoint,
                                        int64_t *number);

#endif
