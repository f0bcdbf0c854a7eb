/*
 * inputs.h - matrices of a command line: files, or random numbers.
 */
#ifndef DENSE_INPUTS_H
#define DENSE_INPUTS_H

#include "common/console/terminal.h"
#include "matrix/npy.h"

/* Parses --precision; `kind` is not changed if the word is NULL.  Errors: INPUT. */
yoke_status dense_input_precision(yoke_context *context, const char *word, dense_precision *kind);

/*
 * Opens a file whose name determines its format: .npy, which states its sizes, or raw, with the given sizes.  Sizes that are not 0 must be
 * those of the file.
 * Errors: INPUT (also if a raw file has no sizes; the message explains how to give them).
 */
yoke_status dense_input_open(yoke_context *context, const char *path, int64_t rows, int64_t columns, dense_precision precision,
                             dense_npy *file);

/* Fills a new matrix with random numbers that depend on the seed.  Errors: INPUT, MEMORY. */
yoke_status dense_input_random(yoke_context *context, int64_t rows, int64_t columns, dense_precision precision, uint64_t seed,
                               dense_matrix *matrix);

/* Reads an open file and shows progress.  Errors: INPUT, MEMORY. */
yoke_status dense_input_read(app_terminal *terminal, dense_npy *file, dense_precision precision, dense_matrix *matrix);

#endif
