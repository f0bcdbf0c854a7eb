/*
 * decomposition_settings.h - for tests of decompositions and solves on several devices: devices of all kinds, and ways to cut the elements
 * between them.
 */
#ifndef TEST_DECOMPOSITION_SETTINGS_H
#define TEST_DECOMPOSITION_SETTINGS_H

#include "block.h"
#include "operator/decomposition/devices.h"

/* A simulated GPU "sim:gpu" and a simulated CPU "sim:cpu", as members of a machine file; keys: more of the GPU's. */
typedef struct decomposition_machine {
    const char *gpu, *cpu; /* such as ", \"memory_bytes\": 1e6", or NULL */
} decomposition_machine;

/* Reads the machine into the block's context. */
void decomposition_read_machine(const block *b, const decomposition_machine *machine);

/*
 * Opens `count` = 1, 2, 3 or 5 devices of different kinds; read the machine before.  variant 1: the device with threads of its own runs
 * device kernels, so that these are tested on the host too.
 */
enum { DECOMPOSITION_VARIANTS = 2 };
fem_devices *decomposition_open(const block *b, int count, int variant);

/* Cuts: number `kind` of so many; equal, uneven, the first or the last empty or with one element. */
enum { DECOMPOSITION_CUTS = 5 };
void decomposition_cut(int32_t elements, int devices, int kind, int32_t *cut);

/* Which node belongs to which elements: shared [num_nodes] = elements of how many devices touch it. */
void decomposition_count_shares(const fem_space *space, int devices, const int32_t *cut, int *shared);

#endif
