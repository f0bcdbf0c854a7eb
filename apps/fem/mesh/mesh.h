/*
 * mesh.h - the coarse mesh: hexahedra with their geometry, and the named groups on them.
 *
 * Reference numbering everywhere in yoke-fem is that of p8est: corners in z-order (x fastest), faces -x +x -y +y -z +z,
 * edges 0-3 along x (at (y,z) = 00 10 01 11), 4-7 along y (at (x,z)), 8-11 along z (at (x,y)).
 */
#ifndef FEM_MESH_MESH_H
#define FEM_MESH_MESH_H

#include "common/ranks/ranks.h"
#include "mesh/file/reader.h"

/* A group: a named set of volumes (dimension 3), faces (2), edges (1) or points (0) of elements. */
typedef struct fem_group {
    char *name;       /* physical name; for an unnamed group its number in decimal digits                     */
    int tag;          /* the mesh file's number                                                                */
    int dimension;    /* 3, 2, 1, 0                                                                             */
    int64_t count;    /* members                                                                                */
    int32_t *element; /* [count] an element that has the member; dimension 3: the elements themselves           */
    int8_t *local;    /* [count] number of the face, edge or corner in it; NULL for dimension 3.  A face between two
                         elements is listed from both sides; edges and points from one element only             */
} fem_group;

typedef struct fem_mesh {
    yoke_context *context; /* borrowed */
    app_ranks *ranks;      /* on which the objects of the mesh are distributed, while each has the whole mesh; borrowed; NULL: one */
    char *path;            /* as given, for messages */
    int order;             /* 1: tri-linear, 8 positions per element; 2: tri-quadratic, 27 positions (a file's 20-node
                              elements are expanded, which does not change their map)                             */
    int64_t num_elements;
    int64_t num_vertices;
    double *vertices;     /* [num_vertices][3] corner positions, m                                                 */
    int32_t *corners;     /* [num_elements][8] vertex of each corner, z-order                                     */
    double *geometry;     /* [num_elements][(order+1)^3][3] positions, lexicographic, x fastest                   */
    int32_t *volume;      /* [num_elements] index into groups of the element's first volume group, -1: in none    */
    int64_t *element_tag; /* [num_elements] the file's number of the element, for messages; parts of one have its number */
    int64_t *vertex_tag;  /* [num_vertices] the file's number of the node; numbers above those of the file: created by splitting */
    int64_t split[3];     /* number of tetrahedra, prisms, hexahedra of the file that were split into hexahedra: 4, 6, 8 each */
    double worst_shape;   /* least determinant of an element's Jacobian over the product of its columns' lengths: 1 is a box, 0 flat */
    int64_t worst_tag;    /* the file's number of that element                                                           */
    int num_groups;
    fem_group *groups; /* [num_groups] */
} fem_mesh;

/*
 * Reads and checks a mesh of hexahedra, tetrahedra and prisms of first or second order: MSH 2.2 / 4.x (ASCII, binary), UNV, BDF (.bdf,
 * .nas), MED (if Gmsh was built with it), recognised by extension and header.  Tetrahedra and prisms are split into hexahedra (split.h),
 * which a log line reports.  The program yoke-fem-mesh runs Gmsh.  It must be next to the running program, in ../bin, ../libexec/yoke or
 * where it was installed.  options may be NULL.
 * Elements are in the file's order, or, if there are many and that order is bad, along a Morton curve; element_tag has their numbers in the
 * file.
 * Groups are Gmsh's physical groups.  BDF has no groups other than properties (PID); names in UNV have no blanks.  In a file without any
 * group the groups are the volumes and faces (dimensions 3 and 2) that Gmsh distinguishes, named by number.  Nodes of no hexahedron are
 * omitted.
 * Errors: INPUT (text names file and element, node or group), INTERRUPTED (SIGINT or SIGTERM ended the child), SYSTEM (no child process),
 * MEMORY.
 * Checked here: readable, complete, volume elements of one order, positive Jacobian everywhere (at nodes and Gauss points), no duplicate
 * unmerged nodes, no face of more than two elements, neighbours with one common face geometry, one connected body, finite positions, every
 * member of a group on an element, no two groups of one name and dimension, no empty group.
 */
yoke_status fem_mesh_read(yoke_context *context, const char *path, const fem_mesh_options *options, fem_mesh **mesh);
void fem_mesh_destroy(fem_mesh *mesh);

/* Index of the group of that dimension and name, or -1.  An unnamed group is found by its number. */
int fem_mesh_find_group(const fem_mesh *mesh, int dimension, const char *name);

/*
 * Builds a mesh from arrays (tests, manufactured problems), which it copies.  corners [num_elements][8] in z-order refers to vertices
 * [num_vertices][3].  geometry is as in the struct, with its corners at the vertices; NULL: straight elements (order 1).  One volume group
 * "body" has all elements.  face_group_of, if not NULL, is called for each boundary face with the mean of its corners and returns a name,
 * which is copied, or NULL for none.  Messages and tags count elements and vertices from 1.
 * Errors: ARGUMENT (no elements, a wrong order); otherwise as fem_mesh_read.
 */
typedef const char *fem_face_namer(const double centre[3], void *user);
yoke_status fem_mesh_from_arrays(yoke_context *context, int64_t num_vertices, const double *vertices, int64_t num_elements,
                                 const int32_t *corners, int order, const double *geometry, fem_face_namer *face_group_of, void *user,
                                 fem_mesh **mesh);

#endif
