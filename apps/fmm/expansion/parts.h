/*
 * parts.h - the data of operators; private to this folder and its tests.
 */
#ifndef FMM_EXPANSION_PARTS_H
#define FMM_EXPANSION_PARTS_H

#include "expansion/kernels/kernels.h"
#include "expansion/waves.h"

enum {
    FMM_MAX_ANGLES = 25, /* number of polar angles of the 316 directions of M2L, all reflected to the upper half */
    FMM_DIRECTIONS = 7 * 7 * 7,
    FMM_OCTANTS = 8,
    FMM_MAX_BATCH = 4 * FMM_MAX_PAIRS /* maximum number of pairs of M2L that are passed to a kernel at once */
};

struct fmm_operators {
    yoke_context *context;
    const fmm_kernels *kernels;
    int order;
    int multipole, local; /* where imaginary parts begin in these expansions */
    double *numbers;      /* the data to which the pointers below and in translations point */
    fmm_recurrence regular, irregular;
    int angles;
    struct {
        int vertical, horizontal; /* squares of the components of the first direction with this angle */
        int order;                /* the highest order that its directions need */
        double *rotation, *rotation_back;
    } angle[FMM_MAX_ANGLES];
    double *octant_rotation[4]; /* of multipole and of local expansions, and back */
    fmm_translation m2l[FMM_DIRECTIONS], m2m[FMM_OCTANTS], l2l[FMM_OCTANTS];
};

typedef struct fmm_wave_node {
    double node, weight;
    int angles, modes;
} fmm_wave_node;

struct fmm_waves {
    yoke_context *context;
    const fmm_kernels *kernels;
    const fmm_wave_node *node;
    int multipole, local; /* where imaginary parts begin in these expansions */
    fmm_wave_tables tables;
    double *numbers; /* the data to which pointers in tables point */
    double *none;    /* an expansion of zeros */
};

#endif
