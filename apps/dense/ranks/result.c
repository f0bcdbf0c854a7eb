/* Checks, writes and reports the result of a product on several ranks. */
#include <string.h>

#include "matrix/npy.h"
#include "ranks/product.h"

enum { STRIP_BYTES = 64 << 20, TAG_STRIP = 4 };

yoke_status dense_product_check(const dense_product *p, uint64_t seed, dense_freivalds *check)
{
    const int me = app_ranks_number(p->ranks);
    const yoke_rectangle a = p->places_a[me], b = p->places_b[me], c = p->places_c[me];
    dense_freivalds_vectors v = {.m = 0};
    yoke_status status = dense_freivalds_vectors_create(p->context, p->grid.m, p->grid.n, p->grid.k, seed, &v);
    status = app_ranks_agree(p->ranks, status);
    if (!status) {
        if (b.rows) dense_freivalds_add(&p->b, v.x + b.column, v.scale_x + b.column, v.bx + b.row, v.scale_bx + b.row);
        app_ranks_sum(p->ranks, v.bx, v.k);
        app_ranks_sum(p->ranks, v.scale_bx, v.k);
        if (a.rows) dense_freivalds_add(&p->a, v.bx + a.column, v.scale_bx + a.column, v.abx + a.row, v.scale + a.row);
        if (c.rows) dense_freivalds_add(&p->c, v.x + c.column, NULL, v.cx + c.row, NULL);
        app_ranks_sum(p->ranks, v.abx, v.m);
        app_ranks_sum(p->ranks, v.scale, v.m);
        app_ranks_sum(p->ranks, v.cx, v.m);
        dense_freivalds_compare(&v, p->grid.precision, check);
    }
    dense_freivalds_vectors_destroy(&v);
    return status;
}

/* Collects rows of C on rank 0.  places [ranks] */
static yoke_status collect(dense_product *p, int64_t row, int64_t rows, dense_matrix *strip)
{
    double seconds;
    memset(p->scratch, 0, (size_t)p->grid.ranks * sizeof *p->scratch);
    p->scratch[0] = (yoke_rectangle){row, 0, rows, p->grid.n};
    const dense_parts have = {p->places_c, &p->c}, need = {p->scratch, strip};
    strip->rows = rows;
    dense_exchange_clear(&p->exchange);
    dense_exchange_add(&p->exchange, TAG_STRIP, &have, &need);
    yoke_status status = dense_exchange_start(&p->exchange, p->grid.precision);
    if (!status) dense_exchange_finish(&p->exchange, &seconds);
    return status;
}

yoke_status dense_product_write(dense_product *p, const char *path)
{
    const bool writes = app_ranks_number(p->ranks) == 0;
    const int64_t most = STRIP_BYTES / (p->grid.n * (int64_t)p->grid.precision) + 1, high = most < p->grid.m ? most : p->grid.m;
    dense_matrix strip = {.entries = NULL};
    app_file *file = NULL;
    yoke_status status = writes ? dense_matrix_create(p->context, high, p->grid.n, p->grid.precision, &strip) : YOKE_OK;
    if (!status && writes) status = dense_npy_begin(p->context, path, p->grid.precision, p->grid.m, p->grid.n, &file);
    status = app_ranks_agree(p->ranks, status);
    for (int64_t row = 0; row < p->grid.m && !status; row += high) {
        status = collect(p, row, high < p->grid.m - row ? high : p->grid.m - row, &strip);
        if (!status && writes) dense_npy_append(&strip, file);
    }
    dense_matrix_destroy(&strip);
    if (status) {
        app_file_abandon(file);
        return status;
    }
    return app_ranks_agree(p->ranks, writes ? app_file_commit(file) : YOKE_OK);
}

yoke_status dense_product_devices(const dense_product *p, dense_rank_device **devices, int *count)
{
    const int ranks = p->grid.ranks;
    int *counts = NULL, most = 1, all = 0;
    dense_rank_device *gathered = NULL, *mine = NULL;
    yoke_status status = yoke_allocate(p->context, ranks, sizeof *counts, &counts);
    status = app_ranks_agree(p->ranks, status);
    if (!status) {
        app_ranks_gather(p->ranks, &p->num_devices, sizeof p->num_devices, counts);
        for (int i = 0; i < ranks; i++) most = counts[i] > most ? counts[i] : most;
        status = yoke_allocate(p->context, (int64_t)ranks * most, sizeof *gathered, &gathered);
        if (!status) status = yoke_allocate(p->context, most, sizeof *mine, &mine);
        status = app_ranks_agree(p->ranks, status);
    }
    if (!status) {
        memcpy(mine, p->devices, (size_t)p->num_devices * sizeof *mine);
        app_ranks_gather(p->ranks, mine, most * (int)sizeof *mine, gathered);
        for (int i = 0; i < ranks; i++)
            for (int k = 0; k < counts[i]; k++) gathered[all++] = gathered[i * most + k];
        *devices = gathered;
        *count = all;
    } else
        yoke_release(p->context, gathered);
    yoke_release(p->context, mine);
    yoke_release(p->context, counts);
    return status;
}
