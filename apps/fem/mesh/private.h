/*
 * private.h - builds a mesh from the stream that file/ reads:
 *
 *     raw.c      checks the stream: Gmsh's nodes, elements and groups as received
 *     numbers.c  maps the file's node numbers to indices
 *     split.c    hexahedra from tetrahedra and prisms (split.h)
 *     convert.c  hexahedra, node orders, volume groups
 *     check.c    elements (Jacobian) and nodes (coincident)
 *     faces.c    which elements share a face; one body
 *     groups.c   groups on faces, edges, corners
 *     mesh.c          combines these
 *     arrays.c   the other source: a program's arrays
 */
#ifndef FEM_MESH_PRIVATE_H
#define FEM_MESH_PRIVATE_H

#include "mesh/file/file.h"
#include "mesh/mesh.h"

/* --------------------------------------------------------------------------------------------------- raw */

/* The elements of one type in one entity, numbered and connected as in the file.  All pointers point into the stream. */
typedef struct fem_raw_block {
    int dimension, type;
    int64_t entity, count;
    const int64_t *number; /* [count] */
    const int64_t *node;   /* [count][fem_wire_nodes(type)]; NULL for a type that is not in the list */
} fem_raw_block;

typedef struct fem_raw_group {
    int dimension, tag;
    int name_bytes;   /* 0: unnamed */
    const char *name; /* not terminated */
    int64_t num_entities;
    const int64_t *entity;
} fem_raw_group;

typedef struct fem_raw {
    int64_t num_nodes;
    int64_t last_of_file;       /* nodes with greater numbers were created by splitting; INT64_MAX: none */
    const int64_t *node_number; /* [num_nodes] */
    const double *x;            /* [num_nodes][3] */
    double *scaled;             /* x if it differs from the file's, otherwise NULL */
    int num_blocks, num_groups;
    fem_raw_block *blocks;
    fem_raw_group *groups;
} fem_raw;

/*
 * Checks a stream (every count against its length and against the file's, which has at least one byte for each number) and finds its
 * records; coordinates are multiplied by scale.  Errors: INPUT (Gmsh's own message, an invalid stream, or lengths that
 * leave double precision), MEMORY.
 */
yoke_status fem_raw_create(yoke_context *context, const char *path, int64_t file_bytes, double scale, const fem_mesh_stream *stream,
                           fem_raw *raw);
void fem_raw_clear(yoke_context *context, fem_raw *raw);

/* The name of an element type; "element of Gmsh's type N", written to `buffer`, if it is not in the list. */
const char *fem_raw_type_name(int type, char buffer[48]);

/* ---------------------------------------------------------------------------------------- node numbers */

/* Maps the file's node numbers to indices. */
typedef struct fem_numbers {
    int64_t count, table_size;
    int32_t *table;  /* [table_size] by number, -1: none; NULL: search instead */
    int64_t *sorted; /* [count][2] number, index */
} fem_numbers;

/* Errors: INPUT (a number below 1 or used twice), MEMORY. */
yoke_status fem_numbers_create(yoke_context *context, const char *path, int64_t count, const int64_t *number, fem_numbers *numbers);
void fem_numbers_clear(yoke_context *context, fem_numbers *numbers);
int64_t fem_numbers_find(const fem_numbers *numbers, int64_t number); /* -1: none */

/* Indices of an element's nodes.  Errors: INPUT (a node that does not exist, is not finite, or occurs twice). */
yoke_status fem_raw_find_nodes(yoke_context *context, const char *path, const fem_raw *raw, const fem_numbers *numbers, int64_t element,
                               const int64_t *number, int nodes, int32_t *index);

/* ------------------------------------------------------------------------------------------------- split */

/* A file with tetrahedra or prisms, split into hexahedra. */
typedef struct fem_split {
    int order;           /* of the file's volume elements; 0: there was nothing to split, and all other members are empty */
    int64_t count[3];    /* tetrahedra, prisms, hexahedra that were split */
    fem_numbers numbers; /* of the file's nodes */
    fem_raw raw;         /* hexahedra with 8 nodes (those of one volume element are contiguous and have its number), quadrangles, lines;
                            the groups are the file's */
    int num_memory;
    int64_t **memory;     /* [num_memory] numbers and nodes of a block */
    int *block_of;        /* [num_memory] */
    int64_t *node_number; /* of raw */
    double *x;            /* of raw */
} fem_split;

/*
 * Splits tetrahedra, prisms and hexahedra, if there are tetrahedra or prisms, all of one order.  Elements that must be refused are left to
 * fem_mesh_convert.
 * Errors: INPUT (element, node), MEMORY.
 */
yoke_status fem_split_create(fem_mesh *mesh, const fem_raw *raw, fem_split *split);
void fem_split_clear(yoke_context *context, fem_split *split);

/*
 * Sets the geometry of the mesh, which was converted from split->raw, to the curved geometry of the elements of second order in raw.
 * Errors: MEMORY.
 */
yoke_status fem_split_bend(fem_mesh *mesh, const fem_raw *raw, const fem_split *split);

/* ------------------------------------------------------------------------------------------------- whole */

/* Creates a mesh that has only its context and path. */
yoke_status fem_mesh_create_empty(yoke_context *context, const char *path, fem_mesh **mesh);

/* Creates the mesh of a stream of yoke-fem-mesh; path: for messages.  Errors: as fem_mesh_read. */
yoke_status fem_mesh_from_stream(yoke_context *context, const char *path, int64_t file_bytes, double scale, const fem_mesh_stream *stream,
                                 fem_mesh **mesh);

/* Renumbers the elements of a large mesh along a Morton curve, if its order is much worse.  Errors: MEMORY. */
yoke_status fem_mesh_order_elements(fem_mesh *mesh);

/* ------------------------------------------------------------------------------------------- conversion */

typedef struct fem_conversion {
    fem_numbers numbers;
    int32_t *vertex_of; /* [raw num_nodes] vertex of a node, -1: not a corner of an element */
    uint8_t *used;      /* [raw num_nodes] nonzero: it is a node of an element */
} fem_conversion;

/* Creates elements, vertices, geometry and volume groups of a mesh that has context and path.  Errors: INPUT, MEMORY. */
yoke_status fem_mesh_convert(fem_mesh *mesh, const fem_raw *raw, fem_conversion *conversion);
void fem_conversion_clear(yoke_context *context, fem_conversion *conversion);

/* For each node in Gmsh's order: the lexicographic slot among 27, and the corner in z-order. */
extern const int8_t fem_mesh_hexahedron_slot[27], fem_mesh_hexahedron_corner[8];

/* Expands 20 positions in their lexicographic slots among 27 (face and volume centres missing) by the serendipity shape functions. */
void fem_mesh_expand_serendipity(double position[27][3]);

/* ----------------------------------------------------------------------------------------------- checks */

/*
 * Checks for finite positions, no vertex twice in an element, and positive Jacobian; finds the worst shape.
 * Errors: INPUT (element, determinant).
 */
yoke_status fem_mesh_check_elements(fem_mesh *mesh);

/*
 * Checks whether two of the points x [count][3] coincide: bodies that touch there are not connected, which is a warning.
 * number [count]: for the message; numbers above last_of_file do not belong to nodes of the file, and then it is an error.  Errors: INPUT,
 * MEMORY.
 */
yoke_status fem_mesh_check_coincident(yoke_context *context, const char *path, int64_t count, const double *x, const int64_t *number,
                                      int64_t last_of_file);

/* -------------------------------------------------------------------------------------------------- faces */

typedef struct fem_face {
    int32_t vertex[4];  /* ascending */
    int32_t element[2]; /* element[1] = -1: on the boundary */
    int8_t local[2];
} fem_face;

typedef struct fem_faces {
    int64_t count, capacity; /* capacity: a power of two */
    fem_face *face;          /* [count] */
    int32_t *slot;           /* [capacity] hash table: index of a face, -1: empty */
} fem_faces;

/*
 * Finds all faces of the mesh.  Errors: INPUT (a face of more than two elements, two elements whose common face does not match, a body in
 * pieces), MEMORY.
 */
yoke_status fem_faces_create(const fem_mesh *mesh, fem_faces *faces);
void fem_faces_clear(yoke_context *context, fem_faces *faces);
const fem_face *fem_faces_find(const fem_faces *faces, const int32_t vertex[4]); /* vertices in any order; NULL: none */

/* ------------------------------------------------------------------------------------------------- groups */

/* Creates all groups of the mesh, including volumes.  Errors: INPUT (group and element), MEMORY. */
yoke_status fem_mesh_make_groups(fem_mesh *mesh, const fem_raw *raw, const fem_conversion *conversion, const fem_faces *faces);

/* Vertices of face f (4) or edge e (2) of an element with these corners. */
extern const int8_t fem_face_corner[6][4];
extern const int8_t fem_edge_corner[12][2];

/* The place at which the search for these four vertices begins in a hash table with `places` places, a power of two. */
static inline int64_t fem_hash_place(const int32_t vertex[4], int64_t places)
{
    uint64_t hash = 0;
    for (int k = 0; k < 4; k++) {
        hash = (hash ^ (uint64_t)(uint32_t)vertex[k]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return (int64_t)(hash & (uint64_t)(places - 1));
}

#endif
