/*
 * pages.h - memory of many megabytes: expansions and plane waves.
 */
#ifndef FMM_EXPANSION_PAGES_H
#define FMM_EXPANSION_PAGES_H

#include "yoke/core.h"

/*
 * As yoke_allocate_untouched, of items of so many bytes, in pages of 2 MB where the system has them: these come in less time, and so do their addresses.
 * Errors: MEMORY.
 */
yoke_status fmm_allocate_large(yoke_context *context, int64_t count, size_t bytes, double **memory);

#endif
