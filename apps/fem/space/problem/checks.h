/*
 * checks.h - the checks of a resolved problem that use the coarse mesh; called by fem_problem_create only.
 *
 * Condition c of the problem is item c of the case's `boundary`.
 */
#ifndef FEM_SPACE_PROBLEM_CHECKS_H
#define FEM_SPACE_PROBLEM_CHECKS_H

#include "case/case.h"
#include "space/problem/problem.h"

/* Place of the value (displacement, traction, pressure, value or flux) of an item and its key, for messages. */
app_place fem_condition_place(const fem_case_boundary *item, const char **key);

/* The corners of face, edge or corner `local` (dimension 2, 1, 0); returns their number. */
int fem_member_corners(int dimension, int local, int corners[4]);

/*
 * shared [num_elements]: bit f set = face f belongs to two elements.  piece [num_elements]: elements that are connected through shared
 * faces have the same number, 0 .. *num_pieces - 1.  Errors: MEMORY.
 */
yoke_status fem_connect_elements(const fem_mesh *mesh, uint8_t *shared, int32_t *piece, int32_t *num_pieces);

/* Errors: INPUT (a load on a face between two elements). */
yoke_status fem_check_loads(const fem_case *input, const fem_problem *problem, const uint8_t *shared);

/* Errors: INPUT (two conditions prescribe different values of one component at one vertex), MEMORY. */
yoke_status fem_check_conflicts(const fem_case *input, const fem_problem *problem);

/*
 * Errors: INPUT (the supports leave rigid motions, of the body or of a piece of it that is connected to the rest only by an edge or a
 * point; Poisson: the constant), MEMORY.  The check uses the rank of the rigid motions, restricted to the prescribed components at the
 * vertices.
 */
yoke_status fem_check_rigid(const fem_case *input, const fem_problem *problem, const int32_t *piece, int32_t num_pieces);

/* Errors: INPUT (the elements before the first solve need more memory than the machine has), SYSTEM. */
yoke_status fem_check_memory(const fem_case *input, const fem_mesh *mesh);

/*
 * Logs a warning for each face group whose normal jumps by 0.2 to 20 degrees between neighbouring coarse faces: the mesh approximates a
 * smooth surface with kinks.  A larger jump is taken as an intended edge.  Errors: MEMORY.
 */
yoke_status fem_warn_of_kinks(const fem_problem *problem);

#endif
