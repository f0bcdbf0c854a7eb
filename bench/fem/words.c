#include "fem/words.h"

#include <stdlib.h>
#include <string.h>

bool fem_bench_next_word(const char **list, char *word, size_t size)
{
    if (!*list) return false;
    size_t length = strcspn(*list, ",");
    size_t kept = length < size - 1 ? length : size - 1;
    memcpy(word, *list, kept);
    word[kept] = 0;
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return true;
}

yoke_status fem_bench_read_numbers(yoke_context *context, const char *option, const char *list, int64_t largest, int most_numbers,
                                   int64_t *numbers, int *count)
{
    char word[64];
    *count = 0;
    while (fem_bench_next_word(&list, word, sizeof word)) {
        char *end;
        long long number = strtoll(word, &end, 10);
        if (end == word || *end || number < 1 || number > largest)
            return yoke_fail(context, YOKE_ERROR_INPUT, "--%s: %s: expected numbers from 1 to %lld, between commas", option, word,
                             (long long)largest);
        if (*count == most_numbers) return yoke_fail(context, YOKE_ERROR_INPUT, "--%s: more than %d numbers", option, most_numbers);
        numbers[(*count)++] = number;
    }
    return YOKE_OK;
}

int fem_bench_find_word(const char *word, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(word, words[i])) return i;
    return -1;
}

yoke_status fem_bench_read_words(yoke_context *context, const char *option, const char *list, const char *const *words, int count,
                                 const char *exist, unsigned *bits)
{
    char word[64];
    *bits = 0;
    while (fem_bench_next_word(&list, word, sizeof word)) {
        int number = fem_bench_find_word(word, words, count);
        if (number < 0) return yoke_fail(context, YOKE_ERROR_INPUT, "--%s: %s: there are %s, between commas", option, word, exist);
        *bits |= 1u << number;
    }
    return YOKE_OK;
}

const char *const fem_bench_element_name[] = {[FEM_Q1] = "q1", [FEM_S2] = "s2", [FEM_Q2] = "q2"};

yoke_status fem_bench_read_element(yoke_context *context, const char *text, fem_element *element)
{
    int number = text ? fem_bench_find_word(text, fem_bench_element_name, 3) : FEM_Q2;
    if (number < 0) return yoke_fail(context, YOKE_ERROR_INPUT, "--element %s: expected q1, s2 or q2", text);
    *element = (fem_element)number;
    return YOKE_OK;
}
