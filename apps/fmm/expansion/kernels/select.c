#include "expansion/kernels/kernels.h"

#if defined(__x86_64__)
extern const fmm_kernels fmm_kernels_v2, fmm_kernels_v3, fmm_kernels_v4;

int fmm_kernels_list(const fmm_kernels *list[FMM_MAX_KERNELS])
{
    int count = 0;
    __builtin_cpu_init();
    list[count++] = &fmm_kernels_v2;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) list[count++] = &fmm_kernels_v3;
    if (count == 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd"))
        list[count++] = &fmm_kernels_v4;
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
