#include "ranks/exchange.h"

#include <string.h>

yoke_status dense_exchange_create(yoke_context *context, app_ranks *ranks, int most, dense_exchange *exchange)
{
    dense_exchange e = {.ranks = ranks, .room = (int64_t)most * app_ranks_count(ranks)};
    yoke_status status = yoke_allocate(context, e.room, sizeof *e.send, &e.send);
    if (!status) status = yoke_allocate(context, e.room, sizeof *e.receive, &e.receive);
    if (status)
        yoke_release(context, e.send);
    else
        *exchange = e;
    return status;
}

void dense_exchange_destroy(yoke_context *context, dense_exchange *exchange)
{
    yoke_release(context, exchange->send);
    yoke_release(context, exchange->receive);
    *exchange = (dense_exchange){.ranks = NULL};
}

void dense_exchange_clear(dense_exchange *exchange)
{
    exchange->num_send = exchange->num_receive = 0;
    exchange->bytes = 0;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static yoke_rectangle overlap(yoke_rectangle a, yoke_rectangle b)
{
    const int64_t row = larger(a.row, b.row), end = smaller(a.row + a.rows, b.row + b.rows);
    const int64_t column = larger(a.column, b.column), last = smaller(a.column + a.columns, b.column + b.columns);
    if (end <= row || last <= column) return (yoke_rectangle){0, 0, 0, 0};
    return (yoke_rectangle){row, column, end - row, last - column};
}

/* Address of the entries `part` in the matrix that holds the entries `place`. */
static char *find(const dense_matrix *matrix, yoke_rectangle place, yoke_rectangle part)
{
    return (char *)matrix->entries + ((part.row - place.row) * matrix->columns + part.column - place.column) * (int64_t)matrix->precision;
}

static app_message message(int rank, int tag, const dense_matrix *matrix, yoke_rectangle place, yoke_rectangle part)
{
    return (app_message){
        .rank = rank, .tag = tag, .first = find(matrix, place, part), .rows = part.rows, .columns = part.columns, .pitch = matrix->columns};
}

static void copy(const dense_parts *have, const dense_parts *need, int me, yoke_rectangle part)
{
    const char *from = find(have->mine, have->places[me], part);
    char *to = find(need->mine, need->places[me], part);
    const int64_t size = (int64_t)have->mine->precision;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < part.rows; i++)
        memcpy(to + i * need->mine->columns * size, from + i * have->mine->columns * size, (size_t)(part.columns * size));
}

void dense_exchange_add(dense_exchange *exchange, int tag, const dense_parts *have, const dense_parts *need)
{
    dense_exchange *e = exchange;
    const int me = app_ranks_number(e->ranks), count = app_ranks_count(e->ranks);
    for (int other = 0; other < count; other++) {
        const yoke_rectangle out = overlap(have->places[me], need->places[other]), in = overlap(have->places[other], need->places[me]);
        if (other == me && out.rows) copy(have, need, me, out);
        if (other == me) continue;
        if (out.rows) e->send[e->num_send++] = message(other, tag, have->mine, have->places[me], out);
        if (!in.rows) continue;
        e->receive[e->num_receive++] = message(other, tag, need->mine, need->places[me], in);
        e->bytes += (double)in.rows * (double)in.columns * (double)need->mine->precision;
    }
}

yoke_status dense_exchange_start(dense_exchange *exchange, dense_precision precision)
{
    return app_transfer_start(exchange->ranks, (int)precision, exchange->send, exchange->num_send, exchange->receive, exchange->num_receive,
                              &exchange->transfer);
}

void dense_exchange_finish(dense_exchange *exchange, double *seconds)
{
    app_transfer_finish(exchange->transfer, seconds);
    exchange->transfer = NULL;
}
