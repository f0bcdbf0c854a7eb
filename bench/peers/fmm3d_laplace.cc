// fmm3d_laplace PARTICLES EPSILON RUNS: FMM3D on particles of a file (an int64 count, then x y z q potential of each as doubles).
// Prints for each run its seconds, 0 and the potentials' relative error.
#include <omp.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern "C" void lfmm3d_s_c_g_(double *eps, int64_t *count, double *source, double *charge, double *potential, double *gradient, int64_t *error);

int main(int argc, char **argv)
{
    int64_t count, failed;
    FILE *file = argc == 4 ? fopen(argv[1], "rb") : NULL;
    if (!file || fread(&count, sizeof count, 1, file) != 1) return 2;
    std::vector<double> values(5 * (size_t)count), places(3 * (size_t)count), charge(count), potential(count), gradient(3 * (size_t)count);
    double epsilon = atof(argv[2]);
    if (fread(values.data(), sizeof(double), values.size(), file) != values.size()) return 1;
    fclose(file);
    for (int64_t i = 0; i < count; i++) {
        for (int c = 0; c < 3; c++) places[3 * i + c] = values[5 * i + c];
        charge[i] = values[5 * i + 3];
    }
    for (int run = 0; run < atoi(argv[3]); run++) {
        double begin = omp_get_wtime(), error = 0, size = 0;
        lfmm3d_s_c_g_(&epsilon, &count, places.data(), charge.data(), potential.data(), gradient.data(), &failed);
        double seconds = omp_get_wtime() - begin;
        for (int64_t i = 0; i < count; i++) {
            double exact = values[5 * i + 4], difference = 4 * M_PI * potential[i] - exact;
            error += difference * difference, size += exact * exact;
        }
        printf("%.4f 0 %.3e\n", seconds, failed ? NAN : sqrt(error / size));
    }
}
