/*
 * ceilings.h - what the machine's cores can do at most, as `yoke bench ceilings` measures it: every benchmark that states a fraction of a
 * ceiling has it measured in the same run.
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
    double dgemm_flops_per_s;   /* of OpenBLAS, one product for each thread; by the best kernel that was tried */
    char kernel[32];            /* OpenBLAS's name of that kernel: "SkylakeX"; "" where it is not known */
    double default_flops_per_s; /* by the kernel that OpenBLAS takes by itself */
    char default_kernel[32];
    char why_not[256]; /* why there is no DGEMM; "" where there is */
} app_ceilings;

/* All not known. */
app_ceilings app_ceilings_unknown(int threads);

/*
 * Has the program yoke-bench-ceilings, which lies where the tool finds it, measure with so many threads, 0: one for each core that this
 * process may use.  quick: small and short, to see that it works.  core: NULL, or the only kernel of OpenBLAS that is tried (OpenBLAS reads
 * OPENBLAS_CORETYPE when it is loaded, so that a process has one).  A process of its own also has no threads that spin beside those that
 * measure; best called before this process has others.
 * Errors: UNAVAILABLE (no such program), SYSTEM (it failed), MEMORY.
 */
yoke_status app_ceilings_measure(yoke_context *context, int threads, bool quick, const char *core, app_ceilings *ceilings);

/* A line or two, without newline at the end: "2 threads: triad 70.6 GB/s, DGEMM ..."; what is wrong with OpenBLAS's own choice. */
void app_ceilings_text(const app_ceilings *ceilings, char *text, size_t size);

/* For a record; and back: what is missing is not known. */
json_t *app_ceilings_json(const app_ceilings *ceilings);
void app_ceilings_read(const json_t *object, app_ceilings *ceilings);

#endif
