/*
 * mesh_wire.h - what the program yoke-fem-mesh, which runs Gmsh, writes to the pipe that yoke-fem reads.
 *
 * The stream is a sequence of records in the machine's own byte order: a header, then its payload, padded with zeros to 8 bytes.
 * It ends with one END record.  The writer is not trusted: it may have been corrupted by the file that it reads.
 */
#ifndef FEM_MESH_WIRE_H
#define FEM_MESH_WIRE_H

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

/* X(Gmsh's number, dimension, nodes, corners, name): the element types that may be in a mesh of hexahedra. */
#define FEM_WIRE_TYPES(X)                       \
    X(15, 0, 1, 1, "point")                     \
    X(1, 1, 2, 2, "line with 2 nodes")          \
    X(8, 1, 3, 2, "line with 3 nodes")          \
    X(3, 2, 4, 4, "quadrangle with 4 nodes")    \
    X(16, 2, 8, 4, "quadrangle with 8 nodes")   \
    X(10, 2, 9, 4, "quadrangle with 9 nodes")   \
    X(5, 3, 8, 8, "hexahedron with 8 nodes")    \
    X(17, 3, 20, 8, "hexahedron with 20 nodes") \
    X(12, 3, 27, 8, "hexahedron with 27 nodes")

/* Nodes of a type of the list; 0 for another. */
static inline int fem_wire_nodes(int64_t type)
{
    switch (type) {
#define FEM_WIRE_NODES_OF(number, dimension, nodes, corners, name) \
    case number:                                                   \
        return nodes;
        FEM_WIRE_TYPES(FEM_WIRE_NODES_OF)
#undef FEM_WIRE_NODES_OF
    default:
        return 0;
    }
}

#endif
