#include "tree/sort.h"

#include <omp.h>
#include <string.h>

enum {
    DIGIT_BITS = 11,
    DIGITS = 1 << DIGIT_BITS,
    FIRST_BITS = 3 * DIGIT_BITS, /* of longer keys, as many of the highest bits are sorted first: few keys are equal then */
    LEAST_CHUNK = 4096,
    MAX_CHUNKS = 1024
};

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

static int64_t chunks_of(int64_t count)
{
    int64_t chunks = omp_get_max_threads(), most = count / LEAST_CHUNK + 1;
    if (most > MAX_CHUNKS) most = MAX_CHUNKS;
    return chunks < most ? chunks : most;
}

static int64_t chunk_begin(int64_t count, int64_t chunks, int64_t chunk)
{
    return count / chunks * chunk + count % chunks * chunk / chunks;
}

static unsigned digit(uint64_t key, int shift) { return (unsigned)(key >> shift) & (DIGITS - 1); }

/* Successive keys often have the same digit: they are counted apart, since a counter is ready again only some cycles after it was raised. */
static void count_digits(sorter *s, int shift, int from)
{
    enum { APART = 4 };
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < s->chunks; c++) {
        const int64_t end = chunk_begin(s->count, s->chunks, c + 1);
        int64_t i = chunk_begin(s->count, s->chunks, c);
        int32_t counts[APART][DIGITS] = {{0}};
        for (; i + APART <= end; i += APART)
            for (int k = 0; k < APART; k++) counts[k][digit(s->key[from][i + k], shift)]++;
        for (; i < end; i++) counts[0][digit(s->key[from][i], shift)]++;
        for (int d = 0; d < DIGITS; d++) {
            s->place[c][d] = 0;
            for (int k = 0; k < APART; k++) s->place[c][d] += counts[k][d];
        }
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
        for (int64_t i = chunk_begin(s->count, s->chunks, c); i < chunk_begin(s->count, s->chunks, c + 1); i++) {
            int64_t to = s->place[c][digit(s->key[from][i], shift)]++;
            s->key[!from][to] = s->key[from][i];
            s->order[!from][to] = s->order[from][i];
        }
}

/* Sorts by the bits from `low` to `bits`.  Errors: MEMORY. */
static yoke_status sort_digits(yoke_context *context, int64_t count, int low, int bits, uint64_t *keys, int32_t *order)
{
    sorter s = {.count = count, .chunks = chunks_of(count), .key = {keys}, .order = {order}};
    yoke_status status = yoke_allocate_untouched(context, count, sizeof *s.key[1], &s.key[1]);
    if (!status) status = yoke_allocate_untouched(context, count, sizeof *s.order[1], &s.order[1]);
    if (!status) status = yoke_allocate_untouched(context, s.chunks, sizeof *s.place, &s.place);
    if (!status) {
        int from = 0;
        for (int64_t i = 0; i < count; i++) order[i] = (int32_t)i;
        for (int shift = low; shift < bits; shift += DIGIT_BITS) {
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

/* Keys that are equal to others without their lowest bits, and where they are. */
typedef struct equal_keys {
    int64_t count;
    uint64_t *key;
    int32_t *order, *from, *at;
} equal_keys;

static int is_equal(const uint64_t *keys, int64_t i, int64_t count, int low)
{
    return (i > 0 && keys[i] >> low == keys[i - 1] >> low) || (i + 1 < count && keys[i] >> low == keys[i + 1] >> low);
}

/* Errors: MEMORY. */
static yoke_status find_equal(yoke_context *context, int64_t count, int low, const uint64_t *keys, const int32_t *order, equal_keys *equal)
{
    int64_t chunks = chunks_of(count), place[MAX_CHUNKS + 1] = {0};
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < chunks; c++)
        for (int64_t i = chunk_begin(count, chunks, c); i < chunk_begin(count, chunks, c + 1); i++)
            place[c + 1] += is_equal(keys, i, count, low);
    for (int64_t c = 0; c < chunks; c++) place[c + 1] += place[c];
    equal->count = place[chunks];
    yoke_status status = yoke_allocate_untouched(context, equal->count, sizeof *equal->key, &equal->key);
    if (!status) status = yoke_allocate_untouched(context, equal->count, sizeof *equal->order, &equal->order);
    if (!status) status = yoke_allocate_untouched(context, equal->count, sizeof *equal->from, &equal->from);
    if (!status) status = yoke_allocate_untouched(context, equal->count, sizeof *equal->at, &equal->at);
    if (status) return status;
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < chunks; c++) {
        int64_t next = place[c];
        for (int64_t i = chunk_begin(count, chunks, c); i < chunk_begin(count, chunks, c + 1); i++) {
            if (!is_equal(keys, i, count, low)) continue;
            equal->key[next] = keys[i];
            equal->from[next] = order[i];
            equal->at[next++] = (int32_t)i;
        }
    }
    return YOKE_OK;
}

/*
 * Sorts keys [count] that ascend without their lowest bits.  Those that are then equal to others, mostly few, are sorted as a whole and put back:
 * they have the same places among the rest.  Errors: MEMORY.
 */
static yoke_status sort_rest(yoke_context *context, int64_t count, int low, int bits, uint64_t *keys, int32_t *order)
{
    equal_keys equal = {0};
    yoke_status status = find_equal(context, count, low, keys, order, &equal);
    if (!status) status = sort_digits(context, equal.count, 0, bits, equal.key, equal.order);
    if (!status) {
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < equal.count; i++) {
            keys[equal.at[i]] = equal.key[i];
            order[equal.at[i]] = equal.from[equal.order[i]];
        }
    }
    yoke_release(context, equal.key);
    yoke_release(context, equal.order);
    yoke_release(context, equal.from);
    yoke_release(context, equal.at);
    return status;
}

yoke_status fmm_sort(yoke_context *context, int64_t count, int bits, uint64_t *keys, int32_t *order)
{
    int low = bits > FIRST_BITS ? bits - FIRST_BITS : 0;
    yoke_status status = sort_digits(context, count, low, bits, keys, order);
    return status || low == 0 ? status : sort_rest(context, count, low, bits, keys, order);
}
