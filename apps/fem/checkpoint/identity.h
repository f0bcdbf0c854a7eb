/*
 * identity.h - what a checkpoint belongs to: the mesh, and the keys of the case that its solution depends on.
 *
 * Keys that only say how the run goes on may change: limits and fraction of the refinement, solver, objective, powers, output and
 * checkpoint.
 */
#ifndef FEM_CHECKPOINT_IDENTITY_H
#define FEM_CHECKPOINT_IDENTITY_H

#include <jansson.h>

#include "case/case.h"
#include "mesh/mesh.h"

/* {"mesh": its checksum, "heat_case": that of the file that temperature.case names, "case": {key: value as text}}, new; NULL: out of memory. */
json_t *fem_identity(const fem_case *input, const fem_mesh *mesh);

/*
 * Whether `identity`, which was written with `path`, is that of this case and mesh.
 * Errors: INPUT (another mesh; another heat case; a key that may not change: which one, what it was, what it is; no identity).
 */
yoke_status fem_identity_check(const fem_case *input, const fem_mesh *mesh, const json_t *identity, const char *path);

#endif
