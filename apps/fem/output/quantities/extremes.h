/*
 * extremes.h - the largest and smallest values of a solution at its nodes, and where they are.
 */
#ifndef FEM_OUTPUT_QUANTITIES_EXTREMES_H
#define FEM_OUTPUT_QUANTITIES_EXTREMES_H

#include "output/quantities/stress.h"

typedef enum fem_extreme_kind {
    FEM_EXTREME_DISPLACEMENT, /* largest length of a displacement */
    FEM_EXTREME_VON_MISES,
    FEM_EXTREME_PRINCIPAL_LARGEST,  /* the largest principal stress: tension */
    FEM_EXTREME_PRINCIPAL_SMALLEST, /* the smallest one: compression */
    FEM_EXTREME_VALUE_LARGEST,      /* Poisson */
    FEM_EXTREME_VALUE_SMALLEST,
    FEM_EXTREME_GRADIENT, /* largest length of the gradient */
    FEM_EXTREMES
} fem_extreme_kind;

typedef struct fem_extreme {
    double value; /* NaN: it does not apply to this problem type */
    double x[3];  /* its position in the undeformed body; NaN likewise */
    int64_t node; /* the node there, by its number over all ranks; -1 likewise */
} fem_extreme;

/*
 * Finds the extremes of u [num_nodes][components] at the nodes and of its averaged stress at the points (stress.h).  Of equal values the
 * first one counts, so that the position is the same for any number of threads.  Collective: the extremes are those of all ranks.  Errors:
 * MEMORY.
 */
yoke_status fem_extremes_find(const fem_space *space, const double *u, const fem_stress *stress, fem_extreme extremes[FEM_EXTREMES]);

/* Sets all extremes to unknown. */
void fem_extremes_unknown(fem_extreme extremes[FEM_EXTREMES]);

/* Whether a problem with this number of components has this extreme. */
static inline int fem_extreme_applies(fem_extreme_kind kind, int components)
{
    return (kind >= FEM_EXTREME_VALUE_LARGEST) == (components == 1);
}

#endif
