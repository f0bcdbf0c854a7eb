/* BLAS of the system, if it is installed. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "device/openmp/openmp.h"

yoke_status openmp_blas_load(openmp_state *state)
{
    if (state->dspmv != NULL) return YOKE_OK;
    const char *asked = getenv("YOKE_LIBBLAS");
    const char *const names[] = {asked != NULL ? asked : "libopenblas.so.0", asked != NULL ? "" : "libblas.so.3"};
    for (int i = 0; i < 2 && state->dspmv == NULL; i++) {
        void *library = names[i][0] != '\0' ? dlopen(names[i], RTLD_NOW | RTLD_LOCAL) : NULL;
        void *symbol = library != NULL ? dlsym(library, "cblas_dspmv") : NULL;
        if (symbol != NULL) {
            state->blas_library = library;
            memcpy(&state->dspmv, &symbol, sizeof symbol); /* ISO C has no cast from an object pointer to a function pointer */
        } else if (library != NULL) {
            dlclose(library);
        }
    }
    if (state->dspmv != NULL) return YOKE_OK;
    return yoke_fail(state->context, YOKE_ERROR_UNAVAILABLE,
                     "openmp devices need a BLAS with cblas_dspmv for this, and %s has none; on Debian and Ubuntu: apt install "
                     "libopenblas0, or name a library in YOKE_LIBBLAS",
                     asked != NULL ? "what YOKE_LIBBLAS names" : "this system");
}

void openmp_blas_unload(openmp_state *state)
{
    if (state->blas_library != NULL) dlclose(state->blas_library);
}
