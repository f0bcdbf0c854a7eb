/*
 * cpu_node.h - operations of the CPU subdomain on values at nodes: blocks of the diagonal, interface values, copies; included for
 * REAL = double and float.
 */
/* The inverse of a symmetric 3 x 3 block; rows and columns of prescribed components are zero. */
static void NAME(invert_block)(int prescribed, const REAL *m, REAL *inverse)
{
    double a[3][3] = {{m[0], m[5], m[4]}, {m[5], m[1], m[3]}, {m[4], m[3], m[2]}};
    for (int c = 0; c < 3; c++) {
        if (!(prescribed >> c & 1)) continue;
        for (int o = 0; o < 3; o++) a[c][o] = a[o][c] = 0;
        a[c][c] = 1;
    }
    double xx = a[1][1] * a[2][2] - a[1][2] * a[1][2], xy = a[0][2] * a[1][2] - a[0][1] * a[2][2];
    double xz = a[0][1] * a[1][2] - a[0][2] * a[1][1];
    double factor = 1 / (a[0][0] * xx + a[0][1] * xy + a[0][2] * xz);
    double result[6] = {
        xx, a[0][0] * a[2][2] - a[0][2] * a[0][2], a[0][0] * a[1][1] - a[0][1] * a[0][1], a[0][1] * a[0][2] - a[0][0] * a[1][2], xz, xy};
    static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
    for (int k = 0; k < 6; k++) {
        int constrained = (prescribed >> row[k] & 1) || (prescribed >> column[k] & 1);
        inverse[k] = constrained ? 0 : (REAL)(result[k] * factor);
    }
}

/* Inverts the blocks of the groups begin .. end - 1 in place: from [nodes][6 or 1] to the order of kernels/smoother.h. */
static void NAME(invert_groups)(int components, const uint8_t *prescribed, REAL *blocks, int64_t begin, int64_t end, int64_t num_nodes)
{
    enum { GROUP = FEM_NODE_GROUP };
    for (int64_t first = begin * GROUP; first < end * GROUP; first += GROUP) {
        REAL inverse[6 * GROUP] = {0};
        for (int64_t n = first; n < first + GROUP && n < num_nodes; n++) {
            if (components == 3) {
                REAL block[6];
                NAME(invert_block)(prescribed[n], blocks + 6 * n, block);
                for (int k = 0; k < 6; k++) inverse[FEM_NODE_BLOCK(6, n - first, k)] = block[k];
            } else {
                inverse[n - first] = prescribed[n] ? 0 : 1 / blocks[n];
            }
        }
        const int size = components == 3 ? 6 : 1;
        memcpy(blocks + first * size, inverse, sizeof *blocks * (size_t)(size * GROUP));
    }
}

/* y[node] += its copies that other chunks wrote into the tail, in a fixed order. */
static void NAME(add_copies)(int components, const int32_t *node, const int32_t *copy, int64_t count, REAL *y)
{
    for (int64_t i = 0; i < count; i++)
        for (int c = 0; c < components; c++) y[(int64_t)node[i] * components + c] += y[(int64_t)copy[i] * components + c];
}

/* Copies the values of the nodes node[begin .. end - 1], `width` each, to and from a separate table. */
static void NAME(pack)(int width, const int32_t *node, const REAL *y, REAL *table, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        for (int c = 0; c < width; c++) table[i * width + c] = y[(int64_t)node[i] * width + c];
}

static void NAME(unpack)(int width, const int32_t *node, const REAL *table, REAL *y, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        for (int c = 0; c < width; c++) y[(int64_t)node[i] * width + c] = table[i * width + c];
}
