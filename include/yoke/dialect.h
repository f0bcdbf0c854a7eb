/*
 * dialect.h - what kernels are written in: the common subset of C99, OpenCL C and CUDA C++, and the words that differ.
 *
 * Kernels are launched as groups of items.  A kernel must be right for any number of groups and for any group size, 1 included: it spreads
 * its work by YOKE_FOR_ALL (over all items of all groups) or YOKE_FOR_ITEMS (over the items of its group), never by "one item, one thing",
 * and carries nothing from one loop to the next in private variables that depends on the item's number.  On the host a group is one item,
 * loops run from 0, and barriers are nothing: the same text is the plain reference.
 *
 *     YOKE_KERNEL_4(axpy, yoke_long, n, double, alpha, YOKE_GLOBAL const double *, x, YOKE_GLOBAL double *, y)
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
 *     YOKE_SOURCE(axpy_text, YOKE_KERNEL_5(axpy, ...) { ... })
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
 * YOKE_KERNEL_n(name, type 1, parameter 1, ... type n, parameter n) { body }.  On the host the kernel becomes a static
 * yoke_host_kernel_function called `name`, for a table of yoke_host_kernel.
 */
#if defined(YOKE_HOST)

#define YOKE_KERNEL_1(name, T1, a1)                                                    \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1);               \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments) \
    {                                                                                  \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0]);                      \
    }                                                                                  \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1)
#define YOKE_KERNEL_2(name, T1, a1, T2, a2)                                                 \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2);             \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)      \
    {                                                                                       \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1]); \
    }                                                                                       \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2)
#define YOKE_KERNEL_3(name, T1, a1, T2, a2, T3, a3)                                                                   \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3);                                \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)                                \
    {                                                                                                                 \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1], *(T3 *)yoke_arguments[2]); \
    }                                                                                                                 \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3)
#define YOKE_KERNEL_4(name, T1, a1, T2, a2, T3, a3, T4, a4)                                                          \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4);                        \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)                               \
    {                                                                                                                \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1], *(T3 *)yoke_arguments[2], \
                    *(T4 *)yoke_arguments[3]);                                                                       \
    }                                                                                                                \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4)
#define YOKE_KERNEL_5(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5)                                                  \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5);                 \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)                               \
    {                                                                                                                \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1], *(T3 *)yoke_arguments[2], \
                    *(T4 *)yoke_arguments[3], *(T5 *)yoke_arguments[4]);                                             \
    }                                                                                                                \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5)
#define YOKE_KERNEL_6(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6)                                          \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6);          \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)                               \
    {                                                                                                                \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1], *(T3 *)yoke_arguments[2], \
                    *(T4 *)yoke_arguments[3], *(T5 *)yoke_arguments[4], *(T6 *)yoke_arguments[5]);                   \
    }                                                                                                                \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6)
#define YOKE_KERNEL_7(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7)                                          \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7);           \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)                                       \
    {                                                                                                                        \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1], *(T3 *)yoke_arguments[2],         \
                    *(T4 *)yoke_arguments[3], *(T5 *)yoke_arguments[4], *(T6 *)yoke_arguments[5], *(T7 *)yoke_arguments[6]); \
    }                                                                                                                        \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7)
#define YOKE_KERNEL_8(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8)                                 \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8);   \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)                                      \
    {                                                                                                                       \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1], *(T3 *)yoke_arguments[2],        \
                    *(T4 *)yoke_arguments[3], *(T5 *)yoke_arguments[4], *(T6 *)yoke_arguments[5], *(T7 *)yoke_arguments[6], \
                    *(T8 *)yoke_arguments[7]);                                                                              \
    }                                                                                                                       \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8)
#define YOKE_KERNEL_9(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9)                              \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9); \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)                                           \
    {                                                                                                                            \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1], *(T3 *)yoke_arguments[2],             \
                    *(T4 *)yoke_arguments[3], *(T5 *)yoke_arguments[4], *(T6 *)yoke_arguments[5], *(T7 *)yoke_arguments[6],      \
                    *(T8 *)yoke_arguments[7], *(T9 *)yoke_arguments[8]);                                                         \
    }                                                                                                                            \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9)
#define YOKE_KERNEL_10(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10)                            \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10); \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)                                                    \
    {                                                                                                                                     \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1], *(T3 *)yoke_arguments[2],                      \
                    *(T4 *)yoke_arguments[3], *(T5 *)yoke_arguments[4], *(T6 *)yoke_arguments[5], *(T7 *)yoke_arguments[6],               \
                    *(T8 *)yoke_arguments[7], *(T9 *)yoke_arguments[8], *(T10 *)yoke_arguments[9]);                                       \
    }                                                                                                                                     \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10)
#define YOKE_KERNEL_11(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11)                 \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11);                                                                                                    \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)                                                   \
    {                                                                                                                                    \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1], *(T3 *)yoke_arguments[2],                     \
                    *(T4 *)yoke_arguments[3], *(T5 *)yoke_arguments[4], *(T6 *)yoke_arguments[5], *(T7 *)yoke_arguments[6],              \
                    *(T8 *)yoke_arguments[7], *(T9 *)yoke_arguments[8], *(T10 *)yoke_arguments[9], *(T11 *)yoke_arguments[10]);          \
    }                                                                                                                                    \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11)
#define YOKE_KERNEL_12(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12)       \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11, T12 a12);                                                                                           \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)                                                   \
    {                                                                                                                                    \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1], *(T3 *)yoke_arguments[2],                     \
                    *(T4 *)yoke_arguments[3], *(T5 *)yoke_arguments[4], *(T6 *)yoke_arguments[5], *(T7 *)yoke_arguments[6],              \
                    *(T8 *)yoke_arguments[7], *(T9 *)yoke_arguments[8], *(T10 *)yoke_arguments[9], *(T11 *)yoke_arguments[10],           \
                    *(T12 *)yoke_arguments[11]);                                                                                         \
    }                                                                                                                                    \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11, T12 a12)
#define YOKE_KERNEL_13(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13,  \
                       a13)                                                                                                              \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11, T12 a12, T13 a13);                                                                                  \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)                                                   \
    {                                                                                                                                    \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1], *(T3 *)yoke_arguments[2],                     \
                    *(T4 *)yoke_arguments[3], *(T5 *)yoke_arguments[4], *(T6 *)yoke_arguments[5], *(T7 *)yoke_arguments[6],              \
                    *(T8 *)yoke_arguments[7], *(T9 *)yoke_arguments[8], *(T10 *)yoke_arguments[9], *(T11 *)yoke_arguments[10],           \
                    *(T12 *)yoke_arguments[11], *(T13 *)yoke_arguments[12]);                                                             \
    }                                                                                                                                    \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11, T12 a12, T13 a13)
#define YOKE_KERNEL_14(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13,  \
                       a13, T14, a14)                                                                                                    \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11, T12 a12, T13 a13, T14 a14);                                                                         \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)                                                   \
    {                                                                                                                                    \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1], *(T3 *)yoke_arguments[2],                     \
                    *(T4 *)yoke_arguments[3], *(T5 *)yoke_arguments[4], *(T6 *)yoke_arguments[5], *(T7 *)yoke_arguments[6],              \
                    *(T8 *)yoke_arguments[7], *(T9 *)yoke_arguments[8], *(T10 *)yoke_arguments[9], *(T11 *)yoke_arguments[10],           \
                    *(T12 *)yoke_arguments[11], *(T13 *)yoke_arguments[12], *(T14 *)yoke_arguments[13]);                                 \
    }                                                                                                                                    \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11, T12 a12, T13 a13, T14 a14)
#define YOKE_KERNEL_15(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13,  \
                       a13, T14, a14, T15, a15)                                                                                          \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11, T12 a12, T13 a13, T14 a14, T15 a15);                                                                \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)                                                   \
    {                                                                                                                                    \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1], *(T3 *)yoke_arguments[2],                     \
                    *(T4 *)yoke_arguments[3], *(T5 *)yoke_arguments[4], *(T6 *)yoke_arguments[5], *(T7 *)yoke_arguments[6],              \
                    *(T8 *)yoke_arguments[7], *(T9 *)yoke_arguments[8], *(T10 *)yoke_arguments[9], *(T11 *)yoke_arguments[10],           \
                    *(T12 *)yoke_arguments[11], *(T13 *)yoke_arguments[12], *(T14 *)yoke_arguments[13], *(T15 *)yoke_arguments[14]);     \
    }                                                                                                                                    \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11, T12 a12, T13 a13, T14 a14, T15 a15)
#define YOKE_KERNEL_16(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13,  \
                       a13, T14, a14, T15, a15, T16, a16)                                                                                \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11, T12 a12, T13 a13, T14 a14, T15 a15, T16 a16);                                                       \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)                                                   \
    {                                                                                                                                    \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1], *(T3 *)yoke_arguments[2],                     \
                    *(T4 *)yoke_arguments[3], *(T5 *)yoke_arguments[4], *(T6 *)yoke_arguments[5], *(T7 *)yoke_arguments[6],              \
                    *(T8 *)yoke_arguments[7], *(T9 *)yoke_arguments[8], *(T10 *)yoke_arguments[9], *(T11 *)yoke_arguments[10],           \
                    *(T12 *)yoke_arguments[11], *(T13 *)yoke_arguments[12], *(T14 *)yoke_arguments[13], *(T15 *)yoke_arguments[14],      \
                    *(T16 *)yoke_arguments[15]);                                                                                         \
    }                                                                                                                                    \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11, T12 a12, T13 a13, T14 a14, T15 a15, T16 a16)
#define YOKE_KERNEL_17(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13,  \
                       a13, T14, a14, T15, a15, T16, a16, T17, a17)                                                                      \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11, T12 a12, T13 a13, T14 a14, T15 a15, T16 a16, T17 a17);                                              \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)                                                   \
    {                                                                                                                                    \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1], *(T3 *)yoke_arguments[2],                     \
                    *(T4 *)yoke_arguments[3], *(T5 *)yoke_arguments[4], *(T6 *)yoke_arguments[5], *(T7 *)yoke_arguments[6],              \
                    *(T8 *)yoke_arguments[7], *(T9 *)yoke_arguments[8], *(T10 *)yoke_arguments[9], *(T11 *)yoke_arguments[10],           \
                    *(T12 *)yoke_arguments[11], *(T13 *)yoke_arguments[12], *(T14 *)yoke_arguments[13], *(T15 *)yoke_arguments[14],      \
                    *(T16 *)yoke_arguments[15], *(T17 *)yoke_arguments[16]);                                                             \
    }                                                                                                                                    \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11, T12 a12, T13 a13, T14 a14, T15 a15, T16 a16, T17 a17)
#define YOKE_KERNEL_18(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13,  \
                       a13, T14, a14, T15, a15, T16, a16, T17, a17, T18, a18)                                                            \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11, T12 a12, T13 a13, T14 a14, T15 a15, T16 a16, T17 a17, T18 a18);                                     \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)                                                   \
    {                                                                                                                                    \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1], *(T3 *)yoke_arguments[2],                     \
                    *(T4 *)yoke_arguments[3], *(T5 *)yoke_arguments[4], *(T6 *)yoke_arguments[5], *(T7 *)yoke_arguments[6],              \
                    *(T8 *)yoke_arguments[7], *(T9 *)yoke_arguments[8], *(T10 *)yoke_arguments[9], *(T11 *)yoke_arguments[10],           \
                    *(T12 *)yoke_arguments[11], *(T13 *)yoke_arguments[12], *(T14 *)yoke_arguments[13], *(T15 *)yoke_arguments[14],      \
                    *(T16 *)yoke_arguments[15], *(T17 *)yoke_arguments[16], *(T18 *)yoke_arguments[17]);                                 \
    }                                                                                                                                    \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11, T12 a12, T13 a13, T14 a14, T15 a15, T16 a16, T17 a17, T18 a18)
#define YOKE_KERNEL_19(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13,  \
                       a13, T14, a14, T15, a15, T16, a16, T17, a17, T18, a18, T19, a19)                                                  \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11, T12 a12, T13 a13, T14 a14, T15 a15, T16 a16, T17 a17, T18 a18, T19 a19);                            \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)                                                   \
    {                                                                                                                                    \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1], *(T3 *)yoke_arguments[2],                     \
                    *(T4 *)yoke_arguments[3], *(T5 *)yoke_arguments[4], *(T6 *)yoke_arguments[5], *(T7 *)yoke_arguments[6],              \
                    *(T8 *)yoke_arguments[7], *(T9 *)yoke_arguments[8], *(T10 *)yoke_arguments[9], *(T11 *)yoke_arguments[10],           \
                    *(T12 *)yoke_arguments[11], *(T13 *)yoke_arguments[12], *(T14 *)yoke_arguments[13], *(T15 *)yoke_arguments[14],      \
                    *(T16 *)yoke_arguments[15], *(T17 *)yoke_arguments[16], *(T18 *)yoke_arguments[17], *(T19 *)yoke_arguments[18]);     \
    }                                                                                                                                    \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11, T12 a12, T13 a13, T14 a14, T15 a15, T16 a16, T17 a17, T18 a18, T19 a19)
#define YOKE_KERNEL_20(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13,  \
                       a13, T14, a14, T15, a15, T16, a16, T17, a17, T18, a18, T19, a19, T20, a20)                                        \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11, T12 a12, T13 a13, T14 a14, T15 a15, T16 a16, T17 a17, T18 a18, T19 a19, T20 a20);                   \
    static void name(const yoke_group *yoke_launch_group, void *const *yoke_arguments)                                                   \
    {                                                                                                                                    \
        name##_body(yoke_launch_group, *(T1 *)yoke_arguments[0], *(T2 *)yoke_arguments[1], *(T3 *)yoke_arguments[2],                     \
                    *(T4 *)yoke_arguments[3], *(T5 *)yoke_arguments[4], *(T6 *)yoke_arguments[5], *(T7 *)yoke_arguments[6],              \
                    *(T8 *)yoke_arguments[7], *(T9 *)yoke_arguments[8], *(T10 *)yoke_arguments[9], *(T11 *)yoke_arguments[10],           \
                    *(T12 *)yoke_arguments[11], *(T13 *)yoke_arguments[12], *(T14 *)yoke_arguments[13], *(T15 *)yoke_arguments[14],      \
                    *(T16 *)yoke_arguments[15], *(T17 *)yoke_arguments[16], *(T18 *)yoke_arguments[17], *(T19 *)yoke_arguments[18],      \
                    *(T20 *)yoke_arguments[19]);                                                                                         \
    }                                                                                                                                    \
    static void name##_body(const yoke_group *yoke_launch_group, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, \
                            T11 a11, T12 a12, T13 a13, T14 a14, T15 a15, T16 a16, T17 a17, T18 a18, T19 a19, T20 a20)

#elif defined(__OPENCL_VERSION__)

#define YOKE_KERNEL_1(name, T1, a1) __kernel void name(T1 a1)
#define YOKE_KERNEL_2(name, T1, a1, T2, a2) __kernel void name(T1 a1, T2 a2)
#define YOKE_KERNEL_3(name, T1, a1, T2, a2, T3, a3) __kernel void name(T1 a1, T2 a2, T3 a3)
#define YOKE_KERNEL_4(name, T1, a1, T2, a2, T3, a3, T4, a4) __kernel void name(T1 a1, T2 a2, T3 a3, T4 a4)
#define YOKE_KERNEL_5(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5) __kernel void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5)
#define YOKE_KERNEL_6(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6) __kernel void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6)
#define YOKE_KERNEL_7(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7) \
    __kernel void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7)
#define YOKE_KERNEL_8(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8) \
    __kernel void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8)
#define YOKE_KERNEL_9(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9) \
    __kernel void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9)
#define YOKE_KERNEL_10(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10) \
    __kernel void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10)
#define YOKE_KERNEL_11(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11) \
    __kernel void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11)
#define YOKE_KERNEL_12(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12) \
    __kernel void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11, T12 a12)
#define YOKE_KERNEL_13(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13, \
                       a13)                                                                                                             \
    __kernel void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11, T12 a12, T13 a13)
#define YOKE_KERNEL_14(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13, \
                       a13, T14, a14)                                                                                                   \
    __kernel void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11, T12 a12, T13 a13, T14 a14)
#define YOKE_KERNEL_15(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13, \
                       a13, T14, a14, T15, a15)                                                                                         \
    __kernel void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11, T12 a12, T13 a13, T14 a14, T15 a15)
#define YOKE_KERNEL_16(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13, \
                       a13, T14, a14, T15, a15, T16, a16)                                                                               \
    __kernel void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11, T12 a12, T13 a13, T14 a14,      \
                       T15 a15, T16 a16)
#define YOKE_KERNEL_17(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13, \
                       a13, T14, a14, T15, a15, T16, a16, T17, a17)                                                                     \
    __kernel void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11, T12 a12, T13 a13, T14 a14,      \
                       T15 a15, T16 a16, T17 a17)
#define YOKE_KERNEL_18(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13, \
                       a13, T14, a14, T15, a15, T16, a16, T17, a17, T18, a18)                                                           \
    __kernel void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11, T12 a12, T13 a13, T14 a14,      \
                       T15 a15, T16 a16, T17 a17, T18 a18)
#define YOKE_KERNEL_19(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13, \
                       a13, T14, a14, T15, a15, T16, a16, T17, a17, T18, a18, T19, a19)                                                 \
    __kernel void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11, T12 a12, T13 a13, T14 a14,      \
                       T15 a15, T16 a16, T17 a17, T18 a18, T19 a19)
#define YOKE_KERNEL_20(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13, \
                       a13, T14, a14, T15, a15, T16, a16, T17, a17, T18, a18, T19, a19, T20, a20)                                       \
    __kernel void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11, T12 a12, T13 a13, T14 a14,      \
                       T15 a15, T16 a16, T17 a17, T18 a18, T19 a19, T20 a20)

#else

#define YOKE_KERNEL_1(name, T1, a1) extern "C" __global__ void name(T1 a1)
#define YOKE_KERNEL_2(name, T1, a1, T2, a2) extern "C" __global__ void name(T1 a1, T2 a2)
#define YOKE_KERNEL_3(name, T1, a1, T2, a2, T3, a3) extern "C" __global__ void name(T1 a1, T2 a2, T3 a3)
#define YOKE_KERNEL_4(name, T1, a1, T2, a2, T3, a3, T4, a4) extern "C" __global__ void name(T1 a1, T2 a2, T3 a3, T4 a4)
#define YOKE_KERNEL_5(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5) extern "C" __global__ void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5)
#define YOKE_KERNEL_6(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6) \
    extern "C" __global__ void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6)
#define YOKE_KERNEL_7(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7) \
    extern "C" __global__ void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7)
#define YOKE_KERNEL_8(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8) \
    extern "C" __global__ void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8)
#define YOKE_KERNEL_9(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9) \
    extern "C" __global__ void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9)
#define YOKE_KERNEL_10(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10) \
    extern "C" __global__ void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10)
#define YOKE_KERNEL_11(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11) \
    extern "C" __global__ void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11)
#define YOKE_KERNEL_12(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12) \
    extern "C" __global__ void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11, T12 a12)
#define YOKE_KERNEL_13(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13, \
                       a13)                                                                                                             \
    extern "C" __global__ void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11, T12 a12, T13 a13)
#define YOKE_KERNEL_14(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13, \
                       a13, T14, a14)                                                                                                   \
    extern "C" __global__ void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11, T12 a12, T13 a13,  \
                                    T14 a14)
#define YOKE_KERNEL_15(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13, \
                       a13, T14, a14, T15, a15)                                                                                         \
    extern "C" __global__ void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11, T12 a12, T13 a13,  \
                                    T14 a14, T15 a15)
#define YOKE_KERNEL_16(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13, \
                       a13, T14, a14, T15, a15, T16, a16)                                                                               \
    extern "C" __global__ void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11, T12 a12, T13 a13,  \
                                    T14 a14, T15 a15, T16 a16)
#define YOKE_KERNEL_17(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13, \
                       a13, T14, a14, T15, a15, T16, a16, T17, a17)                                                                     \
    extern "C" __global__ void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11, T12 a12, T13 a13,  \
                                    T14 a14, T15 a15, T16 a16, T17 a17)
#define YOKE_KERNEL_18(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13, \
                       a13, T14, a14, T15, a15, T16, a16, T17, a17, T18, a18)                                                           \
    extern "C" __global__ void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11, T12 a12, T13 a13,  \
                                    T14 a14, T15 a15, T16 a16, T17 a17, T18 a18)
#define YOKE_KERNEL_19(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13, \
                       a13, T14, a14, T15, a15, T16, a16, T17, a17, T18, a18, T19, a19)                                                 \
    extern "C" __global__ void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11, T12 a12, T13 a13,  \
                                    T14 a14, T15 a15, T16 a16, T17 a17, T18 a18, T19 a19)
#define YOKE_KERNEL_20(name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6, T7, a7, T8, a8, T9, a9, T10, a10, T11, a11, T12, a12, T13, \
                       a13, T14, a14, T15, a15, T16, a16, T17, a17, T18, a18, T19, a19, T20, a20)                                       \
    extern "C" __global__ void name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6, T7 a7, T8 a8, T9 a9, T10 a10, T11 a11, T12 a12, T13 a13,  \
                                    T14 a14, T15 a15, T16 a16, T17 a17, T18 a18, T19 a19, T20 a20)

#endif

#endif
