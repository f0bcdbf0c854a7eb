/*
 * units.h - names of units for printed and written values.  Nothing is converted: a case is computed in its own consistent units.
 *
 * A set is named by its units of length, force and stress ("mm-N-MPa"), where stress is force over length squared.  Time is in seconds,
 * temperature in kelvins.  The other units follow: energy force x length, mass force x s2 / length, power energy / s.
 */
#ifndef FEM_CASE_UNITS_H
#define FEM_CASE_UNITS_H

#include <stdio.h>

enum { FEM_UNIT_TEXT = 32 };

/* Labels, all "" if the case names no units. */
typedef struct fem_units {
    char name[FEM_UNIT_TEXT];                                                                     /* "mm-N-MPa" */
    char length[FEM_UNIT_TEXT], force[FEM_UNIT_TEXT], stress[FEM_UNIT_TEXT];                      /* "mm", "N", "MPa" */
    char area[FEM_UNIT_TEXT], volume[FEM_UNIT_TEXT], moment[FEM_UNIT_TEXT];                       /* "mm2", "mm3", "N mm" */
    char energy[FEM_UNIT_TEXT], power[FEM_UNIT_TEXT], mass[FEM_UNIT_TEXT];                        /* "mJ", "mW", "t" */
    char density[FEM_UNIT_TEXT], temperature[FEM_UNIT_TEXT], temperature_gradient[FEM_UNIT_TEXT]; /* "t/mm3", "K", "K/mm" */
} fem_units;

/*
 * Fills the labels from the name of a set.  Lengths: nm, um, mm, cm, dm, m, km, in, ft; forces: nN, uN, mN, N, kN, MN, GN, kgf, lbf, kip;
 * stresses: Pa, kPa, MPa, GPa, TPa, psf, psi, ksi, Msi, or force over length squared, for example N/cm2.
 * Returns 0, or -1 and writes to `why` what is wrong and what would be right.
 */
int fem_units_read(const char *name, fem_units *units, char *why, size_t size);

/* Text of a unit after a number: " MPa", or "" if there is none. */
#define FEM_UNIT_AFTER(unit) (unit)[0] ? " " : "", (unit)

#endif
