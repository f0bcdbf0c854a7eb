/* batch_element.h - the product of a vector of elements; included by batch_body.h. */

/*
 * At one point: computes, in place, the weighted stress (flux) from the gradient, both in scaled reference coordinates.  k: inverse
 * Jacobian; the moduli are weighted.
 */
static inline __attribute__((always_inline)) void NAME(stress)(V *gradient, int q, const V *k, V lambda, V mu)
{
#if C == 3
    V h[3][3];
    for (int i = 0; i < 3; i++) {
        const V *g = gradient + i * 3 * SLOTS + q;
        for (int j = 0; j < 3; j++) h[i][j] = g[0] * k[j] + g[SLOTS] * k[3 + j] + g[2 * SLOTS] * k[6 + j];
    }
    V twice = mu + mu, pressure = lambda * (h[0][0] + h[1][1] + h[2][2]);
    V xx = pressure + twice * h[0][0], yy = pressure + twice * h[1][1], zz = pressure + twice * h[2][2];
    V yz = mu * (h[1][2] + h[2][1]), xz = mu * (h[0][2] + h[2][0]), xy = mu * (h[0][1] + h[1][0]);
    for (int r = 0; r < 3; r++) {
        gradient[(0 + r) * SLOTS + q] = xx * k[3 * r] + xy * k[3 * r + 1] + xz * k[3 * r + 2];
        gradient[(3 + r) * SLOTS + q] = xy * k[3 * r] + yy * k[3 * r + 1] + yz * k[3 * r + 2];
        gradient[(6 + r) * SLOTS + q] = xz * k[3 * r] + yz * k[3 * r + 1] + zz * k[3 * r + 2];
    }
#else
    (void)lambda;
    V h[3];
    V *g = gradient + q;
    for (int j = 0; j < 3; j++) h[j] = mu * (g[0] * k[j] + g[SLOTS] * k[3 + j] + g[2 * SLOTS] * k[6 + j]);
    for (int r = 0; r < 3; r++) g[r * SLOTS] = h[0] * k[3 * r] + h[1] * k[3 * r + 1] + h[2] * k[3 * r + 2];
#endif
}

/*
 * The factors are most of the data that a product reads, and are read from memory once.  Those of the next batch are prefetched into the
 * second-level cache while this batch is computed; in the first-level cache they would evict the values.  A prefetch beyond the array's end
 * is harmless.
 */
static inline __attribute__((always_inline)) void NAME(prefetch)(const V *factors)
{
    for (int byte = 0; byte < FEM_FACTORS * VECTOR_BYTES; byte += 64) __builtin_prefetch((const char *)factors + byte, 0, 2);
}

static inline __attribute__((always_inline)) void NAME(stresses)(V *gradient, const V *factors, V lambda, V mu)
{
    for (int q = 0; q < SLOTS; q++, factors += FEM_FACTORS) {
        NAME(prefetch)(factors + SLOTS * FEM_FACTORS);
        NAME(stress)(gradient, q, factors, lambda * factors[9], mu * factors[9]);
    }
}

/* Weights of Gauss points in the unit cube by the number of their indices that are in the middle; and this number for each point. */
enum { NAME(KINDS) = N == 3 ? 4 : 1 };
static const REAL NAME(weight)[4] = {N == 3 ? (REAL)(125.0 / 5832) : (REAL)0.125, (REAL)(200.0 / 5832), (REAL)(320.0 / 5832),
                                     (REAL)(512.0 / 5832)};
static const int8_t NAME(kind)[27] = {0, N - 2, 0, N - 2, 2 * (N - 2), N - 2, 0, N - 2, 0, 1, 2, 1, 2, 3,
                                      2, 1,     2, 1,     0,           1,     0, 1,     2, 1, 0, 1, 0};

static inline __attribute__((always_inline)) void NAME(stresses_affine)(V *gradient, const V *factors, V lambda, V mu)
{
    V weighted[NAME(KINDS)][2];
    for (int i = 0; i < NAME(KINDS); i++) {
        V weight = NAME(weight)[i] * factors[9];
        weighted[i][0] = lambda * weight;
        weighted[i][1] = mu * weight;
    }
    for (int q = 0; q < SLOTS; q++) NAME(stress)(gradient, q, factors, weighted[NAME(kind)[q]][0], weighted[NAME(kind)[q]][1]);
}

/* With k a diagonal matrix, folded into the moduli. */
static inline __attribute__((always_inline)) void NAME(stresses_box)(V *gradient, const V *factors, V lambda, V mu)
{
    const V k[3] = {factors[0], factors[1], factors[2]};
    V shear[NAME(KINDS)][6], stiff[NAME(KINDS)][6]; /* xx yy zz yz xz xy */
    for (int i = 0; i < NAME(KINDS); i++) {
        V weight = NAME(weight)[i] * factors[3], l = lambda * weight, m = mu * weight;
        for (int a = 0; a < 3; a++) {
            V square = k[a] * k[a], mixed = k[(a + 1) % 3] * k[(a + 2) % 3];
            shear[i][a] = m * square;
            stiff[i][a] = (l + m + m) * square;
            shear[i][3 + a] = m * mixed;
            stiff[i][3 + a] = l * mixed;
        }
    }
    for (int q = 0; q < SLOTS; q++) {
        V *g = gradient + q;
        const V *s = shear[NAME(kind)[q]];
#if C == 3
        const V *t = stiff[NAME(kind)[q]];
#define AT(component, axis) g[(3 * (component) + (axis)) * SLOTS]
        V xx = AT(0, 0), yy = AT(1, 1), zz = AT(2, 2);
        AT(0, 0) = t[0] * xx + t[5] * yy + t[4] * zz;
        AT(1, 1) = t[5] * xx + t[1] * yy + t[3] * zz;
        AT(2, 2) = t[4] * xx + t[3] * yy + t[2] * zz;
        V yz = AT(1, 2), zy = AT(2, 1), xz = AT(0, 2), zx = AT(2, 0), xy = AT(0, 1), yx = AT(1, 0);
        AT(1, 2) = s[2] * yz + s[3] * zy;
        AT(2, 1) = s[3] * yz + s[1] * zy;
        AT(0, 2) = s[2] * xz + s[4] * zx;
        AT(2, 0) = s[4] * xz + s[0] * zx;
        AT(0, 1) = s[1] * xy + s[5] * yx;
        AT(1, 0) = s[5] * xy + s[0] * yx;
#undef AT
#else
        (void)stiff;
        for (int a = 0; a < 3; a++) g[a * SLOTS] *= s[a];
#endif
    }
}

/* local [C][SLOTS] nodal values -> element product, in place */
static void NAME(element)(V *local, fem_batch_shape shape, const V *factors, V lambda, V mu)
{
    V gradient[C * 3 * SLOTS];
    for (int c = 0; c < C; c++) NAME(gradient)(local + c * SLOTS, gradient + c * 3 * SLOTS);
    if (shape == FEM_BOX)
        NAME(stresses_box)(gradient, factors, lambda, mu);
    else if (shape == FEM_AFFINE)
        NAME(stresses_affine)(gradient, factors, lambda, mu);
    else
        NAME(stresses)(gradient, factors, lambda, mu);
    for (int c = 0; c < C; c++) NAME(gradient_transposed)(gradient + c * 3 * SLOTS, local + c * SLOTS);
}

static inline const V *NAME(factors)(const fem_batches *b, int32_t batch, fem_batch_shape *shape)
{
    int64_t rows = b->first_factor[batch + 1] - b->first_factor[batch];
    *shape = rows == FEM_BOX_FACTORS ? FEM_BOX : rows == FEM_FACTORS ? FEM_AFFINE : FEM_CURVED;
    return (const V *)b->factors + b->first_factor[batch];
}

static void NAME(apply)(const fem_batches *b, int32_t begin, int32_t end, const void *u, void *y)
{
    V local[C * SLOTS];
    for (int32_t batch = begin; batch < end; batch++) {
        const int64_t table = (int64_t)batch * SLOTS * W;
        const int16_t *face_code = b->face_code + (int64_t)batch * W;
        const V *moduli = (const V *)b->moduli + 2 * (int64_t)batch;
        fem_batch_shape shape;
        const V *factors = NAME(factors)(b, batch, &shape);
        NAME(gather_values)(b, b->gather + table, u, local);
        NAME(expand)(b, face_code, W, C, local);
        NAME(element)(local, shape, factors, moduli[0], moduli[1]);
        NAME(fold)(b, face_code, C, local);
        NAME(scatter_values)(b, b->scatter + table, NAME(lanes)(b, batch), local, y);
    }
}
