/*
 * checkpoints.h - the checkpoints of a run in its output directory: when one is due, the latest ones kept, and the latest whole one found.
 *
 * They are numbered, each one higher than all that were there before.  A new one is put in place before an old one goes.
 */
#ifndef FEM_CHECKPOINT_CHECKPOINTS_H
#define FEM_CHECKPOINT_CHECKPOINTS_H

#include "case/case.h"
#include "checkpoint/file.h"
#include "output/results.h"

typedef struct fem_checkpoints fem_checkpoints;

/*
 * For a run into `results` (borrowed, as are the keys and the ranks).  latest: the number of the checkpoint that the run goes on from, which is then this
 * run's, too; -1: it begins anew.  Time counts from here on.  This and the following are collective.  Errors: MEMORY.
 */
yoke_status fem_checkpoints_create(fem_results *results, yoke_context *context, app_ranks *ranks, const char *directory,
                                   const fem_case_checkpoint *keys, int64_t latest, fem_checkpoints **checkpoints);
void fem_checkpoints_destroy(fem_checkpoints *checkpoints); /* NULL allowed */

/* A step has ended, whose checkpoint would have so many numbers over all ranks: nonzero, if it is to be written. */
int fem_checkpoints_due_after_step(fem_checkpoints *checkpoints, int64_t numbers);
/*
 * Nonzero: one with so many numbers is to be written within a solve, before this iteration (not the first, before which nothing is reached).  leaving: the run is about to be interrupted, which all ranks know.  On
 * several ranks it is so at few iterations only, since the ranks have to agree.
 */
int fem_checkpoints_due_within(const fem_checkpoints *checkpoints, int iteration, int64_t numbers, int leaving);

/* How many of this run's are there. */
int64_t fem_checkpoints_kept(const fem_checkpoints *checkpoints);

/* Writes one and removes those that are too many.  Errors: as fem_checkpoint_write; those before stay then. */
yoke_status fem_checkpoints_write(fem_checkpoints *checkpoints, const fem_checkpoint_part *part);

/*
 * Opens the latest whole checkpoint of a directory, and tells its number.  Those that are damaged are passed over, with a warning.  Collective.
 * Errors, on all ranks: INPUT (the directory cannot be read, none is there, or none is whole), MEMORY.
 */
yoke_status fem_checkpoints_open_latest(yoke_context *context, app_ranks *ranks, const char *directory, fem_checkpoint **checkpoint,
                                        int64_t *number);

#endif
