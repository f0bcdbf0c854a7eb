/*
 * cpu.h - the internals of the CPU subdomain, shared by its set-up, its work queue and its operations.
 *
 * The elements are divided into one chunk per thread, contiguous in Morton order.  Nodes are numbered as elements touch them, so the nodes
 * that a chunk touches first are contiguous too.  The chunk owns them (the last one also owns those that no element touches).  A chunk adds
 * its products into its own nodes directly, and into copies for nodes of earlier chunks.  The copies are stored after the vector's end:
 * data is [num_nodes + tail_nodes][components] in the subdomain's precision.  After a barrier each owner adds the copies of its nodes in a
 * fixed order.  There are no races and no atomics, and the result is bitwise reproducible.
 *
 * A product has two phases, each of which does all of this: first the elements that touch interface nodes, then the others.
 *
 * Tasks do all work on the subdomain's data.  The queue of the subdomain's device runs them later (or at once: an inline queue, or no
 * queue).  A task finds its arguments in a ring of the subdomain.
 */
#ifndef FEM_OPERATOR_SUBDOMAIN_CPU_H
#define FEM_OPERATOR_SUBDOMAIN_CPU_H

#include "operator/kernels/smoother.h"
#include "operator/subdomain/subdomain.h"

enum { CPU_SUBDOMAIN_MAX_CHUNKS = 1024 };

/* The two phases of a product. */
enum { CPU_INTERFACE, CPU_INTERIOR, CPU_PHASES };

/* Elements of a chunk of one class, in batches. */
typedef struct cpu_batches {
    fem_batches b;
    int32_t *element; /* [batches][width] element of the space; padding lanes repeat the last */
    int32_t *gather, *scatter;
    int16_t *face_code;
    int64_t *first_factor;
    void *factors, *moduli, *stored;
} cpu_batches;

/* The classes of a phase: elements that touch nodes of earlier chunks, and those that do not. */
enum { CPU_BORDER, CPU_OWN, CPU_CLASSES };
/* Number of a class of a phase among all sets of a chunk. */
#define CPU_SET(phase, class) ((phase)*CPU_CLASSES + (class))
enum { CPU_SETS = CPU_PHASES * CPU_CLASSES };

typedef struct cpu_chunk {
    int32_t element_begin, element_end;
    int32_t node_begin, node_end; /* owned nodes */
    int32_t tail_begin, tail_end; /* copies of nodes of earlier chunks, as node numbers behind the last node */
    cpu_batches set[CPU_SETS];
    /* Copies that later chunks have of this chunk's nodes; those of a phase are copies_begin[phase] .. copies_begin[phase + 1] - 1. */
    int64_t copies_begin[CPU_PHASES + 1];
    int32_t *copied_node, *copied_from;
    int64_t masked_begin, masked_end;       /* range of `masked` that belongs to this chunk's nodes */
    int32_t interface_begin, interface_end; /* the same range of the subdomain's interface_nodes */
    int64_t runs_begin, runs_end;           /* the same range of `runs` */
} cpu_chunk;

typedef struct cpu_run {
    int64_t begin, end;
} cpu_run;

struct fem_subdomain_vector {
    void *data; /* [num_nodes + tail_nodes][components] */
};

struct fem_subdomain_rows {
    fem_rows rows;
    int64_t bytes;
};

typedef struct cpu_subdomain cpu_subdomain;

/* One operation with its arguments; each operation uses some of them. */
typedef struct cpu_task {
    cpu_subdomain *cpu;
    double alpha, beta;
    const void *a, *b;
    void *c, *d;
    const fem_subdomain_rows *rows;
    const void *pair[2][FEM_MAX_DOTS];
    int count;         /* of pairs */
    fem_kernel kernel; /* under which it is profiled */
    int phase;
    fem_precision precision; /* of a, which may differ from the subdomain's */
} cpu_task;

/* Largest numbers of active tasks, and of measured intervals that are not read so far. */
enum { CPU_TASKS = 64, CPU_INTERVALS = 32 };

typedef struct cpu_sums {
    _Alignas(64) double of_pair[FEM_MAX_DOTS]; /* chunks write at the same time: each to its own cache line */
} cpu_sums;

struct cpu_subdomain {
    fem_subdomain subdomain;
    yoke_queue *queue; /* NULL: the calling thread works */
    const fem_kernels *kernels;
    const fem_batch_functions *functions;
    const fem_smoother_functions *smoother;
    int num_chunks;
    cpu_chunk *chunks;
    int32_t num_nodes, tail_nodes;
    int32_t phase_elements[CPU_PHASES];
    int64_t phase_copies[CPU_PHASES];
    int64_t *masked; /* prescribed dofs, ascending */
    int64_t num_masked;
    cpu_run *runs;  /* of owned dofs, ascending, each within one chunk */
    cpu_sums *sums; /* [num_chunks] of the latest `dots` */
    /*
     * [num_nodes + tail_nodes][6 or 1] in the subdomain's precision: the node blocks of the diagonal, at first the subdomain's own sums
     * (the stored operator releases the data from which they are computed).  After diagonal_finish they are their inverses, in the order of
     * kernels/smoother.h.
     */
    void *blocks;
    fem_hanging *hanging;
    int8_t slot[27];
    int used;
    int64_t bytes;

    cpu_task *tasks; /* [CPU_TASKS] */
    int64_t tasks_started;
    yoke_event *half_done[2]; /* all tasks of this half of the ring have run */
    yoke_event *dots_done, *interface_done;
    yoke_event *interval_begin[CPU_INTERVALS], *interval_end[CPU_INTERVALS];
    int64_t intervals_started, intervals_read;
    double product_seconds; /* in the intervals read */
    int unmeasured;         /* nonzero: no intervals are measured */
    fem_marks profile;
};

/* Size of a value. */
static inline size_t cpu_subdomain_real_size(const cpu_subdomain *cpu)
{
    return cpu->subdomain.precision == FEM_DOUBLE ? sizeof(double) : sizeof(float);
}

/* Values per node of the diagonal's blocks. */
static inline int cpu_subdomain_block_size(const cpu_subdomain *cpu) { return cpu->subdomain.space->components == 3 ? 6 : 1; }

/* Calls one of the two instances of a vector operation by the subdomain's precision. */
#define BY_PRECISION(cpu, operation, ...) \
    ((cpu)->subdomain.precision == FEM_DOUBLE ? operation##_double(__VA_ARGS__) : operation##_float(__VA_ARGS__))

/* Runs each chunk t of the subdomain `cpu`, which must be in scope, on its own thread. */
#define FOR_CHUNKS(t) _Pragma("omp parallel for num_threads(cpu->num_chunks) schedule(static, 1)") for (int t = 0; t < cpu->num_chunks; t++)

/* ---- set-up (cpu_setup.c, cpu_chunks.c) */

/* Allocates memory that counts as the subdomain's.  Errors: MEMORY. */
yoke_status cpu_subdomain_take(cpu_subdomain *cpu, int64_t count, size_t size, void *pointer);

/*
 * Fills everything of a subdomain whose `subdomain`, `queue` and `kernels` are set, for the number of threads that OpenMP gives the calling
 * thread, which is one of the device.  Errors as fem_subdomain_cpu_create; cpu_subdomain_release releases what was created.
 */
yoke_status cpu_subdomain_setup(cpu_subdomain *cpu);
void cpu_subdomain_release(cpu_subdomain *cpu);

/* Divides the elements into num_chunks chunks, with all members of cpu_chunk except factors; element matrices are only allocated. */
yoke_status cpu_subdomain_make_chunks(cpu_subdomain *cpu);
void cpu_subdomain_release_chunks(cpu_subdomain *cpu);

/* Adds the diagonal's node blocks of the subdomain's own elements. */
void cpu_subdomain_add_diagonal(cpu_subdomain *cpu, void *blocks);

/* ---- work queue (cpu_queue.c) */

/* Creates ring, events and interface memory, which the subdomain needs to work through its device.  Errors: MEMORY, DEVICE. */
yoke_status cpu_subdomain_queue_create(cpu_subdomain *cpu);
void cpu_subdomain_queue_destroy(cpu_subdomain *cpu);

/* Starts `run` on a copy of the task, whose `cpu` is set here.  Does nothing after a failure. */
void cpu_subdomain_start(cpu_subdomain *cpu, yoke_task_function *run, const cpu_task *task);
/* The same for a part of a product, whose time is measured.  units: elements. */
void cpu_subdomain_start_measured(cpu_subdomain *cpu, yoke_task_function *run, const cpu_task *task, int64_t units);
/* cpu_subdomain_record makes `event` mark the end of the work that has been started; cpu_subdomain_wait waits for that. */
void cpu_subdomain_record(cpu_subdomain *cpu, yoke_event *event);
void cpu_subdomain_wait(cpu_subdomain *cpu, yoke_event *event);
/* Waits for all work that has been started. */
void cpu_subdomain_finish(cpu_subdomain *cpu);
/* Seconds of all work that was started as measured; NaN after a failure. */
double cpu_subdomain_measured_wait(cpu_subdomain *cpu);

/* ---- operations of cpu_vector.c for the table in cpu.c */

void cpu_subdomain_clear_chunk(const cpu_subdomain *cpu, const cpu_chunk *chunk, int width, void *y); /* width: values per node */
yoke_status cpu_vector_create(fem_subdomain *subdomain, fem_subdomain_vector **vector);
void cpu_vector_destroy(fem_subdomain *subdomain, fem_subdomain_vector *vector);
void cpu_vector_write(fem_subdomain *subdomain, fem_subdomain_vector *to, const double *from);
void cpu_vector_read_wait(fem_subdomain *subdomain, const fem_subdomain_vector *from, double *to);
void cpu_vector_zero(fem_subdomain *subdomain, fem_subdomain_vector *x);
void cpu_vector_copy_scaled(fem_subdomain *subdomain, double alpha, const fem_subdomain *from_subdomain, const fem_subdomain_vector *from,
                            fem_subdomain_vector *to);
void cpu_vector_axpy(fem_subdomain *subdomain, double alpha, const fem_subdomain_vector *x, fem_subdomain_vector *y);
void cpu_vector_xpby(fem_subdomain *subdomain, const fem_subdomain_vector *x, double beta, fem_subdomain_vector *y);
void cpu_vector_subtract(fem_subdomain *subdomain, const fem_subdomain_vector *x, const fem_subdomain_vector *y, fem_subdomain_vector *z);
void cpu_vector_advance(fem_subdomain *subdomain, double alpha, const fem_subdomain_vector *p, const fem_subdomain_vector *q,
                        fem_subdomain_vector *x, fem_subdomain_vector *r);
void cpu_vector_dots(fem_subdomain *subdomain, int count, const fem_subdomain_vector *const *x, const fem_subdomain_vector *const *y);
void cpu_vector_dots_wait(fem_subdomain *subdomain, int count, double *sums);
yoke_status cpu_rows_create(fem_subdomain *subdomain, int32_t num_rows, const fem_rows *rows, fem_subdomain_rows **out);
void cpu_rows_destroy(fem_subdomain *subdomain, fem_subdomain_rows *rows);
void cpu_rows_add(fem_subdomain *subdomain, const fem_subdomain_rows *rows, const fem_subdomain_vector *from, fem_subdomain_vector *to);
void cpu_rows_set(fem_subdomain *subdomain, const fem_subdomain_rows *rows, const fem_subdomain_vector *from, fem_subdomain_vector *to);

#endif
