/*
 * direct.h - direct summation over all pairs: the reference.
 */
#ifndef FMM_NEAR_DIRECT_H
#define FMM_NEAR_DIRECT_H

#include "particles/field.h"
#include "particles/particles.h"

/* Called repeatedly with the number of particles whose sums are done.  A status other than OK ends the work and is returned. */
typedef yoke_status fmm_progress_function(int64_t done, int64_t count, void *user);

/*
 * Where the work is done.  All members may be NULL.  Without devices the cores of OpenMP sum in the order of the particles, so that results
 * have the same bits for any number of threads.
 */
typedef struct fmm_direct_options {
    const char *devices;             /* names separated by commas, or "auto": a yoke_run shares the particles among them */
    const char *machine;             /* a simulated machine that was read; used with devices */
    fmm_progress_function *progress; /* used without devices only */
    void *user;
} fmm_direct_options;

/*
 * Computes the field at all particles.  The field's arrays determine whether gradients are computed; they are overwritten.  Particles at
 * the same position do not act on each other (coincident.h finds them), unless they have a softening.
 * Errors: those of fmm_scale_field and of progress, MEMORY; with devices those of yoke_run_create, yoke_run_define and yoke_run_loop.
 */
yoke_status fmm_direct(const fmm_particles *particles, const fmm_direct_options *options, fmm_field *field);

/* The instruction set of the host's sums: "x86-64-v4". */
const char *fmm_direct_instructions(void);

#endif
