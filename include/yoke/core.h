/*
 * core.h - status, context, memory, files, the clock, the machine.  Part of yoke.h.
 */
#ifndef YOKE_CORE_H
#define YOKE_CORE_H

#include <stddef.h>
#include <stdint.h>

#define YOKE_VERSION_MAJOR 0
#define YOKE_VERSION_MINOR 1
#define YOKE_VERSION_PATCH 0

/*
 * The number of the binary interface, as in the SONAME libyoke.so.MAJOR.MINOR.
 *
 * Structs that callers allocate (options, reports, problems, infos) have no size member.  Instead yoke_context_create passes this number,
 * and a library with another number returns an error before it reads any struct.  So MINOR (or MAJOR) rises with every release that
 * changes such a struct, an enumeration (tests/base/struct-layout.txt) or a function.  A program built with 0.1.x runs with every other
 * 0.1.y.
 *
 * New members are added at the end, and zero selects the earlier behaviour: use designated initialisers,
 * `(yoke_run_options){.devices = "openmp"}`.
 */
#define YOKE_INTERFACE (1000 * YOKE_VERSION_MAJOR + YOKE_VERSION_MINOR)

#if defined(__GNUC__)
#define YOKE_API __attribute__((visibility("default")))
#define YOKE_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define YOKE_API
#define YOKE_PRINTF(text, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ status */

typedef enum yoke_status {
    YOKE_OK = 0,
    YOKE_ERROR_ARGUMENT = 1,      /* an argument is outside its contract */
    YOKE_ERROR_MEMORY = 2,        /* out of memory */
    YOKE_ERROR_INPUT = 3,         /* bad input */
    YOKE_ERROR_UNAVAILABLE = 4,   /* a device, meter or library is not available */
    YOKE_ERROR_SYSTEM = 5,        /* the operating system refused a request */
    YOKE_ERROR_NUMERIC = 6,       /* a computation broke down */
    YOKE_ERROR_INTERRUPTED = 7,   /* interrupted */
    YOKE_ERROR_INTERNAL = 8,      /* an internal check failed */
    YOKE_ERROR_DEVICE = 9,        /* a device failed while it was working */
    YOKE_ERROR_DEVICE_MEMORY = 10 /* a device's memory is too small */
} yoke_status;                    /* yoke_last_error describes the failure in words */

/* Version of the library in use at run time, "major.minor.patch". */
YOKE_API const char *yoke_version(void);

/* ----------------------------------------------------------------------------------------------- context */

typedef struct yoke_context yoke_context;

typedef enum yoke_log_level { YOKE_LOG_ERROR, YOKE_LOG_WARNING, YOKE_LOG_INFO, YOKE_LOG_DEBUG } yoke_log_level;

/* Receives one line of text without a newline.  Called on the thread that uses the context. */
typedef void yoke_log_function(yoke_log_level level, const char *text, void *user);

/*
 * Functions that replace the allocation of memory.  `allocate` returns `bytes` bytes aligned to 64 bytes, or NULL; `release` frees what
 * `allocate` returned, never NULL.
 */
typedef void *yoke_allocate_function(size_t bytes, void *user);
typedef void yoke_release_function(void *memory, void *user);

/* All members may be zero (NULL): the defaults are aligned allocation of the C library and no log. */
typedef struct yoke_options {
    yoke_allocate_function *allocate; /* set both allocate and release, or neither */
    yoke_release_function *release;
    void *memory_user; /* passed to allocate and release */
    yoke_log_function *log;
    void *log_user;           /* passed to log */
    yoke_log_level log_level; /* lines above this level are not written */
} yoke_options;

/*
 * Creates a context.  options may be NULL; it is copied.
 * yoke_context_create_for is for other languages: interface_number is the YOKE_INTERFACE from which their declarations were made.
 * Errors: ARGUMENT (the program was built for another interface than the library's: the text has both versions; only one of allocate and
 * release is set), MEMORY.  yoke_last_error(NULL) returns the text of such a failure.
 */
YOKE_API yoke_status yoke_context_create_for(int interface_number, const yoke_options *options, yoke_context **context);
static inline yoke_status yoke_context_create(const yoke_options *options, yoke_context **context)
{
    return yoke_context_create_for(YOKE_INTERFACE, options, context);
}
YOKE_API void yoke_context_destroy(yoke_context *context);

/*
 * Text of the last failed call on this context: cause and remedy; "" if no call has failed.  Borrowed until the next failing call.
 * With NULL: text of the last failure on this thread in which no context could be created.
 */
YOKE_API const char *yoke_last_error(const yoke_context *context);

/*
 * Records a failure on the context and returns `status`, so that a function can end with `return yoke_fail(...)`.  It is for applications
 * and authors of devices.  context may be NULL (the text is then kept per thread).
 */
YOKE_API yoke_status yoke_fail(yoke_context *context, yoke_status status, const char *format, ...) YOKE_PRINTF(3, 4);

/* Sends one line to the log callback, if log_level includes the level. */
YOKE_API void yoke_log(yoke_context *context, yoke_log_level level, const char *format, ...) YOKE_PRINTF(3, 4);

/*
 * Some functions write a pointer whose type they do not know.  They take the address of the pointer, `&values`, as a void *, without a
 * cast.  (A cast to void ** would be undefined behaviour: a void * would be written to an object of type double *.)  Macros check that
 * the argument is the address of a pointer.  To pass on such an address, call the function itself:
 * yoke_allocate_memory(...).
 */
#define YOKE_POINTER_AT(address) ((void)sizeof(*(address) == (void *)0), (void *)(address))

/*
 * Allocates memory with the context's allocator: count x size bytes, set to zero, aligned to 64 bytes; *pointer is its address.  A count
 * of 0 gives a valid pointer.
 * Errors: ARGUMENT (negative count), MEMORY (also if count x size overflows); the text has the number of bytes that were requested.
 * Safe to call from several threads only if the replaceable allocator is.
 */
#define yoke_allocate(context, count, size, pointer) yoke_allocate_memory(context, count, size, 0, YOKE_POINTER_AT(pointer))
/* As yoke_allocate, but the memory is not touched: a page is placed near the thread that first writes to it (first touch). */
#define yoke_allocate_untouched(context, count, size, pointer) yoke_allocate_memory(context, count, size, 1, YOKE_POINTER_AT(pointer))
/* The function behind both macros.  untouched: nonzero does not set the memory to zero. */
YOKE_API yoke_status yoke_allocate_memory(yoke_context *context, int64_t count, size_t size, int untouched, void *pointer);
/* Frees memory, and results whose contract names this function, together with all that they point to.  memory may be NULL. */
YOKE_API void yoke_release(yoke_context *context, void *memory);

/*
 * Makes room for one more item of `size` bytes after the first `count` items of an array, which grows if it is full.  In that case the
 * array *pointer (NULL at first) moves to memory for twice *capacity items, or for `first` items if *capacity is 0.  The memory after the
 * old items is zero.  `first` is above 0.
 * Errors: MEMORY; the array is unchanged.
 */
#define yoke_grow(context, pointer, count, capacity, first, size) \
    yoke_grow_memory(context, YOKE_POINTER_AT(pointer), count, capacity, first, size)
static inline void yoke_copy_bytes(void *to, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
}
static inline yoke_status yoke_grow_memory(yoke_context *context, void *pointer, int64_t count, int64_t *capacity, int64_t first,
                                           size_t size)
{
    void *items = NULL, *longer = NULL;
    const int64_t wanted = *capacity > 0 ? 2 * *capacity : first;
    if (count < *capacity) return YOKE_OK;
    const yoke_status status = yoke_allocate(context, wanted, size, &longer);
    if (status != YOKE_OK) return status;
    yoke_copy_bytes(&items, pointer, sizeof items); /* a pointer whose type is not known here, as in yoke_allocate_memory */
    yoke_copy_bytes(longer, items, (size_t)count * size);
    yoke_release(context, items);
    yoke_copy_bytes(pointer, &longer, sizeof longer);
    *capacity = wanted;
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------- files */

/* A file that is being written.  It serves one thread at a time; its context outlives it.  Only yoke_file_create creates one. */
typedef struct yoke_file {
    int descriptor;   /* to write to; owned by the file */
    const char *path; /* of the file that is written, after symbolic links */
} yoke_file;
#define YOKE_FILE_STANDARD_OUTPUT "-"

/*
 * Starts to write the file at `path`.  Data written to its descriptor go to a temporary file in the same directory, and yoke_file_close
 * puts that file in place.  Until then, and if the process ends earlier, an old file stays as it was.  A symbolic link is followed.  A
 * pipe or a device is written to directly, and "-" is standard output.  A temporary file of a process that was killed is removed.
 * file NULL: only checks whether the call would succeed, as far as that can be known; changes nothing.
 * Errors: INPUT (no such directory, not writable, is a directory: path and cause), MEMORY.
 */
YOKE_API yoke_status yoke_file_create(yoke_context *context, const char *path, yoke_file **file);
/*
 * Closes the file.  keep: nonzero puts the file in place, safely on disk; zero discards it, and the old file stays.  `file` (NULL
 * allowed) is freed, also on failure, which leaves the old file.  Errors: SYSTEM.
 */
YOKE_API yoke_status yoke_file_close(yoke_file *file, int keep);

/* -------------------------------------------------------------------------------------------------- clock */

/* Seconds on a monotonic clock with an arbitrary start.  It is the only clock of the library and its applications. */
YOKE_API double yoke_clock_s(void);

/* --------------------------------------------------------------------------------------------- statistics */

/*
 * Quantile of Student's t distribution: t with P(T <= t) = probability, to 1e-12.  0 < probability < 1; degrees of freedom > 0, not
 * necessarily whole; infinity: the normal distribution.  The half width of the 95 % interval of a mean of n values is
 * yoke_student_t(0.975, n - 1) times its standard error.  NaN outside these ranges.
 */
YOKE_API double yoke_student_t(double probability, double degrees);

/* ----------------------------------------------------------------------------------------------- topology */

/* The machine as hwloc reports it, restricted to what this process may use. */
typedef struct yoke_topology {
    int64_t packages, numa_nodes, cores, hardware_threads;
    int64_t l1_bytes, l2_bytes, l3_bytes; /* size of one cache of that level; 0: there is none or it is not known */
    int64_t memory_bytes;
    char processor[128];      /* model name, "" if not known */
    char instruction_set[16]; /* that kernels may use: x86-64, x86-64-v2, x86-64-v3, x86-64-v4, aarch64 or generic */
} yoke_topology;

/* The topology is read at the first call on a context and then kept.  Errors: SYSTEM (hwloc failed). */
YOKE_API yoke_status yoke_topology_get(yoke_context *context, yoke_topology *topology);

/*
 * The machine as a JSON document (UTF-8, with the keys of `yoke info --json` in docs): topology, devices[], devices_not_looked_at[],
 * meters[], clocks[].  only_asked: nonzero leaves out the devices of vendors' drivers (CUDA, OpenCL) that were neither listed nor opened on
 * this context before.  Then no driver is opened, the call takes no time, and devices_not_looked_at names these kinds.
 * The caller frees the text with yoke_release.  Errors: SYSTEM (hwloc failed), MEMORY.
 */
YOKE_API yoke_status yoke_describe(yoke_context *context, int only_asked, char **text);

/* ------------------------------------------------------------------------------------------------- energy */

/* The origin of a number of joules. */
typedef enum yoke_energy_kind {
    YOKE_ENERGY_NONE,      /* not metered */
    YOKE_ENERGY_MEASURED,  /* by the hardware: a counter, or readings of power */
    YOKE_ENERGY_ESTIMATED, /* from powers that the user declared */
    YOKE_ENERGY_SIMULATED, /* of a simulated machine */
    YOKE_ENERGY_REPLAYED   /* from a recording */
} yoke_energy_kind;
/* "none", "measured", "estimated", "simulated", "replayed". */
static inline const char *yoke_energy_kind_text(yoke_energy_kind kind)
{
    return kind == YOKE_ENERGY_MEASURED    ? "measured"
           : kind == YOKE_ENERGY_ESTIMATED ? "estimated"
           : kind == YOKE_ENERGY_SIMULATED ? "simulated"
           : kind == YOKE_ENERGY_REPLAYED  ? "replayed"
                                           : "none";
}

#ifdef __cplusplus
}
#endif

#endif
