#include "output/blocks.h"

#include <omp.h>
#include <stdlib.h>

typedef struct text {
    char *bytes; /* NULL: none */
    size_t count;
} text;

/* Prints a block to memory.  Returns false if there is not enough. */
static bool print_block(fmm_block_printer *print, const void *data, int64_t first, int64_t last, text *block)
{
    FILE *memory = open_memstream(&block->bytes, &block->count);
    if (!memory) return false;
    print(memory, data, first, last);
    const bool complete = !ferror(memory);
    return !fclose(memory) && complete;
}

/* Prints the blocks from particle `first` on, one for each text.  Returns false if there is not enough memory. */
static bool print_some(FILE *out, int64_t first, int64_t count, fmm_block_printer *print, const void *data, int texts, text *block)
{
    bool complete = true;
#pragma omp parallel for schedule(static) reduction(&& : complete)
    for (int t = 0; t < texts; t++) {
        const int64_t begin = first + (int64_t)t * FMM_BLOCK, end = begin + FMM_BLOCK < count ? begin + FMM_BLOCK : count;
        block[t] = (text){0};
        if (begin < count) complete = print_block(print, data, begin, end, &block[t]) && complete;
    }
    for (int t = 0; t < texts; t++) {
        if (complete && block[t].count) fwrite(block[t].bytes, 1, block[t].count, out);
        free(block[t].bytes);
    }
    return complete;
}

yoke_status fmm_print_blocks(yoke_context *context, FILE *out, int64_t count, fmm_block_printer *print, const void *data,
                             const fmm_stop *stop)
{
    const int texts = omp_get_max_threads();
    text *block = NULL;
    yoke_status status = yoke_allocate(context, texts, sizeof *block, &block);
    for (int64_t first = 0; first < count && !status; first += (int64_t)texts * FMM_BLOCK) {
        if (!print_some(out, first, count, print, data, texts, block))
            status = yoke_fail(context, YOKE_ERROR_MEMORY, "out of memory for the text of %d particles", texts * FMM_BLOCK);
        if (!status && fmm_stops(stop)) status = stop->fail(stop->user);
    }
    yoke_release(context, block);
    return status;
}
