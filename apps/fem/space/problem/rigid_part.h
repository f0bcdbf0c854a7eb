/*
 * rigid_part.h - the rigid motion (Poisson: the constant) in the prescribed values.
 *
 * It causes no strain, but in floating-point numbers it hides the values that do: an offset of 1000 m leaves three digits of a displacement
 * of 1e-10 m.  It is therefore subtracted from the prescribed values before the solve, and added again only where displacements are shown.
 * Solution, stresses, energy, estimate and reactions are those of the remainder; A times a rigid motion is zero in every space.
 */
#ifndef FEM_SPACE_PROBLEM_RIGID_PART_H
#define FEM_SPACE_PROBLEM_RIGID_PART_H

#include "space/problem/problem.h"

/* row: component `component` of the six rigid motions at d from the centre: three translations, three rotations about x, y, z. */
static inline void fem_rigid_row(const double d[3], int component, double row[6])
{
    const double rotations[3][3] = {{0, d[2], -d[1]}, {-d[2], 0, d[0]}, {d[1], -d[0], 0}}; /* (e_j x d)_i at [i][j] */
    for (int j = 0; j < 3; j++) {
        row[j] = j == component;
        row[3 + j] = rotations[component][j];
    }
}

/*
 * Numbers the bodies of problem->mesh: elements that are connected through vertices.  body [num_elements].  Errors: MEMORY.
 */
yoke_status fem_find_bodies(const fem_mesh *mesh, int32_t *body, int32_t *num_bodies);

/*
 * Sets problem->rigid, from problem->body_of and the conditions: for each body the rigid motion that fits best (least squares at the
 * vertices, prescribed components only), if subtracting it leaves at most a tenth of the largest prescribed value.  NULL if no body has
 * one.
 * Errors: MEMORY.
 */
yoke_status fem_fit_rigid_parts(fem_problem *problem);

/* value [components] = the rigid motion of the body of coarse element `tree` at x; returns whether it has one. */
int fem_rigid_value(const fem_problem *problem, int64_t tree, const double x[3], double *value);

/* Subtracts the rigid motion, if there is one, from the prescribed value [components]; a remainder that is only rounding becomes 0. */
void fem_rigid_subtract(const fem_problem *problem, int64_t tree, const double x[3], double *value);

#endif
