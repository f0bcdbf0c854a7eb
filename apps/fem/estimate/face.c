/*
 * face.c - the faces' part of the error estimate: jumps of the traction between leaves, and differences from the given tractions on the
 * boundary.  The contribution of each side of a face is computed by one thread, and written to a place of its own.
 */
#include <math.h>

#include "estimate/private.h"

/* Weights of the squares of a traction's tangential and normal part. */
typedef struct compliance {
    double tangential, normal;
} compliance;

/* Computes the weights from the mean moduli of the elements a and b, which may be the same. */
static compliance mean_compliance(const estimator *self, int32_t a, int32_t b)
{
    const fem_material *p = estimate_material(self, a), *q = estimate_material(self, b);
    return (compliance){2 / (p->mu + q->mu), 2 / (2 * (p->mu + q->mu) + p->lambda + q->lambda)};
}

/* h_F/p of one side, where h_F is the element's extent perpendicular to the face. */
static double face_scale(const estimator *self, int32_t element, int face)
{
    return self->terms.volume[element] / self->terms.area[6 * (int64_t)element + face] / self->degree;
}

static const double *stored_traction(const estimator *self, int32_t element, int face)
{
    return self->terms.traction + (6 * (int64_t)element + face) * self->face_points * self->width;
}

typedef double quad __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double))));

/*
 * Weights of the squares of a jump's components, followed, for elasticity, by that of its normal part.  Where components are prescribed
 * inside the body (mask), the jump is a reaction.  These components are left out, and the rest counts as tangential.
 */
static void jump_weights(unsigned mask, compliance weight, quad *weights)
{
    for (int c = 0; c < 3; c++) (*weights)[c] = mask >> c & 1 ? 0 : weight.tangential;
    (*weights)[3] = mask ? 0 : weight.normal - weight.tangential;
}

/*
 * Returns the sum over the face's points of the squared jump between the tractions a and b.  b belongs to the other side, whose points are
 * turned.
 */
static double jump_over_face(const estimator *self, const double *a, const double *b, int turn, unsigned mask, compliance weight)
{
    const int8_t *turned = self->turned[turn];
    quad weights;
    jump_weights(mask, weight, &weights);
    if (self->width == 1) {
        double sum = 0;
        for (int q = 0; q < self->face_points; q++) sum += (a[q] + b[turned[q]]) * (a[q] + b[turned[q]]);
        return weights[0] * sum;
    }
    quad sum = {0}, sign = {1, 1, 1, -1}; /* the normal has the opposite direction on the other side */
    for (int q = 0; q < self->face_points; q++) {
        quad jump = *(const quad *)(a + 4 * q) + sign * *(const quad *)(b + 4 * turned[q]);
        sum += jump * jump;
    }
    sum *= weights;
    return sum[0] + sum[1] + sum[2] + sum[3];
}

/* Mask of the components that are prescribed on the face between two sides.  A face inside the body may be listed for only one of them. */
static unsigned prescribed_between(const estimator *self, int32_t a, int face_a, int32_t b, int face_b)
{
    return self->prescribed[6 * (int64_t)a + face_a] | self->prescribed[6 * (int64_t)b + face_b];
}

static void full_face_jump(estimator *self, const full_face *face)
{
    int32_t a = face->element[0], b = face->element[1];
    double jump = jump_over_face(self, stored_traction(self, a, face->face[0]), stored_traction(self, b, face->face[1]), face->turn,
                                 prescribed_between(self, a, face->face[0], b, face->face[1]), mean_compliance(self, a, b));
    double value = 0.25 * (face_scale(self, a, face->face[0]) + face_scale(self, b, face->face[1])) * jump;
    self->side[6 * (int64_t)a + face->face[0]] = value;
    self->side[6 * (int64_t)b + face->face[1]] = value;
}

/* coarse: traction of the large side at the points of its quarters. */
static void hanging_face_jump(estimator *self, const hanging_face *face, const double *coarse)
{
    double coarse_scale = face_scale(self, face->coarse, face->coarse_face), sum = 0;
    for (int k = 0; k < 4; k++) {
        int32_t fine = face->fine[k];
        if (fine < 0) continue;
        const double *quarter = coarse + (int64_t)turned_point(2, face->turn, k) * self->face_points * self->width;
        double jump = jump_over_face(self, stored_traction(self, fine, face->fine_face), quarter, face->turn,
                                     prescribed_between(self, fine, face->fine_face, face->coarse, face->coarse_face),
                                     mean_compliance(self, fine, face->coarse));
        double value = 0.25 * (face_scale(self, fine, face->fine_face) + coarse_scale) * jump;
        self->side[6 * (int64_t)fine + face->fine_face] = value;
        sum += value;
    }
    self->side[6 * (int64_t)face->coarse + face->coarse_face] = sum;
}

/* At most as many faces as the kernels process at once. */
static void hanging_jumps(estimator *self, int64_t begin, int64_t end)
{
    double coarse[FEM_MAX_LANES * 4 * MAX_FACE_POINTS * 4];
    fem_element_face sides[FEM_MAX_LANES] = {{0, 0}};
    int count = (int)(end - begin);
    for (int i = 0; i < count; i++)
        sides[i] = (fem_element_face){self->faces.hanging[begin + i].coarse, self->faces.hanging[begin + i].coarse_face};
    self->kernels.quarters(&self->data.solution, count, sides, coarse);
    for (int i = 0; i < count; i++)
        hanging_face_jump(self, &self->faces.hanging[begin + i], coarse + (int64_t)i * 4 * self->face_points * self->width);
}

/* The conditions with loads on each boundary face: those of face i are condition[first[i]] .. condition[first[i + 1] - 1]. */
typedef struct face_loads {
    int32_t *first;
    int32_t *condition;
} face_loads;

/*
 * Returns the weighted square of the difference between the given tractions and the traction at a point: its tangential and normal parts.
 */
static double rest_square(const estimator *self, const fem_face_traction *point, unsigned mask, compliance weight, const int32_t *condition,
                          int32_t count)
{
    const fem_problem *problem = self->space->problem;
    double rest[3], square = 0, along = 0;
    for (int c = 0; c < self->components; c++) rest[c] = -point->traction[c];
    for (int32_t i = 0; i < count; i++) {
        double given[3];
        fem_condition_traction(problem, self->boundary, condition[i], point->x, point->normal, given);
        for (int c = 0; c < self->components; c++) rest[c] += given[c];
    }
    for (int c = 0; c < self->components; c++) {
        if (mask >> c & 1) rest[c] = 0;
        square += rest[c] * rest[c];
        along += rest[c] * point->normal[c];
    }
    if (self->components == 1) along = 0;
    return weight.tangential * (square - along * along) + weight.normal * along * along;
}

/* Faces with given tractions or with some but not all components prescribed; at most as many as the kernels process at once. */
static void loaded_faces(estimator *self, const face_loads *loads, const int32_t *chosen, int count)
{
    fem_face_traction points[FEM_MAX_LANES * MAX_FACE_POINTS];
    fem_element_face sides[FEM_MAX_LANES] = {{0, 0}};
    const double *w = self->data.solution.weight;
    int n = self->space->slots_1d;
    for (int i = 0; i < count; i++)
        sides[i] = (fem_element_face){self->faces.boundary[chosen[i]].element, self->faces.boundary[chosen[i]].face};
    self->kernels.points(&self->data.solution, count, sides, points);
    for (int i = 0; i < count; i++) {
        int64_t at = 6 * (int64_t)sides[i].element + sides[i].face;
        int32_t first = loads->first[chosen[i]], end = loads->first[chosen[i] + 1];
        compliance weight = mean_compliance(self, sides[i].element, sides[i].element);
        double sum = 0;
        for (int q = 0; q < self->face_points; q++) {
            const fem_face_traction *point = &points[i * self->face_points + q];
            sum += point->area * w[q % n] * w[q / n] *
                   rest_square(self, point, self->prescribed[at], weight, loads->condition + first, end - first);
        }
        self->side[at] = face_scale(self, sides[i].element, sides[i].face) * sum;
    }
}

/* A face without a given traction: the difference is the element's own traction. */
static void free_face(estimator *self, const boundary_face *face)
{
    static const double nothing[MAX_FACE_POINTS * 4];
    double jump = jump_over_face(self, stored_traction(self, face->element, face->face), nothing, 0, 0,
                                 mean_compliance(self, face->element, face->element));
    self->side[6 * (int64_t)face->element + face->face] = face_scale(self, face->element, face->face) * jump;
}

/* Processes the faces that are free or wholly prescribed, and lists the others; returns the number of these. */
static int32_t simple_faces(estimator *self, const face_loads *loads, int32_t *chosen)
{
    const unsigned all = (1U << self->components) - 1;
    int32_t count = 0;
    for (int64_t i = 0; i < self->faces.num_boundary; i++) {
        const boundary_face *face = &self->faces.boundary[i];
        int64_t at = 6 * (int64_t)face->element + face->face;
        if ((self->prescribed[at] & all) == all)
            self->side[at] = 0;
        else if (self->prescribed[at] == 0 && loads->first[i + 1] == loads->first[i])
            free_face(self, face);
        else
            chosen[count++] = (int32_t)i;
    }
    return count;
}

static int is_load(const estimator *self, int condition)
{
    const fem_condition *c = &self->space->problem->conditions[condition];
    return c->kind != FEM_DIRICHLET && self->space->problem->mesh->groups[c->group].dimension == 2;
}

/*
 * One pass over the faces of the loads that are on the boundary.  If condition is NULL, counts them in first[face + 1]; otherwise writes
 * their conditions.
 */
static void collect_loads(const estimator *self, const int32_t *face_of, int32_t *first, int32_t *condition)
{
    for (int c = 0; c < self->space->problem->num_conditions; c++) {
        if (!is_load(self, c)) continue;
        for (int64_t i = self->boundary->first[c]; i < self->boundary->first[c + 1]; i++) {
            int32_t face = face_of[6 * (int64_t)self->boundary->element[i] + self->boundary->local[i]];
            if (face < 0) continue;
            if (condition)
                condition[first[face]++] = c;
            else
                first[face + 1]++;
        }
    }
}

static yoke_status face_loads_create(const estimator *self, face_loads *loads)
{
    yoke_context *context = self->space->context;
    const face_lists *faces = &self->faces;
    int64_t sides = 6 * (int64_t)self->space->num_elements;
    int32_t *face_of = NULL;
    yoke_status status = yoke_allocate_untouched(context, sides, sizeof *face_of, &face_of);
    if (!status) status = yoke_allocate(context, faces->num_boundary + 1, sizeof *loads->first, &loads->first);
    if (!status) {
        for (int64_t i = 0; i < sides; i++) face_of[i] = -1;
        for (int64_t i = 0; i < faces->num_boundary; i++)
            face_of[6 * (int64_t)faces->boundary[i].element + faces->boundary[i].face] = (int32_t)i;
        collect_loads(self, face_of, loads->first, NULL);
        for (int64_t i = 0; i < faces->num_boundary; i++) loads->first[i + 1] += loads->first[i];
        status = yoke_allocate(context, loads->first[faces->num_boundary], sizeof *loads->condition, &loads->condition);
    }
    if (!status) {
        collect_loads(self, face_of, loads->first, loads->condition);
        for (int64_t i = faces->num_boundary; i > 0; i--) loads->first[i] = loads->first[i - 1]; /* writing has advanced them */
        loads->first[0] = 0;
    }
    yoke_release(context, face_of);
    return status;
}

static void compute_sides(estimator *self, const face_loads *loads, const int32_t *chosen, int32_t count)
{
    const face_lists *faces = &self->faces;
    int lanes = self->lanes;
#pragma omp parallel
    {
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < faces->num_full; i++) full_face_jump(self, &faces->full[i]);
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < faces->num_hanging; i += lanes)
            hanging_jumps(self, i, faces->num_hanging - i < lanes ? faces->num_hanging : i + lanes);
#pragma omp for schedule(static)
        for (int32_t i = 0; i < count; i += lanes) loaded_faces(self, loads, chosen + i, count - i < lanes ? count - i : lanes);
    }
}

yoke_status estimate_faces(estimator *self)
{
    yoke_context *context = self->space->context;
    face_loads loads = {NULL, NULL};
    int32_t *chosen = NULL;
    yoke_status status = yoke_allocate_untouched(context, self->faces.num_boundary, sizeof *chosen, &chosen);
    if (!status) status = face_loads_create(self, &loads);
    if (!status) compute_sides(self, &loads, chosen, simple_faces(self, &loads, chosen));
    yoke_release(context, chosen);
    yoke_release(context, loads.first);
    yoke_release(context, loads.condition);
    return status;
}
