#include "mesh/file/rewrite.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

yoke_status fem_text_put(yoke_context *context, fem_text *to, const char *format, ...)
{
    while (to->capacity - to->bytes < FEM_TEXT_MOST) {
        yoke_status status = yoke_grow(context, &to->text, to->capacity, &to->capacity, 1 << 16, 1);
        if (status) return status;
    }
    va_list values;
    va_start(values, format);
    to->bytes += vsnprintf(to->text + to->bytes, FEM_TEXT_MOST, format, values);
    va_end(values);
    return YOKE_OK;
}

yoke_status fem_labels_add(yoke_context *context, fem_labels *to, int64_t number, int64_t line)
{
    yoke_status status = yoke_grow(context, &to->item, to->count, &to->capacity, 1024, sizeof *to->item);
    if (!status) to->item[to->count++] = (fem_label){number, line};
    return status;
}

static int by_number(const void *a, const void *b)
{
    const fem_label *left = a, *right = b;
    if (left->number != right->number) return left->number < right->number ? -1 : 1;
    return (left->line > right->line) - (left->line < right->line);
}

static void sort(fem_labels *all)
{
    if (all->sorted < all->count) qsort(all->item, (size_t)all->count, sizeof *all->item, by_number);
    all->sorted = all->count;
}

int fem_labels_have(fem_labels *all, int64_t number)
{
    sort(all);
    int64_t low = 0, high = all->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (all->item[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < all->count && all->item[low].number == number;
}

yoke_status fem_labels_check_unique(yoke_context *context, const char *path, fem_labels *all, const char *what)
{
    sort(all);
    for (int64_t i = 1; i < all->count; i++)
        if (all->item[i].number == all->item[i - 1].number)
            return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s' line %lld: %s %lld is given a second time (first in line %lld)", path,
                             (long long)all->item[i].line, what, (long long)all->item[i].number, (long long)all->item[i - 1].line);
    return YOKE_OK;
}

void fem_labels_clear(yoke_context *context, fem_labels *all)
{
    yoke_release(context, all->item);
    *all = (fem_labels){0};
}

void fem_left_out_add(fem_left_out *kept, const char *name)
{
    for (int i = 0; i < FEM_LEFT_OUT; i++) {
        if (kept[i].count == 0) snprintf(kept[i].name, sizeof kept[i].name, "%s", name);
        if (strncmp(kept[i].name, name, sizeof kept[i].name - 1) != 0) continue;
        kept[i].count++;
        return;
    }
}

void fem_left_out_text(const fem_left_out *kept, char *text, size_t size)
{
    size_t length = 0;
    text[0] = 0;
    for (int i = 0; i < FEM_LEFT_OUT && kept[i].count > 0 && length < size - 64; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s (%lld)", i ? ", " : "", kept[i].name, (long long)kept[i].count);
}
