#include "fem/roofline.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files/plot.h"
#include "fem/axmebe_output.h"

/* ---------------------------------------------------------------------------------------------------- counts */

/*
 * Operations of one component: interpolation to the points, derivatives, and the transposes of both, on lines of 2 or 3 values along each
 * of three axes.
 */
static double sweeps(int nodes_1d)
{
    if (nodes_1d == 2) return 12 * 6 + 12 * 1 + (4 * 1 + 8 * 3) + 12 * 6;
    return 27 * 9 + 27 * 7 + (9 * 7 + 18 * 10) + 27 * 8;
}

/* From the gradient to the weighted stress (flux), both in reference coordinates. */
static double at_point(int components) { return components == 3 ? 45 + 1 + 4 + 1 + 6 + 6 + 45 : 1 + 3 * 6 + 3 * 5; }

double fem_bench_flops(const fem_space *space, int variant)
{
    const int c = space->components, serendipity = space->element == FEM_S2, nodes = serendipity ? 20 : space->slots, m = nodes * c;
    double element = 2.0 * m * m;
    if (variant == FEM_AXMEBE_MATRIXFREE) {
        element = c * sweeps(space->slots == 8 ? 2 : 3) + space->slots * at_point(c);
        if (serendipity) element += c * (74 + 81); /* from 20 to 27 nodes, and the transpose */
    }
    return space->num_elements * (element + m); /* m: additions to y */
}

int fem_bench_host_threads(const char *set)
{
    int threads = 0;
    for (const char *name = set; name; name = strchr(name, '+') ? strchr(name, '+') + 1 : NULL) {
        const size_t length = strcspn(name, "+");
        int first, last;
        if (length == strlen("openmp") && !strncmp(name, "openmp", length))
            threads += omp_get_max_threads();
        else if (sscanf(name, "openmp:%d-%d", &first, &last) == 2)
            threads += last - first + 1;
        else
            return 0;
    }
    return threads;
}

/* --------------------------------------------------------------------------------------------------- figure */

static int belongs(const fem_axmebe_row *row)
{
    return !row->why_not[0] && isfinite(row->triad_bytes_per_s) && isfinite(row->dgemm_flops_per_s);
}

/* Whether row i is the first row with its set of devices in the figure. */
static int begins_set(const fem_axmebe_result *result, int64_t i)
{
    if (!belongs(&result->rows[i])) return 0;
    for (int64_t k = 0; k < i; k++)
        if (belongs(&result->rows[k]) && !strcmp(result->rows[k].set, result->rows[i].set)) return 0;
    return 1;
}

static void print_data(FILE *out, const void *data)
{
    const fem_axmebe_result *result = data;
    fputs("# yoke bench axmebe: roofline.  One block for each device: its ceilings stand in its comment.\n"
          "# 1 operations per byte  2 operations per second  3 devices  4 variant  5 mesh  6 elements\n",
          out);
    for (int64_t i = 0; i < result->num_rows; i++) {
        const fem_axmebe_row *first = &result->rows[i];
        if (!begins_set(result, i)) continue;
        fprintf(out, "# %s: triad %.4e bytes/s, DGEMM %.4e operations/s\n", first->set, first->triad_bytes_per_s, first->dgemm_flops_per_s);
        for (int64_t k = i; k < result->num_rows; k++) {
            const fem_axmebe_row *row = &result->rows[k];
            if (!belongs(row) || strcmp(row->set, first->set) != 0) continue;
            fprintf(out, "%.4e %.6e %s %s %s %lld\n", row->flops / row->bytes, row->flops / row->time.median_s, row->set,
                    fem_axmebe_variant_name[row->variant], row->mesh, (long long)row->elements);
        }
        fputs("\n\n", out);
    }
}

static void print_script(FILE *out, const void *data)
{
    const fem_axmebe_result *result = data;
    int block = 0;
    fputs("# gnuplot roofline.gp, in the directory of roofline.dat\n"
          "set terminal svg size 800,560 dynamic background rgb 'white'\n"
          "set encoding utf8\nset termoption noenhanced\nset output 'roofline.svg'\n"
          "set title 'Roofline of products y = A u: triad and DGEMM'\n"
          "set logscale xy\nset format '%g'\nset grid\nset key outside below\nset xrange [0.05:50]\n"
          "set xlabel 'operations per byte that must be moved'\nset ylabel 'operations per second'\n"
          "roof(x, bandwidth, peak) = x * bandwidth < peak ? x * bandwidth : peak\n",
          out);
    for (int64_t i = 0; i < result->num_rows; i++) {
        const fem_axmebe_row *row = &result->rows[i];
        if (!begins_set(result, i)) continue;
        fprintf(
            out,
            "%sroof(x, %.4e, %.4e) with lines lc %d title '%s: %.1f GB/s, %.1f GFLOP/s', \\\n"
            "     'roofline.dat' index %d using 1:2:(sprintf(' %%s %%s', stringcolumn(4), stringcolumn(5))) with labels left point pt 7 "
            "lc %d notitle",
            block ? ", \\\n     " : "plot ", row->triad_bytes_per_s, row->dgemm_flops_per_s, block + 1, row->set,
            row->triad_bytes_per_s * 1e-9, row->dgemm_flops_per_s * 1e-9, block, block + 1);
        block++;
    }
    fputs("\n", out);
}

yoke_status fem_bench_write_roofline(const fem_axmebe_result *result, const char *directory)
{
    bool drawn;
    int any = 0;
    for (int64_t i = 0; i < result->num_rows; i++) any |= belongs(&result->rows[i]);
    if (!any) return YOKE_OK;
    const app_plot plot = {.directory = directory, .base = "roofline", .print_data = print_data, .print_script = print_script};
    return app_plot_write(result->context, &plot, result, &drawn);
}
