/*
 * levels.h - creates a forest from the levels of its leaves.
 *
 * In Morton order leaves follow each other without a gap, and fill one tree after the other.  Their levels therefore determine their
 * positions.
 */
#ifndef FEM_SPACE_FOREST_LEVELS_H
#define FEM_SPACE_FOREST_LEVELS_H

#include "space/forest/forest.h"

/*
 * Creates the forest of the mesh (which must outlive it) whose leaves have the levels level [num_leaves], as those of fem_space.  On
 * several ranks each rank passes all leaves, which are then distributed in equal shares.  Collective.
 * Errors: INPUT (no forest of this mesh has such levels, or it is not balanced), MEMORY; as fem_forest_create.
 */
yoke_status fem_forest_create_from_levels(const fem_mesh *mesh, int64_t num_leaves, const int8_t *level, fem_forest **forest);

#endif
