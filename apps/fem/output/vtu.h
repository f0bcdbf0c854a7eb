/*
 * vtu.h - results for ParaView: one .vtu file for each refinement step (XML with appended raw binary, 64-bit headers) and a .pvd series.
 *
 * Cells are VTK_HEXAHEDRON (q1), VTK_QUADRATIC_HEXAHEDRON (s2) and VTK_TRIQUADRATIC_HEXAHEDRON (q2).  Points are those of the stress: pairs
 * of a node and a material, so that quantities that jump between materials are not averaged.  Hanging nodes of a small element that are not
 * at a node are separate points.
 *
 * Point data: displacement, stress, von_mises, principal_stress, strain (elastic, shear as components of the tensor), principal_strain and,
 * if the problem has one, temperature (as the case gives it, not the difference from its reference), or value and gradient for Poisson;
 * cell data: error, part, level and material (index in the case, from 0).  Tensors are in VTK's order of six components, xx yy zz xy yz xz,
 * which its tensor filters assume; principal values descend.  Components have names.  If the case names its units, field data `units`,
 * `unit_of_length` and `unit_of_stress` have them, and `unit_of_temperature` if there is a temperature.
 */
#ifndef FEM_OUTPUT_VTU_H
#define FEM_OUTPUT_VTU_H

#include "case/case.h"
#include "common/files/file.h"
#include "output/quantities/stress.h"

typedef struct fem_vtu {
    const fem_space *space;
    const fem_stress *stress; /* of that space */
    const double *u;          /* [num_nodes][components] */
    const double *indicator;  /* [num_elements] error indicators, whose squares sum to the estimate's; NULL: not known, written as NaN */
    const int32_t *part;      /* [num_elements] the part that works on the element; NULL: 0 */
    const fem_units *units;   /* NULL: none are named */
    int64_t fields;           /* bits 1 << fem_output_field; those of the other problem type are ignored */
} fem_vtu;

/*
 * Writes one step, on several ranks this rank's piece, to a temporary file: the caller commits or abandons it.  Collective.
 * Errors: INPUT (path cannot be written), SYSTEM (disk full), MEMORY.
 */
yoke_status fem_vtu_start(const fem_vtu *vtu, const char *path, app_file **file);

/*
 * Writes the file of a step on several ranks, which names the pieces in the same directory: each rank has written its own by fem_vtu_start.
 * Errors: as there.
 */
yoke_status fem_vtu_write_pieces(const fem_vtu *vtu, const char *path, int step, int count);

/* Name of a step's file: step-00.vtu, on several ranks step-00.pvtu; and of a rank's piece: step-00-1.vtu. */
#define FEM_VTU_NAME 40
void fem_vtu_name(int step, int ranks, char name[FEM_VTU_NAME]);
void fem_vtu_piece_name(int step, int rank, char name[FEM_VTU_NAME]);

/*
 * Writes the series `path` (.pvd) of the files of steps 0 to count - 1 in the same directory, or those of several ranks if they exist; time
 * is the step.
 * Errors: as fem_vtu_start.
 */
yoke_status fem_vtu_write_series(yoke_context *context, const char *path, int count);

#endif
