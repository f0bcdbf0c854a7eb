/*
 * frames.h - which frames of a file are processed.
 */
#ifndef FMM_PARTICLES_FRAMES_H
#define FMM_PARTICLES_FRAMES_H

#include "yoke/yoke.h"

/*
 * Reads "all", "A:B" (from A to B, inclusive) or "A", for a file of `frames` frames, which are numbered from 1.
 * Errors: INPUT (any other text, no such frames, or no frames at all).
 */
yoke_status fmm_frames_parse(yoke_context *context, const char *text, int64_t frames, int64_t *first, int64_t *last);

#endif
