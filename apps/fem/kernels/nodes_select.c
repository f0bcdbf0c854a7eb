#include "nodes.h"

#if defined(__x86_64__)
extern const fem_node_functions fem_node_functions_v2[2], fem_node_functions_v3[2], fem_node_functions_v4[2];

const fem_node_functions *fem_node_functions_of(const fem_kernels *kernels, fem_precision precision)
{
    switch (kernels->instruction_set[1]) { /* v2, v3, v4 */
    case '4':
        return &fem_node_functions_v4[precision];
    case '3':
        return &fem_node_functions_v3[precision];
    default:
        return &fem_node_functions_v2[precision];
    }
}
#else
extern const fem_node_functions fem_node_functions_generic[2];

const fem_node_functions *fem_node_functions_of(const fem_kernels *kernels, fem_precision precision)
{
    (void)kernels;
    return &fem_node_functions_generic[precision];
}
#endif
