/*
 * batch.h - the interface between the CPU subdomain and its element kernels.
 *
 * Kernels process `width` elements at a time, one per lane of a SIMD vector.  A kernel file is compiled once per instruction set and
 * exports one table of functions; subdomain/cpu.c uses the best table that the processor can run.
 */
#ifndef FEM_OPERATOR_KERNELS_BATCH_H
#define FEM_OPERATOR_KERNELS_BATCH_H

#include <stdint.h>

/*
 * Decoded p8est face_code: the hanging faces of an element and the edges that hang without a hanging face.  Slots are counted from `base`
 * with strides along the entity; half 0/1: the element is at the lower/upper half of the full face or edge.
 */
typedef struct fem_hanging {
    int8_t faces, edges;
    struct {
        int8_t base, stride_s, stride_t, half_s, half_t;
    } face[3];
    struct {
        int8_t base, stride, half;
    } edge[3];
} fem_hanging;

#define FEM_FACE_CODES 512

/* Factors stored per quadrature point: 9 of the inverse Jacobian (scaled, see batch_body.h) and the weighted determinant. */
#define FEM_FACTORS 10

/*
 * The kind of map from the unit cube to a batch's elements, from the most general to the most special one; a batch has the kind of its most
 * general element.  Curved: factors at each point.  Affine: FEM_FACTORS for all points, with the determinant not weighted.  Box (edges
 * along the coordinate axes, in their order): FEM_BOX_FACTORS, the inverse Jacobian's diagonal and the determinant.
 */
typedef enum fem_batch_shape { FEM_CURVED, FEM_AFFINE, FEM_BOX } fem_batch_shape;
#define FEM_BOX_FACTORS 4

/* Values after the last node that the kernels read, without using them: vectors have room for this number of additional values. */
#define FEM_VALUES_BEHIND 1

/* Batches of elements with all data that the kernels read.  `real` is double or float, depending on the table. */
typedef struct fem_batches {
    int width;          /* lanes */
    int slots;          /* 8 or 27 */
    int used;           /* number of slots that have nodes: 8, 20 or 27 */
    const int8_t *slot; /* [used] their numbers */
    int serendipity;    /* nonzero: values at the other slots follow from these */
    int32_t batches;
    int32_t elements;            /* used lanes; the lanes after them in the last batch repeat an element and are not scattered */
    const int32_t *gather;       /* [batches][slots][width] node read by a slot */
    const int32_t *scatter;      /* [batches][slots][width] node to which the slot's result is added */
    const int16_t *face_code;    /* [batches][width] */
    const fem_hanging *hanging;  /* [FEM_FACE_CODES] */
    const void *factors;         /* real [..][width]; NULL for the stored operator */
    const int64_t *first_factor; /* [batches + 1] rows of `factors` where those of a batch begin; their number determines the kind of map */
    const void *moduli;          /* real [batches][2][width]: lambda, mu */
    const void *stored;          /* real [batches][m (m + 1) / 2][width], m = used x components, lower triangle by rows; or NULL */
} fem_batches;

/* All functions work on the batches begin .. end - 1. */
typedef struct fem_batch_functions {
    int width;
    /* y += sum of element products; u, y real [nodes][components] */
    void (*apply)(const fem_batches *b, int32_t begin, int32_t end, const void *u, void *y);
    void (*apply_stored)(const fem_batches *b, int32_t begin, int32_t end, const void *u, void *y);
    /* element matrices of one batch into packed real [m (m + 1) / 2][width] */
    void (*matrix)(const fem_batches *b, int32_t batch, void *packed);
    /* adds node blocks of the diagonal into diagonal real [nodes][6 (xx yy zz yz xz xy) or 1] */
    void (*diagonal)(const fem_batches *b, int32_t begin, int32_t end, void *diagonal);
} fem_batch_functions;

typedef enum fem_precision { FEM_DOUBLE, FEM_SINGLE } fem_precision;

/* Rows of factors of a batch. */
static inline int fem_batch_shape_factors(fem_batch_shape shape, int points)
{
    return shape == FEM_BOX ? FEM_BOX_FACTORS : shape == FEM_AFFINE ? FEM_FACTORS : points * FEM_FACTORS;
}

typedef struct fem_kernels {
    const char *instruction_set;
    int lanes; /* lanes of `geometry` */
    /*
     * Geometry factors of `lanes` elements, [points][FEM_FACTORS][lanes] doubles, from node positions x [nodes][3]: gather [slots][stride]
     * and face_code start at the first element's lane.  Returns the smallest determinant over points and lanes (with respect to [0,1]^3).
     */
    double (*geometry)(const fem_batches *b, const int32_t *gather, int stride, const int16_t *face_code, const double *x, double *factors);
    double (*geometry_q1)(const fem_batches *b, const int32_t *gather, int stride, const int16_t *face_code, const double *x,
                          double *factors);
    /* Kind of map of the same elements.  Differences from an affine map within the rounding of positions are ignored. */
    fem_batch_shape (*shape)(const fem_batches *b, const int32_t *gather, int stride, const int16_t *face_code, const double *x);
    fem_batch_shape (*shape_q1)(const fem_batches *b, const int32_t *gather, int stride, const int16_t *face_code, const double *x);
    fem_batch_functions functions[2][2][2];           /* [precision][slots_1d - 2][components == 3] */
    const struct fem_smoother_functions *smoother;    /* [precision], of smoother.h */
    const struct fem_derivative_kernels *derivatives; /* of derivatives.h */
} fem_kernels;

enum { FEM_MAX_KERNELS = 3 };

/* The tables that this processor can run, the best one last; returns their number (at least 1). */
int fem_kernels_list(const fem_kernels *list[FEM_MAX_KERNELS]);

/* The best table for this processor. */
const fem_kernels *fem_kernels_select(void);

#endif
