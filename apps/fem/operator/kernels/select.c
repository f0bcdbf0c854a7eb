/* select.c - selects the kernels of the best instruction set that the processor has. */
#include "operator/kernels/batch.h"

#include "common/machine/isa.h"

#if defined(__x86_64__) && !defined(YOKE_NATIVE_KERNELS)
extern const fem_kernels fem_kernels_v2, fem_kernels_v3, fem_kernels_v4;

int fem_kernels_list(const fem_kernels *list[FEM_MAX_KERNELS])
{
    int count = 0;
    const int level = app_isa_level();
    list[count++] = &fem_kernels_v2;
    if (level >= 3) list[count++] = &fem_kernels_v3;
    if (level >= 4) list[count++] = &fem_kernels_v4;
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
