/*
 * distribution.h - which device works on how many elements, from step to step of the refinement.
 */
#ifndef FEM_ADAPT_DISTRIBUTION_H
#define FEM_ADAPT_DISTRIBUTION_H

#include "adapt/planning.h"
#include "output/record.h"

/* Which devices of the list are used; AUTO: all that pay. */
typedef enum fem_use { FEM_USE_AUTO, FEM_USE_CPU, FEM_USE_GPU, FEM_USE_BOTH } fem_use;

typedef struct fem_distribution_options {
    /* Names separated by commas.  NULL or "auto": of a simulated machine all devices; else all cores and every GPU, by the first interface that has it. */
    const char *devices;
    const char *machine; /* a machine file for sim: devices, or NULL */
    const char *store;   /* a file with what earlier runs measured: read at the start, written after each step; or NULL */
    fem_use use;
    yoke_balance_policy policy;
    double gpu_share; /* of the elements, fixed; NaN: the policy decides */
    fem_exchange exchange;
    fem_plan_options plan;
    const fem_case *input; /* for the powers that it declares; borrowed */
    fem_operator operator_kind;
    const char *work; /* what an element costs, for the store: "q2 elasticity matrixfree" */
    int64_t rounds;   /* refinement steps that may come */
} fem_distribution_options;

typedef struct fem_distribution fem_distribution;

/*
 * Opens the devices and starts the balancer: at equal shares, or by what the store has.  What the store says is used for the same work on devices of the
 * same description only.  The options' texts are borrowed.
 * Errors: INPUT (device list, share without a GPU or without a CPU, machine or store file), UNAVAILABLE (no such device: why, remedy), DEVICE,
 * MEMORY.
 */
yoke_status fem_distribution_create(yoke_context *context, const fem_distribution_options *options, fem_distribution **distribution);
void fem_distribution_destroy(fem_distribution *distribution);

int fem_distribution_has_gpu(const fem_distribution *distribution);
int fem_distribution_devices(const fem_distribution *distribution);

/*
 * Takes the meter (NULL: there is none), finds powers that need not be measured, and the clocks.  simulated: the meter is of simulated devices.
 * Errors: INPUT (the objective needs powers, and nothing tells them: what to do).
 */
yoke_status fem_distribution_meter(fem_distribution *distribution, yoke_meters *meter, int simulated);

/*
 * Decides the cut for a mesh and writes what fem_solve needs to know of it into *options: devices, cut, exchange.  Sets the clocks.  Before the first
 * steps the devices make some products alone, where powers have to be measured.
 * Errors: those of the balancer (more elements than fit), of trials and plans, DEVICE (none is left).
 */
yoke_status fem_distribution_plan(fem_distribution *distribution, const fem_space *space, const fem_constraints *constraints,
                                  fem_solve_options *options);

/*
 * Takes what the solve measured, writes what there is to say into the step's record (parts, share, case, predictions, decision; borrowed from
 * the distribution until the next plan) and remembers it for the next plan.
 * Errors: MEMORY, SYSTEM, INPUT (the store cannot be written).
 */
yoke_status fem_distribution_report(fem_distribution *distribution, const fem_solution *solution, fem_step_record *record);

/* part [elements]: the number of the part (as in the record) that works on each element. */
void fem_distribution_parts(const fem_distribution *distribution, int64_t elements, int32_t *part);

#endif
