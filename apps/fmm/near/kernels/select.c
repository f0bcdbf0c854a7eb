#include "near/kernels/pairs.h"

#include "common/machine/isa.h"

#if defined(__x86_64__)
extern const fmm_pairs_kernel fmm_pairs_v2, fmm_pairs_v3, fmm_pairs_v4;

int fmm_pairs_kernels(const fmm_pairs_kernel *list[FMM_MAX_PAIRS_KERNELS])
{
    int count = 0;
    const int level = app_isa_level();
    list[count++] = &fmm_pairs_v2;
    if (level >= 3) list[count++] = &fmm_pairs_v3;
    if (level >= 4) list[count++] = &fmm_pairs_v4;
    return count;
}
#else
extern const fmm_pairs_kernel fmm_pairs_generic;

int fmm_pairs_kernels(const fmm_pairs_kernel *list[FMM_MAX_PAIRS_KERNELS])
{
    list[0] = &fmm_pairs_generic;
    return 1;
}
#endif

const fmm_pairs_kernel *fmm_pairs_select(void)
{
    const fmm_pairs_kernel *list[FMM_MAX_PAIRS_KERNELS];
    return list[fmm_pairs_kernels(list) - 1];
}
