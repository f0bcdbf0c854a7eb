/* rigid_sum.h - displacements as they are shown: what was solved for, and the rigid motions of what is prescribed (rigid_part.h). */
#ifndef FEM_SPACE_RIGID_SUM_H
#define FEM_SPACE_RIGID_SUM_H

#include "space/space.h"

/* *total [num_nodes][components] = u and the rigid motions; NULL where there are none.  Released with yoke_release.  Errors: MEMORY. */
yoke_status fem_rigid_add(const fem_space *space, const double *u, double **total);

#endif
