/*
 * study.h - the experiments of Clarke and others, sect. 1.8 and 1.9, on a simulated cluster.
 */
#ifndef CLARKE_STUDY_H
#define CLARKE_STUDY_H

#include "clarke/product.h"

enum {
    CLARKE_STRATEGIES = YOKE_NESTED_HOMOGENEOUS + 1,
    CLARKE_MAX_SIZES = 16,
    CLARKE_MAX_STEPS = 24,
    CLARKE_CURVES = 5,
    CLARKE_POINTS = 18
};

/* A strategy applied to matrices of blocks x blocks (table and Figure 1.10). */
typedef struct clarke_run {
    int64_t blocks;
    yoke_nested_strategy strategy;
    double imbalance; /* of the nodes' seconds in a step, computed by the models' kernel: (longest - shortest) / shortest */
    int64_t rounds, timings;
    bool converged;
    double measuring_s;     /* time of the measurements for the partition */
    clarke_traffic traffic; /* by the network model */
    double operations_per_s;
    int64_t edge, wrong; /* edge of a block in the product that was actually computed, 0: none; number of errors found */
    yoke_rectangle nodes[CLARKE_MAX_NODES];
} clarke_run;

/* One step of a partial functional model: four devices share units (Figure 1.6). */
typedef struct clarke_model_step {
    int64_t units[4];
    double seconds[4], imbalance;
} clarke_model_step;

/* Speed of a node as a function of the blocks of its square of C, with its devices balanced (Figure 1.9). */
typedef struct clarke_curve {
    char name[48];
    double blocks[CLARKE_POINTS], operations_per_s[CLARKE_POINTS];
} clarke_curve;

typedef struct clarke_study {
    clarke_cluster cluster;
    int num_runs, num_steps;
    clarke_run runs[CLARKE_MAX_SIZES * CLARKE_STRATEGIES];
    clarke_model_step steps[CLARKE_MAX_STEPS];
    clarke_curve curves[CLARKE_CURVES];
} clarke_study;

/* fpm, cpm-multi, cpm, even: the names of yoke dense gemm --partition. */
const char *clarke_strategy_name(yoke_nested_strategy strategy);

/*
 * Partitions matrices of blocks x blocks, and computes the product with blocks of edge x edge numbers; edge 0: no product.  stated: as in
 * clarke_limits; 0: limits are not known.
 * Errors: those of yoke_plan_nested, MEMORY.
 */
yoke_status clarke_try(yoke_context *context, clarke_cluster *cluster, yoke_nested_strategy strategy, int64_t blocks, int64_t edge,
                       double stated, clarke_run *run);
/* Four nodes with one device each. */
yoke_status clarke_partial_models(yoke_context *context, clarke_study *study);
yoke_status clarke_speed_functions(yoke_context *context, clarke_study *study);

#endif
