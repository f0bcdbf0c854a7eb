/*
 * ceilings.h - the peak performance of the machine's cores, as `yoke bench ceilings` measures it.  Every benchmark that states a fraction
 * of a ceiling has the ceiling measured in the same run.
 */
#ifndef APP_CEILINGS_H
#define APP_CEILINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "yoke/yoke.h"

/* NaN: not known. */
typedef struct app_ceilings {
    int threads;
    double triad_bytes_per_s;   /* STREAM's triad, 24 bytes for each element */
    double dgemm_flops_per_s;   /* of OpenBLAS, one product for each thread; with the best kernel that was tried */
    char kernel[32];            /* OpenBLAS's name of that kernel: "SkylakeX"; "" if it is not known */
    double default_flops_per_s; /* with the kernel that OpenBLAS chooses by itself */
    char default_kernel[32];
    char why_not[256]; /* why there is no DGEMM; "" if there is */
} app_ceilings;

/* Ceilings that are all not known. */
app_ceilings app_ceilings_unknown(int threads);

/*
 * Runs the program yoke-bench-ceilings, found in the same way as the tool finds it, with this number of threads; 0: one for each core
 * that this process may use.  quick: a small and short measurement, to see that it works.  core: NULL, or the only kernel of OpenBLAS
 * that is tried (OpenBLAS reads OPENBLAS_CORETYPE when it is loaded, so that a process has one).  A separate process also has no threads
 * that spin beside those that measure; the function is best called before this process has other threads.
 * Errors: UNAVAILABLE (no such program), SYSTEM (it failed), MEMORY.
 */
yoke_status app_ceilings_measure(yoke_context *context, int threads, bool quick, const char *core, app_ceilings *ceilings);

/*
 * A line or two, without newline at the end: "2 threads: triad 70.6 GB/s, DGEMM ..."; a second line says how to have the faster
 * kernels, if OpenBLAS by itself takes others.
 */
void app_ceilings_text(const app_ceilings *ceilings, char *text, size_t size);

/* Conversion to a record and back; members that are missing there are not known. */
json_t *app_ceilings_json(const app_ceilings *ceilings);
void app_ceilings_read(const json_t *object, app_ceilings *ceilings);

#endif
