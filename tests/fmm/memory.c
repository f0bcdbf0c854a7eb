/* Memory that is got from the system ahead of its use: as much as is used, once, and what it holds stays.  What is there is asked of the system. */
#define _DEFAULT_SOURCE /* mmap, mincore */
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "clouds.h"
#include "expansion/pages.h"
#include "solve/parts.h"
#include "unit.h"

enum { MEGABYTE = 1 << 20, ARENA = 512 * MEGABYTE, MOST_BLOCKS = 4096 };

static char *map(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(memory != MAP_FAILED);
    (void)madvise(memory, bytes,
                  MADV_NOHUGEPAGE); /* else the first use of a small page may get one of 2 MB; advice: not all systems know it */
    return memory;
}

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* Bytes of pages that are there. */
static double there(void *memory, size_t bytes)
{
    const size_t page = page_bytes(), pages = (bytes + page - 1) / page;
    unsigned char *is = malloc(pages);
    size_t count = 0;
    assert_non_null(is);
    assert_int_equal(mincore(memory, bytes, is), 0);
    for (size_t i = 0; i < pages; i++) count += is[i] & 1;
    free(is);
    return (double)(count * page);
}

/* ------------------------------------------------------------------------------------------------------- pages */

static void all_pages_are_got_once(void **state)
{
    const size_t bytes = 37 * MEGABYTE + 5 * page_bytes();
    char *memory = map(bytes);
    fmm_new_memory told = {0};
    (void)state;
    fmm_pages_get(memory, bytes, &told);
    assert_true(told.bytes == (double)bytes && there(memory, bytes) == (double)bytes);
    assert_true(told.first_bytes >= 4 * MEGABYTE && told.first_bytes < (double)bytes / 2);
    assert_true(told.seconds >= told.first_s && told.first_s > 0);
    assert_true(told.predicted_s > 0 && fabs(told.predicted_s * told.first_bytes - told.first_s * told.bytes) < 1e-9 * told.bytes);
    for (size_t i = 0; i < bytes; i += page_bytes()) assert_int_equal(memory[i], 0);
    const fmm_new_memory before = told;
    fmm_pages_get(memory, bytes, &told);
    assert_true(told.bytes == before.bytes && told.predicted_s == before.predicted_s);
    (void)munmap(memory, bytes);
}

/* Only what is missing counts, and what is there stays as it is; parts of pages at both ends are left alone. */
static void what_is_there_stays(void **state)
{
    enum { PAGES = 2048, WRITTEN = 100 };
    const size_t page = page_bytes(), bytes = PAGES * page;
    char *memory = map(bytes);
    fmm_new_memory told = {0};
    (void)state;
    for (size_t i = 0; i < WRITTEN; i++) memset(memory + 7 * i * page, (int)i + 1, page);
    fmm_pages_get(memory + 1, bytes - 2, &told);
    assert_true(told.bytes == (double)((PAGES - WRITTEN - 1) * page)); /* the first is written, the last is not whole */
    for (size_t i = 0; i < WRITTEN; i++)
        for (size_t k = 0; k < page; k++) assert_int_equal(memory[7 * i * page + k], (int)i + 1);
    (void)munmap(memory, bytes);
}

static void nothing_is_told_of_nothing(void **state)
{
    char few[100] = {1};
    fmm_new_memory told = {0};
    (void)state;
    fmm_pages_get(few, sizeof few, &told);
    fmm_pages_get(few, 0, &told);
    assert_true(told.bytes == 0 && told.seconds == 0 && told.predicted_s == 0);
}

/* ------------------------------------------------------------------------------------------------------ an arena */

/* An allocator that keeps what is released: the first place with room. */
typedef struct arena {
    char *memory;
    int count;
    size_t begin[MOST_BLOCKS], end[MOST_BLOCKS]; /* of blocks in use, ascending */
} arena;

static void *take(size_t bytes, void *user)
{
    arena *a = user;
    const size_t some = (bytes + 63) / 64 * 64;
    void *found = NULL;
#pragma omp critical(arena)
    {
        int k = 0;
        size_t at = 0;
        while (k < a->count && a->begin[k] - at < some) at = a->end[k++];
        if (a->count < MOST_BLOCKS && ARENA - at >= some) {
            memmove(a->begin + k + 1, a->begin + k, (size_t)(a->count - k) * sizeof *a->begin);
            memmove(a->end + k + 1, a->end + k, (size_t)(a->count - k) * sizeof *a->end);
            a->begin[k] = at, a->end[k] = at + some;
            a->count++;
            found = a->memory + at;
        }
    }
    return found;
}

static void give(void *memory, void *user)
{
    arena *a = user;
#pragma omp critical(arena)
    {
        int k = 0;
        while (a->memory + a->begin[k] != (char *)memory) k++;
        a->count--;
        memmove(a->begin + k, a->begin + k + 1, (size_t)(a->count - k) * sizeof *a->begin);
        memmove(a->end + k, a->end + k + 1, (size_t)(a->count - k) * sizeof *a->end);
    }
}

/* ------------------------------------------------------------------------------------------------------ a solver */

typedef struct kept {
    arena arena;
    yoke_context *context;
    fmm_particles *particles;
    fmm_field *field;
} kept;

static kept *create(int gradient)
{
    enum { COUNT = 100000 };
    kept *k = calloc(1, sizeof *k);
    assert_non_null(k);
    omp_set_num_threads(2); /* lists, which are not got ahead, are for each thread */
    k->arena.memory = map(ARENA);
    const yoke_options options = {.allocate = take, .release = give, .memory_user = &k->arena};
    assert_int_equal(yoke_context_create(&options, &k->context), YOKE_OK);
    k->particles = cloud_create(k->context, UNIFORM, COUNT);
    assert_int_equal(fmm_field_create(k->context, COUNT, gradient, &k->field), YOKE_OK);
    return k;
}

static void destroy(kept *k)
{
    fmm_field_destroy(k->field);
    fmm_particles_destroy(k->particles);
    yoke_context_destroy(k->context);
    (void)munmap(k->arena.memory, ARENA);
    free(k);
}

/* Of all memory that a call uses first, at least 85 % are got ahead, and no more than is used (lists and tables are not); the next call gets at most a
 * twentieth: on a busy machine it sometimes gets 5 pages, probably because threads allocate their lists in another order. */
static void get_and_compare(fmm_solver_options options)
{
    kept *k = create(options.gradient);
    fmm_solver *solver = NULL;
    fmm_solution found;
    assert_int_equal(fmm_solver_create(k->context, &options, &solver), YOKE_OK);
    const double before = there(k->arena.memory, ARENA);
    assert_int_equal(fmm_solver_run(solver, k->particles, FMM_NEW_PLACES, k->field, &found), YOKE_OK);
    const double grown = there(k->arena.memory, ARENA) - before;
    assert_true(found.memory_bytes > 0.85 * grown && found.memory_bytes <= grown);
    assert_true(found.memory_s > 0 && found.memory_predicted_s > 0);
    for (int64_t i = 0; i < k->particles->count; i++) k->particles->x[i] *= 0.999;
    assert_int_equal(fmm_solver_run(solver, k->particles, FMM_NEW_PLACES, k->field, &found), YOKE_OK);
    assert_true(found.memory_bytes <= 0.05 * grown && (found.memory_bytes > 0) == (found.memory_predicted_s > 0));
    fmm_solver_destroy(solver);
    destroy(k);
}

static void a_call_gets_what_it_uses_once(void **state)
{
    (void)state;
    get_and_compare((fmm_solver_options){.order = 4, .depth = 4, .gradient = true, .keeps_memory = true});
    get_and_compare((fmm_solver_options){.order = 10, .depth = 4, .gradient = false, .keeps_memory = true});
    get_and_compare((fmm_solver_options){.order = 20, .depth = -1, .leaf = 100, .gradient = true, .keeps_memory = true});
    get_and_compare((fmm_solver_options){.request = {.error = 1e-5}, .order = -1, .depth = 4, .gradient = true, .keeps_memory = true});
}

static void nothing_is_known_where_memory_is_not_kept(void **state)
{
    fmm_solver_options options = {.order = 2, .depth = 3};
    kept *k = create(0);
    fmm_solver *solver = NULL;
    fmm_solution found;
    (void)state;
    assert_int_equal(fmm_solver_create(k->context, &options, &solver), YOKE_OK);
    assert_int_equal(fmm_solver_run(solver, k->particles, FMM_NEW_PLACES, k->field, &found), YOKE_OK);
    assert_true(isnan(found.memory_bytes) && isnan(found.memory_s) && isnan(found.memory_predicted_s));
    fmm_solver_destroy(solver);
    destroy(k);
}

/* With the allocator and the settings of the command (apps/fmm/main.c); the allocators of sanitizers and of valgrind do not keep memory. */
static void memory_that_was_given_back_is_new(void **state)
{
    enum { BYTES = 16 * MEGABYTE }; /* each request is smaller than the one before, so that it fits into the same memory */
    yoke_context *context = NULL;
    fmm_new_memory told = {0}, again = {0}, later = {0};
    (void)state;
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_MAX, 0);
    (void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    assert_int_equal(fmm_pages_get_ahead(context, 1, 4 * BYTES, &told), YOKE_OK);
    assert_int_equal(fmm_pages_get_ahead(context, 1, 2 * BYTES, &again), YOKE_OK);
    fmm_pages_give_back();
    assert_int_equal(fmm_pages_get_ahead(context, 1, BYTES, &later), YOKE_OK);
    yoke_context_destroy(context);
    if (again.bytes > 0) skip();
    assert_true(told.bytes > 3 * BYTES && later.bytes > 0.9 * BYTES);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(all_pages_are_got_once),
    cmocka_unit_test(what_is_there_stays),
    cmocka_unit_test(nothing_is_told_of_nothing),
    cmocka_unit_test(a_call_gets_what_it_uses_once),
    cmocka_unit_test(nothing_is_known_where_memory_is_not_kept),
    cmocka_unit_test(memory_that_was_given_back_is_new),
};

UNIT_MAIN(tests, NULL, NULL)
