/*
 * derivatives_stress.h - included by derivatives.c: the stress at the 2 x 2 x 2 Gauss points of elements.
 */

/* Sum over the n nodes of a direction with the shape functions of point i; stride: between its nodes. */
INLINE lanes contract(int n, const double *shape, const lanes *in, int stride)
{
    lanes sum = shape[0] * in[0];
    for (int m = 1; m < n; m++) sum += shape[m] * in[m * stride];
    return sum;
}

INLINE void differentiate_at_two(int n, const fem_packed_solution *in, const lanes *field, lanes (*d)[3])
{
    const double(*value)[3] = in->value + FEM_TWO_POINTS, (*first)[3] = in->first + FEM_TWO_POINTS;
    for (int k = 0; k < 2; k++) {
        lanes plane[2][9]; /* value, derivative by z */
        for (int a = 0; a < n * n; a++) {
            plane[0][a] = contract(n, value[k], field + a, n * n);
            plane[1][a] = contract(n, first[k], field + a, n * n);
        }
        for (int j = 0; j < 2; j++) {
            lanes line[3][3]; /* value, derivative by y, by z */
            for (int i = 0; i < n; i++) {
                line[0][i] = contract(n, value[j], plane[0] + i, n);
                line[1][i] = contract(n, first[j], plane[0] + i, n);
                line[2][i] = contract(n, value[j], plane[1] + i, n);
            }
            for (int i = 0; i < 2; i++) {
                lanes *out = d[4 * k + 2 * j + i];
                out[0] = contract(n, first[i], line[0], 1);
                out[1] = contract(n, value[i], line[1], 1);
                out[2] = contract(n, value[i], line[2], 1);
            }
        }
    }
}

/*
 * The temperature at the points.  With two nodes in a direction it is the element's mean: the strain of the displacements does not follow a
 * temperature that is linear in the element.  The difference, extrapolated to the nodes, would be an error of the size of the change of the
 * stress.
 */
INLINE void temperature_at_two(int n, const fem_packed_solution *in, const lanes *field, lanes *out)
{
    const double(*value)[3] = in->value + FEM_TWO_POINTS;
    if (n == 2) {
        lanes mean = field[0];
        for (int s = 1; s < 8; s++) mean += field[s];
        for (int g = 0; g < FEM_STRESS_POINTS; g++) out[g] = 0.125 * mean;
        return;
    }
    for (int g = 0; g < FEM_STRESS_POINTS; g++) {
        lanes plane[9], line[3];
        for (int a = 0; a < n * n; a++) plane[a] = contract(n, value[g / 4], field + a, n * n);
        for (int i = 0; i < n; i++) line[i] = contract(n, value[g / 2 % 2], plane + i, n);
        out[g] = contract(n, value[g % 2], line, 1);
    }
}

/* d[f][j] = derivatives of the fields at a point. */
INLINE void stress_at_point(int fields, const group *own, lanes (*d)[9], lanes temperature, lanes *tensor)
{
    lanes inverse[3][3], g[3][3];
    invert((const lanes(*)[9])d, inverse);
    for (int c = 0; c < components_of(fields); c++)
        for (int i = 0; i < 3; i++) g[c][i] = d[3 + c][0] * inverse[0][i] + d[3 + c][1] * inverse[1][i] + d[3 + c][2] * inverse[2][i];
    if (fields == FEM_POISSON_FIELDS) {
        for (int i = 0; i < 3; i++) tensor[i] = g[0][i];
        return;
    }
    lanes volumetric = own->lambda * (g[0][0] + g[1][1] + g[2][2]);
    if (fields == FEM_THERMAL_FIELDS) volumetric -= bulk_modulus_3(own) * thermal_strain(own, temperature);
    for (int i = 0; i < 3; i++) {
        int k = (i + 1) % 3, l = (i + 2) % 3;
        tensor[i] = volumetric + 2.0 * own->mu * g[i][i];
        tensor[3 + i] = own->mu * (g[k][l] + g[l][k]);
    }
}

INLINE void element_stress(int n, int fields, const fem_packed_solution *in, int32_t begin, int32_t end, double *out)
{
    for (int32_t first = begin; first < end; first += LANES) {
        const int count = end - first < LANES ? end - first : LANES;
        group own;
        lanes d[6][FEM_STRESS_POINTS][3], temperature[FEM_STRESS_POINTS] = {{0}};
        load_group(n, fields, in, first, end, &own);
        for (int f = 0; f < 3 + components_of(fields); f++) differentiate_at_two(n, in, own.field[f], d[f]);
        if (fields == FEM_THERMAL_FIELDS) temperature_at_two(n, in, own.field[TEMPERATURE], temperature);
        for (int g = 0; g < FEM_STRESS_POINTS; g++) {
            lanes at[6][9], tensor[FEM_PACKED];
            for (int f = 0; f < 3 + components_of(fields); f++)
                for (int a = 0; a < 3; a++) at[f][a] = d[f][g][a];
            for (int c = 0; c < FEM_PACKED; c++) tensor[c] = (lanes){0};
            stress_at_point(fields, &own, at, temperature[g], tensor);
            double *to = out + ((int64_t)first * FEM_STRESS_POINTS + g) * FEM_PACKED;
            for (int l = 0; l < count; l++)
                for (int c = 0; c < FEM_PACKED; c++) to[l * FEM_STRESS_POINTS * FEM_PACKED + c] = tensor[c][l];
        }
    }
}
