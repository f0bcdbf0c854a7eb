#define _DEFAULT_SOURCE /* madvise, mincore */
#include "expansion/pages.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { MEGABYTES_2 = 1 << 21, MAX_ARRAYS = 64 };

#ifdef MADV_HUGEPAGE
/*
 * Whether the system of this virtual machine returns free blocks of 2 MB to its host.  Requesting such a block again takes many times as
 * long as pages of 2 MB save, whereas small pages are taken from memory that the system still has (notes/fmm-depth.md).
 */
static bool gives_memory_back(void)
{
    FILE *file = fopen("/sys/module/page_reporting/parameters/page_reporting_order", "r");
    int order = -1;
    if (!file) return false;
    if (fscanf(file, "%d", &order) != 1) order = -1;
    (void)fclose(file);
    return order >= 0; /* -1: it returns none */
}
#endif

/* Requests pages of 2 MB for those that lie completely in the memory. */
static void want_huge_pages(const void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t page = MEGABYTES_2, begin = (uintptr_t)memory, first = (begin + page - 1) / page * page;
    const uintptr_t last = (begin + bytes) / page * page;
    /* only advice: a failure does not matter */
    if (last > first && !gives_memory_back()) (void)madvise((char *)first, last - first, MADV_HUGEPAGE);
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

/* ------------------------------------------------------------------------------------------------------ new pages */

#ifdef __linux__

enum { LEAST_PAGE = 1 << 12, MOST_PAGES = MEGABYTES_2 / LEAST_PAGE };

/* Writes to each page without changing it. */
static void touch(char *first, const char *last, size_t page)
{
    for (volatile char *at = first; at < last; at += page) *at = *at;
}

/* Requests whole pages, at most 2 MB.  Returns the number of bytes that were not present. */
static size_t get_piece(char *first, char *last, size_t page)
{
    unsigned char is_there[MOST_PAGES];
    size_t missing = 0;
    if (mincore(first, (size_t)(last - first), is_there)) return 0;
    for (size_t i = 0; i < (size_t)(last - first) / page; i++) missing += is_there[i] & 1 ? 0 : page;
    if (!missing) return 0;
#ifdef MADV_POPULATE_WRITE
    if (!madvise(first, (size_t)(last - first), MADV_POPULATE_WRITE)) return missing;
#endif
    touch(first, last, page); /* systems before Linux 5.14 */
    return missing;
}

/* Requests whole pages, in pieces that end at the boundaries of pages of 2 MB.  Returns the number of bytes that were not present. */
static double get(char *first, char *last, size_t page)
{
    const uintptr_t begin = (uintptr_t)first / MEGABYTES_2, end = ((uintptr_t)last + MEGABYTES_2 - 1) / MEGABYTES_2;
    size_t missing = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : missing)
    for (uintptr_t k = begin; k < end; k++) {
        char *const from = (char *)(k * MEGABYTES_2), *const to = (char *)((k + 1) * MEGABYTES_2);
        missing += get_piece(from > first ? from : first, to < last ? to : last, page);
    }
    return (double)missing;
}

/* The end of the first part, from which the time of the rest is predicted: an eighth, but at least 8 MB. */
static char *end_of_first(char *first, char *last)
{
    const size_t least = 4 * MEGABYTES_2, part = (size_t)(last - first) / 8, some = part > least ? part : least;
    return (size_t)(last - first) > some ? first + some / MEGABYTES_2 * MEGABYTES_2 : last;
}

void fmm_pages_get(void *memory, size_t bytes, fmm_new_memory *told)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (page < LEAST_PAGE || page > MEGABYTES_2) return;
    char *first = (char *)(((uintptr_t)memory + page - 1) / page * page), *const last = (char *)(((uintptr_t)memory + bytes) / page * page);
    if (first >= last) return;
    const double begin_s = yoke_clock_s();
    double missing = 0;
    if (!(told->first_bytes > 0)) {
        char *const end = end_of_first(first, last);
        missing = told->first_bytes = get(first, end, page);
        told->first_s = yoke_clock_s() - begin_s;
        first = end;
    }
    if (first < last) missing += get(first, last, page);
    told->bytes += missing;
    told->seconds += yoke_clock_s() - begin_s;
    if (told->first_bytes > 0) told->predicted_s = told->first_s * told->bytes / told->first_bytes;
}

#else

void fmm_pages_get(void *memory, size_t bytes, fmm_new_memory *told)
{
    (void)memory;
    (void)bytes;
    (void)told;
}

#endif

/* Requests the memory of all arrays.  Adjacent arrays are processed as one piece. */
static void get_all(int arrays, char *const *array, size_t bytes, fmm_new_memory *told)
{
    enum { MOST_BETWEEN = 1 << 8 };
    for (int k = 0, first = 0; k < arrays; k++) {
        const bool goes_on = k + 1 < arrays && array[k + 1] >= array[k] + bytes && array[k + 1] <= array[k] + bytes + MOST_BETWEEN;
        if (goes_on) continue;
        fmm_pages_get(array[first], (size_t)(array[k] - array[first]) + bytes, told);
        first = k + 1;
    }
}

yoke_status fmm_pages_get_ahead(yoke_context *context, int arrays, size_t bytes, fmm_new_memory *told)
{
    char *array[MAX_ARRAYS] = {NULL};
    yoke_status status = YOKE_OK;
    if (arrays > MAX_ARRAYS) return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%d arrays; there may be at most %d", arrays, MAX_ARRAYS);
    for (int k = 0; k < arrays && !status; k++) status = yoke_allocate_untouched(context, 1, bytes, &array[k]);
    if (!status) get_all(arrays, array, bytes, told);
    for (int k = 0; k < arrays; k++) yoke_release(context, array[k]);
    return status;
}

void fmm_pages_give_back(void)
{
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}
