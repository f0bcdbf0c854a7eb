/* series.c - names of the files of steps, and the file that lists them in order; declared in vtu.h. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "output/vtu.h"

void fem_vtu_name(int step, int ranks, char name[FEM_VTU_NAME])
{
    snprintf(name, FEM_VTU_NAME, ranks > 1 ? "step-%02d.pvtu" : "step-%02d.vtu", step);
}

void fem_vtu_piece_name(int step, int rank, char name[FEM_VTU_NAME]) { snprintf(name, FEM_VTU_NAME, "step-%02d-%d.vtu", step, rank); }

/* Whether a file of this name exists in the directory of the series. */
static int lies_beside(const char *series, const char *name)
{
    char path[4096];
    const char *slash = strrchr(series, '/');
    int length = slash ? (int)(slash + 1 - series) : 0;
    return snprintf(path, sizeof path, "%.*s%s", length, series, name) < (int)sizeof path && access(path, F_OK) == 0;
}

yoke_status fem_vtu_write_series(yoke_context *context, const char *path, int count)
{
    app_file *file = NULL;
    yoke_status status = app_file_create(context, path, &file);
    if (status != YOKE_OK) return status;
    FILE *out = app_file_stream(file);
    fprintf(out, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n  <Collection>\n");
    for (int step = 0; step < count; step++) {
        char name[FEM_VTU_NAME];
        fem_vtu_name(step, 2, name);
        if (!lies_beside(path, name)) fem_vtu_name(step, 1, name);
        fprintf(out, "    <DataSet timestep=\"%d\" part=\"0\" file=\"%s\"/>\n", step, name);
    }
    fprintf(out, "  </Collection>\n</VTKFile>\n");
    return app_file_commit(file);
}
