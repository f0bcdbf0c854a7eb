/*
 * derivatives_volume.h - included by derivatives.c: the quantities inside elements, and on their faces, that the error estimate needs.
 *
 * Positions and solution are interpolated to the Gauss points by sweeps over lines and differentiated among the points (see batch_body.h).
 * Along a line with the values p0, p1, p2 the derivative by rho = r / g, g = sqrt(3/5) (points 1/2 apart), is p2 - p0 in the middle and
 * changes by 2 (p0 - 2 p1 + p2) from point to point; the second derivative is twice that everywhere.  With two points (g = sqrt(1/3), 1
 * apart) the derivative is constant.  All directions are scaled by g alike, so that the scale drops out of derivatives by x; integrals over
 * the element take 1/g^3, over a face 1/g^2.
 */
#define ROOT_3_5 0.77459666924148337704
#define ROOT_1_3 0.57735026918962576451

INLINE double line_scale(int n) { return n == 3 ? ROOT_3_5 : ROOT_1_3; }

/* The first index of line i of n^2 in direction axis of n^3 points; its points are stride_of apart. */
INLINE int line_of(int n, int axis, int i) { return axis == 0 ? i * n : axis == 1 ? i / n * n * n + i % n : i; }
INLINE int stride_of(int n, int axis) { return axis == 0 ? 1 : axis == 1 ? n : n * n; }

INLINE void interpolate_line(int n, lanes *p, int stride)
{
    const double half_g = 0.5 * line_scale(n);
    lanes slope = p[(n - 1) * stride] - p[0], middle;
    if (n == 3)
        middle = p[stride] + 0.3 * (p[0] + p[2 * stride] - 2.0 * p[stride]);
    else
        middle = 0.5 * (p[0] + p[stride]);
    p[0] = middle - half_g * slope;
    p[(n - 1) * stride] = middle + half_g * slope;
}

INLINE void interpolate(int n, lanes *v)
{
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < n * n; i++) interpolate_line(n, v + line_of(n, axis, i), stride_of(n, axis));
}

/* Derivatives along one line, and *second if there is one. */
INLINE void differentiate_line(int n, const lanes *p, lanes *d, int stride, lanes *second)
{
    lanes slope = p[(n - 1) * stride] - p[0];
    if (n == 2) {
        d[0] = d[stride] = slope;
        return;
    }
    lanes curve = 2.0 * (p[0] + p[2 * stride]) - 4.0 * p[stride];
    d[0] = slope - curve;
    d[stride] = slope;
    d[2 * stride] = slope + curve;
    if (second) *second = curve + curve;
}

/* inverse[j][i] = dr_j/dx_i from d[i][j] = dx_i/dr_j; returns the determinant of the latter. */
INLINE lanes invert(const lanes (*d)[9], lanes inverse[3][3])
{
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            inverse[j][i] = d[i1][j1] * d[i2][j2] - d[i1][j2] * d[i2][j1];
        }
    lanes determinant = d[0][0] * inverse[0][0] + d[0][1] * inverse[1][0] + d[0][2] * inverse[2][0], scale = 1.0 / determinant;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) inverse[j][i] *= scale;
    return determinant;
}

/* Twice the energy density 2 mu eps:eps + lambda tr(eps)^2 from the gradient (minus the thermal strain); Poisson: mu |grad u|^2. */
INLINE lanes energy_density(int fields, const group *own, const lanes (*g)[3])
{
    if (fields == FEM_POISSON_FIELDS) return own->mu * (g[0][0] * g[0][0] + g[0][1] * g[0][1] + g[0][2] * g[0][2]);
    lanes trace = g[0][0] + g[1][1] + g[2][2];
    lanes yz = g[1][2] + g[2][1], xz = g[0][2] + g[2][0], xy = g[0][1] + g[1][0];
    lanes normal = g[0][0] * g[0][0] + g[1][1] * g[1][1] + g[2][2] * g[2][2];
    return own->lambda * trace * trace + own->mu * (2.0 * normal + yz * yz + xz * xz + xy * xy);
}

/*
 * div sigma from the second derivatives by x, which are G^T M G with G = dr/dx and M = d2u/dr2 - sum_k du/dx_k d2x_k/dr2.
 * m: xx, yy, zz, yz, xz, xy of M.
 */
INLINE void divergence(int fields, const group *own, const lanes (*inverse)[3], const lanes (*m)[6], lanes out[3])
{
    static const int pair[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};
    lanes metric[6], along[3];
    for (int j = 0; j < 3; j++)
        for (int k = j; k < 3; k++) {
            lanes product = inverse[j][0] * inverse[k][0] + inverse[j][1] * inverse[k][1] + inverse[j][2] * inverse[k][2];
            metric[pair[j][k]] = j == k ? product : 2.0 * product;
        }
    for (int c = 0; c < components_of(fields); c++) {
        lanes laplace = metric[0] * m[c][0];
        for (int a = 1; a < 6; a++) laplace += metric[a] * m[c][a];
        out[c] = own->mu * laplace;
    }
    if (fields == FEM_POISSON_FIELDS) return;
    for (int j = 0; j < 3; j++) {
        along[j] = (lanes){0};
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) along[j] += m[c][pair[j][k]] * inverse[k][c];
    }
    lanes modulus = own->lambda + own->mu;
    for (int c = 0; c < 3; c++) out[c] += modulus * (inverse[0][c] * along[0] + inverse[1][c] * along[1] + inverse[2][c] * along[2]);
}

/* Derivatives by rho of each field at a point: x, y, z, then xx, yy, zz, yz, xz, xy. */
typedef struct derivatives {
    lanes d[MAX_FIELDS][9];
} derivatives;

typedef struct element_sums {
    lanes volume, residual, energy;
} element_sums;

/* f at the lanes' points if the problem gives it as a function. */
static void force_at(const fem_fields *given, int components, const lanes *field, int fields_apart, lanes force[3])
{
    for (int l = 0; l < LANES; l++) {
        double at[3] = {field[0][l], field[fields_apart][l], field[2 * fields_apart][l]}, f[3] = {0, 0, 0};
        given->force(at, f, given->user);
        for (int c = 0; c < components; c++) force[c][l] = f[c];
    }
}

/* Adds the centrifugal force at the lanes' points. */
INLINE void add_centrifugal(const fem_rotation *rotation, lanes density, const lanes *field, int fields_apart, lanes force[3])
{
    lanes along = {0}, from[3];
    for (int a = 0; a < 3; a++) {
        from[a] = field[a * fields_apart] - rotation->through[a];
        along += rotation->axis[a] * from[a];
    }
    for (int a = 0; a < 3; a++) force[a] += rotation->square * density * (from[a] - along * rotation->axis[a]);
}

/* Adds one point's share to the sums. */
INLINE void add_point(int fields, const group *own, const lanes force[3], lanes temperature, double weight, const derivatives *at,
                      element_sums *sums)
{
    lanes inverse[3][3], g[3][3], m[3][6], residual[3], square = {0};
    lanes scale = weight * invert(at->d, inverse);
    for (int c = 0; c < components_of(fields); c++) {
        const lanes *d = at->d[3 + c];
        for (int i = 0; i < 3; i++) g[c][i] = d[0] * inverse[0][i] + d[1] * inverse[1][i] + d[2] * inverse[2][i];
        for (int a = 0; a < 6; a++) m[c][a] = d[3 + a] - g[c][0] * at->d[0][3 + a] - g[c][1] * at->d[1][3 + a] - g[c][2] * at->d[2][3 + a];
    }
    divergence(fields, own, (const lanes(*)[3])inverse, (const lanes(*)[6])m, residual);
    if (fields == FEM_THERMAL_FIELDS) {
        const lanes *d = at->d[TEMPERATURE], strain = thermal_strain(own, temperature), scaled = bulk_modulus_3(own) * own->expansion;
        for (int i = 0; i < 3; i++) {
            residual[i] -= scaled * (d[0] * inverse[0][i] + d[1] * inverse[1][i] + d[2] * inverse[2][i]);
            g[i][i] -= strain;
        }
    }
    for (int c = 0; c < components_of(fields); c++) square += (residual[c] + force[c]) * (residual[c] + force[c]);
    sums->volume += scale;
    sums->residual += scale * square;
    sums->energy += scale * energy_density(fields, own, (const lanes(*)[3])g);
}

/* First and mixed second derivatives of one field in one layer of points, and pure ones along its lines: [j] xx, [i] yy. */
typedef struct layer {
    lanes x[9], y[9], xy[9], xz[9], yz[9], xx[3], yy[3];
} layer;

INLINE void differentiate_layer(int n, const lanes *value, const lanes *z, layer *out)
{
    for (int i = 0; i < n; i++) out->xx[i] = out->yy[i] = (lanes){0};
    for (int j = 0; j < n; j++) {
        differentiate_line(n, value + n * j, out->x + n * j, 1, &out->xx[j]);
        differentiate_line(n, z + n * j, out->xz + n * j, 1, NULL);
    }
    for (int i = 0; i < n; i++) {
        differentiate_line(n, value + i, out->y + i, n, &out->yy[i]);
        differentiate_line(n, z + i, out->yz + i, n, NULL);
        differentiate_line(n, out->x + i, out->xy + i, n, NULL);
    }
}

/* g->field holds values at the Gauss points. */
INLINE void volume_sums(int n, int fields, const fem_packed_solution *in, const group *own, element_sums *sums)
{
    const double g = line_scale(n), scale = 1 / (g * g * g);
    lanes z[MAX_FIELDS][FEM_MAX_SLOTS], zz[MAX_FIELDS][9];
    *sums = (element_sums){{0}, {0}, {0}};
    for (int f = 0; f < fields; f++)
        for (int i = 0; i < n * n; i++) {
            zz[f][i] = (lanes){0};
            differentiate_line(n, own->field[f] + i, z[f] + i, n * n, &zz[f][i]);
        }
    for (int k = 0; k < n; k++) {
        layer plane[MAX_FIELDS];
        for (int f = 0; f < fields; f++) differentiate_layer(n, own->field[f] + k * n * n, z[f] + k * n * n, &plane[f]);
        for (int q = 0; q < n * n; q++) {
            const int i = q % n, j = q / n;
            lanes force[3] = {own->force[0], own->force[1], own->force[2]};
            const lanes temperature = fields == FEM_THERMAL_FIELDS ? own->field[TEMPERATURE][k * n * n + q] : (lanes){0};
            derivatives at;
            for (int f = 0; f < fields; f++) {
                const layer *p = &plane[f];
                const lanes d[9] = {p->x[q], p->y[q], z[f][k * n * n + q], p->xx[j], p->yy[i], zz[f][q], p->yz[q], p->xz[q], p->xy[q]};
                for (int a = 0; a < 9; a++) at.d[f][a] = d[a];
            }
            if (fields != FEM_POISSON_FIELDS && in->rotation)
                add_centrifugal(in->rotation, own->density, own->field[0] + k * n * n + q, FEM_MAX_SLOTS, force);
            if (in->fields->force) force_at(in->fields, components_of(fields), own->field[0] + k * n * n + q, FEM_MAX_SLOTS, force);
            add_point(fields, own, force, temperature, scale * in->weight[i] * in->weight[j] * in->weight[k], &at, sums);
        }
    }
}
