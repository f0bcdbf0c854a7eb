/*
 * part_cpu.h - the inside of the CPU part, shared by its set-up and its operations.
 *
 * The elements are cut into one chunk per thread, contiguous in Morton order.  Since nodes are numbered as elements touch them, the nodes
 * that a chunk touches first are contiguous too: the chunk owns them.  A chunk adds its products into its own nodes directly, and into
 * copies for nodes of earlier chunks.  The copies are kept behind the vector's end: data is [num_nodes + tail_nodes][components] in the
 * part's precision.  After a barrier each owner adds the copies of its nodes in a fixed order.  So there are no races and no atomics, and
 * the result repeats bit by bit.
 */
#ifndef FEM_PART_CPU_H
#define FEM_PART_CPU_H

#include "part.h"

enum { CPU_PART_MOST_CHUNKS = 1024 };

/* Elements of a chunk of one class, in batches. */
typedef struct cpu_batches {
    fem_batches b;
    int32_t *element; /* [batches][width] element of the space; padding lanes repeat the last */
    int32_t *gather, *scatter;
    int16_t *face_code;
    void *factors, *moduli, *stored;
} cpu_batches;

typedef struct cpu_chunk {
    int32_t element_begin, element_end;
    int32_t node_begin, node_end; /* owned nodes */
    int32_t tail_begin, tail_end; /* copies of nodes of earlier chunks, as node numbers behind the last node */
    cpu_batches border, interior; /* elements that touch nodes of earlier chunks, and the others */
    int64_t copies;               /* copies that later chunks have of this chunk's nodes */
    int32_t *copied_node, *copied_from;
    int64_t masked_begin, masked_end; /* range of `masked` that lies in the owned nodes */
} cpu_chunk;

typedef struct cpu_part {
    fem_part part;
    const fem_constraints *constraints;
    const fem_kernels *kernels;
    const fem_batch_functions *functions;
    int num_chunks;
    cpu_chunk *chunks;
    int32_t num_nodes, tail_nodes;
    int64_t *masked; /* prescribed dofs, ascending */
    int64_t num_masked;
    void *blocks; /* inverse node blocks of the diagonal, [num_nodes + tail_nodes][6 or 1] in the part's precision */
    fem_hanging *hanging;
    int8_t slot[27];
    int used;
    int64_t bytes;
    double product_seconds;
} cpu_part;

/* Fills everything of a part whose `part` member is set.  Errors as fem_part_cpu_create; what was made is released by cpu_part_release. */
yoke_status cpu_part_setup(cpu_part *cpu, int threads);
void cpu_part_release(cpu_part *cpu);

/* The inverse node blocks of the diagonal, [num_nodes + tail_nodes][6 or 1] in the part's precision. */
void cpu_part_diagonal(cpu_part *cpu, void *blocks);

#endif
