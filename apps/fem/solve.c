#include "solve.h"

#include "multigrid.h"

enum { JACOBI_STAGNATION = 2000, MULTIGRID_STAGNATION = 60 };

typedef struct solve {
    const fem_space *space;
    const fem_constraints *constraints;
    const fem_solve_options *options;
    const fem_hooks *hooks;
    fem_part *part;
    fem_multigrid *multigrid;
    fem_vector *b, *x, *work;
    fem_solution *solution;
} solve;

void fem_solution_destroy(fem_solution *solution)
{
    if (!solution) return;
    yoke_release(solution->context, solution->u);
    yoke_release(solution->context, solution->load);
    yoke_release(solution->context, solution->residual);
    yoke_release(solution->context, solution);
}

static yoke_status apply_blocks(void *state, const fem_vector *r, fem_vector *z)
{
    fem_part *part = state;
    part->call->block_solve(part, r, z);
    return YOKE_OK;
}

static yoke_status make_operators(solve *s, const fem_boundary *boundary)
{
    fem_part_options options = {.precision = FEM_DOUBLE, .operator_kind = s->options->operator_kind, .threads = s->options->threads};
    yoke_status status = fem_part_cpu_create(s->space, s->constraints, &options, &s->part);
    fem_vector **vectors[] = {&s->b, &s->x, &s->work};
    for (int i = 0; i < 3 && !status; i++) status = s->part->call->vector_create(s->part, vectors[i]);
    if (!status) status = fem_space_load(s->space, boundary, s->solution->load);
    if (!status && s->options->solver == FEM_SOLVER_MULTIGRID) {
        fem_multigrid_options multigrid = {.threads = s->options->threads};
        status = fem_multigrid_create(s->space, s->constraints, &multigrid, s->hooks, &s->multigrid);
    }
    return status;
}

/* b = load - A g at free dofs, g the prescribed values; x = the start value at free dofs. */
static void lift(solve *s, const double *start)
{
    const fem_part_functions *call = s->part->call;
    call->write(s->x, s->constraints->value);
    call->product(s->part, 0, s->x, s->work);
    call->write(s->b, s->solution->load);
    call->subtract(s->b, s->work, s->b);
    call->mask(s->b);
    if (start)
        call->write(s->x, start);
    else
        call->zero(s->x);
    call->mask(s->x);
}

/* u = x + g, then residual and energy from A u. */
static void finish(solve *s)
{
    const fem_part_functions *call = s->part->call;
    fem_solution *out = s->solution;
    call->write(s->b, s->constraints->value);
    call->axpy(1, s->b, s->x);
    call->product(s->part, 0, s->x, s->work);
    out->strain_energy_j = 0.5 * call->dot(s->x, s->work);
    call->write(s->b, out->load);
    call->subtract(s->work, s->b, s->work);
    call->read(s->x, out->u);
    call->read(s->work, out->residual);
    out->operator_applications = s->part->products + (s->multigrid ? fem_multigrid_fine_products(s->multigrid) : 0);
    out->seconds_per_product = call->seconds_per_product(s->part);
    enum { VECTORS = 3 + 4 }; /* here and in the conjugate gradients */
    out->memory_bytes = call->memory_bytes(s->part) + VECTORS * (int64_t)sizeof(double) * s->part->dofs +
                        (s->multigrid ? fem_multigrid_memory_bytes(s->multigrid) : 0);
}

static yoke_status run(solve *s, const fem_boundary *boundary, const double *start)
{
    double begin = yoke_clock_s();
    yoke_status status = make_operators(s, boundary);
    if (status) return status;
    double ready = yoke_clock_s();
    s->solution->setup_s = ready - begin;
    lift(s, start);
    fem_approximate_inverse blocks = {apply_blocks, s->part};
    fem_approximate_inverse inverse = s->multigrid ? fem_multigrid_inverse(s->multigrid) : blocks;
    fem_cg_options options = {.relative_residual = s->options->relative_residual,
                              .max_iterations = s->options->max_iterations,
                              .stagnation = s->multigrid ? MULTIGRID_STAGNATION : JACOBI_STAGNATION};
    fem_cg_result result = {0, 0};
    status = fem_cg(s->part, &inverse, s->b, s->x, &options, s->hooks, &result);
    if (status) return status;
    s->solution->iterations = result.iterations;
    s->solution->relative_residual = result.relative_residual;
    finish(s);
    s->solution->solve_s = yoke_clock_s() - ready;
    return YOKE_OK;
}

static yoke_status create_solution(const fem_space *space, fem_solution **out)
{
    fem_solution *solution;
    int64_t dofs = (int64_t)space->num_nodes * space->components;
    yoke_status status = yoke_allocate(space->context, 1, sizeof *solution, (void **)&solution);
    if (status) return status;
    solution->context = space->context;
    status = yoke_allocate(space->context, dofs, sizeof(double), (void **)&solution->u);
    if (!status) status = yoke_allocate(space->context, dofs, sizeof(double), (void **)&solution->load);
    if (!status) status = yoke_allocate(space->context, dofs, sizeof(double), (void **)&solution->residual);
    if (status)
        fem_solution_destroy(solution);
    else
        *out = solution;
    return status;
}

yoke_status fem_solve(const fem_space *space, const fem_boundary *boundary, const fem_constraints *constraints, const double *start,
                      const fem_solve_options *options, const fem_hooks *hooks, fem_solution **out)
{
    solve s = {.space = space, .constraints = constraints, .options = options, .hooks = hooks};
    yoke_status status = create_solution(space, &s.solution);
    if (status) return status;
    status = run(&s, boundary, start);
    fem_multigrid_destroy(s.multigrid);
    if (s.part) {
        s.part->call->vector_destroy(s.b);
        s.part->call->vector_destroy(s.x);
        s.part->call->vector_destroy(s.work);
        s.part->call->destroy(s.part);
    }
    if (status)
        fem_solution_destroy(s.solution);
    else
        *out = s.solution;
    return status;
}
