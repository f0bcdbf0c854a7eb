/* axmebe_output.h - table, data, figures and record of `yoke bench axmebe`. */
#ifndef BENCH_FEM_AXMEBE_OUTPUT_H
#define BENCH_FEM_AXMEBE_OUTPUT_H

#include <jansson.h>

#include "fem/axmebe.h"

void fem_axmebe_print_header(app_terminal *terminal);
/* A fem_axmebe_report whose user is the terminal. */
void fem_axmebe_print_row(const fem_axmebe_row *row, void *terminal);
/* Prints the ceilings of the host's cores, by number of threads. */
void fem_axmebe_print_ceilings(app_terminal *terminal, const fem_axmebe_result *result);
/* Prints by which factor halo exchange moves less than full exchange, if both were measured. */
void fem_axmebe_print_exchange(app_terminal *terminal, const fem_axmebe_result *result);

/* Prints the cost of hanging nodes, for each row of a mesh with them whose counterpart without them was measured too. */
void fem_axmebe_print_hanging(app_terminal *terminal, const fem_axmebe_result *result);
/* Prints the speed-up of several threads of the host's cores over one thread, if both were measured. */
void fem_axmebe_print_scaling(app_terminal *terminal, const fem_axmebe_result *result);

/* Arrays with an object for each row (docs/notes/benchmarks.md), and for each number of threads.  NULL: out of memory. */
json_t *fem_axmebe_rows(const fem_axmebe_result *result);
json_t *fem_axmebe_ceilings(const fem_axmebe_result *result);

/*
 * Writes axmebe.dat (a block for each set of devices and variant), axmebe.gp, and, if gnuplot is installed, throughput.svg (all variants)
 * and variants.svg (fig. 7 of Lang and Ruenger 2013: time of a product with transfers, by variant) into an existing directory; also the
 * roofline.
 * *drawn: whether the figures were drawn.  Errors: INPUT, SYSTEM.
 */
yoke_status fem_axmebe_write(const fem_axmebe_result *result, const char *directory, bool *drawn);

#endif
