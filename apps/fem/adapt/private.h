/*
 * private.h - the state of the adaptive loop: begin.c prepares it, solve.c solves on a mesh, adapt.c refines and ends.
 */
#ifndef FEM_ADAPT_PRIVATE_H
#define FEM_ADAPT_PRIVATE_H

#include "adapt/adapt.h"
#include "output/table.h"

enum { FEM_PATH_LENGTH = 4096 };

typedef struct fem_adaptation {
    const fem_run *run;
    const fem_case *input;
    const fem_problem *problem;
    yoke_context *context;
    app_ranks *ranks;
    fem_operator operator_kind;
    fem_forest *forest;
    fem_distribution *distribution;
    fem_coarse_keeper *keeper; /* keeps the last level of the multigrid, which often does not change from step to step */
    bool titled;               /* the table's header is printed */
    fem_solver_choice choice;
    fem_results *results;
    fem_summary *summary;
    fem_record *record;
    fem_table table;
    fem_hooks hooks;
    int num_probes;
    fem_probe *probes;
    int64_t memory_bytes; /* of the machine */
    int step;
    int64_t dofs; /* for the progress line */
    fem_step now, before;
    double refine_s, partition_s;
    bool finished; /* at least one step is on disk */
    fem_keep keep;
    double *start; /* iterate of the checkpoint on the mesh with which the run continues; NULL: none */
    char record_path[FEM_PATH_LENGTH];
} fem_adaptation;

/*
 * Creates forest, distribution and everything else that may detect invalid input; writes nothing.  Collective.  Errors: INPUT, MEMORY,
 * SYSTEM.
 */
yoke_status fem_adaptation_prepare(fem_adaptation *a);
/*
 * Opens results, record and checkpoints, and continues from a checkpoint if the run requests it.  Collective.  Errors: INPUT, MEMORY,
 * SYSTEM.
 */
yoke_status fem_adaptation_begin(fem_adaptation *a);
/*
 * Distributes the mesh over the ranks by their known speeds, before any solve.  If speeds are not known, elements stay on their ranks.
 * Collective.  Errors: those of fem_distribution_learn and fem_distribution_shares.
 */
yoke_status fem_adaptation_distribute(fem_adaptation *a);
/*
 * Distributes the mesh, solves, estimates, writes, and prints the line of the table.
 * Collective.  Errors: NUMERIC, MEMORY, SYSTEM, INTERRUPTED.
 */
yoke_status fem_adaptation_step(fem_adaptation *a);

#endif
