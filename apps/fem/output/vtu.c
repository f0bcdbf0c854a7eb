#include "output/vtu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "output/quantities/principal.h"
#include "space/temperature.h"

#define SLOTS 27

/*
 * Slots in VTK's order of a hexahedron's nodes: corners, edges (bottom, top, vertical), faces (-x +x -y +y -z +z), centre (VTK User's
 * Guide, figures of linear and non-linear cells).
 */
static const int8_t linear_order[8] = {0, 1, 3, 2, 4, 5, 7, 6};
static const int8_t quadratic_order[27] = {0,  2,  8, 6,  18, 20, 26, 24, 1,  5,  7, 3,  19, 23,
                                           25, 21, 9, 11, 17, 15, 12, 14, 10, 16, 4, 22, 13};

/* Points and cells of a file. */
typedef struct layout {
    const fem_vtu *vtu;
    int cell_type, cell_nodes;
    const int8_t *order;   /* [cell_nodes] slots */
    int64_t num_points;    /* the points of the stress, followed by the hanging nodes */
    int64_t *connectivity; /* [num_elements][cell_nodes] */
    int32_t *hanging_slot; /* [number of hanging nodes] element x slots + slot, ascending; few elements have hanging nodes */
    int64_t num_hanging;
    int64_t fields;      /* the fields to be written */
    double *temperature; /* [num_nodes] as given in the case; NULL: not written */
} layout;

/* One data array of the file: its XML attributes, its bytes and how to fill them. */
typedef struct array {
    const char *name, *type, *components_text;
    int64_t bytes;
    void (*fill)(const layout *l, void *out);
} array;

#define FIELDS (FEM_FIELD_MATERIAL + 1)
#define MAX_ARRAYS (4 + FIELDS)

/* ------------------------------------------------------------------------------------------ points and cells */

/* Sets coincident [num_elements][slots] to the point of each slot, -1: none, and counts the slots that hang between nodes. */
static void find_points(layout *l, int32_t *coincident)
{
    const fem_space *points = &l->vtu->stress->points;
    int64_t slots = points->slots, hanging = 0;
    fem_coincident_nodes(points, coincident);
#pragma omp parallel for schedule(static) reduction(+ : hanging)
    for (int32_t e = 0; e < points->num_elements; e++)
        for (int i = 0; i < l->cell_nodes; i++) hanging += coincident[slots * e + l->order[i]] < 0;
    l->num_hanging = hanging;
    l->num_points = points->num_nodes + hanging;
}

static void number_cells(layout *l, const int32_t *coincident)
{
    const fem_space *points = &l->vtu->stress->points;
    int64_t slots = points->slots, hanging = 0;
    for (int64_t e = 0; e < points->num_elements; e++) {
        for (int i = 0; i < l->cell_nodes; i++) {
            int64_t slot = slots * e + l->order[i], point = coincident[slot];
            if (point < 0) {
                l->hanging_slot[hanging] = (int32_t)slot;
                point = points->num_nodes + hanging++;
            }
            l->connectivity[l->cell_nodes * e + i] = point;
        }
    }
}

static void release_layout(layout *l)
{
    yoke_release(l->vtu->space->context, l->connectivity);
    yoke_release(l->vtu->space->context, l->hanging_slot);
    yoke_release(l->vtu->space->context, l->temperature);
}

static yoke_status find_temperature(layout *l)
{
    const fem_space *space = l->vtu->space;
    if (!(l->fields & 1 << FEM_FIELD_TEMPERATURE)) return YOKE_OK;
    yoke_status status = fem_temperature_nodal(space, &l->temperature);
    if (status == YOKE_OK)
        for (int32_t i = 0; i < space->num_nodes; i++) l->temperature[i] += space->problem->temperature.reference;
    return status;
}

/* Returns the requested fields that exist in the problem. */
static int64_t fields_of(const fem_vtu *vtu)
{
    int64_t fields = vtu->fields & ~(int64_t)(vtu->space->components == 3 ? FEM_FIELDS_POISSON : FEM_FIELDS_ELASTICITY);
    return vtu->space->problem->temperature.given ? fields : fields & ~(int64_t)(1 << FEM_FIELD_TEMPERATURE);
}

static yoke_status create_layout(const fem_vtu *vtu, layout *l)
{
    const fem_space *space = vtu->space;
    int64_t elements = space->num_elements;
    *l = (layout){.vtu = vtu, .order = quadratic_order};
    l->fields = fields_of(vtu);
    switch (space->element) {
    case FEM_Q1:
        l->cell_type = 12, l->cell_nodes = 8, l->order = linear_order;
        break;
    case FEM_S2:
        l->cell_type = 25, l->cell_nodes = 20;
        break;
    case FEM_Q2:
        l->cell_type = 29, l->cell_nodes = 27;
        break;
    }
    int32_t *coincident = NULL;
    yoke_status status = find_temperature(l); /* collective, so it precedes allocations that may fail on this rank alone */
    if (status == YOKE_OK) status = yoke_allocate_untouched(space->context, elements * space->slots, sizeof *coincident, &coincident);
    if (status == YOKE_OK) {
        find_points(l, coincident);
        status = yoke_allocate_untouched(space->context, elements * l->cell_nodes, sizeof *l->connectivity, &l->connectivity);
    }
    if (status == YOKE_OK) status = yoke_allocate_untouched(space->context, l->num_hanging, sizeof *l->hanging_slot, &l->hanging_slot);
    if (status == YOKE_OK)
        number_cells(l, coincident);
    else
        release_layout(l);
    yoke_release(space->context, coincident);
    return status;
}

/* ---------------------------------------------------------------------------------------- values of the arrays */

/* Computes a derived quantity at a point from the n values there and the material. */
typedef void derivation(const fem_material *material, const double *value, double *out);

/*
 * Evaluates a field [num_nodes][n] of `space`, which is the solution's space or that of the stress's points, at the hanging points; applies
 * `derive` to the result if given.
 */
static void fill_hanging(const layout *l, const fem_space *space, int n, const double *nodal, int width, derivation *derive, double *out)
{
    double *hanging = out + width * (int64_t)l->vtu->stress->points.num_nodes;
#pragma omp parallel
    {
        double local[SLOTS * FEM_MAX_TENSOR];
        int32_t expanded = -1;
#pragma omp for schedule(static)
        for (int64_t i = 0; i < l->num_hanging; i++) {
            int32_t e = l->hanging_slot[i] / space->slots, slot = l->hanging_slot[i] % space->slots;
            if (e != expanded) fem_space_expand(space, e, n, nodal, local);
            expanded = e;
            if (derive)
                derive(fem_space_material(space, e), local + n * slot, hanging + width * i);
            else
                memcpy(hanging + width * i, local + n * slot, (size_t)n * sizeof *out);
        }
    }
}

static void fill_nodal(const layout *l, int n, const double *nodal, double *out)
{
    const fem_stress *stress = l->vtu->stress;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < stress->points.num_nodes; i++)
        memcpy(out + n * i, nodal + n * (int64_t)stress->node[i], (size_t)n * sizeof *out);
    fill_hanging(l, l->vtu->space, n, nodal, n, NULL, out);
}

static void fill_position(const layout *l, void *out) { fill_nodal(l, 3, l->vtu->space->x, out); }

static void fill_solution(const layout *l, void *out) { fill_nodal(l, l->vtu->space->components, l->vtu->u, out); }

static void fill_gradient(const layout *l, void *out)
{
    const fem_stress *stress = l->vtu->stress;
    memcpy(out, stress->value, (size_t)stress->points.num_nodes * 3 * sizeof *stress->value);
    fill_hanging(l, &stress->points, 3, stress->value, 3, NULL, out);
}

/* Applies `derive` to the stress: `width` numbers at each point. */
static void fill_derived(const layout *l, int width, derivation *derive, double *out)
{
    const fem_stress *stress = l->vtu->stress;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < stress->points.num_nodes; i++)
        derive(&l->vtu->space->problem->materials[stress->material[i]], stress->value + 6 * i, out + width * i);
    fill_hanging(l, &stress->points, 6, stress->value, width, derive, out);
}

/* Changes the order xx yy zz yz xz xy to VTK's xx yy zz xy yz xz. */
static void order_for_vtk(const double tensor[6], double *out)
{
    static const int8_t from[6] = {0, 1, 2, 5, 3, 4};
    for (int c = 0; c < 6; c++) out[c] = tensor[from[c]];
}

static void derive_stress(const fem_material *material, const double *stress, double *out)
{
    (void)material;
    order_for_vtk(stress, out);
}

static void derive_von_mises(const fem_material *material, const double *stress, double *out)
{
    (void)material;
    out[0] = fem_von_mises(stress);
}

static void derive_principal_stress(const fem_material *material, const double *stress, double *out)
{
    (void)material;
    fem_principal(stress, out);
}

static void derive_strain(const fem_material *material, const double *stress, double *out)
{
    double strain[6];
    fem_elastic_strain(material, stress, strain);
    order_for_vtk(strain, out);
}

/* The principal axes are those of the stress, because Hooke's law holds for principal values. */
static void derive_principal_strain(const fem_material *material, const double *stress, double *out)
{
    double principal[6] = {0}, strain[6];
    fem_principal(stress, principal);
    fem_elastic_strain(material, principal, strain);
    memcpy(out, strain, 3 * sizeof *out);
}

static void fill_stress(const layout *l, void *out) { fill_derived(l, 6, derive_stress, out); }
static void fill_von_mises(const layout *l, void *out) { fill_derived(l, 1, derive_von_mises, out); }
static void fill_principal_stress(const layout *l, void *out) { fill_derived(l, 3, derive_principal_stress, out); }
static void fill_strain(const layout *l, void *out) { fill_derived(l, 6, derive_strain, out); }
static void fill_principal_strain(const layout *l, void *out) { fill_derived(l, 3, derive_principal_strain, out); }

static void derive_temperature(const fem_material *material, const double *field, double *out)
{
    out[0] = material->has_temperature ? material->temperature : field[0];
}

static void fill_temperature(const layout *l, void *result)
{
    const fem_stress *stress = l->vtu->stress;
    double *out = result;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < stress->points.num_nodes; i++)
        derive_temperature(&l->vtu->space->problem->materials[stress->material[i]], &l->temperature[stress->node[i]], out + i);
    fill_hanging(l, l->vtu->space, 1, l->temperature, 1, derive_temperature, out);
}

static void fill_connectivity(const layout *l, void *out)
{
    memcpy(out, l->connectivity, (size_t)(l->vtu->space->num_elements * (int64_t)l->cell_nodes) * sizeof *l->connectivity);
}

static void fill_offsets(const layout *l, void *out)
{
    int64_t *offset = out;
    for (int64_t e = 0; e < l->vtu->space->num_elements; e++) offset[e] = (e + 1) * l->cell_nodes;
}

static void fill_types(const layout *l, void *out) { memset(out, l->cell_type, (size_t)l->vtu->space->num_elements); }

static void fill_error(const layout *l, void *out)
{
    double *error = out;
    for (int64_t e = 0; e < l->vtu->space->num_elements; e++) error[e] = l->vtu->indicator ? l->vtu->indicator[e] : NAN;
}

static void fill_part(const layout *l, void *out)
{
    int32_t *part = out;
    for (int64_t e = 0; e < l->vtu->space->num_elements; e++) part[e] = l->vtu->part ? l->vtu->part[e] : 0;
}

static void fill_level(const layout *l, void *out)
{
    int32_t *level = out;
    for (int64_t e = 0; e < l->vtu->space->num_elements; e++) level[e] = l->vtu->space->level[e];
}

static void fill_material(const layout *l, void *out)
{
    int32_t *material = out;
    const fem_space *space = l->vtu->space;
    for (int64_t e = 0; e < space->num_elements; e++) material[e] = space->problem->material_of[space->tree[e]];
}

/* ------------------------------------------------------------------------------------------------- the file */

#define VECTOR "NumberOfComponents=\"3\""
#define XYZ VECTOR " ComponentName0=\"x\" ComponentName1=\"y\" ComponentName2=\"z\""
/* Component names in the order of vtkTensor and of the filters that read symmetric tensors. */
#define SYMMETRIC                                                                                                       \
    "NumberOfComponents=\"6\" ComponentName0=\"xx\" ComponentName1=\"yy\" ComponentName2=\"zz\" ComponentName3=\"xy\" " \
    "ComponentName4=\"yz\" ComponentName5=\"xz\""
#define PRINCIPAL VECTOR " ComponentName0=\"largest\" ComponentName1=\"middle\" ComponentName2=\"smallest\""
#define SCALAR "NumberOfComponents=\"1\""

/* Lists points and cells, then the requested fields, those of points before those of cells.  Returns the number of arrays. */
static int list_arrays(const layout *l, array *arrays, int *num_point_fields)
{
    const fem_space *space = l->vtu->space;
    int64_t points = l->num_points * (int64_t)sizeof(double), cells = space->num_elements;
    const array all[FIELDS] = {
        [FEM_FIELD_DISPLACEMENT] = {"displacement", "Float64", XYZ, 3 * points, fill_solution},
        [FEM_FIELD_STRESS] = {"stress", "Float64", SYMMETRIC, 6 * points, fill_stress},
        [FEM_FIELD_VON_MISES] = {"von_mises", "Float64", SCALAR, points, fill_von_mises},
        [FEM_FIELD_PRINCIPAL_STRESS] = {"principal_stress", "Float64", PRINCIPAL, 3 * points, fill_principal_stress},
        [FEM_FIELD_STRAIN] = {"strain", "Float64", SYMMETRIC, 6 * points, fill_strain},
        [FEM_FIELD_PRINCIPAL_STRAIN] = {"principal_strain", "Float64", PRINCIPAL, 3 * points, fill_principal_strain},
        [FEM_FIELD_TEMPERATURE] = {"temperature", "Float64", SCALAR, points, fill_temperature},
        [FEM_FIELD_VALUE] = {"value", "Float64", SCALAR, points, fill_solution},
        [FEM_FIELD_GRADIENT] = {"gradient", "Float64", XYZ, 3 * points, fill_gradient},
        [FEM_FIELD_ERROR] = {"error", "Float64", SCALAR, cells * (int64_t)sizeof(double), fill_error},
        [FEM_FIELD_PART] = {"part", "Int32", SCALAR, cells * (int64_t)sizeof(int32_t), fill_part},
        [FEM_FIELD_LEVEL] = {"level", "Int32", SCALAR, cells * (int64_t)sizeof(int32_t), fill_level},
        [FEM_FIELD_MATERIAL] = {"material", "Int32", SCALAR, cells * (int64_t)sizeof(int32_t), fill_material},
    };
    int count = 0;
    arrays[count++] = (array){"points", "Float64", VECTOR, 3 * points, fill_position};
    arrays[count++] = (array){"connectivity", "Int64", SCALAR, cells * l->cell_nodes * (int64_t)sizeof(int64_t), fill_connectivity};
    arrays[count++] = (array){"offsets", "Int64", SCALAR, cells * (int64_t)sizeof(int64_t), fill_offsets};
    arrays[count++] = (array){"types", "UInt8", SCALAR, cells, fill_types};
    *num_point_fields = 0;
    for (int i = 0; i < FIELDS; i++) {
        if (!(l->fields & 1 << i)) continue;
        arrays[count++] = all[i];
        *num_point_fields += i < FEM_FIELD_ERROR;
    }
    return count;
}

static void write_tag(FILE *out, const array *a, int64_t *offset)
{
    fprintf(out, "        <DataArray type=\"%s\" Name=\"%s\" %s format=\"appended\" offset=\"%lld\"/>\n", a->type, a->name,
            a->components_text, (long long)*offset);
    *offset += (int64_t)sizeof(uint64_t) + a->bytes;
}

static void write_tags(FILE *out, const array *arrays, int count, const char *section, int64_t *offset)
{
    fprintf(out, "      <%s>\n", section);
    for (int i = 0; i < count; i++) write_tag(out, &arrays[i], offset);
    fprintf(out, "      </%s>\n", section);
}

/* Writes a string as in VTK's XML: the codes of its characters, followed by a zero. */
static void write_text(FILE *out, const char *name, const char *text)
{
    fprintf(out, "      <DataArray type=\"String\" Name=\"%s\" NumberOfTuples=\"1\" format=\"ascii\">", name);
    for (; *text; text++) fprintf(out, "%d ", *text);
    fprintf(out, "0</DataArray>\n");
}

static void write_units(FILE *out, const fem_units *units, bool with_temperature)
{
    if (!units || !units->name[0]) return;
    fprintf(out, "    <FieldData>\n");
    write_text(out, "units", units->name);
    write_text(out, "unit_of_length", units->length);
    write_text(out, "unit_of_stress", units->stress);
    if (with_temperature) write_text(out, "unit_of_temperature", units->temperature);
    fprintf(out, "    </FieldData>\n");
}

static const char *byte_order(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 1 ? "LittleEndian" : "BigEndian";
}

static void write_head(FILE *out, const layout *l, const array *arrays, int count, int num_point_fields)
{
    int64_t offset = 0;
    fprintf(out,
            "<?xml version=\"1.0\"?>\n"
            "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\">\n"
            "  <UnstructuredGrid>\n",
            byte_order());
    write_units(out, l->vtu->units, l->temperature != NULL);
    fprintf(out, "    <Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n", (long long)l->num_points,
            (long long)l->vtu->space->num_elements);
    write_tags(out, arrays, 1, "Points", &offset);
    write_tags(out, arrays + 1, 3, "Cells", &offset);
    write_tags(out, arrays + 4, num_point_fields, "PointData", &offset);
    write_tags(out, arrays + 4 + num_point_fields, count - 4 - num_point_fields, "CellData", &offset);
    fprintf(out, "    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_");
}

/* A failed write sets the error indicator of the stream, which app_file_commit checks. */
static yoke_status write_file(const layout *l, FILE *out)
{
    array arrays[MAX_ARRAYS];
    int num_point_fields, count = list_arrays(l, arrays, &num_point_fields);
    int64_t most = 0;
    for (int i = 0; i < count; i++) most = arrays[i].bytes > most ? arrays[i].bytes : most;
    void *buffer = NULL;
    yoke_status status = yoke_allocate_untouched(l->vtu->space->context, most, 1, &buffer);
    if (status != YOKE_OK) return status;
    write_head(out, l, arrays, count, num_point_fields);
    for (int i = 0; i < count && !ferror(out); i++) {
        uint64_t bytes = (uint64_t)arrays[i].bytes;
        arrays[i].fill(l, buffer);
        fwrite(&bytes, sizeof bytes, 1, out);
        fwrite(buffer, 1, (size_t)bytes, out);
    }
    fprintf(out, "\n  </AppendedData>\n</VTKFile>\n");
    yoke_release(l->vtu->space->context, buffer);
    return YOKE_OK;
}

yoke_status fem_vtu_start(const fem_vtu *vtu, const char *path, app_file **result)
{
    app_file *file = NULL;
    layout l;
    yoke_status status = app_ranks_agree(vtu->space->ranks, app_file_create(vtu->space->context, path, &file));
    if (status != YOKE_OK) {
        app_file_abandon(file);
        return status;
    }
    status = create_layout(vtu, &l);
    if (status == YOKE_OK) {
        status = write_file(&l, app_file_stream(file));
        release_layout(&l);
    }
    if (status == YOKE_OK)
        *result = file;
    else
        app_file_abandon(file);
    return status;
}

/* --------------------------------------------------------------------------------------- pieces of the ranks */

static void write_parallel_tags(FILE *out, const array *arrays, int count, const char *section)
{
    fprintf(out, "    <%s>\n", section);
    for (int i = 0; i < count; i++)
        fprintf(out, "      <PDataArray type=\"%s\" Name=\"%s\" %s/>\n", arrays[i].type, arrays[i].name, arrays[i].components_text);
    fprintf(out, "    </%s>\n", section);
}

yoke_status fem_vtu_write_pieces(const fem_vtu *vtu, const char *path, int step, int count)
{
    array arrays[MAX_ARRAYS];
    app_file *file = NULL;
    int num_point_fields;
    layout l = {.vtu = vtu, .fields = fields_of(vtu)};
    int num_arrays = list_arrays(&l, arrays, &num_point_fields);
    yoke_status status = app_file_create(vtu->space->context, path, &file);
    if (status != YOKE_OK) return status;
    FILE *out = app_file_stream(file);
    fprintf(out,
            "<?xml version=\"1.0\"?>\n"
            "<VTKFile type=\"PUnstructuredGrid\" version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\">\n"
            "  <PUnstructuredGrid GhostLevel=\"0\">\n",
            byte_order());
    write_parallel_tags(out, arrays, 1, "PPoints");
    write_parallel_tags(out, arrays + 4, num_point_fields, "PPointData");
    write_parallel_tags(out, arrays + 4 + num_point_fields, num_arrays - 4 - num_point_fields, "PCellData");
    for (int rank = 0; rank < count; rank++) {
        char name[FEM_VTU_NAME];
        fem_vtu_piece_name(step, rank, name);
        fprintf(out, "    <Piece Source=\"%s\"/>\n", name);
    }
    fprintf(out, "  </PUnstructuredGrid>\n</VTKFile>\n");
    return app_file_commit(file);
}
