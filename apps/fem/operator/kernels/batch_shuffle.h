/* batch_shuffle.h - permutations of lanes by the compiler's generic vectors, named by the number of lanes of the result. */
#ifndef FEM_OPERATOR_KERNELS_BATCH_SHUFFLE_H
#define FEM_OPERATOR_KERNELS_BATCH_SHUFFLE_H

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HAVE_SHUFFLE 1
#endif
#endif
#ifndef HAVE_SHUFFLE
#define HAVE_SHUFFLE 0
#endif

/* a, then b */
#define JOIN_8(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#define JOIN_16(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
/* a0 b0 a2 b2 ..., and a1 b1 a3 b3 ... */
#define INTERLEAVE_EVEN_4(a, b) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define INTERLEAVE_ODD_4(a, b) __builtin_shufflevector(a, b, 1, 5, 3, 7)
#define INTERLEAVE_EVEN_8(a, b) __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14)
#define INTERLEAVE_ODD_8(a, b) __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
/* In each four of a and b: a0 b0 a1 b1, and a2 b2 a3 b3. */
#define INTERLEAVE_LOW_8(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define INTERLEAVE_HIGH_8(a, b) __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define INTERLEAVE_LOW_16(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define INTERLEAVE_HIGH_16(a, b) __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
/* In each four of a and b: a0 a1 b0 b1, and a2 a3 b2 b3. */
#define LOW_HALVES_8(a, b) __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define HIGH_HALVES_8(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define LOW_HALVES_16(a, b) __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define HIGH_HALVES_16(a, b) __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
/* a0 a1, a4 a5, b0 b1, b4 b5 and the rest */
#define EVEN_PAIRS_4(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define ODD_PAIRS_4(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#define EVEN_PAIRS_8(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13)
#define ODD_PAIRS_8(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15)

#endif
