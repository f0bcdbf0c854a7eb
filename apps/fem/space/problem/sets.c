#include "space/problem/sets.h"

void fem_sets_start(int64_t count, int32_t *set)
{
    for (int64_t i = 0; i < count; i++) set[i] = (int32_t)i;
}

/* Returns the root of a member's set.  The parent of each member is in its set; the root is its own parent.  Halves the path on the way. */
static int32_t root_of(int32_t *parent, int32_t member)
{
    while (parent[member] != member) {
        parent[member] = parent[parent[member]];
        member = parent[member];
    }
    return member;
}

void fem_sets_merge(int32_t *set, int32_t a, int32_t b)
{
    int32_t left = root_of(set, a), right = root_of(set, b);
    set[left > right ? left : right] = left < right ? left : right; /* the smaller number is the root */
}

int32_t fem_sets_number(int64_t count, int32_t *set)
{
    int32_t sets = 0;
    for (int64_t i = 0; i < count; i++) /* a parent precedes its child, so it has a number (stored as -1 - number) by then */
        set[i] = set[i] == i ? -1 - sets++ : set[set[i]];
    for (int64_t i = 0; i < count; i++) set[i] = -1 - set[i];
    return sets;
}
