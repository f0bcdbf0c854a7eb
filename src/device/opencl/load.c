/* Opens the OpenCL loader and CLBlast, if they are installed. */
#define _GNU_SOURCE /* RTLD_NODELETE */

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/backends.h"
#include "device/opencl/opencl.h"

/*
 * Opens the library that the environment variable names, or the usual one.  Returns NULL and the reason if that fails.  The code stays in
 * memory after dlclose, because threads that drivers leave behind would otherwise run code that is gone.
 */
static void *open_library(const char *variable, const char *usual, char why_not[OPENCL_TEXT_BYTES])
{
    const char *named = getenv(variable);
    if (named != NULL && named[0] == '\0') {
        snprintf(why_not, OPENCL_TEXT_BYTES, "%s is empty, which says that there is no such library", variable);
        return NULL;
    }
    void *library = dlopen(named != NULL ? named : usual, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const char *reason = library == NULL ? dlerror() : NULL;
    if (library == NULL) snprintf(why_not, OPENCL_TEXT_BYTES, "%s", reason != NULL ? reason : "the library cannot be opened");
    return library;
}

/*
 * Writes the function's address to *pointer.  ISO C has no cast from dlsym's data pointer to a function; POSIX guarantees the same
 * representation.
 */
static int find_function(void *library, const char *name, void *pointer, char why_not[OPENCL_TEXT_BYTES])
{
    void *address = dlsym(library, name);
    if (address == NULL) {
        snprintf(why_not, OPENCL_TEXT_BYTES, "the library has no function %s: it is too old, or another library", name);
        return 0;
    }
    memcpy(pointer, &address, sizeof address);
    return 1;
}

static int find_functions(void *library, opencl_functions *cl, char why_not[OPENCL_TEXT_BYTES])
{
#define FIND(name) \
    if (!find_function(library, #name, &cl->name, why_not)) return 0;
    OPENCL_FUNCTIONS(FIND)
#undef FIND
    return 1;
}

/* Nonzero: the first line of the file names PoCL's library. */
static int is_pocl(const char *path)
{
    char line[512] = "";
    FILE *file = fopen(path, "r");
    if (file == NULL) return 0;
    if (fgets(line, sizeof line, file) == NULL) line[0] = '\0';
    fclose(file);
    const char *slash = strrchr(line, '/');
    return strncmp(slash != NULL ? slash + 1 : line, "libpocl", strlen("libpocl")) == 0;
}

int yoke_opencl_makes_cpus_only(void)
{
    static const char vendors[] = "/etc/OpenCL/vendors";
    /* With these variables the loader searches other places, or PoCL has other devices than CPUs. */
    static const char *const variables[] = {"YOKE_LIBOPENCL", "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH", "POCL_DEVICES"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        if (getenv(variables[i]) != NULL) return 0;
    DIR *directory = opendir(vendors);
    if (directory == NULL) return 0;
    int drivers = 0, of_pocl = 0;
    for (const struct dirent *file; (file = readdir(directory)) != NULL;) {
        char path[sizeof vendors + sizeof file->d_name + 1];
        if (file->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", vendors, file->d_name);
        drivers++;
        of_pocl += is_pocl(path);
    }
    closedir(directory);
    return drivers > 0 && of_pocl == drivers;
}

yoke_status yoke_opencl_start(yoke_context *context, void **state)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof(opencl_state), &memory);
    if (status != YOKE_OK) return status;
    opencl_state *made = memory;
    made->context = context;
    made->library = open_library("YOKE_LIBOPENCL", "libOpenCL.so.1", made->why_not);
    if (made->library != NULL && !find_functions(made->library, &made->cl, made->why_not)) {
        dlclose(made->library);
        made->library = NULL;
    }
    if (made->library != NULL) yoke_cache_start(context, &made->cache);
    *state = made;
    return YOKE_OK;
}

void yoke_opencl_stop(void *state)
{
    opencl_state *stopped = state;
    if (stopped->blas_library != NULL) dlclose(stopped->blas_library);
    if (stopped->library != NULL) dlclose(stopped->library);
    yoke_release(stopped->context, stopped);
}

yoke_status yoke_opencl_load_blas(opencl_state *state)
{
    char why_not[OPENCL_TEXT_BYTES];
    if (state->blas_library != NULL) return YOKE_OK;
    void *library = open_library("YOKE_LIBCLBLAST", "libclblast.so.1", why_not);
    if (library != NULL && find_function(library, "CLBlastDspmv", &state->dspmv, why_not) &&
        find_function(library, "CLBlastDgemm", &state->dgemm, why_not) && find_function(library, "CLBlastSgemm", &state->sgemm, why_not) &&
        find_function(library, "CLBlastClearCache", &state->clear_cache, why_not)) {
        state->blas_library = library;
        return YOKE_OK;
    }
    if (library != NULL) dlclose(library);
    return yoke_fail(state->context, YOKE_ERROR_UNAVAILABLE,
                     "BLAS on OpenCL devices is CLBlast, which is not here: %s; on Debian and Ubuntu: apt install libclblast1", why_not);
}
