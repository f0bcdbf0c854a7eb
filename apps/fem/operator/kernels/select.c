#include "operator/kernels/batch.h"

#if defined(__x86_64__)
extern const fem_kernels fem_kernels_v2, fem_kernels_v3, fem_kernels_v4;

int fem_kernels_list(const fem_kernels *list[FEM_MAX_KERNELS])
{
    int count = 0;
    __builtin_cpu_init();
    list[count++] = &fem_kernels_v2;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) list[count++] = &fem_kernels_v3;
    if (count == 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd"))
        list[count++] = &fem_kernels_v4;
    return count;
}
#else
extern const fem_kernels fem_kernels_generic;

int fem_kernels_list(const fem_kernels *list[FEM_MAX_KERNELS])
{
    list[0] = &fem_kernels_generic;
    return 1;
}
#endif

const fem_kernels *fem_kernels_select(void)
{
    const fem_kernels *list[FEM_MAX_KERNELS];
    return list[fem_kernels_list(list) - 1];
}
