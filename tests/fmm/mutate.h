/*
 * mutate.h - damages bytes of a file, at random but the same for the same seed.
 */
#ifndef FMM_TESTS_MUTATE_H
#define FMM_TESTS_MUTATE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* xorshift64* (Vigna 2016), from 0 to below - 1. */
static inline size_t mutate_random(uint64_t *state, size_t below)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (size_t)((*state * 0x2545F4914F6CDD1D) >> 33) % below;
}

/* One change in bytes [*size], of which there is room for `room`: words put in, bytes and bits changed, pieces moved, removed or doubled, an end cut off. */
static inline void mutate_once(uint64_t *state, unsigned char *bytes, size_t *size, size_t room)
{
    static const char *const words[] = {"nan",
                                        "-inf",
                                        "1e999",
                                        "1e-999",
                                        "99999999999999999999",
                                        "-1",
                                        "0",
                                        "",
                                        " ",
                                        ",",
                                        "\n",
                                        "\r\n",
                                        "#",
                                        "\"",
                                        "Properties=",
                                        ":R:3:",
                                        "x y z q",
                                        "\xff\xff\xff\xff\xff\xff\xff\xff",
                                        "\x7f"};
    const char *word = words[mutate_random(state, sizeof words / sizeof *words)];
    size_t at = mutate_random(state, *size), length = 1 + mutate_random(state, 32), to = mutate_random(state, *size);
    if (length > *size - at) length = *size - at;
    switch (mutate_random(state, 7)) {
    case 0:
        bytes[at] ^= (unsigned char)(1 << mutate_random(state, 8));
        break;
    case 1:
        bytes[at] = (unsigned char)mutate_random(state, 256);
        break;
    case 2:
        memcpy(bytes + at, word, strlen(word) < length ? strlen(word) : length);
        break;
    case 3: /* a piece over another */
        memmove(bytes + to, bytes + at, length < *size - to ? length : *size - to);
        break;
    case 4: /* removed */
        memmove(bytes + at, bytes + at + length, *size - at - length);
        *size -= length;
        break;
    case 5: /* doubled */
        if (length > room - *size) break;
        memmove(bytes + at + length, bytes + at, *size - at);
        *size += length;
        break;
    default:
        *size = at;
    }
    if (*size == 0) bytes[(*size)++] = '\n';
}

/* 1 to 4 changes in a copy, bytes [room], of the original [size]; returns its size. */
static inline size_t mutate(uint64_t seed, const unsigned char *original, size_t size, unsigned char *bytes, size_t room)
{
    uint64_t state = 0x9E3779B97F4A7C15 * (seed + 1);
    memcpy(bytes, original, size);
    for (size_t i = 1 + mutate_random(&state, 4); i > 0; i--) mutate_once(&state, bytes, &size, room);
    return size;
}

#endif
