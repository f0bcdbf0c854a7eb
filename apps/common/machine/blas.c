#include "common/machine/blas.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* ISO C does not define a cast from an object pointer to a function pointer. */
static int take(void *library, const char *name, void *function, size_t size)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, size);
    return symbol != NULL;
}

const char *app_blas_open(app_blas *blas)
{
    const char *asked = getenv("YOKE_LIBBLAS");
    const char *const names[] = {asked ? asked : "libopenblas.so.0", asked ? "" : "libblas.so.3"};
    for (int i = 0; i < 2; i++) {
        *blas = (app_blas){.library = names[i][0] ? dlopen(names[i], RTLD_NOW | RTLD_LOCAL) : NULL, .name = names[i]};
        if (!blas->library) continue;
        if (take(blas->library, "cblas_dgemm", &blas->dgemm, sizeof blas->dgemm) &&
            take(blas->library, "cblas_sgemm", &blas->sgemm, sizeof blas->sgemm)) {
            take(blas->library, "openblas_set_num_threads", &blas->set_threads, sizeof blas->set_threads);
            take(blas->library, "openblas_get_corename", &blas->kernel, sizeof blas->kernel);
            if (!blas->set_threads) take(blas->library, "bli_thread_set_num_threads", &blas->set_threads, sizeof blas->set_threads);
            if (blas->set_threads) blas->set_threads(1);
            return NULL;
        }
        dlclose(blas->library);
    }
    *blas = (app_blas){.library = NULL};
    return "there is no BLAS with cblas_dgemm; on Debian and Ubuntu: apt install libopenblas0, or name a library in YOKE_LIBBLAS";
}

void app_blas_close(app_blas *blas)
{
    if (blas->library) dlclose(blas->library);
    *blas = (app_blas){.library = NULL};
}
