/* Each table of kernels of the error estimate and the nodal stress, beside plain computations. */
#include <math.h>

#include "operator/packed.h"
#include "reference_problem.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

enum { MAX_WIDTH = 4, MAX_POINTS = 9 };

typedef struct largest_difference {
    double difference, scale;
} largest_difference;

static void note(largest_difference *d, double value, double expected)
{
    if (!(fabs(value - expected) <= d->difference)) d->difference = isnan(value) ? INFINITY : fabs(value - expected);
    d->scale = fmax(d->scale, fabs(expected));
}

static void assert_small(const largest_difference *d, int lanes, const char *what)
{
    if (!(d->difference <= 1e-11 * d->scale)) fail_msg("%d lanes: %s differs by %g of %g", lanes, what, d->difference, d->scale);
}

/* Traction times the root of weight x area, in elasticity followed by the normal part. */
static void note_scaled(largest_difference *d, int components, double weight, const reference_point *truth, const double *value)
{
    double scale = sqrt(weight * truth->area), along = 0;
    for (int c = 0; c < components; c++) {
        note(d, value[c], scale * truth->traction[c]);
        along += truth->traction[c] * truth->normal[c];
    }
    if (components == 3) note(d, value[3], scale * along);
}

/* The leaves that are looked at, and room for what a table says of all, ghosts included: ghost g is a copy of leaf g. */
typedef struct tables_test {
    const block *b;
    const double *u;
    fem_packed data;
    int32_t ghosts, *leaf;
    int count;
    fem_element_terms terms;
    double *stress;
} tables_test;

static void tables_create(const block *b, const double *u, int32_t ghosts, tables_test *t)
{
    const fem_space *space = b->space;
    int n = space->slots_1d;
    *t = (tables_test){.b = b, .u = u, .ghosts = ghosts};
    assert_int_equal(fem_packed_create(space, u, ghosts, &t->data), YOKE_OK);
    for (int32_t g = 0; g < ghosts; g++) {
        fem_packed_expand(&t->data, space, u, g, t->data.ghosts + (int64_t)g * space->slots * FEM_PACKED);
        t->data.material[space->num_elements + g] = t->data.material[g];
    }
    int64_t total = t->data.solution.num_total;
    t->leaf = block_zeros(total, sizeof *t->leaf);
    t->terms =
        (fem_element_terms){block_zeros(total, sizeof(double)), block_zeros(total, sizeof(double)), block_zeros(total, sizeof(double)),
                            block_zeros(6 * total, sizeof(double)), block_zeros(6 * total * n * n * MAX_WIDTH, sizeof(double))};
    t->stress = block_zeros(total * FEM_STRESS_POINTS * FEM_PACKED, sizeof(double));
}

static void tables_destroy(tables_test *t)
{
    fem_packed_destroy(&t->data);
    void *arrays[] = {t->leaf, t->terms.volume, t->terms.residual, t->terms.energy, t->terms.area, t->terms.traction, t->stress};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

static int32_t leaf_of(const tables_test *t, int32_t e) { return e < t->b->space->num_elements ? e : e - t->b->space->num_elements; }

static void assert_terms(tables_test *t, const fem_derivative_kernels *table, const fem_derivative_functions *functions)
{
    const fem_space *space = t->b->space;
    int n = space->slots_1d, components = space->components, width = components == 3 ? 4 : 1;
    largest_difference volume = {0}, residual = {0}, energy = {0}, area = {0}, traction = {0};
    double point[3], weight[3];
    fem_gauss(n, point, weight);
    int32_t total = t->data.solution.num_total, cut = total / 3; /* where a call ends does not matter */
    functions->terms(&t->data.solution, 0, cut, &t->terms);
    functions->terms(&t->data.solution, cut, total, &t->terms);
    for (int i = 0; i < t->count; i++) {
        int32_t e = t->leaf[i];
        reference_volume_sums truth = reference_element(space, t->u, leaf_of(t, e));
        note(&volume, t->terms.volume[e], truth.volume);
        note(&residual, t->terms.residual[e], truth.residual);
        note(&energy, t->terms.energy[e], truth.energy);
        for (int face = 0; face < 6; face++) {
            double sum = 0;
            for (int q = 0; q < n * n; q++) {
                double w = weight[q % n] * weight[q / n];
                reference_point at = reference_on_face(space, t->u, leaf_of(t, e), face, point[q % n], point[q / n]);
                sum += w * at.area;
                note_scaled(&traction, components, w, &at, t->terms.traction + ((6 * (int64_t)e + face) * n * n + q) * width);
            }
            note(&area, t->terms.area[6 * (int64_t)e + face], sum);
        }
    }
    assert_small(&volume, table->lanes, "volume");
    assert_small(&residual, table->lanes, "residual");
    assert_small(&energy, table->lanes, "energy");
    assert_small(&area, table->lanes, "area");
    assert_small(&traction, table->lanes, "traction");
}

static void assert_quarters(const tables_test *t, const fem_derivative_kernels *table, const fem_derivative_functions *functions, int count,
                            const fem_element_face *faces)
{
    const fem_space *space = t->b->space;
    int n = space->slots_1d, components = space->components, width = components == 3 ? 4 : 1;
    double point[3], weight[3], value[FEM_MAX_LANES * 4 * MAX_POINTS * MAX_WIDTH];
    largest_difference d = {0};
    fem_gauss(n, point, weight);
    functions->quarters(&t->data.solution, count, faces, value);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 4 * n * n; k++) {
            int quarter = k / (n * n), a = k % n, b = k % (n * n) / n;
            double s = 0.5 * (quarter % 2 + point[a]), v = 0.5 * (quarter / 2 + point[b]);
            reference_point at = reference_on_face(space, t->u, leaf_of(t, faces[i].element), faces[i].face, s, v);
            note_scaled(&d, components, 0.25 * weight[a] * weight[b], &at, value + (i * 4 * n * n + k) * width);
        }
    assert_small(&d, table->lanes, "traction on quarters");
}

static void assert_points(const tables_test *t, const fem_derivative_kernels *table, const fem_derivative_functions *functions, int count,
                          const fem_element_face *faces)
{
    const fem_space *space = t->b->space;
    int n = space->slots_1d;
    double point[3], weight[3];
    fem_face_traction value[FEM_MAX_LANES * MAX_POINTS];
    largest_difference area = {0}, x = {0}, normal = {0}, traction = {0};
    fem_gauss(n, point, weight);
    functions->points(&t->data.solution, count, faces, value);
    for (int i = 0; i < count; i++)
        for (int q = 0; q < n * n; q++) {
            const fem_face_traction *own = &value[i * n * n + q];
            reference_point at = reference_on_face(space, t->u, leaf_of(t, faces[i].element), faces[i].face, point[q % n], point[q / n]);
            note(&area, own->area, at.area);
            for (int a = 0; a < 3; a++) {
                note(&x, own->x[a], at.x[a]);
                note(&normal, own->normal[a], at.normal[a]);
                if (a < space->components) note(&traction, own->traction[a], at.traction[a]);
            }
        }
    assert_small(&area, table->lanes, "element of area");
    assert_small(&x, table->lanes, "place on a face");
    assert_small(&normal, table->lanes, "normal");
    assert_small(&traction, table->lanes, "traction at points");
}

static void assert_gauss_stress(tables_test *t, const fem_derivative_kernels *table, const fem_derivative_functions *functions)
{
    const fem_space *space = t->b->space;
    double point[2], weight[2];
    largest_difference d = {0};
    fem_gauss(2, point, weight);
    functions->stress(&t->data.solution, 0, space->num_elements, t->stress);
    for (int i = 0; i < t->count; i++)
        for (int q = 0; q < FEM_STRESS_POINTS && t->leaf[i] < space->num_elements; q++) {
            double truth[6];
            reference_stress_at(space, t->u, t->leaf[i], (double[3]){point[q & 1], point[q >> 1 & 1], point[q >> 2]}, truth);
            for (int c = 0; c < 6; c++) note(&d, t->stress[((int64_t)t->leaf[i] * FEM_STRESS_POINTS + q) * FEM_PACKED + c], truth[c]);
        }
    assert_small(&d, table->lanes, "stress");
}

/* All functions of a table, on t->leaf; from 1 to all lanes are filled. */
static void assert_table(tables_test *t, const fem_derivative_kernels *table)
{
    const fem_derivative_functions *functions = fem_derivative_select(table, &t->data.solution);
    assert_terms(t, table, functions);
    assert_gauss_stress(t, table, functions);
    fem_element_face faces[FEM_MAX_LANES];
    for (int i = 0, fill = 1; i < t->count; i += fill, fill = fill % table->lanes + 1) {
        int count = t->count - i < fill ? t->count - i : fill;
        for (int k = 0; k < count; k++) faces[k] = (fem_element_face){t->leaf[i + k], (i + k) % 6};
        assert_quarters(t, table, functions, count, faces);
        assert_points(t, table, functions, count, faces);
    }
}

static void each_table_of_kernels_is_right_for_leaves_and_ghosts(void **state)
{
    const fem_kernels *tables[FEM_MAX_KERNELS];
    int count = fem_kernels_list(tables);
    uint64_t random = 29;
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int components = 1; components <= 3; components += 2)
            for (int k = 0; k < count; k++) {
                kind own = {.map = body_bend, .components = components, .functions = k % 2, .factor = 3};
                block b;
                tables_test t;
                create(&own, (int[3]){2, 1 + k, 1}, 7, &b);
                block_refine(&b, 0.5, &random);
                block_discretise(&b, elements[i]);
                double *u = random_solution(&b, &random);
                tables_create(&b, u, b.space->num_elements < 5 ? 1 : 5, &t);
                while (t.count < t.data.solution.num_total) {
                    t.leaf[t.count] = t.count;
                    t.count++;
                }
                assert_table(&t, tables[k]->derivatives);
                tables_destroy(&t);
                free(u);
                block_destroy(&b);
            }
}

/*
 * 27 coarse elements, the inner one refined.  Bits 0-2: its neighbours over faces across x, y, z are refined too; bits 3-5: those over edges
 * along x, y, z.
 */
static void refine_pattern(block *b, int bits)
{
    uint8_t mark[27];
    for (int e = 0; e < 27; e++) {
        int off[3] = {e % 3 != 1, e / 3 % 3 != 1, e / 9 != 1}, count = off[0] + off[1] + off[2];
        mark[e] = count == 0;
        for (int a = 0; a < 3; a++) {
            if (count == 1 && off[a]) mark[e] = bits >> a & 1;
            if (count == 2 && !off[a]) mark[e] = bits >> (3 + a) & 1;
        }
    }
    assert_int_equal(fem_forest_refine(b->forest, mark), YOKE_OK);
}

/* 17 patterns for each of the 8 places in a family: see operator.c. */
static void each_table_of_kernels_is_right_for_every_pattern_of_hanging_faces_and_edges(void **state)
{
    const fem_kernels *tables[FEM_MAX_KERNELS];
    int count = fem_kernels_list(tables), patterns = 0;
    uint8_t seen[3][FEM_FACE_CODES] = {{0}};
    uint64_t random = 31;
    int first = PATTERN_ELEMENTS == 3 ? 0 : count - 1; /* with the sanitizers the best table alone */
    (void)state;
    for (int bits = 0; bits < 64; bits++) {
        kind own = {.map = body_bend, .components = bits % 2 ? 3 : 1, .factor = 2};
        block b;
        create(&own, (int[3]){3, 3, 3}, 11, &b);
        refine_pattern(&b, bits);
        for (int i = PATTERN_ELEMENT; i < PATTERN_ELEMENT + PATTERN_ELEMENTS; i++) {
            tables_test t;
            block_discretise(&b, elements[i]);
            double *u = random_solution(&b, &random);
            tables_create(&b, u, 0, &t);
            for (int32_t e = 0; e < b.space->num_elements; e++) {
                if (b.space->face_code[e] && !seen[i][b.space->face_code[e]]) t.leaf[t.count++] = e;
                seen[i][b.space->face_code[e]] = 1;
            }
            for (int k = first; k < count && t.count > 0; k++) assert_table(&t, tables[k]->derivatives);
            tables_destroy(&t);
            free(u);
        }
        block_destroy(&b);
    }
    for (int i = 0; i < 3; i++)
        for (int code = 1; code < FEM_FACE_CODES; code++) patterns += seen[i][code];
    assert_int_equal(patterns, PATTERN_ELEMENTS * 8 * 17);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_table_of_kernels_is_right_for_leaves_and_ghosts),
    cmocka_unit_test(each_table_of_kernels_is_right_for_every_pattern_of_hanging_faces_and_edges),
};

UNIT_MAIN(tests, body_start, body_end)
