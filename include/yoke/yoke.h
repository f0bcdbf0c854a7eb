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
/*
 * Makes room for an item behind the first `count` ones.  Where there is none, the array (NULL at first) moves to memory for twice `capacity`
 * items, `least` at first, which is zero behind what it held.  Errors: MEMORY; the array is as it was.
 */
YOKE_API yoke_status yoke_grow(yoke_context *context, void **items, int64_t count, int64_t *capacity, int64_t least, size_t size);

/* ------------------------------------------------------------------------------------------------- files */

typedef struct yoke_file yoke_file;
#define YOKE_FILE_STANDARD_OUTPUT "-"

/*
 * Starts to write the file at `path`: what is written to its descriptor goes to a temporary file beside it, until yoke_file_commit puts that in place.
 * Until then, and when the process ends otherwise, an old file stays as it was.  A symbolic link is followed; a pipe or a device is written to
 * directly, and "-" is standard output.  What a process that was killed left of writing this file is removed.
 * Errors: INPUT (no such directory, not writable, is a directory: path and cause), MEMORY.
 */
YOKE_API yoke_status yoke_file_create(yoke_context *context, const char *path, yoke_file **file);
YOKE_API int yoke_file_descriptor(const yoke_file *file);
/* The name of what is written, links followed. */
YOKE_API const char *yoke_file_path(const yoke_file *file);
/* Whether yoke_file_create would succeed, as far as that can be known; touches nothing.  path may be NULL.  Errors: INPUT. */
YOKE_API yoke_status yoke_file_check(yoke_context *context, const char *path);
/* Puts the file in place, safely on disk.  `file` is gone afterwards, also on failure, which leaves the old file.  Errors: SYSTEM. */
YOKE_API yoke_status yoke_file_commit(yoke_file *file);
/* Gives up: the old file stays.  NULL allowed. */
YOKE_API void yoke_file_abandon(yoke_file *file);

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
 * The libraries of vendors (CUDA, OpenCL) are asked in a process of their own, the program yoke-device-list, and the answer is kept for the
 * context: where they crash, end their process or take too long (30 s, or YOKE_DEVICE_LIST_S seconds), the entry says so.  With
 * YOKE_DEVICE_LIST set to nothing they are asked within this process.
 * *list is given back with yoke_release.  Errors: MEMORY, SYSTEM.
 */
YOKE_API yoke_status yoke_devices_list(yoke_context *context, yoke_device_info **list, int64_t *count);

/*
 * The same of one kind ("sim"; NULL: all); the other kinds' libraries are not looked at.  With gpus_only the usable ones are GPUs, and what
 * cannot have any is not asked.  Errors: INPUT (no such kind; says which there are), MEMORY, SYSTEM.
 */
YOKE_API yoke_status yoke_devices_find(yoke_context *context, const char *kind, int gpus_only, yoke_device_info **list, int64_t *count);

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
 * Reads a machine file (JSON, docs/reference/machine-file.md), whose devices can then be opened as "sim:NAME": each has a speed function, copy times,
 * clocks, noise and faults, computes what it is asked to on this host, and takes the time that the file says on a virtual clock.
 * A context has one machine; a second call fails.  Errors: INPUT (file, key, what was expected), ARGUMENT, MEMORY.
 */
YOKE_API yoke_status yoke_machine_read(yoke_context *context, const char *path);
/*
 * The host of the context's simulated machine does nothing for so many seconds: its virtual clock moves, devices go on with what they have.
 * Errors: ARGUMENT (no machine; not 0 to 1e9 s).
 */
YOKE_API yoke_status yoke_machine_sleep(yoke_context *context, double seconds);

/* ------------------------------------------------------------------------------------------------- meters */

/*
 * A meter tells the energy of one domain of the machine ("powercap:package-0", "nvml:0").  Meters form a tree, so that nothing is added
 * twice, and those at its disjoint top make up the total.  What a meter cannot say is NaN with a reason: never zero.
 */

/* Where a number of joules comes from. */
typedef enum yoke_energy_kind {
    YOKE_ENERGY_NONE,      /* not metered */
    YOKE_ENERGY_MEASURED,  /* by the hardware: a counter, or readings of power */
    YOKE_ENERGY_ESTIMATED, /* from powers that the user declared */
    YOKE_ENERGY_SIMULATED, /* of a simulated machine */
    YOKE_ENERGY_REPLAYED   /* from a recording */
} yoke_energy_kind;
/* "none", "measured", "estimated", "simulated", "replayed".  Never NULL. */
YOKE_API const char *yoke_energy_kind_text(yoke_energy_kind kind);

typedef struct yoke_meter_info {
    char name[64];         /* kind:domain, "powercap:package-0", "nvml:0"; the kind alone where a source has no domain here */
    char kind[16];         /* powercap, perf, nvml, amdsmi, hwmon, declared, replay, sim */
    char description[256]; /* what hardware it covers and where it is read */
    char covers[64]; /* the hardware in words that agree between kinds: package-0, package-0/core, dram-0, psys, gpu-0000:3b:00.0, host */
    char parent[64]; /* name of the meter of the same kind whose energy contains this one's; "" at the top */
    char pci[16];    /* "" if it is no PCI device */
    yoke_energy_kind source; /* kind of its energies */
    int usable;              /* 0: see why_not and remedy */
    int counted;             /* nonzero: part of the total */
    int integrated;          /* nonzero: energy by integrating readings of power, else from a counter */
    char why_not[256];       /* why it is not usable; "" if it is */
    char remedy[512];        /* what to do about it; "" if usable or nothing helps */
    double resolution_j;     /* energy of one count; NaN: not known */
    double period_s;         /* between updates; measured while opening where that is possible, else as documented; NaN: not known */
    int period_measured;
    double wrap_j;     /* the counter starts again at so many joules; NaN: never, or there is no counter */
    double gain_error; /* relative: half width of the factor's interval; NaN: not known */
} yoke_meter_info;

/* All members may be zero. */
typedef struct yoke_meter_options {
    const char *select;   /* names and kinds, comma-separated; NULL: the best source of each piece of hardware */
    const char *sysroot;  /* stands for the root directory, as recorded by `yoke gather`; NULL: $YOKE_SYSROOT, else / */
    const char *declared; /* "idle=W,busy=W": powers of the machine; NULL: none (docs/methods/energy.md) */
    const char *replay;   /* a recorded stream (docs/methods/energy.md); NULL: none */
    double probe_s;       /* how long update periods may be measured while opening; 0: 0.25 s; negative: not at all */
    int64_t pid;          /* whose CPU time declared powers are weighed with; 0: this process and its children that were waited for */
} yoke_meter_options;

/*
 * All meters of the machine, usable or not, and one entry for each kind that finds none, with reason and remedy.  options may be NULL.
 * *list is given back with yoke_release.  Errors: INPUT (options), MEMORY.
 */
YOKE_API yoke_status yoke_meters_list(yoke_context *context, const yoke_meter_options *options, yoke_meter_info **list, int64_t *count);

/*
 * The selected usable meters, open.  That there is none is no error: energies are then NaN, with the reason.  A thread reads counters often
 * enough that no wrap is missed, and integrates powers.  Regions may begin and end on any thread, nested or overlapping.
 * Errors: INPUT (options: what is wrong with them), UNAVAILABLE (a meter named in `select` is not usable: why, remedy), MEMORY, SYSTEM.
 */
typedef struct yoke_meter yoke_meter;
YOKE_API yoke_status yoke_meter_open(yoke_context *context, const yoke_meter_options *options, yoke_meter **meter);
/* All regions must have ended. */
YOKE_API void yoke_meter_close(yoke_meter *meter);
/* The open meters, in the order of energies; borrowed until the meter is closed. */
YOKE_API yoke_status yoke_meter_infos(yoke_meter *meter, const yoke_meter_info **infos, int64_t *count);
/*
 * Power now, in watts, as the hardware of an open meter (index into yoke_meter_infos) shows it; for power profiles.
 * Errors: ARGUMENT, UNAVAILABLE (it counts energy only, or cannot be read: why).
 */
YOKE_API yoke_status yoke_meter_power(yoke_meter *meter, int64_t index, double *watts);
/* The temperature of what it meters, in degrees Celsius, where the hardware shows one (GPUs by NVML).  Errors: as yoke_meter_power. */
YOKE_API yoke_status yoke_meter_temperature(yoke_meter *meter, int64_t index, double *celsius);

typedef struct yoke_energy {
    double value_j; /* NaN: not metered, or a fault: see why_not */
    double
        uncertainty_j; /* half width of the interval that holds the truth: 2 counts + power x period + gain error (docs/methods/energy.md) */
    yoke_energy_kind kind;
    char why_not[256]; /* why there is no value, or which part of the machine the total lacks; "" otherwise */
} yoke_energy;

/* A stretch of time whose energy is wanted. */
typedef struct yoke_region yoke_region;
YOKE_API yoke_status yoke_region_begin(yoke_meter *meter, yoke_region **region);
/*
 * Ends the region and gives it back, whatever is returned.  seconds: its length on the meter's clock.  energies: one for each open meter, in
 * their order, or NULL.  total: over the meters that are counted, or NULL.
 * A region shorter than a meter's period has no value there, and the reason names the shortest length that would have one.
 * Errors: ARGUMENT.  A meter that failed is no error but a value of NaN with the reason.
 */
YOKE_API yoke_status yoke_region_end(yoke_region *region, double *seconds, yoke_energy *energies, yoke_energy *total);

/* ------------------------------------------------------------------------------------------------- clocks */

/*
 * Clock frequencies.  Before a clock is changed for the first time what it had is saved, and a small guard process (yoke-clock-guard) restores
 * that, in an order the hardware accepts, when the set is closed, and also when this process ends in any other way, SIGKILL included.
 * Where the context has a simulated machine whose file gives devices clocks, the clocks are those instead: sim:NAME is the clock of that device,
 * what is asked for is reached at once, launches that begin later have it, and closing the set restores.
 */
typedef struct yoke_clock_info {
    char name[64];         /* "cpu" (all cores), "nvml:0", "sim:NAME" */
    char kind[16];         /* cpufreq, nvml, sim */
    char description[256]; /* driver, governor, what is behind the name */
    char pci[16];
    int settable;
    char why_not[256]; /* "" if settable */
    char remedy[512];
    double current_hz; /* NaN: not known */
    double least_hz, most_hz;
    double levels_hz[128]; /* ascending; num_levels 0: any between least and most */
    int64_t num_levels;
} yoke_clock_info;

/* All members may be zero; docs/reference/frequencies.md says how frequencies are set and what is restored. */
typedef struct yoke_clock_options {
    const char *sysroot; /* as in yoke_meter_options */
    double settle_s;     /* how long a clock may take to reach what was asked for, at most 60; 0: 0.2 s */
} yoke_clock_options;

/* As yoke_meters_list.  options may be NULL. */
YOKE_API yoke_status yoke_clocks_list(yoke_context *context, const yoke_clock_options *options, yoke_clock_info **list, int64_t *count);
typedef struct yoke_clocks yoke_clocks;
/*
 * Takes the machine's clocks for this process; nothing is changed yet.
 * Errors: ARGUMENT, INPUT (options), UNAVAILABLE (another yoke holds the machine's clocks: which process), MEMORY, SYSTEM.
 */
YOKE_API yoke_status yoke_clocks_open(yoke_context *context, const yoke_clock_options *options, yoke_clocks **clocks);
/* Restores, and says so as a log line where a clock could not be restored.  Takes NULL. */
YOKE_API void yoke_clocks_close(yoke_clocks *clocks);
/*
 * Asks for a frequency (the nearest level) and reads back.  reached_hz: what the hardware says then, NaN where it does not say.
 * reached_hz may be NULL.  Errors: INPUT (no such clock; outside its range), UNAVAILABLE (not settable: why, remedy), SYSTEM (refused; then
 * cores have what they had before the first change).  That another frequency was reached than asked for is no error but a warning in the log
 * with the hardware's reason (power cap, heat).
 */
YOKE_API yoke_status yoke_clock_set(yoke_clocks *clocks, const char *name, double hz, double *reached_hz);

/* ----------------------------------------------------------------------------------------- power profiles */

/*
 * Energy and power over time of a kernel that is much shorter than the period of the power sensor, from many runs at different phases of the
 * sensor's updates (Lang 2014, dissertation, ch. 5; docs/methods/profile.md).  First the sensor is identified, then the kernel is profiled:
 * offline, in runs that are made for it, or online, in the calls that an application makes anyway.
 */

/* How a sensor follows power that steps from 0 to 1, `delay_s` later. */
typedef enum yoke_sensor_shape {
    YOKE_SENSOR_MEAN,    /* it shows the mean of the last window_s */
    YOKE_SENSOR_HALVES,  /* one half steps at once, the other window_s later (Tesla C2075) */
    YOKE_SENSOR_LOW_PASS /* 1 - exp(-t / window_s) */
} yoke_sensor_shape;

typedef struct yoke_sensor {
    yoke_sensor_shape shape;
    double period_s;   /* between updates */
    double delay_s;    /* from the start of a run, as it is timed, until it begins to show */
    double window_s;   /* see the shape */
    double noise_w;    /* standard deviation of one update at constant power */
    double quantum_w;  /* smallest step; 0: none seen */
    double gain_error; /* relative half width of the factor's interval; NaN: not known.  Not identified: of the meter, or the data sheet */
} yoke_sensor;

/* What is profiled, and on which sensor.  Times are seconds on one clock.  A status that is not YOKE_OK is handed on. */
typedef struct yoke_profile_subject {
    yoke_status (*launch)(void *user); /* starts one run and, where it can, returns before that is done */
    /* Waits for its end.  Where the times of start and end are known better than from outside they are filled. */
    yoke_status (*finish)(double *start_s, double *finish_s, void *user);
    yoke_status (*power_w)(double *watts, void *user);         /* what the sensor shows now */
    yoke_status (*temperature_c)(double *celsius, void *user); /* NULL: not known */
    double (*clock_s)(void *user);                             /* NULL: yoke_clock_s */
    yoke_status (*wait_until)(double time_s, void *user);      /* NULL: sleeps */
    void *user;
} yoke_profile_subject;

/* All members may be zero. */
typedef struct yoke_profile_options {
    double target;        /* relative statistical uncertainty of the energy at which to stop; 0: 0.02 */
    double most_s;        /* of device time; 0: 300 s */
    int64_t runs;         /* single runs to make, instead of as many as the target needs; 0: as needed */
    int64_t points;       /* of the profile at most; 0: 64; negative: energy only */
    double overhead;      /* online: part of the time that may be spent waiting for updates; 0: 0.01 */
    double low_c, high_c; /* band of temperature to run in (54 in the dissertation); both 0: any */
} yoke_profile_options;

typedef struct yoke_profile_point {
    double time_s, power_w; /* since the start of a run */
    double uncertainty_w;   /* 95 %; NaN for readings */
} yoke_profile_point;

typedef struct yoke_profile {
    double energy_j;            /* of one run: all power of what the sensor covers, from its start to its end.  Never 0 for "not known" */
    double uncertainty_j;       /* 95 %, with the sensor's gain error where that is known */
    double statistical_j;       /* 95 %, against what the sensor would show on the average: more runs reduce it */
    double dynamic_j;           /* the part of energy_j above idle power */
    double idle_w, run_s;       /* power between runs; seconds of one run */
    double low_c, high_c;       /* temperatures seen; NaN: not known */
    double device_s;            /* how long all took */
    double reading_s;           /* of that, in reading the sensor (online: also in waiting for it) */
    int64_t runs, reads, burst; /* burst: runs that followed each other without a pause where the energy was measured */
    double resolution_s;        /* of the profile: shorter structure is blurred; NaN: there is none */
    char why_no_profile[256];   /* "" where there is one */
    int64_t num_points, num_readings;
    yoke_profile_point *points;   /* the profile, the sensor's window removed */
    yoke_profile_point *readings; /* what the sensor showed in updates after starts of single runs, ascending in time */
} yoke_profile;

/*
 * Finds period, delay, window and noise of the sensor by runs of the subject, which should draw constant power, much more than idle, and be
 * short beside the period (or return before they are done).  Takes 10 to 90 s of device time.
 * Errors: ARGUMENT, MEMORY, UNAVAILABLE (the sensor never changes, or has no period, or the load does not show), those of the subject.
 */
YOKE_API yoke_status yoke_sensor_identify(yoke_context *context, const yoke_profile_subject *subject, yoke_sensor *sensor);
/*
 * Offline.  options may be NULL.  Single runs where they reach the target, else bursts of runs (always for means over more than 0.3 s and low-pass
 * sensors, which show no profile).  *profile is given back with yoke_profile_clear.
 * Errors: ARGUMENT, MEMORY, UNAVAILABLE (not in most_s: the text says how long it would take; temperature not reached; nothing shows), those
 * of the subject.
 */
YOKE_API yoke_status yoke_profile_measure(yoke_context *context, const yoke_profile_subject *subject, const yoke_sensor *sensor,
                                          const yoke_profile_options *options, yoke_profile *profile);
YOKE_API void yoke_profile_clear(yoke_context *context, yoke_profile *profile);

/*
 * Online.  Of the subject only power_w, clock_s, wait_until and temperature_c are used, on the thread that calls.  Between calls of the kernel
 * the device must be idle but for what every call brings with it.
 */
typedef struct yoke_profiler yoke_profiler;
/* Waits for an update of the sensor.  Errors: ARGUMENT, MEMORY, UNAVAILABLE (no update is seen), those of the subject. */
YOKE_API yoke_status yoke_profiler_create(yoke_context *context, const yoke_profile_subject *subject, const yoke_sensor *sensor,
                                          const yoke_profile_options *options, yoke_profiler **profiler);
YOKE_API void yoke_profiler_destroy(yoke_profiler *profiler);
/* Right before the kernel is launched; after the launch, if it returned before the kernel's end (may be left out); after the end. */
YOKE_API yoke_status yoke_profiler_begin(yoke_profiler *profiler);
YOKE_API yoke_status yoke_profiler_running(yoke_profiler *profiler);
YOKE_API yoke_status yoke_profiler_end(yoke_profiler *profiler);
/* What is known so far.  Errors: MEMORY, UNAVAILABLE (too few updates yet, or nothing shows: how many calls it would take). */
YOKE_API yoke_status yoke_profiler_result(yoke_profiler *profiler, yoke_profile *profile);

#ifdef __cplusplus
}
#endif

/* The balancer, models and plans have headers of their own. */
#include "yoke/balancer.h" /* IWYU pragma: export */
#include "yoke/model.h"    /* IWYU pragma: export */
#include "yoke/plan.h"     /* IWYU pragma: export */

#endif
