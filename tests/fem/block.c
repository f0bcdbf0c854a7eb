#include "block.h"

#include <math.h>

#include "unit.h"

#include "fem/body.h"
#include "mesh/shape.h"

void *block_zeros(int64_t count, size_t size)
{
    void *memory = calloc((size_t)(count > 0 ? count : 1), size);
    assert_non_null(memory);
    return memory;
}

double block_random(uint64_t *random)
{
    uint64_t z = *random += 0x9E3779B97F4A7C15u; /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

double *block_random_array(int64_t count, uint64_t *random)
{
    double *values = block_zeros(count, sizeof *values);
    for (int64_t i = 0; i < count; i++) values[i] = 2 * block_random(random) - 1;
    return values;
}

double block_difference(const double *a, const double *b, int64_t count)
{
    double largest = 0, difference = 0;
    for (int64_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(b[i]));
        if (!(fabs(a[i] - b[i]) <= difference)) difference = fabs(a[i] - b[i]);
        if (isnan(difference)) return NAN;
    }
    return largest > 0 ? difference / largest : difference;
}

/* ----------------------------------------------------------------------------------------------------- mesh */

/* The 24 ways to lay a cube: local axis a runs along axis[a] of the block, forwards or (sign -1) backwards. */
typedef struct turn {
    int axis[3], sign[3];
} turn;

static turn turn_number(int number)
{
    static const int permutation[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    turn t;
    int odd = number / 4 >= 3, signs = number % 4; /* two signs are free, the third keeps the orientation */
    memcpy(t.axis, permutation[number / 4], sizeof t.axis);
    t.sign[0] = signs & 1 ? -1 : 1;
    t.sign[1] = signs & 2 ? -1 : 1;
    t.sign[2] = t.sign[0] * t.sign[1] * (odd ? -1 : 1);
    return t;
}

/* Reference point r of an element laid by t, in the cell's own coordinates along the block's axes. */
static void turned(const turn *t, const double r[3], double cell[3])
{
    for (int a = 0; a < 3; a++) cell[t->axis[a]] = t->sign[a] > 0 ? r[a] : 1 - r[a];
}

static void place(const block_options *options, const double in[3], double out[3])
{
    if (options->map)
        options->map(in, out);
    else
        memcpy(out, in, 3 * sizeof *in);
}

static void add_member(fem_group *group, int element, int local)
{
    group->element[group->count] = element;
    group->local[group->count++] = (int8_t)local;
}

/* Whether both ends of an edge lie on the line (x, y, any z). */
static int on_line(const double a[3], const double b[3], double x, double y) { return a[0] == x && a[1] == y && b[0] == x && b[1] == y; }

static int is_at(const double corner[3], double x, double y, double z) { return corner[0] == x && corner[1] == y && corner[2] == z; }

/* Adds the element's faces, edges and corners to the groups; corner [8]: places of its corners in the unit cube, exact there. */
static void add_to_groups(fem_mesh *mesh, int e, double corner[8][3], int touched[BLOCK_GROUPS])
{
    static const double point[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    int slots[9];
    for (int f = 0; f < 6; f++) {
        fem_face_slots(2, f, slots);
        for (int side = 0; side < 6; side++) {
            int on = 1;
            for (int i = 0; i < 4; i++) on = on && corner[slots[i]][side / 2] == side % 2;
            if (on) add_member(&mesh->groups[side], e, f);
        }
    }
    for (int k = 0; k < 12; k++) {
        fem_edge_slots(2, k, slots);
        if (on_line(corner[slots[0]], corner[slots[1]], 0, 0)) add_member(&mesh->groups[BLOCK_UPRIGHT], e, k);
        if (corner[0][0] + corner[7][0] > 1 && corner[0][1] + corner[7][1] > 1 && on_line(corner[slots[0]], corner[slots[1]], 0.5, 0.5))
            add_member(&mesh->groups[BLOCK_AXIS], e, k);
    }
    for (int c = 0; c < 8; c++)
        for (int p = 0; p < 3; p++)
            if (!touched[BLOCK_ORIGIN + p] && is_at(corner[c], point[p][0], point[p][1], point[p][2])) {
                touched[BLOCK_ORIGIN + p] = 1;
                add_member(&mesh->groups[BLOCK_ORIGIN + p], e, c);
            }
}

static void add_element(const block_options *options, fem_mesh *mesh, const int cell[3], int e, int touched[BLOCK_GROUPS])
{
    const int *n = options->elements;
    int per_axis = options->order + 1, slots = per_axis * per_axis * per_axis;
    turn t = turn_number(options->turn * e % BLOCK_TURNS);
    double corner[8][3];
    mesh->element_tag[e] = 101 + e;
    for (int c = 0; c < 8; c++) {
        double r[3] = {c & 1, c >> 1 & 1, c >> 2}, in[3];
        turned(&t, r, in);
        int at[3];
        for (int a = 0; a < 3; a++) {
            at[a] = cell[a] + (int)in[a];
            corner[c][a] = (double)at[a] / n[a];
        }
        mesh->corners[8 * e + c] = at[0] + (n[0] + 1) * (at[1] + (n[1] + 1) * at[2]);
        place(options, corner[c], mesh->vertices + 3 * (int64_t)mesh->corners[8 * e + c]);
    }
    for (int s = 0; s < slots; s++) {
        double r[3], in[3];
        fem_slot_point(per_axis, s, r);
        turned(&t, r, in);
        for (int a = 0; a < 3; a++) in[a] = (cell[a] + in[a]) / n[a];
        place(options, in, mesh->geometry + 3 * ((int64_t)slots * e + s));
    }
    add_to_groups(mesh, e, corner, touched);
}

static void create_mesh(const block_options *options, block *b)
{
    static const int dimension[BLOCK_GROUPS] = {2, 2, 2, 2, 2, 2, 1, 1, 0, 0, 0};
    static char names[BLOCK_GROUPS][4] = {"-x", "+x", "-y", "+y", "-z", "+z", "up", "ax", "o", "x", "y"};
    static char path[] = "block";
    const int *n = options->elements;
    int touched[BLOCK_GROUPS] = {0}, e = 0, elements = n[0] * n[1] * n[2];
    fem_mesh *mesh = &b->mesh;
    *mesh = (fem_mesh){.context = b->context, .path = path, .order = options->order, .num_elements = elements, .num_groups = BLOCK_GROUPS};
    mesh->num_vertices = (n[0] + 1) * (n[1] + 1) * (n[2] + 1);
    mesh->vertices = block_zeros(3 * mesh->num_vertices, sizeof(double));
    mesh->corners = block_zeros(8 * elements, sizeof(int32_t));
    mesh->geometry = block_zeros(81 * elements, sizeof(double));
    mesh->volume = block_zeros(elements, sizeof(int32_t));
    mesh->element_tag = block_zeros(elements, sizeof(int64_t));
    mesh->vertex_tag = block_zeros(mesh->num_vertices, sizeof(int64_t));
    mesh->groups = block_zeros(BLOCK_GROUPS, sizeof *mesh->groups);
    for (int g = 0; g < BLOCK_GROUPS; g++) {
        mesh->groups[g] = (fem_group){.name = names[g], .tag = g + 1, .dimension = dimension[g]};
        mesh->groups[g].element = block_zeros(6 * elements, sizeof(int32_t));
        mesh->groups[g].local = block_zeros(6 * elements, sizeof(int8_t));
    }
    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++, e++) add_element(options, mesh, (int[3]){i, j, k}, e, touched);
}

void block_create(const block_options *options, block *b)
{
    memset(b, 0, sizeof *b);
    assert_int_equal(yoke_context_create(options->memory, &b->context), YOKE_OK);
    create_mesh(options, b);
    b->material[0] = (fem_material){.lambda = options->components == 3 ? 1.5 : 0, .mu = 0.9, .density = 1};
    b->material[1] = b->material[0];
    b->problem = (fem_problem){.context = b->context,
                               .mesh = &b->mesh,
                               .components = options->components,
                               .num_materials = 1,
                               .materials = b->material,
                               .material_of = block_zeros(b->mesh.num_elements, sizeof(int16_t)),
                               .conditions = b->condition};
    assert_int_equal(fem_forest_create(&b->mesh, 0, &b->forest), YOKE_OK);
}

static void release_discretisation(block *b)
{
    fem_constraints_destroy(b->constraints);
    fem_boundary_destroy(b->boundary);
    fem_space_destroy(b->space);
    b->constraints = NULL;
    b->boundary = NULL;
    b->space = NULL;
}

void block_destroy(block *b)
{
    release_discretisation(b);
    fem_forest_destroy(b->forest);
    for (int g = 0; g < BLOCK_GROUPS; g++) {
        free(b->mesh.groups[g].element);
        free(b->mesh.groups[g].local);
    }
    void *arrays[] = {b->mesh.vertices, b->mesh.corners,    b->mesh.geometry,    b->mesh.volume,
                      b->mesh.groups,   b->mesh.vertex_tag, b->mesh.element_tag, b->problem.material_of};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    yoke_context_destroy(b->context);
}

void block_add_condition(block *b, fem_condition condition)
{
    assert_true(b->problem.num_conditions < BLOCK_MAX_CONDITIONS);
    b->condition[b->problem.num_conditions++] = condition;
}

void block_two_materials(block *b, double factor)
{
    b->problem.num_materials = 2;
    b->material[1] = b->material[0];
    b->material[1].lambda *= factor;
    b->material[1].mu *= factor;
    for (int64_t e = 0; e < b->mesh.num_elements; e++) b->problem.material_of[e] = (int16_t)(e % 2);
}

void block_refine(block *b, double probability, uint64_t *random)
{
    int64_t leaves = fem_forest_leaves(b->forest);
    uint8_t *mark = block_zeros(leaves, 1);
    for (int64_t e = 0; e < leaves; e++) mark[e] = block_random(random) < probability;
    assert_int_equal(fem_forest_refine(b->forest, mark), YOKE_OK);
    free(mark);
}

void block_discretise(block *b, fem_element element)
{
    release_discretisation(b);
    b->problem.element = element;
    assert_int_equal(fem_space_create(&b->problem, b->forest, element, &b->space), YOKE_OK);
    assert_int_equal(fem_boundary_create(b->space, &b->boundary), YOKE_OK);
    assert_int_equal(fem_constraints_create(b->space, b->boundary, &b->constraints), YOKE_OK);
}

void block_create_pattern(block *b, int bits, int components)
{
    uint8_t mark[27];
    block_options options = {.elements = {3, 3, 3}, .map = body_bend, .order = 2, .turn = 11, .components = components};
    block_create(&options, b);
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

void block_spoil(const fem_space *space, int32_t e, block_fault how)
{
    const int32_t *nodes = space->element_nodes + (int64_t)e * space->slots;
    double middle = 0.5 * (space->x[3 * (int64_t)nodes[0] + 2] + space->x[3 * (int64_t)nodes[space->slots - 1] + 2]);
    for (int s = 0; s < space->slots; s++) {
        if (nodes[s] < 0) continue;
        double *z = &space->x[3 * (int64_t)nodes[s] + 2];
        *z = how == BLOCK_INSIDE_OUT ? 2 * middle - *z : how == BLOCK_FLAT ? middle : s == 0 ? (double)NAN : *z;
    }
}
