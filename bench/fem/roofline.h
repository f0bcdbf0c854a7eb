/*
 * roofline.h - how many operations products take, and the roofline: operations per second over operations per byte, beside what the
 * machine allows.
 */
#ifndef BENCH_FEM_ROOFLINE_H
#define BENCH_FEM_ROOFLINE_H

#include "common/machine/ceilings.h"
#include "fem/axmebe.h"

/*
 * Additions and multiplications of a product: of the plain sum factorisation (docs/notes/benchmarks-solver.md has the counts), or two for each
 * entry of the element matrices.  What an implementation saves or adds, and interpolation at hanging nodes, does not count.
 */
double fem_bench_flops(const fem_space *space, int variant);

/* Threads of the host's cores in a set of devices; 0: other devices are in it. */
int fem_bench_host_threads(const char *set);

/* roofline.dat and roofline.gp, which draws roofline.svg, into a directory that exists.  Errors: INPUT, SYSTEM. */
yoke_status fem_bench_write_roofline(const fem_axmebe_result *result, const char *directory);

#endif
