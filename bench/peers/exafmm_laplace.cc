// exafmm_laplace PARTICLES ORDER LEAF RUNS: exafmm-t on particles of a file (an int64 count, then x y z q potential of each as doubles).
// Prints for each run the seconds of tree, lists and evaluation together, those of its precomputed matrices, and the potentials' relative error.
#include <omp.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "build_list.h"
#include "build_tree.h"
#include "laplace.h"

using namespace exafmm_t;

static std::vector<double> read(const char *path, int64_t &count)
{
    FILE *file = fopen(path, "rb");
    std::vector<double> values;
    if (file && fread(&count, sizeof count, 1, file) == 1) values.resize(5 * (size_t)count);
    if (values.empty() || fread(values.data(), sizeof(double), values.size(), file) != values.size()) exit(1);
    fclose(file);
    return values;
}

int main(int argc, char **argv)
{
    int64_t count = 0;
    if (argc != 5) return 2;
    const std::vector<double> values = read(argv[1], count);
    for (int run = 0; run < atoi(argv[4]); run++) {
        Bodies<real_t> sources(count), targets(count);
        for (int64_t i = 0; i < count; i++) {
            sources[i].ibody = targets[i].ibody = (int)i;
            sources[i].q = values[5 * i + 3];
            for (int c = 0; c < 3; c++) sources[i].X[c] = targets[i].X[c] = values[5 * i + c];
        }
        LaplaceFmm fmm(atoi(argv[2]), atoi(argv[3]));
        NodePtrs<real_t> leaves, inner;
        double begin = omp_get_wtime();
        get_bounds(sources, targets, fmm.x0, fmm.r0);
        Nodes<real_t> nodes = build_tree(sources, targets, leaves, inner, fmm);
        init_rel_coord();
        build_list(nodes, fmm);
        fmm.M2L_setup(inner);
        double made = omp_get_wtime();
        fmm.precompute();
        double ready = omp_get_wtime();
        fmm.upward_pass(nodes, leaves, false);
        fmm.downward_pass(nodes, leaves, false);
        double end = omp_get_wtime(), error = 0, size = 0;
        for (auto *leaf : leaves)
            for (size_t j = 0; j < leaf->itrgs.size(); j++) {
                double exact = values[5 * leaf->itrgs[j] + 4], difference = 4 * M_PI * leaf->trg_value[4 * j] - exact;
                error += difference * difference, size += exact * exact;
            }
        printf("%.4f %.4f %.3e\n", made - begin + end - ready, ready - made, sqrt(error / size));
    }
}
