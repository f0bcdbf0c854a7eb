#include "output/inspection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/shape.h"
#include "output/quantities/reaction.h"
#include "output/quantities/singularity.h"

static void find_box(const fem_space *space, fem_inspection *inspection)
{
    for (int a = 0; a < 3; a++) inspection->low[a] = INFINITY, inspection->high[a] = -INFINITY;
    for (int64_t i = 0; i < space->num_nodes; i++) {
        for (int a = 0; a < 3; a++) {
            inspection->low[a] = fmin(inspection->low[a], space->x[3 * i + a]);
            inspection->high[a] = fmax(inspection->high[a], space->x[3 * i + a]);
        }
    }
    for (int a = 0; a < 3; a++) inspection->low[a] = -inspection->low[a];
    app_ranks_max(space->ranks, inspection->low, 3);
    app_ranks_max(space->ranks, inspection->high, 3);
    for (int a = 0; a < 3; a++) inspection->low[a] = -inspection->low[a];
}

/* Uses as many Gauss points along each axis as there are slots, which is exact for the determinant of the map. */
static void add_volumes(const fem_space *space, double *volume)
{
    int n = space->slots_1d;
    double point[3], weight[3];
    fem_gauss(n, point, weight);
    for (int32_t e = 0; e < space->num_elements; e++) {
        double x[27 * 3], gradient[27 * 3], sum = 0;
        fem_space_geometry(space, e, x);
        for (int q = 0; q < n * n * n; q++) {
            int i = q % n, j = q / n % n, k = q / (n * n);
            const double r[3] = {point[i], point[j], point[k]};
            fem_shape(n, r, NULL, gradient, NULL);
            sum += weight[i] * weight[j] * weight[k] * fem_map(space->slots, x, gradient, NULL, NULL);
        }
        volume[space->problem->material_of[space->tree[e]]] += sum;
    }
    app_ranks_sum(space->ranks, volume, space->problem->num_materials);
}

/* Computes the areas of all face groups, as the areas of one condition for each group. */
static yoke_status add_areas(const fem_space *space, fem_inspection *inspection)
{
    const fem_mesh *mesh = space->problem->mesh;
    fem_problem problem = *space->problem;
    fem_space of_groups = *space;
    fem_boundary *boundary = NULL;
    fem_condition *conditions = NULL;
    uint8_t *shared = NULL;
    yoke_status status = yoke_allocate(space->context, mesh->num_groups, sizeof *conditions, &conditions);
    if (!status) status = fem_shared_faces(mesh, &shared);
    of_groups.problem = &problem;
    problem.conditions = conditions;
    problem.num_conditions = 0;
    for (int g = 0; !status && g < mesh->num_groups; g++)
        if (mesh->groups[g].dimension == 2) conditions[problem.num_conditions++] = (fem_condition){.kind = FEM_TRACTION, .group = g};
    status = app_ranks_agree(space->ranks, status);
    if (!status) status = fem_boundary_create(&of_groups, &boundary);
    for (int c = 0; !status && c < problem.num_conditions; c++) {
        for (int64_t i = boundary->first[c]; !status && i < boundary->first[c + 1]; i++) {
            double area = 0;
            status = fem_members_area(&of_groups, boundary, i, i + 1, &area);
            int listed_twice = shared[space->tree[boundary->element[i]]] >> boundary->local[i] & 1;
            inspection->area[conditions[c].group] += listed_twice ? area / 2 : area;
        }
    }
    status = app_ranks_agree(space->ranks, status);
    if (!status) app_ranks_sum(space->ranks, inspection->area, mesh->num_groups);
    fem_boundary_destroy(boundary);
    yoke_release(space->context, conditions);
    yoke_release(space->context, shared);
    return status;
}

static yoke_status add_loads(const fem_space *space, fem_inspection *inspection)
{
    fem_boundary *boundary = NULL;
    double *load = NULL;
    yoke_status status = fem_boundary_create(space, &boundary);
    if (!status) status = yoke_allocate(space->context, (int64_t)space->num_nodes * space->components, sizeof *load, &load);
    status = app_ranks_agree(space->ranks, status);
    if (!status) status = fem_space_load(space, boundary, load);
    if (!status) fem_resultant(space, load, inspection->force, inspection->moment);
    yoke_release(space->context, load);
    fem_boundary_destroy(boundary);
    return status;
}

yoke_status fem_inspect(const fem_case *input, const fem_space *space, fem_inspection *inspection)
{
    const fem_problem *problem = space->problem;
    const fem_case_refine *refine = &input->keys.refine;
    *inspection = (fem_inspection){.context = space->context, .input = input, .problem = problem, .elements = space->num_global_elements};
    inspection->dofs = space->num_global_nodes * space->components;
    inspection->memory_bytes = fem_case_memory_bytes(input, (double)space->num_global_elements);
    inspection->most_memory_bytes = refine->steps.value ? fem_case_memory_bytes(input, (double)refine->max_elements.value) : NAN;
    yoke_status status = yoke_allocate(space->context, problem->num_materials, sizeof(double), &inspection->volume);
    if (!status) status = yoke_allocate(space->context, problem->mesh->num_groups, sizeof(double), &inspection->area);
    status = app_ranks_agree(space->ranks, status);
    if (!status) {
        find_box(space, inspection);
        add_volumes(space, inspection->volume);
        status = add_areas(space, inspection);
    }
    if (!status) status = add_loads(space, inspection);
    if (status) fem_inspection_release(inspection);
    return status;
}

void fem_inspection_release(fem_inspection *inspection)
{
    yoke_release(inspection->context, inspection->volume);
    yoke_release(inspection->context, inspection->area);
    inspection->volume = inspection->area = NULL;
}

/* ------------------------------------------------------------------------------------------------- text */

static void print_materials(const fem_inspection *i, FILE *out)
{
    const fem_units *units = &i->input->units;
    double volume = 0, mass = 0;
    for (int m = 0; m < i->problem->num_materials; m++) {
        const fem_material *material = &i->problem->materials[m];
        fprintf(out, "volume %-20s %12.6g%s%s", i->problem->mesh->groups[material->group].name, i->volume[m],
                FEM_UNIT_AFTER(units->volume));
        if (!isnan(material->density)) fprintf(out, ", mass %.6g%s%s", i->volume[m] * material->density, FEM_UNIT_AFTER(units->mass));
        fprintf(out, "\n");
        volume += i->volume[m];
        mass += i->volume[m] * material->density;
    }
    fprintf(out, "volume %-20s %12.6g%s%s", "(all)", volume, FEM_UNIT_AFTER(units->volume));
    if (!isnan(mass)) fprintf(out, ", mass %.6g%s%s", mass, FEM_UNIT_AFTER(units->mass));
    fprintf(out, "\n");
}

static void print_all(const fem_inspection *i, double machine_bytes, FILE *out)
{
    const fem_units *units = &i->input->units;
    const fem_mesh *mesh = i->problem->mesh;
    fprintf(out, "bounding box   (%.6g, %.6g, %.6g) to (%.6g, %.6g, %.6g)%s%s\n", i->low[0], i->low[1], i->low[2], i->high[0], i->high[1],
            i->high[2], FEM_UNIT_AFTER(units->length));
    print_materials(i, out);
    for (int g = 0; g < mesh->num_groups; g++)
        if (mesh->groups[g].dimension == 2)
            fprintf(out, "face   %-20s %12.6g%s%s\n", mesh->groups[g].name, i->area[g], FEM_UNIT_AFTER(units->area));
    if (i->problem->components == 1)
        fprintf(out, "total load     %.6g%s%s\n", i->force[0], FEM_UNIT_AFTER(units->power));
    else
        fprintf(out, "total load     force (%.6g, %.6g, %.6g)%s%s, moment about the origin (%.6g, %.6g, %.6g)%s%s\n", i->force[0],
                i->force[1], i->force[2], FEM_UNIT_AFTER(units->force), i->moment[0], i->moment[1], i->moment[2],
                FEM_UNIT_AFTER(units->moment));
    fprintf(out, "first solve    %lld elements, %lld dofs, about %.2g GB of memory; this machine has %.3g GB\n", (long long)i->elements,
            (long long)i->dofs, i->memory_bytes / 1e9, machine_bytes / 1e9);
    if (!isnan(i->most_memory_bytes))
        fprintf(out, "last solve     at most %lld elements (refine.max_elements), about %.2g GB\n",
                (long long)i->input->keys.refine.max_elements.value, i->most_memory_bytes / 1e9);
}

yoke_status fem_inspection_text(const fem_inspection *inspection, double memory_bytes, char **text)
{
    char *made = NULL, *copy = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&made, &bytes);
    if (!out) return yoke_fail(inspection->context, YOKE_ERROR_MEMORY, "out of memory for the report of --check");
    print_all(inspection, memory_bytes, out);
    yoke_status status = fclose(out) == 0 ? yoke_allocate(inspection->context, (int64_t)bytes + 1, 1, &copy)
                                          : yoke_fail(inspection->context, YOKE_ERROR_MEMORY, "out of memory for the report of --check");
    if (!status) {
        memcpy(copy, made, bytes);
        *text = copy;
    }
    free(made);
    return status;
}
