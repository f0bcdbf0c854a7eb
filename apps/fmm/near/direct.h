/*
 * direct.h - direct summation over all pairs: the reference.
 */
#ifndef FMM_NEAR_DIRECT_H
#define FMM_NEAR_DIRECT_H

#include "particles/field.h"
#include "particles/particles.h"

/* Told now and then how many of the particles have their sums; a status other than OK ends the work with it. */
typedef yoke_status fmm_progress_function(int64_t done, int64_t count, void *user);

/*
 * Where the work is done.  All may be NULL.  Without devices: on the cores that OpenMP has, in the order of the particles, so that the same bits come
 * out for any number of threads.
 */
typedef struct fmm_direct_options {
    const char *devices;             /* names with commas between them, or "auto": the particles are shared among them by a yoke_run */
    const char *machine;             /* a simulated machine, which was read; used with devices */
    fmm_progress_function *progress; /* without devices only */
    void *user;
} fmm_direct_options;

/*
 * The field at all particles.  The field's arrays decide whether gradients are computed; they are overwritten.  Particles at one place do not act
 * on each other (coincident.h finds them), unless they have a softening.
 * Errors: those of fmm_scale_field and of progress, MEMORY; with devices those of yoke_run_create, yoke_run_define and yoke_run_loop.
 */
yoke_status fmm_direct(const fmm_particles *particles, const fmm_direct_options *options, fmm_field *field);

/* The instruction set of the host's sums: "x86-64-v4". */
const char *fmm_direct_instructions(void);

#endif
