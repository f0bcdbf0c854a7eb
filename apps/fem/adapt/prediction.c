#include "adapt/prediction.h"

#include <math.h>
#include <string.h>

#include "solver/multigrid.h"
#include "solver/multigrid_couplings.h"
#include "space/forest.h"

/* A product's time is known to about so much; what is known beforehand of a. */
static const double residual_sigma = 0.01, overhead_sigma = 0.3;
/* Iterations of conjugate gradients with node blocks grow with the number of elements in one direction. */
static const double usual_growth = 1.0 / 3, most_growth = 0.5;

void fem_prediction_start(fem_prediction *p, const fem_devices *devices, const yoke_balancer *balancer, const fem_powers *powers)
{
    *p = (fem_prediction){.devices = devices, .balancer = balancer, .powers = powers};
    for (int i = 0; i < FEM_MOST_DEVICES; i++) p->contention[i] = 1;
    fem_prediction_change(p, FEM_SOLVER_MULTIGRID);
}

void fem_prediction_change(fem_prediction *p, fem_solver solver)
{
    p->solver = solver;
    p->num_steps = p->num_levels = 0;
    p->setup_products = p->other_products = 0;
    for (int i = 0; i < FEM_MOST_DEVICES; i++) p->shared_factor[i] = p->alone_factor[i] = NAN;
}

/* --------------------------------------------------------------------------------------------------------- work */

/* Unknowns of a q1 level with so many elements, as with the nearest one of the latest step. */
static double level_dofs(const fem_prediction *p, double elements)
{
    double ratio = 3 * (1 + 3 / cbrt(elements)), nearest = INFINITY;
    for (int l = 0; l < p->num_levels; l++) {
        double off = fabs(log(p->levels[l].elements / elements));
        if (off >= nearest) continue;
        nearest = off;
        ratio = p->levels[l].dofs / p->levels[l].elements;
    }
    return ratio * elements;
}

static void add_level(const fem_prediction *p, fem_work *work, int64_t elements, int visits)
{
    if (work->num_levels == FEM_MOST_SOLVE_LEVELS) return;
    int l = work->num_levels++;
    int newest = (p->num_steps - 1) % FEM_STEPS_REMEMBERED;
    /* the smoother's products before and after, and the residual between: on all levels the same */
    work->levels[l].elements = elements;
    work->levels[l].products = visits * (p->steps[newest].products_per_iteration - 1) * work->iterations;
}

/* As fem_multigrid_create makes them. */
static yoke_status find_levels(const fem_prediction *p, const fem_space *space, fem_work *work)
{
    fem_forest *forest = NULL;
    double dofs = (double)space->num_nodes * space->components;
    int64_t elements = space->num_elements;
    yoke_status status = fem_forest_copy(space->forest, &forest);
    if (status) return status;
    const int stretched = multigrid_is_stretched(space->problem->mesh);
    const double last_dofs = stretched && p->num_levels ? p->levels[p->num_levels - 1].dofs : FEM_DIRECT_DOFS;
    if (space->element != FEM_Q1 && !stretched) {
        add_level(p, work, elements, 1);
        dofs = level_dofs(p, (double)elements);
    }
    while (!status && dofs > last_dofs && work->num_levels < FEM_MOST_SOLVE_LEVELS) {
        status = fem_forest_coarsen(forest);
        if (status || fem_forest_leaves(forest) == elements) break;
        elements = fem_forest_leaves(forest);
        dofs = level_dofs(p, (double)elements);
        add_level(p, work, elements, !stretched ? 1 : work->num_levels == 0 ? 2 : 4); /* each of two levels corrects twice */
    }
    fem_forest_destroy(forest);
    if (work->num_levels) work->num_levels--; /* the last one is solved directly */
    return status;
}

/* The slope of log iterations over log elements, for Jacobi's; those of the others do not grow. */
static double growth(const fem_prediction *p)
{
    if (p->solver != FEM_SOLVER_JACOBI) return 0;
    int count = p->num_steps < FEM_STEPS_REMEMBERED ? p->num_steps : FEM_STEPS_REMEMBERED;
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
    for (int k = 0; k < count; k++) {
        mean_x += log(p->steps[k].elements) / count;
        mean_y += log(p->steps[k].iterations) / count;
    }
    for (int k = 0; k < count; k++) {
        double x = log(p->steps[k].elements) - mean_x;
        xx += x * x;
        xy += x * (log(p->steps[k].iterations) - mean_y);
    }
    const double weight = 0.1; /* of what is usual, against a spread of one in log elements */
    double slope = (xy + weight * usual_growth) / (xx + weight);
    return fmin(fmax(slope, 0), most_growth);
}

/* The mean of the latest three; Jacobi's: the latest with the growth. */
static double iterations(const fem_prediction *p, double elements)
{
    int newest = (p->num_steps - 1) % FEM_STEPS_REMEMBERED, count = p->num_steps < 3 ? p->num_steps : 3;
    if (p->solver == FEM_SOLVER_JACOBI) return p->steps[newest].iterations * pow(elements / p->steps[newest].elements, growth(p));
    double sum = 0;
    for (int k = 0; k < count; k++) sum += p->steps[(p->num_steps - 1 - k) % FEM_STEPS_REMEMBERED].iterations;
    return floor(sum / count + 0.5);
}

yoke_status fem_prediction_work(const fem_prediction *p, const fem_space *space, fem_work *work)
{
    int newest = (p->num_steps - 1) % FEM_STEPS_REMEMBERED;
    *work = (fem_work){.elements = space->num_elements};
    work->iterations = iterations(p, (double)space->num_elements);
    work->products = work->iterations * p->steps[newest].products_per_iteration + p->other_products;
    work->all_products = work->products + p->setup_products;
    return p->solver == FEM_SOLVER_MULTIGRID ? find_levels(p, space, work) : YOKE_OK;
}

void fem_prediction_actual(const fem_solution *solution, fem_work *work)
{
    *work = (fem_work){.iterations = (double)solution->iterations, .all_products = (double)solution->operator_applications};
    work->products = (double)(solution->operator_applications - solution->setup_products);
    for (int i = 0; i < solution->num_shares; i++) work->elements += solution->shares[i].elements;
    for (int l = 0; l < solution->num_levels; l++) {
        if (!solution->levels[l].products) continue;
        work->levels[work->num_levels].elements = solution->levels[l].elements;
        work->levels[work->num_levels++].products = (double)solution->levels[l].products;
    }
}

/* --------------------------------------------------------------------------------------------------------- cost */

/* Alone: between what was measured linear, before it constant speed, behind it with the slope to a point that is a good part smaller. */
static double alone_seconds(const fem_prediction *p, int device, double elements, double together)
{
    const fem_alone_curve *c = &p->alone[device];
    const double well_apart = 0.7;
    int last = c->count - 1, k = 0;
    if (elements <= 0) return 0;
    if (c->count == 0) return together / p->contention[device];
    if (elements <= c->elements[0] || last == 0) return c->seconds[0] * elements / c->elements[0];
    while (k < last && c->elements[k + 1] < elements) k++;
    int to = k + 1;
    if (k == last) {
        for (k = last - 1; k > 0 && c->elements[k] > well_apart * c->elements[last];) k--;
        to = last;
    }
    double slope = (c->seconds[to] - c->seconds[k]) / (c->elements[to] - c->elements[k]);
    double from_s = to == last && elements > c->elements[last] ? c->seconds[last] : c->seconds[k];
    double from = to == last && elements > c->elements[last] ? c->elements[last] : c->elements[k];
    return from_s + fmax(slope, 0) * (elements - from);
}

void fem_prediction_alone(fem_prediction *p, int device, double elements, double seconds)
{
    fem_alone_curve *c = &p->alone[device];
    const double near = 0.02; /* such elements are the same */
    int at = 0;
    if (!(seconds > 0) || !isfinite(seconds) || !(elements > 0)) return;
    while (at < c->count && c->elements[at] < elements * (1 - near)) at++;
    if (at < c->count && c->elements[at] <= elements * (1 + near)) {
        c->seconds[at] = seconds * c->elements[at] / elements;
        return;
    }
    if (c->count == FEM_MOST_ALONE) { /* small sizes matter least: they do not come again */
        memmove(c->elements, c->elements + 1, (FEM_MOST_ALONE - 1) * sizeof c->elements[0]);
        memmove(c->seconds, c->seconds + 1, (FEM_MOST_ALONE - 1) * sizeof c->seconds[0]);
        c->count--;
        at -= at > 0;
    }
    memmove(c->elements + at + 1, c->elements + at, (size_t)(c->count - at) * sizeof c->elements[0]);
    memmove(c->seconds + at + 1, c->seconds + at, (size_t)(c->count - at) * sizeof c->seconds[0]);
    c->elements[at] = elements;
    c->seconds[at] = seconds;
    c->count++;
}

void fem_prediction_copy(fem_prediction *p, int device, double elements, double seconds)
{
    if (!(elements > 0) || !isfinite(seconds)) return;
    if (p->copies[device].fewest == 0 || elements < p->copies[device].fewest) {
        p->copies[device].fewest = elements;
        p->copies[device].fewest_s = seconds;
    }
    if (elements < p->copies[device].most) return;
    p->copies[device].most = elements;
    p->copies[device].max_s = seconds;
}

void fem_prediction_copy_law(const fem_prediction *p, int device, double *start_s, double *per_unit_s)
{
    const double well_apart = 1.3;
    double fewest = p->copies[device].fewest, most = p->copies[device].most;
    *start_s = *per_unit_s = 0;
    if (fewest == 0) return;
    *per_unit_s = p->copies[device].max_s / most;
    if (most < well_apart * fewest) return;
    *per_unit_s = fmax(p->copies[device].max_s - p->copies[device].fewest_s, 0) / (most - fewest);
    *start_s = fmax(p->copies[device].fewest_s - *per_unit_s * fewest, 0);
}

typedef struct tally {
    double time_s, above_j; /* of products, and joules above idle */
    double products;
} tally;

static int level_of(const fem_prediction *p, int device, const int *levels)
{
    return levels ? levels[device] : p->powers->device[device].num_levels - 1;
}

/* Adds products in which device i takes seconds[i]. */
static void add_products(const fem_prediction *p, double products, const double *seconds, const int *levels, tally *sum)
{
    double longest = 0, host = 0, accelerator = 0, above_w_s = 0;
    for (int i = 0; i < p->devices->count; i++) {
        const fem_device_powers *powers = &p->powers->device[i];
        double s = seconds[i];
        if (!(s > 0)) continue;
        longest = fmax(longest, s);
        if (p->devices->list[i].info->device_class == YOKE_DEVICE_CPU)
            host = fmax(host, s);
        else
            accelerator = fmax(accelerator, s);
        above_w_s += s * powers->dynamic_w[level_of(p, i, levels)];
    }
    if (accelerator > host) above_w_s += p->powers->hosting_w * (accelerator - host);
    sum->time_s += products * longest;
    sum->above_j += products * above_w_s;
    sum->products += products;
}

static double slowness(const fem_prediction *p, int device, const int *levels)
{
    return levels ? p->powers->device[device].slowness[levels[device]] : 1;
}

static int working(const fem_prediction *p, const int64_t *units)
{
    int count = 0;
    for (int i = 0; i < p->devices->count; i++) count += units[i] > 0;
    return count;
}

static int is_alone(const fem_prediction *p, const int64_t *units, int64_t elements)
{
    int count = working(p, units);
    return count < 2 || elements < FEM_SHARED_ELEMENTS * (int64_t)count;
}

/* As multigrid_cut chooses it. */
static int alone_device(const fem_prediction *p, const int64_t *units)
{
    int chosen = 0;
    for (int i = 0; i < p->devices->count; i++)
        if (units[i] > units[chosen]) chosen = i;
    for (int i = p->devices->count - 1; i >= 0; i--)
        if (units[i] > 0 && !strcmp(p->devices->list[i].info->kind, "openmp")) chosen = i;
    return chosen;
}

static double known_or(double x, double otherwise) { return isnan(x) ? otherwise : x; }

/* Seconds of each device for a product of a coarser level. */
static yoke_status level_seconds(const fem_prediction *p, const fem_work *work, int l, const int64_t *units, double *seconds)
{
    int64_t elements = work->levels[l].elements, part[FEM_MOST_DEVICES] = {0};
    int alone = is_alone(p, units, elements);
    if (alone) {
        part[alone_device(p, units)] = elements;
    } else {
        for (int i = 0; i < p->devices->count; i++) {
            double share = (double)units[i] / (double)work->elements * (double)elements;
            part[i] = units[i] > 0 && share < 1 ? 1 : (int64_t)(share + 0.5);
        }
    }
    yoke_status status = yoke_balancer_predict(p->balancer, part, seconds);
    for (int i = 0; i < p->devices->count; i++) {
        if (alone) seconds[i] = alone_seconds(p, i, (double)part[i], seconds[i]);
        seconds[i] *= alone ? known_or(p->alone_factor[i], known_or(p->shared_factor[i], 1)) : known_or(p->shared_factor[i], 1);
    }
    return status;
}

yoke_status fem_prediction_seconds(const fem_prediction *p, const int64_t *units, double *seconds)
{
    yoke_status status = yoke_balancer_predict(p->balancer, units, seconds);
    if (working(p, units) < 2)
        for (int i = 0; i < p->devices->count; i++) seconds[i] = alone_seconds(p, i, (double)units[i], seconds[i]);
    return status;
}

/* Least squares of relative errors, with a prior for a; b is not negative. */
static uint64_t working_set(const fem_prediction *p, const int64_t *units)
{
    uint64_t set = 0;
    for (int i = 0; i < p->devices->count; i++) set |= units[i] > 0 ? (uint64_t)1 << i : 0;
    return set;
}

/* Steps with the same devices tell most, then those that one device had alone too; 2, 1 or 0. */
static int likeness(uint64_t set, uint64_t other)
{
    if (set == other) return 2;
    return (set & (set - 1)) == 0 && (other & (other - 1)) == 0;
}

void fem_prediction_overhead(const fem_prediction *p, const int64_t *units, double *a, double *b)
{
    uint64_t set = working_set(p, units);
    int likest = 0, used = 0;
    int count = p->num_steps < FEM_STEPS_REMEMBERED ? p->num_steps : FEM_STEPS_REMEMBERED;
    double prior = residual_sigma * residual_sigma / (overhead_sigma * overhead_sigma);
    double mm = prior, mp = 0, pp = 0, m1 = prior, p1 = 0;
    *a = 1;
    *b = 0;
    for (int k = 0; k < count; k++) {
        int like = likeness(set, p->steps[k].working);
        likest = like > likest ? like : likest;
    }
    for (int k = 0; k < count; k++) {
        if (likeness(set, p->steps[k].working) < likest) continue;
        double m = p->steps[k].model_s / p->steps[k].time_s, n = p->steps[k].all_products / p->steps[k].time_s;
        if (!isfinite(m) || !isfinite(n)) continue;
        mm += m * m;
        mp += m * n;
        pp += n * n;
        m1 += m;
        p1 += n;
        used++;
    }
    double determinant = mm * pp - mp * mp;
    if (used > 1 && determinant > 1e-9 * mm * pp) {
        *a = (m1 * pp - p1 * mp) / determinant;
        *b = (mm * p1 - mp * m1) / determinant;
    }
    if (*b > 0 && *a > 0) return;
    *b = 0;
    *a = m1 / mm;
}

/* The median of the latest three ratios of measured to modelled joules with the same devices. */
static double energy_factor(const fem_prediction *p, const int64_t *units)
{
    double r[3];
    int count = 0, kept = p->num_steps < FEM_STEPS_REMEMBERED ? p->num_steps : FEM_STEPS_REMEMBERED;
    uint64_t set = working_set(p, units);
    for (int k = 0; k < kept && count < 3; k++) {
        int step = (p->num_steps - 1 - k) % FEM_STEPS_REMEMBERED;
        double ratio = p->steps[step].energy_j / p->steps[step].model_j;
        if (p->steps[step].working == set && isfinite(ratio) && ratio > 0) r[count++] = ratio;
    }
    if (count == 0) return 1;
    if (count == 1) return r[0];
    if (count == 2) return sqrt(r[0] * r[1]);
    return fmax(fmin(r[0], r[1]), fmin(fmax(r[0], r[1]), r[2]));
}

/* Power of the latest steps whose energy is known, on the average, for where no powers of devices are. */
static double mean_power(const fem_prediction *p)
{
    double joules = 0, seconds = 0;
    for (int k = 0; k < 3 && k < p->num_steps; k++) {
        int step = (p->num_steps - 1 - k) % FEM_STEPS_REMEMBERED;
        if (isnan(p->steps[step].energy_j)) continue;
        joules += p->steps[step].energy_j;
        seconds += p->steps[step].time_s;
    }
    return seconds > 0 ? joules / seconds : (double)NAN;
}

double fem_prediction_standing_w(const fem_prediction *p, const int *levels)
{
    double watts = p->powers->base_w;
    for (int i = 0; i < p->devices->count; i++) watts += p->powers->device[i].idle_w[level_of(p, i, levels)];
    return watts;
}

yoke_status fem_prediction_cost(const fem_prediction *p, const fem_work *work, const int64_t *units, const int *levels, fem_cost *cost)
{
    double seconds[FEM_MOST_DEVICES] = {0}, a, b;
    tally one = {0, 0, 0}, all = {0, 0, 0};
    yoke_status status = fem_prediction_seconds(p, units, seconds);
    for (int i = 0; i < p->devices->count; i++) seconds[i] *= slowness(p, i, levels);
    add_products(p, 1, seconds, levels, &one);
    add_products(p, work->products, seconds, levels, &all);
    for (int l = 0; l < work->num_levels && !status; l++) {
        status = level_seconds(p, work, l, units, seconds);
        for (int i = 0; i < p->devices->count; i++) seconds[i] *= slowness(p, i, levels);
        add_products(p, work->levels[l].products, seconds, levels, &all);
    }
    if (status) return status;
    fem_prediction_overhead(p, units, &a, &b);
    *cost = (fem_cost){.product_s = one.time_s};
    cost->time_s = p->num_steps ? a * all.time_s + b * all.products : (double)NAN;
    cost->energy_j = p->powers->source == FEM_POWERS_UNKNOWN
                         ? mean_power(p) * cost->time_s
                         : energy_factor(p, units) * (fem_prediction_standing_w(p, levels) * cost->time_s + all.above_j);
    cost->product_j = cost->energy_j / work->all_products;
    for (int i = 0; i < p->devices->count; i++) {
        double start_s, per_unit_s;
        fem_prediction_copy_law(p, i, &start_s, &per_unit_s);
        if (units[i] > 0) cost->copy_s = fmax(cost->copy_s, start_s + per_unit_s * (double)units[i]);
    }
    return YOKE_OK;
}

yoke_status fem_prediction_alone_s(const fem_prediction *p, const fem_work *work, const int64_t *units, double *sum)
{
    double seconds[FEM_MOST_DEVICES];
    yoke_status status = YOKE_OK;
    *sum = 0;
    for (int l = 0; l < work->num_levels && !status; l++) {
        if (!is_alone(p, units, work->levels[l].elements)) continue;
        double longest = 0;
        status = level_seconds(p, work, l, units, seconds);
        for (int i = 0; i < p->devices->count; i++) longest = seconds[i] > longest ? seconds[i] : longest;
        *sum += longest * work->levels[l].products;
    }
    return status;
}

double fem_prediction_repetitions(const fem_prediction *p, const fem_work *work, const int64_t *units)
{
    double products = work->products;
    for (int l = 0; l < work->num_levels; l++)
        if (!is_alone(p, units, work->levels[l].elements))
            products += work->levels[l].products * (double)work->levels[l].elements / (double)work->elements;
    return products;
}

/* ------------------------------------------------------------------------------------------------------ learning */

static double smooth(double before, double now, double weight)
{
    return isnan(before) ? now : isnan(now) ? before : before + weight * (now - before);
}

/* How much longer, or less, products of coarser levels take than the balancer says of as many elements of the space itself. */
static yoke_status learn_levels(fem_prediction *p, const fem_solution *solution, const int *clock)
{
    double predicted[FEM_MOST_DEVICES];
    int64_t part[FEM_MOST_DEVICES];
    yoke_status status = YOKE_OK;
    for (int l = 0; l < solution->num_levels && !status; l++) {
        const fem_solve_level *level = &solution->levels[l];
        if (!level->products) continue;
        int count = 0;
        for (int i = 0; i < p->devices->count; i++) {
            part[i] = level->subdomain_elements[i];
            count += part[i] > 0;
        }
        status = yoke_balancer_predict(p->balancer, part, predicted);
        for (int i = 0; i < p->devices->count; i++) {
            double expected = count > 1 ? predicted[i] : alone_seconds(p, i, (double)part[i], predicted[i]);
            double ratio = level->seconds_per_product[i] / (expected * slowness(p, i, clock));
            double *factor = count > 1 ? &p->shared_factor[i] : &p->alone_factor[i];
            if (part[i] > 0 && isfinite(ratio) && ratio > 0) *factor = smooth(*factor, ratio, 0.5);
        }
    }
    return status;
}

static void remember_levels(fem_prediction *p, const fem_solution *solution)
{
    p->num_levels = solution->num_levels;
    for (int l = 0; l < solution->num_levels; l++) {
        p->levels[l].elements = solution->levels[l].elements;
        p->levels[l].dofs = (double)solution->levels[l].dofs;
    }
}

yoke_status fem_prediction_learn(fem_prediction *p, const fem_solution *solution, const int *clock)
{
    double seconds[FEM_MOST_DEVICES] = {0};
    int64_t had[FEM_MOST_DEVICES];
    tally sum = {0, 0, 0};
    fem_work work;
    if (solution->solver != p->solver) fem_prediction_change(p, solution->solver);
    fem_prediction_actual(solution, &work);
    for (int i = 0; i < p->devices->count; i++) seconds[i] = solution->shares[i].elements ? solution->shares[i].seconds_per_product : 0;
    add_products(p, work.products, seconds, clock, &sum);
    for (int l = 0; l < solution->num_levels; l++)
        add_products(p, (double)solution->levels[l].products, solution->levels[l].seconds_per_product, clock, &sum);
    for (int i = 0; i < p->devices->count; i++) {
        const fem_solve_share *share = &solution->shares[i];
        fem_prediction_copy(p, i, share->elements, share->setup_moved_s);
    }
    int k = p->num_steps % FEM_STEPS_REMEMBERED;
    p->setup_products = (double)solution->setup_products;
    double per_iteration = work.iterations > 0 ? floor((work.products - 4) / work.iterations + 0.5) : 1;
    p->other_products = work.products - per_iteration * work.iterations;
    for (int i = 0; i < p->devices->count; i++) had[i] = solution->shares[i].elements;
    p->steps[k].working = working_set(p, had);
    p->steps[k].elements = (double)work.elements;
    p->steps[k].iterations = work.iterations > 0 ? work.iterations : 1;
    p->steps[k].products_per_iteration = per_iteration;
    p->steps[k].model_s = sum.time_s;
    p->steps[k].all_products = sum.products;
    p->steps[k].time_s = solution->solve_s;
    p->steps[k].model_j = fem_prediction_standing_w(p, clock) * solution->solve_s + sum.above_j;
    p->steps[k].energy_j = solution->energy.value_j;
    p->num_steps++;
    remember_levels(p, solution);
    return learn_levels(p, solution, clock);
}
