/*
 * reader.h - the part of file reading that callers of fem_mesh_read (mesh.h) use.
 */
#ifndef FEM_MESH_FILE_READER_H
#define FEM_MESH_FILE_READER_H

#include <stdbool.h>

#include "common/ranks/ranks.h"

/*
 * The process that runs Gmsh (yoke-fem-mesh).  It takes 0.1 s to load Gmsh's libraries, so a program can start it early and do something
 * else in the meantime.  It serves one fem_mesh_read, and fem_mesh_abandon knows only one process at a time.
 */
typedef struct fem_mesh_reader fem_mesh_reader;
/* Errors: SYSTEM (no such program, or it cannot be started), MEMORY. */
yoke_status fem_mesh_reader_start(yoke_context *context, fem_mesh_reader **reader);
/* Ends the process if it still runs.  NULL allowed. */
void fem_mesh_reader_destroy(fem_mesh_reader *reader);

/*
 * Options for reading a file.  reader: a process that was started before; if it is NULL, or has already served, fem_mesh_read starts its
 * own.  memory_bytes, seconds: limits of the child process that runs Gmsh; 0: the default (4 GiB + 64 x file size, 120 s of CPU time and
 * twice that of wall-clock time).  scale: metres per unit of length of the file, finite and above 0; 0: not given, and the file's numbers
 * are used unchanged (a UNV file that names a unit other than the metre is then refused).
 */
typedef struct fem_mesh_options {
    app_ranks *ranks; /* the first one reads the file, for all; borrowed; NULL: one rank */
    int64_t memory_bytes;
    double seconds, scale;
    fem_mesh_reader *reader;
} fem_mesh_options;

/* Whether the name of a file is that of a mesh, or of a CAD file from which a mesh is made.  The file is not opened. */
bool fem_mesh_is_name_of_geometry(const char *path);

/*
 * For a signal handler that ends the process: ends the process that runs Gmsh and removes the directory of a fem_mesh_read.
 * Async-signal-safe.
 */
void fem_mesh_abandon(void);

#endif
