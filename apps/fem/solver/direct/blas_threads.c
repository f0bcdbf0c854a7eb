#include "solver/direct/blas_threads.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void fem_blas_set_threads(int threads)
{
    void (*set_threads)(int);
    void *program = dlopen(NULL, RTLD_LAZY), *symbol = NULL;
    if (program && !getenv("OPENBLAS_NUM_THREADS")) symbol = dlsym(program, "openblas_set_num_threads");
    memcpy(&set_threads, &symbol, sizeof symbol); /* ISO C has no cast from a pointer to an object to a pointer to a function */
    if (set_threads) set_threads(threads);
    if (program) dlclose(program);
}
