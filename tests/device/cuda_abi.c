/*
 * Is what src/device/cuda/api.h declares what NVIDIA's own headers say?  Compiled where they are found, and never run: a difference is a
 * warning, which is an error here.
 */
#include <cublas_v2.h>
#include <cuda.h>
#include <nvrtc.h>

#include "device/cuda/api.h"

#define COMPARE(required, result, name, parameters) table->name = name;

void compare_driver(yoke_cuda_driver *table);
void compare_driver(yoke_cuda_driver *table) { YOKE_CUDA_FUNCTIONS(COMPARE) }

void compare_compiler(yoke_cuda_compiler *table);
void compare_compiler(yoke_cuda_compiler *table) { YOKE_NVRTC_FUNCTIONS(COMPARE) }

void compare_blas(yoke_cuda_blas *table);
void compare_blas(yoke_cuda_blas *table) { YOKE_CUBLAS_FUNCTIONS(COMPARE) }
