/* Maps the node numbers of a file to indices. */
#include "mesh/private.h"

#include <limits.h>
#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
    const int64_t *left = a, *right = b;
    return (left[0] > right[0]) - (left[0] < right[0]);
}

static yoke_status used_twice(yoke_context *context, const char *path, int64_t number)
{
    return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s' has two nodes with the number %lld: renumber them", path, (long long)number);
}

static yoke_status make_table(yoke_context *context, const char *path, const int64_t *number, fem_numbers *numbers)
{
    yoke_status status = yoke_allocate_untouched(context, numbers->table_size, sizeof(int32_t), &numbers->table);
    if (status) return status;
    for (int64_t i = 0; i < numbers->table_size; i++) numbers->table[i] = -1;
    for (int64_t i = 0; i < numbers->count; i++) {
        if (numbers->table[number[i]] >= 0) return used_twice(context, path, number[i]);
        numbers->table[number[i]] = (int32_t)i;
    }
    return YOKE_OK;
}

/* For numbers with wide gaps: a sorted list instead of a table. */
static yoke_status make_sorted(yoke_context *context, const char *path, const int64_t *number, fem_numbers *numbers)
{
    yoke_status status = yoke_allocate(context, numbers->count, 2 * sizeof(int64_t), &numbers->sorted);
    if (status) return status;
    for (int64_t i = 0; i < numbers->count; i++) {
        numbers->sorted[2 * i] = number[i];
        numbers->sorted[2 * i + 1] = i;
    }
    qsort(numbers->sorted, (size_t)numbers->count, 2 * sizeof(int64_t), by_number);
    for (int64_t i = 1; i < numbers->count; i++)
        if (numbers->sorted[2 * i] == numbers->sorted[2 * i - 2]) return used_twice(context, path, numbers->sorted[2 * i]);
    return YOKE_OK;
}

yoke_status fem_numbers_create(yoke_context *context, const char *path, int64_t count, const int64_t *number, fem_numbers *numbers)
{
    int64_t largest = 0;
    for (int64_t i = 0; i < count; i++) {
        if (number[i] < 1 || number[i] == INT64_MAX)
            return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s' has a node with the number %lld; node numbers begin at 1", path,
                             (long long)number[i]);
        if (number[i] > largest) largest = number[i];
    }
    fem_numbers made = {.count = count};
    yoke_status status;
    if (largest / 4 <= count) {
        made.table_size = largest + 1;
        status = make_table(context, path, number, &made);
    } else {
        status = make_sorted(context, path, number, &made);
    }
    if (status)
        fem_numbers_clear(context, &made);
    else
        *numbers = made;
    return status;
}

void fem_numbers_clear(yoke_context *context, fem_numbers *numbers)
{
    yoke_release(context, numbers->table);
    yoke_release(context, numbers->sorted);
    *numbers = (fem_numbers){0};
}

int64_t fem_numbers_find(const fem_numbers *numbers, int64_t number)
{
    if (numbers->table) return number >= 0 && number < numbers->table_size ? numbers->table[number] : -1;
    int64_t key[2] = {number, 0};
    const int64_t *found = numbers->count > 0 ? bsearch(key, numbers->sorted, (size_t)numbers->count, sizeof key, by_number) : NULL;
    return found ? found[1] : -1;
}
