/*
 * axmebe_kernel.h - kernels of the product y = A u element by element, in the four stages of Lang and Ruenger 2013 (Alg. 3), for the benchmark.
 *
 * An element has `nodes` nodes (8, 20 or 27) with `components` values each, m = nodes x components <= AXMEBE_ORDER.  Its matrix lies in
 * `store` as a packed lower triangle by rows, m (m + 1) / 2 values.  There its nodes stand in the order of their numbers in the mesh, and
 * place [elements][nodes] says where the element's i-th node stands: so matrices of neighbours name common nodes in one order, whatever way
 * the elements lie.  node [elements][nodes] is the element's i-th node in the mesh.  Vectors of elements are [elements][m].
 *
 * The matrix in the order of the element is what o2el_matrix makes of the store; the fused kernel permutes the vectors instead.
 */
#define AXMEBE_ORDER 81
#define AXMEBE_PACKED (AXMEBE_ORDER * (AXMEBE_ORDER + 1) / 2)

/* Entries before row i of a packed lower triangle. */
YOKE_FUNCTION yoke_int axmebe_row(yoke_int i) { return i * (i + 1) / 2; }

/* (A x)_i for the packed matrix. */
YOKE_FUNCTION double axmebe_product(yoke_int m, yoke_int i, const YOKE_LOCAL_POINTER double *matrix, const YOKE_LOCAL_POINTER double *x)
{
    const YOKE_LOCAL_POINTER double *row = matrix + axmebe_row(i);
    double sum = 0;
    for (yoke_int j = 0; j <= i; j++) sum += row[j] * x[j];
    row += i;
    for (yoke_int j = i + 1; j < m; j++) {
        row += j;
        sum += row[0] * x[j];
    }
    return sum;
}

/* u_el = o2el(u) for all elements. */
YOKE_KERNEL(axmebe_o2el_vector, (yoke_long elements, yoke_int nodes, yoke_int components, YOKE_GLOBAL const yoke_int *node,
                                 YOKE_GLOBAL const double *u, YOKE_GLOBAL double *element_u))
{
    YOKE_FOR_ALL (i, elements * nodes)
        for (yoke_int c = 0; c < components; c++) element_u[i * components + c] = u[node[i] * (yoke_long)components + c];
}

/* A_el = o2el(A) for all elements: the entries in the order of the element. */
YOKE_KERNEL(axmebe_o2el_matrix, (yoke_long elements, yoke_int nodes, yoke_int components, YOKE_GLOBAL const yoke_int *place,
                                 YOKE_GLOBAL const double *store, YOKE_GLOBAL double *matrix))
{
    YOKE_LOCAL yoke_int position[AXMEBE_ORDER];
    const yoke_int m = nodes * components;
    for (yoke_long e = YOKE_GROUP; e < elements; e += YOKE_GROUPS) {
        const YOKE_GLOBAL double *from = store + e * axmebe_row(m);
        YOKE_GLOBAL double *to = matrix + e * axmebe_row(m);
        YOKE_FOR_ITEMS (i, m) position[i] = place[e * nodes + i / components] * components + i % components;
        YOKE_BARRIER();
        for (yoke_int i = 0; i < m; i++)
            YOKE_FOR_ITEMS (j, i + 1) {
                const yoke_int a = position[i], b = position[j];
                to[axmebe_row(i) + j] = from[a > b ? axmebe_row(a) + b : axmebe_row(b) + a];
            }
        YOKE_BARRIER();
    }
}

/* y_el = A_el u_el for the elements begin .. end - 1, each by one group. */
YOKE_KERNEL(axmebe_dspmv, (yoke_long begin, yoke_long end, yoke_int m, YOKE_GLOBAL const double *matrix,
                           YOKE_GLOBAL const double *element_u, YOKE_GLOBAL double *element_y))
{
    YOKE_LOCAL double own[AXMEBE_PACKED];
    YOKE_LOCAL double x[AXMEBE_ORDER];
    for (yoke_long e = begin + YOKE_GROUP; e < end; e += YOKE_GROUPS) {
        const YOKE_GLOBAL double *from = matrix + e * axmebe_row(m);
        YOKE_FOR_ITEMS (k, axmebe_row(m)) own[k] = from[k];
        YOKE_FOR_ITEMS (i, m) x[i] = element_u[e * m + i];
        YOKE_BARRIER();
        YOKE_FOR_ITEMS (i, m) element_y[e * m + i] = axmebe_product(m, i, own, x);
        YOKE_BARRIER();
    }
}

/* y = sum of el2o(y_el): each node adds up what its elements have for it, entry [first[node] .. first[node + 1]) in element_y's nodes. */
YOKE_KERNEL(axmebe_el2o_vector, (yoke_long num_nodes, yoke_int components, YOKE_GLOBAL const yoke_int *first,
                                 YOKE_GLOBAL const yoke_int *entry, YOKE_GLOBAL const double *element_y, YOKE_GLOBAL double *y))
{
    YOKE_FOR_ALL (i, num_nodes * components) {
        const yoke_long n = i / components, c = i % components;
        double sum = 0;
        for (yoke_int k = first[n]; k < first[n + 1]; k++) sum += element_y[entry[k] * (yoke_long)components + c];
        y[i] = sum;
    }
}

/*
 * y += el2o(A_el o2el(u)) for the elements order[begin .. end - 1], each by one group.  No two of them share a node, so that they add into y
 * without atomic operations, and the sum has the same bits each time.
 */
YOKE_KERNEL(axmebe_par, (yoke_long begin, yoke_long end, YOKE_GLOBAL const yoke_int *order, yoke_int nodes, yoke_int components,
                         YOKE_GLOBAL const yoke_int *node, YOKE_GLOBAL const yoke_int *place, YOKE_GLOBAL const double *store,
                         YOKE_GLOBAL const double *u, YOKE_GLOBAL double *y))
{
    YOKE_LOCAL double own[AXMEBE_PACKED];
    YOKE_LOCAL double x[AXMEBE_ORDER];
    YOKE_LOCAL yoke_int dof[AXMEBE_ORDER];
    const yoke_int m = nodes * components;
    for (yoke_long k = begin + YOKE_GROUP; k < end; k += YOKE_GROUPS) {
        const yoke_long e = order[k];
        const YOKE_GLOBAL double *from = store + e * axmebe_row(m);
        YOKE_FOR_ITEMS (i, axmebe_row(m)) own[i] = from[i];
        YOKE_FOR_ITEMS (i, m) {
            const yoke_int c = i % components, at = place[e * nodes + i / components] * components + c;
            dof[at] = node[e * nodes + i / components] * components + c;
            x[at] = u[dof[at]];
        }
        YOKE_BARRIER();
        YOKE_FOR_ITEMS (i, m) y[dof[i]] += axmebe_product(m, i, own, x);
        YOKE_BARRIER();
    }
}

/* STREAM's triad: 24 bytes for each i. */
YOKE_KERNEL(axmebe_triad, (yoke_long count, double factor, YOKE_GLOBAL const double *b, YOKE_GLOBAL const double *c, YOKE_GLOBAL double *a))
{
    YOKE_FOR_ALL (i, count) a[i] = b[i] + factor * c[i];
}
