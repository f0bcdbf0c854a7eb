/*
 * derivatives.h - element kernels on positions and solution at the nodes: derivatives at points inside elements and on their faces, for the
 * error estimate (estimate.h) and the nodal stress (stress.h).
 *
 * Like the kernels of batch.h they process several elements at once, one per lane of a SIMD vector; the table of an instruction set
 * (fem_kernels) points to them.  They read the data that fem_packed_create of ../packed.h creates.
 */
#ifndef FEM_OPERATOR_KERNELS_DERIVATIVES_H
#define FEM_OPERATOR_KERNELS_DERIVATIVES_H

#include "operator/kernels/batch.h"
#include "space/problem/problem.h"

enum { FEM_PACKED = 8, FEM_PACKED_TEMPERATURE = 6, FEM_MAX_SLOTS = 27, FEM_STRESS_POINTS = 8 };

/* Number of fields that the kernels read: the position, the solution, and with thermal strains the temperature. */
enum { FEM_POISSON_FIELDS = 4, FEM_ELASTIC_FIELDS = 6, FEM_THERMAL_FIELDS = 7 };

/* Elements are numbered leaves first, then ghosts. */
typedef struct fem_packed_solution {
    int slots_1d, components, thermal, serendipity;
    int32_t num_elements;         /* leaves */
    int32_t num_total;            /* leaves and ghosts */
    const int32_t *element_nodes; /* [num_elements][slots] */
    const int16_t *face_code;     /* [num_elements] */
    const fem_hanging *hanging;   /* [FEM_FACE_CODES] */
    const double *packed;         /* [num_nodes][FEM_PACKED] position, solution, zeros; at 6 the temperature */
    const double *ghosts;         /* [ghosts][slots][FEM_PACKED] the same at all slots */
    const int16_t *material;      /* [num_total] */
    const fem_material *materials;
    const fem_fields *fields;
    const fem_rotation *rotation;      /* NULL: none */
    int8_t inward[6][FEM_MAX_SLOTS];   /* [face] slots, those on the face first, then layer by layer; in a layer s is fastest */
    double end[3];                     /* derivative at the lower end of a direction, from its nodes */
    double weight[3];                  /* of the slots_1d Gauss points */
    double value[11][3], first[11][3]; /* [point][node] shape functions in one direction, at the points named below */
} fem_packed_solution;

/* First indices of the Gauss points, of the Gauss points of both halves, and of the two Gauss points of the stress. */
enum { FEM_WHOLE_POINTS = 0, FEM_HALF_POINTS = 3, FEM_TWO_POINTS = 9 };

/* Quantities of each element that the estimate needs. */
typedef struct fem_element_terms {
    double *volume;   /* [num_total] */
    double *residual; /* [num_total] integral of |f + div sigma|^2 */
    double *energy;   /* [num_total] a(u, u); with thermal strains the integral of (eps - eps_T) : sigma */
    double *area;     /* [num_total][6] */
    double *traction; /* [num_total][6][points of a face][width], times the root of weight x area element: components, for elasticity also
                         the normal part */
} fem_element_terms;

typedef struct fem_element_face {
    int32_t element;
    int32_t face;
} fem_element_face;

/* One point of a face, not weighted: for elasticity all entries are used, otherwise traction[0]. */
typedef struct fem_face_traction {
    double area; /* element of area by (s, t) */
    double x[3], normal[3], traction[3];
} fem_face_traction;

typedef struct fem_derivative_functions {
    /* Elements begin .. end - 1. */
    void (*terms)(const fem_packed_solution *solution, int32_t begin, int32_t end, const fem_element_terms *terms);
    /* At most `lanes` faces: traction [faces][4 quarters][points][width], as terms.traction but at the points of the quarters. */
    void (*quarters)(const fem_packed_solution *solution, int count, const fem_element_face *faces, double *traction);
    /* At most `lanes` faces: at [faces][points]. */
    void (*points)(const fem_packed_solution *solution, int count, const fem_element_face *faces, fem_face_traction *at);
    /* stress [num_elements][FEM_STRESS_POINTS][FEM_PACKED] of the elements begin .. end - 1: xx, yy, zz, yz, xz, xy; Poisson: gradient. */
    void (*stress)(const fem_packed_solution *solution, int32_t begin, int32_t end, double *stress);
} fem_derivative_functions;

enum { FEM_MAX_LANES = 8 };

typedef struct fem_derivative_kernels {
    int lanes;
    fem_derivative_functions functions[2][3]; /* [slots_1d - 2][Poisson, elasticity, elasticity with thermal strains] */
} fem_derivative_kernels;

static inline const fem_derivative_functions *fem_derivative_select(const fem_derivative_kernels *kernels,
                                                                    const fem_packed_solution *solution)
{
    return &kernels->functions[solution->slots_1d - 2][solution->components == 1 ? 0 : 1 + solution->thermal];
}

#endif
