#include "q1_grid.h"
#include "random_part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *claim(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    if (!memory) exit(EXIT_FAILURE);
    return memory;
}

static int smaller(int a, int b) { return a < b ? a : b; }

static int larger(int a, int b) { return a > b ? a : b; }

/* Pseudo-random number in [-1, 1), the same in every run. */
static double scatter(uint64_t *state) { return 2 * random_part(state) - 1; }

static void place_nodes(const q1_grid_options *options, q1_grid *grid)
{
    const int *n = options->elements;
    uint64_t state = 7;
    double *x = grid->x;
    for (int k = 0; k <= n[2]; k++) {
        for (int j = 0; j <= n[1]; j++) {
            for (int i = 0; i <= n[0]; i++) {
                const int at[3] = {i, j, k};
                for (int d = 0; d < 3; d++) {
                    const double move = at[d] > 0 && at[d] < n[d] ? options->distortion * scatter(&state) : 0.0;
                    *x++ = options->length[d] * (at[d] + move) / n[d];
                }
            }
        }
    }
}

/* Gradients of the eight shape functions with respect to x at reference point r in [0,1]^3; returns the determinant. */
static double shape_gradients(const double corner[8][3], const double r[3], double gradient[8][3])
{
    double reference[8][3], jacobian[3][3] = {{0}}, inverse[3][3];
    for (int a = 0; a < 8; a++) {
        double factor[3], slope[3];
        for (int d = 0; d < 3; d++) {
            const int upper = a >> d & 1;
            factor[d] = upper ? r[d] : 1.0 - r[d];
            slope[d] = upper ? 1.0 : -1.0;
        }
        for (int d = 0; d < 3; d++) {
            reference[a][d] = slope[d] * factor[(d + 1) % 3] * factor[(d + 2) % 3];
            for (int c = 0; c < 3; c++) jacobian[c][d] += corner[a][c] * reference[a][d];
        }
    }
    double determinant = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            inverse[j][i] = jacobian[i1][j1] * jacobian[i2][j2] - jacobian[i1][j2] * jacobian[i2][j1];
        }
        determinant += jacobian[i][0] * inverse[0][i];
    }
    for (int a = 0; a < 8; a++) {
        for (int c = 0; c < 3; c++) {
            gradient[a][c] = 0.0;
            for (int d = 0; d < 3; d++) gradient[a][c] += reference[a][d] * inverse[d][c] / determinant;
        }
    }
    return determinant;
}

/* matrix [8][8][components][components] */
static void element_matrix(const q1_grid_options *options, const double corner[8][3], double modulus, double *matrix)
{
    const int m = options->components;
    const double lambda = m == 3 ? modulus * options->nu / ((1.0 + options->nu) * (1.0 - 2.0 * options->nu)) : 0.0;
    const double mu = m == 3 ? modulus / (2.0 * (1.0 + options->nu)) : modulus;
    memset(matrix, 0, sizeof(double) * 64 * (size_t)(m * m));
    for (int q = 0; q < 8; q++) {
        double r[3], g[8][3];
        for (int d = 0; d < 3; d++) r[d] = 0.5 + ((q >> d & 1) ? 0.5 : -0.5) / sqrt(3.0);
        const double weight = shape_gradients(corner, r, g) / 8.0;
        for (int a = 0; a < 8; a++) {
            for (int b = 0; b < 8; b++) {
                const double dot = g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2];
                double *block = matrix + (size_t)((a * 8 + b) * m * m);
                for (int i = 0; i < m; i++) {
                    for (int j = 0; j < m; j++) {
                        const double strain = m == 3 ? lambda * g[a][i] * g[b][j] + mu * g[a][j] * g[b][i] : 0.0;
                        block[i * m + j] += weight * (strain + (i == j ? mu * dot : 0.0));
                    }
                }
            }
        }
    }
}

/* The node numbers around each node, in increasing order. */
static void make_pattern(const int n[3], q1_grid *grid)
{
    int64_t blocks = 0;
    int32_t node = 0;
    for (int k = 0; k <= n[2]; k++) {
        for (int j = 0; j <= n[1]; j++) {
            for (int i = 0; i <= n[0]; i++) {
                grid->row_start[node++] = blocks;
                for (int c = larger(k - 1, 0); c <= smaller(k + 1, n[2]); c++) {
                    for (int b = larger(j - 1, 0); b <= smaller(j + 1, n[1]); b++) {
                        for (int a = larger(i - 1, 0); a <= smaller(i + 1, n[0]); a++) {
                            grid->column[blocks++] = (c * (n[1] + 1) + b) * (n[0] + 1) + a;
                        }
                    }
                }
            }
        }
    }
    grid->row_start[node] = blocks;
}

static void add_element(q1_grid *grid, const int32_t node[8], const double *matrix)
{
    const int square = grid->components * grid->components;
    for (int a = 0; a < 8; a++) {
        for (int64_t entry = grid->row_start[node[a]]; entry < grid->row_start[node[a] + 1]; entry++) {
            for (int b = 0; b < 8; b++) {
                if (grid->column[entry] != node[b]) continue;
                for (int i = 0; i < square; i++) grid->value[entry * square + i] += matrix[(a * 8 + b) * square + i];
            }
        }
    }
}

void q1_grid_create(const q1_grid_options *options, q1_grid *grid)
{
    const int *n = options->elements;
    const size_t nodes = (size_t)(n[0] + 1) * (size_t)(n[1] + 1) * (size_t)(n[2] + 1);
    const size_t square = (size_t)(options->components * options->components);
    *grid = (q1_grid){.components = options->components, .num_nodes = (int32_t)nodes};
    grid->row_start = claim(nodes + 1, sizeof(int64_t));
    grid->column = claim(nodes * 27, sizeof(int32_t));
    grid->value = claim(nodes * 27 * square, sizeof(double));
    grid->x = claim(nodes * 3, sizeof(double));
    grid->prescribed = claim(nodes, 1);
    place_nodes(options, grid);
    make_pattern(n, grid);
    double *matrix = claim(64 * square, sizeof(double));
    for (int e = 0; e < n[0] * n[1] * n[2]; e++) {
        const int at[3] = {e % n[0], e / n[0] % n[1], e / n[0] / n[1]};
        int32_t node[8];
        double corner[8][3];
        for (int a = 0; a < 8; a++) {
            node[a] = ((at[2] + (a >> 2)) * (n[1] + 1) + at[1] + (a >> 1 & 1)) * (n[0] + 1) + at[0] + (a & 1);
            memcpy(corner[a], grid->x + 3 * (size_t)node[a], sizeof corner[a]);
        }
        const int octant = (2 * at[0] >= n[0]) + (2 * at[1] >= n[1]) + (2 * at[2] >= n[2]);
        element_matrix(options, (const double(*)[3])corner, octant & 1 ? options->stiff : 1.0, matrix);
        add_element(grid, node, matrix);
    }
    free(matrix);
}

void q1_grid_destroy(q1_grid *grid)
{
    free(grid->row_start);
    free(grid->column);
    free(grid->value);
    free(grid->x);
    free(grid->prescribed);
}

void q1_grid_clamp(q1_grid *grid)
{
    for (int32_t node = 0; node < grid->num_nodes; node++) {
        if (grid->x[3 * (size_t)node] == 0.0) grid->prescribed[node] = (uint8_t)((1 << grid->components) - 1);
    }
}

void q1_grid_multiply(const q1_grid *grid, const double *x, double *y)
{
    const int m = grid->components;
    for (int32_t row = 0; row < grid->num_nodes; row++) {
        double sum[3] = {0};
        for (int64_t entry = grid->row_start[row]; entry < grid->row_start[row + 1]; entry++) {
            const double *block = grid->value + entry * m * m;
            const int32_t column = grid->column[entry];
            for (int j = 0; j < m; j++) {
                if (grid->prescribed[column] >> j & 1) continue;
                for (int i = 0; i < m; i++) sum[i] += block[i * m + j] * x[(int64_t)column * m + j];
            }
        }
        for (int i = 0; i < m; i++) y[(int64_t)row * m + i] = (grid->prescribed[row] >> i & 1) ? 0.0 : sum[i];
    }
}
