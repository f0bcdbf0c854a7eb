#include "operator/subdomain/mark.h"

#define LEVEL(l)                                                                                                             \
    {                                                                                                                        \
        "multigrid vectors", "level " #l " product", "level " #l " interface", "level " #l " halo", "level " #l " smoother", \
            "level " #l " transfer"                                                                                          \
    }

/* The vectors of all levels are reported together, because those of coarse levels are too small to be distinguished. */
const char *const *fem_kernel_names(int level)
{
    static const char *const names[][FEM_NUM_KERNELS] = {
        {"cg vectors", "cg product", "cg interface", "cg halo", "cg preconditioner", "cg transfer"},
        LEVEL(0),
        LEVEL(1),
        LEVEL(2),
        LEVEL(3),
        LEVEL(4),
        LEVEL(5),
        LEVEL(6),
        LEVEL(7),
        LEVEL(8),
        LEVEL(9),
        LEVEL(10),
        LEVEL(11)};
    enum { LAST = sizeof names / sizeof names[0] - 1 };
    return names[level < LAST ? level : LAST];
}
