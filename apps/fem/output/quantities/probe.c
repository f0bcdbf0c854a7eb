#include "output/quantities/probe.h"

#include <math.h>
#include <string.h>

#include "mesh/shape.h"
#include "output/quantities/principal.h"

#define SLOTS 27
#define INSIDE 1e-9    /* fraction of an element's size: a point closer than this to the element is inside */
#define TOLERATED 1e-3 /* fraction of an element's size: a probe closer than this to the body is accepted */

typedef struct box {
    double low[3], high[3];
} box;

struct fem_locator {
    const fem_space *space;
    box *leaf; /* boxes of the elements [num_elements] */
    int32_t num_trees;
    int32_t *first; /* [num_trees + 1] leaves of each tree that has leaves here; they are contiguous in Morton order */
    box *tree;      /* [num_trees] */
};

static double size_of(const box *b)
{
    double square = 0;
    for (int a = 0; a < 3; a++) square += (b->high[a] - b->low[a]) * (b->high[a] - b->low[a]);
    return sqrt(square);
}

static double distance_to(const box *b, const double x[3])
{
    double square = 0;
    for (int a = 0; a < 3; a++) {
        double d = fmax(fmax(b->low[a] - x[a], x[a] - b->high[a]), 0);
        square += d * d;
    }
    return sqrt(square);
}

static void include(box *b, const box *other)
{
    for (int a = 0; a < 3; a++) {
        b->low[a] = fmin(b->low[a], other->low[a]);
        b->high[a] = fmax(b->high[a], other->high[a]);
    }
}

/*
 * Computes a box that contains a mapped element.  The positions of a Lagrange element of order 2 do not bound the map, but its Bezier
 * points do, because the map is a convex combination of them: along each axis the middle one is 2 x(1/2) - (x(0) + x(1)) / 2.
 */
static void bound(const fem_space *space, int32_t e, box *b)
{
    double x[SLOTS][3];
    fem_space_geometry(space, e, &x[0][0]);
    for (int axis = 0, stride = 1; axis < 3 && space->slots_1d == 3; axis++, stride *= 3)
        for (int slot = 0; slot < SLOTS; slot++)
            if (slot / stride % 3 == 1)
                for (int a = 0; a < 3; a++) x[slot][a] = 2 * x[slot][a] - 0.5 * (x[slot - stride][a] + x[slot + stride][a]);
    for (int a = 0; a < 3; a++) b->low[a] = INFINITY, b->high[a] = -INFINITY;
    for (int slot = 0; slot < space->slots; slot++) {
        for (int a = 0; a < 3; a++) {
            b->low[a] = fmin(b->low[a], x[slot][a]);
            b->high[a] = fmax(b->high[a], x[slot][a]);
        }
    }
}

static void bound_trees(fem_locator *locator)
{
    const fem_space *space = locator->space;
    for (int32_t e = 0; e < space->num_elements; e++) {
        if (e == 0 || space->tree[e] != space->tree[e - 1]) {
            locator->first[locator->num_trees] = e;
            locator->tree[locator->num_trees++] = locator->leaf[e];
        }
        include(&locator->tree[locator->num_trees - 1], &locator->leaf[e]);
    }
    locator->first[locator->num_trees] = space->num_elements;
}

yoke_status fem_locator_create(const fem_space *space, fem_locator **result)
{
    int64_t trees = 0;
    for (int32_t e = 0; e < space->num_elements; e++) trees += e == 0 || space->tree[e] != space->tree[e - 1];
    fem_locator *locator = NULL;
    yoke_status status = yoke_allocate(space->context, 1, sizeof *locator, &locator);
    if (status != YOKE_OK) return status;
    locator->space = space;
    status = yoke_allocate(space->context, space->num_elements, sizeof *locator->leaf, &locator->leaf);
    if (status == YOKE_OK) status = yoke_allocate(space->context, trees + 1, sizeof *locator->first, &locator->first);
    if (status == YOKE_OK) status = yoke_allocate(space->context, trees, sizeof *locator->tree, &locator->tree);
    if (status != YOKE_OK) {
        fem_locator_destroy(locator);
        return status;
    }
#pragma omp parallel for schedule(static)
    for (int32_t e = 0; e < space->num_elements; e++) bound(space, e, &locator->leaf[e]);
    bound_trees(locator);
    *result = locator;
    return YOKE_OK;
}

void fem_locator_destroy(fem_locator *locator)
{
    if (!locator) return;
    yoke_context *context = locator->space->context;
    yoke_release(context, locator->leaf);
    yoke_release(context, locator->first);
    yoke_release(context, locator->tree);
    yoke_release(context, locator);
}

/* A mapped element in which a point is searched. */
typedef struct mapped {
    int n, slots;
    double x[SLOTS * 3];
} mapped;

/* Computes d = target - x(r).  Returns its squared length. */
static double difference(const mapped *m, const double r[3], const double target[3], double d[3], double *gradient)
{
    double value[SLOTS];
    fem_shape(m->n, r, value, gradient, NULL);
    for (int a = 0; a < 3; a++) {
        d[a] = target[a];
        for (int slot = 0; slot < m->slots; slot++) d[a] -= value[slot] * m->x[3 * slot + a];
    }
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/* Solves a s = b with symmetric positive definite a in place by elimination.  Returns 0 if a is singular. */
static int solve3(double a[3][3], double b[3])
{
    for (int i = 0; i < 3; i++) {
        if (!(a[i][i] > 0)) return 0;
        for (int j = i + 1; j < 3; j++) {
            double factor = a[j][i] / a[i][i];
            for (int k = i; k < 3; k++) a[j][k] -= factor * a[i][k];
            b[j] -= factor * b[i];
        }
    }
    for (int i = 2; i >= 0; i--) {
        for (int k = i + 1; k < 3; k++) b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
    return 1;
}

/*
 * Proposes a damped Gauss-Newton step from r inside the unit cube; coordinates at faces that it would leave are fixed.  Returns 0 if no
 * step is possible.
 */
static int propose(const mapped *m, const double r[3], const double d[3], const double *gradient, double damping, double next[3])
{
    double jacobian[3][3] = {{0}}, a[3][3], b[3], scale = 0;
    for (int slot = 0; slot < m->slots; slot++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) jacobian[i][j] += m->x[3 * slot + i] * gradient[3 * slot + j];
    int clamped[3], free_count = 0;
    for (int j = 0; j < 3; j++) {
        b[j] = jacobian[0][j] * d[0] + jacobian[1][j] * d[1] + jacobian[2][j] * d[2];
        clamped[j] = (r[j] <= 0 && b[j] <= 0) || (r[j] >= 1 && b[j] >= 0);
        free_count += !clamped[j];
    }
    for (int j = 0; j < 3; j++) {
        for (int k = 0; k < 3; k++)
            a[j][k] = jacobian[0][j] * jacobian[0][k] + jacobian[1][j] * jacobian[1][k] + jacobian[2][j] * jacobian[2][k];
        scale += a[j][j];
    }
    for (int j = 0; j < 3; j++) {
        a[j][j] += damping * scale;
        for (int k = 0; clamped[j] && k < 3; k++) a[j][k] = a[k][j] = 0;
        if (clamped[j]) a[j][j] = 1, b[j] = 0;
    }
    if (free_count == 0 || !solve3(a, b)) return 0;
    for (int j = 0; j < 3; j++) next[j] = fmin(fmax(r[j] + b[j], 0), 1);
    return 1;
}

/*
 * Finds the reference point in [0,1]^3 whose image is nearest to the target, by Levenberg-Marquardt with bounds, starting from the nearest
 * slot.  Returns the distance.
 */
static double nearest_in_element(const mapped *m, const double target[3], double r[3])
{
    double d[3], gradient[SLOTS * 3], best = INFINITY, damping = 0;
    for (int slot = 0; slot < m->slots; slot++) {
        const double *x = m->x + 3 * slot;
        double square = 0;
        for (int a = 0; a < 3; a++) square += (target[a] - x[a]) * (target[a] - x[a]);
        if (slot > 0 && !(square < best)) continue;
        best = square;
        for (int a = 0, rest = slot; a < 3; a++, rest /= m->n) r[a] = (double)(rest % m->n) / (m->n - 1);
    }
    best = difference(m, r, target, d, gradient);
    for (int iteration = 0; iteration < 100 && damping < 1e8; iteration++) {
        double next[3], next_d[3], next_gradient[SLOTS * 3];
        if (!propose(m, r, d, gradient, damping, next)) break;
        double square = difference(m, next, target, next_d, next_gradient);
        if (!(square < best)) {
            damping = damping > 0 ? 10 * damping : 1e-3;
            continue;
        }
        double step = fabs(next[0] - r[0]) + fabs(next[1] - r[1]) + fabs(next[2] - r[2]);
        best = square;
        damping = damping > 1e-6 ? damping / 10 : 0;
        memcpy(r, next, sizeof next);
        memcpy(d, next_d, sizeof next_d);
        memcpy(gradient, next_gradient, sizeof next_gradient);
        if (step < 1e-15) break;
    }
    return sqrt(best);
}

/* Replaces the location by the nearest point of element e if this is nearer. */
static void consider(const fem_locator *locator, int32_t e, const double x[3], fem_location *location)
{
    const fem_space *space = locator->space;
    mapped m = {.n = space->slots_1d, .slots = space->slots};
    fem_space_geometry(space, e, m.x);
    double r[3], difference_to[3], distance = nearest_in_element(&m, x, r);
    if (distance <= INSIDE * size_of(&locator->leaf[e])) distance = 0;
    if (location->element >= 0 && !(distance < location->distance_m)) return;
    location->element = e;
    location->distance_m = distance;
    memcpy(location->r, r, sizeof r);
    difference(&m, r, x, difference_to, NULL);
    for (int a = 0; a < 3; a++) location->x[a] = distance > 0 ? x[a] - difference_to[a] : x[a];
}

/* Finds the first element that contains the point, if there is one. */
static void find_inside(const fem_locator *locator, const double x[3], fem_location *location)
{
    for (int32_t t = 0; t < locator->num_trees; t++) {
        if (distance_to(&locator->tree[t], x) > INSIDE * size_of(&locator->tree[t])) continue;
        for (int32_t e = locator->first[t]; e < locator->first[t + 1]; e++) {
            if (distance_to(&locator->leaf[e], x) > INSIDE * size_of(&locator->leaf[e])) continue;
            consider(locator, e, x, location);
            if (location->element >= 0 && location->distance_m == 0) return;
        }
    }
}

/* Finds the nearest of all elements.  Boxes that are not nearer than the best point so far are skipped. */
static void find_nearest(const fem_locator *locator, const double x[3], fem_location *location)
{
    int32_t nearest = 0;
    double least = INFINITY;
    for (int32_t t = 0; t < locator->num_trees; t++) {
        if (!(distance_to(&locator->tree[t], x) < least)) continue;
        for (int32_t e = locator->first[t]; e < locator->first[t + 1]; e++) {
            double distance = distance_to(&locator->leaf[e], x);
            if (distance < least) least = distance, nearest = e;
        }
    }
    if (locator->num_trees == 0) return; /* a rank may have no elements */
    consider(locator, nearest, x, location);
    for (int32_t t = 0; t < locator->num_trees; t++) {
        if (!(distance_to(&locator->tree[t], x) < (1 - 1e-12) * location->distance_m)) continue;
        for (int32_t e = locator->first[t]; e < locator->first[t + 1]; e++)
            if (distance_to(&locator->leaf[e], x) < (1 - 1e-12) * location->distance_m) consider(locator, e, x, location);
    }
}

void fem_locator_find(const fem_locator *locator, const double x[3], fem_location *location)
{
    location->element = -1;
    location->distance_m = INFINITY;
    find_inside(locator, x, location);
    if (location->element < 0 || location->distance_m > 0) find_nearest(locator, x, location);
}

/* The result of one rank for a probe. */
typedef struct found {
    double distance_m; /* INFINITY: nothing found */
    double x[3], size; /* the nearest point, and the size of the element that contains it */
    fem_probe_value value;
} found;

/*
 * For each probe, chooses the result of the rank with the nearest element, and of equally near ones that of the lowest rank.  mine [count].
 */
static yoke_status merge_ranks(const fem_space *space, int count, found *mine)
{
    const int ranks = app_ranks_count(space->ranks);
    found *all = NULL;
    if (ranks == 1) return YOKE_OK;
    yoke_status status = app_ranks_agree(space->ranks, yoke_allocate(space->context, ranks, sizeof *all, &all));
    for (int i = 0; !status && i < count; i++) {
        app_ranks_gather(space->ranks, &mine[i], sizeof *all, all);
        mine[i] = all[0];
        for (int rank = 1; rank < ranks; rank++)
            if (all[rank].distance_m < mine[i].distance_m) mine[i] = all[rank];
    }
    yoke_release(space->context, all);
    return status;
}

static void find(const fem_locator *locator, const double x[3], fem_location *location, found *place)
{
    *place = (found){.distance_m = INFINITY};
    fem_locator_find(locator, x, location);
    if (location->element < 0) return;
    place->distance_m = location->distance_m;
    place->size = size_of(&locator->leaf[location->element]);
    memcpy(place->x, location->x, sizeof place->x);
}

static yoke_status check_probe(const fem_locator *locator, const fem_probe *probe)
{
    yoke_context *context = locator->space->context;
    const double *x = probe->x;
    fem_location location;
    found place;
    if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
        return yoke_fail(context, YOKE_ERROR_INPUT, "probe \"%s\": its coordinates are not finite numbers", probe->name);
    find(locator, x, &location, &place);
    yoke_status status = merge_ranks(locator->space, 1, &place);
    if (status != YOKE_OK || place.distance_m <= TOLERATED * place.size) return status;
    return yoke_fail(context, YOKE_ERROR_INPUT,
                     "probe \"%s\" at (%.9g, %.9g, %.9g) lies outside the body: the nearest point is (%.9g, %.9g, %.9g), %.3g away",
                     probe->name, x[0], x[1], x[2], place.x[0], place.x[1], place.x[2], place.distance_m);
}

yoke_status fem_probes_check(const fem_space *space, int count, const fem_probe *probes)
{
    if (count == 0) return YOKE_OK;
    fem_space *whole = NULL; /* space with the mesh's own geometry, if that of `space` is coarser */
    yoke_status status = YOKE_OK;
    if (space->slots_1d == 2 && space->problem->mesh->order == 2) status = fem_space_create(space->problem, space->forest, FEM_Q2, &whole);
    fem_locator *locator = NULL;
    if (status == YOKE_OK) status = fem_locator_create(whole ? whole : space, &locator);
    status = app_ranks_agree(space->ranks, status);
    for (int i = 0; status == YOKE_OK && i < count; i++) status = check_probe(locator, &probes[i]);
    fem_locator_destroy(locator);
    fem_space_destroy(whole);
    return status;
}

static void evaluate(const fem_locator *locator, const double *u, const fem_stress *stress, const double x[3], found *place)
{
    const fem_space *space = locator->space;
    fem_probe_value *value = &place->value;
    fem_location location;
    find(locator, x, &location, place);
    if (location.element < 0) return;
    double local_u[SLOTS * 3], local_tensor[SLOTS * FEM_MAX_TENSOR], shape[SLOTS];
    fem_space_expand(space, location.element, space->components, u, local_u);
    fem_stress_expand(stress, location.element, local_tensor);
    fem_shape(space->slots_1d, location.r, shape, NULL, NULL);
    for (int slot = 0; slot < space->slots; slot++) {
        for (int c = 0; c < space->components; c++) value->value[c] += shape[slot] * local_u[space->components * slot + c];
        for (int c = 0; c < stress->tensor; c++) value->tensor[c] += shape[slot] * local_tensor[stress->tensor * slot + c];
    }
    value->von_mises_pa = stress->tensor == 6 ? fem_von_mises(value->tensor) : NAN;
    for (int i = 0; i < 3; i++) value->principal_pa[i] = NAN;
    if (stress->tensor == 6) fem_principal(value->tensor, value->principal_pa);
}

yoke_status fem_probes_evaluate(const fem_space *space, const double *u, const fem_stress *stress, int count, const fem_probe *probes,
                                fem_probe_value *values)
{
    if (count == 0) return YOKE_OK;
    fem_locator *locator = NULL;
    found *places = NULL;
    yoke_status status = fem_locator_create(space, &locator);
    if (status == YOKE_OK) status = yoke_allocate(space->context, count, sizeof *places, &places);
    status = app_ranks_agree(space->ranks, status);
    if (status == YOKE_OK) {
#pragma omp parallel for schedule(dynamic)
        for (int i = 0; i < count; i++) evaluate(locator, u, stress, probes[i].x, &places[i]);
        status = merge_ranks(space, count, places);
    }
    for (int i = 0; status == YOKE_OK && i < count; i++) values[i] = places[i].value;
    yoke_release(space->context, places);
    fem_locator_destroy(locator);
    return status;
}
