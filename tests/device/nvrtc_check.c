/*
 * nvrtc_check: compiles kernel files with the real NVRTC, which needs no GPU, as the cuda backend does it.
 *
 *     nvrtc_check DIALECT [-DNAME=VALUE ...] FILE...
 *
 * DIALECT is yoke/dialect.h.  Files are put together in their order, for each architecture from sm_70 to sm_90 that this NVRTC knows (the
 * oldest that it knows, where that is newer than sm_70).  Prints what registers and memory each kernel takes.  Exit code 77: NVRTC is not
 * here.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/api.h"

enum { SKIPPED = 77, MOST = 64 };

static yoke_cuda_compiler compiler;

static int find_functions(void *library)
{
    static const struct {
        const char *name;
        size_t offset;
    } symbols[] = {
#define SYMBOL(required, result, name, parameters) {#name, offsetof(yoke_cuda_compiler, name)},
        YOKE_NVRTC_FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *address = dlsym(library, symbols[i].name);
        if (address == NULL) return 0;
        memcpy((char *)&compiler + symbols[i].offset, &address, sizeof address);
    }
    return 1;
}

static int open_compiler(void)
{
    static const char *const usual[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                        "/usr/local/cuda/lib64/libnvrtc.so"};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        void *library = dlopen(usual[i], RTLD_NOW | RTLD_LOCAL);
        if (library != NULL && find_functions(library)) return 1;
    }
    return 0;
}

static void must(int right, const char *what)
{
    if (right) return;
    fprintf(stderr, "nvrtc_check: %s\n", what);
    exit(1);
}

/* Appends a file to the text, its lines of #include "..." empty, as embedding makes them. */
static char *append_file(char *text, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[4096];
    must(file != NULL, path);
    size_t used = text != NULL ? strlen(text) : 0;
    must(fseek(file, 0, SEEK_END) == 0, path);
    long bytes = ftell(file);
    must(bytes >= 0, path);
    rewind(file);
    text = realloc(text, used + (size_t)bytes + strlen(path) + 64);
    must(text != NULL, "out of memory");
    used += (size_t)sprintf(text + used, "#line 1 \"%s\"\n", path);
    while (fgets(line, sizeof line, file) != NULL) {
        char quote[2];
        used += (size_t)sprintf(text + used, "%s", sscanf(line, " # include %1[\"]", quote) == 1 ? "\n" : line);
    }
    fclose(file);
    return text;
}

/* Of the assembler's remarks those that matter: which kernel, registers, shared memory, spilling. */
static void print_resources(char *log)
{
    char kernel[128] = "";
    for (char *line = strtok(log, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        const char *entry = strstr(line, "entry function '"), *used = strstr(line, "Used "), *spill = strstr(line, "bytes stack frame");
        if (entry != NULL) snprintf(kernel, sizeof kernel, "%.*s", (int)strcspn(entry + 16, "'"), entry + 16);
        if (spill != NULL && strstr(line, " 0 bytes spill stores") == NULL) printf("    %s spills: %s\n", kernel, line);
        if (used != NULL) printf("    %-28s %s\n", kernel, used);
    }
}

static int compile(const char *text, int architecture, const char *const *given, int num_given)
{
    char target[48];
    const char *options[MOST + 4] = {target, "--std=c++14", "--fmad=true", "--ptxas-options=-v"};
    nvrtcProgram program;
    snprintf(target, sizeof target, "--gpu-architecture=sm_%d", architecture);
    for (int i = 0; i < num_given; i++) options[4 + i] = given[i];
    must(compiler.nvrtcCreateProgram(&program, text, "kernels.cu", 0, NULL, NULL) == NVRTC_SUCCESS, "nvrtcCreateProgram fails");
    nvrtcResult result = compiler.nvrtcCompileProgram(program, 4 + num_given, options);
    size_t bytes = 0;
    must(compiler.nvrtcGetProgramLogSize(program, &bytes) == NVRTC_SUCCESS, "nvrtcGetProgramLogSize fails");
    char *log = calloc(bytes + 1, 1);
    must(log != NULL && compiler.nvrtcGetProgramLog(program, log) == NVRTC_SUCCESS, "nvrtcGetProgramLog fails");
    printf("sm_%d: %s\n", architecture, compiler.nvrtcGetErrorString(result));
    if (result == NVRTC_SUCCESS) {
        must(compiler.nvrtcGetCUBINSize(program, &bytes) == NVRTC_SUCCESS && bytes > 0, "there is no cubin");
        print_resources(log);
    } else
        printf("%s\n", log);
    free(log);
    compiler.nvrtcDestroyProgram(&program);
    return result == NVRTC_SUCCESS;
}

static int knows(const int *known, int count, int architecture)
{
    for (int i = 0; i < count; i++)
        if (known[i] == architecture) return 1;
    return 0;
}

int main(int argc, char **argv)
{
    static const int wanted[] = {70, 75, 80, 86, 89, 90};
    const char *options[MOST];
    int num_options = 0, known[MOST], num_known = 0, compiled = 0, right = 1, major, minor;
    if (!open_compiler()) {
        printf("skipped: libnvrtc.so was not found; it is in NVIDIA's CUDA toolkit, and needs no GPU\n");
        return SKIPPED;
    }
    must(argc >= 3, "usage: nvrtc_check DIALECT [-DNAME=VALUE ...] FILE...");
    char *text = append_file(NULL, argv[1]);
    for (int i = 2; i < argc; i++)
        if (strncmp(argv[i], "-D", 2) == 0 && num_options < MOST)
            options[num_options++] = argv[i];
        else
            text = append_file(text, argv[i]);
    must(compiler.nvrtcVersion(&major, &minor) == NVRTC_SUCCESS, "nvrtcVersion fails");
    must(compiler.nvrtcGetNumSupportedArchs(&num_known) == NVRTC_SUCCESS && num_known <= MOST, "nvrtcGetNumSupportedArchs fails");
    must(compiler.nvrtcGetSupportedArchs(known) == NVRTC_SUCCESS, "nvrtcGetSupportedArchs fails");
    printf("NVRTC %d.%d\n", major, minor);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (!knows(known, num_known, wanted[i])) {
            printf("sm_%d: not known to this NVRTC\n", wanted[i]);
            continue;
        }
        right &= compile(text, wanted[i], options, num_options);
        compiled++;
    }
    must(compiled > 0, "this NVRTC knows none of the architectures from sm_70 to sm_90");
    free(text);
    return right ? 0 : 1;
}
