/*
 * part_host.h - the tables of the device part's kernels as host functions (part_host.c), one for each instance.
 */
#ifndef FEM_OPERATOR_KERNELS_PART_HOST_H
#define FEM_OPERATOR_KERNELS_PART_HOST_H

#include "yoke/yoke.h"

#include "operator/kernels/part_sizes.h"

enum {
#define FEM_PART_ENUM(name) FEM_PART_KERNEL_##name,
    FEM_PART_KERNELS(FEM_PART_ENUM)
#undef FEM_PART_ENUM
        FEM_PART_NUM_KERNELS
};

/* By precision, nodes per direction, components. */
extern const yoke_host_kernel fem_part_host_double_n2_c1[FEM_PART_NUM_KERNELS], fem_part_host_double_n2_c3[FEM_PART_NUM_KERNELS];
extern const yoke_host_kernel fem_part_host_double_n3_c1[FEM_PART_NUM_KERNELS], fem_part_host_double_n3_c3[FEM_PART_NUM_KERNELS];
extern const yoke_host_kernel fem_part_host_float_n2_c1[FEM_PART_NUM_KERNELS], fem_part_host_float_n2_c3[FEM_PART_NUM_KERNELS];
extern const yoke_host_kernel fem_part_host_float_n3_c1[FEM_PART_NUM_KERNELS], fem_part_host_float_n3_c3[FEM_PART_NUM_KERNELS];

#endif
