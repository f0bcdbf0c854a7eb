/*
 * openmp.h - the processor's cores as a device, in four files: openmp.c (devices, buffers, events, programs, and the table of functions),
 * queue.c (queues), team.c (threads on their cores), work.c (what an operation does), blas.c (BLAS).
 *
 * Operations of an inline queue are done by the calling thread; any other queue has a worker, a thread that takes operations from a ring.
 * Only the calling thread allocates, releases and fails; a worker does nothing that can fail after its start.
 */
#ifndef YOKE_DEVICE_OPENMP_OPENMP_H
#define YOKE_DEVICE_OPENMP_OPENMP_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/host_kernels.h"

typedef struct openmp_queue openmp_queue;

/* cblas_dspmv with cblas.h's enumerations as what they are, int. */
typedef void openmp_dspmv(int order, int triangle, int n, double alpha, const double *a, const double *x, int x_step, double beta,
                          double *y, int y_step);

typedef struct openmp_state { /* of a context */
    yoke_context *context;
    void *blas_library; /* opened at the first need */
    openmp_dspmv *dspmv;
} openmp_state;

typedef struct openmp_device {
    openmp_state *state;
    yoke_context *context;
    int64_t first_core; /* -1: all cores */
    int on_nodes;       /* all cores, and threads are bound each to a NUMA node; else those of all cores are not bound */
    int threads;
    pthread_mutex_t lock;   /* of the two below, and of all that is waited for */
    pthread_cond_t changed; /* something was done */
    int waiting;            /* threads that sleep on `changed` */
    openmp_queue *queues;   /* those with a worker, linked */
} openmp_device;

typedef struct openmp_event {
    openmp_device *device;
    int64_t asked;        /* how many times its recording was asked for: the calling thread's count */
    atomic_llong reached; /* how many of these were done */
    atomic_int mentioned; /* operations in rings that name this event */
    double time_s;        /* of the latest that was done; written before `reached` */
} openmp_event;

typedef enum openmp_kind { OPENMP_COPY, OPENMP_CLEAR, OPENMP_LAUNCH, OPENMP_CALL, OPENMP_DSPMV, OPENMP_RECORD, OPENMP_WAIT } openmp_kind;

typedef struct openmp_operation {
    openmp_kind kind;
    union {
        struct {
            void *to;
            const void *from; /* NULL where the kind is CLEAR */
            int64_t bytes;
        } copy;
        host_launch launch;
        struct {
            yoke_task_function *task;
            void *user;
        } call;
        struct {
            openmp_dspmv *function;
            int n;
            double alpha, beta;
            const double *a, *x;
            double *y;
        } dspmv;
        struct {
            openmp_event *event;
            int64_t count; /* RECORD: becomes `reached`; WAIT: `reached` must be at least this */
        } event;
    } of;
} openmp_operation;

/* ------------------------------------------------------------------------------------------------ threads */

/*
 * Prepares the calling thread for the device's work: OpenMP's parallel regions that it starts have the device's number of threads, and
 * these sit on the device's cores (or, for a device of all cores, on NUMA nodes, or are freed from where another device put them).  *before becomes the
 * number of threads to give back to openmp_leave.  Errors: SYSTEM (the system refuses to bind).
 */
yoke_status openmp_enter(const openmp_device *device, int *before);
void openmp_leave(int before);
/*
 * Where a device of all cores has a thread for each of them, and these are not bound: puts each thread of the calling one's team on a core of its own, and frees
 * it at once.  New threads begin where their maker is, and it takes the system some milliseconds to move them apart.
 */
void openmp_spread_team(const openmp_device *device);
/* Frees the calling thread and those of its team from the cores that openmp_enter put them on. */
void openmp_free_team(const openmp_device *device);
/*
 * On how many NUMA nodes the threads of a device of all cores are bound, or 0: they are not.  They are where the process may use several nodes, where
 * there are no more threads than hardware has, and unless OMP_PROC_BIND, OMP_PLACES or what else the runtime knows says where threads are to be.
 */
int64_t openmp_nodes(yoke_context *context, int threads);

/* Does an operation of any kind but RECORD and WAIT on the calling thread, which has entered the device. */
void openmp_work(const openmp_device *device, const openmp_operation *operation);

/* ------------------------------------------------------------------------------------------------- queues */

yoke_status openmp_queue_create(void *device, int flags, void **queue);
void openmp_queue_destroy(void *device, void *queue);
yoke_status openmp_queue_finish(void *queue);
openmp_device *openmp_queue_device(const openmp_queue *queue);

/* Does the operation (inline), or copies it into the ring, waiting for room.  Errors: SYSTEM (inline: as openmp_enter). */
yoke_status openmp_queue_submit(openmp_queue *queue, const openmp_operation *operation);

/* Waits until the event was reached `count` times, and until no ring names it. */
void openmp_event_await(openmp_event *event, int64_t count);
void openmp_event_await_unmentioned(openmp_event *event);
/* Waits for all queues of the device. */
void openmp_finish_all(openmp_device *device);

/* --------------------------------------------------------------------------------------------------- BLAS */

/* Finds cblas_dspmv ($YOKE_LIBBLAS, else libopenblas.so.0, else libblas.so.3).  Errors: UNAVAILABLE (why, remedy). */
yoke_status openmp_blas_load(openmp_state *state);
void openmp_blas_unload(openmp_state *state);

#endif
