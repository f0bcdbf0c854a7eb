/* The coarse problem: direct solver against manufactured solutions; multigrid as an operator and as a preconditioner. */
#include "coarse.h"

#include <math.h>
#include <mpi.h>
#include <omp.h>

#include "base/failing.h"
#include "q1_grid.h"
#include "unit.h"

/* -------------------------------------------------------------------------------------------------- helpers */

/* A problem, its solver and vectors of its size. */
typedef struct fixture {
    yoke_context *context;
    q1_grid grid;
    fem_coarse *coarse;
    int64_t size;
    double *u, *v, *bu, *bv;
} fixture;

static void start_mpi(void)
{
    int started = 0;
    MPI_Initialized(&started);
    if (!started)
        assert_int_equal(MPI_Init(NULL, NULL), MPI_SUCCESS);
}

static int stop_mpi(void **state)
{
    (void)state;
    int started = 0;
    MPI_Initialized(&started);
    return started && MPI_Finalize() != MPI_SUCCESS ? -1 : 0;
}

static double dot(int64_t size, const double *a, const double *b)
{
    double sum = 0.0;
    for (int64_t i = 0; i < size; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Random numbers in [-1, 1) at free unknowns, 0 at prescribed ones. */
static void fill_random(const q1_grid *grid, uint64_t seed, double *x)
{
    const int m = grid->components;
    uint64_t number = seed;
    for (int64_t i = 0; i < (int64_t)grid->num_nodes * m; i++) {
        number = number * 6364136223846793005u + 1442695040888963407u;
        const double value = (double)(number >> 11) / 4503599627370496.0 - 1.0;
        x[i] = grid->prescribed[i / m] >> (i % m) & 1 ? 0.0 : value;
    }
}

static q1_grid_options cube(int components, int n)
{
    return (q1_grid_options){.components = components, .elements = {n, n, n}, .length = {1.0, 1.0, 1.0}, .nu = 0.3, .stiff = 1.0};
}

static q1_grid_options cantilever(int n)
{
    return (q1_grid_options){
        .components = 3, .elements = {10 * n, n, n}, .length = {10.0, 1.0, 1.0}, .distortion = 0.2, .nu = 0.3, .stiff = 1.0};
}

static void open_grid(fixture *f, const q1_grid_options *options)
{
    *f = (fixture){0};
    start_mpi();
    assert_int_equal(yoke_context_create(NULL, &f->context), YOKE_OK);
    q1_grid_create(options, &f->grid);
    f->size = (int64_t)f->grid.num_nodes * f->grid.components;
    double **vectors[] = {&f->u, &f->v, &f->bu, &f->bv};
    for (int i = 0; i < 4; i++) {
        *vectors[i] = calloc((size_t)f->size, sizeof(double));
        assert_non_null(*vectors[i]);
    }
}

static void open_clamped(fixture *f, const q1_grid_options *options)
{
    open_grid(f, options);
    q1_grid_clamp(&f->grid);
}

static yoke_status create(fixture *f, fem_coarse_method method)
{
    const q1_grid *g = &f->grid;
    return fem_coarse_create(f->context, method, g->num_nodes, g->components, g->row_start, g->column, g->value, g->x, g->prescribed,
                             &f->coarse);
}

static void make(fixture *f, fem_coarse_method method)
{
    if (create(f, method) != YOKE_OK)
        fail_msg("%s", yoke_last_error(f->context));
}

static void shut(fixture *f)
{
    fem_coarse_destroy(f->coarse);
    q1_grid_destroy(&f->grid);
    free(f->u);
    free(f->v);
    free(f->bu);
    free(f->bv);
    yoke_context_destroy(f->context);
}

static void refuses(fixture *f, fem_coarse_method method, yoke_status status, const char *text)
{
    assert_int_equal(create(f, method), status);
    assert_null(f->coarse);
    if (!strstr(yoke_last_error(f->context), text))
        fail_msg("'%s' is not in '%s'", text, yoke_last_error(f->context));
}

/* Solves A x = A u by conjugate gradients with the coarse operator, to 1e-8; checks x against u; returns the iterations. */
static int iterate(fixture *f)
{
    enum { most = 200 };
    const q1_grid *grid = &f->grid;
    const size_t bytes = (size_t)f->size * sizeof(double);
    double *x = calloc(1, bytes), *r = malloc(bytes), *z = malloc(bytes), *p = calloc(1, bytes), *q = malloc(bytes);
    assert_true(x && r && z && p && q);
    fill_random(grid, 3, f->u);
    q1_grid_multiply(grid, f->u, r);
    const double first = sqrt(dot(f->size, r, r));
    double rz = 1.0;
    int iterations = 0;
    while (iterations < most && sqrt(dot(f->size, r, r)) > 1e-8 * first) {
        assert_int_equal(fem_coarse_solve(f->coarse, r, z), YOKE_OK);
        const double next = dot(f->size, r, z), beta = iterations ? next / rz : 0.0;
        assert_true(next > 0.0);
        rz = next;
        for (int64_t i = 0; i < f->size; i++)
            p[i] = z[i] + beta * p[i];
        q1_grid_multiply(grid, p, q);
        const double alpha = rz / dot(f->size, p, q);
        for (int64_t i = 0; i < f->size; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        iterations++;
    }
    for (int64_t i = 0; i < f->size; i++)
        q[i] = x[i] - f->u[i];
    q1_grid_multiply(grid, q, z);
    q1_grid_multiply(grid, f->u, r);
    assert_true(dot(f->size, q, z) <= 1e-12 * dot(f->size, f->u, r)); /* 1e-6 in the energy norm */
    free(x);
    free(r);
    free(z);
    free(p);
    free(q);
    return iterations;
}

static int iterations_on(const q1_grid_options *options)
{
    fixture f;
    open_clamped(&f, options);
    make(&f, FEM_COARSE_AMG);
    const int iterations = iterate(&f);
    shut(&f);
    return iterations;
}

/* Every third node loses one component, every seventh all of them. */
static void scatter_conditions(q1_grid *grid)
{
    for (int32_t node = 0; node < grid->num_nodes; node++) {
        if (node % 3 == 0)
            grid->prescribed[node] = (uint8_t)(1 << node / 3 % grid->components);
        if (node % 7 == 0)
            grid->prescribed[node] = (uint8_t)((1 << grid->components) - 1);
    }
}

/* -------------------------------------------------------------------------------------------- direct solver */

static void check_direct(const q1_grid_options *options, int scattered)
{
    fixture f;
    open_clamped(&f, options);
    if (scattered)
        scatter_conditions(&f.grid);
    make(&f, FEM_COARSE_CHOLMOD);
    assert_string_equal(fem_coarse_name(f.coarse), "cholmod");
    fill_random(&f.grid, 1, f.u);
    q1_grid_multiply(&f.grid, f.u, f.v);
    for (int64_t i = 0; i < f.size; i++) /* what stands at prescribed components does not matter */
        if (f.grid.prescribed[i / options->components] >> (i % options->components) & 1)
            f.v[i] = NAN;
    assert_int_equal(fem_coarse_solve(f.coarse, f.v, f.v), YOKE_OK);
    for (int64_t i = 0; i < f.size; i++)
        assert_true(fabs(f.v[i] - f.u[i]) <= 1e-10);
    assert_true(fem_coarse_memory_bytes(f.coarse) > 8 * f.size);
    shut(&f);
}

static void the_direct_solver_finds_a_manufactured_displacement(void **state)
{
    (void)state;
    q1_grid_options options = cube(3, 7);
    options.distortion = 0.2;
    check_direct(&options, 0);
}

static void the_direct_solver_finds_a_manufactured_potential(void **state)
{
    (void)state;
    q1_grid_options options = cube(1, 9);
    options.distortion = 0.2;
    check_direct(&options, 0);
}

static void the_direct_solver_leaves_scattered_prescribed_components_zero(void **state)
{
    (void)state;
    const q1_grid_options elasticity = cube(3, 6), poisson = cube(1, 6);
    check_direct(&elasticity, 1);
    check_direct(&poisson, 1);
}

static void the_direct_solver_stands_a_jump_of_materials(void **state)
{
    (void)state;
    q1_grid_options options = cube(3, 6);
    options.stiff = 1e4;
    check_direct(&options, 0);
}

/* ------------------------------------------------------------------------------------ multigrid as an operator */

/* |u.Bv - v.Bu| against |u||Bv|; u.Bu > 0; B(u + 2v) = Bu + 2Bv; zeros at prescribed components. */
static void check_operator(const q1_grid_options *options, int scattered)
{
    fixture f;
    open_clamped(&f, options);
    if (scattered)
        scatter_conditions(&f.grid);
    make(&f, FEM_COARSE_AMG);
    assert_string_equal(fem_coarse_name(f.coarse), "boomeramg");
    for (uint64_t seed = 1; seed <= 5; seed++) {
        fill_random(&f.grid, seed, f.u);
        fill_random(&f.grid, seed + 100, f.v);
        /* A random vector is rough.  Times A^-1, nearly, it is smooth; times A, rougher. */
        if (seed == 2)
            assert_int_equal(fem_coarse_solve(f.coarse, f.u, f.u), YOKE_OK);
        if (seed == 3) {
            q1_grid_multiply(&f.grid, f.v, f.bv);
            memcpy(f.v, f.bv, sizeof(double) * (size_t)f.size);
        }
        assert_int_equal(fem_coarse_solve(f.coarse, f.u, f.bu), YOKE_OK);
        assert_int_equal(fem_coarse_solve(f.coarse, f.v, f.bv), YOKE_OK);
        const double size = sqrt(dot(f.size, f.u, f.u) * dot(f.size, f.bv, f.bv)) + sqrt(dot(f.size, f.v, f.v) * dot(f.size, f.bu, f.bu));
        assert_true(fabs(dot(f.size, f.u, f.bv) - dot(f.size, f.v, f.bu)) <= 1e-12 * size);
        assert_true(dot(f.size, f.u, f.bu) > 0.0 && dot(f.size, f.v, f.bv) > 0.0);
        const double length = sqrt(dot(f.size, f.bu, f.bu)) + 2.0 * sqrt(dot(f.size, f.bv, f.bv));
        for (int64_t i = 0; i < f.size; i++) {
            assert_true(!(f.grid.prescribed[i / options->components] >> (i % options->components) & 1) || f.bu[i] == 0.0);
            f.u[i] += 2.0 * f.v[i];
            f.bu[i] += 2.0 * f.bv[i];
        }
        assert_int_equal(fem_coarse_solve(f.coarse, f.u, f.v), YOKE_OK);
        for (int64_t i = 0; i < f.size; i++)
            f.v[i] -= f.bu[i];
        assert_true(sqrt(dot(f.size, f.v, f.v)) <= 1e-12 * length);
    }
    shut(&f);
}

static void multigrid_for_elasticity_is_symmetric_positive_definite_and_linear(void **state)
{
    (void)state;
    q1_grid_options options = cube(3, 15);
    options.distortion = 0.2;
    check_operator(&options, 0);
}

static void multigrid_for_a_slender_body_is_symmetric_positive_definite_and_linear(void **state)
{
    (void)state;
    const q1_grid_options options = cantilever(5);
    check_operator(&options, 0);
}

static void multigrid_for_poisson_is_symmetric_positive_definite_and_linear(void **state)
{
    (void)state;
    const q1_grid_options options = cube(1, 22);
    check_operator(&options, 0);
}

static void multigrid_with_scattered_conditions_is_symmetric_positive_definite_and_linear(void **state)
{
    (void)state;
    const q1_grid_options elasticity = cube(3, 14), poisson = cube(1, 20);
    check_operator(&elasticity, 1);
    check_operator(&poisson, 1);
}

static void multigrid_gives_the_same_bits_with_any_number_of_threads(void **state)
{
    (void)state;
    const q1_grid_options options = cube(3, 14);
    fixture f;
    open_clamped(&f, &options);
    fill_random(&f.grid, 1, f.u);
    const int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    make(&f, FEM_COARSE_AMG);
    assert_int_equal(fem_coarse_solve(f.coarse, f.u, f.bu), YOKE_OK);
    omp_set_num_threads(3);
    assert_int_equal(fem_coarse_solve(f.coarse, f.u, f.bv), YOKE_OK);
    omp_set_num_threads(threads);
    assert_memory_equal(f.bu, f.bv, sizeof(double) * (size_t)f.size);
    shut(&f);
}

static void multigrid_holds_less_than_a_kilobyte_for_an_unknown(void **state)
{
    (void)state;
    const q1_grid_options options = cube(3, 20);
    fixture f;
    open_clamped(&f, &options);
    make(&f, FEM_COARSE_AMG);
    assert_in_range(fem_coarse_memory_bytes(f.coarse), 81 * 4 * f.size, 1000 * f.size);
    shut(&f);
}

/* ------------------------------------------------------------------------------- multigrid as a preconditioner */

static void iterations_do_not_grow_with_the_number_of_elements(void **state)
{
    (void)state;
    const q1_grid_options small = cube(3, 12), large = cube(3, 25);
    const int few = iterations_on(&small), many = iterations_on(&large);
    assert_in_range(few, 3, 28);
    assert_in_range(many, 3, (uintmax_t)few + 5);
}

static void iterations_for_poisson_are_few_at_any_size(void **state)
{
    (void)state;
    const q1_grid_options small = cube(1, 18), large = cube(1, 38);
    assert_in_range(iterations_on(&small), 3, 16);
    assert_in_range(iterations_on(&large), 3, 16);
}

static void a_slender_distorted_body_takes_few_iterations(void **state)
{
    (void)state;
    const q1_grid_options small = cantilever(5), large = cantilever(11);
    assert_in_range(iterations_on(&small), 3, 30);
    assert_in_range(iterations_on(&large), 3, 30);
}

static void flat_distorted_elements_take_few_iterations(void **state)
{
    (void)state;
    q1_grid_options options = cube(3, 18);
    options.distortion = 0.25;
    options.length[1] = 4.0;
    assert_in_range(iterations_on(&options), 3, 40);
}

static void a_jump_of_materials_by_10000_takes_few_iterations(void **state)
{
    (void)state;
    q1_grid_options elasticity = cube(3, 18), poisson = cube(1, 26);
    elasticity.stiff = poisson.stiff = 1e4;
    assert_in_range(iterations_on(&elasticity), 3, 40);
    assert_in_range(iterations_on(&poisson), 3, 25);
}

static void scattered_conditions_take_few_iterations(void **state)
{
    (void)state;
    const q1_grid_options options = cube(3, 14);
    fixture f;
    open_grid(&f, &options);
    scatter_conditions(&f.grid);
    make(&f, FEM_COARSE_AMG);
    assert_in_range(iterate(&f), 3, 30);
    shut(&f);
}

/* Young's modulus of steel in Pa on a body of nanometres or kilometres: far outside single precision, were it not scaled. */
static void the_units_of_the_matrix_do_not_matter(void **state)
{
    (void)state;
    const double factors[] = {1.0, 1e-45, 1e45};
    int iterations[3];
    const q1_grid_options options = cube(3, 12);
    for (int i = 0; i < 3; i++) {
        fixture f;
        open_clamped(&f, &options);
        for (int64_t entry = 0; entry < 9 * f.grid.row_start[f.grid.num_nodes]; entry++)
            f.grid.value[entry] *= factors[i];
        make(&f, FEM_COARSE_AMG);
        iterations[i] = iterate(&f);
        shut(&f);
    }
    assert_in_range(iterations[1], iterations[0] - 1, iterations[0] + 1);
    assert_in_range(iterations[2], iterations[0] - 1, iterations[0] + 1);
}

/* ------------------------------------------------------------------------------------------- choice and limits */

static void auto_takes_the_direct_solver_up_to_its_limit(void **state)
{
    (void)state;
    const int elements[] = {35, 37}; /* 36 x 36 x 35 and 38 x 38 x 37 free nodes */
    for (int i = 0; i < 2; i++) {
        const q1_grid_options options = cube(1, elements[i]);
        fixture f;
        open_clamped(&f, &options);
        make(&f, FEM_COARSE_AUTO);
        int64_t num_free = 0;
        for (int32_t node = 0; node < f.grid.num_nodes; node++)
            num_free += !f.grid.prescribed[node];
        assert_string_equal(fem_coarse_name(f.coarse), num_free <= FEM_COARSE_DIRECT_LIMIT ? "cholmod" : "boomeramg");
        assert_int_equal(num_free <= FEM_COARSE_DIRECT_LIMIT, i == 0);
        shut(&f);
    }
}

static void nothing_free_gives_zeros(void **state)
{
    (void)state;
    const q1_grid_options options = cube(3, 1);
    const fem_coarse_method methods[] = {FEM_COARSE_AUTO, FEM_COARSE_CHOLMOD, FEM_COARSE_AMG};
    for (int i = 0; i < 3; i++) {
        fixture f;
        open_grid(&f, &options);
        memset(f.grid.prescribed, 7, (size_t)f.grid.num_nodes);
        make(&f, methods[i]);
        assert_string_equal(fem_coarse_name(f.coarse), "none");
        for (int64_t k = 0; k < f.size; k++)
            f.u[k] = f.v[k] = 1.0;
        assert_int_equal(fem_coarse_solve(f.coarse, f.u, f.v), YOKE_OK);
        for (int64_t k = 0; k < f.size; k++)
            assert_true(f.v[k] == 0.0);
        shut(&f);
    }
}

static void a_single_node_is_solved_by_both_methods(void **state)
{
    (void)state;
    start_mpi();
    const int64_t row_start[] = {0, 1};
    const int32_t column[] = {0};
    const double value[] = {4.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 1.0}, x[3] = {0}, b[] = {6.0, 5.0, 7.0};
    const uint8_t prescribed[] = {4};
    for (int i = 0; i < 2; i++) {
        yoke_context *context = NULL;
        fem_coarse *coarse = NULL;
        double u[3] = {9.0, 9.0, 9.0};
        assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
        const fem_coarse_method method = i ? FEM_COARSE_AMG : FEM_COARSE_CHOLMOD;
        if (fem_coarse_create(context, method, 1, 3, row_start, column, value, x, prescribed, &coarse) != YOKE_OK)
            fail_msg("%s", yoke_last_error(context));
        assert_int_equal(fem_coarse_solve(coarse, b, u), YOKE_OK);
        assert_true(fabs(u[0] - 1.0) <= 1e-14 && fabs(u[1] - 2.0) <= 1e-14 && u[2] == 0.0);
        fem_coarse_destroy(coarse);
        yoke_context_destroy(context);
    }
}

static void no_node_is_no_error(void **state)
{
    (void)state;
    const int64_t row_start[] = {0};
    yoke_context *context = NULL;
    fem_coarse *coarse = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    assert_int_equal(fem_coarse_create(context, FEM_COARSE_AUTO, 0, 3, row_start, NULL, NULL, NULL, NULL, &coarse), YOKE_OK);
    assert_int_equal(fem_coarse_solve(coarse, NULL, NULL), YOKE_OK);
    fem_coarse_destroy(coarse);
    fem_coarse_destroy(NULL);
    yoke_context_destroy(context);
}

/* --------------------------------------------------------------------------------------------------- bad input */

/* Runs first, before any test starts MPI. */
static void multigrid_without_mpi_says_so(void **state)
{
    (void)state;
    int started = 0;
    MPI_Initialized(&started);
    assert_false(started);
    const int64_t row_start[] = {0, 1};
    const int32_t column[] = {0};
    const double value[] = {1.0};
    const uint8_t prescribed[] = {0};
    yoke_context *context = NULL;
    fem_coarse *coarse = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    assert_int_equal(fem_coarse_create(context, FEM_COARSE_AMG, 1, 1, row_start, column, value, NULL, prescribed, &coarse),
                     YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "MPI_Init"));
    assert_null(coarse);
    yoke_context_destroy(context);
}

static void a_body_that_is_not_held_is_not_positive_definite(void **state)
{
    (void)state;
    const q1_grid_options elasticity = cube(3, 4), poisson = cube(1, 6);
    fixture f;
    open_grid(&f, &elasticity);
    refuses(&f, FEM_COARSE_CHOLMOD, YOKE_ERROR_NUMERIC, "not held");
    f.grid.prescribed[0] = 7; /* it may still turn */
    refuses(&f, FEM_COARSE_CHOLMOD, YOKE_ERROR_NUMERIC, "not held");
    shut(&f);
    open_grid(&f, &poisson);
    refuses(&f, FEM_COARSE_CHOLMOD, YOKE_ERROR_NUMERIC, "not held");
    shut(&f);
}

static void a_negative_modulus_is_not_positive_definite(void **state)
{
    (void)state;
    q1_grid_options options = cube(3, 4);
    options.stiff = -1.0;
    fixture f;
    open_clamped(&f, &options);
    refuses(&f, FEM_COARSE_CHOLMOD, YOKE_ERROR_NUMERIC, "not positive definite");
    refuses(&f, FEM_COARSE_AMG, YOKE_ERROR_NUMERIC, "not positive definite");
    shut(&f);
}

static void a_node_without_element_is_named(void **state)
{
    (void)state;
    const q1_grid_options options = cube(3, 3);
    fixture f;
    open_clamped(&f, &options);
    const int32_t node = f.grid.num_nodes - 5;
    for (int64_t entry = 0; entry < f.grid.row_start[f.grid.num_nodes]; entry++) {
        const int in_row = entry >= f.grid.row_start[node] && entry < f.grid.row_start[node + 1];
        if (in_row || f.grid.column[entry] == node)
            memset(f.grid.value + 9 * entry, 0, 9 * sizeof(double));
    }
    char name[32];
    snprintf(name, sizeof name, "node %d", (int)node);
    refuses(&f, FEM_COARSE_AMG, YOKE_ERROR_NUMERIC, name);
    refuses(&f, FEM_COARSE_CHOLMOD, YOKE_ERROR_NUMERIC, "not positive definite");
    f.grid.prescribed[node] = 7;
    make(&f, FEM_COARSE_AMG);
    shut(&f);
}

static void numbers_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    const q1_grid_options options = cube(3, 2);
    fixture f;
    open_clamped(&f, &options);
    const double value = f.grid.value[100], x = f.grid.x[10];
    f.grid.value[100] = NAN;
    refuses(&f, FEM_COARSE_AUTO, YOKE_ERROR_ARGUMENT, "not a finite number");
    f.grid.value[100] = INFINITY;
    refuses(&f, FEM_COARSE_AMG, YOKE_ERROR_ARGUMENT, "not a finite number");
    f.grid.value[100] = value;
    f.grid.x[10] = NAN;
    refuses(&f, FEM_COARSE_AMG, YOKE_ERROR_ARGUMENT, "position of node 3");
    f.grid.x[10] = x;
    make(&f, FEM_COARSE_AMG);
    shut(&f);
}

static void a_damaged_pattern_is_refused(void **state)
{
    (void)state;
    const q1_grid_options options = cube(1, 2);
    fixture f;
    open_clamped(&f, &options);
    const int32_t column = f.grid.column[20];
    const int64_t start = f.grid.row_start[4];
    f.grid.column[20] = f.grid.num_nodes;
    refuses(&f, FEM_COARSE_AUTO, YOKE_ERROR_ARGUMENT, "column 27, outside 0 to 26");
    f.grid.column[20] = -1;
    refuses(&f, FEM_COARSE_AUTO, YOKE_ERROR_ARGUMENT, "column -1");
    f.grid.column[20] = column;
    f.grid.row_start[4] = f.grid.row_start[3] - 1;
    refuses(&f, FEM_COARSE_AUTO, YOKE_ERROR_ARGUMENT, "row_start");
    f.grid.row_start[4] = start;
    f.grid.row_start[0] = 1;
    refuses(&f, FEM_COARSE_AUTO, YOKE_ERROR_ARGUMENT, "row_start");
    f.grid.row_start[0] = 0;
    f.grid.components = 2;
    refuses(&f, FEM_COARSE_AUTO, YOKE_ERROR_ARGUMENT, "not 2");
    f.grid.components = 1;
    refuses(&f, (fem_coarse_method)17, YOKE_ERROR_ARGUMENT, "number 17");
    shut(&f);
}

/* Each allocation fails once; nothing may be left over. */
static void check_memory(const q1_grid_options *options, fem_coarse_method method)
{
    fixture f;
    open_clamped(&f, options);
    yoke_context_destroy(f.context);
    for (int64_t fail_at = 1;; fail_at++) {
        failing memory = {.fail_at = 0};
        const yoke_options failing_memory = failing_options(&memory);
        assert_int_equal(yoke_context_create(&failing_memory, &f.context), YOKE_OK);
        memory.fail_at = memory.calls + fail_at;
        f.coarse = NULL;
        const yoke_status status = create(&f, method);
        if (status == YOKE_OK)
            break;
        assert_int_equal(status, YOKE_ERROR_MEMORY);
        assert_null(f.coarse);
        yoke_context_destroy(f.context);
        assert_int_equal(memory.outstanding, 0);
        assert_true(fail_at < 1000);
    }
    fem_coarse_destroy(f.coarse);
    yoke_context_destroy(f.context);
    f.coarse = NULL;
    f.context = NULL;
    shut(&f);
}

static void a_failing_allocation_of_the_direct_solver_leaves_nothing_behind(void **state)
{
    (void)state;
    const q1_grid_options options = cube(3, 2);
    check_memory(&options, FEM_COARSE_CHOLMOD);
}

static void a_failing_allocation_of_multigrid_leaves_nothing_behind(void **state)
{
    (void)state;
    const q1_grid_options options = cube(3, 10);
    check_memory(&options, FEM_COARSE_AMG);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(multigrid_without_mpi_says_so),
    cmocka_unit_test(the_direct_solver_finds_a_manufactured_displacement),
    cmocka_unit_test(the_direct_solver_finds_a_manufactured_potential),
    cmocka_unit_test(the_direct_solver_leaves_scattered_prescribed_components_zero),
    cmocka_unit_test(the_direct_solver_stands_a_jump_of_materials),
    cmocka_unit_test(multigrid_for_elasticity_is_symmetric_positive_definite_and_linear),
    cmocka_unit_test(multigrid_for_a_slender_body_is_symmetric_positive_definite_and_linear),
    cmocka_unit_test(multigrid_for_poisson_is_symmetric_positive_definite_and_linear),
    cmocka_unit_test(multigrid_with_scattered_conditions_is_symmetric_positive_definite_and_linear),
    cmocka_unit_test(multigrid_gives_the_same_bits_with_any_number_of_threads),
    cmocka_unit_test(multigrid_holds_less_than_a_kilobyte_for_an_unknown),
    cmocka_unit_test(iterations_do_not_grow_with_the_number_of_elements),
    cmocka_unit_test(iterations_for_poisson_are_few_at_any_size),
    cmocka_unit_test(a_slender_distorted_body_takes_few_iterations),
    cmocka_unit_test(flat_distorted_elements_take_few_iterations),
    cmocka_unit_test(a_jump_of_materials_by_10000_takes_few_iterations),
    cmocka_unit_test(scattered_conditions_take_few_iterations),
    cmocka_unit_test(the_units_of_the_matrix_do_not_matter),
    cmocka_unit_test(auto_takes_the_direct_solver_up_to_its_limit),
    cmocka_unit_test(nothing_free_gives_zeros),
    cmocka_unit_test(a_single_node_is_solved_by_both_methods),
    cmocka_unit_test(no_node_is_no_error),
    cmocka_unit_test(a_body_that_is_not_held_is_not_positive_definite),
    cmocka_unit_test(a_negative_modulus_is_not_positive_definite),
    cmocka_unit_test(a_node_without_element_is_named),
    cmocka_unit_test(numbers_that_are_not_finite_are_refused),
    cmocka_unit_test(a_damaged_pattern_is_refused),
    cmocka_unit_test(a_failing_allocation_of_the_direct_solver_leaves_nothing_behind),
    cmocka_unit_test(a_failing_allocation_of_multigrid_leaves_nothing_behind),
};

UNIT_MAIN(tests, NULL, stop_mpi)
