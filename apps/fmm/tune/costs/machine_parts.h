/*
 * machine_parts.h - what the files of machine.h share; private to them.
 */
#ifndef FMM_TUNE_COSTS_MACHINE_PARTS_H
#define FMM_TUNE_COSTS_MACHINE_PARTS_H

#include "tune/costs/machine.h"

/* Nonzero: an operation is measured at this order. */
int fmm_is_measured(fmm_operation operation, int size);

/* Nonzero: an operation that is needed at all orders is one on the near field in these precisions, or has none. */
int fmm_is_in(fmm_operation operation, fmm_precisions precisions);
/* Nonzero: what is measured of an order is known. */
int fmm_machine_knows_order(const fmm_machine *machine, int order);

enum { FMM_TEXT_BYTES = 96 };
/* The operation in words, for users: what is being measured. */
void fmm_operation_text(fmm_operation operation, int size, int gradient, char text[FMM_TEXT_BYTES]);

/* What the run and its store know, into machine->unit, and all that is found from it; what they do not know stays as it was.  Errors: those of yoke_run_predict. */
yoke_status fmm_machine_read(yoke_run *run, int64_t device, int gradient, fmm_machine *machine);

/* All costs from machine->unit. */
void fmm_machine_find_costs(fmm_machine *machine);

#endif
