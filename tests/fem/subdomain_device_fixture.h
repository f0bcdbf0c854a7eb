/*
 * subdomain_device_fixture.h - for tests of the device subdomain: the device that the environment variable YOKE_TEST_DEVICE names (default:
 * openmp, where kernels are host functions), of the machine file that YOKE_TEST_MACHINE names.
 */
#ifndef TEST_SUBDOMAIN_DEVICE_FIXTURE_H
#define TEST_SUBDOMAIN_DEVICE_FIXTURE_H

#include "block.h"
#include "operator/subdomain/subdomain.h"

extern const fem_element device_elements[3];
extern const char *const device_element_names[3];

/* Whether it compiles kernels, which takes its time. */
int device_compiles(void);

/*
 * Device, queue and programs of a block's context, in options; given back, options are zero.  Kernels get groups of many items also where
 * the device would have one, so that a missing barrier shows without a GPU.  Failures end the test.
 */
void device_open(const block *b, fem_subdomain_options *options);
void device_close(fem_subdomain_options *options);

/*
 * A subdomain on the block's space with the inverse blocks of its diagonal; failures, and those that it has seen in the end, end the test.
 */
fem_subdomain *device_make(const block *b, const fem_subdomain_options *options);
void device_destroy(const block *b, fem_subdomain *subdomain);

/* Kinds of subdomain: precision x operator. */
enum { DEVICE_KINDS = 4 };
void device_set_kind(fem_subdomain_options *options, int kind);

/* Relative to the largest value. */
double device_tolerance(fem_precision precision);

/* For visit_matrices: y += A u by the matrices of the elements, whose visits are counted. */
typedef struct device_matrices {
    const block *b;
    const double *u;
    double *y;
    int32_t *visits;
} device_matrices;
void device_add_matrix(int32_t element, const double *packed, void *user);

/* Setup of a test group: MPI; leaves with 77 where the device is not there. */
int device_start(void **state);

#endif
