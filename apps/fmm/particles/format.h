/*
 * format.h - formats of particle files, determined by their file name extensions.
 */
#ifndef FMM_PARTICLES_FORMAT_H
#define FMM_PARTICLES_FORMAT_H

#include "yoke/yoke.h"

typedef enum fmm_format {
    FMM_TEXT, /* .txt, .dat, .xyzq, no extension, /dev/stdin: columns separated by blanks */
    FMM_CSV,  /* .csv: columns separated by commas */
    FMM_XYZ,  /* .xyz, .extxyz */
    FMM_H5MD, /* .h5, .h5md, .hdf5 */
    FMM_VTU   /* .vtu: results only */
} fmm_format;

/* The format of a file.  Errors: INPUT (there is no such format; the message lists those there are). */
yoke_status fmm_format_of(yoke_context *context, const char *path, fmm_format *format);

#endif
