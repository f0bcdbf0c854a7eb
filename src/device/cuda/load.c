/* Opens the driver, NVRTC and cuBLAS, if they are installed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/symbols.h"
#include "device/cuda/cuda.h"

enum { OLDEST_DRIVER = 11000 };

/* Possible names of a library in order of preference, ending with NULL. */
static const char *const driver_paths[] = {"libcuda.so.1", NULL};
static const char *const compiler_paths[] = {"libnvrtc.so",
                                             "libnvrtc.so.13",
                                             "libnvrtc.so.12",
                                             "libnvrtc.so.11.2",
                                             "/usr/local/cuda/lib64/libnvrtc.so",
                                             "/usr/local/cuda/lib64/libnvrtc.so.13",
                                             "/usr/local/cuda/lib64/libnvrtc.so.12",
                                             NULL};
static const char *const blas_paths[] = {"libcublas.so.13",
                                         "libcublas.so.12",
                                         "libcublas.so.11",
                                         "libcublas.so",
                                         "/usr/local/cuda/lib64/libcublas.so.13",
                                         "/usr/local/cuda/lib64/libcublas.so.12",
                                         "/usr/local/cuda/lib64/libcublas.so",
                                         NULL};

#define DRIVER_SYMBOL(required, result, name, parameters) {#name, offsetof(yoke_cuda_driver, name), required},
#define COMPILER_SYMBOL(required, result, name, parameters) {#name, offsetof(yoke_cuda_compiler, name), required},
#define BLAS_SYMBOL(required, result, name, parameters) {#name, offsetof(yoke_cuda_blas, name), required},
static const yoke_symbol driver_symbols[] = {YOKE_CUDA_FUNCTIONS(DRIVER_SYMBOL){NULL, 0, 0}};
static const yoke_symbol compiler_symbols[] = {YOKE_NVRTC_FUNCTIONS(COMPILER_SYMBOL){NULL, 0, 0}};
static const yoke_symbol blas_symbols[] = {YOKE_CUBLAS_FUNCTIONS(BLAS_SYMBOL){NULL, 0, 0}};

typedef enum finding { ABSENT, WRONG, FOUND } finding;

static finding open_library(const char *path, const yoke_symbol *symbols, void *table, char why_not[256])
{
    int opened = 0;
    if (yoke_symbols_open(path, symbols, table, why_not, 256, &opened) != NULL) return FOUND;
    return opened ? WRONG : ABSENT;
}

/*
 * Nonzero: the environment variable replaces the usual libraries.  *path is then the library that it names, or NULL if it disables the
 * library.
 */
static int replaced(const char *variable, const char **path, char why_not[256])
{
    const char *asked = getenv(variable);
    if (asked == NULL) return 0;
    *path = asked[0] != '\0' ? asked : NULL;
    if (*path == NULL) snprintf(why_not, 256, "%s is set to nothing, which switches it off", variable);
    return 1;
}

/*
 * Opens the first of the paths that can be opened.  If none can, returns 0 with the reason: that of the requested library, or that of a
 * library that was found but is not suitable, or "".
 */
static int open_first(const char *const *paths, const char *variable, const yoke_symbol *symbols, void *table, char why_not[256])
{
    const char *path;
    if (replaced(variable, &path, why_not)) return path != NULL && open_library(path, symbols, table, why_not) == FOUND;
    why_not[0] = '\0';
    for (; *paths != NULL; paths++) {
        char reason[256];
        finding found = open_library(*paths, symbols, table, reason);
        if (found == FOUND) return 1;
        if (found == WRONG) memcpy(why_not, reason, sizeof reason);
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------ driver */

static void set_reason(yoke_cuda *state, const char *why_not, const char *remedy)
{
    snprintf(state->why_not, sizeof state->why_not, "%s", why_not);
    snprintf(state->remedy, sizeof state->remedy, "%s", remedy);
}

/* Describes why cuInit or cuDeviceGetCount failed, with a remedy. */
static void explain_start(yoke_cuda *state, CUresult result, const char *call)
{
    char error[160], why[256];
    if (result == CUDA_ERROR_NO_DEVICE) {
        const char *visible = getenv("CUDA_VISIBLE_DEVICES");
        if (visible != NULL) {
            snprintf(why, sizeof why, "the NVIDIA driver shows no GPU; CUDA_VISIBLE_DEVICES is set to \"%.100s\"", visible);
            set_reason(state, why, "unset CUDA_VISIBLE_DEVICES, or name a GPU of nvidia-smi -L in it");
        } else
            set_reason(state, "the NVIDIA driver finds no GPU",
                       "look whether nvidia-smi lists one; in a container: start it with --gpus all");
        return;
    }
    yoke_cuda_error_text(state, result, error, sizeof error);
    snprintf(why, sizeof why, "%s of the NVIDIA driver fails: %s", call, error);
    const char *remedy = "look at nvidia-smi and dmesg; a reboot loads the driver anew";
    if (result == CUDA_ERROR_STUB_LIBRARY)
        remedy = "libcuda.so.1 is the CUDA toolkit's link stub: take its directory out of LD_LIBRARY_PATH";
    if (result == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)
        remedy = "libcuda and the kernel module are of different versions: reboot, or load the module anew";
    if (result == CUDA_ERROR_SYSTEM_NOT_READY) remedy = "the system is not ready: is nvidia-fabricmanager (NVSwitch machines) running?";
    if (result == CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE)
        remedy = "a forward compatibility libcuda is in LD_LIBRARY_PATH, which this card does not take: remove it";
    set_reason(state, why, remedy);
}

/* The version of the kernel module, such as 580.65.06; "" if the system does not report it. */
static void read_module_version(char *text, size_t bytes)
{
    text[0] = '\0';
    FILE *file = fopen("/sys/module/nvidia/version", "r");
    if (file == NULL) return;
    if (fgets(text, (int)bytes, file) == NULL) text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    fclose(file);
}

static void load_driver(yoke_cuda *state)
{
    char why[256];
    if (!open_first(driver_paths, "YOKE_LIBCUDA", driver_symbols, &state->driver, why)) {
        set_reason(state, why[0] != '\0' ? why : "there is no NVIDIA driver: libcuda.so.1 was not found",
                   "with an NVIDIA GPU: apt install nvidia-driver (Debian) or ubuntu-drivers install (Ubuntu); in a container: start it "
                   "with --gpus all");
        return;
    }
    CUresult result = state->driver.cuInit(0);
    const char *call = "cuInit";
    if (result == CUDA_SUCCESS) {
        call = "cuDriverGetVersion";
        result = state->driver.cuDriverGetVersion(&state->driver_version);
    }
    if (result == CUDA_SUCCESS && state->driver_version < OLDEST_DRIVER) {
        snprintf(why, sizeof why, "the NVIDIA driver is too old: it speaks CUDA %d.%d, and 11.0 is needed", state->driver_version / 1000,
                 state->driver_version % 1000 / 10);
        set_reason(state, why, "install a driver of version 450 or newer");
        return;
    }
    if (result == CUDA_SUCCESS) {
        call = "cuDeviceGetCount";
        result = state->driver.cuDeviceGetCount(&state->device_count);
    }
    if (result == CUDA_SUCCESS && state->device_count == 0) result = CUDA_ERROR_NO_DEVICE;
    if (result != CUDA_SUCCESS) {
        state->device_count = 0;
        explain_start(state, result, call);
        return;
    }
    char module[32];
    read_module_version(module, sizeof module);
    snprintf(state->driver_text, sizeof state->driver_text, "driver %s%sCUDA %d.%d", module, module[0] != '\0' ? ", " : "of ",
             state->driver_version / 1000, state->driver_version % 1000 / 10);
}

/* -------------------------------------------------------------------------------------------------- NVRTC */

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Queries the version and architectures of the compiler that was opened.  Returns 1, or 0 with the reason. */
static int ask_compiler(yoke_cuda *state, char why_not[256])
{
    const yoke_cuda_compiler *compiler = &state->compiler;
    int count = 0;
    nvrtcResult result = compiler->nvrtcVersion(&state->compiler_major, &state->compiler_minor);
    if (result == NVRTC_SUCCESS) result = compiler->nvrtcGetNumSupportedArchs(&count);
    if (result == NVRTC_SUCCESS && (count < 1 || count > YOKE_CUDA_MAX_ARCHITECTURES)) {
        snprintf(why_not, 256, "NVRTC says that it compiles for %d architectures, which cannot be", count);
        return 0;
    }
    if (result == NVRTC_SUCCESS) result = compiler->nvrtcGetSupportedArchs(state->architectures);
    if (result != NVRTC_SUCCESS) {
        snprintf(why_not, 256, "NVRTC does not say which cards it compiles for: %s", compiler->nvrtcGetErrorString(result));
        return 0;
    }
    state->num_architectures = count;
    qsort(state->architectures, (size_t)count, sizeof state->architectures[0], ascending);
    return 1;
}

static finding try_compiler(yoke_cuda *state, const char *path, char why_not[256])
{
    finding found = open_library(path, compiler_symbols, &state->compiler, why_not);
    return found == FOUND && !ask_compiler(state, why_not) ? WRONG : found;
}

/*
 * Opens the first NVRTC that is not newer than the driver, which may reject the output of a newer one; if there is none, the first of all.
 */
static int find_compiler(yoke_cuda *state, char why_not[256])
{
    const char *path, *newer = NULL;
    if (replaced("YOKE_LIBNVRTC", &path, why_not)) return path != NULL && try_compiler(state, path, why_not) == FOUND;
    snprintf(why_not, 256, "libnvrtc.so was not found");
    for (const char *const *place = compiler_paths; *place != NULL; place++) {
        char reason[256];
        finding found = try_compiler(state, *place, reason);
        if (found == FOUND && state->compiler_major <= state->driver_version / 1000) return 1;
        if (found == FOUND && newer == NULL) newer = *place;
        if (found == WRONG) memcpy(why_not, reason, sizeof reason);
    }
    return newer != NULL && try_compiler(state, newer, why_not) == FOUND;
}

static void load_compiler(yoke_cuda *state)
{
    char why[256];
    if (find_compiler(state, why)) return;
    snprintf(state->compiler_why_not, sizeof state->compiler_why_not, "there is no CUDA compiler: %.220s", why);
    snprintf(
        state->compiler_remedy, sizeof state->compiler_remedy,
        "apt install nvidia-cuda-toolkit (or the libnvrtc package of your release), or set YOKE_LIBNVRTC to the path of a libnvrtc.so");
}

void yoke_cuda_load(yoke_cuda *state)
{
    load_driver(state);
    if (state->why_not[0] == '\0') load_compiler(state);
}

yoke_status yoke_cuda_load_blas(yoke_cuda *state)
{
    if (!state->blas_looked_for) {
        state->blas_looked_for = 1;
        char why[256];
        if (!open_first(blas_paths, "YOKE_LIBCUBLAS", blas_symbols, &state->blas, why))
            snprintf(state->blas_why_not, sizeof state->blas_why_not, "%s", why[0] != '\0' ? why : "libcublas.so was not found");
    }
    if (state->blas_why_not[0] == '\0') return YOKE_OK;
    return yoke_fail(state->context, YOKE_ERROR_UNAVAILABLE,
                     "no BLAS for CUDA: %s; apt install nvidia-cuda-toolkit (or the libcublas package of your release), or set "
                     "YOKE_LIBCUBLAS to its path",
                     state->blas_why_not);
}
