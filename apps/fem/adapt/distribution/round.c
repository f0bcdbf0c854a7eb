#include "adapt/distribution/round.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "solver/multigrid/couplings.h"
#include "solver/multigrid/multigrid.h"
#include "space/forest/forest.h"

/*
 * The number of iterations of conjugate gradients with node blocks grows with these powers of the number of elements: usually in proportion
 * to the number in one direction.
 */
static const double usual_growth = 1.0 / 3, most_growth = 0.5;
/*
 * Values before anything is known: usual numbers of multigrid, with the products of its smoother and residual, and the iterations of a
 * factor.
 */
static const double usual_iterations = 6, usual_products = 9, factor_iterations = 2, usual_others = 2;
/* Lower bound of the number of independent nodes per element, with any hanging nodes. */
static const double least_nodes = 0.25;

void fem_forecast_start(fem_forecast *forecast, fem_solver solver, int factored)
{
    *forecast = (fem_forecast){.solver = solver, .factored = factored};
}

int fem_forecast_is_factored(const fem_forecast *f, const fem_space *space, fem_solver solver)
{
    if (solver != FEM_SOLVER_MULTIGRID) return solver == FEM_SOLVER_DIRECT;
    if (multigrid_is_stretched(space->problem->mesh))
        return f->solver == solver && f->num_steps && f->factored; /* its factor may still be cheap */
    return space->element == FEM_Q1 && (int64_t)space->num_nodes * space->components <= FEM_DIRECT_DOFS;
}

/* -------------------------------------------------------------------------------------------------------- levels */

/* Estimates the unknowns of a level of the multigrid with this many elements, by the level of the latest step that is nearest in size. */
static double level_dofs(const fem_forecast *f, double elements, int components)
{
    double ratio = components * (1 + 3 / cbrt(elements)), nearest = INFINITY;
    for (int l = 0; l < f->num_levels; l++) {
        double off = fabs(log(f->levels[l].elements / elements));
        if (off >= nearest) continue;
        nearest = off;
        ratio = f->levels[l].dofs / f->levels[l].elements;
    }
    return ratio * elements;
}

static double per_iteration(const fem_forecast *f)
{
    if (f->num_steps) return f->steps[(f->num_steps - 1) % FEM_STEPS_REMEMBERED].products_per_iteration;
    return f->factored ? 1 : usual_products;
}

static void add_level(const fem_forecast *f, fem_products *products, int64_t elements, int visits)
{
    if (products->num_levels == FEM_MAX_PHASES) return;
    int l = products->num_levels++;
    /* the products of the smoother before and after, and the residual between them; the same on all levels */
    products->levels[l].elements = elements;
    products->levels[l].products = visits * fmax(1, per_iteration(f) - 1) * products->iterations;
}

/*
 * Sets *last to nonzero if fem_multigrid_create solves the q1 level on this forest directly.  An estimate of the number of dofs could be on
 * the wrong side of the limit, so the dofs of small levels are counted.
 */
static yoke_status find_last(const fem_space *space, const fem_forest *forest, int *last)
{
    fem_space *level = NULL;
    *last = 0;
    if (least_nodes * (double)fem_forest_leaves(forest) * space->components > FEM_DIRECT_DOFS) return YOKE_OK;
    yoke_status status = fem_space_create(space->problem, forest, FEM_Q1, &level);
    if (!status) *last = (int64_t)level->num_nodes * level->components <= FEM_DIRECT_DOFS;
    fem_space_destroy(level);
    return status;
}

/* Finds the levels that fem_multigrid_create makes. */
static yoke_status find_levels(const fem_forecast *f, const fem_space *space, fem_products *products)
{
    fem_forest *forest = NULL;
    int64_t elements = space->num_elements;
    int last = f->factored;
    yoke_status status = last ? YOKE_OK : fem_forest_copy(space->forest, &forest);
    if (last || status) return status;
    const int stretched = multigrid_is_stretched(space->problem->mesh);
    const double last_dofs = f->num_levels ? f->levels[f->num_levels - 1].dofs : FEM_DIRECT_DOFS; /* where elements are stretched */
    if (stretched) {
        last = (double)space->num_nodes * space->components <= last_dofs;
    } else if (space->element != FEM_Q1) {
        add_level(f, products, elements, 1);
        status = find_last(space, forest, &last);
    }
    while (!status && !last && products->num_levels < FEM_MAX_PHASES) {
        status = fem_forest_coarsen(forest);
        if (status || fem_forest_leaves(forest) == elements) break;
        elements = fem_forest_leaves(forest);
        /* each of two levels applies two corrections */
        add_level(f, products, elements, !stretched ? 1 : products->num_levels == 1 ? 2 : 4);
        if (stretched)
            last = level_dofs(f, (double)elements, space->components) <= last_dofs;
        else
            status = find_last(space, forest, &last);
    }
    fem_forest_destroy(forest);
    if (products->num_levels > 1) products->num_levels--; /* the last one is solved directly */
    return status;
}

/* ---------------------------------------------------------------------------------------------------- iterations */

/* Returns the slope of log iterations over log elements for Jacobi; the iterations of the other solvers do not grow. */
static double growth(const fem_forecast *f)
{
    int count = f->num_steps < FEM_STEPS_REMEMBERED ? f->num_steps : FEM_STEPS_REMEMBERED;
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
    for (int k = 0; k < count; k++) {
        mean_x += log(f->steps[k].elements) / count;
        mean_y += log(f->steps[k].iterations) / count;
    }
    for (int k = 0; k < count; k++) {
        double x = log(f->steps[k].elements) - mean_x;
        xx += x * x;
        xy += x * (log(f->steps[k].iterations) - mean_y);
    }
    const double weight = 0.1; /* of the usual slope, relative to a spread of one in log elements */
    double slope = (xy + weight * usual_growth) / (xx + weight);
    return fmin(fmax(slope, 0), most_growth);
}

/* Returns the mean of the latest three steps; for Jacobi, the latest number, extrapolated by the growth. */
static double iterations(const fem_forecast *f, double elements)
{
    int newest = (f->num_steps - 1) % FEM_STEPS_REMEMBERED, count = f->num_steps < 3 ? f->num_steps : 3;
    if (!f->num_steps) return f->factored ? factor_iterations : usual_iterations;
    if (f->solver == FEM_SOLVER_JACOBI) return f->steps[newest].iterations * pow(elements / f->steps[newest].elements, growth(f));
    double sum = 0;
    for (int k = 0; k < count; k++) sum += f->steps[(f->num_steps - 1 - k) % FEM_STEPS_REMEMBERED].iterations;
    return floor(sum / count + 0.5);
}

yoke_status fem_forecast_products(const fem_forecast *f, const fem_space *space, fem_products *products)
{
    *products = (fem_products){.num_levels = 1};
    products->iterations = iterations(f, (double)space->num_elements);
    products->levels[0].elements = space->num_elements > 0 ? space->num_elements : 1; /* a rank may have none */
    products->levels[0].products = fmax(1, products->iterations * per_iteration(f) + (f->num_steps ? f->other_products : usual_others));
    products->all_products = products->levels[0].products + f->setup_products;
    /* On several ranks the shares follow from the finest level's products alone, because those of other levels involve all ranks. */
    return f->solver == FEM_SOLVER_MULTIGRID && !space->ranks ? find_levels(f, space, products) : YOKE_OK;
}

void fem_forecast_learn(fem_forecast *f, const fem_solution *solution)
{
    const int factored = solution->solver == FEM_SOLVER_DIRECT || (solution->solver == FEM_SOLVER_MULTIGRID && !solution->num_levels);
    if (solution->solver != f->solver || factored != f->factored) fem_forecast_start(f, solution->solver, factored);
    double products = (double)(solution->operator_applications - solution->setup_products), count = (double)solution->iterations;
    double each = count > 0 ? floor((products - 4) / count + 0.5) : 1, elements = 0;
    for (int i = 0; i < solution->num_shares; i++) elements += solution->shares[i].elements;
    int k = f->num_steps++ % FEM_STEPS_REMEMBERED;
    f->steps[k].elements = fmax(1, elements); /* a rank may have none */
    f->steps[k].iterations = count > 0 ? count : 1;
    f->steps[k].products_per_iteration = each;
    f->setup_products = (double)solution->setup_products;
    f->other_products = products - each * count;
    f->num_levels = solution->num_levels;
    for (int l = 0; l < solution->num_levels; l++) {
        f->levels[l].elements = fmax(1, (double)solution->levels[l].elements);
        f->levels[l].dofs = fmax(1, (double)solution->levels[l].dofs);
    }
}

/* --------------------------------------------------------------------------------------------------------- round */

void fem_works_name(const fem_space *space, fem_operator operator_kind, fem_works *works)
{
    static const char *const elements[] = {[FEM_Q1] = "q1", [FEM_S2] = "s2", [FEM_Q2] = "q2"};
    const char *problem = space->components == 3 ? "elasticity" : "poisson";
    const char *coarse = multigrid_is_stretched(space->problem->mesh) ? elements[space->element] : "q1";
    snprintf(works->fine, sizeof works->fine, "%s %s %s", elements[space->element], problem,
             operator_kind == FEM_STORED ? "stored" : "matrixfree");
    snprintf(works->coarse, sizeof works->coarse, "%s %s multigrid", coarse, problem);
}

yoke_status fem_works_tell(const fem_works *works, yoke_context *context, yoke_run *run)
{
    enum { MOST = 16 };
    const char *texts[MOST];
    int64_t count;
    yoke_topology topology;
    const char *const *kernels = fem_programs_texts(&count);
    yoke_status status = yoke_topology_get(context, &topology);
    if (status) return status;
    memcpy(texts, kernels, (size_t)count * sizeof *texts);
    texts[count++] = topology.instruction_set;
    status = yoke_run_work(run, works->fine, texts, count);
    return status ? status : yoke_run_work(run, works->coarse, texts, count);
}

void fem_round_phases(const fem_products *products, const fem_works *works, int64_t shared, int device, yoke_phase *phases)
{
    for (int l = 0; l < products->num_levels; l++) {
        int alone = l > 0 && device >= 0 && products->levels[l].elements < shared;
        phases[l] = (yoke_phase){.work = l ? works->coarse : works->fine,
                                 .like = works->fine,
                                 .calls = products->levels[l].products,
                                 .cut = alone ? -1 : 0,
                                 .device = alone ? device : 0,
                                 .units = products->levels[l].elements,
                                 .barrier = 1};
    }
}

int fem_round_keeper(const fem_devices *devices, const int64_t *units)
{
    int chosen = -1;
    for (int i = 0; i < devices->count; i++)
        if (units[i] > 0 && (chosen < 0 || units[i] > units[chosen])) chosen = i;
    for (int i = devices->count - 1; i >= 0; i--)
        if (units[i] > 0 && !strcmp(devices->list[i].info->kind, "openmp")) chosen = i;
    return chosen;
}

int fem_round_report(const fem_products *products, const fem_solution *solution, fem_solver planned, double *seconds, double *calls)
{
    static const double none = 1e-9;
    const int devices = solution->num_shares;
    int other = solution->solver != planned, found = 0;
    for (int k = 0; k < products->num_levels * devices; k++) seconds[k] = NAN;
    calls[0] = (double)(solution->operator_applications - solution->setup_products);
    for (int i = 0; i < devices; i++)
        if (solution->shares[i].elements) seconds[i] = solution->shares[i].seconds_per_product;
    for (int p = 1; p < products->num_levels; p++) {
        calls[p] = none;
        for (int l = 0; l < solution->num_levels; l++) {
            const fem_solve_level *level = &solution->levels[l];
            if (level->elements != products->levels[p].elements || !level->products) continue;
            calls[p] = (double)level->products;
            for (int i = 0; i < devices; i++)
                if (level->subdomain_elements[i]) seconds[p * devices + i] = level->seconds_per_product[i];
            found++;
            break;
        }
        other |= calls[p] == none;
    }
    for (int l = 0; l < solution->num_levels; l++) found -= solution->levels[l].products > 0;
    return other || found;
}
