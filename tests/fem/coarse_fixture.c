#include "coarse_fixture.h"

#include <mpi.h>

#include "random_part.h"
#include "unit.h"

void coarse_start_mpi(void)
{
    int started = 0;
    MPI_Initialized(&started);
    if (!started) assert_int_equal(MPI_Init(NULL, NULL), MPI_SUCCESS);
}

double coarse_dot(int64_t size, const double *a, const double *b)
{
    double sum = 0.0;
    for (int64_t i = 0; i < size; i++) sum += a[i] * b[i];
    return sum;
}

void coarse_fill_random(const q1_grid *grid, uint64_t seed, double *x)
{
    const int m = grid->components;
    uint64_t number = seed;
    for (int64_t i = 0; i < (int64_t)grid->num_nodes * m; i++) {
        const double value = 2 * random_part(&number) - 1;
        x[i] = grid->prescribed[i / m] >> (i % m) & 1 ? 0.0 : value;
    }
}

q1_grid_options coarse_cube(int components, int n)
{
    return (q1_grid_options){.components = components, .elements = {n, n, n}, .length = {1.0, 1.0, 1.0}, .nu = 0.3, .stiff = 1.0};
}

void coarse_open(coarse_fixture *f, const q1_grid_options *options)
{
    *f = (coarse_fixture){0};
    assert_int_equal(yoke_context_create(NULL, &f->context), YOKE_OK);
    q1_grid_create(options, &f->grid);
    f->size = (int64_t)f->grid.num_nodes * f->grid.components;
    double **vectors[] = {&f->u, &f->v, &f->bu, &f->bv};
    for (int i = 0; i < 4; i++) {
        *vectors[i] = calloc((size_t)f->size, sizeof(double));
        assert_non_null(*vectors[i]);
    }
}

void coarse_open_clamped(coarse_fixture *f, const q1_grid_options *options)
{
    coarse_open(f, options);
    q1_grid_clamp(&f->grid);
}

yoke_status coarse_create(coarse_fixture *f, fem_coarse_method method)
{
    const q1_grid *g = &f->grid;
    if (method != FEM_COARSE_CHOLMOD) coarse_start_mpi();
    return fem_coarse_create(f->context, method, g->num_nodes, g->components, g->row_start, g->column, g->value, g->x, g->prescribed,
                             &f->coarse);
}

void coarse_make(coarse_fixture *f, fem_coarse_method method)
{
    if (coarse_create(f, method) != YOKE_OK) fail_msg("%s", yoke_last_error(f->context));
}

void coarse_shut(coarse_fixture *f)
{
    fem_coarse_destroy(f->coarse);
    q1_grid_destroy(&f->grid);
    free(f->u);
    free(f->v);
    free(f->bu);
    free(f->bv);
    yoke_context_destroy(f->context);
}

void coarse_scatter_conditions(q1_grid *grid)
{
    for (int32_t node = 0; node < grid->num_nodes; node++) {
        if (node % 3 == 0) grid->prescribed[node] = (uint8_t)(1 << node / 3 % grid->components);
        if (node % 7 == 0) grid->prescribed[node] = (uint8_t)((1 << grid->components) - 1);
    }
}

int coarse_stop_mpi(void **state)
{
    (void)state;
    int started = 0;
    MPI_Initialized(&started);
    return started && MPI_Finalize() != MPI_SUCCESS ? -1 : 0;
}
