/*
 * part_settings.h - for tests of the CPU part: all that it can be asked for, a mesh with everything in it, and products through its vectors.
 */
#ifndef TEST_PART_SETTINGS_H
#define TEST_PART_SETTINGS_H

#include "block.h"
#include "operator/part.h"

typedef struct part_setting {
    fem_part_options options;
    int threads;
    char text[80];
} part_setting;

/* Instruction sets of this processor x precision x operator x 1 to 3 threads; returns how many. */
enum { PART_MOST_SETTINGS = FEM_MOST_KERNELS * 2 * 2 * 3 };
int part_settings(part_setting list[PART_MOST_SETTINGS]);

/* Curved, turned elements of two materials, refined so that many faces and edges hang; enough elements for three threads. */
void part_create_hanging(block *b, int components);

/* A part on the block's space, with as many threads, with the inverse blocks of its diagonal; failures end the test. */
fem_part *part_make(const block *b, int threads, const fem_part_options *options);

int64_t part_dofs(const block *b);

/* What a team does between parts, for a part that has no others: the totals are its own sums.  width: values per node. */
void part_exchange_alone(fem_part *part, int width);

/* y = A u through vectors of a part. */
void part_multiply(fem_part *part, int masked, const double *u, double *y);

double part_dot(const double *a, const double *b, int64_t count);

#endif
