/*
 * format.h - kinds of particle files, told by the end of their names.
 */
#ifndef FMM_PARTICLES_FORMAT_H
#define FMM_PARTICLES_FORMAT_H

#include "yoke/yoke.h"

typedef enum fmm_format {
    FMM_TEXT, /* .txt, .dat, .xyzq, no end, /dev/stdin: columns with blanks between them */
    FMM_CSV,  /* .csv: columns with commas between them */
    FMM_XYZ,  /* .xyz, .extxyz */
    FMM_H5MD, /* .h5, .h5md, .hdf5 */
    FMM_VTU   /* .vtu: results only */
} fmm_format;

/* Errors: INPUT (no such format: which there are). */
yoke_status fmm_format_of(yoke_context *context, const char *path, fmm_format *format);

#endif
