/* device_tables.c - the tables that a device subdomain's kernels read. */
#include <math.h>
#include <string.h>

#include "mesh/shape.h"
#include "operator/subdomain/device.h"

/* Same order as in kernels/subdomain_element.h. */
enum { ROWS_EXPAND, ROWS_FOLD, ROWS_SQUARE, ROW_TABLES };

static void list_used_slots(const fem_space *space, device_tables *t)
{
    for (int s = 0; s < space->slots; s++)
        if (space->element != FEM_S2 || fem_slot_middles(s) < 2) t->slot[t->used++] = (int8_t)s;
}

/* ---------------------------------------------------------------------------------------------------- patterns */

/* The fold of an element with a face code: fold [to][from]; 0 beyond the element's slots. */
static void fold_matrix(fem_element element, int16_t code, double fold[27][27])
{
    int slots = element == FEM_Q1 ? 8 : 27;
    fem_space one = {.element = element, .slots_1d = element == FEM_Q1 ? 2 : 3, .slots = slots, .face_code = &code};
    memset(fold, 0, sizeof(double[27][27]));
    for (int from = 0; from < slots; from++) {
        double local[27] = {0};
        local[from] = 1;
        fem_space_fold_local(&one, 0, 1, local);
        for (int to = 0; to < slots; to++) fold[to][from] = local[to];
    }
}

/*
 * The fold with squared weights, by which diagonals are transferred.  A serendipity element's values at hanging slots go first to the full
 * face and then from its centre to the nodes around it; the weights of both steps are squared.
 */
static void square_matrix(fem_element element, int16_t code, double square[27][27])
{
    double fold[27][27];
    fold_matrix(element == FEM_S2 ? FEM_Q2 : element, code, fold);
    for (int to = 0; to < 27; to++)
        for (int from = 0; from < 27; from++) square[to][from] = fold[to][from] * fold[to][from];
    if (element != FEM_S2) return;
    for (int f = 0; f < 6; f++) {
        int slots[9];
        fem_face_slots(3, f, slots);
        for (int from = 0; from < 27; from++) {
            double centre = square[slots[4]][from];
            for (int i = 0; i < 9; i++)
                if (i != 4) square[slots[i]][from] += (i % 2 ? 0.25 : 0.0625) * centre;
        }
    }
}

static void add_entry(device_tables *t, int entry, double weight)
{
    if (weight == 0) return;
    t->row_entry[t->row_entries] = (uint8_t)entry;
    t->row_weight[t->row_entries++] = (float)weight; /* exact, because the weights have few significant bits */
}

/* Adds the rows of one table for one pattern. */
static void add_rows(const fem_space *space, device_tables *t, int table, int pattern, int16_t code)
{
    double matrix[27][27];
    int32_t *start = t->row_start + ((int64_t)table * t->patterns + pattern) * space->slots;
    if (table == ROWS_SQUARE)
        square_matrix(space->element, code, matrix);
    else
        fold_matrix(space->element, code, matrix);
    for (int row = 0; row < space->slots; row++) {
        start[row] = (int32_t)t->row_entries;
        if (pattern < t->identity) continue;
        if (table == ROWS_EXPAND)
            for (int i = 0; i < t->used; i++) add_entry(t, i, matrix[t->slot[i]][row]);
        else if (row < t->used)
            for (int s = 0; s < space->slots; s++)
                if (table == ROWS_FOLD || space->element != FEM_S2 || fem_slot_middles(s) < 2) add_entry(t, s, matrix[t->slot[row]][s]);
    }
}

/* Numbers the face codes that occur; pattern 0 is the code without hanging faces and edges. */
static yoke_status make_patterns(const fem_subdomain *subdomain, device_tables *t)
{
    const fem_space *space = subdomain->space;
    int16_t number[FEM_FACE_CODES], code[FEM_FACE_CODES];
    memset(number, -1, sizeof number);
    number[0] = code[0] = 0;
    t->patterns = 1;
    t->identity = space->element == FEM_S2 ? 0 : 1;
    for (int32_t p = 0; p < space->num_elements; p++) {
        int16_t c = space->face_code[t->element[p]];
        if (number[c] < 0) {
            code[t->patterns] = c;
            number[c] = (int16_t)t->patterns++;
        }
        t->pattern[p] = number[c];
    }
    int64_t rows = (int64_t)ROW_TABLES * t->patterns * space->slots;
    yoke_status status = yoke_allocate(subdomain->context, rows + 1, sizeof(int32_t), &t->row_start);
    if (!status) status = yoke_allocate(subdomain->context, rows * space->slots, 1, &t->row_entry);
    if (!status) status = yoke_allocate(subdomain->context, rows * space->slots, sizeof(float), &t->row_weight);
    if (status) return status;
    for (int table = 0; table < ROW_TABLES; table++)
        for (int p = 0; p < t->patterns; p++) add_rows(space, t, table, p, code[p]);
    t->row_start[rows] = (int32_t)t->row_entries;
    return YOKE_OK;
}

static void make_slopes(const fem_space *space, double *slopes)
{
    int n = space->slots_1d;
    int16_t plain = 0;
    fem_space one = {.element = space->element, .slots_1d = n, .slots = space->slots, .face_code = &plain};
    double point[3], weight[3], g = n == 3 ? sqrt(0.6) : sqrt(1.0 / 3);
    fem_gauss(n, point, weight);
    for (int q = 0; q < space->slots; q++) {
        double *gradient = slopes + (int64_t)q * space->slots * 3;
        fem_shape(n, (double[3]){point[q % n], point[q / n % n], point[q / (n * n)]}, NULL, gradient, NULL);
        for (int i = 0; i < 3 * space->slots; i++) gradient[i] *= g;
        fem_space_fold_local(&one, 0, 3, gradient);
    }
}

/* ------------------------------------------------------------------------------------------- elements and nodes */

static void gather_elements(const fem_subdomain *subdomain, device_tables *t)
{
    const fem_space *space = subdomain->space;
    for (int64_t p = 0; p < space->num_elements; p++) {
        int32_t e = t->element[p];
        const fem_material *material = fem_space_material(space, e);
        for (int i = 0; i < t->used; i++) t->nodes[p * t->used + i] = space->element_nodes[(int64_t)e * space->slots + t->slot[i]];
        if (subdomain->precision == FEM_DOUBLE) {
            ((double *)t->moduli)[2 * p] = material->lambda;
            ((double *)t->moduli)[2 * p + 1] = material->mu;
        } else {
            ((float *)t->moduli)[2 * p] = (float)material->lambda;
            ((float *)t->moduli)[2 * p + 1] = (float)material->mu;
        }
    }
}

/* Lists for each node the positions of its elements' results, ascending. */
static void place_sums(const fem_space *space, device_tables *t)
{
    int32_t results = space->num_elements * t->used;
    for (int32_t k = 0; k < results; k++) t->sum_start[t->nodes[k] + 1]++;
    for (int32_t node = 0; node < space->num_nodes; node++) t->sum_start[node + 1] += t->sum_start[node];
    for (int32_t k = 0; k < results; k++) t->sum_place[t->sum_start[t->nodes[k]]++] = k;
    for (int32_t node = space->num_nodes; node > 0; node--) t->sum_start[node] = t->sum_start[node - 1];
    t->sum_start[0] = 0;
}

static yoke_status list_masked(const fem_subdomain *subdomain, device_tables *t)
{
    const uint8_t *prescribed = subdomain->constraints->prescribed;
    int n = subdomain->space->components;
    for (int64_t i = 0; i < subdomain->space->num_nodes; i++)
        for (int c = 0; c < n; c++) t->num_masked += prescribed[i] >> c & 1;
    yoke_status status = yoke_allocate(subdomain->context, t->num_masked, sizeof(int64_t), &t->masked);
    if (status) return status;
    int64_t count = 0;
    for (int64_t i = 0; i < subdomain->space->num_nodes; i++)
        for (int c = 0; c < n; c++)
            if (prescribed[i] >> c & 1) t->masked[count++] = i * n + c;
    return YOKE_OK;
}

yoke_status device_tables_make(const fem_subdomain *subdomain, fem_adding adding, int all_curved, device_tables *t)
{
    const fem_space *space = subdomain->space;
    yoke_context *context = subdomain->context;
    int64_t elements = space->num_elements, real = subdomain->precision == FEM_DOUBLE ? 8 : 4;
    *t = (device_tables){0};
    list_used_slots(space, t);
    if (elements > INT32_MAX / t->used)
        return yoke_fail(context, YOKE_ERROR_DEVICE_MEMORY,
                         "%lld elements are more than the %d that one device can number; use more devices", (long long)elements,
                         INT32_MAX / t->used);
    yoke_status status = yoke_allocate(context, elements, sizeof(int32_t), &t->element);
    if (!status) status = yoke_allocate(context, elements * t->used, sizeof(int32_t), &t->nodes);
    if (!status) status = yoke_allocate(context, elements, sizeof(int16_t), &t->pattern);
    if (!status) status = yoke_allocate(context, (int64_t)space->slots * space->slots * 3, sizeof(double), &t->slopes);
    if (!status) status = yoke_allocate(context, elements * 2, (size_t)real, &t->moduli);
    if (!status) status = yoke_allocate(context, (int64_t)space->num_nodes + 1, sizeof(int32_t), &t->sum_start);
    if (!status) status = yoke_allocate(context, elements * t->used, sizeof(int32_t), &t->sum_place);
    if (!status && subdomain->num_interface) status = yoke_allocate(context, space->num_nodes, sizeof(int32_t), &t->node_list);
    if (!status) status = device_tables_order(subdomain, adding, all_curved, t);
    if (!status) status = make_patterns(subdomain, t);
    if (!status) status = list_masked(subdomain, t);
    if (status) return status;
    gather_elements(subdomain, t);
    place_sums(space, t);
    make_slopes(space, t->slopes);
    return YOKE_OK;
}

void device_tables_release(yoke_context *context, device_tables *t)
{
    void *arrays[] = {t->element, t->batch,  t->nodes,     t->pattern,   t->row_start, t->row_entry, t->row_weight,
                      t->slopes,  t->moduli, t->sum_start, t->sum_place, t->node_list, t->masked};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yoke_release(context, arrays[i]);
}
