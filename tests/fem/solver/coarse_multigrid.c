/* The coarse problem by algebraic multigrid: the operator's properties, and iterations with it as a preconditioner. */
#include <math.h>
#include <omp.h>

#include "fem/fixtures/coarse_fixture.h"
#include "unit.h"

static q1_grid_options cantilever(int n)
{
    return (q1_grid_options){
        .components = 3, .elements = {10 * n, n, n}, .length = {10.0, 1.0, 1.0}, .distortion = 0.2, .nu = 0.3, .stiff = 1.0};
}

/* Solves A x = A u by conjugate gradients with the coarse operator, to 1e-8; checks x against u; returns the iterations. */
static int iterate(coarse_fixture *f)
{
    enum { most = 200 };
    const q1_grid *grid = &f->grid;
    const size_t bytes = (size_t)f->size * sizeof(double);
    double *x = calloc(1, bytes), *r = malloc(bytes), *z = malloc(bytes), *p = calloc(1, bytes), *q = malloc(bytes);
    assert_true(x && r && z && p && q);
    coarse_fill_random(grid, 3, f->u);
    q1_grid_multiply(grid, f->u, r);
    const double first = sqrt(coarse_dot(f->size, r, r));
    double rz = 1.0;
    int iterations = 0;
    while (iterations < most && sqrt(coarse_dot(f->size, r, r)) > 1e-8 * first) {
        assert_int_equal(fem_coarse_solve(f->coarse, r, z), YOKE_OK);
        const double next = coarse_dot(f->size, r, z), beta = iterations ? next / rz : 0.0;
        assert_true(next > 0.0);
        rz = next;
        for (int64_t i = 0; i < f->size; i++) p[i] = z[i] + beta * p[i];
        q1_grid_multiply(grid, p, q);
        const double alpha = rz / coarse_dot(f->size, p, q);
        for (int64_t i = 0; i < f->size; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        iterations++;
    }
    for (int64_t i = 0; i < f->size; i++) q[i] = x[i] - f->u[i];
    q1_grid_multiply(grid, q, z);
    q1_grid_multiply(grid, f->u, r);
    assert_true(coarse_dot(f->size, q, z) <= 1e-12 * coarse_dot(f->size, f->u, r)); /* 1e-6 in the energy norm */
    free(x);
    free(r);
    free(z);
    free(p);
    free(q);
    return iterations;
}

static int iterations_on(const q1_grid_options *options)
{
    coarse_fixture f;
    coarse_open_clamped(&f, options);
    coarse_make(&f, FEM_COARSE_AMG);
    const int iterations = iterate(&f);
    coarse_shut(&f);
    return iterations;
}

/* ------------------------------------------------------------------------------------ multigrid as an operator */

/* |u.Bv - v.Bu| against |u||Bv|; u.Bu > 0; B(u + 2v) = Bu + 2Bv; zeros at prescribed components. */
static void check_operator(const q1_grid_options *options, int scattered)
{
    coarse_fixture f;
    coarse_open_clamped(&f, options);
    if (scattered) coarse_scatter_conditions(&f.grid);
    coarse_make(&f, FEM_COARSE_AMG);
    assert_string_equal(fem_coarse_name(f.coarse), "boomeramg");
    for (uint64_t seed = 1; seed <= 5; seed++) {
        coarse_fill_random(&f.grid, seed, f.u);
        coarse_fill_random(&f.grid, seed + 100, f.v);
        /* A random vector is rough.  Times A^-1, nearly, it is smooth; times A, rougher. */
        if (seed == 2) assert_int_equal(fem_coarse_solve(f.coarse, f.u, f.u), YOKE_OK);
        if (seed == 3) {
            q1_grid_multiply(&f.grid, f.v, f.bv);
            memcpy(f.v, f.bv, sizeof(double) * (size_t)f.size);
        }
        assert_int_equal(fem_coarse_solve(f.coarse, f.u, f.bu), YOKE_OK);
        assert_int_equal(fem_coarse_solve(f.coarse, f.v, f.bv), YOKE_OK);
        const double size = sqrt(coarse_dot(f.size, f.u, f.u) * coarse_dot(f.size, f.bv, f.bv)) +
                            sqrt(coarse_dot(f.size, f.v, f.v) * coarse_dot(f.size, f.bu, f.bu));
        assert_true(fabs(coarse_dot(f.size, f.u, f.bv) - coarse_dot(f.size, f.v, f.bu)) <= 1e-12 * size);
        assert_true(coarse_dot(f.size, f.u, f.bu) > 0.0 && coarse_dot(f.size, f.v, f.bv) > 0.0);
        const double length = sqrt(coarse_dot(f.size, f.bu, f.bu)) + 2.0 * sqrt(coarse_dot(f.size, f.bv, f.bv));
        for (int64_t i = 0; i < f.size; i++) {
            assert_true(!(f.grid.prescribed[i / options->components] >> (i % options->components) & 1) || f.bu[i] == 0.0);
            f.u[i] += 2.0 * f.v[i];
            f.bu[i] += 2.0 * f.bv[i];
        }
        assert_int_equal(fem_coarse_solve(f.coarse, f.u, f.v), YOKE_OK);
        for (int64_t i = 0; i < f.size; i++) f.v[i] -= f.bu[i];
        assert_true(sqrt(coarse_dot(f.size, f.v, f.v)) <= 1e-11 * length);
    }
    coarse_shut(&f);
}

static void multigrid_for_elasticity_is_symmetric_positive_definite_and_linear(void **state)
{
    (void)state;
    q1_grid_options options = coarse_cube(3, 15);
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
    const q1_grid_options options = coarse_cube(1, 22);
    check_operator(&options, 0);
}

static void multigrid_with_scattered_conditions_is_symmetric_positive_definite_and_linear(void **state)
{
    (void)state;
    const q1_grid_options elasticity = coarse_cube(3, 14), poisson = coarse_cube(1, 20);
    check_operator(&elasticity, 1);
    check_operator(&poisson, 1);
}

static void multigrid_gives_the_same_bits_with_any_number_of_threads(void **state)
{
    (void)state;
    const q1_grid_options options = coarse_cube(3, 14);
    coarse_fixture f;
    coarse_open_clamped(&f, &options);
    coarse_fill_random(&f.grid, 1, f.u);
    const int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    coarse_make(&f, FEM_COARSE_AMG);
    assert_int_equal(fem_coarse_solve(f.coarse, f.u, f.bu), YOKE_OK);
    omp_set_num_threads(3);
    assert_int_equal(fem_coarse_solve(f.coarse, f.u, f.bv), YOKE_OK);
    omp_set_num_threads(threads);
    assert_memory_equal(f.bu, f.bv, sizeof(double) * (size_t)f.size);
    coarse_shut(&f);
}

static void multigrid_holds_less_than_three_kilobytes_for_an_unknown(void **state)
{
    (void)state;
    const q1_grid_options options = coarse_cube(3, 20);
    coarse_fixture f;
    coarse_open_clamped(&f, &options);
    coarse_make(&f, FEM_COARSE_AMG);
    assert_in_range(fem_coarse_memory_bytes(f.coarse), 60 * 12 * f.size, 3000 * f.size);
    coarse_shut(&f);
}

/* ------------------------------------------------------------------------------- multigrid as a preconditioner */

static void iterations_do_not_grow_with_the_number_of_elements(void **state)
{
    (void)state;
    const q1_grid_options small = coarse_cube(3, 12), large = coarse_cube(3, 25);
    const int few = iterations_on(&small), many = iterations_on(&large);
    assert_in_range(few, 3, 28);
    assert_in_range(many, 3, (uintmax_t)few + 5);
}

static void iterations_for_poisson_are_few_at_any_size(void **state)
{
    (void)state;
    const q1_grid_options small = coarse_cube(1, 18), large = coarse_cube(1, 38);
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
    q1_grid_options options = coarse_cube(3, 18);
    options.distortion = 0.25;
    options.length[1] = 4.0;
    assert_in_range(iterations_on(&options), 3, 40);
}

static void a_jump_of_materials_by_10000_takes_few_iterations(void **state)
{
    (void)state;
    q1_grid_options elasticity = coarse_cube(3, 18), poisson = coarse_cube(1, 26);
    elasticity.stiff = poisson.stiff = 1e4;
    assert_in_range(iterations_on(&elasticity), 3, 40);
    assert_in_range(iterations_on(&poisson), 3, 25);
}

static void scattered_conditions_take_few_iterations(void **state)
{
    (void)state;
    const q1_grid_options options = coarse_cube(3, 14);
    coarse_fixture f;
    coarse_open(&f, &options);
    coarse_scatter_conditions(&f.grid);
    coarse_make(&f, FEM_COARSE_AMG);
    assert_in_range(iterate(&f), 3, 30);
    coarse_shut(&f);
}

/* Young's modulus of steel in Pa on a body of nanometres or kilometres: far outside single precision, were it not scaled. */
static void the_units_of_the_matrix_do_not_matter(void **state)
{
    (void)state;
    const double factors[] = {1.0, 1e-45, 1e45};
    int iterations[3];
    const q1_grid_options options = coarse_cube(3, 12);
    for (int i = 0; i < 3; i++) {
        coarse_fixture f;
        coarse_open_clamped(&f, &options);
        for (int64_t entry = 0; entry < 9 * f.grid.row_start[f.grid.num_nodes]; entry++) f.grid.value[entry] *= factors[i];
        coarse_make(&f, FEM_COARSE_AMG);
        iterations[i] = iterate(&f);
        coarse_shut(&f);
    }
    assert_in_range(iterations[1], iterations[0] - 1, iterations[0] + 1);
    assert_in_range(iterations[2], iterations[0] - 1, iterations[0] + 1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(multigrid_for_elasticity_is_symmetric_positive_definite_and_linear),
    cmocka_unit_test(multigrid_for_a_slender_body_is_symmetric_positive_definite_and_linear),
    cmocka_unit_test(multigrid_for_poisson_is_symmetric_positive_definite_and_linear),
    cmocka_unit_test(multigrid_with_scattered_conditions_is_symmetric_positive_definite_and_linear),
    cmocka_unit_test(multigrid_gives_the_same_bits_with_any_number_of_threads),
    cmocka_unit_test(multigrid_holds_less_than_three_kilobytes_for_an_unknown),
    cmocka_unit_test(iterations_do_not_grow_with_the_number_of_elements),
    cmocka_unit_test(iterations_for_poisson_are_few_at_any_size),
    cmocka_unit_test(a_slender_distorted_body_takes_few_iterations),
    cmocka_unit_test(flat_distorted_elements_take_few_iterations),
    cmocka_unit_test(a_jump_of_materials_by_10000_takes_few_iterations),
    cmocka_unit_test(scattered_conditions_take_few_iterations),
    cmocka_unit_test(the_units_of_the_matrix_do_not_matter),
};

UNIT_MAIN(tests, NULL, coarse_stop_mpi)
