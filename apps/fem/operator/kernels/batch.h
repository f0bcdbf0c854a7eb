/*
 * batch.h - the interface between the CPU subdomain and its element kernels.
 *
 * Elements are worked on `width` at a time, one per lane of a SIMD vector.  A kernel file is compiled once per instruction set and exports
 * one table of functions; subdomain/cpu.c takes the best table that the processor can run.
 */
#ifndef FEM_OPERATOR_KERNELS_BATCH_H
#define FEM_OPERATOR_KERNELS_BATCH_H

#include <stdint.h>

/*
 * Decoded p8est face_code: the hanging faces of an element and the edges that hang by themselves.  Slots are counted from `base` with
 * strides along the entity; half 0/1: the element lies at the lower/upper half of the full face or edge.
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

/* Factors kept per quadrature point: 9 of the inverse Jacobian (scaled, see batch_body.h) and the weighted determinant. */
#define FEM_FACTORS 10

/*
 * How a batch's elements are mapped from the unit cube, from the most general to the most special way; a batch is what its most general
 * element is.  Curved: factors at each point.  Affine: FEM_FACTORS for all points, with the determinant not weighted.  Box (edges along the
 * coordinate axes, in their order): FEM_BOX_FACTORS, the inverse Jacobian's diagonal and the determinant.
 */
typedef enum fem_batch_shape { FEM_CURVED, FEM_AFFINE, FEM_BOX } fem_batch_shape;
#define FEM_BOX_FACTORS 4

/* Values behind the last node that the kernels read, without using them: vectors have room for so many more. */
#define FEM_VALUES_BEHIND 1

/* Batches of elements with all that the kernels read.  `real` is double or float by the table that is used. */
typedef struct fem_batches {
    int width;          /* lanes */
    int slots;          /* 8 or 27 */
    int used;           /* slots that carry nodes: 8, 20 or 27 */
    const int8_t *slot; /* [used] their numbers */
    int serendipity;    /* the other slots follow from these */
    int32_t batches;
    int32_t elements;            /* lanes used; the lanes after them in the last batch repeat an element and are not scattered */
    const int32_t *gather;       /* [batches][slots][width] node read by a slot */
    const int32_t *scatter;      /* [batches][slots][width] node that the slot's result is added to */
    const int16_t *face_code;    /* [batches][width] */
    const fem_hanging *hanging;  /* [FEM_FACE_CODES] */
    const void *factors;         /* real [..][width]; NULL for the stored operator */
    const int64_t *first_factor; /* [batches + 1] rows of `factors` where those of a batch begin; their number tells its shape */
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
    /* Shape of the same elements.  What a map differs from an affine one by rounding of the positions is not seen. */
    fem_batch_shape (*shape)(const fem_batches *b, const int32_t *gather, int stride, const int16_t *face_code, const double *x);
    fem_batch_shape (*shape_q1)(const fem_batches *b, const int32_t *gather, int stride, const int16_t *face_code, const double *x);
    fem_batch_functions functions[2][2][2];           /* [precision][slots_1d - 2][components == 3] */
    const struct fem_smoother_functions *smoother;    /* [precision], of smoother.h */
    const struct fem_derivative_kernels *derivatives; /* of derivatives.h */
} fem_kernels;

enum { FEM_MAX_KERNELS = 3 };

/* The tables that this processor can run, the best one last; returns how many (at least 1). */
int fem_kernels_list(const fem_kernels *list[FEM_MAX_KERNELS]);

/* The best table for this processor. */
const fem_kernels *fem_kernels_select(void);

#endif
