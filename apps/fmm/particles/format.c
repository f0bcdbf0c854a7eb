#include "particles/format.h"

#include <string.h>
#include <strings.h>

yoke_status fmm_format_of(yoke_context *context, const char *path, fmm_format *format)
{
    static const struct {
        const char *end;
        fmm_format format;
    } formats[] = {{".txt", FMM_TEXT}, {".dat", FMM_TEXT},   {".xyzq", FMM_TEXT}, {".csv", FMM_CSV},   {".xyz", FMM_XYZ},
                   {".h5", FMM_H5MD},  {".extxyz", FMM_XYZ}, {".h5md", FMM_H5MD}, {".hdf5", FMM_H5MD}, {".vtu", FMM_VTU}};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *end = strrchr(name, '.');
    if (!end) {
        *format = FMM_TEXT;
        return YOKE_OK;
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcasecmp(end, formats[i].end)) {
            *format = formats[i].format;
            return YOKE_OK;
        }
    return yoke_fail(
        context, YOKE_ERROR_INPUT,
        "%s: no known kind of particle file; names end with .txt, .dat or .xyzq (columns), .csv, .xyz, .h5, .h5md or .hdf5 (H5MD), or "
        ".vtu (results for ParaView)",
        path);
}
