#include "space/problem/rigid_part.h"

#include <math.h>
#include <string.h>

#include "space/problem/checks.h"
#include "space/problem/sets.h"
#include "space/problem/small_svd.h"

/* A motion is subtracted only if at most this fraction of the largest value remains; otherwise the values of the case stay unchanged. */
static const double worth_it = 0.1;
/* Values below this fraction of the largest are rounding errors of the fit. */
static const double rounding = 1e-14;
static const double zero_singular = 1e-13;

/* ------------------------------------------------------------------------------------------------------- bodies */

yoke_status fem_find_bodies(const fem_mesh *mesh, int32_t *body, int32_t *num_bodies)
{
    int32_t *seen; /* by vertex: an element that has it, plus 1 */
    yoke_status status = yoke_allocate(mesh->context, mesh->num_vertices, sizeof *seen, &seen);
    if (status) return status;
    fem_sets_start(mesh->num_elements, body);
    for (int64_t i = 0; i < 8 * mesh->num_elements; i++) {
        int32_t *first = &seen[mesh->corners[i]];
        if (!*first) *first = (int32_t)(i / 8) + 1;
        fem_sets_merge(body, *first - 1, (int32_t)(i / 8));
    }
    *num_bodies = fem_sets_number(mesh->num_elements, body);
    yoke_release(mesh->context, seen);
    return YOKE_OK;
}

/* ---------------------------------------------------------------------------------------------------------- fit */

enum { MOTIONS = 6, COLUMNS = MOTIONS + 1 };

/* The fit for one body: rows of motions and prescribed value minus reference. */
typedef struct fit {
    double low[3], high[3], centre[3], scale;
    double reference[3]; /* first prescribed value of each component; most often the fit is exactly this */
    unsigned referenced; /* bits of the components that have a reference */
    double rows[COLUMNS * COLUMNS];
    double motion[MOTIONS];        /* translation, rotation in units of 1/scale */
    double largest, shifted, left; /* largest value: as prescribed; minus the reference; minus the motion too */
} fit;

typedef struct fitting {
    const fem_problem *problem;
    fit *fits; /* [num_bodies] */
} fitting;

typedef void fit_visitor(fit *f, const double x[3], int component, double value);

/* Visits each prescribed component at each vertex of each member of each condition. */
static void visit_prescribed(const fitting *run, fit_visitor *visit)
{
    const fem_problem *problem = run->problem;
    const fem_mesh *mesh = problem->mesh;
    for (int c = 0; c < problem->num_conditions; c++) {
        const fem_condition *condition = &problem->conditions[c];
        const fem_group *group = &mesh->groups[condition->group];
        for (int64_t i = 0; i < group->count && condition->kind == FEM_DIRICHLET; i++) {
            int corners[4], count = fem_member_corners(group->dimension, group->local[i], corners);
            for (int k = 0; k < count * problem->components; k++) {
                int component = k % problem->components;
                int32_t vertex = mesh->corners[8 * (int64_t)group->element[i] + corners[k / problem->components]];
                if (condition->mask >> component & 1)
                    visit(&run->fits[problem->body_of[group->element[i]]], mesh->vertices + 3 * (int64_t)vertex, component,
                          condition->value[component]);
            }
        }
    }
}

static void measure_bodies(const fitting *run)
{
    const fem_mesh *mesh = run->problem->mesh;
    for (int32_t b = 0; b < run->problem->num_bodies; b++)
        for (int a = 0; a < 3; a++) {
            run->fits[b].low[a] = INFINITY;
            run->fits[b].high[a] = -INFINITY;
        }
    for (int64_t i = 0; i < 8 * mesh->num_elements; i++) {
        fit *f = &run->fits[run->problem->body_of[i / 8]];
        for (int a = 0; a < 3; a++) {
            f->low[a] = fmin(f->low[a], mesh->vertices[3 * (int64_t)mesh->corners[i] + a]);
            f->high[a] = fmax(f->high[a], mesh->vertices[3 * (int64_t)mesh->corners[i] + a]);
        }
    }
    for (int32_t b = 0; b < run->problem->num_bodies; b++)
        for (int a = 0; a < 3; a++) {
            run->fits[b].centre[a] = run->fits[b].low[a] / 2 + run->fits[b].high[a] / 2;
            run->fits[b].scale = fmax(run->fits[b].scale, run->fits[b].high[a] / 2 - run->fits[b].low[a] / 2);
        }
}

static void find_reference(fit *f, const double x[3], int component, double value)
{
    (void)x;
    if (!(f->referenced >> component & 1)) f->reference[component] = value;
    f->referenced |= 1u << component;
    f->largest = fmax(f->largest, fabs(value));
    f->shifted = fmax(f->shifted, fabs(value - f->reference[component]));
}

/* row: component `component` of each motion at x. */
static void motion_row(const fit *f, const double x[3], int component, double row[MOTIONS])
{
    double d[3];
    for (int a = 0; a < 3; a++) d[a] = (x[a] - f->centre[a]) / f->scale;
    fem_rigid_row(d, component, row);
}

static void add_row(fit *f, const double x[3], int component, double value)
{
    double row[COLUMNS];
    if (f->shifted == 0) return;
    motion_row(f, x, component, row);
    row[MOTIONS] = value - f->reference[component];
    fem_qr_add(f->rows, COLUMNS, row);
}

/* Computes the least squares solution of minimum norm of the rows collected by add_row.  Poisson fits only the constant. */
static void solve_fit(fit *f, int motions)
{
    double a[MOTIONS * MOTIONS], v[MOTIONS * MOTIONS], sigma[MOTIONS], most = 0;
    for (int i = 0; i < MOTIONS * MOTIONS; i++) a[i] = i % MOTIONS < motions ? f->rows[i / MOTIONS * COLUMNS + i % MOTIONS] : 0;
    fem_small_svd(a, MOTIONS, v, sigma);
    for (int k = 0; k < MOTIONS; k++) most = fmax(most, sigma[k]);
    for (int k = 0; k < MOTIONS; k++) {
        double along = 0;
        if (!(sigma[k] > zero_singular * most)) continue;
        for (int i = 0; i < MOTIONS; i++) along += a[i * MOTIONS + k] / sigma[k] * f->rows[i * COLUMNS + MOTIONS];
        for (int j = 0; j < MOTIONS; j++) f->motion[j] += v[j * MOTIONS + k] * along / sigma[k];
    }
}

static void measure_rest(fit *f, const double x[3], int component, double value)
{
    double row[MOTIONS], rest = value - f->reference[component];
    motion_row(f, x, component, row);
    for (int j = 0; j < MOTIONS; j++) rest -= row[j] * f->motion[j];
    f->left = fmax(f->left, fabs(rest));
}

/* Chooses the best of reference with fitted motion, reference alone, and nothing.  Returns whether the result is not nothing. */
static int choose(const fit *f, fem_rigid_motion *motion)
{
    memset(motion, 0, sizeof *motion);
    int fitted = f->left <= worth_it * fmin(f->largest, f->shifted);
    if (f->largest == 0 || (!fitted && f->shifted > worth_it * f->largest)) return 0;
    fitted = fitted && f->shifted > 0;
    for (int a = 0; a < 3; a++) {
        motion->translation[a] = f->reference[a] + (fitted ? f->motion[a] : 0);
        motion->rotation[a] = fitted ? f->motion[3 + a] / f->scale : 0;
        motion->centre[a] = f->centre[a];
    }
    motion->rounding = fitted ? rounding * f->largest : 0;
    return 1;
}

yoke_status fem_fit_rigid_parts(fem_problem *problem)
{
    fitting run = {.problem = problem};
    fem_rigid_motion *rigid = NULL;
    int any = 0, motions = problem->components == 1 ? 1 : MOTIONS;
    yoke_status status = yoke_allocate(problem->context, problem->num_bodies, sizeof *run.fits, &run.fits);
    if (!status) status = yoke_allocate(problem->context, problem->num_bodies, sizeof *rigid, &rigid);
    if (!status) {
        measure_bodies(&run);
        visit_prescribed(&run, find_reference);
        visit_prescribed(&run, add_row);
        for (int32_t b = 0; b < problem->num_bodies; b++) solve_fit(&run.fits[b], motions);
        visit_prescribed(&run, measure_rest);
        for (int32_t b = 0; b < problem->num_bodies; b++) any |= choose(&run.fits[b], &rigid[b]);
    }
    yoke_release(problem->context, run.fits);
    if (any)
        problem->rigid = rigid;
    else
        yoke_release(problem->context, rigid);
    return status;
}

/* ------------------------------------------------------------------------------------------------- application */

int fem_rigid_value(const fem_problem *problem, int64_t tree, const double x[3], double *value)
{
    if (!problem->rigid || problem->fields.dirichlet) return 0;
    const fem_rigid_motion *motion = &problem->rigid[problem->body_of[tree]];
    const double *w = motion->rotation;
    double d[3];
    for (int a = 0; a < 3; a++) d[a] = x[a] - motion->centre[a];
    for (int c = 0; c < problem->components; c++)
        value[c] = motion->translation[c] + w[(c + 1) % 3] * d[(c + 2) % 3] - w[(c + 2) % 3] * d[(c + 1) % 3];
    return 1;
}

void fem_rigid_subtract(const fem_problem *problem, int64_t tree, const double x[3], double *value)
{
    double rigid[3];
    if (!fem_rigid_value(problem, tree, x, rigid)) return;
    for (int c = 0; c < problem->components; c++) {
        value[c] -= rigid[c];
        if (fabs(value[c]) <= problem->rigid[problem->body_of[tree]].rounding) value[c] = 0;
    }
}
