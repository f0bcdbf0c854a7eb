/*
 * reader.h - what callers of fem_mesh_read (mesh.h) know of the reading of files.
 */
#ifndef FEM_MESH_FILE_READER_H
#define FEM_MESH_FILE_READER_H

#include <stdbool.h>

#include "common/ranks/ranks.h"

/*
 * The process that runs Gmsh (yoke-fem-mesh).  It takes 0.1 s to load Gmsh's libraries: a program that starts it early does something else
 * meanwhile.  It serves one fem_mesh_read, and one process at a time is known to fem_mesh_abandon.
 */
typedef struct fem_mesh_reader fem_mesh_reader;
/* Errors: SYSTEM (no such program, or it cannot be started), MEMORY. */
yoke_status fem_mesh_reader_start(yoke_context *context, fem_mesh_reader **reader);
/* Ends the process where it still runs.  Takes NULL. */
void fem_mesh_reader_destroy(fem_mesh_reader *reader);

/*
 * How a file is read.  reader: a process that was started before; NULL, or one that has served: fem_mesh_read starts its own.  memory_bytes, seconds: limits of the child process that runs Gmsh; 0: the default (4 GiB + 64 x file size, 120 s of CPU
 * time and twice that on the clock).  scale: metres in the file's unit of length, finite and above 0; 0: not given, the file's numbers are taken
 * as they are (a UNV file that names another unit than the metre is refused then).
 */
typedef struct fem_mesh_options {
    app_ranks *ranks; /* of which the first one reads the file, for all; borrowed; NULL: one */
    int64_t memory_bytes;
    double seconds, scale;
    fem_mesh_reader *reader;
} fem_mesh_options;

/* Whether a file is by its name a mesh, or a CAD file that a mesh is made from.  It is not opened. */
bool fem_mesh_is_name_of_geometry(const char *path);

/*
 * For a signal handler that ends the process: ends the process that runs Gmsh and removes the directory of a fem_mesh_read.  Async-signal-safe.
 */
void fem_mesh_abandon(void);

#endif
