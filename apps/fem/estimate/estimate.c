#include "estimate/estimate.h"

#include <math.h>

#include "estimate/private.h"
#include "space/temperature.h"

/* Stresses below this fraction of those of constrained thermal strains count as zero. */
#define FREE_EXPANSION 1e-4

/* C of each element type; docs/methods/estimator.md describes how it was measured. */
static double calibration(fem_element element) { return element == FEM_Q1 ? 0.33 : 0.38; }

static int32_t mirror_element(const estimator *self, int64_t mirror)
{
    return p8est_quadrant_array_index(&self->ghost->mirrors, (size_t)mirror)->p.piggy3.local_num;
}

/*
 * Sends positions and solution of the leaves at the border of the rank, and the prescribed components of their faces, to the ranks that
 * have these leaves as ghosts.  status: that of the steps before, on which the ranks agree here.
 */
static yoke_status exchange_ghosts(estimator *self, yoke_status status)
{
    const fem_space *space = self->space;
    const int32_t own = space->num_elements;
    int64_t mirrors = (int64_t)self->ghost->mirrors.elem_count, size = (int64_t)space->slots * FEM_PACKED;
    double *data = NULL;
    void **at = NULL;
    if (!status) status = yoke_allocate_untouched(space->context, mirrors * size, sizeof *data, &data);
    if (!status) status = yoke_allocate_untouched(space->context, mirrors, sizeof *at, &at);
    status = app_ranks_agree(space->ranks, status);
    for (int64_t i = 0; !status && i < mirrors; i++) {
        at[i] = data + i * size;
        fem_packed_expand(&self->data, space, self->u, mirror_element(self, i), at[i]);
    }
    if (!status) p8est_ghost_exchange_custom(space->forest->p8est, self->ghost, (size_t)size * sizeof *data, at, self->data.ghosts);
    for (int64_t i = 0; !status && i < mirrors; i++) at[i] = self->prescribed + 6 * (int64_t)mirror_element(self, i);
    if (!status) p8est_ghost_exchange_custom(space->forest->p8est, self->ghost, 6, at, self->prescribed + 6 * (int64_t)own);
    for (int32_t i = 0; !status && i < self->num_total - own; i++)
        self->data.material[own + i] =
            space->problem->material_of[p8est_quadrant_array_index(&self->ghost->ghosts, (size_t)i)->p.piggy3.which_tree];
    yoke_release(space->context, data);
    yoke_release(space->context, at);
    return status;
}

static yoke_status allocate_arrays(estimator *self)
{
    yoke_context *c = self->space->context;
    int64_t total = self->num_total;
    fem_element_terms *terms = &self->terms;
    yoke_status status = yoke_allocate_untouched(c, total, sizeof(double), &terms->volume);
    if (!status) status = yoke_allocate_untouched(c, total, sizeof(double), &terms->residual);
    if (!status) status = yoke_allocate_untouched(c, total, sizeof(double), &terms->energy);
    if (!status) status = yoke_allocate_untouched(c, 6 * total, sizeof(double), &terms->area);
    if (!status) status = yoke_allocate_untouched(c, 6 * total * self->face_points * self->width, sizeof(double), &terms->traction);
    if (!status) status = yoke_allocate_untouched(c, 6 * total, sizeof(double), &self->side);
    if (!status) status = yoke_allocate_untouched(c, self->space->num_elements, sizeof(double), &self->square);
    if (!status) status = yoke_allocate(c, 6 * total, 1, &self->prescribed);
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

/*
 * Computes the elements' terms, and finds the faces at the same time.  p8est finds them on a single thread, which takes as long as all
 * threads together take for a quarter of the elements.
 */
static void find_terms_and_faces(estimator *self)
{
    int32_t total = self->num_total, chunk = 16 * self->lanes;
#pragma omp parallel
    {
#pragma omp single nowait
        face_lists_fill(self->space, self->ghost, &self->faces);
#pragma omp for schedule(dynamic)
        for (int32_t begin = 0; begin < total; begin += chunk)
            self->kernels.terms(&self->data.solution, begin, total - begin < chunk ? total : begin + chunk, &self->terms);
    }
}

/* Computes the square of each indicator: the element's residual, then its faces in their order. */
static void sum_squares(estimator *self)
{
#pragma omp parallel for schedule(static)
    for (int32_t e = 0; e < self->space->num_elements; e++) {
        const fem_material *material = estimate_material(self, e);
        double h = cbrt(self->terms.volume[e]) / self->degree, mu = material->mu;
        double square = h * h * self->terms.residual[e] / (self->components == 1 ? mu : sqrt(mu * (2 * mu + material->lambda)));
        for (int face = 0; face < 6; face++) square += self->side[6 * (int64_t)e + face];
        self->square[e] = square;
    }
}

/* Checks the energy first, because jumps spread values that are not finite to the neighbours' squares. */
static yoke_status fail_at_element(const estimator *self)
{
    const fem_space *space = self->space;
    int32_t e = 0;
    while (e < space->num_elements && isfinite(self->terms.energy[e])) e++;
    if (e == space->num_elements) {
        e = 0;
        while (e < space->num_elements && isfinite(self->square[e])) e++;
    }
    if (e == space->num_elements)
        return yoke_fail(space->context, YOKE_ERROR_NUMERIC,
                         "the error estimate overflows double precision: check the units of loads and moduli");
    return yoke_fail(
        space->context, YOKE_ERROR_NUMERIC,
        "the error estimate of leaf %lld, in element %lld of the mesh, is not a finite number: nor is the solution there, a load or "
        "a modulus",
        (long long)(space->first_element + e), (long long)space->problem->mesh->element_tag[space->tree[e]]);
}

/* The integral of eps_T : D eps_T with each element's mean temperature: the energy if all thermal strains were constrained. */
static double thermal_energy(const estimator *self)
{
    const fem_space *space = self->space;
    double sum = 0;
    for (int32_t e = 0; e < space->num_elements && self->data.temperature; e++) {
        const fem_material *material = estimate_material(self, e);
        double t[FEM_MAX_SLOTS], mean = 0;
        fem_space_expand(space, e, 1, self->data.temperature, t);
        for (int s = 0; s < space->slots; s++) mean += t[s] / space->slots;
        double strain = fem_thermal_strain(material, mean);
        sum += self->terms.volume[e] * 3 * fem_thermal_modulus(material) * strain * strain;
    }
    return sum;
}

static yoke_status finish(const estimator *self, double *indicator, fem_estimate_result *result)
{
    app_ranks *ranks = self->space->ranks;
    double constant = calibration(self->space->element), all[3] = {0, 0, thermal_energy(self)};
    for (int32_t e = 0; e < self->space->num_elements; e++) {
        indicator[e] = constant * sqrt(self->square[e]);
        all[0] += self->square[e];
        all[1] += self->terms.energy[e];
    }
    /* The rank that has the element reports it. */
    yoke_status status = app_ranks_agree(ranks, isfinite(all[0]) && isfinite(all[1]) ? YOKE_OK : fail_at_element(self));
    if (status) return status;
    app_ranks_sum(ranks, all, 3);
    if (!isfinite(all[0]) || !isfinite(all[1])) return app_ranks_agree(ranks, fail_at_element(self));
    result->estimate = constant * sqrt(all[0]);
    result->energy_norm = sqrt(all[1]);
    result->relative = all[0] > 0 ? result->estimate / fmax(result->energy_norm, FREE_EXPANSION * sqrt(all[2])) : 0;
    return YOKE_OK;
}

static void estimator_destroy(estimator *self)
{
    yoke_context *c = self->space->context;
    void *arrays[] = {self->terms.volume,   self->terms.residual, self->terms.energy, self->terms.area,
                      self->terms.traction, self->side,           self->square,       self->prescribed};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yoke_release(c, arrays[i]);
    face_lists_destroy(c, &self->faces);
    fem_packed_destroy(&self->data);
    p8est_ghost_destroy(self->ghost);
}

static void choose_kernels(estimator *self)
{
    const fem_derivative_kernels *kernels = fem_kernels_select()->derivatives;
    int n = self->space->slots_1d;
    self->lanes = kernels->lanes;
    self->kernels = *fem_derivative_select(kernels, &self->data.solution);
    for (int turn = 0; turn < TURNS; turn++)
        for (int q = 0; q < n * n; q++) self->turned[turn][q] = (int8_t)turned_point(n, turn, q);
}

yoke_status fem_estimate(const fem_space *space, const fem_boundary *boundary, const double *u, double *indicator,
                         fem_estimate_result *result)
{
    estimator self = {.space = space, .boundary = boundary, .u = u, .data.context = space->context};
    self.degree = space->slots_1d - 1;
    self.components = space->components;
    self.face_points = space->slots_1d * space->slots_1d;
    self.width = space->components == 3 ? 4 : 1;
    self.ghost = p8est_ghost_new(space->forest->p8est, P8EST_CONNECT_FACE);
    self.num_total = space->num_elements + (int32_t)self.ghost->ghosts.elem_count;
    yoke_status status = allocate_arrays(&self);
    if (!status) status = face_lists_allocate(space, &self.faces);
    status = app_ranks_agree(space->ranks, status);
    if (!status) status = fem_packed_create(space, u, (int32_t)self.ghost->ghosts.elem_count, &self.data);
    if (!status) find_prescribed(&self);
    status = exchange_ghosts(&self, status);
    if (!status) {
        choose_kernels(&self);
        find_terms_and_faces(&self);
        status = app_ranks_agree(space->ranks, estimate_faces(&self));
    }
    if (!status) {
        sum_squares(&self);
        status = finish(&self, indicator, result);
    }
    estimator_destroy(&self);
    return status;
}
