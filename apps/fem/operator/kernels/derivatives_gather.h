/*
 * derivatives_gather.h - included by derivatives.c: positions and solution of elements, from the nodes into lanes.
 *
 * An element's slots are gathered with position and solution of a node in one vector, in which hanging nodes are interpolated.  Then
 * several elements are transposed into lanes.
 */
enum { TEMPERATURE = FEM_PACKED_TEMPERATURE, MAX_FIELDS = FEM_THERMAL_FIELDS };

/* The number of components of the solution; fields: the number of fields that are read. */
INLINE int components_of(int fields) { return fields == FEM_POISSON_FIELDS ? 1 : 3; }

typedef double packed __attribute__((vector_size(FEM_PACKED * sizeof(double))));

/* See halve_line of batch_body.h. */
INLINE void halve_line(int n, packed *p, int stride, int half)
{
    if (n == 2) {
        p[half ? 0 : stride] = 0.5 * (p[0] + p[stride]);
        return;
    }
    packed a = p[0], b = p[stride], c = p[2 * stride];
    packed near = half ? c : a, far = half ? a : c;
    p[stride] = 0.375 * near + 0.75 * b - 0.125 * far;
    p[half ? 0 : 2 * stride] = b;
}

INLINE void fill_face_centre(packed *p, int s, int t)
{
    p[s + t] = 0.5 * (p[s] + p[t] + p[s + 2 * t] + p[2 * s + t]) - 0.25 * (p[0] + p[2 * s] + p[2 * t] + p[2 * s + 2 * t]);
}

/* Faces and edges overlap in slots, so all are read before any is written. */
INLINE void expand_hanging(int n, const fem_hanging *h, int serendipity, packed *local)
{
    packed face[3][9], edge[3][3];
    for (int f = 0; f < h->faces; f++) {
        for (int i = 0; i < n * n; i++) face[f][i] = local[h->face[f].base + i % n * h->face[f].stride_s + i / n * h->face[f].stride_t];
        if (n == 3 && serendipity) fill_face_centre(face[f], 1, 3);
    }
    for (int e = 0; e < h->edges; e++)
        for (int i = 0; i < n; i++) edge[e][i] = local[h->edge[e].base + i * h->edge[e].stride];
    for (int f = 0; f < h->faces; f++) {
        for (int i = 0; i < n; i++) halve_line(n, face[f] + n * i, 1, h->face[f].half_s);
        for (int i = 0; i < n; i++) halve_line(n, face[f] + i, n, h->face[f].half_t);
        for (int i = 0; i < n * n; i++) local[h->face[f].base + i % n * h->face[f].stride_s + i / n * h->face[f].stride_t] = face[f][i];
    }
    for (int e = 0; e < h->edges; e++) {
        halve_line(n, edge[e], 1, h->edge[e].half);
        for (int i = 0; i < n; i++) local[h->edge[e].base + i * h->edge[e].stride] = edge[e][i];
    }
}

INLINE void fill_serendipity(packed *v)
{
    packed corners = {0}, edges = {0};
    for (int s = 0; s < 27; s++) {
        int middles = fem_slot_middles(s);
        if (middles == 0) corners += v[s];
        if (middles == 1) edges += v[s];
    }
    v[13] = 0.25 * (edges - corners);
    for (int axis = 0; axis < 3; axis++) {
        const int normal = axis == 0 ? 1 : axis == 1 ? 3 : 9, s = axis == 0 ? 3 : 1, t = axis == 2 ? 3 : 9;
        for (int side = 0; side < 2; side++) fill_face_centre(v + 2 * side * normal, s, t);
    }
}

/* local [slots] of one element, in the order of its slots. */
INLINE void load_element(int n, const fem_packed_solution *in, int32_t e, packed *local)
{
    const int slots = n * n * n;
    if (e >= in->num_elements) {
        const packed *ghost = (const packed *)in->ghosts + (int64_t)(e - in->num_elements) * slots;
        for (int s = 0; s < slots; s++) local[s] = ghost[s];
        return;
    }
    const int32_t *nodes = in->element_nodes + (int64_t)e * slots;
    for (int s = 0; s < slots; s++) {
        local[s] = (packed){0};
        if (nodes[s] >= 0) local[s] = ((const packed *)in->packed)[nodes[s]];
    }
    int code = in->face_code[e] & (FEM_FACE_CODES - 1);
    if (code) expand_hanging(n, &in->hanging[code], in->serendipity, local);
    if (n == 3 && in->serendipity) fill_serendipity(local);
}

#if LANES == 8
/* out [8] = the transpose of in [8 rows]. */
INLINE void transpose(const packed in[8], lanes out[8])
{
    packed a[8], b[8];
    for (int i = 0; i < 8; i += 2) {
        a[i] = SHUFFLE(in[i], in[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        a[i + 1] = SHUFFLE(in[i], in[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int i = 0; i < 8; i += 4) {
        for (int k = 0; k < 2; k++) {
            b[i + k] = SHUFFLE(a[i + k], a[i + k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            b[i + k + 2] = SHUFFLE(a[i + k], a[i + k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    }
    for (int k = 0; k < 4; k++) {
        out[k] = SHUFFLE(b[k], b[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        out[k + 4] = SHUFFLE(b[k], b[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}
#endif

/* field [f][slot] from local [lane][slot]; order: which slot comes where. */
INLINE void side_by_side(int n, int fields, packed (*local)[FEM_MAX_SLOTS], lanes (*field)[FEM_MAX_SLOTS])
{
    for (int s = 0; s < n * n * n; s++) {
#if LANES == 8
        packed row[8];
        lanes column[8];
        for (int l = 0; l < 8; l++) row[l] = local[l][s];
        transpose(row, column);
        for (int f = 0; f < fields; f++) field[f][s] = column[f];
#else
        for (int f = 0; f < fields; f++)
            for (int l = 0; l < LANES; l++) field[f][s][l] = local[l][s][f];
#endif
    }
}

/* LANES elements; a group that is not full repeats its last element. */
typedef struct group {
    int32_t element[LANES];
    lanes field[MAX_FIELDS][FEM_MAX_SLOTS]; /* x, y, z, then the solution's components, then the temperature */
    lanes lambda, mu, density, own_strain, expansion, force[3];
} group;

/* Of the group's elements, from the temperature's value. */
INLINE lanes thermal_strain(const group *g, lanes temperature) { return g->own_strain + g->expansion * temperature; }

/* The stress by which a thermal strain of one reduces the stress: 3 lambda + 2 mu. */
INLINE lanes bulk_modulus_3(const group *g) { return 3.0 * g->lambda + 2.0 * g->mu; }

INLINE void load_materials(const fem_packed_solution *in, group *g)
{
    for (int l = 0; l < LANES; l++) {
        const fem_material *material = &in->materials[in->material[g->element[l]]];
        g->lambda[l] = material->lambda;
        g->mu[l] = material->mu;
        g->density[l] = material->density;
        g->own_strain[l] = material->thermal_strain;
        g->expansion[l] = material->expansion;
        for (int c = 0; c < 3; c++) g->force[c][l] = material->force[c];
    }
}

INLINE void load_group(int n, int fields, const fem_packed_solution *in, int32_t begin, int32_t end, group *g)
{
    packed local[LANES][FEM_MAX_SLOTS];
    for (int l = 0; l < LANES; l++) {
        g->element[l] = begin + l < end ? begin + l : end - 1;
        load_element(n, in, g->element[l], local[l]);
    }
    side_by_side(n, fields, local, g->field);
    load_materials(in, g);
}
