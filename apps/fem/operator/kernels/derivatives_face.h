/*
 * derivatives_face.h - included by derivatives.c: tractions on the faces of elements.
 */
typedef struct traction_point {
    lanes area[3], size; /* outer area vector, its length */
    lanes traction[3];   /* times the size */
} traction_point;

/* From d[f] = derivatives along s, t and the face's axis; sign: of s cross t as an outer normal. */
INLINE void point_traction(int fields, const group *own, lanes sign, lanes (*d)[3], lanes temperature, traction_point *out)
{
    lanes cross[3], grad_s[3], grad_t[3], g[3][3], square = {0};
    for (int i = 0; i < 3; i++) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        cross[i] = d[a][0] * d[b][1] - d[b][0] * d[a][1];
        grad_s[i] = d[a][1] * d[b][2] - d[b][1] * d[a][2];
        grad_t[i] = d[a][2] * d[b][0] - d[b][2] * d[a][0];
        square += cross[i] * cross[i];
    }
    out->size = root(square);
    lanes scale = 1.0 / (d[0][2] * cross[0] + d[1][2] * cross[1] + d[2][2] * cross[2]);
    for (int i = 0; i < 3; i++) out->area[i] = sign * cross[i];
    for (int c = 0; c < components_of(fields); c++)
        for (int i = 0; i < 3; i++) g[c][i] = scale * (d[3 + c][0] * grad_s[i] + d[3 + c][1] * grad_t[i] + d[3 + c][2] * cross[i]);
    if (fields == FEM_POISSON_FIELDS) {
        out->traction[0] = own->mu * (g[0][0] * out->area[0] + g[0][1] * out->area[1] + g[0][2] * out->area[2]);
        return;
    }
    lanes pressure = own->lambda * (g[0][0] + g[1][1] + g[2][2]);
    if (fields == FEM_THERMAL_FIELDS) pressure -= bulk_modulus_3(own) * thermal_strain(own, temperature);
    for (int c = 0; c < 3; c++) {
        lanes shear = {0};
        for (int i = 0; i < 3; i++) shear += (g[c][i] + g[i][c]) * out->area[i];
        out->traction[c] = pressure * out->area[c] + own->mu * shear;
    }
}

/* Traction times the root of weight x area element, in elasticity followed by its normal part. */
INLINE void scale_traction(int fields, double weight, const traction_point *point, lanes out[4])
{
    lanes inverse = 1.0 / point->size, scale = root(weight * inverse);
    for (int c = 0; c < components_of(fields); c++) out[c] = scale * point->traction[c];
    if (fields != FEM_POISSON_FIELDS) out[3] = inverse * (out[0] * point->area[0] + out[1] * point->area[1] + out[2] * point->area[2]);
}

/* Lane l of value [width] goes to `out` + l x apart. */
INLINE void spread(int width, const lanes *value, double *out, int64_t apart, int count)
{
#if LANES == 8
    if (width == 4 && count == LANES) {
        typedef double quad __attribute__((vector_size(32), aligned(8)));
        lanes even_a = SHUFFLE(value[0], value[1], 0, 8, 2, 10, 4, 12, 6, 14),
              odd_a = SHUFFLE(value[0], value[1], 1, 9, 3, 11, 5, 13, 7, 15);
        lanes even_b = SHUFFLE(value[2], value[3], 0, 8, 2, 10, 4, 12, 6, 14),
              odd_b = SHUFFLE(value[2], value[3], 1, 9, 3, 11, 5, 13, 7, 15);
        *(quad *)(out + 0 * apart) = SHUFFLE(even_a, even_b, 0, 1, 8, 9);
        *(quad *)(out + 1 * apart) = SHUFFLE(odd_a, odd_b, 0, 1, 8, 9);
        *(quad *)(out + 2 * apart) = SHUFFLE(even_a, even_b, 2, 3, 10, 11);
        *(quad *)(out + 3 * apart) = SHUFFLE(odd_a, odd_b, 2, 3, 10, 11);
        *(quad *)(out + 4 * apart) = SHUFFLE(even_a, even_b, 4, 5, 12, 13);
        *(quad *)(out + 5 * apart) = SHUFFLE(odd_a, odd_b, 4, 5, 12, 13);
        *(quad *)(out + 6 * apart) = SHUFFLE(even_a, even_b, 6, 7, 14, 15);
        *(quad *)(out + 7 * apart) = SHUFFLE(odd_a, odd_b, 6, 7, 14, 15);
        return;
    }
#endif
    for (int l = 0; l < count; l++)
        for (int c = 0; c < width; c++) out[l * apart + c] = value[c][l];
}

/* ------------------------------------------------------------------------------ all faces of a group's elements */

/* Values and derivatives along the axis at both ends of a line of points. */
INLINE void extrapolate_line(int n, const lanes *p, int stride, lanes value[2], lanes slope[2])
{
    const double h = 0.5 / line_scale(n);
    lanes middle, change = p[(n - 1) * stride] - p[0];
    if (n == 3) {
        lanes curve = 2.0 * (p[0] + p[2 * stride]) - 4.0 * p[stride];
        middle = p[stride] + h * h * curve;
        slope[0] = change - 2 * h * curve;
        slope[1] = change + 2 * h * curve;
    } else {
        middle = 0.5 * (p[0] + p[stride]);
        slope[0] = slope[1] = change;
    }
    value[0] = middle - h * change;
    value[1] = middle + h * change;
}

/* plane[f]: values on a face, derivatives along its axis. */
INLINE void tractions_of_face(int n, int fields, const fem_packed_solution *in, const group *own, int face, lanes (*plane)[2][9], int count,
                              const fem_element_terms *out)
{
    const int points = n * n, width = components_of(fields) == 3 ? 4 : 1;
    const int64_t apart = 6 * points * width;
    const double g = line_scale(n), sign = (face % 2 ? 1 : -1) * (face / 2 == 1 ? -1 : 1); /* x cross z is -y */
    double *traction = out->traction + (6 * (int64_t)own->element[0] + face) * points * width;
    lanes by_s[MAX_FIELDS][9], by_t[MAX_FIELDS][9], area = {0};
    for (int f = 0; f < fields; f++)
        for (int i = 0; i < n; i++) {
            differentiate_line(n, plane[f][0] + n * i, by_s[f] + n * i, 1, NULL);
            differentiate_line(n, plane[f][0] + i, by_t[f] + i, n, NULL);
        }
    for (int q = 0; q < points; q++) {
        const double weight = in->weight[q % n] * in->weight[q / n] / (g * g);
        lanes d[MAX_FIELDS][3], scaled[4] = {{0}};
        traction_point point;
        for (int f = 0; f < fields; f++) d[f][0] = by_s[f][q], d[f][1] = by_t[f][q], d[f][2] = plane[f][1][q];
        point_traction(fields, own, (lanes){0} + sign, d, fields == FEM_THERMAL_FIELDS ? plane[TEMPERATURE][0][q] : (lanes){0}, &point);
        scale_traction(fields, weight, &point, scaled);
        area += weight * point.size;
        spread(width, scaled, traction + q * width, apart, count);
    }
    for (int l = 0; l < count; l++) out->area[6 * (int64_t)own->element[l] + face] = area[l];
}

INLINE void face_terms(int n, int fields, const fem_packed_solution *in, const group *own, int axis, int count,
                       const fem_element_terms *out)
{
    lanes plane[2][MAX_FIELDS][2][9];
    for (int f = 0; f < fields; f++)
        for (int i = 0; i < n * n; i++) {
            lanes value[2], slope[2];
            extrapolate_line(n, own->field[f] + line_of(n, axis, i), stride_of(n, axis), value, slope);
            for (int side = 0; side < 2; side++) plane[side][f][0][i] = value[side], plane[side][f][1][i] = slope[side];
        }
    for (int side = 0; side < 2; side++) tractions_of_face(n, fields, in, own, 2 * axis + side, plane[side], count, out);
}

INLINE void element_terms(int n, int fields, const fem_packed_solution *in, int32_t begin, int32_t end, const fem_element_terms *out)
{
    for (int32_t first = begin; first < end; first += LANES) {
        const int count = end - first < LANES ? end - first : LANES;
        group own;
        element_sums sums;
        load_group(n, fields, in, first, end, &own);
        for (int f = 0; f < fields; f++) interpolate(n, own.field[f]);
        volume_sums(n, fields, in, &own, &sums);
        for (int l = 0; l < count; l++) {
            out->volume[first + l] = sums.volume[l];
            out->residual[first + l] = sums.residual[l];
            out->energy[first + l] = sums.energy[l];
        }
        for (int axis = 0; axis < 3; axis++) face_terms(n, fields, in, &own, axis, count, out);
    }
}

/* --------------------------------------------------------------------------------------------- chosen faces */

/* field [f][layer][t][s] of each lane's element, with its face first. */
INLINE void load_faces(int n, int fields, const fem_packed_solution *in, int count, const fem_element_face *faces, group *g, lanes *sign)
{
    packed local[FEM_MAX_SLOTS], turned[LANES][FEM_MAX_SLOTS];
    for (int l = 0; l < LANES; l++) {
        const fem_element_face *face = &faces[l < count ? l : count - 1];
        g->element[l] = face->element;
        load_element(n, in, face->element, local);
        for (int s = 0; s < n * n * n; s++) turned[l][s] = local[in->inward[face->face][s]];
        (*sign)[l] = (face->face % 2 ? 1 : -1) * (face->face / 2 == 1 ? -1 : 1);
        /* Where the axis was turned round, the third derivative is against it, and the determinant negative: nothing else changes. */
    }
    side_by_side(n, fields, turned, g->field);
    load_materials(in, g);
}

/* Values on the face and derivatives along its axis: plane[f][0 .. 1][t][s]. */
INLINE void cut_face(int n, int fields, const fem_packed_solution *in, const group *own, lanes (*plane)[2][9])
{
    for (int f = 0; f < fields; f++)
        for (int a = 0; a < n * n; a++) {
            plane[f][0][a] = own->field[f][a];
            plane[f][1][a] = in->end[0] * own->field[f][a];
            for (int m = 1; m < n; m++) plane[f][1][a] += in->end[m] * own->field[f][m * n * n + a];
        }
}

/* On the line of points with t's shape functions at point j: values, derivatives by t, derivatives along the axis. */
INLINE void cut_line(int n, int fields, const fem_packed_solution *in, int j, lanes (*plane)[2][9], lanes (*line)[3][3])
{
    for (int f = 0; f < fields; f++)
        for (int i = 0; i < n; i++) {
            line[f][0][i] = line[f][1][i] = line[f][2][i] = (lanes){0};
            for (int m = 0; m < n; m++) {
                line[f][0][i] += in->value[j][m] * plane[f][0][m * n + i];
                line[f][1][i] += in->first[j][m] * plane[f][0][m * n + i];
                line[f][2][i] += in->value[j][m] * plane[f][1][m * n + i];
            }
        }
}

INLINE void cut_point(int n, int fields, const fem_packed_solution *in, int i, lanes (*line)[3][3], lanes (*d)[3])
{
    for (int f = 0; f < fields; f++) {
        d[f][0] = d[f][1] = d[f][2] = (lanes){0};
        for (int m = 0; m < n; m++) {
            d[f][0] += in->first[i][m] * line[f][0][m];
            d[f][1] += in->value[i][m] * line[f][1][m];
            d[f][2] += in->value[i][m] * line[f][2][m];
        }
    }
}

/* At point i of the line. */
INLINE lanes temperature_at(int n, int fields, const fem_packed_solution *in, int i, lanes (*line)[3][3])
{
    lanes sum = {0};
    for (int m = 0; m < n && fields == FEM_THERMAL_FIELDS; m++) sum += in->value[i][m] * line[TEMPERATURE][0][m];
    return sum;
}

INLINE void face_quarters(int n, int fields, const fem_packed_solution *in, int count, const fem_element_face *faces, double *out)
{
    const int width = components_of(fields) == 3 ? 4 : 1, points = n * n;
    group own;
    lanes sign, plane[MAX_FIELDS][2][9];
    load_faces(n, fields, in, count, faces, &own, &sign);
    cut_face(n, fields, in, &own, plane);
    for (int j = 0; j < 2 * n; j++) {
        lanes line[MAX_FIELDS][3][3];
        cut_line(n, fields, in, FEM_HALF_POINTS + j, plane, line);
        for (int i = 0; i < 2 * n; i++) {
            const int quarter = i / n + 2 * (j / n), q = i % n + n * (j % n);
            lanes d[MAX_FIELDS][3], scaled[4] = {{0}};
            traction_point point;
            cut_point(n, fields, in, FEM_HALF_POINTS + i, line, d);
            point_traction(fields, &own, sign, d, temperature_at(n, fields, in, FEM_HALF_POINTS + i, line), &point);
            scale_traction(fields, 0.25 * in->weight[i % n] * in->weight[j % n], &point, scaled);
            spread(width, scaled, out + (quarter * points + q) * width, 4 * points * width, count);
        }
    }
}

INLINE void face_points(int n, int fields, const fem_packed_solution *in, int count, const fem_element_face *faces, fem_face_traction *out)
{
    group own;
    lanes sign, plane[MAX_FIELDS][2][9];
    load_faces(n, fields, in, count, faces, &own, &sign);
    cut_face(n, fields, in, &own, plane);
    for (int j = 0; j < n; j++) {
        lanes line[MAX_FIELDS][3][3];
        cut_line(n, fields, in, FEM_WHOLE_POINTS + j, plane, line);
        for (int i = 0; i < n; i++) {
            lanes d[MAX_FIELDS][3], x[3] = {{0}, {0}, {0}};
            traction_point point;
            cut_point(n, fields, in, FEM_WHOLE_POINTS + i, line, d);
            for (int a = 0; a < 3; a++)
                for (int m = 0; m < n; m++) x[a] += in->value[i][m] * line[a][0][m];
            point_traction(fields, &own, sign, d, temperature_at(n, fields, in, FEM_WHOLE_POINTS + i, line), &point);
            for (int l = 0; l < count; l++) {
                fem_face_traction *at = &out[l * n * n + j * n + i];
                *at = (fem_face_traction){.area = point.size[l]};
                for (int a = 0; a < 3; a++) {
                    at->x[a] = x[a][l];
                    at->normal[a] = point.area[a][l] / at->area;
                    if (a < components_of(fields)) at->traction[a] = point.traction[a][l] / at->area;
                }
            }
        }
    }
}
