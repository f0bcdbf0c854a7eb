/* select.c - lists the kernels that the processor can run. */
#include "expansion/kernels/kernels.h"

#include "common/machine/isa.h"

#if defined(__x86_64__) && !defined(YOKE_NATIVE_KERNELS)
extern const fmm_kernels fmm_kernels_v2, fmm_kernels_v3, fmm_kernels_v4;

int fmm_kernels_list(const fmm_kernels *list[FMM_MAX_KERNELS])
{
    int count = 0;
    const int level = app_isa_level();
    list[count++] = &fmm_kernels_v2;
    if (level >= 3) list[count++] = &fmm_kernels_v3;
    if (level >= 4) list[count++] = &fmm_kernels_v4;
    return count;
}
#else
extern const fmm_kernels fmm_kernels_generic;

int fmm_kernels_list(const fmm_kernels *list[FMM_MAX_KERNELS])
{
    list[0] = &fmm_kernels_generic;
    return 1;
}
#endif
