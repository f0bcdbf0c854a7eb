/*
 * pages.h - memory of many megabytes: expansions and plane waves, and whatever is asked of the system ahead of its use.
 */
#ifndef FMM_EXPANSION_PAGES_H
#define FMM_EXPANSION_PAGES_H

#include "yoke/core.h"

/*
 * As yoke_allocate_untouched, of items of so many bytes, in pages of 2 MB where the system has them: these come in less time, and so do their addresses;
 * in small ones where it gives free ones of 2 MB back to the host of a virtual machine (free page reporting).  Errors: MEMORY.
 */
yoke_status fmm_allocate_large(yoke_context *context, int64_t count, size_t bytes, double **memory);

/* Memory that the system gave ahead of its use.  The seconds of its first part tell what the rest takes. */
typedef struct fmm_new_memory {
    double bytes, seconds;       /* of pages that were not there yet; of all calls */
    double first_bytes, first_s; /* the same of what was asked for first; 0: nothing was */
    double predicted_s;          /* of all, by the first part */
} fmm_new_memory;

/*
 * Gets the pages of memory that are not there yet, by all threads; what the memory holds stays.  *told is added to.  Where the system does not say which are there,
 * nothing is done.  Later use does not stop for the system then: the first use of a page takes many times as long as another one.
 */
void fmm_pages_get(void *memory, size_t bytes, fmm_new_memory *told);

/*
 * The same for memory that will be allocated: so many arrays of `bytes`, which are released again.  Of use where the allocator keeps what is released (malloc of the
 * GNU C library, with what main.c tells it).  Errors: MEMORY.
 */
yoke_status fmm_pages_get_ahead(yoke_context *context, int arrays, size_t bytes, fmm_new_memory *told);

#endif
