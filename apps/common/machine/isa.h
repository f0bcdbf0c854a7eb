/*
 * isa.h - which of the instruction sets for which kernels are compiled (yoke_add_isa_kernels) this processor has.
 */
#ifndef APP_ISA_H
#define APP_ISA_H

/* 2, 3 or 4: the level of x86-64, as far as compiled kernels use it; 0: another kind of processor. */
static inline int app_isa_level(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2")) return 2;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512cd"))
        return 3;
    return 4;
#else
    return 0;
#endif
}

#endif
