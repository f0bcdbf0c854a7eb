#include "reference_estimate.h"

#include <math.h>

#include "unit.h"

#include "block.h"
#include "mesh/shape.h"
#include "space/temperature.h"

/* Far less than any element, far more than rounding. */
static const double same_place = 1e-8;

static int is_same(const double a[3], const double b[3])
{
    return fabs(a[0] - b[0]) < same_place && fabs(a[1] - b[1]) < same_place && fabs(a[2] - b[2]) < same_place;
}

/* ------------------------------------------------------------------------------------------------ one point */

/* Positions and solution at the slots of a leaf. */
typedef struct leaf {
    const fem_space *space;
    const fem_material *material;
    double x[81], u[81], t[27]; /* t: temperature, 0 where there is none */
} leaf;

static leaf leaf_number(const fem_space *space, const double *u, int32_t e)
{
    leaf l = {.space = space, .material = fem_space_material(space, e)};
    fem_space_geometry(space, e, l.x);
    fem_space_expand(space, e, space->components, u, l.u);
    double *temperature;
    assert_int_equal(fem_temperature_nodal(space, &temperature), YOKE_OK);
    if (temperature) fem_space_expand(space, e, 1, temperature, l.t);
    yoke_release(space->context, temperature);
    return l;
}

/* What there is to know at a reference point. */
typedef struct point_values {
    double determinant, inverse[3][3]; /* of dx/dr; inverse[j][i] = dr_j/dx_i */
    double x[3], gradient[3][3];       /* [component][direction]; Poisson: [0] alone */
    double sigma[3][3];                /* Poisson: [0] = the flux */
    double strain, strain_slope[3];    /* thermal, and its gradient */
} point_values;

static point_values at_point(const leaf *l, const double r[3])
{
    int slots = l->space->slots, components = l->space->components;
    double value[27], reference[81];
    point_values p = {0};
    fem_shape(l->space->slots_1d, r, value, reference, NULL);
    p.determinant = fem_map(slots, l->x, reference, NULL, p.inverse);
    assert_true(p.determinant > 0);
    for (int s = 0; s < slots; s++)
        for (int i = 0; i < 3; i++) {
            double by_x = 0;
            for (int j = 0; j < 3; j++) by_x += reference[3 * s + j] * p.inverse[j][i];
            for (int c = 0; c < components; c++) p.gradient[c][i] += by_x * l->u[components * s + c];
            p.x[i] += value[s] * l->x[3 * s + i];
            p.strain_slope[i] += by_x * l->material->expansion * l->t[s];
        }
    p.strain = l->material->thermal_strain;
    for (int s = 0; s < slots; s++) p.strain += l->material->expansion * value[s] * l->t[s];
    double trace = p.gradient[0][0] + p.gradient[1][1] + p.gradient[2][2],
           taken = (3 * l->material->lambda + 2 * l->material->mu) * p.strain;
    for (int c = 0; c < components; c++)
        for (int i = 0; i < 3; i++)
            p.sigma[c][i] = components == 1 ? l->material->mu * p.gradient[c][i]
                                            : l->material->mu * (p.gradient[c][i] + p.gradient[i][c]) +
                                                  (c == i ? l->material->lambda * trace - taken : 0);
    return p;
}

/* second[i][j] = the second derivatives by r of one of n components of a field [slots][n]. */
static void second_by_reference(const leaf *l, const double r[3], const double *field, int n, double second[3][3])
{
    static const int entry[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};
    double hessian[27 * 6];
    fem_shape(l->space->slots_1d, r, NULL, NULL, hessian);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            second[i][j] = 0;
            for (int s = 0; s < l->space->slots; s++) second[i][j] += hessian[6 * s + entry[i][j]] * field[n * s];
        }
}

/* second[c][i][j] = d2u_c/dx_i dx_j = G^T (d2u_c/dr2 - sum_k du_c/dx_k d2x_k/dr2) G, G = dr/dx. */
static void second_by_place(const leaf *l, const double r[3], const point_values *p, double second[3][3][3])
{
    int components = l->space->components;
    double bend[3][3][3], m[3][3];
    for (int k = 0; k < 3; k++) second_by_reference(l, r, l->x + k, 3, bend[k]);
    for (int c = 0; c < components; c++) {
        second_by_reference(l, r, l->u + c, components, m);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                for (int k = 0; k < 3; k++) m[a][b] -= p->gradient[c][k] * bend[k][a][b];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                second[c][i][j] = 0;
                for (int a = 0; a < 3; a++)
                    for (int b = 0; b < 3; b++) second[c][i][j] += p->inverse[a][i] * m[a][b] * p->inverse[b][j];
            }
    }
}

/* |f + div sigma|^2 */
static double residual_square(const leaf *l, const double r[3], const point_values *p)
{
    const fem_fields *fields = &l->space->problem->fields;
    int components = l->space->components;
    double second[3][3][3], square = 0, force[3];
    memcpy(force, l->material->force, sizeof force);
    fem_add_centrifugal(&l->space->problem->rotation, l->material->density, p->x, force);
    if (fields->force) fields->force(p->x, force, fields->user);
    second_by_place(l, r, p, second);
    for (int c = 0; c < components; c++) {
        double rest = force[c] - (3 * l->material->lambda + 2 * l->material->mu) * p->strain_slope[c];
        for (int j = 0; j < 3; j++) {
            rest += l->material->mu * second[c][j][j];
            if (components == 3) rest += (l->material->mu + l->material->lambda) * second[j][c][j];
        }
        square += rest * rest;
    }
    return square;
}

/* ------------------------------------------------------------------------------------- one element, one face */

static reference_volume_sums volume_sums(const leaf *l)
{
    int n = l->space->slots_1d;
    double at[3], weight[3];
    reference_volume_sums sums = {0};
    fem_gauss(n, at, weight);
    for (int q = 0; q < n * n * n; q++) {
        double r[3] = {at[q % n], at[q / n % n], at[q / (n * n)]}, density = 0;
        point_values p = at_point(l, r);
        double scale = weight[q % n] * weight[q / n % n] * weight[q / (n * n)] * p.determinant;
        for (int c = 0; c < l->space->components; c++)
            for (int i = 0; i < 3; i++) density += p.sigma[c][i] * (p.gradient[c][i] - (c == i ? p.strain : 0));
        sums.volume += scale;
        sums.residual += scale * residual_square(l, r, &p);
        sums.energy += scale * density;
    }
    return sums;
}

reference_volume_sums reference_element(const fem_space *space, const double *u, int32_t e)
{
    leaf l = leaf_number(space, u, e);
    return volume_sums(&l);
}

/* Area and normal by Nanson's formula. */
static reference_point on_face(const leaf *l, int face, double s, double t)
{
    double r[3];
    reference_point out = {0};
    fem_face_point(face, s, t, r);
    point_values p = at_point(l, r);
    memcpy(out.x, p.x, sizeof out.x);
    for (int i = 0; i < 3; i++) {
        out.normal[i] = (face % 2 ? 1 : -1) * p.determinant * p.inverse[face / 2][i];
        out.area += out.normal[i] * out.normal[i];
    }
    out.area = sqrt(out.area);
    for (int i = 0; i < 3; i++) out.normal[i] /= out.area;
    for (int c = 0; c < l->space->components; c++)
        for (int i = 0; i < 3; i++) out.traction[c] += p.sigma[c][i] * out.normal[i];
    return out;
}

reference_point reference_on_face(const fem_space *space, const double *u, int32_t e, int face, double s, double t)
{
    leaf l = leaf_number(space, u, e);
    return on_face(&l, face, s, t);
}

static void stress_at(const leaf *l, const double r[3], double stress[6])
{
    static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
    leaf own = *l;
    for (int s = 1; s < 8 && l->space->slots_1d == 2; s++) own.t[0] += l->t[s]; /* q1: the mean temperature */
    for (int s = 7; s >= 0 && l->space->slots_1d == 2; s--) own.t[s] = own.t[0] / 8;
    point_values p = at_point(&own, r);
    for (int k = 0; k < 6; k++) stress[k] = l->space->components == 3 ? p.sigma[row[k]][column[k]] : k < 3 ? p.gradient[0][k] : 0;
}

void reference_stress_at(const fem_space *space, const double *u, int32_t e, const double r[3], double stress[6])
{
    leaf l = leaf_number(space, u, e);
    stress_at(&l, r, stress);
}

/* ------------------------------------------------------------------------------------------------- estimate */

/* A face of a leaf: side 6 e + face. */
typedef struct side {
    const leaf *of;
    int32_t element;
    int face;
    unsigned mask; /* prescribed components */
    double extent; /* h_F / p of this side: its leaf's extent across it */
    double centre[3], quarter[4][3];
    reference_point at[9]; /* Gauss points */
} side;

typedef struct estimate {
    const fem_space *space;
    const fem_boundary *boundary;
    double point[3], weight[3];
    leaf *leaves;
    side *sides;
} estimate;

static side side_number(const estimate *self, int32_t e, int face, double volume)
{
    int n = self->space->slots_1d;
    double area = 0;
    side own = {.of = &self->leaves[e], .element = e, .face = face};
    memcpy(own.centre, on_face(own.of, face, 0.5, 0.5).x, sizeof own.centre);
    for (int k = 0; k < 4; k++)
        memcpy(own.quarter[k], on_face(own.of, face, 0.25 + 0.5 * (k % 2), 0.25 + 0.5 * (k / 2)).x, sizeof own.centre);
    for (int q = 0; q < n * n; q++) {
        own.at[q] = on_face(own.of, face, self->point[q % n], self->point[q / n]);
        area += self->weight[q % n] * self->weight[q / n] * own.at[q].area;
    }
    own.extent = volume / area / (n - 1);
    return own;
}

static int is_dimension_2(const estimate *self, int condition)
{
    const fem_problem *problem = self->space->problem;
    return problem->mesh->groups[problem->conditions[condition].group].dimension == 2;
}

static void mark_prescribed(estimate *self)
{
    const fem_problem *problem = self->space->problem;
    for (int c = 0; c < problem->num_conditions; c++)
        for (int64_t i = self->boundary->first[c]; i < self->boundary->first[c + 1]; i++)
            if (problem->conditions[c].kind == FEM_DIRICHLET && is_dimension_2(self, c))
                self->sides[6 * self->boundary->element[i] + self->boundary->local[i]].mask |= problem->conditions[c].mask;
}

/* The square of a traction, measured by compliances with the mean moduli of two sides. */
static double traction_square(const estimate *self, const double *traction, const double normal[3], const fem_material *a,
                              const fem_material *b)
{
    double mu = 0.5 * (a->mu + b->mu), lambda = 0.5 * (a->lambda + b->lambda), along = 0, square = 0;
    if (self->space->components == 1) return traction[0] * traction[0] / mu;
    for (int c = 0; c < 3; c++) along += traction[c] * normal[c];
    for (int c = 0; c < 3; c++) square += (traction[c] - along * normal[c]) * (traction[c] - along * normal[c]);
    return square / mu + along * along / (2 * mu + lambda);
}

/* On a support inside the body the components that are not prescribed have one compliance, that of shear. */
static double free_square(const estimate *self, const double *traction, unsigned mask, const fem_material *a, const fem_material *b)
{
    double square = 0;
    for (int c = 0; c < self->space->components; c++)
        if (!(mask >> c & 1)) square += traction[c] * traction[c];
    return square / (0.5 * (a->mu + b->mu));
}

/* The point of side b at place x: one of its Gauss points, or (halves = 2) of those of its four quarters. */
static reference_point point_at(const estimate *self, const side *b, int halves, const double x[3])
{
    int n = self->space->slots_1d, found = 0, across = halves * n;
    reference_point result = {0};
    for (int q = 0; q < across * across; q++) {
        int i = q % across, j = q / across;
        reference_point at =
            halves == 1 ? b->at[q] : on_face(b->of, b->face, 0.5 * (i / n + self->point[i % n]), 0.5 * (j / n + self->point[j % n]));
        if (!is_same(at.x, x)) continue;
        found++;
        result = at;
    }
    assert_int_equal(found, 1);
    return result;
}

/* Half of h_F/p times the square of the jump over side a, which b lies behind. */
static double jump_term(const estimate *self, const side *a, const side *b, int halves)
{
    int n = self->space->slots_1d;
    unsigned mask = a->mask | b->mask;
    double sum = 0;
    for (int q = 0; q < n * n; q++) {
        const reference_point *here = &a->at[q];
        reference_point there = point_at(self, b, halves, here->x);
        double jump[3];
        for (int c = 0; c < 3; c++) jump[c] = here->traction[c] + there.traction[c]; /* of opposite normals */
        sum += self->weight[q % n] * self->weight[q / n] * here->area *
               (mask ? free_square(self, jump, mask, a->of->material, b->of->material)
                     : traction_square(self, jump, here->normal, a->of->material, b->of->material));
    }
    return 0.5 * 0.5 * (a->extent + b->extent) * sum;
}

static void add_given(const estimate *self, const side *a, const reference_point *at, double rest[3])
{
    const fem_problem *problem = self->space->problem;
    for (int c = 0; c < problem->num_conditions; c++)
        for (int64_t i = self->boundary->first[c]; i < self->boundary->first[c + 1]; i++) {
            double given[3];
            if (problem->conditions[c].kind == FEM_DIRICHLET || !is_dimension_2(self, c)) continue;
            if (self->boundary->element[i] != a->element || self->boundary->local[i] != a->face) continue;
            fem_condition_traction(problem, self->boundary, c, at->x, at->normal, given);
            for (int k = 0; k < 3; k++) rest[k] += given[k];
        }
}

static double boundary_term(const estimate *self, const side *a)
{
    int n = self->space->slots_1d;
    double sum = 0;
    for (int q = 0; q < n * n; q++) {
        double rest[3] = {0, 0, 0};
        add_given(self, a, &a->at[q], rest);
        for (int c = 0; c < 3; c++) rest[c] = a->mask >> c & 1 ? 0 : rest[c] - a->at[q].traction[c];
        sum += self->weight[q % n] * self->weight[q / n] * a->at[q].area *
               traction_square(self, rest, a->at[q].normal, a->of->material, a->of->material);
    }
    return a->extent * sum;
}

/* Whether a is one of four sides that meet b. */
static int is_quarter(const side *a, const side *b)
{
    for (int k = 0; k < 4; k++)
        if (is_same(a->centre, b->quarter[k])) return 1;
    return 0;
}

/* Adds what side a has to do with.  A small one adds to its large neighbour, too. */
static void add_side(const estimate *self, const side *a, double *square)
{
    int equal = 0, larger = 0, smaller = 0;
    for (int32_t k = 0; k < 6 * self->space->num_elements; k++) {
        const side *b = &self->sides[k];
        if (b->element == a->element) continue;
        if (is_same(a->centre, b->centre)) {
            equal++;
            square[a->element] += jump_term(self, a, b, 1);
        } else if (is_quarter(a, b)) {
            double term = jump_term(self, a, b, 2);
            larger++;
            square[a->element] += term;
            square[b->element] += term;
        } else {
            smaller += is_quarter(b, a);
        }
    }
    assert_true(equal + larger + smaller == 0 || equal + larger == 1 || smaller == 4);
    if (equal + larger + smaller == 0) square[a->element] += boundary_term(self, a);
}

double reference_estimate(const fem_space *space, const fem_boundary *boundary, const double *u, double *square)
{
    int32_t count = space->num_elements;
    double energy = 0;
    estimate self = {.space = space, .boundary = boundary};
    self.leaves = block_zeros(count, sizeof *self.leaves);
    self.sides = block_zeros(6 * count, sizeof *self.sides);
    fem_gauss(space->slots_1d, self.point, self.weight);
    for (int32_t e = 0; e < count; e++) {
        self.leaves[e] = leaf_number(space, u, e);
        const fem_material *material = self.leaves[e].material;
        reference_volume_sums sums = volume_sums(&self.leaves[e]);
        double h = cbrt(sums.volume) / (space->slots_1d - 1);
        double modulus = space->components == 3 ? sqrt(material->mu * (2 * material->mu + material->lambda)) : material->mu;
        square[e] = h * h * sums.residual / modulus;
        energy += sums.energy;
        for (int face = 0; face < 6; face++) self.sides[6 * e + face] = side_number(&self, e, face, sums.volume);
    }
    mark_prescribed(&self);
    for (int32_t k = 0; k < 6 * count; k++) add_side(&self, &self.sides[k], square);
    free(self.leaves);
    free(self.sides);
    return energy;
}

/* --------------------------------------------------------------------------------------------- nodal stress */

/* Linear in each direction, from the values at two points. */
static void carry(double gauss[8][6], const double point[2], const double r[3], double out[6])
{
    for (int c = 0; c < 6; c++) out[c] = 0;
    for (int q = 0; q < 8; q++) {
        double weight = 1;
        for (int a = 0; a < 3; a++) {
            double own = point[q >> a & 1], other = point[~q >> a & 1];
            weight *= (r[a] - other) / (own - other);
        }
        for (int c = 0; c < 6; c++) out[c] += weight * gauss[q][c];
    }
}

void reference_stress(const fem_space *space, const double *u, double *stress, int32_t *count)
{
    int materials = space->problem->num_materials;
    double point[2], weight[2];
    fem_gauss(2, point, weight);
    for (int32_t e = 0; e < space->num_elements; e++) {
        leaf own = leaf_number(space, u, e);
        double gauss[8][6];
        for (int q = 0; q < 8; q++) stress_at(&own, (double[3]){point[q & 1], point[q >> 1 & 1], point[q >> 2]}, gauss[q]);
        for (int s = 0; s < space->slots; s++)
            for (int32_t i = 0; i < space->num_nodes; i++) {
                if (!is_same(own.x + 3 * s, space->x + 3 * (int64_t)i)) continue;
                int64_t pair = (int64_t)i * materials + space->problem->material_of[space->tree[e]];
                double r[3], value[6];
                fem_slot_point(space->slots_1d, s, r);
                carry(gauss, point, r, value);
                for (int c = 0; c < 6; c++) stress[6 * pair + c] += value[c];
                count[pair]++;
            }
    }
    for (int64_t k = 0; k < (int64_t)space->num_nodes * materials; k++)
        for (int c = 0; c < 6 && count[k] > 0; c++) stress[6 * k + c] /= count[k];
}
