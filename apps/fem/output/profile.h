/*
 * profile.h - the table of kernels at the end of `yoke fem --profile`.
 */
#ifndef FEM_OUTPUT_PROFILE_H
#define FEM_OUTPUT_PROFILE_H

#include "common/console/terminal.h"

/* Energy of the kernels of a run, borrowed; names: of the devices, by the device number of a row. */
typedef struct fem_profile {
    int64_t count;
    const yoke_run_profile *rows;
    const char *const *names;
    const int *ranks; /* [count] the rank of each row; NULL: there is one rank */
} fem_profile;

/* The name of a row: its kernel, or "between kernels". */
const char *fem_profile_name(const yoke_run_profile *row);
/* Prints the table, and below it the reasons for missing numbers, each reason once. */
void fem_profile_print(app_terminal *terminal, const fem_profile *profile);

#endif
