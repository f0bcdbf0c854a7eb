/*
 * yoke.h - the public interface of libyoke.
 *
 * Conventions, stated once:
 *   - Every call returns a yoke_status, YOKE_OK (0) on success; the exceptions return what cannot fail.
 *     Output arguments are written only on success.
 *   - `create` hands an object to the caller, who gives it back with the matching `destroy`, which takes NULL.
 *     A returned `const char *` is borrowed.
 *   - Quantities are SI doubles with the unit in the name (_s, _j, _w, _hz, _m, _pa); counts are int64_t; ranges are half-open.
 *     NaN means "not known" or "not metered", never zero.
 *   - The library never aborts, exits or prints.  It has no global state.  A context serves one thread at a time.
 */
#ifndef YOKE_YOKE_H
#define YOKE_YOKE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define YOKE_VERSION_MAJOR 0
#define YOKE_VERSION_MINOR 1
#define YOKE_VERSION_PATCH 0

#if defined(__GNUC__)
#define YOKE_API __attribute__((visibility("default")))
#define YOKE_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define YOKE_API
#define YOKE_PRINTF(text, first)
#endif

/* ------------------------------------------------------------------------------------------------ status */

/* One list of codes and texts: X(name, value, text). */
#define YOKE_STATUS_LIST(X)                                                 \
    X(YOKE_OK, 0, "success")                                                \
    X(YOKE_ERROR_ARGUMENT, 1, "an argument is outside its contract")        \
    X(YOKE_ERROR_MEMORY, 2, "out of memory")                                \
    X(YOKE_ERROR_INPUT, 3, "bad input")                                     \
    X(YOKE_ERROR_UNAVAILABLE, 4, "a device, meter or library is not there") \
    X(YOKE_ERROR_SYSTEM, 5, "the operating system refused a request")       \
    X(YOKE_ERROR_NUMERIC, 6, "a computation broke down")                    \
    X(YOKE_ERROR_INTERRUPTED, 7, "interrupted")                             \
    X(YOKE_ERROR_INTERNAL, 8, "an internal check failed")                   \
    X(YOKE_ERROR_DEVICE, 9, "a device failed while it was working")         \
    X(YOKE_ERROR_DEVICE_MEMORY, 10, "a device's memory is too small")

typedef enum yoke_status {
#define YOKE_STATUS_ENUM(name, value, text) name = value,
    YOKE_STATUS_LIST(YOKE_STATUS_ENUM)
#undef YOKE_STATUS_ENUM
} yoke_status;

/* The text of a status; "unknown status" for a value outside the list.  Never NULL. */
YOKE_API const char *yoke_status_text(yoke_status status);

/* Version of the library that is running, "major.minor.patch". */
YOKE_API const char *yoke_version(void);

/* ----------------------------------------------------------------------------------------------- context */

typedef struct yoke_context yoke_context;

typedef enum yoke_log_level { YOKE_LOG_ERROR, YOKE_LOG_WARNING, YOKE_LOG_INFO, YOKE_LOG_DEBUG } yoke_log_level;

/* Receives one line of text without a newline.  Called on the thread that uses the context. */
typedef void yoke_log_function(yoke_log_level level, const char *text, void *user);

/* Replaceable memory.  `allocate` returns `bytes` bytes aligned to 64 bytes, or NULL; `release` takes what `allocate` gave, never NULL. */
typedef void *yoke_allocate_function(size_t bytes, void *user);
typedef void yoke_release_function(void *memory, void *user);

/* All members may be zero (NULL): the defaults are aligned allocation of the C library and no log. */
typedef struct yoke_options {
    yoke_allocate_function *allocate; /* both or none of allocate, release                                       */
    yoke_release_function *release;
    void *memory_user; /* handed to allocate and release                                                          */
    yoke_log_function *log;
    void *log_user;           /* handed to log                                                                    */
    yoke_log_level log_level; /* lines above this level are not made                                               */
} yoke_options;

/*
 * Creates a context.  options may be NULL; it is copied.
 * Errors: ARGUMENT (only one of allocate, release), MEMORY.  The text of the failure is then yoke_last_error(NULL).
 */
YOKE_API yoke_status yoke_context_create(const yoke_options *options, yoke_context **context);
YOKE_API void yoke_context_destroy(yoke_context *context);

/*
 * Text of the last failed call on this context: cause and remedy; "" when none failed.  Borrowed until the next failing call.
 * With NULL: of the last failure on this thread where no context could be made.
 */
YOKE_API const char *yoke_last_error(const yoke_context *context);

/*
 * Records a failure on the context (for applications and authors of devices, so that there is one place for error texts) and returns
 * `status`, so that `return yoke_fail(...)` is the way to fail.  context may be NULL (text is kept per thread).
 */
YOKE_API yoke_status yoke_fail(yoke_context *context, yoke_status status, const char *format, ...) YOKE_PRINTF(3, 4);

/* Sends one line to the log callback, if the level asks for it. */
YOKE_API void yoke_log(yoke_context *context, yoke_log_level level, const char *format, ...) YOKE_PRINTF(3, 4);

/*
 * Memory through the context's allocator: count x size bytes, set to zero, aligned to 64 bytes.  A count of 0 gives a valid pointer.
 * Errors: ARGUMENT (negative count), MEMORY (also when count x size overflows); the text names the bytes asked for.
 * Safe to call from several threads only if the replaceable allocator is.
 */
YOKE_API yoke_status yoke_allocate(yoke_context *context, int64_t count, size_t size, void **memory);
/* As yoke_allocate, but the memory is not touched: the thread that writes a page first gets it near (first touch). */
YOKE_API yoke_status yoke_allocate_untouched(yoke_context *context, int64_t count, size_t size, void **memory);
YOKE_API void yoke_release(yoke_context *context, void *memory); /* NULL allowed */

/* -------------------------------------------------------------------------------------------------- clock */

/* Seconds on a monotonic clock with an arbitrary start.  The only clock of the library and its applications. */
YOKE_API double yoke_clock_s(void);

/* ----------------------------------------------------------------------------------------------- topology */

/* The machine as hwloc sees it, restricted to what this process may use. */
typedef struct yoke_topology {
    int64_t packages, numa_nodes, cores, hardware_threads;
    int64_t l1_bytes, l2_bytes, l3_bytes; /* of one cache of that level; 0: there is none or it is not known */
    int64_t memory_bytes;
    char processor[128];      /* model name, "" if not known */
    char instruction_set[16]; /* x86-64, x86-64-v2, x86-64-v3, x86-64-v4, aarch64 or generic: what kernels may use */
} yoke_topology;

/* Read at the first call on a context and then kept.  Errors: SYSTEM (hwloc failed). */
YOKE_API yoke_status yoke_topology_get(yoke_context *context, yoke_topology *topology);

/*
 * Binds the calling thread to core number `core` (0 <= core < topology.cores, in hwloc's logical order).
 * Errors: ARGUMENT (no such core), SYSTEM (the system refuses).
 */
YOKE_API yoke_status yoke_bind_thread(yoke_context *context, int64_t core);

/*
 * The machine as a JSON document (UTF-8, the keys of `yoke info --json` in docs): topology, devices[], meters[], clocks[].
 * The caller gives the text back with yoke_release.  Errors: SYSTEM (hwloc failed), MEMORY.
 */
YOKE_API yoke_status yoke_describe(yoke_context *context, char **text);

/* ----------------------------------------------------------------------------------------------- devices */

/*
 * Door 2: memory, queues and programs, the same on every device.
 *
 * A device has a name: "openmp" (all cores), "openmp:A-B" (cores A to B inclusive in hwloc's logical order, threads bound to them),
 * "opencl:P.D" (platform and device of that platform), "cuda:N", "sim:NAME" (a device of the machine file, see yoke_machine_read), or a
 * name of a backend that the application registered (yoke/backend.h).  GPUs may also be named by PCI address ("pci:0000:3b:00.0"), which is
 * how two interfaces to one card are matched: never by number.
 *
 * After a call on a device failed with YOKE_ERROR_DEVICE the device is lost: every later call on it but `destroy` and `close` fails in the
 * same way, without touching the driver where that could hang.
 *
 * One thread at a time uses a device and what was made on it; different devices may be used by different threads at once only if each has
 * a context of its own.
 */
typedef struct yoke_device yoke_device;

typedef enum yoke_device_class { YOKE_DEVICE_CPU, YOKE_DEVICE_GPU, YOKE_DEVICE_OTHER } yoke_device_class;

typedef struct yoke_device_info {
    char name[64];         /* as above */
    char kind[16];         /* the backend: "openmp", "opencl", "cuda", "sim" */
    char description[256]; /* model, units, driver */
    char driver[128];      /* version of driver and interface; "" where there is none */
    char pci[16];          /* "0000:3b:00.0"; "" if not known */
    yoke_device_class device_class;
    int usable;
    char why_not[256]; /* "" if usable */
    char remedy[256];  /* what to do about it; "" if usable */
    int64_t memory_bytes, compute_units;
    int double_precision; /* 0: kernels cannot use double */
} yoke_device_info;

/*
 * All devices that the backends find, and one entry per backend that finds none, named by its kind, with the reason and the remedy.
 * *list is given back with yoke_release.  Errors: MEMORY, SYSTEM.
 */
YOKE_API yoke_status yoke_devices_list(yoke_context *context, yoke_device_info **list, int64_t *count);

/*
 * Opens a device by name.  Errors: INPUT (no such name; says which there are), UNAVAILABLE (there, but not usable: why, remedy), DEVICE,
 * MEMORY.
 */
YOKE_API yoke_status yoke_device_open(yoke_context *context, const char *name, yoke_device **device);
/* Everything made on the device must have been given back before. */
YOKE_API void yoke_device_close(yoke_device *device);
/* Borrowed until the device is closed. */
YOKE_API const yoke_device_info *yoke_device_describe(const yoke_device *device);
/* Free memory at this moment and all, bytes.  Where a driver does not tell what is free: all that yoke has not taken itself. */
YOKE_API yoke_status yoke_device_memory(yoke_device *device, int64_t *free_bytes, int64_t *all_bytes);
/* Seconds on the clock that the device's work takes its time from: yoke_clock_s, or the virtual clock of a simulated machine. */
YOKE_API double yoke_device_clock_s(const yoke_device *device);

/* Host memory that the device can copy from and to fast (pinned where there is such a thing), aligned to 64 bytes.  Errors: MEMORY, DEVICE. */
YOKE_API yoke_status yoke_host_allocate(yoke_device *device, int64_t bytes, void **memory);
YOKE_API void yoke_host_release(yoke_device *device, void *memory);

/* Device memory, not initialised.  Errors: ARGUMENT (negative), DEVICE_MEMORY (the text says how much is free), DEVICE. */
typedef struct yoke_buffer yoke_buffer;
YOKE_API yoke_status yoke_buffer_create(yoke_device *device, int64_t bytes, yoke_buffer **buffer);
YOKE_API void yoke_buffer_destroy(yoke_buffer *buffer);

/*
 * A queue does its operations in order; queues of one device run beside each other where the device can.  Operations return at once where
 * the device works by itself; host memory handed over must stay valid (and, for reads, is not filled) until the queue is finished or an
 * event recorded after the operation is reached.
 * YOKE_QUEUE_INLINE: operations of an openmp device are done by the calling thread (with the device's threads) before the call returns;
 * without it such a device has a thread of its own.  Other devices ignore it.
 */
typedef struct yoke_queue yoke_queue;
typedef struct yoke_event yoke_event;
enum { YOKE_QUEUE_INLINE = 1 };
YOKE_API yoke_status yoke_queue_create(yoke_device *device, int flags, yoke_queue **queue);
/* Finishes the queue first, unless the device is lost. */
YOKE_API void yoke_queue_destroy(yoke_queue *queue);
YOKE_API yoke_status yoke_queue_write(yoke_queue *queue, yoke_buffer *to, int64_t offset, int64_t bytes, const void *from);
YOKE_API yoke_status yoke_queue_read(yoke_queue *queue, const yoke_buffer *from, int64_t offset, int64_t bytes, void *to);
/* Sets bytes to zero. */
YOKE_API yoke_status yoke_queue_clear(yoke_queue *queue, yoke_buffer *buffer, int64_t offset, int64_t bytes);
YOKE_API yoke_status yoke_queue_finish(yoke_queue *queue);

/* Events belong to a device and are recorded again and again.  A wait for an event that was never recorded returns at once. */
YOKE_API yoke_status yoke_event_create(yoke_device *device, yoke_event **event);
YOKE_API void yoke_event_destroy(yoke_event *event);
YOKE_API yoke_status yoke_queue_record(yoke_queue *queue, yoke_event *event);
/* Later operations of the queue wait for the event, which may belong to another queue of the same device. */
YOKE_API yoke_status yoke_queue_wait(yoke_queue *queue, yoke_event *event);
YOKE_API yoke_status yoke_event_wait(yoke_event *event);
/* Seconds on the device's clock between two recorded events; waits for both.  Errors: ARGUMENT (not recorded), DEVICE. */
YOKE_API yoke_status yoke_event_elapsed_s(yoke_event *begin, yoke_event *end, double *seconds);

/*
 * Programs.  Kernels are written once in the dialect of yoke/dialect.h, a common subset of C99, OpenCL C and CUDA C++.  Devices that compile
 * (opencl, cuda) get the texts, in order, behind that header's text, with the options; devices that are the host (openmp, sim) get the
 * table of the same kernels compiled as C.  A compiled program is kept on disk ($YOKE_CACHE, else $XDG_CACHE_HOME/yoke, else
 * ~/.cache/yoke; YOKE_CACHE set to "" switches it off), keyed by texts, options, device and driver.
 */
typedef struct yoke_group { /* what a kernel knows of its launch on the host */
    int64_t index, count;
} yoke_group;
typedef void yoke_host_kernel_function(const yoke_group *group, void *const *arguments);
typedef struct yoke_host_kernel {
    const char *name;
    yoke_host_kernel_function *function;
} yoke_host_kernel;
typedef struct yoke_program_source {
    const char *name; /* for messages */
    const char *const *texts;
    int64_t num_texts;
    const char *options;                  /* "-DNAME=VALUE ...", may be NULL; the same for all compilers */
    const yoke_host_kernel *host_kernels; /* may be NULL: then the program cannot run on host devices */
    int64_t num_host_kernels;
} yoke_program_source;
typedef struct yoke_program yoke_program;
typedef struct yoke_function yoke_function; /* one kernel of a program; belongs to it */
/* Errors: INPUT (a text does not compile: the compiler's first messages; the device is not lost), UNAVAILABLE (no host kernels), DEVICE, MEMORY. */
YOKE_API yoke_status yoke_program_create(yoke_device *device, const yoke_program_source *source, yoke_program **program);
YOKE_API void yoke_program_destroy(yoke_program *program);
/* Errors: ARGUMENT (no kernel of that name; says which there are where the device can tell). */
YOKE_API yoke_status yoke_program_function(yoke_program *program, const char *name, yoke_function **function);

typedef enum yoke_argument_kind {
    YOKE_ARGUMENT_BUFFER,
    YOKE_ARGUMENT_INT32,
    YOKE_ARGUMENT_INT64,
    YOKE_ARGUMENT_FLOAT,
    YOKE_ARGUMENT_DOUBLE
} yoke_argument_kind;
typedef struct yoke_argument {
    yoke_argument_kind kind;
    union {
        yoke_buffer *buffer; /* NULL: a null pointer */
        int32_t int32;
        int64_t int64;
        float float32;
        double float64;
    } value;
} yoke_argument;

/*
 * Starts `groups` groups of `group_size` items (on the host devices a group is always one item: kernels are right for any group size).
 * units: what the work is counted in (elements, rows), for simulated devices, which take time by it; 0 for work beside the units.
 * Errors: ARGUMENT (number or kind of arguments, where the device can tell; group_size beyond the device), DEVICE.
 */
YOKE_API yoke_status yoke_queue_launch(yoke_queue *queue, yoke_function *function, int64_t groups, int64_t group_size, int64_t units,
                                       const yoke_argument *arguments, int64_t num_arguments);

/* Runs a host function on the threads of an openmp (or simulated CPU) device: inside, OpenMP's parallel regions use the device's cores. */
typedef void yoke_task_function(void *user);
/* Errors: UNAVAILABLE (the device cannot run host functions), DEVICE. */
YOKE_API yoke_status yoke_queue_call(yoke_queue *queue, yoke_task_function *task, void *user, int64_t units);

/*
 * y = alpha A x + beta y with the vendor's BLAS on the device; A symmetric, packed lower triangle by rows (= upper by columns), order n, from
 * byte offset `a_offset` of a, and so on.  For comparisons.  Errors: UNAVAILABLE (the device has no BLAS here: why, remedy), DEVICE.
 */
YOKE_API yoke_status yoke_queue_dspmv(yoke_queue *queue, int64_t n, double alpha, const yoke_buffer *a, int64_t a_offset,
                                      const yoke_buffer *x, int64_t x_offset, double beta, yoke_buffer *y, int64_t y_offset);

/*
 * Reads a machine file (JSON, docs/machine-file.md), whose devices can then be opened as "sim:NAME": each has a speed function, copy times,
 * noise and faults, computes what it is asked to on this host, and takes the time that the file says on a virtual clock.
 * A context has one machine; a second call fails.  Errors: INPUT (file, key, what was expected), ARGUMENT, MEMORY.
 */
YOKE_API yoke_status yoke_machine_read(yoke_context *context, const char *path);

/* ---------------------------------------------------------------------------------------------- balancer */

/*
 * Door 1: "I run my own code on my own devices.  Here are n units and what each device took; tell me the next shares."
 *
 * Each round the caller works on units[i] units on device i and reports the seconds; the balancer answers with the units of the next round,
 * which may have another total.  No memory is allocated after creation but in yoke_balancer_explain.  Totals are at most 2^53.
 * A balancer serves one thread at a time, and its context outlives it.
 */
typedef struct yoke_balancer yoke_balancer;

typedef enum yoke_balance_policy {
    YOKE_BALANCE_ADAPTIVE, /* functional performance models that know about noise (docs/methods-balance.md) */
    YOKE_BALANCE_PAPER,    /* constant models: Lang and Ruenger 2014, eq. 26, from the last round alone */
    YOKE_BALANCE_FIXED     /* the initial shares for ever */
} yoke_balance_policy;

typedef struct yoke_balancer_options {
    int64_t devices; /* 1 .. YOKE_BALANCER_MOST_DEVICES */
    yoke_balance_policy policy;
    const double *shares;   /* [devices] initial shares, >= 0, sum 1 to 1e-9; NULL: equal */
    const double *start_s;  /* [devices] a guess of seconds per unit to start from instead of shares (from a store); NULL or NaNs: none */
    const int64_t *most;    /* [devices] units that fit on the device; NULL: no limit */
    int64_t rounds;         /* how many rounds are likely still to come, for weighing a move's cost; 0: unknown (then 10) */
    double calls_per_round; /* products per round: seconds reported are per call, data is moved once per round; 0: 1 */
    int keep_all;           /* nonzero: no device is dropped because it does not pay */
} yoke_balancer_options;

/* What device i did in a round.  NaN: not known. */
typedef struct yoke_share_report {
    int64_t units;
    double seconds; /* per call for the units it had, at most 1e12; NaN (or 0) if it had none or nothing was measured */
    double moved_s; /* seconds that moving data of `moved_units` units to the device took; NaN: not known */
    int64_t moved_units;
    double calls;    /* that the round had; NaN or 0: as in the options */
    double energy_j; /* kept and reported; NaN: not metered */
} yoke_share_report;

enum { YOKE_BALANCER_MOST_DEVICES = 64 };

/* Errors: ARGUMENT (each option out of its range), MEMORY. */
YOKE_API yoke_status yoke_balancer_create(yoke_context *context, const yoke_balancer_options *options, yoke_balancer **balancer);
YOKE_API void yoke_balancer_destroy(yoke_balancer *balancer);
/* The units of the first round, or again those of the latest decision for another total. Errors: ARGUMENT (n < 0, or more than fits). */
YOKE_API yoke_status yoke_balancer_units(yoke_balancer *balancer, int64_t n, int64_t *units);
/*
 * Takes the reports [devices] of a round and decides the units [devices] of the next one, whose total is n (>= 0).
 * Errors: ARGUMENT (negative or absurd numbers: nothing is changed; n more than fits).
 */
YOKE_API yoke_status yoke_balancer_update(yoke_balancer *balancer, const yoke_share_report *reports, int64_t n, int64_t *units);
/* Predicted seconds per call of each device for these units; NaN where nothing is known, 0 for 0 units.  seconds [devices]. */
YOKE_API yoke_status yoke_balancer_predict(const yoke_balancer *balancer, const int64_t *units, double *seconds);
/* Device `device` can take at most so many units from now on; 0 takes it out (it failed) for good.  Errors: ARGUMENT. */
YOKE_API yoke_status yoke_balancer_limit(yoke_balancer *balancer, int64_t device, int64_t most);
/* One line on the latest decision: predicted and measured, why, regret against the best share seen.  Given back with yoke_release. */
YOKE_API yoke_status yoke_balancer_explain(const yoke_balancer *balancer, char **text);

#ifdef __cplusplus
}
#endif

#endif
