#include "interpolation.h"

#include <math.h>
#include <string.h>

#include "shape.h"

static void release_rows(yoke_context *context, fem_rows *rows)
{
    yoke_release(context, rows->start);
    yoke_release(context, rows->node);
    yoke_release(context, rows->weight);
}

void fem_interpolation_destroy(fem_interpolation *p)
{
    if (!p) return;
    release_rows(p->context, &p->to_fine);
    release_rows(p->context, &p->to_coarse);
    yoke_release(p->context, p);
}

static int contains(const fem_space *coarse, int32_t c, const fem_space *fine, int32_t f)
{
    if (coarse->tree[c] != fine->tree[f] || coarse->level[c] > fine->level[f]) return 0;
    int32_t size = P8EST_QUADRANT_LEN(coarse->level[c]);
    for (int a = 0; a < 3; a++) {
        int32_t offset = fine->corner[3 * (int64_t)f + a] - coarse->corner[3 * (int64_t)c + a];
        if (offset < 0 || offset >= size) return 0;
    }
    return 1;
}

/* Both lists of leaves are in Morton order, so one pass finds the coarse leaf around each fine one. */
static yoke_status find_parents(const fem_space *coarse, const fem_space *fine, int32_t *parent)
{
    int32_t c = 0;
    for (int32_t f = 0; f < fine->num_elements; f++) {
        while (c < coarse->num_elements && !contains(coarse, c, fine, f)) c++;
        if (c == coarse->num_elements)
            return yoke_fail(fine->context, YOKE_ERROR_ARGUMENT,
                             "interpolation: leaf %ld of the finer forest lies in no leaf of the coarser one", (long)f);
        parent[f] = c;
    }
    return YOKE_OK;
}

/* Weights of the coarse element's slots at a fine node: returns the coarse element. */
static int32_t node_weights(const fem_space *coarse, const fem_space *fine, const int32_t *parent, int32_t node, double weight[27])
{
    int32_t f = fine->home_element[node], c = parent[f];
    double r[3], in_coarse[3];
    fem_slot_point(fine->slots_1d, fine->home_slot[node], r);
    double ratio = 1.0 / (1 << (fine->level[f] - coarse->level[c])), size = P8EST_QUADRANT_LEN(coarse->level[c]);
    for (int a = 0; a < 3; a++)
        in_coarse[a] = (fine->corner[3 * (int64_t)f + a] - coarse->corner[3 * (int64_t)c + a]) / size + ratio * r[a];
    fem_shape(coarse->slots_1d, in_coarse, weight, NULL, NULL);
    if (coarse->face_code[c] || coarse->element == FEM_S2) fem_space_fold_local(coarse, c, 1, weight);
    return c;
}

static int is_entry(double weight) { return fabs(weight) > 1e-12; }

static yoke_status fill_to_fine(const fem_space *coarse, const fem_space *fine, const int32_t *parent, fem_rows *rows)
{
    yoke_context *context = fine->context;
    yoke_status status = yoke_allocate(context, (int64_t)fine->num_nodes + 1, sizeof(int64_t), (void **)&rows->start);
    if (status) return status;
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < fine->num_nodes; i++) {
        double weight[27];
        node_weights(coarse, fine, parent, i, weight);
        for (int s = 0; s < coarse->slots; s++) rows->start[i + 1] += is_entry(weight[s]);
    }
    for (int32_t i = 0; i < fine->num_nodes; i++) rows->start[i + 1] += rows->start[i];
    status = yoke_allocate_untouched(context, rows->start[fine->num_nodes], sizeof(int32_t), (void **)&rows->node);
    if (!status) status = yoke_allocate_untouched(context, rows->start[fine->num_nodes], sizeof(float), (void **)&rows->weight);
    if (status) return status;
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < fine->num_nodes; i++) {
        double weight[27];
        int64_t at = rows->start[i];
        int32_t c = node_weights(coarse, fine, parent, i, weight);
        for (int s = 0; s < coarse->slots; s++) {
            if (!is_entry(weight[s])) continue;
            rows->node[at] = coarse->element_nodes[(int64_t)c * coarse->slots + s];
            rows->weight[at++] = (float)weight[s];
        }
    }
    return YOKE_OK;
}

static yoke_status transpose_rows(yoke_context *context, const fem_rows *rows, int32_t num_rows, int32_t num_columns, fem_rows *transposed)
{
    int64_t entries = rows->start[num_rows];
    yoke_status status = yoke_allocate(context, (int64_t)num_columns + 2, sizeof(int64_t), (void **)&transposed->start);
    if (!status) status = yoke_allocate_untouched(context, entries, sizeof(int32_t), (void **)&transposed->node);
    if (!status) status = yoke_allocate_untouched(context, entries, sizeof(float), (void **)&transposed->weight);
    if (status) return status;
    int64_t *next = transposed->start + 1;
    for (int64_t k = 0; k < entries; k++) next[rows->node[k] + 1]++;
    for (int32_t c = 0; c < num_columns; c++) next[c + 1] += next[c];
    for (int32_t i = 0; i < num_rows; i++) {
        for (int64_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
            int64_t at = next[rows->node[k]]++;
            transposed->node[at] = i;
            transposed->weight[at] = rows->weight[k];
        }
    }
    return YOKE_OK;
}

yoke_status fem_interpolation_create(const fem_space *coarse, const fem_space *fine, int transpose, fem_interpolation **out)
{
    yoke_context *context = fine->context;
    fem_interpolation *p;
    int32_t *parent = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *p, (void **)&p);
    if (status) return status;
    p->context = context;
    p->coarse_nodes = coarse->num_nodes;
    p->fine_nodes = fine->num_nodes;
    status = yoke_allocate(context, fine->num_elements, sizeof(int32_t), (void **)&parent);
    if (!status) status = find_parents(coarse, fine, parent);
    if (!status) status = fill_to_fine(coarse, fine, parent, &p->to_fine);
    if (!status && transpose) status = transpose_rows(context, &p->to_fine, fine->num_nodes, coarse->num_nodes, &p->to_coarse);
    yoke_release(context, parent);
    if (status) {
        fem_interpolation_destroy(p);
        return status;
    }
    *out = p;
    return YOKE_OK;
}

void fem_interpolation_apply(const fem_interpolation *p, int n, const double *coarse, double *fine)
{
    const fem_rows *rows = &p->to_fine;
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < p->fine_nodes; i++) {
        for (int c = 0; c < n; c++) {
            double sum = 0;
            for (int64_t k = rows->start[i]; k < rows->start[i + 1]; k++)
                sum += (double)rows->weight[k] * coarse[(int64_t)rows->node[k] * n + c];
            fine[(int64_t)i * n + c] = sum;
        }
    }
}
