/*
 * split.h - hexahedra from tetrahedra and prisms.
 *
 * Each volume element is cut at the middles of its edges, the centres of its faces, and its own centre.  This gives one hexahedron for each
 * corner: four of a tetrahedron, six of a prism, eight of a hexahedron between them.  A corner must have three edges for this, which is not
 * the case for a pyramid's apex.  The cuts of a face do not depend on the element (three quadrangles of a triangle, four of a quadrangle),
 * so neighbours match.  In the coordinates of the element each part is the image of a cube under a tri-linear map.  The element's own map,
 * of second order in these coordinates, is tri-quadratic in the cube's coordinates.  The 27 nodes of a part therefore reproduce the
 * element's curved geometry.
 *
 *     solid.c   shapes: corners, edges, faces, parts, geometry
 *     split.c   nodes and elements
 */
#ifndef FEM_MESH_SPLIT_H
#define FEM_MESH_SPLIT_H

#include "mesh/private.h"

enum { FEM_SOLID_PARTS = 8, FEM_SOLID_NODES = 27 };

/* A kind of volume element.  Corners are in Gmsh's order, which its types of both orders share. */
typedef struct fem_solid {
    int corners, edges, faces;
    int8_t around[8][3]; /* the corners at the other ends of a corner's edges, in right-handed order */
    int8_t edge[12][2];  /* in the order of the mid-nodes */
    int8_t face[6][4];   /* the last entry is -1 for a triangle */
    double place[8][3];  /* coordinates of the corners */
} fem_solid;

/* The kind of an element type of Gmsh; NULL: the type cannot be split. */
const fem_solid *fem_solid_of(int type);

/*
 * The places of a solid are its corners, the middles of its edges, the centres of its faces, and its centre, in this order.
 * fem_solid_part: the places that are the corners of the part at `corner`, in z-order.  fem_solid_places: coordinates of all places;
 * returns their number.
 */
void fem_solid_part(const fem_solid *kind, int corner, int place[8]);
int fem_solid_places(const fem_solid *kind, double at[FEM_SOLID_NODES][3]);

/*
 * Positions of the nodes of an element of second order, index [nodes of the type], in the order of the weights of fem_solid_shape:
 * hexahedra in their lexicographic slots, serendipity elements including the nodes that they lack.  Returns their number.
 */
int fem_solid_positions(const fem_raw *raw, int type, const int32_t *index, double (*position)[3]);
void fem_solid_shape(const fem_solid *kind, const double at[3], double value[FEM_SOLID_NODES]);
void fem_solid_evaluate(int count, const double weight[FEM_SOLID_NODES], double (*position)[3], double x[3]);

#endif
