/* Which leaves share a face, and that both sides mean the same points of it. */
#include <math.h>
#include <omp.h>

#include "unit.h"

#include "estimate/private.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/model.h"
#include "mesh/shape.h"

static void count(const fem_space *space, int64_t full, int64_t hanging, int64_t boundary)
{
    face_lists faces;
    p8est_ghost_t *ghost = p8est_ghost_new(space->forest->p8est, P8EST_CONNECT_FACE);
    assert_int_equal(face_lists_allocate(space, &faces), YOKE_OK);
    face_lists_fill(space, ghost, &faces);
    assert_int_equal(faces.num_full, full);
    assert_int_equal(faces.num_hanging, hanging);
    assert_int_equal(faces.num_boundary, boundary);
    assert_int_equal(2 * full + 5 * hanging + boundary, 6 * (int64_t)space->num_elements);
    face_lists_destroy(space->context, &faces);
    p8est_ghost_destroy(ghost);
}

static void a_uniform_block_has_the_faces_of_a_grid(void **state)
{
    manufactured solution = manufactured_poisson_linear(1);
    model_options options = {.solution = &solution, .element = FEM_Q1, .elements = {2, 3, 1}, .order = 1, .level = 1};
    model m;
    (void)state;
    model_create(&options, &m); /* 4 x 6 x 2 leaves */
    count(m.space, 3 * 6 * 2 + 4 * 5 * 2 + 4 * 6 * 1, 0, 2 * (4 * 6 + 6 * 2 + 4 * 2));
    model_destroy(&m);
}

static void a_refined_element_has_hanging_faces_towards_its_neighbours(void **state)
{
    manufactured solution = manufactured_poisson_linear(1);
    model_options options = {.solution = &solution, .element = FEM_Q1, .elements = {3, 1, 1}, .order = 1};
    model m;
    (void)state;
    model_create(&options, &m);
    model_refine(&m, (uint8_t[]){0, 1, 0}); /* 12 faces inside, 2 hang, 4 x 4 + 2 x 5 are outside */
    count(m.space, 12, 2, 16 + 10);
    model_destroy(&m);
    options.elements[0] = 1;
    options.level = 1;
    model_create(&options, &m);
    model_refine(&m, (uint8_t[]){1, 0, 0, 0, 0, 0, 0, 0}); /* 9 faces of the 12 do not touch it; 3 faces of a leaf in four outside */
    count(m.space, 9 + 12, 3, 24 - 3 + 12);
    model_destroy(&m);
}

static int all_but_one(const double centre[3]) { return !(centre[0] > 0.5 && centre[1] > 0.5 && centre[2] > 0.5); }

static void a_face_bare_by_a_missing_element_is_a_boundary_face(void **state)
{
    manufactured solution = manufactured_poisson_linear(1);
    model_options options = {.solution = &solution, .element = FEM_Q1, .elements = {2, 2, 2}, .order = 1, .keep = all_but_one};
    model m;
    (void)state;
    model_create(&options, &m);
    count(m.space, 9, 0, 24);
    model_destroy(&m);
}

/* ------------------------------------------------------------------------------ two cubes, turned in all ways */

/* The r-th of the 24 rotations of a cube: row i has sign[i] at axis[i]; even permutations with an even number of signs, odd with odd. */
static void rotation(int r, int axis[3], int sign[3])
{
    static const int permutation[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    int p = r / 4, bits = r % 4;
    sign[0] = bits & 1 ? -1 : 1;
    sign[1] = bits & 2 ? -1 : 1;
    sign[2] = sign[0] * sign[1] * (p < 3 ? 1 : -1);
    for (int i = 0; i < 3; i++) axis[i] = permutation[p][i];
}

typedef struct pair {
    yoke_context *context;
    manufactured solution;
    fem_mesh *mesh;
    fem_problem problem;
    fem_material material;
    int16_t material_of[2];
    fem_condition condition;
    fem_forest *forest;
    fem_space *space;
    fem_boundary *boundary;
} pair;

static const char *name_all(const double centre[3], void *user)
{
    (void)centre, (void)user;
    return "surface";
}

/* A sheared cube, and at its face `face` a second one whose own axes are turned by rotation r; refined: bits of both. */
static void pair_create(int face, int r, int refined, fem_element element, pair *p)
{
    double vertices[12][3];
    int32_t corners[2][8];
    int axis[3], sign[3], count_vertices = 8;
    memset(p, 0, sizeof *p);
    assert_int_equal(yoke_context_create(NULL, &p->context), YOKE_OK);
    for (int c = 0; c < 8; c++) {
        for (int a = 0; a < 3; a++) vertices[c][a] = c >> a & 1;
        corners[0][c] = c;
    }
    rotation(r, axis, sign);
    for (int c = 0; c < 8; c++) {
        double at[3] = {0, 0, 0};
        for (int i = 0; i < 3; i++) at[axis[i]] = 0.5 + sign[i] * ((c >> i & 1) - 0.5);
        at[face / 2] += face % 2 ? 1 : -1;
        int v = 0;
        while (v < count_vertices && memcmp(vertices[v], at, sizeof at) != 0) v++;
        if (v == count_vertices) memcpy(vertices[count_vertices++], at, sizeof at);
        corners[1][c] = v;
    }
    assert_int_equal(count_vertices, 12);
    for (int v = 0; v < 12; v++) {
        double x = vertices[v][0], y = vertices[v][1], z = vertices[v][2];
        vertices[v][0] = x + 0.3 * y - 0.1 * z;
        vertices[v][1] = 0.9 * y + 0.2 * z;
        vertices[v][2] = 1.2 * z + 0.1 * x;
    }
    if (fem_mesh_from_arrays(p->context, 12, &vertices[0][0], 2, &corners[0][0], 1, NULL, name_all, NULL, &p->mesh))
        fail_msg("%s", yoke_last_error(p->context));
    p->solution = manufactured_quadratic(1, 0.3);
    p->material = (fem_material){.lambda = p->solution.lambda, .mu = p->solution.mu};
    p->condition = (fem_condition){FEM_TRACTION, fem_mesh_find_group(p->mesh, 2, "surface"), 0, {0, 0, 0}};
    p->problem = (fem_problem){.context = p->context,
                               .mesh = p->mesh,
                               .components = 3,
                               .element = element,
                               .num_materials = 1,
                               .materials = &p->material,
                               .material_of = p->material_of,
                               .num_conditions = 1,
                               .conditions = &p->condition,
                               .fields = manufactured_fields(&p->solution)};
    assert_int_equal(fem_forest_create(p->mesh, 0, &p->forest), YOKE_OK);
    assert_int_equal(fem_forest_refine(p->forest, (uint8_t[]){refined & 1, refined >> 1}), YOKE_OK);
    assert_int_equal(fem_space_create(&p->problem, p->forest, element, &p->space), YOKE_OK);
    assert_int_equal(fem_boundary_create(p->space, &p->boundary), YOKE_OK);
}

static void pair_destroy(pair *p)
{
    fem_boundary_destroy(p->boundary);
    fem_space_destroy(p->space);
    fem_forest_destroy(p->forest);
    fem_mesh_destroy(p->mesh);
    yoke_context_destroy(p->context);
}

/* Position of point `point` of a symmetric 3 x 3 grid (0.1, 0.5, 0.9) on a face, or on its quarter. */
static void face_position(const fem_space *space, int32_t element, int face, int quarter, int point, double x[3])
{
    double s = 0.1 + 0.4 * (point % 3), t = 0.1 + 0.4 * (point / 3), r[3], value[27], local[81];
    if (quarter >= 0) {
        s = 0.5 * (s + (quarter & 1));
        t = 0.5 * (t + (quarter >> 1));
    }
    fem_face_point(face, s, t, r);
    fem_shape(space->slots_1d, r, value, NULL, NULL);
    fem_space_geometry(space, element, local);
    for (int a = 0; a < 3; a++) {
        x[a] = 0;
        for (int i = 0; i < space->slots; i++) x[a] += value[i] * local[3 * i + a];
    }
}

static void assert_same_place(const fem_space *space, int32_t a, int face_a, int32_t b, int face_b, int turn, int fine_quarter)
{
    for (int q = 0; q < 9; q++) {
        double x[3], y[3];
        face_position(space, a, face_a, -1, q, x);
        face_position(space, b, face_b, fine_quarter < 0 ? -1 : turned_point(2, turn, fine_quarter), turned_point(3, turn, q), y);
        for (int i = 0; i < 3; i++) assert_true(fabs(x[i] - y[i]) < 1e-13);
    }
}

static void check_pair(const pair *p)
{
    face_lists faces;
    p8est_ghost_t *ghost = p8est_ghost_new(p->forest->p8est, P8EST_CONNECT_FACE);
    assert_int_equal(face_lists_allocate(p->space, &faces), YOKE_OK);
    face_lists_fill(p->space, ghost, &faces);
    for (int64_t i = 0; i < faces.num_full; i++) {
        const full_face *f = &faces.full[i];
        assert_same_place(p->space, f->element[0], f->face[0], f->element[1], f->face[1], f->turn, -1);
    }
    for (int64_t i = 0; i < faces.num_hanging; i++) {
        const hanging_face *f = &faces.hanging[i];
        for (int k = 0; k < 4; k++) assert_same_place(p->space, f->fine[k], f->fine_face, f->coarse, f->coarse_face, f->turn, k);
    }
    face_lists_destroy(p->context, &faces);
    p8est_ghost_destroy(ghost);
}

static void both_sides_name_the_same_points_for_all_faces_and_rotations(void **state)
{
    (void)state;
    for (int face = 0; face < 6; face++)
        for (int r = 0; r < 24; r++)
            for (int refined = 0; refined < 4; refined++) {
                pair p;
                pair_create(face, r, refined, FEM_Q1, &p);
                count(p.space,
                      refined == 0   ? 1
                      : refined == 3 ? 28
                                     : 12,
                      refined == 1 || refined == 2,
                      refined == 0   ? 10
                      : refined == 3 ? 40
                                     : 25);
                check_pair(&p);
                pair_destroy(&p);
            }
}

static void a_global_quadratic_has_no_jumps_for_all_faces_and_rotations(void **state)
{
    (void)state;
    for (int face = 0; face < 6; face++)
        for (int r = 0; r < 24; r++)
            for (int refined = 0; refined < 4; refined++) {
                pair p;
                pair_create(face, r, refined, r % 2 ? FEM_Q2 : FEM_S2, &p);
                double u[3 * 225], indicator[16];
                fem_estimate_result result;
                assert_true(p.space->num_nodes <= 225);
                for (int32_t i = 0; i < p.space->num_nodes; i++) manufactured_value(p.space->x + 3 * i, u + 3 * i, &p.solution);
                assert_int_equal(fem_estimate(p.space, p.boundary, u, indicator, &result), YOKE_OK);
                assert_true(result.energy_norm > 0.1);
                assert_true(result.relative < 1e-13);
                pair_destroy(&p);
            }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_uniform_block_has_the_faces_of_a_grid),
    cmocka_unit_test(a_refined_element_has_hanging_faces_towards_its_neighbours),
    cmocka_unit_test(a_face_bare_by_a_missing_element_is_a_boundary_face),
    cmocka_unit_test(both_sides_name_the_same_points_for_all_faces_and_rotations),
    cmocka_unit_test(a_global_quadratic_has_no_jumps_for_all_faces_and_rotations),
};

/* Hundreds of tiny meshes: threads would only wait for each other. */
static int start(void **state)
{
    omp_set_num_threads(1);
    return body_start(state);
}

UNIT_MAIN(tests, start, body_end)
