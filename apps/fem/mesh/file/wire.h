/*
 * wire.h - the output of the program yoke-fem-mesh, which runs Gmsh, in the pipe that yoke-fem reads.
 *
 * The stream is a sequence of records in the machine's own byte order: a header, then its payload, padded with zeros to 8 bytes.
 * It ends with one END record.  The writer is not trusted: it may have been corrupted by the file that it reads.
 */
#ifndef FEM_MESH_FILE_WIRE_H
#define FEM_MESH_FILE_WIRE_H

#include <stdint.h>

enum {
    FEM_WIRE_NODES = 1, /* payload: int64 number[count], double x[count][3]                                             */
    FEM_WIRE_ELEMENTS,  /* dimension, tag = entity, type = Gmsh's element type;
                           payload: int64 number[count], int64 node[count][nodes of the type]; no node for an unknown type */
    FEM_WIRE_GROUP,     /* dimension, tag = the group's number, type = bytes of the name; payload: name, int64 entity[count] */
    FEM_WIRE_FAILURE,   /* count = bytes of the text; payload: text                                                      */
    FEM_WIRE_END
};

typedef struct fem_wire_record {
    int32_t kind, dimension;
    int64_t tag, type, count;
} fem_wire_record;

/* X(name, Gmsh's number, dimension, nodes, corners, text): the element types that are read. */
#define FEM_WIRE_TYPES(X)                               \
    X(POINT, 15, 0, 1, 1, "point")                      \
    X(LINE2, 1, 1, 2, 2, "line with 2 nodes")           \
    X(LINE3, 8, 1, 3, 2, "line with 3 nodes")           \
    X(TRIANGLE3, 2, 2, 3, 3, "triangle with 3 nodes")   \
    X(TRIANGLE6, 9, 2, 6, 3, "triangle with 6 nodes")   \
    X(QUAD4, 3, 2, 4, 4, "quadrangle with 4 nodes")     \
    X(QUAD8, 16, 2, 8, 4, "quadrangle with 8 nodes")    \
    X(QUAD9, 10, 2, 9, 4, "quadrangle with 9 nodes")    \
    X(TET4, 4, 3, 4, 4, "tetrahedron with 4 nodes")     \
    X(TET10, 11, 3, 10, 4, "tetrahedron with 10 nodes") \
    X(PRISM6, 6, 3, 6, 6, "prism with 6 nodes")         \
    X(PRISM15, 18, 3, 15, 6, "prism with 15 nodes")     \
    X(PRISM18, 13, 3, 18, 6, "prism with 18 nodes")     \
    X(HEX8, 5, 3, 8, 8, "hexahedron with 8 nodes")      \
    X(HEX20, 17, 3, 20, 8, "hexahedron with 20 nodes")  \
    X(HEX27, 12, 3, 27, 8, "hexahedron with 27 nodes")

enum {
#define FEM_WIRE_NUMBER_OF(name, number, dimension, nodes, corners, text) FEM_GMSH_##name = number,
    FEM_WIRE_TYPES(FEM_WIRE_NUMBER_OF)
#undef FEM_WIRE_NUMBER_OF
};

/* Number of nodes of a type of the list; 0 for other types. */
static inline int fem_wire_nodes(int64_t type)
{
    switch (type) {
#define FEM_WIRE_NODES_OF(name, number, dimension, nodes, corners, text) \
    case number:                                                         \
        return nodes;
        FEM_WIRE_TYPES(FEM_WIRE_NODES_OF)
#undef FEM_WIRE_NODES_OF
    default:
        return 0;
    }
}

/* Number of corners of a type of the list, which come first among its nodes; 0 for other types. */
static inline int fem_wire_corners(int64_t type)
{
    switch (type) {
#define FEM_WIRE_CORNERS_OF(name, number, dimension, nodes, corners, text) \
    case number:                                                           \
        return corners;
        FEM_WIRE_TYPES(FEM_WIRE_CORNERS_OF)
#undef FEM_WIRE_CORNERS_OF
    default:
        return 0;
    }
}

#endif
