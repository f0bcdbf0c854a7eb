/*
 * device.h - the internals of the device subdomain, shared by its tables, its set-up and its operations.
 *
 * Elements are reordered: those that touch interface nodes come first.  Each of these two phases has batches, with one launch each: one for
 * a phase, or one for each of its colours.  Within a batch curved elements come before affine ones, which need no factors at their points.
 *
 * A product is two kernels for each phase: the first computes each element's own result, the second the sum at each node over its elements
 * in a fixed order.  No two items add to the same value, and results are bitwise reproducible.  Alternatively elements add to the result
 * themselves, by colours or by atomic additions (fem_adding).
 *
 * All functions except those that wait only put work into the device's queue.  On a GPU the interface values are transferred by a second
 * queue, at the same time as the interior elements are computed.
 */
#ifndef FEM_OPERATOR_SUBDOMAIN_DEVICE_H
#define FEM_OPERATOR_SUBDOMAIN_DEVICE_H

#include "operator/kernels/subdomain_host.h"
#include "operator/subdomain/subdomain.h"

/* One instance of the kernels. */
typedef struct device_program {
    yoke_program *program;
    yoke_function *function[FEM_SUBDOMAIN_NUM_KERNELS];
    int warm[2][3]; /* by operator and way of adding; nonzero: its kernels have run */
} device_program;

/*
 * The instance for these parameters, `atomic`: with atomic additions; compiled at the first call.  Borrowed.  Errors: DEVICE, UNAVAILABLE,
 * MEMORY.
 */
yoke_status device_programs_get(fem_programs *programs, fem_precision precision, int slots_1d, int components, int atomic,
                                device_program **program);

/* ---- elements that are launched together, as in kernels/subdomain_element.h */

typedef struct device_batch {
    int32_t begin, middle, end, curved_at, affine_at;
} device_batch;

/* The part of a batch with elements begin .. end - 1, which may be empty. */
device_batch device_batch_cut(device_batch batch, int32_t begin, int32_t end);

/* ---- tables on the host (device_tables.c, device_order.c) */

/* All data that is uploaded, in the order of the device's elements. */
typedef struct device_tables {
    int32_t *element;    /* [elements] the space's number */
    device_batch *batch; /* [num_batches]; the first border_batches have the elements that touch interface nodes */
    int32_t num_batches, border_batches;
    int32_t num_affine;
    int used;               /* number of slots that have nodes */
    int8_t slot[27];        /* [used] their numbers */
    int32_t *nodes;         /* [elements][used] */
    int identity, patterns; /* as in kernels/subdomain_element.h */
    int16_t *pattern;       /* [elements] */
    int32_t *row_start;     /* [3 tables][patterns][slots] + 1 */
    uint8_t *row_entry;     /* [rows' entries] */
    float *row_weight;      /* [rows' entries] */
    int64_t row_entries;
    double *slopes;                 /* [slots (points)][slots][3] */
    void *moduli;                   /* [elements][2] in the subdomain's precision: lambda, mu */
    int32_t *sum_start, *sum_place; /* [nodes + 1], [elements x used]: where the results for a node are, as in kernels/subdomain_values.h */
    int32_t *node_list;             /* [nodes] the interface nodes, then the others; NULL without interface */
    int64_t *masked;                /* prescribed dofs, ascending */
    int64_t num_masked;
} device_tables;

/* Errors: MEMORY, DEVICE_MEMORY (more elements than the kernels can count).  device_tables_release releases what was created. */
yoke_status device_tables_make(const fem_subdomain *subdomain, fem_adding adding, int all_curved, device_tables *tables);
void device_tables_release(yoke_context *context, device_tables *tables);

/*
 * Fills element, batches and node_list (device_order.c); `used` and `slot` are set, and `element` and `node_list` are allocated.
 * Errors: MEMORY.
 */
yoke_status device_tables_order(const fem_subdomain *subdomain, fem_adding adding, int all_curved, device_tables *tables);

/* ---- the subdomain */

struct fem_subdomain_vector {
    yoke_buffer *data; /* [num_nodes][components] in the subdomain's precision */
};

struct fem_subdomain_rows {
    int32_t num_rows;
    int64_t bytes;
    yoke_buffer *start, *node, *weight;
};

/*
 * Events around the transfer of interface values, and around a whole product to measure its time.  `begin` and `end`: around all elements.
 * `packed`: the values were ready.  `read`: they were on the host.  `write`, `written`: around their transfer back.  `done`: they were in
 * the vector.
 */
typedef struct device_marks {
    yoke_event *begin, *packed, *end, *read, *write, *written, *done;
    int has_read, has_written;
} device_marks;

/* Number of products whose times are not read so far; groups of `dots`; bytes of the staging memory for vectors. */
enum { DEVICE_MARKS = 16, DEVICE_DOT_GROUPS = 256, DEVICE_STAGING = 4 << 20 };

typedef struct device_subdomain {
    fem_subdomain subdomain;
    fem_programs *own_programs; /* NULL: borrowed */
    device_program *program;
    yoke_queue *queue;    /* borrowed */
    yoke_queue *transfer; /* for interface values: its own queue, or the same one */
    int group_items;
    fem_adding adding;
    int all_curved; /* nonzero: elements are not checked for being affine */
    int32_t num_nodes, num_elements, num_affine, num_batches, border_batches;
    device_batch *batch; /* as in device_tables */
    int used, identity, patterns;
    int64_t num_masked;
    yoke_buffer *nodes, *pattern, *row_start, *row_entry, *row_weight, *moduli;
    yoke_buffer *factors, *stored; /* one of them */
    yoke_buffer *affine;           /* factors of the affine elements; NULL with stored matrices */
    yoke_buffer *results;          /* [elements][used][components]; NULL if elements add to the result */
    yoke_buffer *sum_start, *sum_place, *node_list, *masked, *prescribed, *owned;
    yoke_buffer *blocks;                    /* [nodes][6 or 1]: own sums; after diagonal_finish their inverses */
    yoke_buffer *packed_own, *packed_total; /* [num_interface][6 or 1] */
    yoke_buffer *dot_sums;                  /* [groups][FEM_SUBDOMAIN_DOTS] doubles */
    int dot_groups;
    double *dot_host; /* pinned, of the same size */
    void *staging;    /* pinned; free when staging_free is reached */
    int64_t staging_values;
    yoke_event *staging_free, *dots_done;
    int32_t *element; /* [elements] the space's number */
    int64_t bytes;
    int measured;
    fem_marks profile;
    int at_interface;                 /* nonzero: the elements that are launched now are at the interface */
    device_marks plain;               /* for interface values without a measured product: packed, read and written only */
    device_marks marks[DEVICE_MARKS]; /* a ring */
    device_marks *product;            /* marks of the present product; NULL: there is none, or it is not measured */
    yoke_event *reading;              /* the latest `read` */
    int64_t marks_started, marks_read;
    double product_seconds;
} device_subdomain;

/* Size of a value; values per node of the diagonal's blocks. */
static inline int64_t device_subdomain_real_size(const device_subdomain *d) { return d->subdomain.precision == FEM_DOUBLE ? 8 : 4; }
static inline int device_subdomain_block_size(const device_subdomain *d) { return d->subdomain.space->components == 3 ? 6 : 1; }

/* Stores the first failure in subdomain.status; returns `status`. */
yoke_status device_subdomain_keep(device_subdomain *d, yoke_status status);

/* The sizes of a launch of a kernel. */
typedef struct device_launch {
    int kernel;     /* FEM_SUBDOMAIN_KERNEL_... */
    int64_t groups; /* 0: nothing is done */
    int64_t items;  /* of a group */
    int64_t units;
} device_launch;

/* Kernels over `values` values, in blocks of FEM_BLOCK. */
device_launch device_launch_values(int kernel, int64_t values);
/* Kernels over elements, `at_once` per group. */
device_launch device_launch_elements(const device_subdomain *d, int kernel, int64_t elements, int at_once, int items);
/* Kernels over a batch's elements, at most FEM_PRODUCT_ELEMENTS of one kind per group. */
device_launch device_launch_batch(const device_subdomain *d, int kernel, device_batch batch);

/* Starts a kernel, if nothing has failed. */
void device_subdomain_launch(device_subdomain *d, device_launch launch, const yoke_argument *arguments, int64_t count);

/* Allocates device memory that counts as the subdomain's; 0 bytes are allowed.  Errors: DEVICE_MEMORY, DEVICE, MEMORY. */
yoke_status device_subdomain_take(device_subdomain *d, int64_t bytes, yoke_buffer **buffer);

/*
 * Creates everything of a subdomain whose `subdomain`, `program` and `queue` are set; waits for the device.  Errors as
 * fem_subdomain_device_create; device_subdomain_release releases what was created.
 */
yoke_status device_subdomain_setup(device_subdomain *d);
void device_subdomain_release(device_subdomain *d);

/*
 * Computes the matrices of a batch from its factors; `stored` begins with the element stored_begin.  affine may be NULL if there are no
 * affine elements.
 */
void device_subdomain_matrices(device_subdomain *d, device_batch batch, yoke_buffer *factors, yoke_buffer *affine, yoke_buffer *stored,
                               int32_t stored_begin);

/* The functions of the table that are not in device.c. */
yoke_status device_vector_create(fem_subdomain *subdomain, fem_subdomain_vector **vector);
void device_vector_destroy(fem_subdomain *subdomain, fem_subdomain_vector *vector);
void device_vector_write(fem_subdomain *subdomain, fem_subdomain_vector *to, const double *from);
void device_vector_read_wait(fem_subdomain *subdomain, const fem_subdomain_vector *from, double *to);
void device_vector_zero(fem_subdomain *subdomain, fem_subdomain_vector *x);
void device_vector_copy_scaled(fem_subdomain *subdomain, double alpha, const fem_subdomain *from_subdomain,
                               const fem_subdomain_vector *from, fem_subdomain_vector *to);
void device_vector_axpy(fem_subdomain *subdomain, double alpha, const fem_subdomain_vector *x, fem_subdomain_vector *y);
void device_vector_xpby(fem_subdomain *subdomain, const fem_subdomain_vector *x, double beta, fem_subdomain_vector *y);
void device_vector_subtract(fem_subdomain *subdomain, const fem_subdomain_vector *x, const fem_subdomain_vector *y,
                            fem_subdomain_vector *z);
void device_vector_advance(fem_subdomain *subdomain, double alpha, const fem_subdomain_vector *p, const fem_subdomain_vector *q,
                           fem_subdomain_vector *x, fem_subdomain_vector *r);
void device_vector_dots(fem_subdomain *subdomain, int count, const fem_subdomain_vector *const *x, const fem_subdomain_vector *const *y);
void device_vector_dots_wait(fem_subdomain *subdomain, int count, double *sums);
yoke_status device_rows_create(fem_subdomain *subdomain, int32_t num_rows, const fem_rows *rows, fem_subdomain_rows **out);
void device_rows_destroy(fem_subdomain *subdomain, fem_subdomain_rows *rows);
void device_rows_add(fem_subdomain *subdomain, const fem_subdomain_rows *rows, const fem_subdomain_vector *from, fem_subdomain_vector *to);
void device_rows_set(fem_subdomain *subdomain, const fem_subdomain_rows *rows, const fem_subdomain_vector *from, fem_subdomain_vector *to);

#endif
