#include "estimate.h"

#include <math.h>
#include <string.h>

#include "estimate_parts.h"
#include "shape.h"

/* C of each element type; docs/methods-estimator.md says how they were measured. */
static double calibration(fem_element element) { return element == FEM_Q1 ? 0.33 : 0.38; }

const fem_material *estimate_material(const estimator *self, int32_t element)
{
    const fem_problem *problem = self->space->problem;
    if (element < self->space->num_elements) return fem_space_material(self->space, element);
    const p8est_quadrant_t *leaf = p8est_quadrant_array_index(&self->ghost->ghosts, (size_t)(element - self->space->num_elements));
    return &problem->materials[problem->material_of[leaf->p.piggy3.which_tree]];
}

void estimate_local(const estimator *self, int32_t element, double local[MOST_SLOTS][FIELDS])
{
    const fem_space *space = self->space;
    int components = self->components, slots = space->slots;
    double x[3 * MOST_SLOTS], u[3 * MOST_SLOTS];
    if (element < space->num_elements) {
        fem_space_geometry(space, element, x);
        fem_space_expand(space, element, components, self->u, u);
    } else {
        const double *from = self->ghost_local + (int64_t)(element - space->num_elements) * slots * (3 + components);
        memcpy(x, from, sizeof *x * (size_t)(3 * slots));
        memcpy(u, from + 3 * slots, sizeof *u * (size_t)(components * slots));
    }
    for (int s = 0; s < slots; s++) {
        for (int a = 0; a < 3; a++) local[s][a] = x[3 * s + a];
        for (int f = 3; f < FIELDS; f++) local[s][f] = f - 3 < components ? u[components * s + f - 3] : 0;
    }
}

static void fill_face_tables(estimate_tables *t, const double *point, int face)
{
    int n = t->n, slots = n * n * n;
    for (int q = 0; q < n * n; q++) {
        double r[3], gradient[3 * MOST_SLOTS], s = point[q % n], u = point[q / n];
        fem_face_point(face, s, u, r);
        fem_shape(n, r, t->face_value[face][q], gradient, NULL);
        for (int i = 0; i < 3 * slots; i++) t->face_gradient[face][q][i % 3][i / 3] = gradient[i];
        for (int k = 0; k < 4; k++) {
            fem_face_point(face, 0.5 * (s + (k & 1)), 0.5 * (u + (k >> 1)), r);
            fem_shape(n, r, NULL, gradient, NULL);
            for (int i = 0; i < 3 * slots; i++) t->quarter_gradient[face][k][q][i % 3][i / 3] = gradient[i];
        }
    }
}

static void fill_tables(int n, estimate_tables *t)
{
    double point[3];
    t->n = n;
    fem_gauss(n, point, t->weight);
    for (int q = 0; q < n; q++) fem_shape_1d(n, point[q], t->value[q], t->first[q], t->second[q]);
    for (int side = 0; side < 2; side++) fem_shape_1d(n, side, NULL, t->end[side], NULL);
    for (int face = 0; face < 6; face++) fill_face_tables(t, point, face);
}

/* Sends positions and solution of the leaves at the border to the ranks that have them as ghosts. */
static yoke_status exchange_ghosts(estimator *self)
{
    const fem_space *space = self->space;
    int64_t mirrors = (int64_t)self->ghost->mirrors.elem_count, ghosts = (int64_t)self->ghost->ghosts.elem_count;
    int64_t size = (int64_t)space->slots * (3 + self->components);
    double *data = NULL;
    void **at = NULL;
    yoke_status status = yoke_allocate_untouched(space->context, mirrors * size, sizeof *data, (void **)&data);
    if (!status) status = yoke_allocate_untouched(space->context, mirrors, sizeof *at, (void **)&at);
    if (!status) status = yoke_allocate_untouched(space->context, ghosts * size, sizeof *data, (void **)&self->ghost_local);
    if (!status) {
        for (int64_t i = 0; i < mirrors; i++) {
            int32_t e = p8est_quadrant_array_index(&self->ghost->mirrors, (size_t)i)->p.piggy3.local_num;
            at[i] = data + i * size;
            fem_space_geometry(space, e, data + i * size);
            fem_space_expand(space, e, self->components, self->u, data + i * size + 3 * space->slots);
        }
        p8est_ghost_exchange_custom(space->forest->p8est, self->ghost, (size_t)size * sizeof *data, at, self->ghost_local);
    }
    yoke_release(space->context, data);
    yoke_release(space->context, at);
    return status;
}

static yoke_status allocate_arrays(estimator *self)
{
    yoke_context *c = self->space->context;
    int64_t total = self->num_total, leaves = self->space->num_elements;
    yoke_status status = yoke_allocate(c, 1, sizeof *self->tables, (void **)&self->tables);
    if (!status) status = yoke_allocate_untouched(c, total, sizeof(double), (void **)&self->volume);
    if (!status) status = yoke_allocate_untouched(c, 6 * total, sizeof(double), (void **)&self->area);
    if (!status) status = yoke_allocate_untouched(c, 6 * total * self->face_points * self->width, sizeof(double), (void **)&self->traction);
    if (!status) status = yoke_allocate_untouched(c, leaves, sizeof(double), (void **)&self->square);
    if (!status) status = yoke_allocate_untouched(c, leaves, sizeof(double), (void **)&self->energy);
    if (!status) status = yoke_allocate(c, 6 * total, 1, (void **)&self->prescribed);
    return status;
}

static void find_prescribed(estimator *self)
{
    const fem_problem *problem = self->space->problem;
    for (int c = 0; c < problem->num_conditions; c++) {
        const fem_condition *condition = &problem->conditions[c];
        if (condition->kind != FEM_DIRICHLET || problem->mesh->groups[condition->group].dimension != 2) continue;
        for (int64_t i = self->boundary->first[c]; i < self->boundary->first[c + 1]; i++)
            self->prescribed[6 * (int64_t)self->boundary->element[i] + self->boundary->local[i]] |= (uint8_t)condition->mask;
    }
}

/* The energy is looked at first: jumps carry what is not finite into the neighbours' squares. */
static yoke_status fail_at_element(const estimator *self)
{
    const fem_space *space = self->space;
    int32_t e = 0;
    while (e < space->num_elements && isfinite(self->energy[e])) e++;
    if (e == space->num_elements) {
        e = 0;
        while (e < space->num_elements && isfinite(self->square[e])) e++;
    }
    if (e == space->num_elements) return yoke_fail(space->context, YOKE_ERROR_NUMERIC, "the error estimate is beyond the numbers' range");
    return yoke_fail(
        space->context, YOKE_ERROR_NUMERIC,
        "the error estimate of leaf %d, in element %lld of the mesh, is not a finite number: nor is the solution there, a load or "
        "a modulus",
        e, (long long)space->problem->mesh->element_tag[space->tree[e]]);
}

static yoke_status finish(const estimator *self, double *indicator, fem_estimate_result *result)
{
    double constant = calibration(self->space->element), sum[2] = {0, 0}, all[2];
    for (int32_t e = 0; e < self->space->num_elements; e++) {
        indicator[e] = constant * sqrt(self->square[e]);
        sum[0] += self->square[e];
        sum[1] += self->energy[e];
    }
    sc_MPI_Allreduce(sum, all, 2, sc_MPI_DOUBLE, sc_MPI_SUM, self->space->forest->p8est->mpicomm);
    if (!isfinite(all[0]) || !isfinite(all[1])) return fail_at_element(self);
    result->estimate = constant * sqrt(all[0]);
    result->energy_norm = sqrt(all[1]);
    result->relative = all[0] > 0 ? result->estimate / result->energy_norm : 0;
    return YOKE_OK;
}

static void estimator_destroy(estimator *self)
{
    yoke_context *c = self->space->context;
    void *arrays[] = {self->tables,   self->ghost_local, self->volume, self->area,
                      self->traction, self->square,      self->energy, self->prescribed};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yoke_release(c, arrays[i]);
    face_lists_destroy(c, &self->faces);
    p8est_ghost_destroy(self->ghost);
}

yoke_status fem_estimate(const fem_space *space, const fem_boundary *boundary, const double *u, double *indicator,
                         fem_estimate_result *result)
{
    estimator self = {.space = space, .boundary = boundary, .u = u};
    self.degree = space->slots_1d - 1;
    self.components = space->components;
    self.face_points = space->slots_1d * space->slots_1d;
    self.width = space->components == 3 ? 4 : 1;
    self.ghost = p8est_ghost_new(space->forest->p8est, P8EST_CONNECT_FACE);
    self.num_total = space->num_elements + (int32_t)self.ghost->ghosts.elem_count;
    yoke_status status = allocate_arrays(&self);
    if (!status) status = face_lists_create(space, self.ghost, &self.faces);
    if (!status) status = exchange_ghosts(&self);
    if (!status) {
        fill_tables(space->slots_1d, self.tables);
        find_prescribed(&self);
        estimate_elements(&self);
        status = estimate_faces(&self);
    }
    if (!status) status = finish(&self, indicator, result);
    estimator_destroy(&self);
    return status;
}
