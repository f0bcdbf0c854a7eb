/*
 * roofline.h - numbers of operations of products, and the roofline: operations per second as a function of operations per byte, compared
 * with the limits of the machine.
 */
#ifndef BENCH_FEM_ROOFLINE_H
#define BENCH_FEM_ROOFLINE_H

#include "common/machine/ceilings.h"
#include "fem/axmebe.h"

/*
 * Additions and multiplications of a product: those of plain sum factorisation (docs/notes/benchmarks-solver.md has the counts), or two for
 * each entry of the element matrices.  Savings or additions of an implementation, and interpolation at hanging nodes, do not count.
 */
double fem_bench_flops(const fem_space *space, int variant);

/* Number of threads of the host's cores in a set of devices; 0: the set has other devices. */
int fem_bench_host_threads(const char *set);

/* Writes roofline.dat, and roofline.gp, which draws roofline.svg, into an existing directory.  Errors: INPUT, SYSTEM. */
yoke_status fem_bench_write_roofline(const fem_axmebe_result *result, const char *directory);

#endif
