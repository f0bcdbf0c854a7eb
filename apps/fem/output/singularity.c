#include "output/singularity.h"

#include <math.h>
#include <string.h>

#include "mesh/shape.h"
#include "space/problem_checks.h"

enum { MAX_FACES = 96, SLOTS = 27 };

/* A face of the surface at the place. */
typedef struct surface_face {
    double normal[3], centre[3];
    unsigned constrained; /* bit i: component i is prescribed there */
} surface_face;

/* What meets at the place. */
typedef struct vicinity {
    const fem_space *space;
    const fem_boundary *boundary;
    const uint8_t *shared;
    double x[3], size;
    int count;
    surface_face faces[MAX_FACES];
    int material, materials; /* the first one, and whether there are more */
} vicinity;

const char *fem_feature_text(fem_feature feature)
{
    static const char *const texts[FEM_FEATURES] = {"", "a re-entrant edge or corner", "a constrained point or edge",
                                                    "the rim of a support", "the surface of an interface between materials"};
    return texts[feature];
}

yoke_status fem_shared_faces(const fem_mesh *mesh, uint8_t **result)
{
    uint8_t *shared = NULL;
    int32_t *piece = NULL, pieces;
    yoke_status status = yoke_allocate(mesh->context, mesh->num_elements, sizeof *shared, &shared);
    if (!status) status = yoke_allocate(mesh->context, mesh->num_elements, sizeof *piece, &piece);
    if (!status) status = fem_connect_elements(mesh, shared, piece, &pieces);
    yoke_release(mesh->context, piece);
    if (status)
        yoke_release(mesh->context, shared);
    else
        *result = shared;
    return status;
}

static double distance(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* The longest distance of an element's corners from its first one. */
static double size_of(const fem_space *space, const double *x)
{
    double size = 0;
    for (int c = 1; c < 8; c++)
        size = fmax(size, distance(x + 3 * fem_corner_slot(space->slots_1d, 0), x + 3 * fem_corner_slot(space->slots_1d, c)));
    return size;
}

/* Whether a leaf's face lies on the surface of the body. */
static int is_surface(const vicinity *v, int32_t e, int face)
{
    const fem_space *space = v->space;
    int32_t at = space->corner[3 * (int64_t)e + face / 2], end = face % 2 ? P8EST_ROOT_LEN - P8EST_QUADRANT_LEN(space->level[e]) : 0;
    return at == end && !(v->shared[space->tree[e]] >> face & 1);
}

/* The components that conditions prescribe on a leaf's face. */
static unsigned constrained_on(const vicinity *v, int32_t e, int face)
{
    const fem_problem *problem = v->space->problem;
    unsigned constrained = 0;
    for (int c = 0; c < problem->num_conditions; c++) {
        const fem_condition *condition = &problem->conditions[c];
        if (condition->kind != FEM_DIRICHLET || problem->mesh->groups[condition->group].dimension != 2) continue;
        for (int64_t i = v->boundary->first[c]; i < v->boundary->first[c + 1]; i++)
            if (v->boundary->element[i] == e && v->boundary->local[i] == face) constrained |= condition->mask;
    }
    return constrained;
}

static void add_face(vicinity *v, int32_t e, const double *x, int slot, int face)
{
    int n = v->space->slots_1d, slots[9], axis = face / 2;
    double r[3], gradient[SLOTS * 3], value[SLOTS], inverse[3][3], length = 0;
    fem_face_slots(n, face, slots);
    int on = 0;
    for (int i = 0; i < n * n; i++) on |= slots[i] == slot;
    if (!on || v->count == MAX_FACES) return;
    surface_face *f = &v->faces[v->count];
    fem_slot_point(n, slot, r);
    fem_shape(n, r, NULL, gradient, NULL);
    if (!(fem_map(v->space->slots, x, gradient, NULL, inverse) > 0)) return;
    for (int a = 0; a < 3; a++) length += inverse[axis][a] * inverse[axis][a];
    for (int a = 0; a < 3; a++) f->normal[a] = (face % 2 ? 1 : -1) * inverse[axis][a] / sqrt(length);
    fem_face_point(face, 0.5, 0.5, r);
    fem_shape(n, r, value, NULL, NULL);
    for (int a = 0; a < 3; a++) {
        f->centre[a] = 0;
        for (int s = 0; s < v->space->slots; s++) f->centre[a] += value[s] * x[3 * s + a];
    }
    f->constrained = constrained_on(v, e, face);
    v->count++;
}

static void add_element(vicinity *v, int32_t e)
{
    const fem_space *space = v->space;
    double x[SLOTS * 3];
    fem_space_geometry(space, e, x);
    double size = size_of(space, x);
    int found = -1;
    for (int slot = 0; slot < space->slots && found < 0; slot++) /* a slot that hangs names a node that lies elsewhere */
        if (distance(x + 3 * slot, v->x) < 1e-6 * size) found = slot;
    if (found < 0) return;
    int material = space->problem->material_of[space->tree[e]];
    if (v->material < 0) v->material = material;
    v->materials |= material != v->material;
    v->size = fmin(v->size, size);
    for (int face = 0; face < 6; face++)
        if (is_surface(v, e, face)) add_face(v, e, x, found, face);
}

/* Whether the second face's middle lies on the outer side of the first one's plane, with a kink of 20 degrees and more between them. */
static int turns_inwards(const vicinity *v, const surface_face *a, const surface_face *b)
{
    double cosine = 0, height = 0;
    for (int i = 0; i < 3; i++) {
        cosine += a->normal[i] * b->normal[i];
        height += (b->centre[i] - v->x[i]) * a->normal[i];
    }
    return cosine < 0.94 && height > 0.01 * distance(b->centre, v->x);
}

/* Whether the place lies on a constrained point or edge. */
static int is_constrained_point(const vicinity *v)
{
    const fem_space *space = v->space;
    const fem_problem *problem = space->problem;
    for (int c = 0; c < problem->num_conditions; c++) {
        int dimension = problem->mesh->groups[problem->conditions[c].group].dimension;
        if (problem->conditions[c].kind != FEM_DIRICHLET || dimension > 1) continue;
        for (int64_t i = v->boundary->first[c]; i < v->boundary->first[c + 1]; i++) {
            double x[SLOTS * 3];
            int slots[3] = {0}, count = dimension ? space->slots_1d : 1;
            fem_space_geometry(space, v->boundary->element[i], x);
            if (dimension)
                fem_edge_slots(space->slots_1d, v->boundary->local[i], slots);
            else
                slots[0] = fem_corner_slot(space->slots_1d, v->boundary->local[i]);
            for (int k = 0; k < count; k++)
                if (distance(x + 3 * slots[k], v->x) < 1e-6 * v->size) return 1;
        }
    }
    return 0;
}

static fem_feature classify(const vicinity *v)
{
    int rim = 0;
    for (int i = 0; i < v->count; i++) {
        for (int k = 0; k < v->count; k++) {
            if (turns_inwards(v, &v->faces[i], &v->faces[k])) return FEM_FEATURE_REENTRANT;
            rim |= v->faces[i].constrained != v->faces[k].constrained;
        }
    }
    if (is_constrained_point(v)) return FEM_FEATURE_POINT;
    if (rim) return FEM_FEATURE_RIM;
    return v->materials && v->count ? FEM_FEATURE_INTERFACE : FEM_FEATURE_NONE;
}

/* Numbers of elements that have a marked node. */
static yoke_status find_elements(const fem_space *space, const uint8_t *mark, int32_t **elements, int64_t *count)
{
    int64_t capacity = 0;
    *elements = NULL;
    *count = 0;
    for (int32_t e = 0; e < space->num_elements; e++) {
        const int32_t *node = space->element_nodes + (int64_t)space->slots * e;
        int touches = 0;
        for (int slot = 0; slot < space->slots; slot++) touches |= node[slot] >= 0 && mark[node[slot]];
        if (!touches) continue;
        yoke_status status = yoke_grow(space->context, elements, *count, &capacity, *count + 1, sizeof **elements);
        if (status) return status;
        (*elements)[(*count)++] = e;
    }
    return YOKE_OK;
}

static fem_feature feature_of_node(vicinity *v, int32_t node, const int32_t *elements, int64_t count)
{
    memcpy(v->x, v->space->x + 3 * (int64_t)node, sizeof v->x);
    v->size = INFINITY;
    v->count = v->materials = 0;
    v->material = -1;
    for (int64_t i = 0; i < count; i++) add_element(v, elements[i]);
    return classify(v);
}

/* The feature of the node, or the first kind of those of the marked nodes. */
static fem_feature find_feature(vicinity *v, int32_t node, const uint8_t *mark, const int32_t *elements, int64_t count)
{
    fem_feature found = feature_of_node(v, node, elements, count);
    if (found != FEM_FEATURE_NONE) return found;
    for (int64_t i = 0; i < count; i++) {
        const int32_t *nodes = v->space->element_nodes + (int64_t)v->space->slots * elements[i];
        for (int slot = 0; slot < v->space->slots; slot++) {
            if (nodes[slot] < 0 || !mark[nodes[slot]]) continue;
            fem_feature feature = feature_of_node(v, nodes[slot], elements, count);
            if (feature != FEM_FEATURE_NONE && (found == FEM_FEATURE_NONE || feature < found)) found = feature;
        }
    }
    return found;
}

/* Marks the nodes of some elements. */
static void mark_nodes(const fem_space *space, const int32_t *elements, int64_t count, uint8_t *mark)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = (int64_t)space->slots * elements[i]; k < (int64_t)space->slots * (elements[i] + 1); k++)
            if (space->element_nodes[k] >= 0) mark[space->element_nodes[k]] = 1;
}

yoke_status fem_peak_find(const fem_space *space, const fem_boundary *boundary, const uint8_t *shared, const fem_extreme *extreme,
                          double relative_error, fem_peak *result)
{
    vicinity v = {.space = space, .boundary = boundary, .shared = shared};
    fem_peak peak = {.value = extreme->value, .size = INFINITY, .relative_error = relative_error};
    uint8_t *mark = NULL;
    int32_t *elements = NULL, *around = NULL;
    int64_t count = 0, num_around = 0;
    memcpy(peak.x, extreme->x, sizeof peak.x);
    yoke_status status = yoke_allocate(space->context, space->num_nodes, sizeof *mark, &mark);
    if (status) return status;
    mark[extreme->node] = 1;
    status = find_elements(space, mark, &elements, &count);
    if (!status) {
        feature_of_node(&v, extreme->node, elements, count);
        peak.size = v.size;
    }
    if (!status) {
        mark_nodes(space, elements, count, mark);
        status = find_elements(space, mark, &around, &num_around);
        if (!status) peak.feature = find_feature(&v, extreme->node, mark, around, num_around);
    }
    yoke_release(space->context, mark);
    yoke_release(space->context, elements);
    yoke_release(space->context, around);
    if (!status) *result = peak;
    return status;
}

int fem_peak_grows(const fem_peak *peaks, int count, double *per_halving)
{
    enum { FEWEST = 3, MOST = 5 };
    /* The last step, and going back the last one of each size that is larger by at least a third. */
    int kept[MOST], num_kept = 0;
    for (int i = count - 1; i >= 0 && num_kept < MOST; i--)
        if (num_kept == 0 || peaks[i].size > 1.33 * peaks[kept[num_kept - 1]].size) kept[num_kept++] = i;
    if (num_kept < FEWEST) return 0;
    const fem_peak *last = &peaks[kept[0]], *middle = &peaks[kept[num_kept / 2]], *first = &peaks[kept[num_kept - 1]];
    double later = log(last->value / middle->value) / log2(middle->size / last->size);
    double earlier = log(middle->value / first->value) / log2(first->size / middle->size);
    double least = log(1.04);
    if (!(later >= least && earlier >= least && later >= 0.6 * earlier)) return 0;
    if (last->feature == FEM_FEATURE_NONE || middle->feature == FEM_FEATURE_NONE) return 0;
    if (!(last->relative_error < first->relative_error)) return 0;
    *per_halving = exp(later);
    return 1;
}
