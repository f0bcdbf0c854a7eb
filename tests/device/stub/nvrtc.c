/* The stand-in of NVRTC: the system's C++ compiler makes a shared object of the text, as the host sees it through prelude.h. */
#define _GNU_SOURCE /* mkdtemp with the rest of POSIX */

#include <ctype.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stub.h"

enum { MAX_OPTIONS = 64, PATH_BYTES = 4096 };

static const int architectures[] = {90, 75, 80, 86}; /* NVRTC does not say that they are sorted */

struct _nvrtcProgram {
    char *text, *log;
    stub_image *image;
};

const char *nvrtcGetErrorString(nvrtcResult result)
{
    switch (result) {
    case NVRTC_SUCCESS:
        return "NVRTC_SUCCESS";
    case NVRTC_ERROR_OUT_OF_MEMORY:
        return "NVRTC_ERROR_OUT_OF_MEMORY";
    case NVRTC_ERROR_INVALID_INPUT:
        return "NVRTC_ERROR_INVALID_INPUT";
    case NVRTC_ERROR_INVALID_OPTION:
        return "NVRTC_ERROR_INVALID_OPTION";
    case NVRTC_ERROR_COMPILATION:
        return "NVRTC_ERROR_COMPILATION";
    case NVRTC_ERROR_INTERNAL_ERROR:
        return "NVRTC_ERROR_INTERNAL_ERROR";
    default:
        return "NVRTC_ERROR unknown";
    }
}

/* A call that fails on request. */
static nvrtcResult begin(void)
{
    CUresult result = stub_begin();
    stub_end(result);
    return result == CUDA_SUCCESS ? NVRTC_SUCCESS : NVRTC_ERROR_INTERNAL_ERROR;
}

/* ------------------------------------------------------------------------------------------------- running */

/* A file's bytes with a 0 behind them; NULL where it cannot be read. */
static char *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long length = -1;
    if (file == NULL) return NULL;
    if (fseek(file, 0, SEEK_END) == 0) length = ftell(file);
    rewind(file);
    if (length >= 0) text = malloc((size_t)length + 1);
    if (text != NULL && fread(text, 1, (size_t)length, file) != (size_t)length) {
        free(text);
        text = NULL;
    }
    fclose(file);
    if (text == NULL) return NULL;
    text[length] = '\0';
    if (bytes != NULL) *bytes = (size_t)length;
    return text;
}

static int write_file(const char *path, const char *first, const char *second)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) return 0;
    int whole = fputs(first, file) >= 0 && fputs(second, file) >= 0;
    return fclose(file) == 0 && whole;
}

/* Runs a compiler, with its messages to a file.  Returns whether it was content. */
static int run(const char *const *words, const char *messages)
{
    pid_t child = fork();
    if (child == 0) {
        int file = open(messages, O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (file >= 0) {
            dup2(file, 1);
            dup2(file, 2);
        }
        /* What the program under test was started with is not for the compiler. */
        unsetenv("LD_PRELOAD");
        execvp(words[0], (char *const *)words);
        _exit(127);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child) return 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---------------------------------------------------------------------------------------------- the kernels */

/* The table of kernels for the end of the text: all names that follow __global__ void. */
static char *make_table(const char *text)
{
    static const char word[] = "__global__", begin_word[] = "\nSTUB_TABLE_BEGIN\n", end_word[] = "STUB_TABLE_END\n";
    size_t bytes = sizeof begin_word + sizeof end_word;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) bytes += 300;
    char *table = malloc(bytes);
    if (table == NULL) return NULL;
    strcpy(table, begin_word);
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        char name[256];
        if (sscanf(at + sizeof word - 1, " void %255[A-Za-z0-9_]", name) == 1) sprintf(table + strlen(table), "STUB_KERNEL(%s)\n", name);
    }
    strcat(table, end_word);
    return table;
}

typedef struct job {
    char directory[PATH_BYTES / 2], text[PATH_BYTES], plain[PATH_BYTES], whole[PATH_BYTES], object[PATH_BYTES], messages[PATH_BYTES];
    const char *options[MAX_OPTIONS];
    int num_options;
} job;

/* Macros of the text are expanded first, so that the kernels' names can be seen. */
static int preprocess(const job *one)
{
    const char *words[MAX_OPTIONS + 16] = {
        STUB_COMPILER, "-std=c++17", "-E",      "-D__CUDACC__", "-D__CUDACC_RTC__", "-D__CUDA_ARCH__=800",
        "-x",          "c++",        one->text, "-o",           one->plain};
    int used = 11;
    for (int i = 0; i < one->num_options; i++) words[used++] = one->options[i];
    return run(words, one->messages);
}

static int compile(const job *one)
{
    char *plain = read_file(one->plain, NULL), *table = plain != NULL ? make_table(plain) : NULL;
    int done = table != NULL && write_file(one->whole, plain, table);
    free(plain);
    free(table);
    const char *words[] = {STUB_COMPILER, "-std=c++17", "-O1", "-w",  "-fPIC",    "-shared", "-Wl,-Bsymbolic", "-ffp-contract=fast",
                           "-include",    STUB_PRELUDE, "-x",  "c++", one->whole, "-o",      one->object,      NULL};
    return done && run(words, one->messages);
}

static stub_image *make_image(const job *one)
{
    size_t bytes;
    char *object = read_file(one->object, &bytes);
    stub_image *image = object != NULL ? malloc(sizeof *image + bytes) : NULL;
    if (image != NULL) {
        memcpy(image->magic, STUB_MAGIC, sizeof image->magic);
        image->bytes = bytes;
        memcpy(image + 1, object, bytes);
    }
    free(object);
    return image;
}

static nvrtcResult work(nvrtcProgram program, job *one)
{
    const char *place = getenv("TMPDIR");
    snprintf(one->directory, sizeof one->directory, "%s/yoke-stub-XXXXXX", place != NULL ? place : "/tmp");
    if (mkdtemp(one->directory) == NULL) return NVRTC_ERROR_INTERNAL_ERROR;
    snprintf(one->text, PATH_BYTES, "%s/text.cu", one->directory);
    snprintf(one->plain, PATH_BYTES, "%s/plain.cu", one->directory);
    snprintf(one->whole, PATH_BYTES, "%s/whole.cu", one->directory);
    snprintf(one->object, PATH_BYTES, "%s/object.so", one->directory);
    snprintf(one->messages, PATH_BYTES, "%s/messages", one->directory);
    nvrtcResult result = NVRTC_ERROR_COMPILATION;
    if (write_file(one->text, program->text, "") && preprocess(one) && compile(one)) {
        program->image = make_image(one);
        result = program->image != NULL ? NVRTC_SUCCESS : NVRTC_ERROR_OUT_OF_MEMORY;
    }
    program->log = read_file(one->messages, NULL);
    const char *files[] = {one->text, one->plain, one->whole, one->object, one->messages};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) unlink(files[i]);
    rmdir(one->directory);
    return result;
}

/* Of NVRTC's options, those that the backend may give; the architecture must be one that is known. */
static nvrtcResult take_option(job *one, const char *option)
{
    int architecture;
    if (strcmp(option, "--std=c++14") == 0 || strcmp(option, "--fmad=true") == 0) return NVRTC_SUCCESS;
    if (sscanf(option, "--gpu-architecture=sm_%d", &architecture) == 1 ||
        sscanf(option, "--gpu-architecture=compute_%d", &architecture) == 1) {
        for (size_t i = 0; i < sizeof architectures / sizeof architectures[0]; i++)
            if (architectures[i] == architecture) return NVRTC_SUCCESS;
        return NVRTC_ERROR_INVALID_OPTION;
    }
    if (strncmp(option, "-D", 2) != 0 || one->num_options == MAX_OPTIONS) return NVRTC_ERROR_INVALID_OPTION;
    one->options[one->num_options++] = option;
    return NVRTC_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------ the calls */

/* A version that no NVRTC has, and that changes with the prelude: cached programs of another NVRTC or stand-in are never taken. */
nvrtcResult nvrtcVersion(int *major, int *minor)
{
    char *prelude = read_file(STUB_PRELUDE, NULL);
    unsigned hash = 0;
    for (const char *c = prelude; c != NULL && *c != '\0'; c++) hash = 31 * hash + (unsigned char)*c;
    free(prelude);
    *major = 12;
    *minor = (int)(100 + hash % 900);
    return begin();
}

nvrtcResult nvrtcGetNumSupportedArchs(int *count)
{
    *count = (int)(sizeof architectures / sizeof architectures[0]);
    return begin();
}

nvrtcResult nvrtcGetSupportedArchs(int *known)
{
    memcpy(known, architectures, sizeof architectures);
    return begin();
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *text, const char *name, int num_headers, const char *const *headers,
                               const char *const *include_names)
{
    (void)headers;
    (void)include_names;
    nvrtcResult result = begin();
    if (result != NVRTC_SUCCESS) return result;
    if (text == NULL || name == NULL || num_headers != 0) return NVRTC_ERROR_INVALID_INPUT;
    nvrtcProgram made = calloc(1, sizeof *made);
    if (made != NULL) made->text = strdup(text);
    if (made == NULL || made->text == NULL) {
        free(made);
        return NVRTC_ERROR_OUT_OF_MEMORY;
    }
    stub_count(BOOK_programs, 1);
    *program = made;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    nvrtcResult result = begin();
    free((*program)->text);
    free((*program)->log);
    free((*program)->image);
    free(*program);
    *program = NULL;
    stub_count(BOOK_programs, -1);
    return result;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int num_options, const char *const *options)
{
    nvrtcResult result = begin();
    job *one = result == NVRTC_SUCCESS ? calloc(1, sizeof *one) : NULL;
    if (one == NULL) return result != NVRTC_SUCCESS ? result : NVRTC_ERROR_OUT_OF_MEMORY;
    for (int i = 0; i < num_options && result == NVRTC_SUCCESS; i++) result = take_option(one, options[i]);
    if (result == NVRTC_SUCCESS) result = work(program, one);
    free(one);
    return result;
}

static nvrtcResult image_bytes(nvrtcProgram program, size_t *bytes)
{
    nvrtcResult result = begin();
    if (result == NVRTC_SUCCESS && program->image == NULL) result = NVRTC_ERROR_INVALID_INPUT;
    if (result == NVRTC_SUCCESS) *bytes = sizeof *program->image + (size_t)program->image->bytes;
    return result;
}

static nvrtcResult copy_image(nvrtcProgram program, char *bytes)
{
    nvrtcResult result = begin();
    if (result == NVRTC_SUCCESS && program->image == NULL) result = NVRTC_ERROR_INVALID_INPUT;
    if (result == NVRTC_SUCCESS) memcpy(bytes, program->image, sizeof *program->image + (size_t)program->image->bytes);
    return result;
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *bytes) { return image_bytes(program, bytes); }
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *text) { return copy_image(program, text); }
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes) { return image_bytes(program, bytes); }
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *bytes) { return copy_image(program, bytes); }

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *bytes)
{
    *bytes = (program->log != NULL ? strlen(program->log) : 0) + 1;
    return begin();
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *text)
{
    strcpy(text, program->log != NULL ? program->log : "");
    return begin();
}
