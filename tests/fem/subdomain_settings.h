/*
 * subdomain_settings.h - for tests of the CPU subdomain: all that it can be asked for, a mesh with everything in it, and products through
 * its vectors.
 */
#ifndef TEST_SUBDOMAIN_SETTINGS_H
#define TEST_SUBDOMAIN_SETTINGS_H

#include "block.h"
#include "operator/subdomain/subdomain.h"

typedef struct subdomain_setting {
    fem_subdomain_options options;
    int threads;
    char text[80];
} subdomain_setting;

/* Instruction sets of this processor x precision x operator x 1 to 3 threads; returns how many. */
enum { SUBDOMAIN_MAX_SETTINGS = FEM_MAX_KERNELS * 2 * 2 * 3 };
int subdomain_settings(subdomain_setting list[SUBDOMAIN_MAX_SETTINGS]);

/* Curved, turned elements of two materials, refined so that many faces and edges hang; enough elements for three threads. */
void subdomain_create_hanging(block *b, int components);

/* A subdomain on the block's space, with as many threads, with the inverse blocks of its diagonal; failures end the test. */
fem_subdomain *subdomain_make(const block *b, int threads, const fem_subdomain_options *options);

int64_t subdomain_dofs(const block *b);

/*
 * What a decomposition does between subdomains, for a subdomain that has no others: the totals are its own sums.  width: values per node.
 */
void subdomain_exchange_alone(fem_subdomain *subdomain, int width);

/* y = A u through vectors of a subdomain. */
void subdomain_multiply(fem_subdomain *subdomain, int masked, const double *u, double *y);

double subdomain_dot(const double *a, const double *b, int64_t count);

#endif
