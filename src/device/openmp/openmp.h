/*
 * openmp.h - the processor's cores as a device: openmp.c (devices, buffers, events, programs, and the table of functions), queue.c
 * (queues), team.c (threads on their cores), work.c (execution of operations), blas.c (BLAS).
 *
 * The calling thread executes the operations of an inline queue; any other queue has a worker, a thread that takes operations from a ring.
 * Only the calling thread allocates, releases and fails; a worker does nothing that can fail after its start.
 */
#ifndef YOKE_DEVICE_OPENMP_OPENMP_H
#define YOKE_DEVICE_OPENMP_OPENMP_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/host_kernels.h"

typedef struct openmp_queue openmp_queue;

/* cblas_dspmv with int for the enumerations of cblas.h. */
typedef void openmp_dspmv(int order, int triangle, int n, double alpha, const double *a, const double *x, int x_step, double beta,
                          double *y, int y_step);

typedef struct openmp_state { /* of a context */
    yoke_context *context;
    void *blas_library; /* opened when it is first needed */
    openmp_dspmv *dspmv;
} openmp_state;

typedef struct openmp_device {
    openmp_state *state;
    yoke_context *context;
    int64_t first_core; /* -1: all cores */
    int on_nodes;       /* nonzero: all cores, and each thread is bound to a NUMA node; threads of all cores are not bound otherwise */
    int threads;
    pthread_mutex_t lock;   /* guards the two members below, and all data that threads wait for */
    pthread_cond_t changed; /* some operation was done */
    int waiting;            /* number of threads that sleep on `changed` */
    openmp_queue *queues;   /* list of the queues with a worker */
} openmp_device;

typedef struct openmp_event {
    openmp_device *device;
    int64_t asked;        /* number of requests to record it: counted by the calling thread */
    atomic_llong reached; /* number of these that are done */
    atomic_int mentioned; /* number of operations in rings that refer to this event */
    double time_s;        /* of the latest one that is done; written before `reached` */
} openmp_event;

typedef enum openmp_kind { OPENMP_COPY, OPENMP_CLEAR, OPENMP_LAUNCH, OPENMP_CALL, OPENMP_DSPMV, OPENMP_RECORD, OPENMP_WAIT } openmp_kind;

typedef struct openmp_operation {
    openmp_kind kind;
    union {
        struct {
            void *to;
            const void *from; /* NULL if the kind is CLEAR */
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
 * Prepares the calling thread for the device's work.  OpenMP's parallel regions that it starts have the device's number of threads, which
 * are on the device's cores (or, for a device of all cores, on NUMA nodes, or are released from cores to which another device bound
 * them).  *before becomes the number of threads that openmp_leave restores.  Errors: SYSTEM (the system refuses to bind).
 */
yoke_status openmp_enter(const openmp_device *device, int *before);
void openmp_leave(int before);
/*
 * If a device of all cores has a thread for each core, and threads are not bound: moves each thread of the calling thread's team to a
 * core of its own, and releases it at once.  New threads begin on the core of their creator, and the system needs some milliseconds to
 * move them apart.
 */
void openmp_spread_team(const openmp_device *device);
/* Releases the calling thread and those of its team from the cores to which openmp_enter bound them. */
void openmp_free_team(const openmp_device *device);
/*
 * The number of NUMA nodes to which the threads of a device of all cores are bound; 0: they are not bound.  They are bound if the process
 * may use several nodes and there are no more threads than hardware threads, unless OMP_PROC_BIND, OMP_PLACES or another setting of the
 * runtime determines the places of threads.
 */
int64_t openmp_nodes(yoke_context *context, int threads);

/* Executes an operation of any kind except RECORD and WAIT on the calling thread, which has entered the device. */
void openmp_work(const openmp_device *device, const openmp_operation *operation);

/* ------------------------------------------------------------------------------------------------- queues */

yoke_status openmp_queue_create(void *device, int flags, void **queue);
void openmp_queue_destroy(void *device, void *queue);
yoke_status openmp_queue_finish(void *queue);
openmp_device *openmp_queue_device(const openmp_queue *queue);

/* Executes the operation (inline), or copies it into the ring, after waiting for room.  Errors: SYSTEM (inline: as openmp_enter). */
yoke_status openmp_queue_submit(openmp_queue *queue, const openmp_operation *operation);

/* Waits until the event was reached `count` times, and until no ring refers to it. */
void openmp_event_await(openmp_event *event, int64_t count);
void openmp_event_await_unmentioned(openmp_event *event);
/* Waits for all queues of the device. */
void openmp_finish_all(openmp_device *device);

/* --------------------------------------------------------------------------------------------------- BLAS */

/* Finds cblas_dspmv ($YOKE_LIBBLAS, else libopenblas.so.0, else libblas.so.3).  Errors: UNAVAILABLE (reason, remedy). */
yoke_status openmp_blas_load(openmp_state *state);
void openmp_blas_unload(openmp_state *state);

#endif
