/* A solve whose products add by a given method. */
#include <math.h>

#include "common/console/interrupt.h"
#include "fem/adding.h"
#include "operator/decomposition/private.h"
#include "solver/cg/cg.h"

typedef struct solve {
    const fem_space *space;
    const fem_constraints *constraints;
    const fem_bench_adding_options *options;
    fem_decomposition *decomposition;
    fem_vector *b, *x, *ax, *lifting; /* lifting: A g of the prescribed values g */
    double *load;
    double first_s, last_s; /* times at which the first and the last iteration began */
    int first, last;
} solve;

static yoke_status apply_blocks(void *state, const fem_vector *r, double norm_r, fem_vector *z)
{
    (void)norm_r;
    fem_decomposition_block_solve(state, r, z);
    return YOKE_OK;
}

static int interrupted(void *user) { return app_ranks_interrupted(((solve *)user)->space->ranks); }

static void look(int iteration, double relative_residual, double energy_error, void *user)
{
    solve *s = user;
    (void)relative_residual, (void)energy_error;
    s->last_s = yoke_clock_s();
    s->last = iteration;
    if (s->first >= 0) return;
    s->first_s = s->last_s;
    s->first = iteration;
}

static yoke_status set_ways(const solve *s)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; !status && i < s->decomposition->num_subdomains; i++)
        status = fem_bench_adding_set(s->decomposition->subdomains[i].local, s->options->way);
    return status;
}

static yoke_status make(solve *s, const fem_boundary *boundary)
{
    const int count = s->options->devices->count;
    int32_t cut[FEM_MAX_DEVICES + 1];
    for (int i = 0; i <= count; i++) cut[i] = (int32_t)((int64_t)s->space->num_elements * i / count);
    const fem_decomposition_options options = {
        .devices = s->options->devices, .cut = cut, .precision = FEM_DOUBLE, .operator_kind = s->options->operator_kind};
    yoke_status status = fem_decomposition_create(s->space, s->constraints, &options, &s->decomposition);
    if (status) return status;
    fem_vector **vectors[] = {&s->b, &s->x, &s->ax, &s->lifting};
    status = set_ways(s);
    for (int i = 0; i < 4 && !status; i++) status = fem_vector_create(s->decomposition, vectors[i]);
    if (!status) status = yoke_allocate(s->space->context, (int64_t)s->space->num_nodes * s->space->components, sizeof *s->load, &s->load);
    status = app_ranks_agree(s->space->ranks, status);
    return status ? status : fem_space_load(s->space, boundary, s->load);
}

/* b = load - A g; x = 0.  Returns (g, A g). */
static double lift(solve *s)
{
    fem_vector_write(s->b, s->load);
    fem_vector_write(s->x, s->constraints->value);
    fem_decomposition_product(s->decomposition, 0, s->x, s->lifting);
    fem_vector_subtract(s->b, s->lifting, s->b);
    const double energy = fem_vector_dot(s->x, s->lifting);
    fem_vector_zero(s->x);
    return energy;
}

/* Strain energy of u = x + g, given ax = A x. */
static double energy_of(solve *s)
{
    fem_vector_axpy(1, s->lifting, s->ax);
    fem_vector_write(s->b, s->constraints->value);
    fem_vector_axpy(1, s->b, s->x);
    return 0.5 * fem_vector_dot(s->x, s->ax);
}

static double product_seconds(const solve *s)
{
    double slowest_s = 0;
    for (int i = 0; i < s->options->devices->count; i++) {
        fem_decomposition_share share;
        fem_decomposition_get_share(s->decomposition, i, &share);
        slowest_s = fmax(slowest_s, share.product_seconds / (double)fem_decomposition_products(s->decomposition));
    }
    return slowest_s;
}

static yoke_status run(solve *s, fem_bench_adding_solution *solution)
{
    const fem_hooks hooks = {.interrupted = interrupted, .progress = look, .user = s};
    const fem_approximate_inverse inverse = {apply_blocks, s->decomposition};
    const fem_cg_options options = {.relative_residual = s->options->relative_residual,
                                    .lifting = s->lifting,
                                    .lifting_energy = lift(s),
                                    .rough = 1,
                                    .max_iterations = s->options->max_iterations,
                                    .stagnation = 2000,
                                    .from_zero = 1};
    fem_cg_result result = {0};
    yoke_status status = fem_cg(s->decomposition, &inverse, s->b, s->x, s->ax, &options, &hooks, &result);
    if (status && status != YOKE_ERROR_NUMERIC) return status;
    *solution =
        (fem_bench_adding_solution){.iterations = result.iterations,
                                    .strain_energy_j = status ? NAN : energy_of(s),
                                    .iteration_s = s->last > s->first ? (s->last_s - s->first_s) / (s->last - s->first) : (double)NAN,
                                    .product_s = product_seconds(s)};
    return status;
}

yoke_status fem_bench_adding_solve(const fem_space *space, const fem_boundary *boundary, const fem_constraints *constraints,
                                   const fem_bench_adding_options *options, fem_bench_adding_solution *solution)
{
    solve s = {.space = space, .constraints = constraints, .options = options, .first = -1, .last = -1};
    yoke_status status = make(&s, boundary);
    if (!status) status = run(&s, solution);
    fem_vector_destroy(s.b);
    fem_vector_destroy(s.x);
    fem_vector_destroy(s.ax);
    fem_vector_destroy(s.lifting);
    fem_decomposition_destroy(s.decomposition);
    yoke_release(space->context, s.load);
    return status;
}
