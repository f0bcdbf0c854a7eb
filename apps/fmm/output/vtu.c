#include "output/vtu.h"

#include <string.h>

enum { ARRAYS = 8, CELL_VERTEX = 1 };

/* Appended arrays, in the file's order.  They are filled one after the other in the same memory. */
typedef struct array {
    const char *section, *name, *type;
    int components, size; /* bytes of a value */
    void (*fill)(const fmm_particles *particles, const fmm_field *field, void *out);
} array;

static void fill_position(const fmm_particles *p, const fmm_field *field, void *out)
{
    double *to = out;
    (void)field;
    for (int64_t i = 0; i < p->count; i++) to[3 * i] = p->x[i], to[3 * i + 1] = p->y[i], to[3 * i + 2] = p->z[i];
}

static void fill_connectivity(const fmm_particles *p, const fmm_field *field, void *out)
{
    int64_t *to = out;
    (void)field;
    for (int64_t i = 0; i < p->count; i++) to[i] = i;
}

static void fill_offsets(const fmm_particles *p, const fmm_field *field, void *out)
{
    int64_t *to = out;
    (void)field;
    for (int64_t i = 0; i < p->count; i++) to[i] = i + 1;
}

static void fill_types(const fmm_particles *p, const fmm_field *field, void *out)
{
    (void)field;
    memset(out, CELL_VERTEX, (size_t)p->count);
}

static void fill_charge(const fmm_particles *p, const fmm_field *field, void *out)
{
    (void)field;
    memcpy(out, p->charge, (size_t)p->count * sizeof(double));
}

static void fill_potential(const fmm_particles *p, const fmm_field *field, void *out)
{
    memcpy(out, field->potential, (size_t)p->count * sizeof(double));
}

static void fill_force(const fmm_particles *p, const fmm_field *field, void *out)
{
    double *to = out;
    for (int64_t i = 0; i < p->count; i++) fmm_field_force(p, field, i, to + 3 * i);
}

static void fill_gradient(const fmm_particles *p, const fmm_field *field, void *out)
{
    double *to = out;
    for (int64_t i = 0; i < p->count; i++) to[3 * i] = field->gx[i], to[3 * i + 1] = field->gy[i], to[3 * i + 2] = field->gz[i];
}

static const array arrays[ARRAYS] = {
    {"Points", "Points", "Float64", 3, 8, fill_position},  {"Cells", "connectivity", "Int64", 1, 8, fill_connectivity},
    {"Cells", "offsets", "Int64", 1, 8, fill_offsets},     {"Cells", "types", "UInt8", 1, 1, fill_types},
    {"PointData", "charge", "Float64", 1, 8, fill_charge}, {"PointData", "potential", "Float64", 1, 8, fill_potential},
    {"PointData", "force", "Float64", 3, 8, fill_force},   {"PointData", "gradient", "Float64", 3, 8, fill_gradient},
};

static int64_t bytes_of(const array *a, int64_t count) { return count * a->components * a->size; }

static void print_head(FILE *out, int64_t count, int used)
{
    static const uint16_t one = 1;
    int64_t offset = 0;
    fprintf(out,
            "<?xml version=\"1.0\"?>\n"
            "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\">\n"
            "  <UnstructuredGrid>\n    <Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n",
            *(const char *)&one ? "LittleEndian" : "BigEndian", (long long)count, (long long)count);
    for (int a = 0; a < used; a++) {
        if (a == 0 || strcmp(arrays[a].section, arrays[a - 1].section)) fprintf(out, "      <%s>\n", arrays[a].section);
        fprintf(out, "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%lld\"/>\n",
                arrays[a].type, arrays[a].name, arrays[a].components, (long long)offset);
        if (a + 1 == used || strcmp(arrays[a].section, arrays[a + 1].section)) fprintf(out, "      </%s>\n", arrays[a].section);
        offset += (int64_t)sizeof(uint64_t) + bytes_of(&arrays[a], count);
    }
    fprintf(out, "    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_");
}

yoke_status fmm_vtu_print(FILE *out, const fmm_particles *particles, const fmm_field *field, bool gradient)
{
    int used = !field ? ARRAYS - 3 : !field->gx ? ARRAYS - 2 : gradient ? ARRAYS : ARRAYS - 1;
    char *values = NULL;
    yoke_status status = yoke_allocate_untouched(particles->context, 3 * particles->count, sizeof(double), &values);
    if (status) return status;
    print_head(out, particles->count, used);
    for (int a = 0; a < used; a++) {
        uint64_t bytes = (uint64_t)bytes_of(&arrays[a], particles->count);
        arrays[a].fill(particles, field, values);
        fwrite(&bytes, sizeof bytes, 1, out);
        fwrite(values, 1, (size_t)bytes, out);
    }
    fprintf(out, "\n  </AppendedData>\n</VTKFile>\n");
    yoke_release(particles->context, values);
    return YOKE_OK;
}
