/* ---------------------------------------------------------------------------------- element matrices, stored */

static void NAME(matrix)(const fem_batches *b, int32_t batch, void *packed)
{
    V *a = packed;
    const V *moduli = (const V *)b->moduli + 2 * (int64_t)batch;
    const int16_t *face_code = b->face_code + (int64_t)batch * W;
    fem_batch_shape shape;
    const V *factors = NAME(factors)(b, batch, &shape);
    for (int column = 0; column < b->used * C; column++) {
        V local[C * SLOTS];
        for (int i = 0; i < C * SLOTS; i++) local[i] = (V){0};
        local[column % C * SLOTS + b->slot[column / C]] += (REAL)1;
        NAME(expand)(b, face_code, W, C, local);
        NAME(element)(local, shape, factors, moduli[0], moduli[1]);
        NAME(fold)(b, face_code, C, local);
        for (int row = column; row < b->used * C; row++) a[row * (row + 1) / 2 + column] = local[row % C * SLOTS + b->slot[row / C]];
    }
}

static void NAME(apply_stored)(const fem_batches *b, int32_t begin, int32_t end, const void *u, void *y)
{
    const int m = b->used * C;
    const int64_t size = (int64_t)m * (m + 1) / 2;
    V local[C * SLOTS], in[C * SLOTS], out[C * SLOTS];
    for (int32_t batch = begin; batch < end; batch++) {
        const int64_t table = (int64_t)batch * SLOTS * W;
        const V *a = (const V *)b->stored + batch * size;
        NAME(gather)(b, b->gather + table, W, C, u, (REAL *)local);
        for (int i = 0; i < m; i++) {
            in[i] = local[i % C * SLOTS + b->slot[i / C]];
            out[i] = (V){0};
        }
        for (int row = 0; row < m; row++) { /* each entry is read once and serves its row and its column */
            V sum = {0}, value = in[row];
            for (int column = 0; column < row; column++, a++) {
                sum += *a * in[column];
                out[column] += *a * value;
            }
            out[row] += sum + *a++ * value;
        }
        for (int i = 0; i < m; i++) local[i % C * SLOTS + b->slot[i / C]] = out[i];
        NAME(scatter)(b, b->scatter + table, NAME(lanes)(b, batch), C, (const REAL *)local, y);
    }
}

/* ------------------------------------------------------------------------------------------------- diagonal */

/* Scaled slopes of the shape functions at the points: table [slot][point][axis]; slots without a node have none. */
static void NAME(slopes)(int serendipity, REAL table[SLOTS][SLOTS][3])
{
    REAL shape[N][N], slope[N][N]; /* [point][node] */
    NAME(basis)(shape, slope);
    for (int q = 0; q < SLOTS; q++) {
        const int qi = q % N, qj = q / N % N, ql = q / (N * N);
        for (int axis = 0; axis < 3; axis++) {
            V v[SLOTS];
            for (int s = 0; s < SLOTS; s++) {
                const int i = s % N, j = s / N % N, l = s / (N * N);
                v[s] =
                    (V){0} + (axis == 0 ? slope : shape)[qi][i] * (axis == 1 ? slope : shape)[qj][j] * (axis == 2 ? slope : shape)[ql][l];
            }
#if N == 3
            if (serendipity) NAME(fold_serendipity)(v);
#endif
            for (int s = 0; s < SLOTS; s++) table[s][q][axis] = v[s][0];
        }
    }
    (void)serendipity;
}

/* The factors of an affine or box batch at all points, as those of a curved one. */
static const V *NAME(spread)(fem_batch_shape shape, const V *factors, V all[SLOTS * FEM_FACTORS])
{
    for (int q = 0; q < SLOTS; q++) {
        V *k = all + q * FEM_FACTORS;
        for (int i = 0; i < 9; i++) k[i] = shape == FEM_AFFINE ? factors[i] : i % 4 ? (V){0} : factors[i / 4];
        k[9] = NAME(weight)[NAME(kind)[q]] * factors[shape == FEM_AFFINE ? 9 : 3];
    }
    return all;
}

/*
 * Node blocks of the element matrices.  At hanging slots only the blocks on the element's own diagonal are added to the nodes, with squared
 * weights.  This is sufficient for a preconditioner, and never too small (see docs/methods/finite-elements.md).
 */
static void NAME(diagonal)(const fem_batches *b, int32_t begin, int32_t end, void *diagonal)
{
    enum { BLOCK = C == 3 ? 6 : 1 };
    REAL slopes[SLOTS][SLOTS][3];
    V all[SLOTS * FEM_FACTORS];
    NAME(slopes)(b->serendipity, slopes);
    for (int32_t batch = begin; batch < end; batch++) {
        V local[BLOCK * SLOTS];
        const V *moduli = (const V *)b->moduli + 2 * (int64_t)batch, lambda = moduli[0], mu = moduli[1];
        fem_batch_shape shape;
        const V *factors = NAME(factors)(b, batch, &shape);
        if (shape != FEM_CURVED) factors = NAME(spread)(shape, factors, all);
        const int16_t *face_code = b->face_code + (int64_t)batch * W;
        for (int s = 0; s < SLOTS; s++) {
            V block[BLOCK];
            for (int c = 0; c < BLOCK; c++) block[c] = (V){0};
            for (int q = 0; q < SLOTS; q++) {
                const REAL gx = slopes[s][q][0], gy = slopes[s][q][1], gz = slopes[s][q][2];
                const V *k = factors + q * FEM_FACTORS;
                V x = gx * k[0] + gy * k[3] + gz * k[6], y = gx * k[1] + gy * k[4] + gz * k[7], z = gx * k[2] + gy * k[5] + gz * k[8];
                V wx = k[9] * x, wy = k[9] * y, wz = k[9] * z;
#if C == 3
                block[0] += wx * x, block[1] += wy * y, block[2] += wz * z;
                block[3] += wy * z, block[4] += wx * z, block[5] += wx * y;
#else
                block[0] += wx * x + wy * y + wz * z;
#endif
            }
#if C == 3
            V isotropic = mu * (block[0] + block[1] + block[2]);
            for (int c = 0; c < 6; c++) local[c * SLOTS + s] = (lambda + mu) * block[c] + (c < 3 ? isotropic : (V){0});
#else
            local[s] = mu * block[0];
#endif
        }
        (void)lambda;
        for (int lane = 0; lane < W; lane++)
            if (face_code[lane]) NAME(fold_lane)((REAL *)local, lane, BLOCK, &b->hanging[face_code[lane]], b->serendipity, 2);
        NAME(scatter)(b, b->scatter + (int64_t)batch * SLOTS * W, NAME(lanes)(b, batch), BLOCK, (const REAL *)local, diagonal);
    }
}
