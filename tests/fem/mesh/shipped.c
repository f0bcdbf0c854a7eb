/* The meshes that ship: they are read, and they are the bodies that their names say. */
#include <math.h>

#include "fem/fixtures/mesh_files.h"
#include "mesh/private.h"
#include "mesh/shape.h"

#define PI 3.14159265358979323846

/* A curved group: its nodes lie at `radius` around a point (sphere) or around an axis through it along z. */
typedef struct curved {
    const char *group;
    int sphere;
    double centre[2], radius; /* a sphere's centre is the origin */
} curved;

static double volume_of(const fem_mesh *mesh)
{
    int n = mesh->order + 1, slots = n * n * n;
    double point[5], weight[5], volume = 0;
    fem_gauss(5, point, weight);
    for (int64_t e = 0; e < mesh->num_elements; e++)
        for (int q = 0; q < 125; q++) {
            const double r[3] = {point[q % 5], point[q / 5 % 5], point[q / 25]};
            double gradient[81], jacobian[3][3], inverse[3][3];
            fem_shape(n, r, NULL, gradient, NULL);
            volume += fem_map(slots, mesh->geometry + 3 * slots * e, gradient, jacobian, inverse) * weight[q % 5] * weight[q / 5 % 5] *
                      weight[q / 25];
        }
    return volume;
}

/* Each face of the boundary is in exactly one face group; a group inside the body is listed from both sides. */
static void check_boundary(const fem_mesh *mesh)
{
    fem_faces faces;
    assert_int_equal(fem_faces_create(mesh, &faces), YOKE_OK);
    int *groups = calloc((size_t)(6 * mesh->num_elements), sizeof *groups);
    for (int g = 0; g < mesh->num_groups; g++)
        for (int64_t i = 0; mesh->groups[g].dimension == 2 && i < mesh->groups[g].count; i++)
            groups[6 * mesh->groups[g].element[i] + mesh->groups[g].local[i]]++;
    for (int64_t i = 0; i < faces.count; i++) {
        const fem_face *face = &faces.face[i];
        if (face->element[1] < 0)
            assert_int_equal(groups[6 * face->element[0] + face->local[0]], 1);
        else
            assert_int_equal(groups[6 * face->element[0] + face->local[0]], groups[6 * face->element[1] + face->local[1]]);
    }
    free(groups);
    fem_faces_clear(mesh->context, &faces);
}

/* The outward or inward radius vector of a point. */
static void radius_vector(const curved *surface, const double x[3], double out[3])
{
    out[0] = x[0] - surface->centre[0];
    out[1] = x[1] - surface->centre[1];
    out[2] = surface->sphere ? x[2] : 0;
}

static double length_of(const double a[3]) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

/* Degrees between the mapped face's normal and the true one at face coordinates (s, t). */
static double normal_error(const fem_mesh *mesh, const curved *surface, int64_t element, int face, double s, double t)
{
    int n = mesh->order + 1, slots = n * n * n;
    double r[3], value[27], gradient[81], jacobian[3][3], inverse[3][3], x[3] = {0}, radial[3];
    fem_face_point(face, s, t, r);
    fem_shape(n, r, value, gradient, NULL);
    const double *geometry = mesh->geometry + 3 * slots * element;
    assert_true(fem_map(slots, geometry, gradient, jacobian, inverse) > 0);
    for (int slot = 0; slot < slots; slot++)
        for (int i = 0; i < 3; i++) x[i] += value[slot] * geometry[3 * slot + i];
    radius_vector(surface, x, radial);
    const double *normal = inverse[face / 2]; /* the gradient of the reference coordinate that is constant on the face */
    double cross[3] = {normal[1] * radial[2] - normal[2] * radial[1], normal[2] * radial[0] - normal[0] * radial[2],
                       normal[0] * radial[1] - normal[1] * radial[0]};
    return asin(fmin(1, length_of(cross) / (length_of(normal) * length_of(radial)))) * 180 / PI;
}

/* Nodes on the surface; normals so near the true ones that between elements they jump by less than 0.2 degrees. */
static void check_curved(const fem_mesh *mesh, const curved *surface)
{
    int n = mesh->order + 1, group = fem_mesh_find_group(mesh, 2, surface->group);
    assert_int_equal(mesh->order, 2);
    assert_true(group >= 0);
    const fem_group *faces = &mesh->groups[group];
    for (int64_t i = 0; i < faces->count; i++) {
        int slots[9];
        fem_face_slots(n, faces->local[i], slots);
        for (int k = 0; k < 9; k++) {
            double radial[3];
            radius_vector(surface, mesh->geometry + 3 * (27 * (int64_t)faces->element[i] + slots[k]), radial);
            assert_true(fabs(length_of(radial) - surface->radius) < 1e-10 * surface->radius);
            assert_true(normal_error(mesh, surface, faces->element[i], faces->local[i], k % 3 / 2.0, k / 3 / 2.0) < 0.1);
        }
    }
}

/* Elements, vertices and volume of a shipped mesh; volume_error: what its elements' arcs leave of the true volume. */
static fem_mesh *check_mesh(const mesh_files *files, const char *file, int64_t elements, double volume, double volume_error)
{
    char path[128];
    snprintf(path, sizeof path, "examples/meshes/%s.msh", file);
    fem_mesh *mesh = must_read(files, shipped_path(path));
    assert_int_equal(mesh->num_elements, elements);
    assert_true(fabs(volume_of(mesh) - volume) <= volume_error * volume);
    check_boundary(mesh);
    for (int64_t e = 0; e < mesh->num_elements; e++) assert_true(mesh->volume[e] >= 0);
    return mesh;
}

static void check_groups(const fem_mesh *mesh, int dimension, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (fem_mesh_find_group(mesh, dimension, names[i]) < 0) fail_msg("no group '%s' of dimension %d", names[i], dimension);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Nodes of the q2 element on the coarse mesh. */
static int64_t count_q2_nodes(const fem_mesh *mesh)
{
    int64_t nodes = 0, count = 27 * mesh->num_elements;
    for (int64_t i = 0; i < count; i++) {
        int64_t k = 0;
        while (k < i && (fabs(mesh->geometry[3 * i] - mesh->geometry[3 * k]) > 1e-9 ||
                         fabs(mesh->geometry[3 * i + 1] - mesh->geometry[3 * k + 1]) > 1e-9 ||
                         fabs(mesh->geometry[3 * i + 2] - mesh->geometry[3 * k + 2]) > 1e-9))
            k++;
        nodes += k == i;
    }
    return nodes;
}

static void drill_hole(void **state)
{
    const double r = 0.025;
    fem_mesh *mesh = check_mesh(*state, "drill-hole", 120, (0.15 * 0.1 - PI / 4 * r * r) * 0.025, 1e-6);
    check_groups(mesh, 3, NAMES("steel"));
    check_groups(mesh, 2, NAMES("symmetry-x", "symmetry-y", "symmetry-z", "loaded", "bore", "free"));
    check_curved(mesh, &(curved){"bore", 0, {0, 0}, r});
    assert_true(3 * count_q2_nodes(mesh) < 5000);
    fem_mesh_destroy(mesh);
}

static void plate_with_hole(void **state)
{
    fem_mesh *mesh = check_mesh(*state, "plate-with-hole", 80, (0.2 * 0.2 - PI / 4 * 1e-4) * 0.015, 1e-6);
    check_groups(mesh, 2, NAMES("symmetry-x", "symmetry-y", "bottom", "top", "loaded", "hole", "free"));
    check_curved(mesh, &(curved){"hole", 0, {0, 0}, 0.01});
    fem_mesh_destroy(mesh);
}

static void lame_cylinder(void **state)
{
    fem_mesh *mesh = check_mesh(*state, "lame", 32, PI / 4 * 3 * 0.5, 1e-5);
    check_groups(mesh, 2, NAMES("symmetry-x", "symmetry-y", "bottom", "top", "inner", "outer"));
    check_curved(mesh, &(curved){"inner", 0, {0, 0}, 1});
    check_curved(mesh, &(curved){"outer", 0, {0, 0}, 2});
    fem_mesh_destroy(mesh);
}

static void solid_cylinder_of_20_node_elements(void **state)
{
    fem_mesh *mesh = check_mesh(*state, "cylinder", 1280, PI * 0.01 * 0.3, 1e-5);
    check_groups(mesh, 2, NAMES("bottom", "top", "mantle"));
    check_curved(mesh, &(curved){"mantle", 0, {0, 0}, 0.1});
    fem_mesh_destroy(mesh);
}

static void crankshaft(void **state)
{
    const double h = 0.04, web = 2 * 0.025 * (4 * h * h + h * h * (PI / 2 - 1));
    const double volume = 2 * 0.05 * PI / 2 * 0.03 * 0.03 + 0.05 * PI / 2 * 0.025 * 0.025 + web;
    fem_mesh *mesh = check_mesh(*state, "crankshaft", 1824, volume, 1e-5);
    check_groups(mesh, 2,
                 NAMES("bearing-left", "bearing-right", "end-left", "end-right", "pin-load", "pin-free", "symmetry-x", "web-round",
                       "web-side", "web-face"));
    check_curved(mesh, &(curved){"bearing-left", 0, {0, 0}, 0.03});
    check_curved(mesh, &(curved){"bearing-right", 0, {0, 0}, 0.03});
    check_curved(mesh, &(curved){"pin-load", 0, {0, 0.08}, 0.025});
    check_curved(mesh, &(curved){"pin-free", 0, {0, 0.08}, 0.025});
    fem_mesh_destroy(mesh);
}

static void hollow_sphere(void **state)
{
    fem_mesh *mesh = check_mesh(*state, "hollow-sphere", 192, PI / 6 * 7, 1e-4);
    check_groups(mesh, 2, NAMES("symmetry-x", "symmetry-y", "symmetry-z", "inner", "outer"));
    check_curved(mesh, &(curved){"inner", 1, {0, 0}, 1});
    check_curved(mesh, &(curved){"outer", 1, {0, 0}, 2});
    fem_mesh_destroy(mesh);
}

static void sphere_cavity(void **state)
{
    fem_mesh *mesh = check_mesh(*state, "sphere-cavity", 336, 1e-3 - PI / 6 * 1e-6, 1e-6);
    check_groups(mesh, 2, NAMES("symmetry-x", "symmetry-y", "symmetry-z", "loaded", "cavity", "free"));
    check_curved(mesh, &(curved){"cavity", 1, {0, 0}, 0.01});
    fem_mesh_destroy(mesh);
}

static void fichera_corner(void **state)
{
    fem_mesh *mesh = check_mesh(*state, "fichera", 7, 7, 1e-12);
    assert_int_equal(mesh->order, 1);
    assert_int_equal(mesh->num_vertices, 26);
    check_groups(mesh, 2, NAMES("x-min", "x-max", "y-min", "y-max", "z-min", "z-max", "reentrant"));
    assert_int_equal(mesh->groups[fem_mesh_find_group(mesh, 2, "reentrant")].count, 3);
    fem_mesh_destroy(mesh);
}

static void cantilever(void **state)
{
    fem_mesh *mesh = check_mesh(*state, "cantilever", 80, 0.01, 1e-12);
    assert_int_equal(mesh->order, 1);
    check_groups(mesh, 2, NAMES("clamped", "tip", "bottom", "top", "left", "right"));
    check_groups(mesh, 1, NAMES("clamped-bottom", "clamped-left"));
    check_groups(mesh, 0, NAMES("origin", "clamped-right-bottom", "clamped-left-top"));
    fem_mesh_destroy(mesh);
}

static void two_materials(void **state)
{
    fem_mesh *mesh = check_mesh(*state, "two-materials", 32, 0.04, 1e-9);
    check_groups(mesh, 3, NAMES("steel", "aluminium"));
    check_groups(mesh, 2, NAMES("clamped", "loaded", "interface", "symmetry-y", "symmetry-z", "free"));
    assert_int_equal(mesh->groups[fem_mesh_find_group(mesh, 2, "interface")].count, 8); /* 4 faces from both sides */
    fem_mesh_destroy(mesh);
}

/* Nodes of a face group on the ellipse with the half axes a, b along x, y. */
static void check_elliptic(const fem_mesh *mesh, const char *name, double a, double b)
{
    const fem_group *faces = &mesh->groups[fem_mesh_find_group(mesh, 2, name)];
    for (int64_t i = 0; i < faces->count; i++) {
        int slots[9];
        fem_face_slots(3, faces->local[i], slots);
        for (int k = 0; k < 9; k++) {
            const double *x = mesh->geometry + 3 * (27 * (int64_t)faces->element[i] + slots[k]);
            assert_true(fabs(x[0] / a * (x[0] / a) + x[1] / b * (x[1] / b) - 1) < 1e-9);
        }
    }
}

/* Between the ellipses of the NAFEMS benchmarks LE1 and LE10. */
static void elliptic_plate(const mesh_files *files, const char *name, int64_t elements, double height)
{
    fem_mesh *mesh = check_mesh(files, name, elements, PI / 4 * (3.25 * 2.75 - 2) * height, 1e-5);
    check_groups(mesh, 2, NAMES("symmetry-x", "symmetry-y", "top", "inner", "outer"));
    check_elliptic(mesh, "inner", 2, 1);
    check_elliptic(mesh, "outer", 3.25, 2.75);
    fem_mesh_destroy(mesh);
}

static void nafems_le1(void **state) { elliptic_plate(*state, "le1", 60, 0.05); }
static void nafems_le10(void **state) { elliptic_plate(*state, "le10", 100, 0.6); }

/* Sections at height z are rings: the sphere's has the area 0.96 pi, the bore the radius sin 45, the taper narrows from the sphere's to 1. */
static void nafems_le11(void **state)
{
    const double s = sqrt(0.5), wide = sqrt(1.4 * 1.4 - 0.5);
    const double volume = PI / 4 * (0.96 * s + 0.69 * ((wide * wide + wide + 1) / 3 - 0.5) + 0.4 * 0.5);
    fem_mesh *mesh = check_mesh(*state, "le11", 240, volume, 1e-5);
    check_groups(mesh, 2, NAMES("symmetry-x", "symmetry-y", "bottom", "top", "inner", "sphere", "taper", "cylinder"));
    check_curved(mesh, &(curved){"sphere", 1, {0, 0}, 1.4});
    check_curved(mesh, &(curved){"cylinder", 0, {0, 0}, 1});
    fem_mesh_destroy(mesh);
}

static const struct CMUnitTest tests[] = {
    MESH_TEST(drill_hole),  MESH_TEST(plate_with_hole), MESH_TEST(lame_cylinder), MESH_TEST(solid_cylinder_of_20_node_elements),
    MESH_TEST(crankshaft),  MESH_TEST(hollow_sphere),   MESH_TEST(sphere_cavity), MESH_TEST(fichera_corner),
    MESH_TEST(cantilever),  MESH_TEST(two_materials),   MESH_TEST(nafems_le1),    MESH_TEST(nafems_le10),
    MESH_TEST(nafems_le11),
};

UNIT_MAIN(tests, NULL, NULL)
