/*
 * device.h - memory, queues and programs, the same on every device.  Part of yoke.h.
 */
#ifndef YOKE_DEVICE_H
#define YOKE_DEVICE_H

#include "yoke/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Door 2: memory, queues and programs, the same on every device.
 *
 * A device has a name: "openmp" (all cores), "openmp:A-B" (cores A to B inclusive in hwloc's logical order, threads bound to them),
 * "opencl:P.D" (platform and device of that platform), "cuda:N", "sim:NAME" (a device of the machine file, see yoke_machine_read), or a
 * name of a backend that the application registered (yoke/backend.h).  A GPU may also be named by its PCI address ("pci:0000:3b:00.0").
 * Two interfaces to one card are matched by this address, never by number.
 *
 * After a call on a device failed with YOKE_ERROR_DEVICE the device is lost: every later call on it except `destroy` and `close` fails in
 * the same way, without a call of the driver where that could hang.
 *
 * One thread at a time uses a device and the objects created on it.  Several threads may use different devices at once only if each device
 * has a context of its own.
 */
typedef struct yoke_device yoke_device;

typedef enum yoke_device_class { YOKE_DEVICE_CPU, YOKE_DEVICE_GPU, YOKE_DEVICE_OTHER } yoke_device_class;

typedef struct yoke_device_info {
    char name[64];         /* as above */
    char kind[16];         /* the backend: "openmp", "opencl", "cuda", "sim" */
    char description[256]; /* model, units, driver */
    char driver[128];      /* version of driver and interface; "" if there is none */
    char pci[16];          /* "0000:3b:00.0"; "" if not known */
    yoke_device_class device_class;
    int usable;
    char why_not[256]; /* "" if usable */
    char remedy[256];  /* what the user can do; "" if usable */
    int64_t memory_bytes, compute_units;
    int double_precision; /* 0: kernels cannot use double */
} yoke_device_info;

/*
 * Lists all devices that the backends find.  A backend that finds none has one entry, named by its kind, with the reason and the remedy.
 * The libraries of vendors (CUDA, OpenCL) are called in a separate process, the program yoke-device-list, and the result is kept for the
 * context.  If they crash, end their process or take too long (30 s, or YOKE_DEVICE_LIST_S seconds), the entry says so.  If
 * YOKE_DEVICE_LIST is set to an empty string they are called within this process.
 * kind: lists this kind only ("sim"), and the libraries of the other kinds are not called; NULL: all kinds.
 * gpus_only: nonzero: the usable devices of the list are GPUs, and backends that cannot have any GPU are not called.
 * *list is freed with yoke_release.  Errors: INPUT (no such kind; the text lists the kinds), MEMORY, SYSTEM.
 */
YOKE_API yoke_status yoke_devices_list(yoke_context *context, const char *kind, int gpus_only, yoke_device_info **list, int64_t *count);

/*
 * Opens a device by name.  Errors: INPUT (no such name; the text lists the names), UNAVAILABLE (the device exists but is not usable: reason
 * and remedy), DEVICE, MEMORY.
 */
YOKE_API yoke_status yoke_device_open(yoke_context *context, const char *name, yoke_device **device);
/* Closes a device.  Everything created on it must have been destroyed before. */
YOKE_API void yoke_device_close(yoke_device *device);
/* The result is borrowed until the device is closed. */
YOKE_API const yoke_device_info *yoke_device_info_get(const yoke_device *device);
/*
 * Free memory at this moment, and all memory, in bytes.  If a driver does not report free memory: all memory less yoke's own allocations.
 */
YOKE_API yoke_status yoke_device_memory(yoke_device *device, int64_t *free_bytes, int64_t *all_bytes);
/* Seconds on the device's clock: yoke_clock_s, or the virtual clock of a simulated machine. */
YOKE_API double yoke_device_clock_s(const yoke_device *device);

/* Allocates host memory for fast copies from and to the device (pinned if the driver supports it), aligned to 64 bytes; *pointer is its
 * address.  Errors: MEMORY, DEVICE. */
YOKE_API yoke_status yoke_host_allocate(yoke_device *device, int64_t bytes, void *pointer);
#define yoke_host_allocate(device, bytes, pointer) yoke_host_allocate(device, bytes, YOKE_POINTER_AT(pointer))
YOKE_API void yoke_host_release(yoke_device *device, void *memory);

/* Device memory, not initialised.  Errors: ARGUMENT (negative), DEVICE_MEMORY (the text says how much is free), DEVICE. */
typedef struct yoke_buffer yoke_buffer;
YOKE_API yoke_status yoke_buffer_create(yoke_device *device, int64_t bytes, yoke_buffer **buffer);
YOKE_API void yoke_buffer_destroy(yoke_buffer *buffer);

/*
 * A queue executes its operations in order.  Queues of one device run concurrently if the device can.  An operation returns at once if the
 * device works asynchronously.  Then its host memory must stay valid (and, for reads, is not yet filled) until the queue is finished or an
 * event recorded after the operation is reached.
 * YOKE_QUEUE_INLINE: the calling thread (with the device's threads) executes operations of an openmp device before the call returns;
 * without this flag such a device has a thread of its own.  Other devices ignore it.
 */
typedef struct yoke_queue yoke_queue;
typedef struct yoke_event yoke_event;
enum { YOKE_QUEUE_INLINE = 1 };
YOKE_API yoke_status yoke_queue_create(yoke_device *device, int flags, yoke_queue **queue);
/* Finishes the queue first, unless the device is lost. */
YOKE_API void yoke_queue_destroy(yoke_queue *queue);
YOKE_API yoke_status yoke_queue_write(yoke_queue *queue, yoke_buffer *to, int64_t offset, int64_t bytes, const void *from);
YOKE_API yoke_status yoke_queue_read(yoke_queue *queue, const yoke_buffer *from, int64_t offset, int64_t bytes, void *to);
/* Sets `bytes` bytes to zero. */
YOKE_API yoke_status yoke_queue_clear(yoke_queue *queue, yoke_buffer *buffer, int64_t offset, int64_t bytes);
YOKE_API yoke_status yoke_queue_finish(yoke_queue *queue);

/* Events belong to a device and can be recorded repeatedly.  A wait for an event that was never recorded returns at once. */
YOKE_API yoke_status yoke_event_create(yoke_device *device, yoke_event **event);
YOKE_API void yoke_event_destroy(yoke_event *event);
YOKE_API yoke_status yoke_queue_record(yoke_queue *queue, yoke_event *event);
/*
 * Later operations of the queue wait for the event, which may belong to another queue of the same device.  queue NULL: the caller waits
 * now.
 */
YOKE_API yoke_status yoke_event_wait(yoke_event *event, yoke_queue *queue);
/*
 * The caller waits until at least one of these events is reached.  They may belong to any devices.  reached [count]: nonzero for the events
 * that are reached.  An event that was never recorded counts as reached, and so does an event of a lost device: the next call for its queue
 * reports the failure.  Errors: ARGUMENT (NULL, or no events).
 */
YOKE_API yoke_status yoke_event_wait_any(yoke_event *const *events, int64_t count, int *reached);
/* Seconds on the device's clock between two recorded events; waits for both.  Errors: ARGUMENT (not recorded), DEVICE. */
YOKE_API yoke_status yoke_event_elapsed_s(yoke_event *begin, yoke_event *end, double *seconds);

/*
 * Programs.  Kernels are written once in the dialect of yoke/dialect.h, a common subset of C99, OpenCL C and CUDA C++.  Devices that
 * compile (opencl, cuda) receive the texts, in order, after that header's text, with the options.  Devices that are the host (openmp,
 * sim) receive the table of the same kernels compiled as C.  A compiled program is cached on disk ($YOKE_CACHE, else
 * $XDG_CACHE_HOME/yoke, else ~/.cache/yoke; YOKE_CACHE set to "" disables the cache), keyed by texts, options, device and driver.
 */
typedef struct yoke_group { /* the group of a launch for which a kernel is called on the host */
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
/*
 * The vendor's BLAS is a program too, created from a source with this name and no texts.  Its functions are launched with 1 group of 1
 * item; offsets are in bytes:
 *
 *   dspmv (int64 n, double alpha, A, int64 offset, x, int64 offset, double beta, y, int64 offset):
 *   y = alpha A x + beta y.  A is symmetric, of order n, with its lower triangle packed by rows (= the upper triangle packed by columns).
 *   y is not read if beta is 0.
 *
 *   dgemm, sgemm (int64 m, int64 n, int64 k, double alpha, A, int64 offset, int64 lda, B, int64 offset, int64 ldb, double beta, C,
 *   int64 offset, int64 ldc):
 *   C = alpha A B + beta C in double or single precision, on opencl and cuda devices.  A (m x k), B (k x n) and C (m x n) are stored by
 *   rows with leading dimensions lda, ldb and ldc, in numbers.  m, n, k >= 1.  C is not read if beta is 0.
 *
 * The launch fails if the library is not available (UNAVAILABLE: reason, remedy).
 */
#define YOKE_BLAS "BLAS"
/*
 * Compiles a program.  Errors: INPUT (a text does not compile: the compiler's first messages; the device is not lost), UNAVAILABLE (no host
 * kernels; a kind of device without BLAS), DEVICE, MEMORY.
 */
YOKE_API yoke_status yoke_program_create(yoke_device *device, const yoke_program_source *source, yoke_program **program);
YOKE_API void yoke_program_destroy(yoke_program *program);
/* Errors: ARGUMENT (no kernel of that name; the text lists the kernels if the device reports them). */
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
static inline yoke_argument yoke_argument_buffer(yoke_buffer *buffer) /* NULL: a null pointer */
{
    yoke_argument argument;
    argument.kind = YOKE_ARGUMENT_BUFFER;
    argument.value.buffer = buffer;
    return argument;
}
static inline yoke_argument yoke_argument_int32(int32_t value)
{
    yoke_argument argument;
    argument.kind = YOKE_ARGUMENT_INT32;
    argument.value.int32 = value;
    return argument;
}
static inline yoke_argument yoke_argument_int64(int64_t value)
{
    yoke_argument argument;
    argument.kind = YOKE_ARGUMENT_INT64;
    argument.value.int64 = value;
    return argument;
}
static inline yoke_argument yoke_argument_float(float value)
{
    yoke_argument argument;
    argument.kind = YOKE_ARGUMENT_FLOAT;
    argument.value.float32 = value;
    return argument;
}
static inline yoke_argument yoke_argument_double(double value)
{
    yoke_argument argument;
    argument.kind = YOKE_ARGUMENT_DOUBLE;
    argument.value.float64 = value;
    return argument;
}

/*
 * Starts `groups` groups of `group_size` items.  (On host devices a group always has one item: kernels must be correct for any group size.)
 * units: amount of work in the application's units (elements, rows), from which simulated devices compute the time; 0 for work in
 * addition to the units.
 * Errors: ARGUMENT (number or kind of arguments, if the device can check them; group_size larger than the device supports), DEVICE.
 */
YOKE_API yoke_status yoke_queue_launch(yoke_queue *queue, yoke_function *function, int64_t groups, int64_t group_size, int64_t units,
                                       const yoke_argument *arguments, int64_t num_arguments);

/* Runs a host function on the threads of an openmp (or simulated CPU) device: OpenMP's parallel regions in it use the device's cores. */
typedef void yoke_task_function(void *user);
/* Errors: UNAVAILABLE (the device cannot run host functions), DEVICE. */
YOKE_API yoke_status yoke_queue_call(yoke_queue *queue, yoke_task_function *task, void *user, int64_t units);

#ifdef __cplusplus
}
#endif

#endif
