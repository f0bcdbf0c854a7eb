/*
 * prelude.h - what NVRTC's stand-in puts before a program's text (C++17): CUDA C++'s words as the host's.
 *
 * The text comes preprocessed; behind it stands a table of its kernels, STUB_TABLE_BEGIN STUB_KERNEL(name) ... STUB_TABLE_END.
 */
#include <math.h>
#include <utility>

struct stub_dimensions {
    unsigned x, y, z;
};
struct stub_kernel {
    const char *name;
    void (*run)(void **arguments);
    const unsigned long *bytes;
    unsigned long num_arguments;
};

#define STUB_EXPORT extern "C" __attribute__((visibility("default"), used))
STUB_EXPORT stub_dimensions threadIdx, blockIdx, blockDim, gridDim;
STUB_EXPORT void (*stub_barrier)(int line);
stub_dimensions threadIdx, blockIdx, blockDim, gridDim;
void (*stub_barrier)(int line);

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __constant__
#define __launch_bounds__(...)
/* One copy for all threads of a block, since blocks run one after another; in a section of its own, which the driver fills before each block. */
#define __shared__ static __attribute__((section("stub_shared_memory")))
#define __syncthreads() stub_barrier(__LINE__)
/* Threads take turns at barriers only. */
template <class Value> static inline Value atomicAdd(Value *to, Value value)
{
    const Value old = *to;
    *to = old + value;
    return old;
}

/* Of CUDA's mathematical functions, what C++ has not. */
static inline double rsqrt(double value) { return 1 / sqrt(value); }

template <class Function> struct stub_launcher;
template <class... Types> struct stub_launcher<void(Types...)> {
    static constexpr unsigned long bytes[] = {sizeof(Types)..., 0};
    static constexpr unsigned long count = sizeof...(Types);
    template <void (*kernel)(Types...), std::size_t... numbers> static void call(void **arguments, std::index_sequence<numbers...>)
    {
        kernel(*(Types *)arguments[numbers]...);
    }
    template <void (*kernel)(Types...)> static void run(void **arguments) { call<kernel>(arguments, std::index_sequence_for<Types...>{}); }
};

extern "C" char __start_stub_shared_memory[] __attribute__((weak, visibility("hidden"))),
    __stop_stub_shared_memory[] __attribute__((weak, visibility("hidden")));

#define STUB_KERNEL(name) \
    {#name, stub_launcher<decltype(name)>::template run<name>, stub_launcher<decltype(name)>::bytes, stub_launcher<decltype(name)>::count},
#define STUB_TABLE_BEGIN                                                                  \
    STUB_EXPORT char *const stub_shared[2];                                               \
    char *const stub_shared[2] = {__start_stub_shared_memory, __stop_stub_shared_memory}; \
    STUB_EXPORT const stub_kernel stub_kernels[];                                         \
    const stub_kernel stub_kernels[] = {
#define STUB_TABLE_END               \
    {                                \
        nullptr, nullptr, nullptr, 0 \
    }                                \
    }                                \
    ;
