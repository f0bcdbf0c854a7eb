/* rigid_sum.h - displacements for output: the solution plus the rigid motions of the prescribed values (rigid_part.h). */
#ifndef FEM_SPACE_RIGID_SUM_H
#define FEM_SPACE_RIGID_SUM_H

#include "space/space.h"

/* *total [num_nodes][components] = u plus the rigid motions; NULL if there are none.  Release it with yoke_release.  Errors: MEMORY. */
yoke_status fem_rigid_add(const fem_space *space, const double *u, double **total);

#endif
