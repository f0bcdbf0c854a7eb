/*
 * estimate_parts.h - what the files of the error estimate share; nobody else includes it.
 */
#ifndef FEM_ESTIMATE_PARTS_H
#define FEM_ESTIMATE_PARTS_H

#include <p8est_ghost.h>

#include "estimate.h"

enum { MOST_SLOTS = 27, MOST_FACE_POINTS = 9, FIELDS = 8 };

/* Shape functions at the quadrature points: n Gauss points per direction, n = nodes per direction. */
typedef struct estimate_tables {
    int n;
    double value[3][3], first[3][3], second[3][3]; /* [point][node] in one direction                           */
    double weight[3];
    double end[2][3];                                               /* [side][node] first derivatives at 0 and 1                */
    double face_value[6][MOST_FACE_POINTS][MOST_SLOTS];             /* [face][point][slot]                        */
    double face_gradient[6][MOST_FACE_POINTS][3][MOST_SLOTS];       /* [face][point][direction][slot]             */
    double quarter_gradient[6][4][MOST_FACE_POINTS][3][MOST_SLOTS]; /* at the points of the face's quarters    */
} estimate_tables;

typedef struct full_face { /* between two leaves of one size */
    int32_t element[2];
    int8_t face[2];
    int8_t turn; /* how the second side's face coordinates follow from the first's, see turned_point */
} full_face;

typedef struct hanging_face { /* between a leaf and four small ones */
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
    int face_points; /* n^2 */
    int width;       /* numbers kept per face point: the traction's components and, for elasticity, its normal part */
    estimate_tables *tables;
    p8est_ghost_t *ghost;
    double *ghost_local; /* [ghosts][slots][3 + components] positions and solution                                  */
    int32_t num_total;
    double *volume;      /* [num_total]                                                                             */
    double *area;        /* [num_total][6]                                                                          */
    double *traction;    /* [num_total][6][face_points][width], times the root of weight x area element             */
    double *square;      /* [num_elements] square of the indicator without C^2                                      */
    double *energy;      /* [num_elements] a(u, u)                                                                  */
    uint8_t *prescribed; /* [num_total][6] mask of prescribed components of a face                                  */
    face_lists faces;
} estimator;

/* The material of an element or ghost. */
const fem_material *estimate_material(const estimator *self, int32_t element);
/* Positions and solution at the slots: local [slots][FIELDS], x in 0..2, u in 3..; the rest is set to zero. */
void estimate_local(const estimator *self, int32_t element, double local[MOST_SLOTS][FIELDS]);

/* The point of the second side that meets point `point` of n x n points of the first side. */
static inline int turned_point(int n, int turn, int point)
{
    int s = point % n, t = point / n;
    if (turn & 1) s = n - 1 - s;
    if (turn & 2) t = n - 1 - t;
    return turn & 4 ? s * n + t : t * n + s;
}

/* estimate_element.c: fills volume, area, traction, and for the leaves energy and the element residual's part of square. */
void estimate_elements(estimator *self);

/* estimate_adjacency.c: finds all faces that touch a leaf.  Errors: MEMORY. */
yoke_status face_lists_create(const fem_space *space, p8est_ghost_t *ghost, face_lists *faces);
void face_lists_destroy(yoke_context *context, face_lists *faces);

/* estimate_face.c: adds the faces' parts to square.  Errors: MEMORY. */
yoke_status estimate_faces(estimator *self);

#endif
