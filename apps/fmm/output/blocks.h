/*
 * blocks.h - texts about many particles, which all threads print.
 */
#ifndef FMM_OUTPUT_BLOCKS_H
#define FMM_OUTPUT_BLOCKS_H

#include <stdint.h>
#include <stdio.h>

#include "near/stop.h"

enum { FMM_BLOCK = 4096 }; /* particles of a block */

/* Prints the particles first ... last - 1, a block.  `first` is a multiple of FMM_BLOCK.  Called by several threads. */
typedef void fmm_block_printer(FILE *out, const void *data, int64_t first, int64_t last);

/* Prints `count` particles to `out`, in their order.  stop: may be NULL.  Errors: MEMORY, and INTERRUPTED if `stop` ends it. */
yoke_status fmm_print_blocks(yoke_context *context, FILE *out, int64_t count, fmm_block_printer *print, const void *data,
                             const fmm_stop *stop);

#endif
