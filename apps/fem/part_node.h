/*
 * part_node.h - operations of the CPU part on values at nodes: blocks of the diagonal, interface values, copies; included for REAL = double
 * and float.
 */
static inline void NAME(apply_block)(int components, const REAL *block, const REAL *r, REAL z[3])
{
    if (components == 1) {
        z[0] = block[0] * r[0];
    } else {
        z[0] = block[0] * r[0] + block[5] * r[1] + block[4] * r[2];
        z[1] = block[5] * r[0] + block[1] * r[1] + block[3] * r[2];
        z[2] = block[4] * r[0] + block[3] * r[1] + block[2] * r[2];
    }
}

static void NAME(block_solve)(int components, const REAL *blocks, const REAL *r, REAL *restrict z, int64_t first_node, int64_t last_node)
{
    const int size = components == 3 ? 6 : 1;
    for (int64_t i = first_node; i < last_node; i++) {
        REAL out[3];
        NAME(apply_block)(components, blocks + i * size, r + i * components, out);
        for (int c = 0; c < components; c++) z[i * components + c] = out[c];
    }
}

static void NAME(chebyshev_step)(int components, const REAL *blocks, double old, double step, const REAL *b, const REAL *t,
                                 REAL *restrict d, REAL *restrict x, int64_t first_node, int64_t last_node)
{
    const int size = components == 3 ? 6 : 1;
    const REAL a = (REAL)old, s = (REAL)step;
    for (int64_t i = first_node; i < last_node; i++) {
        REAL r[3] = {0}, out[3];
        for (int c = 0; c < components; c++) r[c] = t ? b[i * components + c] - t[i * components + c] : b[i * components + c];
        NAME(apply_block)(components, blocks + i * size, r, out);
        for (int c = 0; c < components; c++) {
            REAL change = a * d[i * components + c] + s * out[c];
            d[i * components + c] = change;
            x[i * components + c] += change;
        }
    }
}

/* Inverts the symmetric blocks in place; rows and columns of prescribed components become zero. */
static void NAME(invert_blocks)(int components, const uint8_t *prescribed, REAL *blocks, int64_t first_node, int64_t last_node)
{
    for (int64_t i = first_node; i < last_node; i++) {
        if (components == 1) {
            blocks[i] = prescribed[i] ? 0 : 1 / blocks[i];
            continue;
        }
        REAL *m = blocks + 6 * i;
        double a[3][3] = {{m[0], m[5], m[4]}, {m[5], m[1], m[3]}, {m[4], m[3], m[2]}};
        for (int c = 0; c < 3; c++) {
            if (!(prescribed[i] >> c & 1)) continue;
            for (int o = 0; o < 3; o++) a[c][o] = a[o][c] = 0;
            a[c][c] = 1;
        }
        double xx = a[1][1] * a[2][2] - a[1][2] * a[1][2], xy = a[0][2] * a[1][2] - a[0][1] * a[2][2];
        double xz = a[0][1] * a[1][2] - a[0][2] * a[1][1];
        double inverse = 1 / (a[0][0] * xx + a[0][1] * xy + a[0][2] * xz);
        double result[6] = {
            xx, a[0][0] * a[2][2] - a[0][2] * a[0][2], a[0][0] * a[1][1] - a[0][1] * a[0][1], a[0][1] * a[0][2] - a[0][0] * a[1][2], xz,
            xy};
        static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
        for (int k = 0; k < 6; k++) {
            int held = (prescribed[i] >> row[k] & 1) || (prescribed[i] >> column[k] & 1);
            m[k] = held ? 0 : (REAL)(result[k] * inverse);
        }
    }
}

/* y[node] += the copies of it that other chunks wrote into the tail, in a fixed order. */
static void NAME(add_copies)(int components, const int32_t *node, const int32_t *copy, int64_t count, REAL *y)
{
    for (int64_t i = 0; i < count; i++)
        for (int c = 0; c < components; c++) y[(int64_t)node[i] * components + c] += y[(int64_t)copy[i] * components + c];
}

/* Values of the nodes node[begin .. end - 1], `width` each, to and from a table of their own. */
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
