#include "tree/sort.h"

#include <omp.h>
#include <string.h>

enum {
    DIGIT_BITS = 11,
    DIGITS = 1 << DIGIT_BITS,
    FEW_BITS = 2 * DIGIT_BITS,  /* longer keys are sorted by this number of their highest bits first, in which few keys are equal, ... */
    MANY_BITS = 3 * DIGIT_BITS, /* ... and by this number if there are more than FEW keys */
    FEW = 1 << 21,
    LEAST_CHUNK = 4096,
    MAX_CHUNKS = 1024,
    CHUNK = 1024,       /* approximate number of keys that a thread takes at a time, to sort those with equal highest bits */
    MOST_INSERTED = 48, /* maximum number of keys with equal highest bits that are sorted by insertion, ... */
    MOST_LOCAL = 8192   /* ... and by one thread */
};

/*
 * One pass moves all pairs of key and number from one pair of arrays to the other, by one digit, the lowest first.  The pairs are divided
 * into chunks, one for each thread.  place[chunk][digit] is first the number of the chunk's keys with the digit, and then the position of
 * the next of them.
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

/* Counts the digits of each chunk.  Successive keys often have the same digit.  They have separate counters, because a counter that was
 * just incremented is available again only after some cycles. */
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

/* Replaces the counts by positions.  Returns nonzero if all keys have the same digit, so that nothing has to be moved. */
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
        for (int shift = low; shift < bits; shift += DIGIT_BITS) {
            count_digits(&s, shift, from);
            if (sum_places(&s)) continue;
            move(&s, shift, from);
            from = !from;
        }
#pragma omp parallel for schedule(static) if (from)
        for (int64_t i = 0; i < (from ? count : 0); i++) keys[i] = s.key[1][i], order[i] = s.order[1][i];
    }
    yoke_release(context, s.key[1]);
    yoke_release(context, s.order[1]);
    yoke_release(context, s.place);
    return status;
}

/* ------------------------------------------------------------------------------------------------ equal keys */

/* Sorts few pairs by insertion.  As all sorts here it is stable. */
static void insert(int64_t count, uint64_t *keys, int32_t *order)
{
    for (int64_t i = 1; i < count; i++) {
        const uint64_t key = keys[i];
        const int32_t number = order[i];
        int64_t k = i;
        for (; k > 0 && keys[k - 1] > key; k--) keys[k] = keys[k - 1], order[k] = order[k - 1];
        keys[k] = key, order[k] = number;
    }
}

/* Sorts at most MOST_LOCAL pairs in the cache of one core, by the digits in which keys differ, the lowest first. */
static void sort_some(int64_t count, uint64_t *keys, int32_t *order)
{
    enum { BITS = 8, VALUES = 1 << BITS };
    uint64_t other_key[MOST_LOCAL], differ = 0;
    int32_t other_order[MOST_LOCAL];
    for (int64_t i = 1; i < count; i++) differ |= keys[i] ^ keys[0];
    for (int shift = 0; shift < 64 && differ >> shift; shift += BITS) {
        int32_t place[VALUES + 1] = {0};
        if (!(differ >> shift & (VALUES - 1))) continue;
        for (int64_t i = 0; i < count; i++) place[(keys[i] >> shift & (VALUES - 1)) + 1]++;
        for (int v = 0; v < VALUES; v++) place[v + 1] += place[v];
        for (int64_t i = 0; i < count; i++) {
            const int32_t to = place[keys[i] >> shift & (VALUES - 1)]++;
            other_key[to] = keys[i], other_order[to] = order[i];
        }
        memcpy(keys, other_key, (size_t)count * sizeof *keys);
        memcpy(order, other_order, (size_t)count * sizeof *order);
    }
}

/* Returns the end of the keys that are equal to keys[first] except for their `low` lowest bits. */
static int64_t end_of_equal(const uint64_t *keys, int64_t first, int64_t count, int low)
{
    int64_t end = first + 1;
    while (end < count && keys[end] >> low == keys[first] >> low) end++;
    return end;
}

/* Sets begin [count / CHUNK + 2] to the beginnings of chunks.  Keys with equal highest bits are in the same chunk, so each thread reads
 * and moves its own keys only.  Returns the number of chunks. */
static int64_t cut(int64_t count, int low, const uint64_t *keys, int64_t *begin)
{
    const int64_t chunks = count / CHUNK + 1;
    begin[0] = 0;
    for (int64_t c = 1; c < chunks; c++) {
        const int64_t first = c * CHUNK;
        begin[c] = begin[c - 1] > first ? begin[c - 1] : first < count ? end_of_equal(keys, first - 1, count, low) : count;
    }
    begin[chunks] = count;
    return chunks;
}

/*
 * Sorts keys that are sorted except for their `low` lowest bits.  A group of keys with equal highest bits is sorted by one thread if it has
 * at most MOST_LOCAL keys.  The other groups are listed by their first keys, in many [count / MOST_LOCAL].  Returns their number.
 */
static int64_t sort_few_equal(int64_t chunks, const int64_t *begin, int low, uint64_t *keys, int32_t *order, int64_t *many)
{
    int64_t listed = 0;
#pragma omp parallel for schedule(dynamic)
    for (int64_t c = 0; c < chunks; c++)
        for (int64_t i = begin[c], equal; i < begin[c + 1]; i += equal) {
            equal = end_of_equal(keys, i, begin[c + 1], low) - i;
            if (equal <= MOST_INSERTED) {
                insert(equal, keys + i, order + i);
            } else if (equal <= MOST_LOCAL) {
                sort_some(equal, keys + i, order + i);
            } else {
                int64_t at;
#pragma omp atomic capture
                at = listed++;
                many[at] = i;
            }
        }
    return listed;
}

static yoke_status sort_bits(yoke_context *context, int64_t count, int bits, uint64_t *keys, int32_t *order);

/* Sorts keys that are sorted except for their `low` lowest bits.  Errors: MEMORY. */
static yoke_status sort_rest(yoke_context *context, int64_t count, int low, uint64_t *keys, int32_t *order)
{
    int64_t *many = NULL, *begin = NULL, listed = 0;
    yoke_status status = yoke_allocate_untouched(context, count / MOST_LOCAL, sizeof *many, &many);
    if (!status) status = yoke_allocate_untouched(context, count / CHUNK + 2, sizeof *begin, &begin);
    if (!status) listed = sort_few_equal(cut(count, low, keys, begin), begin, low, keys, order, many);
    for (int64_t k = 0; k < listed && !status; k++)
        status = sort_bits(context, end_of_equal(keys, many[k], count, low) - many[k], low, keys + many[k], order + many[k]);
    yoke_release(context, begin);
    yoke_release(context, many);
    return status;
}

/* Sorts keys by their `bits` lowest bits; all others are equal.  Errors: MEMORY. */
static yoke_status sort_bits(yoke_context *context, int64_t count, int bits, uint64_t *keys, int32_t *order)
{
    const int first = count > FEW ? MANY_BITS : FEW_BITS, low = bits > first ? bits - first : 0;
    yoke_status status = sort_digits(context, count, low, bits, keys, order);
    return status || low == 0 ? status : sort_rest(context, count, low, keys, order);
}

yoke_status fmm_sort(yoke_context *context, int64_t count, int bits, uint64_t *keys, int32_t *order)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) order[i] = (int32_t)i;
    return sort_bits(context, count, bits, keys, order);
}
