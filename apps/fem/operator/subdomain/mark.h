/*
 * mark.h - the kernels of a subdomain that a profile distinguishes, and their names.
 */
#ifndef FEM_OPERATOR_SUBDOMAIN_MARK_H
#define FEM_OPERATOR_SUBDOMAIN_MARK_H

#include "yoke/yoke.h"

typedef enum fem_kernel {
    FEM_KERNEL_VECTORS,   /* sums and updates of vectors */
    FEM_KERNEL_PRODUCT,   /* elements within the subdomain */
    FEM_KERNEL_INTERFACE, /* elements at the interface, and packing their sums */
    FEM_KERNEL_HALO,      /* copying the totals of all subdomains into the vector */
    FEM_KERNEL_SMOOTHER,  /* node blocks: the smoother's steps, or the preconditioner */
    FEM_KERNEL_TRANSFER,  /* between levels */
    FEM_NUM_KERNELS
} fem_kernel;

/* The run that records when kernels are at work.  run NULL: none. */
typedef struct fem_marks {
    yoke_run *run; /* borrowed */
    int64_t device;
    yoke_queue *queue;
    const char *const *names; /* [FEM_NUM_KERNELS] */
} fem_marks;

/* Names of the kernels of a decomposition; level as in fem_decomposition_options. */
const char *const *fem_kernel_names(int level);

/*
 * fem_mark_begin: work that is started from here on belongs to that kernel.  fem_mark_end: it belongs to no kernel.  Errors: those of
 * yoke_run_mark.
 */
static inline yoke_status fem_mark_begin(const fem_marks *marks, fem_kernel kernel)
{
    return marks->run ? yoke_run_mark(marks->run, marks->device, marks->queue, marks->names[kernel]) : YOKE_OK;
}
static inline yoke_status fem_mark_end(const fem_marks *marks)
{
    return marks->run ? yoke_run_mark(marks->run, marks->device, marks->queue, NULL) : YOKE_OK;
}

#endif
