#include "cuda_child.h"

#include <sys/wait.h>
#include <unistd.h>

void cuda_check(int right, const char *text, const char *file, int line, const yoke_context *context)
{
    if (right) return;
    fprintf(stderr, "%s:%d: %s; %s\n", file, line, text, context != NULL ? yoke_last_error(context) : "");
    exit(1);
}

int cuda_mentions(const char *text, const char *word)
{
    if (strstr(text, word) != NULL) return 1;
    fprintf(stderr, "'%s' does not say '%s'\n", text, word);
    return 0;
}

int cuda_says(const yoke_context *context, const char *word) { return cuda_mentions(yoke_last_error(context), word); }

static void read_books(const char *path, cuda_books *found)
{
    FILE *file = fopen(path, "r");
    char name[32];
    long value;
    if (file == NULL) return; /* the stand-in was not opened */
    while (fscanf(file, "%31s %ld", name, &value) == 2)
        if (strcmp(name, "calls") == 0)
            found->calls = value;
        else {
            if (value != 0) fprintf(stderr, "not given back: %ld %s\n", value, name);
            found->wrong += labs(value);
        }
    fclose(file);
}

cuda_books cuda_run_child(void (*body)(void), const cuda_setting settings[CUDA_MAX_SETTINGS])
{
    char path[] = "/tmp/yoke-books-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("YOKE_STUB_CUDA_COUNT", path, 1);
        for (int i = 0; i < CUDA_MAX_SETTINGS && settings[i].name != NULL; i++) setenv(settings[i].name, settings[i].value, 1);
        body();
        exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    cuda_books found = {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128};
    read_books(path, &found);
    unlink(path);
    return found;
}

cuda_books cuda_expect_right(void (*body)(void), const cuda_setting settings[CUDA_MAX_SETTINGS])
{
    cuda_books found = cuda_run_child(body, settings);
    assert_int_equal(found.exit_code, 0);
    assert_int_equal(found.wrong, 0);
    return found;
}

int cuda_use_stand_ins(void **state)
{
    (void)state;
    return setenv("YOKE_LIBCUDA", STUB_DIRECTORY "/libstub_cuda.so", 1) + setenv("YOKE_LIBNVRTC", STUB_DIRECTORY "/libstub_nvrtc.so", 1) +
           setenv("YOKE_LIBCUBLAS", STUB_DIRECTORY "/libstub_cublas.so", 1) + setenv("YOKE_CACHE", STUB_DIRECTORY "/cache", 1) +
           unsetenv("CUDA_VISIBLE_DEVICES");
}
