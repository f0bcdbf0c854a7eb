/*
 * pages.h - memory of many megabytes: for expansions and plane waves, and memory whose pages are requested from the system before its use.
 */
#ifndef FMM_EXPANSION_PAGES_H
#define FMM_EXPANSION_PAGES_H

#include "yoke/core.h"

/*
 * As yoke_allocate_untouched, for `count` items of `bytes` bytes, in pages of 2 MB if the system has them: these cause fewer page faults,
 * and their addresses are translated faster.  Small pages are used if the system returns free pages of 2 MB to the host of a virtual
 * machine (free page reporting).
 * Errors: MEMORY.
 */
yoke_status fmm_allocate_large(yoke_context *context, int64_t count, size_t bytes, double **memory);

/* Memory that was requested from the system before its use.  The time of the rest is predicted from the time of its first part. */
typedef struct fmm_new_memory {
    double bytes, seconds;       /* of pages that were not present yet; sums over all calls */
    double first_bytes, first_s; /* the same for the first part; 0: nothing was requested */
    double predicted_s;          /* seconds of all bytes, predicted from the first part */
} fmm_new_memory;

/*
 * Requests those pages of the memory that are not present yet, with all threads.  The contents of the memory stay.  Bytes and seconds are
 * added to *told.  If the system does not report which pages are present, nothing is done.  Later use then causes no page faults: the first
 * use of a page takes many times as long as a later one.
 */
void fmm_pages_get(void *memory, size_t bytes, fmm_new_memory *told);

/*
 * The same for memory that will be allocated later: `arrays` arrays of `bytes`, which are allocated and released again.  This is useful if
 * the allocator keeps released memory (malloc of the GNU C library, with the settings of main.c).  Errors: MEMORY.
 */
yoke_status fmm_pages_get_ahead(yoke_context *context, int arrays, size_t bytes, fmm_new_memory *told);

/* Returns to the system what was released and is kept by the allocator.  This does nothing without the GNU C library. */
void fmm_pages_give_back(void);

#endif
