/*
 * file.h - one checkpoint of a run as a file: the leaves of the forest, values at the nodes, and the run's state as JSON.
 *
 * Nothing in it depends on how many processes or devices wrote it: leaves come in Morton order, nodes in the order in which these first touch
 * them, which is the numbering of fem_space on one rank.  docs/reference/checkpoint.md has the layout.
 */
#ifndef FEM_CHECKPOINT_FILE_H
#define FEM_CHECKPOINT_FILE_H

#include <jansson.h>

#include "yoke/yoke.h"

typedef struct fem_checkpoint {
    yoke_context *context; /* borrowed */
    json_t *state;
    int64_t num_leaves, num_nodes;
    int components;
    int8_t *level;     /* [num_leaves] of each leaf: they follow each other in Morton order, and fill one tree after the other */
    double *value;     /* [num_nodes][components] the step's solution, or what the iteration has reached */
    double *indicator; /* [num_leaves] of the step's error; NULL: the step is not solved yet */
} fem_checkpoint;

/*
 * Writes a file, whole and safely on disk, or not at all.
 * Errors: INPUT (cannot be created), SYSTEM (as on a full disk: path and cause), MEMORY.
 */
yoke_status fem_checkpoint_write(const fem_checkpoint *checkpoint, const char *path);

/*
 * Reads and checks a file: sizes, checksums, levels and numbers.  Whether it belongs to a case and a mesh is not asked.
 * Errors: INPUT (cannot be read, is cut off or damaged, of another version: the path, what is wrong), MEMORY.
 */
yoke_status fem_checkpoint_read(yoke_context *context, const char *path, fem_checkpoint **checkpoint);
void fem_checkpoint_destroy(fem_checkpoint *checkpoint); /* NULL allowed */

#endif
