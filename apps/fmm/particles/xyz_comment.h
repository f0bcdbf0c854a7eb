/*
 * xyz_comment.h - the comment of a frame in extended XYZ: entries KEY=VALUE with blanks between them, where values with blanks are in
 * double quotes or brackets (github.com/libAtoms/extxyz).
 */
#ifndef FMM_PARTICLES_XYZ_COMMENT_H
#define FMM_PARTICLES_XYZ_COMMENT_H

#include "particles/particles.h"

/*
 * Reads a comment, which it changes.  *properties: the value of Properties, within the comment; NULL: there is none, and the frame is plain
 * XYZ.  The other entries go into notes->comment, or all of a plain frame's comment as one entry comment="...".  notes->periodic: pbc is
 * true for a direction, or there is a Lattice without pbc.  Errors: MEMORY.
 */
yoke_status fmm_xyz_comment_read(yoke_context *context, char *comment, fmm_notes *notes, char **properties);

#endif
