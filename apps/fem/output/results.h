/*
 * results.h - the output directory of a run: locked by one run at a time, and an old run's files replaced as a whole.
 *
 * On several ranks each rank writes a piece of each step, and the first one all other files.
 *
 * The old run's files stay until the first step of the new one is on disk.  Then they are removed, beginning with those that make them look
 * complete (series, record), and the new step is put in place.  The directory has either the old run's files or finished steps of the new
 * one.  Only regular files and links with the names below are removed, and temporary files (file.h) that a killed run left of them.
 */
#ifndef FEM_OUTPUT_RESULTS_H
#define FEM_OUTPUT_RESULTS_H

#include <stdbool.h>

#include "output/vtu.h"

/* Files in addition to step-NN.vtu (on several ranks step-NN.pvtu and step-NN-RANK.vtu). */
#define FEM_RESULTS_SERIES "series.pvd"
#define FEM_RESULTS_RECORD "run.json"
#define FEM_RESULTS_SUMMARY "summary.txt"
#define FEM_RESULTS_PROBES "probes.csv"
/* Checkpoints, by number (checkpoint/checkpoints.h). */
#define FEM_RESULTS_CHECKPOINT "checkpoint-%lld.bin"

typedef struct fem_results fem_results;

/*
 * Creates the directory if needed, and locks it until it is closed.  A file system without locks is used without them.  ranks: NULL for
 * one.
 * Errors: INPUT (the directory cannot be created or written to; another run has locked it; another rank does not see it), MEMORY.
 */
yoke_status fem_results_open(yoke_context *context, app_ranks *ranks, const char *directory, fem_results **results);
/* Unlocks the directory.  NULL allowed. */
void fem_results_close(fem_results *results);

/*
 * Writes a step and the series up to it; before the first one is put in place the old run's files are removed.  Collective: if one rank
 * fails, the step is on none of them.
 * Errors: INPUT, SYSTEM (a file cannot be written or removed: path and cause), MEMORY.
 */
yoke_status fem_results_step(fem_results *results, const fem_vtu *vtu, int step);

/* Checkpoints from this number on belong to this run: they stay when an old run's files are replaced.  Before this call there are none. */
void fem_results_own_checkpoints(fem_results *results, int64_t first);

/*
 * Continues the run that wrote steps 0 to `steps` - 1 here (0: none; then an old run's files stay as above).  The series ends with these
 * steps, and files of later steps, or of a finished run, are removed.  Errors: as fem_results_step.
 */
yoke_status fem_results_continue(fem_results *results, int steps);

/* The number of a checkpoint from its file name, from 0; -1: it is not a checkpoint. */
int64_t fem_results_checkpoint_number(const char *name);

/* Whether the path is that of a file that a run with this output directory writes or removes there, by its name. */
bool fem_results_has(const char *directory, const char *path);

/* The path of a file in the directory, valid until the directory is closed or the next call.  Errors: INPUT (too long). */
yoke_status fem_results_path(fem_results *results, const char *name, const char **path);

#endif
