/*
 * file.h - from a mesh file to the stream of numbers that yoke-fem-mesh writes (wire.h):
 *
 *     format.c       recognises the format of a file before Gmsh reads it
 *     bdf.c          rewrites BDF files so that Gmsh reads them correctly (bdf.h)
 *     unv.c          rewrites UNV files so that Gmsh reads them correctly
 *     msh.c          checks what Gmsh ignores in a file of MSH 2
 *     rewrite.c      functions that bdf.c and unv.c share (rewrite.h)
 *     child.c        runs yoke-fem-mesh and returns its stream
 *     reader_main.c  yoke-fem-mesh itself, which opens Gmsh (reader_gmsh.c)
 */
#ifndef FEM_MESH_FILE_FILE_H
#define FEM_MESH_FILE_FILE_H

#include "mesh/file/reader.h"

/* X(extension, Gmsh's extension, format's name) */
#define FEM_MESH_FORMATS(X)  \
    X(".msh", ".msh", "MSH") \
    X(".unv", ".unv", "UNV") \
    X(".bdf", ".bdf", "BDF") \
    X(".nas", ".bdf", "BDF") \
    X(".med", ".med", "MED")

typedef struct fem_mesh_file {
    char *absolute_path;
    const char *extension; /* by which Gmsh selects the recognised reader */
    int64_t bytes;
    char *text; /* that Gmsh reads instead of the file; NULL: the file itself */
    int64_t text_bytes;
} fem_mesh_file;

/*
 * Recognises a file by extension and by its first and last 64 KiB: a text file that lacks its end is truncated.
 * Errors: INPUT (what was expected), MEMORY, SYSTEM.
 */
yoke_status fem_mesh_recognise(yoke_context *context, const char *path, fem_mesh_file *file);
/*
 * Rewrites a BDF file's nodes and elements so that Gmsh reads them correctly; reports what is omitted.  The caller owns *text.
 * Errors: INPUT (line and card: cards that change the body and are not read), MEMORY.
 */
yoke_status fem_mesh_rewrite_bdf(yoke_context *context, const char *path, char **text, int64_t *bytes);
/*
 * Rewrites a UNV file's nodes, elements and groups so that Gmsh reads them correctly; reports what is omitted.  The caller owns *text.
 * Errors: INPUT (line: what is damaged, or changes the body and is not read; a unit of length without a scale (0)), MEMORY.
 */
yoke_status fem_mesh_rewrite_unv(yoke_context *context, const char *path, double scale, char **text, int64_t *bytes);
/*
 * Checks the parts of a file of MSH 2 that Gmsh ignores.
 * Errors: INPUT (line or place: several nodes or elements of one number, more elements than stated), MEMORY.
 */
yoke_status fem_mesh_check_msh(yoke_context *context, const char *path);
void fem_mesh_file_clear(yoke_context *context, fem_mesh_file *file);

typedef struct fem_mesh_stream {
    unsigned char *bytes; /* aligned to 64 */
    int64_t count;
} fem_mesh_stream;

/*
 * Runs yoke-fem-mesh on the file and reads its output.  The program is searched for next to the running program, in ../libexec/yoke, in
 * ../bin, and where it was installed (FEM_MESH_READER).
 * Errors: INPUT (crash, hang, limit: caused by the file), INTERRUPTED (it was stopped by SIGINT or SIGTERM), SYSTEM, MEMORY.
 */
yoke_status fem_mesh_run_reader(yoke_context *context, const char *path, const fem_mesh_file *file, const fem_mesh_options *options,
                                fem_mesh_stream *stream);

#endif
