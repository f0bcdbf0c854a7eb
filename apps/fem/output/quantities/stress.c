#include "output/quantities/stress.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "operator/packed.h"

#define GAUSS FEM_STRESS_POINTS /* 2 x 2 x 2 */
#define SLOTS FEM_MAX_SLOTS

/* Working memory for recovering one stress field. */
typedef struct recovery {
    fem_packed data;
    int32_t *element;    /* [num_elements] the elements, by material, then in Morton order */
    int32_t *stamp;      /* [num_nodes] the last material for which the node was counted */
    int32_t *point_of;   /* [num_nodes] the point of the node for that material */
    int32_t *coincident; /* [num_elements][slots] the point at which the slot lies, or -1 */
    int32_t *low, *high; /* [num_elements] the smallest and the largest of these */
    int32_t *count;      /* [num_points] number of slots that lie at the point */
    double *gauss;       /* [num_elements][GAUSS][FEM_PACKED] */
} recovery;

double fem_von_mises(const double s[6])
{
    double a = s[0] - s[1], b = s[1] - s[2], c = s[2] - s[0];
    return sqrt(0.5 * (a * a + b * b + c * c) + 3 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
}

/*
 * Sets source [slots] to the slot whose node lies at each slot of element e, -1: none.  The result depends only on the element's face code.
 */
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
    /* A face code has three bits each for the child, for its hanging faces and for its hanging edges. */
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

/* Lists the elements by material, then in Morton order. */
static yoke_status sort_by_material(const fem_space *space, int32_t *element)
{
    const fem_problem *problem = space->problem;
    int32_t *next = NULL;
    yoke_status status = yoke_allocate(space->context, problem->num_materials + 1, sizeof *next, &next);
    if (status != YOKE_OK) return status;
    for (int32_t e = 0; e < space->num_elements; e++) next[problem->material_of[space->tree[e]] + 1]++;
    for (int m = 0; m < problem->num_materials; m++) next[m + 1] += next[m];
    for (int32_t e = 0; e < space->num_elements; e++) element[next[problem->material_of[space->tree[e]]]++] = e;
    yoke_release(space->context, next);
    return YOKE_OK;
}

/* If there is only one material, the points are the nodes. */
static void copy_nodes(const fem_space *space, fem_stress *stress)
{
    stress->points.num_nodes = space->num_nodes;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < (int64_t)space->num_elements * space->slots; k++) stress->points.element_nodes[k] = space->element_nodes[k];
}

/* Numbers the points by material, then in the order in which the elements touch them. */
static yoke_status number_points(const fem_space *space, recovery *work, fem_stress *stress)
{
    if (space->problem->num_materials == 1) {
        copy_nodes(space, stress);
        return YOKE_OK;
    }
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

/* Records node and material of each point. */
static void identify_points(const fem_space *space, fem_stress *stress)
{
    if (space->problem->num_materials == 1) {
#pragma omp parallel for schedule(static)
        for (int32_t i = 0; i < space->num_nodes; i++) {
            stress->node[i] = i;
            stress->material[i] = 0;
        }
        return;
    }
    int64_t slots = space->slots;
    for (int64_t k = 0; k < slots * space->num_elements; k++) {
        int32_t point = stress->points.element_nodes[k];
        if (point < 0) continue;
        stress->node[point] = space->element_nodes[k];
        stress->material[point] = space->problem->material_of[space->tree[k / slots]];
    }
}

static void bound_points(const fem_space *space, recovery *work)
{
#pragma omp parallel for schedule(static)
    for (int32_t e = 0; e < space->num_elements; e++) {
        const int32_t *point = work->coincident + (int64_t)space->slots * e;
        int32_t low = INT32_MAX, high = -1;
        for (int slot = 0; slot < space->slots; slot++) {
            if (point[slot] < 0) continue;
            low = point[slot] < low ? point[slot] : low;
            high = point[slot] > high ? point[slot] : high;
        }
        work->low[e] = low;
        work->high[e] = high;
    }
}

typedef double tensor8 __attribute__((vector_size(FEM_PACKED * sizeof(double))));

/* Extrapolates linearly from the two Gauss points of a line to its n nodes.  stride: between the Gauss points. */
static inline void carry_line(int n, const tensor8 *gauss, int stride, tensor8 *value, int value_stride)
{
    const double beyond = 0.36602540378443864676; /* (sqrt(3) - 1) / 2, as a fraction of the distance of the Gauss points */
    tensor8 change = beyond * (gauss[stride] - gauss[0]);
    value[0] = gauss[0] - change;
    if (n == 3) value[value_stride] = 0.5 * (gauss[0] + gauss[stride]);
    value[(n - 1) * value_stride] = gauss[stride] + change;
}

/* Extrapolates trilinearly from the Gauss points to the slots. */
static void carry(int n, const tensor8 *gauss, tensor8 *slot)
{
    tensor8 x[4 * 3], xy[2 * 9];
    for (int i = 0; i < 4; i++) carry_line(n, gauss + 2 * i, 1, x + n * i, 1);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < n; i++) carry_line(n, x + 2 * n * k + i, n, xy + n * n * k + i, n);
    for (int i = 0; i < n * n; i++) carry_line(n, xy + i, n * n, slot + i, n * n);
}

/*
 * Adds the elements' stress to the points begin .. end - 1.  The order of the elements does not depend on these bounds, so the result is
 * bitwise the same for any number of threads.
 */
static void add_stress(const fem_space *space, const recovery *work, int32_t begin, int32_t end, fem_stress *stress)
{
    int tensor = stress->tensor;
    memset(stress->value + (int64_t)tensor * begin, 0, sizeof *stress->value * (size_t)tensor * (size_t)(end - begin));
    memset(work->count + begin, 0, sizeof *work->count * (size_t)(end - begin));
    for (int32_t e = 0; e < space->num_elements; e++) {
        if (work->high[e] < begin || work->low[e] >= end) continue;
        const int32_t *point = work->coincident + (int64_t)space->slots * e;
        tensor8 at[SLOTS];
        carry(space->slots_1d, (const tensor8 *)work->gauss + (int64_t)GAUSS * e, at);
        for (int slot = 0; slot < space->slots; slot++) {
            if (point[slot] < begin || point[slot] >= end) continue;
            double *value = stress->value + (int64_t)tensor * point[slot];
            for (int c = 0; c < tensor; c++) value[c] += at[slot][c];
            work->count[point[slot]]++;
        }
    }
}

/*
 * Finds the points that other ranks have too: those of shared nodes, identified by node and material.  Only needed with several materials,
 * as otherwise the points are the nodes.
 */
static yoke_status share_points(const fem_space *space, const fem_stress *stress, fem_halo **halo)
{
    const fem_halo *nodes = space->halo;
    fem_halo_key *keys = NULL;
    uint8_t *shared = NULL;
    int *owner = NULL, *meeting = NULL;
    int64_t count = 0;
    yoke_status status = yoke_allocate(space->context, space->num_nodes, sizeof *shared, &shared);
    if (!status) status = yoke_allocate_untouched(space->context, space->num_nodes, sizeof *owner, &owner);
    if (!status) status = yoke_allocate_untouched(space->context, stress->points.num_nodes, sizeof *keys, &keys);
    if (!status) status = yoke_allocate_untouched(space->context, stress->points.num_nodes, sizeof *meeting, &meeting);
    status = app_ranks_agree(space->ranks, status);
    if (!status) fem_halo_lowest(nodes, space->num_nodes, owner);
    for (int32_t i = 0; !status && i < nodes->num_shared; i++) shared[nodes->shared[i]] = 1;
    for (int32_t i = 0; !status && i < stress->points.num_nodes; i++) {
        if (!shared[stress->node[i]]) continue;
        meeting[count] = owner[stress->node[i]];
        keys[count++] = (fem_halo_key){(uint64_t)space->global_node[stress->node[i]], (uint32_t)stress->material[i], i};
    }
    if (!status) status = fem_halo_create(space->context, space->ranks, count, keys, meeting, halo);
    void *arrays[] = {shared, owner, keys, meeting};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yoke_release(space->context, arrays[i]);
    return status;
}

/* Adds the contributions of other ranks' elements. */
static yoke_status add_ranks(const fem_space *space, const recovery *work, fem_stress *stress)
{
    const int64_t points = stress->points.num_nodes;
    fem_halo *own = NULL;
    double *count = NULL;
    if (!space->halo) return YOKE_OK;
    yoke_status status = app_ranks_agree(space->ranks, yoke_allocate_untouched(space->context, points, sizeof *count, &count));
    if (!status && space->problem->num_materials > 1) status = share_points(space, stress, &own);
    const fem_halo *halo = own ? own : space->halo;
    for (int64_t i = 0; !status && i < points; i++) count[i] = work->count[i];
    if (!status) status = fem_halo_sum(halo, 1, count);
    if (!status) status = fem_halo_sum(halo, stress->tensor, stress->value);
    for (int64_t i = 0; !status && i < points; i++) work->count[i] = (int32_t)count[i];
    yoke_release(space->context, count);
    fem_halo_destroy(own);
    return status;
}

static void add_all(const fem_space *space, const recovery *work, fem_stress *stress)
{
    int64_t points = stress->points.num_nodes;
#pragma omp parallel
    {
        int threads = omp_get_num_threads(), thread = omp_get_thread_num();
        add_stress(space, work, (int32_t)(points * thread / threads), (int32_t)(points * (thread + 1) / threads), stress);
    }
}

/* Averages all contributions to each point. */
static yoke_status average_all(const fem_space *space, const recovery *work, fem_stress *stress)
{
    int tensor = stress->tensor;
    int64_t bad = 0, all = 0, points = stress->points.num_nodes;
    double maximum = 0;
#pragma omp parallel for schedule(static) reduction(+ : bad, all) reduction(max : maximum)
    for (int64_t i = 0; i < points; i++) {
        double *value = stress->value + tensor * i;
        for (int c = 0; c < tensor; c++) value[c] /= work->count[i];
        double size = tensor == 6 ? fem_von_mises(value) : fabs(value[0]) + fabs(value[1]) + fabs(value[2]);
        int counts = fem_space_counts(space, stress->node[i]);
        all += counts;
        bad += counts && !isfinite(size);
        maximum = size > maximum ? size : maximum;
    }
    app_ranks_offset(space->ranks, bad, &bad);
    app_ranks_offset(space->ranks, all, &all);
    app_ranks_max(space->ranks, &maximum, 1);
    if (bad > 0)
        return app_ranks_agree(space->ranks,
                               yoke_fail(space->context, YOKE_ERROR_NUMERIC,
                                         "the stress is not a finite number at %lld of %lld nodes: check the units of the loads and moduli",
                                         (long long)bad, (long long)all));
    stress->max_von_mises_pa = tensor == 6 ? maximum : NAN;
    return YOKE_OK;
}

static yoke_status allocate_recovery(const fem_space *space, recovery *work)
{
    yoke_context *context = space->context;
    int64_t elements = space->num_elements, slots = space->slots;
    int64_t nodes = space->problem->num_materials == 1 ? 0 : space->num_nodes;
    yoke_status status = yoke_allocate_untouched(context, elements, sizeof *work->element, &work->element);
    if (status == YOKE_OK) status = yoke_allocate_untouched(context, nodes, sizeof *work->stamp, &work->stamp);
    if (status == YOKE_OK) status = yoke_allocate_untouched(context, nodes, sizeof *work->point_of, &work->point_of);
    if (status == YOKE_OK) status = yoke_allocate_untouched(context, elements * slots, sizeof *work->coincident, &work->coincident);
    if (status == YOKE_OK) status = yoke_allocate_untouched(context, elements, sizeof *work->low, &work->low);
    if (status == YOKE_OK) status = yoke_allocate_untouched(context, elements, sizeof *work->high, &work->high);
    if (status == YOKE_OK) status = yoke_allocate_untouched(context, elements * GAUSS * FEM_PACKED, sizeof *work->gauss, &work->gauss);
    return status;
}

static void release_recovery(yoke_context *context, recovery *work)
{
    yoke_release(context, work->element);
    yoke_release(context, work->stamp);
    yoke_release(context, work->point_of);
    yoke_release(context, work->coincident);
    yoke_release(context, work->low);
    yoke_release(context, work->high);
    yoke_release(context, work->count);
    yoke_release(context, work->gauss);
    fem_packed_destroy(&work->data);
}

/* Allocates arrays whose size is the number of points. */
static yoke_status allocate_points(recovery *work, fem_stress *stress)
{
    int64_t count = stress->points.num_nodes;
    yoke_status status = yoke_allocate_untouched(stress->context, count, sizeof *stress->node, &stress->node);
    if (status == YOKE_OK) status = yoke_allocate_untouched(stress->context, count, sizeof *stress->material, &stress->material);
    if (status == YOKE_OK) status = yoke_allocate_untouched(stress->context, count * stress->tensor, sizeof *stress->value, &stress->value);
    if (status == YOKE_OK) status = yoke_allocate_untouched(stress->context, count, sizeof *work->count, &work->count);
    return status;
}

static void stress_of_elements(const fem_space *space, recovery *work)
{
    const fem_derivative_kernels *kernels = fem_kernels_select()->derivatives;
    const fem_derivative_functions *functions = fem_derivative_select(kernels, &work->data.solution);
    int32_t total = space->num_elements, chunk = 16 * kernels->lanes;
#pragma omp parallel for schedule(static)
    for (int32_t begin = 0; begin < total; begin += chunk)
        functions->stress(&work->data.solution, begin, total - begin < chunk ? total : begin + chunk, work->gauss);
}

static yoke_status recover(const fem_space *space, const double *u, recovery *work, fem_stress *stress)
{
    yoke_status status = fem_packed_create(space, u, 0, &work->data);
    if (status == YOKE_OK) status = number_points(space, work, stress);
    if (status == YOKE_OK) status = allocate_points(work, stress);
    status = app_ranks_agree(space->ranks, status);
    if (status != YOKE_OK) return status;
    identify_points(space, stress);
    fem_coincident_nodes(&stress->points, work->coincident);
    bound_points(space, work);
    stress_of_elements(space, work);
    add_all(space, work, stress);
    status = add_ranks(space, work, stress);
    return status ? status : average_all(space, work, stress);
}

yoke_status fem_stress_create(const fem_space *space, const double *u, fem_stress **result)
{
    yoke_context *context = space->context;
    if ((int64_t)space->num_elements * space->slots > INT32_MAX)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%lld elements are too many for nodal stresses: refine less",
                         (long long)space->num_elements);
    fem_stress *stress = NULL;
    yoke_status status = app_ranks_agree(space->ranks, yoke_allocate(context, 1, sizeof *stress, &stress));
    if (status != YOKE_OK) {
        yoke_release(context, stress);
        return status;
    }
    stress->context = context;
    stress->points = *space;
    stress->points.x = NULL;
    stress->points.element_nodes = NULL;
    stress->tensor = space->components == 3 ? 6 : 3;
    recovery work = {.data.context = context};
    status = yoke_allocate_untouched(context, (int64_t)space->num_elements * space->slots, sizeof *stress->points.element_nodes,
                                     &stress->points.element_nodes);
    if (status == YOKE_OK) status = allocate_recovery(space, &work);
    status = app_ranks_agree(space->ranks, status);
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
