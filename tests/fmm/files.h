/*
 * files.h - one frame read or written at once.
 */
#ifndef FMM_TESTS_FILES_H
#define FMM_TESTS_FILES_H

#include "output/write.h"
#include "particles/read.h"

static inline yoke_status read_file(yoke_context *context, const char *path, int64_t frame, fmm_particles **particles, int64_t *frames)
{
    fmm_reader *reader = NULL;
    yoke_status status = fmm_reader_open(context, path, &reader);
    if (!status) status = fmm_reader_read(reader, frame, particles);
    if (!status) *frames = fmm_reader_frames(reader);
    fmm_reader_close(reader);
    return status;
}

static inline yoke_status write_file(yoke_context *context, const char *path, const fmm_particles *particles, const fmm_field *field)
{
    fmm_writer *writer = NULL;
    yoke_status status = fmm_writer_create(context, path, 1, true, NULL, &writer);
    if (status) return status;
    status = fmm_writer_add(writer, particles, field);
    if (!status) return fmm_writer_commit(writer);
    fmm_writer_abandon(writer);
    return status;
}

#endif
