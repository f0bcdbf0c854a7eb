/*
 * identity.h - identifies the mesh and the case of a checkpoint: the mesh, and the keys of the case on which the solution depends.
 *
 * Keys that only determine how the run continues may change: limits and fraction of the refinement, solver, objective, powers, output and
 * checkpoint.
 */
#ifndef FEM_CHECKPOINT_IDENTITY_H
#define FEM_CHECKPOINT_IDENTITY_H

#include <jansson.h>

#include "case/case.h"
#include "mesh/mesh.h"

/*
 * Creates {"mesh": its checksum, "heat_case": that of the file that temperature.case names, "case": {key: value as text}}; NULL: out of
 * memory.
 */
json_t *fem_identity(const fem_case *input, const fem_mesh *mesh);

/*
 * Checks whether `identity`, which was written with `path`, is that of this case and mesh.
 * Errors: INPUT (another mesh; another heat case; a key that may not change: which one, its old and its new value; no identity).
 */
yoke_status fem_identity_check(const fem_case *input, const fem_mesh *mesh, const json_t *identity, const char *path);

#endif
