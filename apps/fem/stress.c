#include "stress.h"

#include <math.h>
#include <string.h>

#include "shape.h"

#define GAUSS 8   /* 2 x 2 x 2 */
#define SLOTS 27  /* most slots of an element */
#define COLUMNS 8 /* position and displacement of a slot, padded to whole vectors */

/* What is the same for all elements of a space. */
typedef struct tables {
    double gradient[GAUSS][3][SLOTS]; /* derivatives of the shape functions at the Gauss points */
    double carry[SLOTS][GAUSS];       /* tri-linear values at the slots from those at the Gauss points */
} tables;

/* Working memory of one recovery. */
typedef struct recovery {
    int32_t *element;     /* [num_elements] the elements, by material and then in Morton order */
    int32_t *stamp;       /* [num_nodes] the material that has last counted the node */
    int32_t *point_of;    /* [num_nodes] the point of the node in that material */
    int32_t *coincident;  /* [num_elements][slots] the point that the slot lies on, or -1 */
    int64_t *first;       /* [num_points + 1] where the contributions to a point begin */
    int32_t *contributor; /* [first[num_points]] element x slots + slot, ascending for each point */
    double *gauss;        /* [num_elements][GAUSS][tensor] */
} recovery;

double fem_von_mises(const double s[6])
{
    double a = s[0] - s[1], b = s[1] - s[2], c = s[2] - s[0];
    return sqrt(0.5 * (a * a + b * b + c * c) + 3 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
}

static void fill_tables(int n, tables *t)
{
    double point[2], weight[2];
    fem_gauss(2, point, weight);
    for (int g = 0; g < GAUSS; g++) {
        double gradient[3 * SLOTS], r[3] = {point[g & 1], point[g >> 1 & 1], point[g >> 2]};
        fem_shape(n, r, NULL, gradient, NULL);
        for (int slot = 0; slot < n * n * n; slot++)
            for (int a = 0; a < 3; a++) t->gradient[g][a][slot] = gradient[3 * slot + a];
    }
    for (int slot = 0; slot < n * n * n; slot++) {
        int index[3] = {slot % n, slot / n % n, slot / (n * n)};
        for (int g = 0; g < GAUSS; g++) {
            t->carry[slot][g] = 1;
            for (int a = 0; a < 3; a++) {
                double at = (double)index[a] / (n - 1), own = point[g >> a & 1], other = point[1 - (g >> a & 1)];
                t->carry[slot][g] *= (at - other) / (own - other);
            }
        }
    }
}

/* Stress (or the gradient, with one component) from d[j] = derivatives by r_j of position [0..2] and solution [3..]. */
static void tensor_at_point(double d[3][COLUMNS], int components, const fem_material *material, double *tensor)
{
    double inverse[3][3]; /* [j][i] = dr_j/dx_i, times the determinant */
    for (int j = 0; j < 3; j++) {
        const double *a = d[(j + 1) % 3], *b = d[(j + 2) % 3];
        for (int i = 0; i < 3; i++) {
            int k = (i + 1) % 3, l = (i + 2) % 3;
            inverse[j][i] = a[k] * b[l] - a[l] * b[k];
        }
    }
    double scale = 1 / (d[0][0] * inverse[0][0] + d[0][1] * inverse[0][1] + d[0][2] * inverse[0][2]);
    double gradient[3][3] = {{0}}; /* [component][i] */
    for (int c = 0; c < components; c++)
        for (int i = 0; i < 3; i++)
            gradient[c][i] = scale * (d[0][3 + c] * inverse[0][i] + d[1][3 + c] * inverse[1][i] + d[2][3 + c] * inverse[2][i]);
    if (components == 1) {
        memcpy(tensor, gradient[0], sizeof gradient[0]);
        return;
    }
    double volumetric = material->lambda * (gradient[0][0] + gradient[1][1] + gradient[2][2]);
    for (int i = 0; i < 3; i++) {
        int k = (i + 1) % 3, l = (i + 2) % 3;
        tensor[i] = volumetric + 2 * material->mu * gradient[i][i];
        tensor[3 + i] = material->mu * (gradient[k][l] + gradient[l][k]);
    }
}

static void element_stress(const fem_space *space, const tables *t, const double *u, int32_t e, double *tensor)
{
    int components = space->components, size = components == 3 ? 6 : 3;
    double x[SLOTS * 3], v[SLOTS * 3], local[SLOTS][COLUMNS] = {{0}};
    fem_space_geometry(space, e, x);
    fem_space_expand(space, e, components, u, v);
    for (int slot = 0; slot < space->slots; slot++) {
        for (int a = 0; a < 3; a++) local[slot][a] = x[3 * slot + a];
        for (int a = 0; a < components; a++) local[slot][3 + a] = v[components * slot + a];
    }
    for (int g = 0; g < GAUSS; g++) {
        double d[3][COLUMNS] = {{0}};
        for (int j = 0; j < 3; j++)
            for (int slot = 0; slot < space->slots; slot++)
                for (int c = 0; c < COLUMNS; c++) d[j][c] += t->gradient[g][j][slot] * local[slot][c];
        tensor_at_point(d, components, fem_space_material(space, e), tensor + size * g);
    }
}

/* source [slots] = the slot whose node each slot of element e lies on, -1: none.  It depends on the element's face code alone. */
static void find_sources(const fem_space *space, int32_t e, int8_t *source)
{
    const int32_t *own = space->element_nodes + (int64_t)space->slots * e;
    for (int slot = 0; slot < space->slots; slot++) {
        int32_t node[FEM_MAX_ROW];
        double weight[FEM_MAX_ROW];
        int count = own[slot] < 0 ? 0 : fem_space_row(space, e, slot, node, weight);
        source[slot] = -1;
        for (int i = 0; i < count; i++)
            for (int8_t from = 0; weight[i] > 1 - 1e-9 && weight[i] < 1 + 1e-9 && from < space->slots; from++)
                if (own[from] == node[i]) source[slot] = from;
    }
}

void fem_coincident_nodes(const fem_space *space, int32_t *node)
{
    /* A face code has three bits each for the child, its hanging faces and its hanging edges. */
    enum { CODES = 1 << 9 };
    int8_t source[CODES][SLOTS], known[CODES] = {0};
    for (int32_t e = 0; e < space->num_elements; e++) {
        int code = space->face_code[e] & (CODES - 1);
        if (!known[code]) find_sources(space, e, source[code]);
        known[code] = 1;
    }
#pragma omp parallel for schedule(static)
    for (int32_t e = 0; e < space->num_elements; e++) {
        int64_t begin = (int64_t)space->slots * e;
        const int8_t *from = source[space->face_code[e] & (CODES - 1)];
        for (int slot = 0; slot < space->slots; slot++) node[begin + slot] = from[slot] < 0 ? -1 : space->element_nodes[begin + from[slot]];
    }
}

/* element = the elements, by material and then in Morton order. */
static yoke_status sort_by_material(const fem_space *space, int32_t *element)
{
    const fem_problem *problem = space->problem;
    int32_t *next = NULL;
    yoke_status status = yoke_allocate(space->context, problem->num_materials + 1, sizeof *next, (void **)&next);
    if (status != YOKE_OK) return status;
    for (int32_t e = 0; e < space->num_elements; e++) next[problem->material_of[space->tree[e]] + 1]++;
    for (int m = 0; m < problem->num_materials; m++) next[m + 1] += next[m];
    for (int32_t e = 0; e < space->num_elements; e++) element[next[problem->material_of[space->tree[e]]]++] = e;
    yoke_release(space->context, next);
    return YOKE_OK;
}

/* Numbers the points, by material and then as the elements touch them. */
static yoke_status number_points(const fem_space *space, recovery *work, fem_stress *stress)
{
    yoke_status status = sort_by_material(space, work->element);
    if (status != YOKE_OK) return status;
    for (int32_t i = 0; i < space->num_nodes; i++) work->stamp[i] = -1;
    int32_t count = 0;
    for (int32_t i = 0; i < space->num_elements; i++) {
        int32_t e = work->element[i];
        int16_t material = space->problem->material_of[space->tree[e]];
        for (int64_t k = (int64_t)e * space->slots; k < (int64_t)(e + 1) * space->slots; k++) {
            int32_t node = space->element_nodes[k];
            if (node >= 0 && work->stamp[node] != material) {
                if (count == INT32_MAX) return yoke_fail(space->context, YOKE_ERROR_ARGUMENT, "more than 2^31 nodal stresses: refine less");
                work->stamp[node] = material;
                work->point_of[node] = count++;
            }
            stress->points.element_nodes[k] = node < 0 ? -1 : work->point_of[node];
        }
    }
    stress->points.num_nodes = count;
    return YOKE_OK;
}

/* Records node and material of each point and lists the slots that lie on it. */
static void list_contributors(const fem_space *space, recovery *work, fem_stress *stress)
{
    int64_t slots = space->slots, total = slots * space->num_elements;
    for (int64_t k = 0; k < total; k++) {
        int32_t point = stress->points.element_nodes[k];
        if (point < 0) continue;
        stress->node[point] = space->element_nodes[k];
        stress->material[point] = space->problem->material_of[space->tree[k / slots]];
    }
    fem_coincident_nodes(&stress->points, work->coincident);
    /* The beginnings are kept one place ahead while the lists are filled, so that they are right at the end. */
    for (int64_t k = 0; k < total; k++)
        if (work->coincident[k] >= 0 && work->coincident[k] + 2 <= stress->points.num_nodes) work->first[work->coincident[k] + 2]++;
    for (int32_t i = 2; i <= stress->points.num_nodes; i++) work->first[i] += work->first[i - 1];
    for (int64_t k = 0; k < total; k++)
        if (work->coincident[k] >= 0) work->contributor[work->first[work->coincident[k] + 1]++] = (int32_t)k;
}

/* The mean of all contributions to a point. */
static void average(const fem_space *space, const tables *t, const recovery *work, int64_t point, int tensor, double *value)
{
    double sum[FEM_MAX_TENSOR] = {0};
    for (int64_t i = work->first[point]; i < work->first[point + 1]; i++) {
        int32_t element = work->contributor[i] / space->slots, slot = work->contributor[i] % space->slots;
        const double *gauss = work->gauss + (int64_t)element * GAUSS * tensor;
        for (int g = 0; g < GAUSS; g++)
            for (int c = 0; c < tensor; c++) sum[c] += t->carry[slot][g] * gauss[g * tensor + c];
    }
    double count = (double)(work->first[point + 1] - work->first[point]);
    for (int c = 0; c < tensor; c++) value[c] = sum[c] / count;
}

static yoke_status average_all(const fem_space *space, const tables *t, const recovery *work, fem_stress *stress)
{
    int tensor = stress->tensor;
    int64_t bad = 0;
    double maximum = 0;
#pragma omp parallel for schedule(static) reduction(+ : bad) reduction(max : maximum)
    for (int32_t i = 0; i < stress->points.num_nodes; i++) {
        double *value = stress->value + (int64_t)tensor * i;
        average(space, t, work, i, tensor, value);
        double size = tensor == 6 ? fem_von_mises(value) : fabs(value[0]) + fabs(value[1]) + fabs(value[2]);
        bad += !isfinite(size);
        maximum = size > maximum ? size : maximum;
    }
    if (bad > 0)
        return yoke_fail(space->context, YOKE_ERROR_NUMERIC,
                         "the stress is not a finite number at %lld of %lld nodes: check the units of the loads and moduli", (long long)bad,
                         (long long)stress->points.num_nodes);
    stress->max_von_mises_pa = tensor == 6 ? maximum : NAN;
    return YOKE_OK;
}

static yoke_status allocate_recovery(const fem_space *space, int tensor, recovery *work)
{
    yoke_context *context = space->context;
    int64_t elements = space->num_elements, slots = space->slots;
    yoke_status status = yoke_allocate(context, elements, sizeof *work->element, (void **)&work->element);
    if (status == YOKE_OK) status = yoke_allocate(context, space->num_nodes, sizeof *work->stamp, (void **)&work->stamp);
    if (status == YOKE_OK) status = yoke_allocate(context, space->num_nodes, sizeof *work->point_of, (void **)&work->point_of);
    if (status == YOKE_OK)
        status = yoke_allocate_untouched(context, elements * slots, sizeof *work->coincident, (void **)&work->coincident);
    if (status == YOKE_OK)
        status = yoke_allocate_untouched(context, elements * slots, sizeof *work->contributor, (void **)&work->contributor);
    if (status == YOKE_OK) status = yoke_allocate_untouched(context, elements * GAUSS * tensor, sizeof *work->gauss, (void **)&work->gauss);
    return status;
}

static void release_recovery(yoke_context *context, recovery *work)
{
    yoke_release(context, work->element);
    yoke_release(context, work->stamp);
    yoke_release(context, work->point_of);
    yoke_release(context, work->coincident);
    yoke_release(context, work->first);
    yoke_release(context, work->contributor);
    yoke_release(context, work->gauss);
}

/* Allocates what needs the number of points. */
static yoke_status allocate_points(recovery *work, fem_stress *stress)
{
    int64_t count = stress->points.num_nodes;
    yoke_status status = yoke_allocate(stress->context, count, sizeof *stress->node, (void **)&stress->node);
    if (status == YOKE_OK) status = yoke_allocate(stress->context, count, sizeof *stress->material, (void **)&stress->material);
    if (status == YOKE_OK)
        status = yoke_allocate_untouched(stress->context, count * stress->tensor, sizeof *stress->value, (void **)&stress->value);
    if (status == YOKE_OK) status = yoke_allocate(stress->context, count + 1, sizeof *work->first, (void **)&work->first);
    return status;
}

static yoke_status recover(const fem_space *space, const double *u, recovery *work, fem_stress *stress)
{
    tables t;
    fill_tables(space->slots_1d, &t);
    yoke_status status = number_points(space, work, stress);
    if (status == YOKE_OK) status = allocate_points(work, stress);
    if (status != YOKE_OK) return status;
    list_contributors(space, work, stress);
    int tensor = stress->tensor;
#pragma omp parallel for schedule(static)
    for (int32_t e = 0; e < space->num_elements; e++) element_stress(space, &t, u, e, work->gauss + (int64_t)e * GAUSS * tensor);
    return average_all(space, &t, work, stress);
}

yoke_status fem_stress_create(const fem_space *space, const double *u, fem_stress **result)
{
    yoke_context *context = space->context;
    if ((int64_t)space->num_elements * space->slots > INT32_MAX)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%lld elements are too many for nodal stresses: refine less",
                         (long long)space->num_elements);
    fem_stress *stress = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *stress, (void **)&stress);
    if (status != YOKE_OK) return status;
    stress->context = context;
    stress->points = *space;
    stress->points.x = NULL;
    stress->points.element_nodes = NULL;
    stress->tensor = space->components == 3 ? 6 : 3;
    recovery work = {0};
    status = yoke_allocate_untouched(context, (int64_t)space->num_elements * space->slots, sizeof *stress->points.element_nodes,
                                     (void **)&stress->points.element_nodes);
    if (status == YOKE_OK) status = allocate_recovery(space, stress->tensor, &work);
    if (status == YOKE_OK) status = recover(space, u, &work, stress);
    release_recovery(context, &work);
    if (status != YOKE_OK) {
        fem_stress_destroy(stress);
        return status;
    }
    *result = stress;
    return YOKE_OK;
}

void fem_stress_destroy(fem_stress *stress)
{
    if (!stress) return;
    yoke_release(stress->context, stress->points.element_nodes);
    yoke_release(stress->context, stress->node);
    yoke_release(stress->context, stress->material);
    yoke_release(stress->context, stress->value);
    yoke_release(stress->context, stress);
}
