/*
 * The elements' part of the error estimate: residual in the volume, tractions on the faces, volumes, areas and energy.  Several elements
 * are computed side by side, one per lane of a vector; derivatives are formed by sum factorisation.
 */
#include <math.h>
#include <string.h>

#include "estimate_parts.h"
#include "shape.h"

enum { LANES = 4 };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

/* LANES elements; a last group that is not full repeats its last element. */
typedef struct element_group {
    int32_t element[LANES];
    lanes field[6][MOST_SLOTS]; /* x, y, z, then the solution's components */
    lanes lambda, mu, force[3];
} element_group;

/* Derivatives by the reference coordinates at a point: x, y, z, then xx, yy, zz, yz, xz, xy. */
typedef struct derivatives {
    lanes value[6], d[6][9];
} derivatives;

typedef struct element_sums {
    lanes volume, residual, energy;
} element_sums;

/* Contraction over the slots' third direction at point k: out[0] values, out[1] first, out[2] second derivatives. */
static inline __attribute__((always_inline)) void contract_third(int n, const estimate_tables *t, int k, const lanes *field,
                                                                 lanes out[3][9])
{
    for (int ij = 0; ij < n * n; ij++) {
        out[0][ij] = t->value[k][0] * field[ij];
        out[1][ij] = t->first[k][0] * field[ij];
        out[2][ij] = t->second[k][0] * field[ij];
        for (int m = 1; m < n; m++) {
            out[0][ij] += t->value[k][m] * field[m * n * n + ij];
            out[1][ij] += t->first[k][m] * field[m * n * n + ij];
            out[2][ij] += t->second[k][m] * field[m * n * n + ij];
        }
    }
}

/* Over the second direction at point j: value-value, first-value, value-first, second-value, value-second, first-first (second-third). */
static inline __attribute__((always_inline)) void contract_second(int n, const estimate_tables *t, int j, const lanes in[3][9],
                                                                  lanes out[6][3])
{
    for (int i = 0; i < n; i++) {
        for (int a = 0; a < 6; a++) out[a][i] = (lanes){0};
        for (int m = 0; m < n; m++) {
            lanes value = in[0][m * n + i], first = in[1][m * n + i], second = in[2][m * n + i];
            out[0][i] += t->value[j][m] * value;
            out[1][i] += t->first[j][m] * value;
            out[2][i] += t->value[j][m] * first;
            out[3][i] += t->second[j][m] * value;
            out[4][i] += t->value[j][m] * second;
            out[5][i] += t->first[j][m] * first;
        }
    }
}

static inline __attribute__((always_inline)) void contract_first(int n, const estimate_tables *t, int i, const lanes in[6][3], lanes *value,
                                                                 lanes d[9])
{
    lanes sum = {0};
    for (int a = 0; a < 9; a++) d[a] = (lanes){0};
    for (int m = 0; m < n; m++) {
        double v = t->value[i][m], f = t->first[i][m];
        sum += v * in[0][m];
        d[0] += f * in[0][m];
        d[1] += v * in[1][m];
        d[2] += v * in[2][m];
        d[3] += t->second[i][m] * in[0][m];
        d[4] += v * in[3][m];
        d[5] += v * in[4][m];
        d[6] += v * in[5][m];
        d[7] += f * in[2][m];
        d[8] += f * in[1][m];
    }
    *value = sum;
}

/* inverse[j][i] = dr_j/dx_i from d[i][j] = dx_i/dr_j of which the first three entries of each row count; *determinant of the latter. */
static inline __attribute__((always_inline)) void invert(const lanes (*d)[9], lanes inverse[3][3], lanes *determinant)
{
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            inverse[j][i] = d[i1][j1] * d[i2][j2] - d[i1][j2] * d[i2][j1];
        }
    lanes value = d[0][0] * inverse[0][0] + d[0][1] * inverse[1][0] + d[0][2] * inverse[2][0], scale = 1.0 / value;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) inverse[j][i] *= scale;
    *determinant = value;
}

/* Twice the energy density 2 mu eps:eps + lambda tr(eps)^2 from the gradient; Poisson: mu |grad u|^2. */
static inline __attribute__((always_inline)) void energy_density(int components, const element_group *group, lanes g[3][3], lanes *density)
{
    if (components == 1) {
        *density = group->mu * (g[0][0] * g[0][0] + g[0][1] * g[0][1] + g[0][2] * g[0][2]);
        return;
    }
    lanes trace = g[0][0] + g[1][1] + g[2][2];
    lanes yz = g[1][2] + g[2][1], xz = g[0][2] + g[2][0], xy = g[0][1] + g[1][0];
    lanes normal = g[0][0] * g[0][0] + g[1][1] * g[1][1] + g[2][2] * g[2][2];
    *density = group->lambda * trace * trace + group->mu * (2.0 * normal + yz * yz + xz * xz + xy * xy);
}

/*
 * div sigma from the second derivatives by x, which are G^T M G with G = dr/dx and M = d2u/dr2 - sum_k du/dx_k d2x_k/dr2.
 * m: xx, yy, zz, yz, xz, xy of M.
 */
static inline __attribute__((always_inline)) void divergence(int components, const element_group *group, lanes inverse[3][3], lanes m[3][6],
                                                             lanes out[3])
{
    static const int pair[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};
    lanes metric[6], along[3] = {{0}, {0}, {0}};
    for (int j = 0; j < 3; j++)
        for (int k = j; k < 3; k++) {
            lanes product = inverse[j][0] * inverse[k][0] + inverse[j][1] * inverse[k][1] + inverse[j][2] * inverse[k][2];
            metric[pair[j][k]] = j == k ? product : 2.0 * product;
        }
    for (int c = 0; c < components; c++) {
        lanes laplace = metric[0] * m[c][0];
        for (int a = 1; a < 6; a++) laplace += metric[a] * m[c][a];
        out[c] = group->mu * laplace;
    }
    if (components == 1) return;
    for (int j = 0; j < 3; j++)
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) along[j] += m[c][pair[j][k]] * inverse[k][c];
    lanes modulus = group->lambda + group->mu;
    for (int c = 0; c < 3; c++) out[c] += modulus * (inverse[0][c] * along[0] + inverse[1][c] * along[1] + inverse[2][c] * along[2]);
}

/* f at the lanes' points where the problem gives it as a function. */
static void force_at(const fem_fields *fields, int components, const lanes x[3], lanes force[3])
{
    for (int l = 0; l < LANES; l++) {
        double at[3] = {x[0][l], x[1][l], x[2][l]}, f[3] = {0, 0, 0};
        fields->force(at, f, fields->user);
        for (int c = 0; c < components; c++) force[c][l] = f[c];
    }
}

/* Adds one point's share to the sums. */
static inline __attribute__((always_inline)) void add_point(int components, const estimator *self, const element_group *group,
                                                            double weight, const derivatives *at, element_sums *sums)
{
    lanes inverse[3][3], determinant, g[3][3], m[3][6], force[3], residual[3];
    invert(at->d, inverse, &determinant);
    for (int c = 0; c < components; c++) {
        const lanes *d = at->d[3 + c];
        for (int i = 0; i < 3; i++) g[c][i] = d[0] * inverse[0][i] + d[1] * inverse[1][i] + d[2] * inverse[2][i];
        for (int a = 0; a < 6; a++) m[c][a] = d[3 + a] - g[c][0] * at->d[0][3 + a] - g[c][1] * at->d[1][3 + a] - g[c][2] * at->d[2][3 + a];
        force[c] = group->force[c];
    }
    if (self->space->problem->fields.force) force_at(&self->space->problem->fields, components, at->value, force);
    divergence(components, group, inverse, m, residual);
    lanes square = {0}, density, scale = weight * determinant;
    energy_density(components, group, g, &density);
    for (int c = 0; c < components; c++) square += (residual[c] + force[c]) * (residual[c] + force[c]);
    sums->volume += scale;
    sums->residual += scale * square;
    sums->energy += scale * density;
}

static inline __attribute__((always_inline)) void volume_sums(int n, int components, const estimator *self, const element_group *group,
                                                              element_sums *sums)
{
    const estimate_tables *t = self->tables;
    lanes third[6][3][9], second[6][6][3];
    *sums = (element_sums){{0}, {0}, {0}};
    for (int k = 0; k < n; k++) {
        for (int f = 0; f < 3 + components; f++) contract_third(n, t, k, group->field[f], third[f]);
        for (int j = 0; j < n; j++) {
            for (int f = 0; f < 3 + components; f++) contract_second(n, t, j, (const lanes(*)[9])third[f], second[f]);
            for (int i = 0; i < n; i++) {
                derivatives at;
                for (int f = 0; f < 3 + components; f++) contract_first(n, t, i, (const lanes(*)[3])second[f], &at.value[f], at.d[f]);
                add_point(components, self, group, t->weight[i] * t->weight[j] * t->weight[k], &at, sums);
            }
        }
    }
}

/* Traction at a face point from d[f] = derivatives along s, t and the face's axis; the unit normal points outwards; *area = |x_s x x_t|. */
static inline __attribute__((always_inline)) void face_traction(int components, const element_group *group, int face, lanes (*d)[3],
                                                                lanes traction[4], lanes *area)
{
    lanes cross[3], grad_s[3], grad_t[3], g[3][3], normal[3], size, square = {0};
    for (int i = 0; i < 3; i++) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        cross[i] = d[a][0] * d[b][1] - d[b][0] * d[a][1];
        grad_s[i] = d[a][1] * d[b][2] - d[b][1] * d[a][2];
        grad_t[i] = d[a][2] * d[b][0] - d[b][2] * d[a][0];
        square += cross[i] * cross[i];
    }
    for (int l = 0; l < LANES; l++) size[l] = sqrt(square[l]);
    *area = size;
    lanes scale = 1.0 / (d[0][2] * cross[0] + d[1][2] * cross[1] + d[2][2] * cross[2]);
    double sign = (face % 2 ? 1 : -1) * (face / 2 == 1 ? -1 : 1); /* x cross z is -y */
    for (int i = 0; i < 3; i++) normal[i] = sign * cross[i] / size;
    for (int c = 0; c < components; c++)
        for (int i = 0; i < 3; i++) g[c][i] = scale * (d[3 + c][0] * grad_s[i] + d[3 + c][1] * grad_t[i] + d[3 + c][2] * cross[i]);
    if (components == 1) {
        traction[0] = group->mu * (g[0][0] * normal[0] + g[0][1] * normal[1] + g[0][2] * normal[2]);
        return;
    }
    lanes pressure = group->lambda * (g[0][0] + g[1][1] + g[2][2]);
    traction[3] = (lanes){0};
    for (int c = 0; c < 3; c++) {
        traction[c] = pressure * normal[c];
        for (int i = 0; i < 3; i++) traction[c] += group->mu * (g[c][i] + g[i][c]) * normal[i];
        traction[3] += traction[c] * normal[c];
    }
}

static inline __attribute__((always_inline)) void face_tractions(int n, int components, const estimator *self, const element_group *group,
                                                                 int face, lanes *area, lanes out[MOST_FACE_POINTS][4])
{
    const estimate_tables *t = self->tables;
    int slots[MOST_FACE_POINTS], stride = face / 2 == 0 ? 1 : face / 2 == 1 ? n : n * n, width = components == 3 ? 4 : 1;
    lanes plane[6][2][9]; /* values and normal derivatives on the face */
    fem_face_slots(n, face - face % 2, slots);
    for (int f = 0; f < 3 + components; f++)
        for (int a = 0; a < n * n; a++) {
            plane[f][0][a] = group->field[f][slots[a] + (face % 2) * (n - 1) * stride];
            plane[f][1][a] = t->end[face % 2][0] * group->field[f][slots[a]];
            for (int m = 1; m < n; m++) plane[f][1][a] += t->end[face % 2][m] * group->field[f][slots[a] + m * stride];
        }
    *area = (lanes){0};
    for (int j = 0; j < n; j++) {
        lanes line[6][3][3]; /* value, derivative by t, normal derivative on the points' line */
        for (int f = 0; f < 3 + components; f++)
            for (int i = 0; i < n; i++) {
                line[f][0][i] = line[f][1][i] = line[f][2][i] = (lanes){0};
                for (int m = 0; m < n; m++) {
                    line[f][0][i] += t->value[j][m] * plane[f][0][m * n + i];
                    line[f][1][i] += t->first[j][m] * plane[f][0][m * n + i];
                    line[f][2][i] += t->value[j][m] * plane[f][1][m * n + i];
                }
            }
        for (int i = 0; i < n; i++) {
            lanes d[6][3], root, weight, *traction = out[j * n + i];
            for (int f = 0; f < 3 + components; f++) {
                d[f][0] = d[f][1] = d[f][2] = (lanes){0};
                for (int m = 0; m < n; m++) {
                    d[f][0] += t->first[i][m] * line[f][0][m];
                    d[f][1] += t->value[i][m] * line[f][1][m];
                    d[f][2] += t->value[i][m] * line[f][2][m];
                }
            }
            face_traction(components, group, face, d, traction, &weight);
            weight *= t->weight[i] * t->weight[j];
            *area += weight;
            for (int l = 0; l < LANES; l++) root[l] = sqrt(weight[l]);
            for (int c = 0; c < width; c++) traction[c] *= root;
        }
    }
}

static void gather(const estimator *self, int32_t first, element_group *group)
{
    int slots = self->space->slots;
    for (int l = 0; l < LANES; l++) {
        double local[MOST_SLOTS][FIELDS];
        int32_t e = first + l < self->num_total ? first + l : self->num_total - 1;
        const fem_material *material = estimate_material(self, e);
        group->element[l] = e;
        estimate_local(self, e, local);
        for (int s = 0; s < slots; s++)
            for (int f = 0; f < 6; f++) group->field[f][s][l] = local[s][f];
        group->lambda[l] = material->lambda;
        group->mu[l] = material->mu;
        for (int c = 0; c < 3; c++) group->force[c][l] = material->force[c];
    }
}

static void store_volume(estimator *self, const element_group *group, const element_sums *sums)
{
    for (int l = 0; l < LANES; l++) {
        int32_t e = group->element[l];
        double volume = sums->volume[l], h = cbrt(volume), mu = group->mu[l], lambda = group->lambda[l];
        double compliance = self->components == 1 ? 1 / mu : 1 / sqrt(mu * (2 * mu + lambda));
        self->volume[e] = volume;
        if (e >= self->space->num_elements) continue;
        self->energy[e] = sums->energy[l];
        self->square[e] = h * h * compliance / (self->degree * self->degree) * sums->residual[l];
    }
}

static void store_face(estimator *self, const element_group *group, int face, const lanes *area, lanes tractions[MOST_FACE_POINTS][4])
{
    for (int l = 0; l < LANES; l++) {
        int64_t at = 6 * (int64_t)group->element[l] + face;
        double *out = self->traction + at * self->face_points * self->width;
        self->area[at] = (*area)[l];
        for (int q = 0; q < self->face_points; q++)
            for (int c = 0; c < self->width; c++) out[q * self->width + c] = tractions[q][c][l];
    }
}

static inline __attribute__((always_inline)) void group_terms(int n, int components, estimator *self, const element_group *group)
{
    element_sums sums;
    volume_sums(n, components, self, group, &sums);
    store_volume(self, group, &sums);
    for (int face = 0; face < 6; face++) {
        lanes area, tractions[MOST_FACE_POINTS][4];
        face_tractions(n, components, self, group, face, &area, tractions);
        store_face(self, group, face, &area, tractions);
    }
}

static void group_terms_q1(estimator *self, const element_group *group) { group_terms(2, 3, self, group); }
static void group_terms_q2(estimator *self, const element_group *group) { group_terms(3, 3, self, group); }
static void group_terms_q1_scalar(estimator *self, const element_group *group) { group_terms(2, 1, self, group); }
static void group_terms_q2_scalar(estimator *self, const element_group *group) { group_terms(3, 1, self, group); }

void estimate_elements(estimator *self)
{
    void (*terms)(estimator *, const element_group *) = self->components == 3  ? self->tables->n == 2 ? group_terms_q1 : group_terms_q2
                                                        : self->tables->n == 2 ? group_terms_q1_scalar
                                                                               : group_terms_q2_scalar;
    int32_t groups = (self->num_total + LANES - 1) / LANES;
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < groups; i++) {
        element_group group;
        gather(self, i * LANES, &group);
        terms(self, &group);
    }
}
