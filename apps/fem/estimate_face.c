/*
 * The faces' part of the error estimate: jumps of the traction between leaves, and what the given tractions leave on the boundary.  Each
 * face has its value computed by one thread; the values are added to the elements in a fixed order.
 */
#include <math.h>
#include <string.h>

#include "estimate_parts.h"

/* Weights of the squares of a traction's tangential and normal part. */
typedef struct compliance {
    double tangential, normal;
} compliance;

/* Of the mean moduli of two sides, which may be the same. */
static compliance mean_compliance(const estimator *self, int32_t a, int32_t b)
{
    const fem_material *p = estimate_material(self, a), *q = estimate_material(self, b);
    return (compliance){2 / (p->mu + q->mu), 2 / (2 * (p->mu + q->mu) + p->lambda + q->lambda)};
}

/* h_F/p of one side: the element's extent across the face. */
static double face_scale(const estimator *self, int32_t element, int face)
{
    return self->volume[element] / self->area[6 * (int64_t)element + face] / self->degree;
}

static const double *stored_traction(const estimator *self, int32_t element, int face)
{
    return self->traction + (6 * (int64_t)element + face) * self->face_points * self->width;
}

/*
 * Weighted square of a jump [components], and for elasticity its normal part after it.  Where components are prescribed inside the body
 * (mask), the jump is a reaction: they are left out, and the rest counts as tangential.
 */
static double jump_square(int components, const double *jump, unsigned mask, compliance weight)
{
    if (components == 1) return mask & 1 ? 0 : weight.tangential * jump[0] * jump[0];
    double square = 0, normal = mask ? 0 : jump[3] * jump[3];
    for (int c = 0; c < 3; c++)
        if (!(mask >> c & 1)) square += jump[c] * jump[c];
    return weight.tangential * (square - normal) + weight.normal * normal;
}

/* The sum over the face's points of the jump between tractions a and b, the latter of the other side with its points turned. */
static double jump_over_face(const estimator *self, const double *a, const double *b, int turn, unsigned mask, compliance weight)
{
    int n = self->tables->n, width = self->width;
    double sum = 0;
    for (int q = 0; q < self->face_points; q++) {
        const double *p = a + q * width, *r = b + turned_point(n, turn, q) * width;
        double jump[4];
        for (int c = 0; c < width; c++) jump[c] = p[c] + r[c];
        if (width == 4) jump[3] = p[3] - r[3]; /* the normal is the opposite one on the other side */
        sum += jump_square(self->components, jump, mask, weight);
    }
    return sum;
}

/* Mask of the components that are prescribed on the face between two sides: one of them may be a ghost, of which that is not known. */
static unsigned prescribed_between(const estimator *self, int32_t a, int face_a, int32_t b, int face_b)
{
    return self->prescribed[6 * (int64_t)a + face_a] | self->prescribed[6 * (int64_t)b + face_b];
}

static double full_value(const estimator *self, const full_face *face)
{
    int32_t a = face->element[0], b = face->element[1];
    double jump = jump_over_face(self, stored_traction(self, a, face->face[0]), stored_traction(self, b, face->face[1]), face->turn,
                                 prescribed_between(self, a, face->face[0], b, face->face[1]), mean_compliance(self, a, b));
    return 0.25 * (face_scale(self, a, face->face[0]) + face_scale(self, b, face->face[1])) * jump;
}

/* What a face point has: outer area vector (normal times area element), traction times area element. */
typedef struct face_point {
    double area[3], traction[3];
} face_point;

static face_point point_traction(int components, int slots, const fem_material *material, int face, const double gradient[3][MOST_SLOTS],
                                 double local[MOST_SLOTS][FIELDS])
{
    double d[3][FIELDS] = {{0}}, cofactor[3][3], g[3][3];
    face_point point = {{0}, {0}};
    for (int j = 0; j < 3; j++)
        for (int s = 0; s < slots; s++)
            for (int f = 0; f < FIELDS; f++) d[j][f] += gradient[j][s] * local[s][f];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) {
            const double *p = d[(j + 1) % 3], *q = d[(j + 2) % 3];
            cofactor[j][i] = p[(i + 1) % 3] * q[(i + 2) % 3] - p[(i + 2) % 3] * q[(i + 1) % 3];
        }
    double scale = 1 / (d[0][0] * cofactor[0][0] + d[0][1] * cofactor[0][1] + d[0][2] * cofactor[0][2]);
    for (int i = 0; i < 3; i++) point.area[i] = (face % 2 ? 1 : -1) * cofactor[face / 2][i];
    for (int c = 0; c < components; c++)
        for (int i = 0; i < 3; i++)
            g[c][i] = scale * (d[0][3 + c] * cofactor[0][i] + d[1][3 + c] * cofactor[1][i] + d[2][3 + c] * cofactor[2][i]);
    double pressure = components == 1 ? 0 : material->lambda * (g[0][0] + g[1][1] + g[2][2]);
    for (int c = 0; c < components; c++) {
        point.traction[c] = components == 1 ? 0 : pressure * point.area[c];
        for (int i = 0; i < 3; i++) point.traction[c] += material->mu * (g[c][i] + (components == 1 ? 0 : g[i][c])) * point.area[i];
    }
    return point;
}

/* value [4]: by quarter of the fine side. */
static void hanging_values(const estimator *self, const hanging_face *face, double value[4])
{
    const estimate_tables *t = self->tables;
    const fem_material *material = estimate_material(self, face->coarse);
    double local[MOST_SLOTS][FIELDS], coarse[MOST_FACE_POINTS * 4], coarse_scale = face_scale(self, face->coarse, face->coarse_face);
    estimate_local(self, face->coarse, local);
    for (int k = 0; k < 4; k++) {
        int quarter = turned_point(2, face->turn, k);
        int32_t fine = face->fine[k];
        value[k] = 0;
        if (fine < 0) continue;
        for (int q = 0; q < self->face_points; q++) {
            double *out = coarse + q * self->width;
            face_point point = point_traction(self->components, self->space->slots, material, face->coarse_face,
                                              t->quarter_gradient[face->coarse_face][quarter][q], local);
            double size = sqrt(point.area[0] * point.area[0] + point.area[1] * point.area[1] + point.area[2] * point.area[2]);
            double weight = 0.25 * t->weight[q % t->n] * t->weight[q / t->n], normal = 0;
            for (int c = 0; c < self->components; c++) {
                out[c] = point.traction[c] * sqrt(weight / size);
                normal += out[c] * point.area[c] / size;
            }
            if (self->components == 3) out[3] = normal;
        }
        double jump = jump_over_face(self, stored_traction(self, fine, face->fine_face), coarse, face->turn,
                                     prescribed_between(self, fine, face->fine_face, face->coarse, face->coarse_face),
                                     mean_compliance(self, fine, face->coarse));
        value[k] = 0.25 * (face_scale(self, fine, face->fine_face) + coarse_scale) * jump;
    }
}

/* The conditions with loads on each boundary face: those of face i are condition[first[i]] .. condition[first[i + 1] - 1]. */
typedef struct face_loads {
    int32_t *first;
    int32_t *condition;
} face_loads;

static double boundary_value(const estimator *self, const boundary_face *face, const int32_t *condition, int32_t count)
{
    const estimate_tables *t = self->tables;
    const fem_problem *problem = self->space->problem;
    int64_t at = 6 * (int64_t)face->element + face->face;
    compliance weight = mean_compliance(self, face->element, face->element);
    double local[MOST_SLOTS][FIELDS], sum = 0;
    estimate_local(self, face->element, local);
    for (int q = 0; q < self->face_points; q++) {
        face_point point = point_traction(self->components, self->space->slots, estimate_material(self, face->element), face->face,
                                          t->face_gradient[face->face][q], local);
        double size = sqrt(point.area[0] * point.area[0] + point.area[1] * point.area[1] + point.area[2] * point.area[2]);
        double x[3] = {0, 0, 0}, normal[3], rest[3], square = 0, along = 0;
        for (int i = 0; i < 3; i++) {
            normal[i] = point.area[i] / size;
            for (int s = 0; s < self->space->slots; s++) x[i] += t->face_value[face->face][q][s] * local[s][i];
        }
        for (int c = 0; c < self->components; c++) rest[c] = -point.traction[c] / size;
        for (int32_t i = 0; i < count; i++) {
            double given[3];
            fem_condition_traction(problem, &problem->conditions[condition[i]], x, normal, given);
            for (int c = 0; c < self->components; c++) rest[c] += given[c];
        }
        for (int c = 0; c < self->components; c++) {
            if (self->prescribed[at] >> c & 1) rest[c] = 0;
            square += rest[c] * rest[c];
            along += rest[c] * normal[c];
        }
        if (self->components == 1) along = 0;
        sum += size * t->weight[q % t->n] * t->weight[q / t->n] *
               (weight.tangential * (square - along * along) + weight.normal * along * along);
    }
    return face_scale(self, face->element, face->face) * sum;
}

static int is_load(const estimator *self, int condition)
{
    const fem_condition *c = &self->space->problem->conditions[condition];
    return c->kind != FEM_DIRICHLET && self->space->problem->mesh->groups[c->group].dimension == 2;
}

/* One pass over the loads' faces that are on the boundary; counts them at first[face + 1], or, where condition is not NULL, writes them. */
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
    yoke_status status = yoke_allocate_untouched(context, sides, sizeof *face_of, (void **)&face_of);
    if (!status) status = yoke_allocate(context, faces->num_boundary + 1, sizeof *loads->first, (void **)&loads->first);
    if (!status) {
        for (int64_t i = 0; i < sides; i++) face_of[i] = -1;
        for (int64_t i = 0; i < faces->num_boundary; i++)
            face_of[6 * (int64_t)faces->boundary[i].element + faces->boundary[i].face] = (int32_t)i;
        collect_loads(self, face_of, loads->first, NULL);
        for (int64_t i = 0; i < faces->num_boundary; i++) loads->first[i + 1] += loads->first[i];
        status = yoke_allocate(context, loads->first[faces->num_boundary], sizeof *loads->condition, (void **)&loads->condition);
    }
    if (!status) {
        collect_loads(self, face_of, loads->first, loads->condition);
        for (int64_t i = faces->num_boundary; i > 0; i--) loads->first[i] = loads->first[i - 1]; /* writing has moved them on */
        loads->first[0] = 0;
    }
    yoke_release(context, face_of);
    return status;
}

/* Adds to an element's square, if it is a leaf of this rank. */
static void add_square(estimator *self, int32_t element, double value)
{
    if (element < self->space->num_elements) self->square[element] += value;
}

static void sum_values(estimator *self, const double *full, const double (*hanging)[4], const double *boundary)
{
    const face_lists *faces = &self->faces;
    for (int64_t i = 0; i < faces->num_full; i++)
        for (int side = 0; side < 2; side++) add_square(self, faces->full[i].element[side], full[i]);
    for (int64_t i = 0; i < faces->num_hanging; i++) {
        const hanging_face *face = &faces->hanging[i];
        for (int k = 0; k < 4; k++) {
            if (face->fine[k] < 0) continue;
            add_square(self, face->fine[k], hanging[i][k]);
            add_square(self, face->coarse, hanging[i][k]);
        }
    }
    for (int64_t i = 0; i < faces->num_boundary; i++) self->square[faces->boundary[i].element] += boundary[i];
}

static void compute_values(const estimator *self, const face_loads *loads, double *full, double (*hanging)[4], double *boundary)
{
    const face_lists *faces = &self->faces;
#pragma omp parallel
    {
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < faces->num_full; i++) full[i] = full_value(self, &faces->full[i]);
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < faces->num_hanging; i++) hanging_values(self, &faces->hanging[i], hanging[i]);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < faces->num_boundary; i++)
            boundary[i] =
                boundary_value(self, &faces->boundary[i], loads->condition + loads->first[i], loads->first[i + 1] - loads->first[i]);
    }
}

yoke_status estimate_faces(estimator *self)
{
    yoke_context *context = self->space->context;
    const face_lists *faces = &self->faces;
    face_loads loads = {NULL, NULL};
    double *full = NULL, (*hanging)[4] = NULL, *boundary = NULL;
    yoke_status status = yoke_allocate_untouched(context, faces->num_full, sizeof *full, (void **)&full);
    if (!status) status = yoke_allocate_untouched(context, faces->num_hanging, sizeof *hanging, (void **)&hanging);
    if (!status) status = yoke_allocate_untouched(context, faces->num_boundary, sizeof *boundary, (void **)&boundary);
    if (!status) status = face_loads_create(self, &loads);
    if (!status) {
        compute_values(self, &loads, full, hanging, boundary);
        sum_values(self, full, (const double(*)[4])hanging, boundary);
    }
    yoke_release(context, full);
    yoke_release(context, hanging);
    yoke_release(context, boundary);
    yoke_release(context, loads.first);
    yoke_release(context, loads.condition);
    return status;
}
