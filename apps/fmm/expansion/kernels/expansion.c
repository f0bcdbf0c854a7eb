/*
 * expansion.c - the loops for one instruction set (FMM_ISA: v2, v3, v4 of x86-64, or generic).
 */
#include <math.h>
#include <string.h>

#include "expansion/kernels/kernels.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif
typedef double vector __attribute__((vector_size(LANES * sizeof(double))));
typedef double loose_vector
    __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias)); /* anywhere in memory */
#define INLINE static inline __attribute__((always_inline))

#include "expansion/kernels/particles.h"
#include "expansion/kernels/translate.h"
#include "expansion/kernels/waves.h"

#define PASTE_2(a, b) a##_##b
#define PASTE(a, b) PASTE_2(a, b)
extern const fmm_kernels PASTE(fmm_kernels, FMM_ISA);
const fmm_kernels PASTE(fmm_kernels, FMM_ISA) = {.pairs = WIDE * LANES,
                                                 .gather = gather,
                                                 .evaluate = evaluate,
                                                 .translate = translate,
                                                 .translate_both = translate_both,
                                                 .send = send_waves,
                                                 .receive = receive_waves};
