/* batch_element.h - the product of a vector of elements; included by batch_body.h. */

/* At one point: from the gradient in scaled reference coordinates to the weighted stress (flux) in the same, in place. */
static inline __attribute__((always_inline)) void NAME(stress)(V *gradient, int q, const V *k, V lambda, V mu)
{
    V weight = k[9];
#if C == 3
    V h[3][3];
    for (int i = 0; i < 3; i++) {
        const V *g = gradient + i * 3 * SLOTS + q;
        for (int j = 0; j < 3; j++) h[i][j] = g[0] * k[j] + g[SLOTS] * k[3 + j] + g[2 * SLOTS] * k[6 + j];
    }
    V m = mu * weight, m2 = m + m, pressure = lambda * weight * (h[0][0] + h[1][1] + h[2][2]);
    V xx = pressure + m2 * h[0][0], yy = pressure + m2 * h[1][1], zz = pressure + m2 * h[2][2];
    V yz = m * (h[1][2] + h[2][1]), xz = m * (h[0][2] + h[2][0]), xy = m * (h[0][1] + h[1][0]);
    for (int r = 0; r < 3; r++) {
        gradient[(0 + r) * SLOTS + q] = xx * k[3 * r] + xy * k[3 * r + 1] + xz * k[3 * r + 2];
        gradient[(3 + r) * SLOTS + q] = xy * k[3 * r] + yy * k[3 * r + 1] + yz * k[3 * r + 2];
        gradient[(6 + r) * SLOTS + q] = xz * k[3 * r] + yz * k[3 * r + 1] + zz * k[3 * r + 2];
    }
#else
    (void)lambda;
    V m = mu * weight, h[3];
    V *g = gradient + q;
    for (int j = 0; j < 3; j++) h[j] = m * (g[0] * k[j] + g[SLOTS] * k[3 + j] + g[2 * SLOTS] * k[6 + j]);
    for (int r = 0; r < 3; r++) g[r * SLOTS] = h[0] * k[3 * r] + h[1] * k[3 * r + 1] + h[2] * k[3 * r + 2];
#endif
}

/*
 * The factors are most of what a product reads, and come from memory once.  Those of the next batch are asked for while this one is worked
 * on, into the second-level cache: in the first they would drive out the values.  Asking beyond the array's end does no harm.
 */
static inline __attribute__((always_inline)) void NAME(prefetch)(const V *factors)
{
    for (int byte = 0; byte < FEM_FACTORS * VECTOR_BYTES; byte += 64) __builtin_prefetch((const char *)factors + byte, 0, 2);
}

/* local [C][SLOTS] nodal values -> element product, in place */
static inline __attribute__((always_inline)) void NAME(element)(V *local, const V *factors, V lambda, V mu)
{
    V gradient[C * 3 * SLOTS];
    for (int c = 0; c < C; c++) NAME(gradient)(local + c * SLOTS, gradient + c * 3 * SLOTS);
    for (int q = 0; q < SLOTS; q++) {
        NAME(prefetch)(factors + (SLOTS + q) * FEM_FACTORS);
        NAME(stress)(gradient, q, factors + q * FEM_FACTORS, lambda, mu);
    }
    for (int c = 0; c < C; c++) NAME(gradient_transposed)(gradient + c * 3 * SLOTS, local + c * SLOTS);
}

static void NAME(apply)(const fem_batches *b, int32_t begin, int32_t end, const void *u, void *y)
{
    V local[C * SLOTS];
    for (int32_t batch = begin; batch < end; batch++) {
        const int64_t table = (int64_t)batch * SLOTS * W;
        const int16_t *face_code = b->face_code + (int64_t)batch * W;
        const V *moduli = (const V *)b->moduli + 2 * (int64_t)batch;
        NAME(gather_values)(b, b->gather + table, u, local);
        NAME(expand)(b, face_code, W, C, local);
        NAME(element)(local, (const V *)b->factors + (int64_t)batch * SLOTS * FEM_FACTORS, moduli[0], moduli[1]);
        NAME(fold)(b, face_code, C, local);
        NAME(scatter_values)(b, b->scatter + table, NAME(lanes)(b, batch), local, y);
    }
}
