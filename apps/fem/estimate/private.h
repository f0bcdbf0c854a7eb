/*
 * private.h - types and functions that the files of the error estimate share; no other file includes it.
 */
#ifndef FEM_ESTIMATE_PRIVATE_H
#define FEM_ESTIMATE_PRIVATE_H

#include <p8est_ghost.h>

#include "estimate/estimate.h"
#include "operator/packed.h"

enum { MAX_FACE_POINTS = 9, TURNS = 8 };

typedef struct full_face { /* between two leaves of one size */
    int32_t element[2];
    int8_t face[2];
    int8_t turn; /* relative orientation: maps face coordinates of the first side to the second, see turned_point */
} full_face;

typedef struct hanging_face { /* between a leaf and four smaller ones */
    int32_t coarse, fine[4];  /* fine: by quarter, in the fine side's face coordinates; -1: not in the ghost layer */
    int8_t coarse_face, fine_face;
    int8_t turn; /* from the fine side's coordinates to the coarse side's */
} hanging_face;

typedef struct boundary_face {
    int32_t element;
    int8_t face;
} boundary_face;

typedef struct face_lists {
    full_face *full;
    hanging_face *hanging;
    boundary_face *boundary;
    int64_t num_full, num_hanging, num_boundary;
} face_lists;

/* The data of one run.  Elements are numbered leaves first, then ghosts: num_elements of the space, num_total of both. */
typedef struct estimator {
    const fem_space *space;
    const fem_boundary *boundary;
    const double *u;
    int degree, components;
    int face_points;                       /* n^2 */
    int width;                             /* numbers kept per face point: the traction's components and, for elasticity, its normal part */
    int8_t turned[TURNS][MAX_FACE_POINTS]; /* [turn][point of the first side] the second side's point at the same position */
    int lanes;                             /* number of faces that the kernels process at once */
    fem_derivative_functions kernels;
    fem_packed data;
    p8est_ghost_t *ghost;
    int32_t num_total;
    fem_element_terms terms; /* of leaves and ghosts */
    double *side;            /* [num_total][6] contribution of each face to the square of its element's indicator, without C^2 */
    double *square;          /* [num_elements] that square                                                              */
    uint8_t *prescribed;     /* [num_total][6] mask of prescribed components of a face                                  */
    face_lists faces;
} estimator;

static inline const fem_material *estimate_material(const estimator *self, int32_t element)
{
    return &self->space->problem->materials[self->data.material[element]];
}

/*
 * adjacency.c: allocates the lists (errors: MEMORY), fills them with all faces that touch a leaf, and maps point `point` of n x n points of
 * the first side to the point of the second side at the same position.
 */
yoke_status face_lists_allocate(const fem_space *space, face_lists *faces);
void face_lists_fill(const fem_space *space, p8est_ghost_t *ghost, face_lists *faces);
void face_lists_destroy(yoke_context *context, face_lists *faces);
int turned_point(int n, int turn, int point);

/* face.c: computes `side` from `terms`.  Errors: MEMORY. */
yoke_status estimate_faces(estimator *self);

#endif
