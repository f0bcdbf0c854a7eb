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
 * The libraries of vendors (CUDA, OpenCL) are called in a process of their own, the program yoke-device-list, and the result is kept for the context.  If
 * they crash, end their process or take too long (30 s, or YOKE_DEVICE_LIST_S seconds), the entry says so.  With YOKE_DEVICE_LIST set to nothing they are
 * called within this process.
 * kind: of this kind only ("sim"), and the other kinds' libraries are not looked at; NULL: all.  gpus_only: nonzero: the usable ones are GPUs, and what
 * cannot have any is not asked.
 * *list is given back with yoke_release.  Errors: INPUT (no such kind; says which there are), MEMORY, SYSTEM.
 */
YOKE_API yoke_status yoke_devices_list(yoke_context *context, const char *kind, int gpus_only, yoke_device_info **list, int64_t *count);

/*
 * Opens a device by name.  Errors: INPUT (no such name; says which there are), UNAVAILABLE (there, but not usable: why, remedy), DEVICE,
 * MEMORY.
 */
YOKE_API yoke_status yoke_device_open(yoke_context *context, const char *name, yoke_device **device);
/* Everything made on the device must have been destroyed before. */
YOKE_API void yoke_device_close(yoke_device *device);
/* Borrowed until the device is closed. */
YOKE_API const yoke_device_info *yoke_device_info_get(const yoke_device *device);
/* Free memory at this moment and all, bytes.  Where a driver does not show free memory: all that yoke has not allocated itself. */
YOKE_API yoke_status yoke_device_memory(yoke_device *device, int64_t *free_bytes, int64_t *all_bytes);
/* Seconds on the device's clock: yoke_clock_s, or the virtual clock of a simulated machine. */
YOKE_API double yoke_device_clock_s(const yoke_device *device);

/* Host memory for fast copies from and to the device (pinned where the driver has it), aligned to 64 bytes; *pointer is its address.
 * Errors: MEMORY, DEVICE. */
YOKE_API yoke_status yoke_host_allocate(yoke_device *device, int64_t bytes, void *pointer);
#define yoke_host_allocate(device, bytes, pointer) yoke_host_allocate(device, bytes, YOKE_POINTER_AT(pointer))
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
/* Later operations of the queue wait for the event, which may belong to another queue of the same device.  queue NULL: the caller waits, now. */
YOKE_API yoke_status yoke_event_wait(yoke_event *event, yoke_queue *queue);
/*
 * The caller waits until one of these events is reached, or several, of any devices.  reached [count]: which are.  One that was never recorded counts as reached, and so does
 * one of a device that is lost: what fails there the next call for its queue says.  Errors: ARGUMENT (NULL, or no events).
 */
YOKE_API yoke_status yoke_event_wait_any(yoke_event *const *events, int64_t count, int *reached);
/* Seconds on the device's clock between two recorded events; waits for both.  Errors: ARGUMENT (not recorded), DEVICE. */
YOKE_API yoke_status yoke_event_elapsed_s(yoke_event *begin, yoke_event *end, double *seconds);

/*
 * Programs.  Kernels are written once in the dialect of yoke/dialect.h, a common subset of C99, OpenCL C and CUDA C++.  Devices that compile
 * (opencl, cuda) get the texts, in order, behind that header's text, with the options; devices that are the host (openmp, sim) get the
 * table of the same kernels compiled as C.  A compiled program is kept on disk ($YOKE_CACHE, else $XDG_CACHE_HOME/yoke, else
 * ~/.cache/yoke; YOKE_CACHE set to "" switches it off), keyed by texts, options, device and driver.
 */
typedef struct yoke_group { /* what a kernel gets of its launch on the host */
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
 * The vendor's BLAS is a program too: that of a source with this name and nothing else.  Its functions are launched with 1 group of 1 item; offsets are bytes:
 *   dspmv (int64 n, double alpha, A, int64 offset, x, int64 offset, double beta, y, int64 offset): y = alpha A x + beta y; A symmetric, of order n, its lower
 *   triangle packed by rows (= the upper one by columns).  y is not read where beta is 0.
 *   dgemm, sgemm (int64 m, int64 n, int64 k, double alpha, A, int64 offset, int64 lda, B, int64 offset, int64 ldb, double beta, C, int64 offset, int64 ldc):
 *   C = alpha A B + beta C in double or single precision, on opencl and cuda devices.  A (m x k), B (k x n) and C (m x n) lie by rows, the begins of which are lda, ldb
 *   and ldc numbers apart.  m, n, k >= 1.  C is not read where beta is 0.
 * The launch fails where the library is not there (UNAVAILABLE: why, remedy).
 */
#define YOKE_BLAS "BLAS"
/*
 * Errors: INPUT (a text does not compile: the compiler's first messages; the device is not lost), UNAVAILABLE (no host kernels; a kind of device without BLAS),
 * DEVICE, MEMORY.
 */
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

#ifdef __cplusplus
}
#endif

#endif
