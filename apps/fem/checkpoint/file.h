/*
 * file.h - one checkpoint of a run as a file: the leaves of the forest, values at the nodes, and the run's state as JSON.
 *
 * Nothing in it depends on how many processes or devices wrote it.  Leaves are in Morton order.  Nodes are in the order in which these
 * leaves first touch them, which is the numbering of fem_space on one rank.  docs/reference/checkpoint.md has the layout.
 */
#ifndef FEM_CHECKPOINT_FILE_H
#define FEM_CHECKPOINT_FILE_H

#include <stdio.h>

#include <jansson.h>

#include "common/ranks/ranks.h"

/* The contents: each rank's part. */
typedef struct fem_checkpoint_part {
    app_ranks *ranks;              /* borrowed; NULL: one rank */
    json_t *state;                 /* of the first rank */
    int64_t num_leaves, num_nodes; /* of this rank; nodes: those that it owns */
    int components;
    const int8_t *level;     /* [num_leaves] of each leaf, in Morton order, one tree after the other */
    const double *value;     /* [num_nodes][components] the step's solution, or the present iterate */
    const double *indicator; /* [num_leaves] of the step's error; NULL: the step is not solved so far */
} fem_checkpoint_part;

/*
 * Writes a file, complete and synchronised to disk, or not at all.  The first rank writes it, with the parts of all.  Collective.
 * Errors, on all ranks: INPUT (cannot be created), SYSTEM (for example a full disk: path and cause), MEMORY.
 */
yoke_status fem_checkpoint_write(yoke_context *context, const fem_checkpoint_part *part, const char *path);

/* A file that is read; each rank reads the parts that it requests. */
typedef struct fem_checkpoint {
    yoke_context *context; /* borrowed */
    json_t *state;
    int64_t num_leaves, num_nodes;
    int components, solved; /* solved: there are indicators */
    int8_t *level;          /* [num_leaves] of all ranks */
    FILE *in;
    int64_t values_at, indicators_at; /* their offsets in bytes */
} fem_checkpoint;

/*
 * Opens a file and reads state and levels.  check: nonzero: reads all of it first, and checks sizes, checksums, levels and numbers; zero:
 * another rank has done so.  It is not checked whether the file belongs to a case and a mesh.
 * Errors: INPUT (cannot be read, is truncated or damaged, of another version: the path, what is wrong), MEMORY.
 */
yoke_status fem_checkpoint_open(yoke_context *context, const char *path, int check, fem_checkpoint **checkpoint);
void fem_checkpoint_close(fem_checkpoint *checkpoint); /* NULL allowed */

/*
 * value [count][components] of the nodes from `first` on; indicator [count] of the leaves.  Errors: SYSTEM (cannot be read), ARGUMENT (not
 * in the file).
 */
yoke_status fem_checkpoint_read_values(const fem_checkpoint *checkpoint, int64_t first, int64_t count, double *value);
yoke_status fem_checkpoint_read_indicators(const fem_checkpoint *checkpoint, int64_t first, int64_t count, double *indicator);

#endif
