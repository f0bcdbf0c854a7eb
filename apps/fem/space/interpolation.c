#include "space/interpolation.h"

#include <math.h>
#include <string.h>

#include "mesh/shape.h"

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

/* Both lists of leaves are in Morton order, so one pass finds the coarse leaf that contains each fine leaf. */
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

/*
 * Values of the coarse shape functions at the slots of an equal leaf (place 0) and of the leaf's children (1 + child number).  They are the
 * same in all elements.
 */
enum { PLACES = 9 };
typedef struct slot_weights {
    double weight[PLACES][27][27]; /* [place][fine slot][coarse slot] */
} slot_weights;

/*
 * Computes the weights of the coarse element's slots at a slot of a fine element whose size is `ratio` times that of the coarse one and
 * whose lower corner is at `corner` of the coarse one.
 */
static void weights_at(const fem_space *coarse, const fem_space *fine, double ratio, const double corner[3], int slot, double weight[27])
{
    double r[3], in_coarse[3];
    fem_slot_point(fine->slots_1d, slot, r);
    for (int a = 0; a < 3; a++) in_coarse[a] = corner[a] + ratio * r[a];
    fem_shape(coarse->slots_1d, in_coarse, weight, NULL, NULL);
}

static void fill_slot_weights(const fem_space *coarse, const fem_space *fine, slot_weights *known)
{
    for (int place = 0; place < PLACES; place++) {
        int child = place - 1;
        double corner[3] = {0, 0, 0};
        for (int a = 0; a < 3 && place; a++) corner[a] = 0.5 * (child >> a & 1);
        for (int s = 0; s < fine->slots; s++) weights_at(coarse, fine, place ? 0.5 : 1, corner, s, known->weight[place][s]);
    }
}

/* Returns the weights of the coarse element's slots at a fine node: a row of `known`, or weights computed into `own`. */
static const double *node_weights(const fem_space *coarse, const fem_space *fine, const slot_weights *known, int32_t f, int32_t c, int slot,
                                  double own[27])
{
    int finer = fine->level[f] - coarse->level[c], place = 0;
    double size = P8EST_QUADRANT_LEN(coarse->level[c]), corner[3];
    for (int a = 0; a < 3; a++) corner[a] = (fine->corner[3 * (int64_t)f + a] - coarse->corner[3 * (int64_t)c + a]) / size;
    if (finer == 1) place = 1 + (corner[0] > 0) + 2 * (corner[1] > 0) + 4 * (corner[2] > 0);
    int folded = coarse->face_code[c] || coarse->element == FEM_S2;
    if (finer <= 1 && !folded) return known->weight[place][slot];
    if (finer <= 1)
        memcpy(own, known->weight[place][slot], sizeof(double) * (size_t)coarse->slots);
    else
        weights_at(coarse, fine, 1.0 / (1 << finer), corner, slot, own);
    if (folded) fem_space_fold_local(coarse, c, 1, own);
    return own;
}

static int is_entry(double weight) { return fabs(weight) > 1e-12; }

static yoke_status fill_to_fine(const fem_space *coarse, const fem_space *fine, const int32_t *parent, fem_rows *rows)
{
    yoke_context *context = fine->context;
    slot_weights *known = NULL;
    yoke_status status = yoke_allocate(context, (int64_t)fine->num_nodes + 1, sizeof(int64_t), &rows->start);
    if (!status) status = yoke_allocate_untouched(context, 1, sizeof *known, &known);
    if (status) return status;
    fill_slot_weights(coarse, fine, known);
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < fine->num_nodes; i++) {
        int32_t f = fine->home_element[i];
        double own[27];
        if (f < 0) continue;
        const double *weight = node_weights(coarse, fine, known, f, parent[f], fine->home_slot[i], own);
        for (int s = 0; s < coarse->slots; s++) rows->start[i + 1] += is_entry(weight[s]);
    }
    for (int32_t i = 0; i < fine->num_nodes; i++) rows->start[i + 1] += rows->start[i];
    status = yoke_allocate_untouched(context, rows->start[fine->num_nodes], sizeof(int32_t), &rows->node);
    if (!status) status = yoke_allocate_untouched(context, rows->start[fine->num_nodes], sizeof(float), &rows->weight);
    if (!status) {
#pragma omp parallel for schedule(static)
        for (int32_t i = 0; i < fine->num_nodes; i++) {
            int32_t f = fine->home_element[i];
            if (f < 0) continue;
            int32_t c = parent[f];
            int64_t at = rows->start[i];
            double own[27];
            const double *weight = node_weights(coarse, fine, known, f, c, fine->home_slot[i], own);
            for (int s = 0; s < coarse->slots; s++) {
                if (!is_entry(weight[s])) continue;
                rows->node[at] = coarse->element_nodes[(int64_t)c * coarse->slots + s];
                rows->weight[at++] = (float)weight[s];
            }
        }
    }
    yoke_release(context, known);
    return status;
}

static yoke_status transpose_rows(yoke_context *context, const fem_rows *rows, int32_t num_rows, int32_t num_columns, fem_rows *transposed)
{
    int64_t entries = rows->start[num_rows];
    yoke_status status = yoke_allocate(context, (int64_t)num_columns + 2, sizeof(int64_t), &transposed->start);
    if (!status) status = yoke_allocate_untouched(context, entries, sizeof(int32_t), &transposed->node);
    if (!status) status = yoke_allocate_untouched(context, entries, sizeof(float), &transposed->weight);
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
    yoke_status status = yoke_allocate(context, 1, sizeof *p, &p);
    if (status) return status;
    p->context = context;
    p->coarse_nodes = coarse->num_nodes;
    p->fine_nodes = fine->num_nodes;
    status = yoke_allocate(context, fine->num_elements, sizeof(int32_t), &parent);
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
