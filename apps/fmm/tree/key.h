/*
 * key.h - Morton keys: the bits of a cell's three coordinates, interleaved, so that the cells of a cell's subtree are contiguous.
 *
 * On level l a coordinate has l bits and a key has 3 l bits.  The lowest three bits are the cell's octant in its parent: 1 for the upper
 * half in x, 2 in y, 4 in z.
 */
#ifndef FMM_TREE_KEY_H
#define FMM_TREE_KEY_H

#include <stdint.h>

enum { FMM_MAX_DEPTH = 21 }; /* 63 of a key's 64 bits */

/* Bit i of the 21 lowest bits moves to position 3 i. */
static inline uint64_t fmm_key_spread(uint64_t v)
{
    v &= 0x1FFFFF;
    v = (v | v << 32) & 0x001F00000000FFFF;
    v = (v | v << 16) & 0x001F0000FF0000FF;
    v = (v | v << 8) & 0x100F00F00F00F00F;
    v = (v | v << 4) & 0x10C30C30C30C30C3;
    return (v | v << 2) & 0x1249249249249249;
}

/* The inverse of fmm_key_spread: bits 0, 3, 6, ... of v. */
static inline uint32_t fmm_key_gather(uint64_t v)
{
    v &= 0x1249249249249249;
    v = (v | v >> 2) & 0x10C30C30C30C30C3;
    v = (v | v >> 4) & 0x100F00F00F00F00F;
    v = (v | v >> 8) & 0x001F0000FF0000FF;
    v = (v | v >> 16) & 0x001F00000000FFFF;
    return (uint32_t)((v | v >> 32) & 0x1FFFFF);
}

static inline uint64_t fmm_key(const uint32_t coordinates[3])
{
    return fmm_key_spread(coordinates[0]) | fmm_key_spread(coordinates[1]) << 1 | fmm_key_spread(coordinates[2]) << 2;
}

static inline void fmm_key_coordinates(uint64_t key, uint32_t coordinates[3])
{
    for (int c = 0; c < 3; c++) coordinates[c] = fmm_key_gather(key >> c);
}

#endif
