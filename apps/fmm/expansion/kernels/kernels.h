/*
 * kernels.h - the loops of the operators, compiled once for each instruction set.
 */
#ifndef FMM_EXPANSION_KERNELS_H
#define FMM_EXPANSION_KERNELS_H

#include "expansion/expansion.h"

enum {
    FMM_MAX_PAIRS = 16, /* maximum number of pairs that are translated at once, in the widest instruction set */
    FMM_MAX_KERNELS = 3 /* maximum number of instruction sets of one machine */
};

/*
 * Recurrences of regular or irregular harmonics of degrees 0 .. degree.  With (a, b, c, d) = (x, y, z, r^2) for regular and (x, y, z,
 * 1)/r^2 for irregular ones:
 *     H_m^m = diagonal[m] (a + i b) H_(m-1)^(m-1)
 *     H_(l+1)^m = upper[l, m] c H_l^m - lower[l, m] d H_(l-1)^m
 */
typedef struct fmm_recurrence {
    int irregular;
    const double *diagonal, *upper, *lower; /* the last two at fmm_harmonic(l, m) */
} fmm_recurrence;

/* Factors of the real and the imaginary part of one harmonic: for the potential and for its derivatives in x, y and z. */
enum { FMM_FACTORS = 8 };

/*
 * A translation by one vector.  Expansions are rotated about z so that the vector is above the x axis, rotated about y so that it is on the
 * z axis, translated, and rotated back (C. A. White and M. Head-Gordon, J. Chem. Phys. 105 (1996) 5061).  A vector that points down is
 * reflected first.
 */
typedef struct fmm_translation {
    double degree_in[FMM_MAX_ORDER + 1], degree_out[FMM_MAX_ORDER + 1]; /* factors of degrees: units and reflection */
    double cosine[FMM_MAX_ORDER + 1], sine[FMM_MAX_ORDER + 1];          /* of m times the azimuth, with (-1)^m of the reflection */
    const double *rotation, *rotation_back; /* fmm_rotation_size values each, see rotation.h                      */
    const double *axial;   /* factor of input degree k in output degree l: axial[out_step l + in_step k]                              */
    int in_step, out_step; /* +1 or -1: M2L (1, 1), M2M (-1, 1) with k <= l, L2L (1, -1) with k >= l                                   */
} fmm_translation;

/*
 * M2L by plane waves (expansion/waves.h).  Ring k has angles[k] waves around the axis.  Only half of them are stored, because charges are
 * real: those of two quarters, from number first[k] on.  Tables of its modes m are separate for even and odd modes.
 */
enum { FMM_MAX_WAVE_ORDER = 32, FMM_MAX_RINGS = 24, FMM_MAX_ANGLES_OF_RING = 128 };

typedef struct fmm_wave_tables {
    int order, rings, waves, padded, most_modes; /* padded: number of waves, rounded up to a multiple of 8 */
    int angles[FMM_MAX_RINGS], first[FMM_MAX_RINGS], modes[FMM_MAX_RINGS];
    int mode_first[FMM_MAX_RINGS + 1];  /* first mode of each ring, which has 4 (modes + 1) numbers */
    int lowest[FMM_MAX_WAVE_ORDER + 1]; /* the first ring with a mode; all later rings have it too */
    const double *powers[2][FMM_MAX_WAVE_ORDER + 1],
        *powers_back[2][FMM_MAX_WAVE_ORDER + 1];                                 /* of degrees m + parity, ... in rings, and back */
    const double *cosines[2][FMM_MAX_RINGS], *sines[2][FMM_MAX_RINGS];           /* [angles / 4][modes of a parity] */
    const double *cosines_back[2][FMM_MAX_RINGS], *sines_back[2][FMM_MAX_RINGS]; /* [modes of a parity][angles / 4] */
    const double *phase;  /* [waves][cosine, sine][8]: from children to their parent's centre, along x' and y' */
    const double *growth; /* [rings][up, down][8]: along z' */
    /* [padded / 8][9][real, imaginary][8]: from a family at (d % 3 - 1, d / 3 - 1) parents in x' and y', one parent below. */
    const double *shifts;
    fmm_translation turn[2]; /* rotations to the axes x and y */
} fmm_wave_tables;

typedef struct fmm_kernels {
    int pairs; /* number of pairs that are translated at once */
    /* Adds charge times harmonic to the coefficients.  imaginary: index of the first imaginary part. */
    void (*gather)(const fmm_recurrence *recurrence, int order, int imaginary, const fmm_frame *frame, const fmm_sources *sources,
                   double *coefficients);
    /* Adds sums over harmonics of degrees 0 .. degree to the targets; factors[harmonic][FMM_FACTORS]. */
    void (*evaluate)(const fmm_recurrence *recurrence, int degree, const fmm_frame *frame, const double *factors,
                     const fmm_targets *targets);
    /* Translates from[i] to to[i], whose imaginary parts begin at imaginary[0] and imaginary[1].  For M2L, if from[i] is NULL, behind[i] is
     * translated, a source in the direction opposite to the vector.  behind: NULL is allowed. */
    void (*translate)(const fmm_translation *translation, int order, const int imaginary[2], int64_t pairs, const double *const *from,
                      const double *const *behind, double *const *to, double *work);
    /* send converts multipole expansions of eight children to waves of an axis; receive converts waves of nine families on each side to
     * local expansions. */
    void (*send)(const fmm_wave_tables *tables, int imaginary, int axis, const double *const child[8], double *family, double *work);
    void (*receive)(const fmm_wave_tables *tables, int imaginary, int axis, const double *const near[2][9], double *const child[8],
                    double *work);
    /* M2L of both from[i] and behind[i] to to[i]. */
    void (*translate_both)(const fmm_translation *translation, int order, const int imaginary[2], int64_t pairs, const double *const *from,
                           const double *const *behind, double *const *to, double *work);
} fmm_kernels;

/* Lists the kernels that this machine can run, from the narrowest to the widest vectors; returns their number. */
int fmm_kernels_list(const fmm_kernels *list[FMM_MAX_KERNELS]);

#endif
