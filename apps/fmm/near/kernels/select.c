#include "near/kernels/pairs.h"

#if defined(__x86_64__)
extern const fmm_pairs_kernel fmm_pairs_v2, fmm_pairs_v3, fmm_pairs_v4;

int fmm_pairs_kernels(const fmm_pairs_kernel *list[FMM_MAX_PAIRS_KERNELS])
{
    int count = 0;
    __builtin_cpu_init();
    list[count++] = &fmm_pairs_v2;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) list[count++] = &fmm_pairs_v3;
    if (count == 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd"))
        list[count++] = &fmm_pairs_v4;
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
