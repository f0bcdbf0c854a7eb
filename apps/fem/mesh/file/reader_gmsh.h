/* reader_gmsh.h - Gmsh's functions as yoke-fem-mesh calls them, from a library that it opens itself. */
#ifndef FEM_MESH_FILE_READER_GMSH_H
#define FEM_MESH_FILE_READER_GMSH_H

#include <gmshc.h>

/* X(name): the library's gmshName. */
#define MESH_READER_GMSH(X)             \
    X(Free)                             \
    X(Initialize)                       \
    X(LoggerGet)                        \
    X(LoggerStart)                      \
    X(Merge)                            \
    X(ModelGetEntities)                 \
    X(ModelGetEntitiesForPhysicalGroup) \
    X(ModelGetPartitions)               \
    X(ModelGetPhysicalGroups)           \
    X(ModelGetPhysicalGroupsForEntity)  \
    X(ModelGetPhysicalName)             \
    X(ModelGetType)                     \
    X(ModelMeshGetElements)             \
    X(ModelMeshGetNodes)                \
    X(OptionGetNumber)                  \
    X(OptionGetString)                  \
    X(OptionSetNumber)

typedef struct mesh_reader_gmsh {
#define MESH_READER_MEMBER(name) __typeof__(gmsh##name) *name;
    MESH_READER_GMSH(MESH_READER_MEMBER)
#undef MESH_READER_MEMBER
} mesh_reader_gmsh;

/* Opens the library for the rest of the process.  Returns NULL, or a text that describes the error (borrowed). */
const char *mesh_reader_open_gmsh(mesh_reader_gmsh *gmsh);

#endif
