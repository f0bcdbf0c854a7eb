/*
 * dialect.h - what kernels are written in: the common subset of C99, OpenCL C and CUDA C++, and the words that differ.
 *
 * Kernels are launched as groups of items.  A kernel must be right for any number of groups and for any group size, 1 included: it spreads
 * its work by YOKE_FOR_ALL (over all items of all groups) or YOKE_FOR_ITEMS (over the items of its group), never by "one item, one thing",
 * and carries nothing from one loop to the next in private variables that depends on the item's number.  On the host a group is one item,
 * loops run from 0, and barriers are nothing: the same text is the plain reference.
 *
 *     YOKE_KERNEL(axpy, (yoke_long n, double alpha, YOKE_GLOBAL const double *x, YOKE_GLOBAL double *y))
 *     {
 *         YOKE_FOR_ALL (i, n) y[i] += alpha * x[i];
 *     }
 *
 * Parameters are buffers (YOKE_GLOBAL T *), yoke_int, yoke_long, float and double.  Functions are YOKE_FUNCTION; they may use YOKE_ITEM,
 * YOKE_ITEMS and YOKE_BARRIER, but YOKE_GROUP only in kernels.  YOKE_LOCAL arrays (shared by a group) have constant size and stand at a
 * kernel's outermost level; functions take them as YOKE_LOCAL T * parameters.  Tables are YOKE_CONSTANT arrays at file level.
 * YOKE_ATOMIC_ADD(pointer, value) adds to a float or double in a YOKE_GLOBAL buffer while others add to it, and returns nothing; the order of
 * additions, and so the last bits, change from run to run.  In OpenCL it is a loop of compare and exchange, and only there where the device
 * has cl_khr_int64_base_atomics (a kernel that uses it does not compile elsewhere); in CUDA doubles need an architecture of sm_60 or later.
 *
 * No recursion, function pointers, variable length arrays, variadic macros, or headers other than this one.
 */
#ifndef YOKE_DIALECT_H
#define YOKE_DIALECT_H

#if defined(__OPENCL_VERSION__) /* --------------------------------------------------------------- OpenCL C */

#if defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT ON
typedef int yoke_int;
typedef long yoke_long;
typedef short yoke_short;
typedef char yoke_byte;
typedef uchar yoke_ubyte;
#define YOKE_GLOBAL __global
#define YOKE_LOCAL __local
#define YOKE_CONSTANT __constant
#define YOKE_FUNCTION static inline
#define YOKE_GROUP ((yoke_long)get_group_id(0))
#define YOKE_GROUPS ((yoke_long)get_num_groups(0))
#define YOKE_ITEM ((int)get_local_id(0))
#define YOKE_ITEMS ((int)get_local_size(0))
#define YOKE_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

#if defined(cl_khr_int64_base_atomics)
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
static inline void yoke_atomic_add_float(volatile __global uint *to, float value)
{
    uint old = *to, seen;
    while ((seen = atomic_cmpxchg(to, old, as_uint(as_float(old) + value))) != old) old = seen;
}
#if defined(cl_khr_fp64)
static inline void yoke_atomic_add_double(volatile __global ulong *to, double value)
{
    ulong old = *to, seen;
    while ((seen = atom_cmpxchg(to, old, as_ulong(as_double(old) + value))) != old) old = seen;
}
#define YOKE_ATOMIC_ADD(pointer, value)                                                                     \
    (sizeof *(pointer) == 8 ? yoke_atomic_add_double((volatile __global ulong *)(pointer), (double)(value)) \
                            : yoke_atomic_add_float((volatile __global uint *)(pointer), (float)(value)))
#else
#define YOKE_ATOMIC_ADD(pointer, value) yoke_atomic_add_float((volatile __global uint *)(pointer), (float)(value))
#endif
#endif

#elif defined(__CUDACC__) || defined(__CUDACC_RTC__) /* ---------------------------------------------- CUDA C++ */

typedef int yoke_int;
typedef long long yoke_long;
typedef short yoke_short;
typedef signed char yoke_byte;
typedef unsigned char yoke_ubyte;
#define YOKE_GLOBAL
#define YOKE_LOCAL __shared__
#define YOKE_CONSTANT static __constant__ const
#define YOKE_FUNCTION static __device__ inline
#define restrict __restrict__
#define YOKE_GROUP ((yoke_long)blockIdx.x)
#define YOKE_GROUPS ((yoke_long)gridDim.x)
#define YOKE_ITEM ((int)threadIdx.x)
#define YOKE_ITEMS ((int)blockDim.x)
#define YOKE_BARRIER() __syncthreads()
#define YOKE_ATOMIC_ADD(pointer, value) ((void)atomicAdd((pointer), (value)))

#else /* -------------------------------------------------------------------------------------------- host C */

#define YOKE_HOST 1
#include <stdint.h>

#include "yoke/yoke.h"
typedef int32_t yoke_int;
typedef int64_t yoke_long;
typedef int16_t yoke_short;
typedef int8_t yoke_byte;
typedef uint8_t yoke_ubyte;
#define YOKE_GLOBAL
#define YOKE_LOCAL
#define YOKE_CONSTANT static const
#define YOKE_FUNCTION static inline
#define YOKE_GROUP (yoke_launch_group->index)
#define YOKE_GROUPS (yoke_launch_group->count)
#define YOKE_ITEM 0
#define YOKE_ITEMS 1
#define YOKE_BARRIER() ((void)0)

static inline void yoke_atomic_add_float(float *to, float value)
{
    float old, sum;
    __atomic_load(to, &old, __ATOMIC_RELAXED);
    do sum = old + value;
    while (!__atomic_compare_exchange(to, &old, &sum, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static inline void yoke_atomic_add_double(double *to, double value)
{
    double old, sum;
    __atomic_load(to, &old, __ATOMIC_RELAXED);
    do sum = old + value;
    while (!__atomic_compare_exchange(to, &old, &sum, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}
#define YOKE_ATOMIC_ADD(pointer, value) \
    _Generic(*(pointer), float : yoke_atomic_add_float, double : yoke_atomic_add_double)((pointer), (value))

#endif

#if defined(YOKE_HOST)
/*
 * Kernels, and their text beside them as the array `name`, for programs that keep both in one file:
 *
 *     YOKE_SOURCE(axpy_text, YOKE_KERNEL(axpy, (...)) { ... })
 *
 * Not with lines of the preprocessor in it, and at most 4095 characters (C11, 5.2.4.1).
 */
#define YOKE_SOURCE(name, ...) __VA_ARGS__ static const char name[] = #__VA_ARGS__;
#endif

/* In CUDA a YOKE_LOCAL array that a function takes is a plain pointer. */
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define YOKE_LOCAL_POINTER
#else
#define YOKE_LOCAL_POINTER YOKE_LOCAL
#endif

/* Loops over 0 .. count - 1: over all items of the launch, and over the items of one group. */
#define YOKE_FOR_ALL(i, count) \
    for (yoke_long i = YOKE_GROUP * YOKE_ITEMS + YOKE_ITEM, i##_step = YOKE_GROUPS * YOKE_ITEMS; i < (count); i += i##_step)
#define YOKE_FOR_ITEMS(i, count) for (int i = YOKE_ITEM; i < (count); i += YOKE_ITEMS)

/*
 * YOKE_KERNEL(name, (parameters)) { body }: parameters as in any C function, 1 to 20.  On the host the kernel becomes a static
 * yoke_host_kernel_function called `name`, for a table of yoke_host_kernel.
 */
#if defined(YOKE_HOST)
#define YOKE_KERNEL(name, parameters)                                                         \
    static void name##_body(const yoke_group *yoke_launch_group, YOKE_PARAMETERS parameters); \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)        \
    {                                                                                         \
        name##_body(yoke_launch_group, YOKE_VALUES parameters);                               \
    }                                                                                         \
    static void name##_body(const yoke_group *yoke_launch_group, YOKE_PARAMETERS parameters)
#define YOKE_PARAMETERS(...) __VA_ARGS__

/*
 * The value of parameter i, which lies where yoke_arguments[i] points to.  Its type is read from a function type that has this parameter, as
 * the text of a declaration cannot be taken apart; what is no number is a buffer.
 */
/* clang-format off */
#define YOKE_VALUE(i, parameter)                            \
    _Generic((void (*)(parameter))0,                        \
             void (*)(yoke_int) : YOKE_AT(yoke_int, i),     \
             void (*)(yoke_long) : YOKE_AT(yoke_long, i),   \
             void (*)(float) : YOKE_AT(float, i),           \
             void (*)(double) : YOKE_AT(double, i),         \
             default : YOKE_AT(void *, i))
/* clang-format on */
#define YOKE_AT(type, i) (*(type const *)yoke_arguments[i])

/* The values of all parameters, with commas between them: the macro for their number, from parameter 0 on. */
#define YOKE_VALUES(...)                                                                                                                 \
    YOKE_21ST(__VA_ARGS__, YOKE_V20, YOKE_V19, YOKE_V18, YOKE_V17, YOKE_V16, YOKE_V15, YOKE_V14, YOKE_V13, YOKE_V12, YOKE_V11, YOKE_V10, \
              YOKE_V9, YOKE_V8, YOKE_V7, YOKE_V6, YOKE_V5, YOKE_V4, YOKE_V3, YOKE_V2, YOKE_V1, 0)                                        \
    (0, __VA_ARGS__)
#define YOKE_21ST(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, its, ...) its
#define YOKE_V1(i, p) YOKE_VALUE(i, p)
#define YOKE_V2(i, p, ...) YOKE_VALUE(i, p), YOKE_V1(i + 1, __VA_ARGS__)
#define YOKE_V3(i, p, ...) YOKE_VALUE(i, p), YOKE_V2(i + 1, __VA_ARGS__)
#define YOKE_V4(i, p, ...) YOKE_VALUE(i, p), YOKE_V3(i + 1, __VA_ARGS__)
#define YOKE_V5(i, p, ...) YOKE_VALUE(i, p), YOKE_V4(i + 1, __VA_ARGS__)
#define YOKE_V6(i, p, ...) YOKE_VALUE(i, p), YOKE_V5(i + 1, __VA_ARGS__)
#define YOKE_V7(i, p, ...) YOKE_VALUE(i, p), YOKE_V6(i + 1, __VA_ARGS__)
#define YOKE_V8(i, p, ...) YOKE_VALUE(i, p), YOKE_V7(i + 1, __VA_ARGS__)
#define YOKE_V9(i, p, ...) YOKE_VALUE(i, p), YOKE_V8(i + 1, __VA_ARGS__)
#define YOKE_V10(i, p, ...) YOKE_VALUE(i, p), YOKE_V9(i + 1, __VA_ARGS__)
#define YOKE_V11(i, p, ...) YOKE_VALUE(i, p), YOKE_V10(i + 1, __VA_ARGS__)
#define YOKE_V12(i, p, ...) YOKE_VALUE(i, p), YOKE_V11(i + 1, __VA_ARGS__)
#define YOKE_V13(i, p, ...) YOKE_VALUE(i, p), YOKE_V12(i + 1, __VA_ARGS__)
#define YOKE_V14(i, p, ...) YOKE_VALUE(i, p), YOKE_V13(i + 1, __VA_ARGS__)
#define YOKE_V15(i, p, ...) YOKE_VALUE(i, p), YOKE_V14(i + 1, __VA_ARGS__)
#define YOKE_V16(i, p, ...) YOKE_VALUE(i, p), YOKE_V15(i + 1, __VA_ARGS__)
#define YOKE_V17(i, p, ...) YOKE_VALUE(i, p), YOKE_V16(i + 1, __VA_ARGS__)
#define YOKE_V18(i, p, ...) YOKE_VALUE(i, p), YOKE_V17(i + 1, __VA_ARGS__)
#define YOKE_V19(i, p, ...) YOKE_VALUE(i, p), YOKE_V18(i + 1, __VA_ARGS__)
#define YOKE_V20(i, p, ...) YOKE_VALUE(i, p), YOKE_V19(i + 1, __VA_ARGS__)

#elif defined(__OPENCL_VERSION__)
#define YOKE_KERNEL(name, parameters) __kernel void name parameters
#else
#define YOKE_KERNEL(name, parameters) extern "C" __global__ void name parameters
#endif

#endif
