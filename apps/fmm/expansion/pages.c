#define _DEFAULT_SOURCE /* madvise */
#include "expansion/pages.h"

#include <sys/mman.h>

/* Whole pages only. */
static void want_huge_pages(double *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t page = (uintptr_t)1 << 21, begin = (uintptr_t)memory, first = (begin + page - 1) / page * page;
    const uintptr_t last = (begin + bytes) / page * page;
    if (last > first) (void)madvise((char *)memory + (first - begin), last - first, MADV_HUGEPAGE); /* advice: all works without it */
#else
    (void)memory;
    (void)bytes;
#endif
}

yoke_status fmm_allocate_large(yoke_context *context, int64_t count, size_t bytes, double **memory)
{
    yoke_status status = yoke_allocate_untouched(context, count, bytes, memory);
    if (!status) want_huge_pages(*memory, (size_t)count * bytes);
    return status;
}
