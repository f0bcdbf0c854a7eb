#include "operator/packed.h"

#include <string.h>

#include "mesh/shape.h"
#include "operator/hanging.h"
#include "space/temperature.h"

static void fill_tables(int n, fem_packed_solution *solution)
{
    int stride[3] = {1, n, n * n};
    for (int face = 0; face < 6; face++) {
        int slots[9];
        fem_face_slots(n, face, slots);
        for (int s = 0; s < n * n * n; s++)
            solution->inward[face][s] = (int8_t)(slots[s % (n * n)] + s / (n * n) * stride[face / 2] * (face % 2 ? -1 : 1));
    }
    double point[3], two[2], unused[2];
    fem_gauss(n, point, solution->weight);
    fem_gauss(2, two, unused);
    fem_shape_1d(n, 0, NULL, solution->end, NULL);
    for (int q = 0; q < n; q++) {
        fem_shape_1d(n, point[q], solution->value[FEM_WHOLE_POINTS + q], solution->first[FEM_WHOLE_POINTS + q], NULL);
        for (int half = 0; half < 2; half++) {
            int at = FEM_HALF_POINTS + half * n + q;
            fem_shape_1d(n, 0.5 * (half + point[q]), solution->value[at], solution->first[at], NULL);
        }
    }
    for (int q = 0; q < 2; q++) fem_shape_1d(n, two[q], solution->value[FEM_TWO_POINTS + q], solution->first[FEM_TWO_POINTS + q], NULL);
}

static void pack_nodes(const fem_space *space, const double *u, const double *temperature, double *packed)
{
    int components = space->components;
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < space->num_nodes; i++) {
        double *to = packed + (int64_t)FEM_PACKED * i;
        for (int a = 0; a < 3; a++) to[a] = space->x[3 * (int64_t)i + a];
        for (int a = 3; a < FEM_PACKED; a++) to[a] = a - 3 < components ? u[(int64_t)components * i + a - 3] : 0;
        if (temperature) to[FEM_PACKED_TEMPERATURE] = temperature[i];
    }
}

yoke_status fem_packed_create(const fem_space *space, const double *u, int32_t ghosts, fem_packed *data)
{
    yoke_context *context = space->context;
    int64_t total = (int64_t)space->num_elements + ghosts;
    *data = (fem_packed){.context = context};
    yoke_status status = yoke_allocate(context, FEM_FACE_CODES, sizeof *data->hanging, &data->hanging);
    if (!status) status = yoke_allocate_untouched(context, (int64_t)FEM_PACKED * space->num_nodes, sizeof *data->packed, &data->packed);
    if (!status)
        status = yoke_allocate_untouched(context, (int64_t)FEM_PACKED * space->slots * ghosts, sizeof *data->ghosts, &data->ghosts);
    if (!status) status = yoke_allocate_untouched(context, total, sizeof *data->material, &data->material);
    status = app_ranks_agree(space->ranks, status);
    if (!status) status = fem_temperature_nodal(space, &data->temperature);
    if (status) return status;
    fem_hanging_decode(space->slots_1d, data->hanging);
    pack_nodes(space, u, data->temperature, data->packed);
    for (int32_t e = 0; e < space->num_elements; e++) data->material[e] = space->problem->material_of[space->tree[e]];
    data->solution = (fem_packed_solution){.slots_1d = space->slots_1d,
                                           .components = space->components,

                                           .thermal = data->temperature != NULL,
                                           .serendipity = space->element == FEM_S2,
                                           .num_elements = space->num_elements,
                                           .num_total = (int32_t)total,
                                           .element_nodes = space->element_nodes,
                                           .face_code = space->face_code,
                                           .hanging = data->hanging,
                                           .packed = data->packed,
                                           .ghosts = data->ghosts,
                                           .material = data->material,
                                           .materials = space->problem->materials,
                                           .fields = &space->problem->fields,
                                           .rotation = space->problem->rotation.square > 0 ? &space->problem->rotation : NULL};
    fill_tables(space->slots_1d, &data->solution);
    return YOKE_OK;
}

void fem_packed_destroy(fem_packed *data)
{
    yoke_release(data->context, data->hanging);
    yoke_release(data->context, data->temperature);
    yoke_release(data->context, data->packed);
    yoke_release(data->context, data->ghosts);
    yoke_release(data->context, data->material);
}

void fem_packed_expand(const fem_packed *data, const fem_space *space, const double *u, int32_t e, double *local)
{
    int components = space->components, slots = space->slots;
    double x[3 * FEM_MAX_SLOTS], v[3 * FEM_MAX_SLOTS], t[FEM_MAX_SLOTS];
    fem_space_geometry(space, e, x);
    fem_space_expand(space, e, components, u, v);
    if (data->temperature) fem_space_expand(space, e, 1, data->temperature, t);
    memset(local, 0, sizeof *local * (size_t)(FEM_PACKED * slots));
    for (int s = 0; s < slots; s++) {
        for (int a = 0; a < 3; a++) local[FEM_PACKED * s + a] = x[3 * s + a];
        for (int a = 0; a < components; a++) local[FEM_PACKED * s + 3 + a] = v[components * s + a];
        if (data->temperature) local[FEM_PACKED * s + FEM_PACKED_TEMPERATURE] = t[s];
    }
}
