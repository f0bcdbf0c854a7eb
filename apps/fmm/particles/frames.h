/*
 * frames.h - which frames of a file are worked on.
 */
#ifndef FMM_PARTICLES_FRAMES_H
#define FMM_PARTICLES_FRAMES_H

#include "yoke/yoke.h"

/*
 * "all", "A:B" (from A to B, both of them) or "A", of a file of `frames`, which are numbered from 1.
 * Errors: INPUT (something else, no such frames, or none).
 */
yoke_status fmm_frames_parse(yoke_context *context, const char *text, int64_t frames, int64_t *first, int64_t *last);

#endif
