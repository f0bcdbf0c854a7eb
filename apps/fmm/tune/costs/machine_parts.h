/*
 * machine_parts.h - declarations shared by the files of machine.h; private to them.
 */
#ifndef FMM_TUNE_COSTS_MACHINE_PARTS_H
#define FMM_TUNE_COSTS_MACHINE_PARTS_H

#include "tune/costs/machine.h"

/* Nonzero: an operation is measured at this order. */
int fmm_is_measured(fmm_operation operation, int size);

/* Nonzero: an operation that all orders need is an operation on the near field in one of these precisions, or has no precision. */
int fmm_is_in(fmm_operation operation, fmm_precisions precisions);
/* Nonzero: all costs that are measured for an order are known. */
int fmm_machine_knows_order(const fmm_machine *machine, int order);

enum { FMM_TEXT_BYTES = 96 };
/* Writes the operation in words, for users. */
void fmm_operation_text(fmm_operation operation, int size, int gradient, char text[FMM_TEXT_BYTES]);

/* Reads the costs that the run and its store know to machine->unit, and finds all other costs from them; costs that they do not know stay.
 * Errors: those of yoke_run_predict. */
yoke_status fmm_machine_read(yoke_run *run, int64_t device, int gradient, fmm_machine *machine);

/* Finds all costs from machine->unit. */
void fmm_machine_find_costs(fmm_machine *machine);

#endif
