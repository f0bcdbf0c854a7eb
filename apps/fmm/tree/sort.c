#include "tree/sort.h"

#include <omp.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, LEAST_CHUNK = 4096, MAX_CHUNKS = 1024 };

/*
 * One pass moves all pairs of key and number from one pair of arrays to the other, by one digit, the lowest first.  The pairs are cut into chunks, one
 * per thread: place[chunk][digit] is first the number of the chunk's keys with the digit and then where the next of them goes.
 */
typedef struct sorter {
    int64_t count, chunks;
    uint64_t *key[2];
    int32_t *order[2];
    int64_t (*place)[DIGITS];
} sorter;

static int64_t chunk_begin(const sorter *s, int64_t chunk)
{
    return s->count / s->chunks * chunk + s->count % s->chunks * chunk / s->chunks;
}

static unsigned digit(uint64_t key, int shift) { return (unsigned)(key >> shift) & (DIGITS - 1); }

static void count_digits(sorter *s, int shift, int from)
{
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < s->chunks; c++) {
        memset(s->place[c], 0, sizeof s->place[c]);
        for (int64_t i = chunk_begin(s, c); i < chunk_begin(s, c + 1); i++) s->place[c][digit(s->key[from][i], shift)]++;
    }
}

/* Whether all keys have the same digit, so that nothing has to be moved. */
static int sum_places(sorter *s)
{
    int64_t next = 0;
    for (int d = 0; d < DIGITS; d++) {
        int64_t first = next;
        for (int64_t c = 0; c < s->chunks; c++) {
            int64_t number = s->place[c][d];
            s->place[c][d] = next;
            next += number;
        }
        if (next - first == s->count) return 1;
    }
    return 0;
}

static void move(sorter *s, int shift, int from)
{
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < s->chunks; c++)
        for (int64_t i = chunk_begin(s, c); i < chunk_begin(s, c + 1); i++) {
            int64_t to = s->place[c][digit(s->key[from][i], shift)]++;
            s->key[!from][to] = s->key[from][i];
            s->order[!from][to] = s->order[from][i];
        }
}

yoke_status fmm_sort(yoke_context *context, int64_t count, int bits, uint64_t *keys, int32_t *order)
{
    sorter s = {.count = count, .chunks = omp_get_max_threads(), .key = {keys}, .order = {order}};
    if (s.chunks > count / LEAST_CHUNK + 1) s.chunks = count / LEAST_CHUNK + 1;
    if (s.chunks > MAX_CHUNKS) s.chunks = MAX_CHUNKS;
    yoke_status status = yoke_allocate_untouched(context, count, sizeof *s.key[1], &s.key[1]);
    if (!status) status = yoke_allocate_untouched(context, count, sizeof *s.order[1], &s.order[1]);
    if (!status) status = yoke_allocate_untouched(context, s.chunks, sizeof *s.place, &s.place);
    if (!status) {
        int from = 0;
        for (int64_t i = 0; i < count; i++) order[i] = (int32_t)i;
        for (int shift = 0; shift < bits; shift += DIGIT_BITS) {
            count_digits(&s, shift, from);
            if (sum_places(&s)) continue;
            move(&s, shift, from);
            from = !from;
        }
        if (from && count) {
            memcpy(keys, s.key[1], (size_t)count * sizeof *keys);
            memcpy(order, s.order[1], (size_t)count * sizeof *order);
        }
    }
    yoke_release(context, s.key[1]);
    yoke_release(context, s.order[1]);
    yoke_release(context, s.place);
    return status;
}
