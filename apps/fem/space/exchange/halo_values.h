/* halo_values.h - copies values of shared nodes to and from messages; included for REAL = double and float. */
static void NAME(take)(const fem_halo_messages *m, const REAL *values, const int32_t *place)
{
    const fem_halo *halo = m->halo;
    const int width = m->width;
    REAL *own = m->own, *sent = m->sent;
    for (int32_t s = 0; s < halo->num_shared; s++) {
        const REAL *value = values + (int64_t)(place ? place[s] : halo->shared[s]) * width;
        for (int c = 0; c < width; c++) own[(int64_t)s * width + c] = value[c];
    }
    for (int32_t i = 0; i < halo->first[halo->num_neighbours]; i++)
        for (int c = 0; c < width; c++) sent[(int64_t)i * width + c] = own[(int64_t)halo->item[i] * width + c];
}

static void NAME(add)(const fem_halo_messages *m, REAL *values, const int32_t *place)
{
    const fem_halo *halo = m->halo;
    const int width = m->width, rank = app_ranks_number(halo->ranks);
    const REAL *own = m->own, *received = m->received;
    int next = 0;
    while (next < halo->num_neighbours && halo->neighbour[next] < rank) next++;
    /* `values` has own values already: the sum begins with those of lower ranks */
    for (int32_t s = 0; s < halo->num_shared && next > 0; s++) {
        REAL *value = values + (int64_t)(place ? place[s] : halo->shared[s]) * width;
        for (int c = 0; c < width; c++) value[c] = 0;
    }
    for (int n = 0; n <= halo->num_neighbours; n++) {
        if (n == next && n > 0)
            for (int32_t s = 0; s < halo->num_shared; s++) {
                REAL *value = values + (int64_t)(place ? place[s] : halo->shared[s]) * width;
                for (int c = 0; c < width; c++) value[c] += own[(int64_t)s * width + c];
            }
        if (n == halo->num_neighbours) return;
        for (int32_t i = halo->first[n]; i < halo->first[n + 1]; i++) {
            const int32_t s = halo->item[i];
            REAL *value = values + (int64_t)(place ? place[s] : halo->shared[s]) * width;
            for (int c = 0; c < width; c++) value[c] += received[(int64_t)i * width + c];
        }
    }
}

static void NAME(choose)(const fem_halo_messages *m, REAL *values, const int32_t *place)
{
    const fem_halo *halo = m->halo;
    const int width = m->width;
    const REAL *received = m->received;
    for (int32_t s = 0; s < halo->num_shared; s++) {
        if (halo->source[s] < 0) continue;
        REAL *value = values + (int64_t)(place ? place[s] : halo->shared[s]) * width;
        for (int c = 0; c < width; c++) value[c] = received[(int64_t)halo->source[s] * width + c];
    }
}
