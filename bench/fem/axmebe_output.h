/*
 * axmebe_output.h - the table, the data, the figures and the record of `yoke bench axmebe`.
 */
#ifndef BENCH_FEM_AXMEBE_OUTPUT_H
#define BENCH_FEM_AXMEBE_OUTPUT_H

#include <jansson.h>

#include "fem/axmebe.h"

void fem_axmebe_print_header(app_terminal *terminal);
/* A fem_axmebe_report with the terminal as its user. */
void fem_axmebe_print_row(const fem_axmebe_row *row, void *terminal);
/* The ceilings of the host's cores, by number of threads. */
void fem_axmebe_print_ceilings(app_terminal *terminal, const fem_axmebe_result *result);
/* How many times less halo exchange moves than full exchange, wherever both were measured. */
void fem_axmebe_print_exchange(app_terminal *terminal, const fem_axmebe_result *result);

/* What hanging nodes cost, for each row of a mesh with them whose like without them was measured too. */
void fem_axmebe_print_hanging(app_terminal *terminal, const fem_axmebe_result *result);
/* How many times faster several threads of the host's cores are than one, wherever both were measured. */
void fem_axmebe_print_scaling(app_terminal *terminal, const fem_axmebe_result *result);

/* Arrays with an object for each row (docs/notes/benchmarks.md), and for each number of threads.  NULL where memory ends. */
json_t *fem_axmebe_rows(const fem_axmebe_result *result);
json_t *fem_axmebe_ceilings(const fem_axmebe_result *result);

/*
 * axmebe.dat (a block for each set of devices and variant), axmebe.gp, and, where gnuplot is installed, throughput.svg (all variants) and
 * variants.svg (fig. 7 of Lang and Ruenger 2013: time of a product with transfers, by variant) into a directory that exists; and the roofline.
 * *drawn: whether the figures were made.  Errors: INPUT, SYSTEM.
 */
yoke_status fem_axmebe_write(const fem_axmebe_result *result, const char *directory, bool *drawn);

#endif
