#include "output/quantities/singularity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/shape.h"
#include "space/problem/checks.h"

enum { MAX_FACES = 96, SLOTS = 27 };

/* An element near the place, in a form that is valid on every rank. */
typedef struct element_view {
    double x[SLOTS * 3];  /* positions of its slots */
    double at[SLOTS * 3]; /* positions of its nodes, which differ from those of the slots if a slot hangs */
    int64_t node[SLOTS];  /* global numbers of these nodes; -1: none */
    double size;          /* largest distance of its corners from the first corner */
    int32_t material;
    uint32_t points;        /* bit s: slot s lies on a constrained point or edge */
    uint8_t surface;        /* bit f: face f lies on the surface of the body */
    uint8_t constrained[6]; /* bit i: component i is prescribed on the face */
} element_view;

typedef struct view_list {
    element_view *views; /* [count] in the order of the elements */
    int64_t count, capacity;
} view_list;

/* A surface face at the place. */
typedef struct surface_face {
    double normal[3], centre[3];
    unsigned constrained; /* bit i: component i is prescribed there */
} surface_face;

/* What the elements and surface faces at the place have in common. */
typedef struct vicinity {
    const fem_space *space;
    const fem_boundary *boundary;
    const uint8_t *shared;
    double x[3], size;
    int count;
    surface_face faces[MAX_FACES];
    int material, materials; /* the first material, and whether there are others */
    int on_point;            /* the place lies on a constrained point or edge */
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

/* Returns the largest distance of an element's corners from the first corner. */
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

/* Returns the components that conditions prescribe on a leaf's face. */
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

/* Returns the slots that lie on constrained points and edges, as bits. */
static uint32_t constrained_points_of(const vicinity *v, int32_t e)
{
    const fem_problem *problem = v->space->problem;
    uint32_t points = 0;
    for (int c = 0; c < problem->num_conditions; c++) {
        int dimension = problem->mesh->groups[problem->conditions[c].group].dimension;
        if (problem->conditions[c].kind != FEM_DIRICHLET || dimension > 1) continue;
        for (int64_t i = v->boundary->first[c]; i < v->boundary->first[c + 1]; i++) {
            int slots[3] = {0}, count = dimension ? v->space->slots_1d : 1;
            if (v->boundary->element[i] != e) continue;
            if (dimension)
                fem_edge_slots(v->space->slots_1d, v->boundary->local[i], slots);
            else
                slots[0] = fem_corner_slot(v->space->slots_1d, v->boundary->local[i]);
            for (int k = 0; k < count; k++) points |= UINT32_C(1) << slots[k];
        }
    }
    return points;
}

static void view_element(const vicinity *v, int32_t e, element_view *view)
{
    const fem_space *space = v->space;
    memset(view, 0, sizeof *view);
    fem_space_geometry(space, e, view->x);
    for (int slot = 0; slot < space->slots; slot++) {
        int32_t node = space->element_nodes[(int64_t)space->slots * e + slot];
        view->node[slot] = node < 0 ? -1 : fem_space_global_node(space, node);
        if (node >= 0) memcpy(view->at + 3 * slot, space->x + 3 * (int64_t)node, 3 * sizeof(double));
    }
    view->size = size_of(space, view->x);
    view->material = space->problem->material_of[space->tree[e]];
    view->points = constrained_points_of(v, e);
    for (int face = 0; face < 6; face++) {
        if (!is_surface(v, e, face)) continue;
        view->surface |= (uint8_t)(1U << face);
        view->constrained[face] = (uint8_t)constrained_on(v, e, face);
    }
}

static void add_face(vicinity *v, const element_view *view, int slot, int face)
{
    int n = v->space->slots_1d, slots[9], axis = face / 2;
    const double *x = view->x;
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
    f->constrained = view->constrained[face];
    v->count++;
}

static void add_element(vicinity *v, const element_view *view)
{
    int found = -1;
    /* Compares positions, because the node of a hanging slot lies elsewhere. */
    for (int slot = 0; slot < v->space->slots && found < 0; slot++)
        if (distance(view->x + 3 * slot, v->x) < 1e-6 * view->size) found = slot;
    if (found < 0) return;
    if (v->material < 0) v->material = view->material;
    v->materials |= view->material != v->material;
    v->size = fmin(v->size, view->size);
    v->on_point |= (int)(view->points >> found & 1);
    for (int face = 0; face < 6; face++)
        if (view->surface >> face & 1) add_face(v, view, found, face);
}

/*
 * Whether the centre of the second face lies on the outer side of the plane of the first face, with a kink of at least 20 degrees between
 * them.
 */
static int turns_inwards(const vicinity *v, const surface_face *a, const surface_face *b)
{
    double cosine = 0, height = 0;
    for (int i = 0; i < 3; i++) {
        cosine += a->normal[i] * b->normal[i];
        height += (b->centre[i] - v->x[i]) * a->normal[i];
    }
    return cosine < 0.94 && height > 0.01 * distance(b->centre, v->x);
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
    if (v->on_point) return FEM_FEATURE_POINT;
    if (rim) return FEM_FEATURE_RIM;
    return v->materials && v->count ? FEM_FEATURE_INTERFACE : FEM_FEATURE_NONE;
}

static int ascending(const void *a, const void *b)
{
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return (p > q) - (p < q);
}

/* nodes [count]: in ascending order. */
static int is_among(int64_t node, const int64_t *nodes, int64_t count)
{
    return node >= 0 && bsearch(&node, nodes, (size_t)count, sizeof node, ascending) != NULL;
}

/* Lists this rank's elements that have one of the nodes. */
static yoke_status view_elements(const vicinity *v, const int64_t *nodes, int64_t count, view_list *list)
{
    const fem_space *space = v->space;
    uint8_t *mark = NULL;
    yoke_status status = yoke_allocate(space->context, space->num_nodes, sizeof *mark, &mark);
    if (status) return status;
    for (int64_t i = 0; i < count && !space->global_node; i++) mark[nodes[i]] = 1;
    for (int32_t i = 0; i < space->num_nodes && space->global_node; i++) mark[i] = (uint8_t)is_among(space->global_node[i], nodes, count);
    for (int32_t e = 0; !status && e < space->num_elements; e++) {
        const int32_t *node = space->element_nodes + (int64_t)space->slots * e;
        int touches = 0;
        for (int slot = 0; slot < space->slots; slot++) touches |= node[slot] >= 0 && mark[node[slot]];
        if (!touches) continue;
        status = yoke_grow(space->context, &list->views, list->count, &list->capacity, list->count + 1, sizeof *list->views);
        if (!status) view_element(v, e, &list->views[list->count++]);
    }
    yoke_release(space->context, mark);
    return status;
}

/* Lists such elements of all ranks. */
static yoke_status find_elements(const vicinity *v, const int64_t *nodes, int64_t count, view_list *list)
{
    const fem_space *space = v->space;
    view_list own = {.count = 0};
    void *all = NULL;
    yoke_status status = app_ranks_agree(space->ranks, view_elements(v, nodes, count, &own));
    int64_t bytes = 0;
    if (!status && app_ranks_count(space->ranks) > 1)
        status = app_ranks_collect(space->ranks, own.views, own.count * (int64_t)sizeof *own.views, &all, &bytes);
    if (all) {
        yoke_release(space->context, own.views);
        own = (view_list){.views = all, .count = bytes / (int64_t)sizeof *own.views};
    }
    *list = own;
    return status;
}

/* Lists the nodes of the elements in ascending order.  Nodes may occur more than once. */
static yoke_status nodes_of(const vicinity *v, const view_list *list, int64_t **nodes, int64_t *count)
{
    int slots = v->space->slots;
    yoke_status status = yoke_allocate(v->space->context, list->count * slots, sizeof **nodes, nodes);
    for (int64_t i = 0; !status && i < list->count; i++)
        for (int slot = 0; slot < slots; slot++)
            if (list->views[i].node[slot] >= 0) (*nodes)[(*count)++] = list->views[i].node[slot];
    if (!status) qsort(*nodes, (size_t)*count, sizeof **nodes, ascending);
    return status;
}

static fem_feature feature_at(vicinity *v, const double x[3], const view_list *list)
{
    memcpy(v->x, x, sizeof v->x);
    v->size = INFINITY;
    v->count = v->materials = v->on_point = 0;
    v->material = -1;
    for (int64_t i = 0; i < list->count; i++) add_element(v, &list->views[i]);
    return classify(v);
}

/* Returns the feature of the place or, if it has none, the first kind among the features at the nodes. */
static fem_feature find_feature(vicinity *v, const double x[3], const int64_t *nodes, int64_t count, const view_list *list)
{
    fem_feature found = feature_at(v, x, list);
    if (found != FEM_FEATURE_NONE) return found;
    for (int64_t i = 0; i < list->count; i++) {
        const element_view *view = &list->views[i];
        for (int slot = 0; slot < v->space->slots; slot++) {
            if (!is_among(view->node[slot], nodes, count)) continue;
            fem_feature feature = feature_at(v, view->at + 3 * slot, list);
            if (feature != FEM_FEATURE_NONE && (found == FEM_FEATURE_NONE || feature < found)) found = feature;
        }
    }
    return found;
}

yoke_status fem_peak_find(const fem_space *space, const fem_boundary *boundary, const uint8_t *shared, const fem_extreme *extreme,
                          double relative_error, fem_peak *result)
{
    vicinity v = {.space = space, .boundary = boundary, .shared = shared};
    fem_peak peak = {.value = extreme->value, .size = INFINITY, .relative_error = relative_error};
    view_list at = {.count = 0}, around = {.count = 0};
    int64_t *nodes = NULL, count = 0;
    memcpy(peak.x, extreme->x, sizeof peak.x);
    yoke_status status = find_elements(&v, &extreme->node, 1, &at);
    if (!status) {
        feature_at(&v, peak.x, &at);
        peak.size = v.size;
        status = app_ranks_agree(space->ranks, nodes_of(&v, &at, &nodes, &count));
    }
    if (!status) status = find_elements(&v, nodes, count, &around);
    if (!status) peak.feature = find_feature(&v, peak.x, nodes, count, &around);
    yoke_release(space->context, at.views);
    yoke_release(space->context, around.views);
    yoke_release(space->context, nodes);
    if (!status) *result = peak;
    return status;
}

int fem_peak_grows(const fem_peak *peaks, int count, double *per_halving)
{
    enum { FEWEST = 3, MOST = 5 };
    /* Keeps the last step, and going back, the last step of each size that is larger by at least a third. */
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
