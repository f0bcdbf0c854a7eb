/* batch_instances.h - the element kernels of one precision (REAL), for each number of nodes per direction and of components. */
#define N 2
#define C 1
DEFINE_BASIS
#include "operator/kernels/batch_body.h"
#undef C
#define C 3
DEFINE_BASIS
#include "operator/kernels/batch_body.h"
#undef C
#undef N
#define N 3
#define C 1
DEFINE_BASIS
#include "operator/kernels/batch_body.h"
#undef C
#define C 3
DEFINE_BASIS
#include "operator/kernels/batch_body.h"
#undef C
#undef N
