/* select.c - lists the kernels of near pairs that the processor can run, and selects the best. */
#include "near/kernels/single.h"

#include "common/machine/isa.h"

#if defined(__x86_64__) && !defined(YOKE_NATIVE_KERNELS)
extern const fmm_pairs_kernel fmm_pairs_v2, fmm_pairs_v3, fmm_pairs_v4;
extern const fmm_single_kernel fmm_single_v2, fmm_single_v3, fmm_single_v4;

int fmm_pairs_kernels(const fmm_pairs_kernel *list[FMM_MAX_PAIRS_KERNELS])
{
    int count = 0;
    const int level = app_isa_level();
    list[count++] = &fmm_pairs_v2;
    if (level >= 3) list[count++] = &fmm_pairs_v3;
    if (level >= 4) list[count++] = &fmm_pairs_v4;
    return count;
}

int fmm_single_kernels(const fmm_single_kernel *list[FMM_MAX_PAIRS_KERNELS])
{
    static const fmm_single_kernel *const all[FMM_MAX_PAIRS_KERNELS] = {&fmm_single_v2, &fmm_single_v3, &fmm_single_v4};
    const fmm_pairs_kernel *able[FMM_MAX_PAIRS_KERNELS];
    const int count = fmm_pairs_kernels(able);
    for (int k = 0; k < count; k++) list[k] = all[k];
    return count;
}
#else
extern const fmm_pairs_kernel fmm_pairs_generic;
extern const fmm_single_kernel fmm_single_generic;

int fmm_pairs_kernels(const fmm_pairs_kernel *list[FMM_MAX_PAIRS_KERNELS])
{
    list[0] = &fmm_pairs_generic;
    return 1;
}

int fmm_single_kernels(const fmm_single_kernel *list[FMM_MAX_PAIRS_KERNELS])
{
    list[0] = &fmm_single_generic;
    return 1;
}
#endif

const fmm_pairs_kernel *fmm_pairs_select(void)
{
    const fmm_pairs_kernel *list[FMM_MAX_PAIRS_KERNELS];
    return list[fmm_pairs_kernels(list) - 1];
}

const fmm_single_kernel *fmm_single_select(void)
{
    const fmm_single_kernel *list[FMM_MAX_PAIRS_KERNELS];
    return list[fmm_single_kernels(list) - 1];
}
