/*
 * subdomain_host.h - the tables of the device subdomain's kernels as host functions (subdomain_host.c), one for each instance.
 */
#ifndef FEM_OPERATOR_KERNELS_SUBDOMAIN_HOST_H
#define FEM_OPERATOR_KERNELS_SUBDOMAIN_HOST_H

#include "yoke/yoke.h"

#include "operator/kernels/subdomain_sizes.h"

enum {
#define FEM_SUBDOMAIN_ENUM(name) FEM_SUBDOMAIN_KERNEL_##name,
    FEM_SUBDOMAIN_KERNELS(FEM_SUBDOMAIN_ENUM)
#undef FEM_SUBDOMAIN_ENUM
        FEM_SUBDOMAIN_NUM_KERNELS
};

/* By precision, nodes per direction, components. */
extern const yoke_host_kernel fem_subdomain_host_double_n2_c1[FEM_SUBDOMAIN_NUM_KERNELS],
    fem_subdomain_host_double_n2_c3[FEM_SUBDOMAIN_NUM_KERNELS];
extern const yoke_host_kernel fem_subdomain_host_double_n3_c1[FEM_SUBDOMAIN_NUM_KERNELS],
    fem_subdomain_host_double_n3_c3[FEM_SUBDOMAIN_NUM_KERNELS];
extern const yoke_host_kernel fem_subdomain_host_float_n2_c1[FEM_SUBDOMAIN_NUM_KERNELS],
    fem_subdomain_host_float_n2_c3[FEM_SUBDOMAIN_NUM_KERNELS];
extern const yoke_host_kernel fem_subdomain_host_float_n3_c1[FEM_SUBDOMAIN_NUM_KERNELS],
    fem_subdomain_host_float_n3_c3[FEM_SUBDOMAIN_NUM_KERNELS];

#endif
