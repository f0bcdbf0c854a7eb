/*
 * cuda_child.h - tests of the cuda backend on the stand-ins of CUDA's libraries (stub/stub.h), which lie in STUB_DIRECTORY.
 *
 * What a process finds of CUDA it finds once, so each test starts a child for each environment that it wants; the child's books show what
 * was not given back.
 */
#ifndef YOKE_TESTS_DEVICE_CUDA_CHILD_H
#define YOKE_TESTS_DEVICE_CUDA_CHILD_H

#include "unit.h"
#include "yoke/yoke.h"

/* In a child, which has no test to fail: ends it. */
#define CHECK(condition) cuda_check((condition) != 0, #condition, __FILE__, __LINE__, NULL)
#define CHECK_STATUS(context, status, expected) cuda_check((status) == (expected), #status " is " #expected, __FILE__, __LINE__, context)
void cuda_check(int right, const char *text, const char *file, int line, const yoke_context *context);

/* Does the text contain the word?  Prints both if it does not. */
int cuda_mentions(const char *text, const char *word);
/* Does the text of the last error? */
int cuda_says(const yoke_context *context, const char *word);

typedef struct cuda_setting {
    const char *name, *value;
} cuda_setting;

enum { CUDA_MAX_SETTINGS = 8 };
#define WITH(...) ((const cuda_setting[CUDA_MAX_SETTINGS]){__VA_ARGS__})

typedef struct cuda_books {
    int exit_code;
    long calls, wrong; /* what was not given back, all together */
} cuda_books;

/* Runs `body` in a child, whose environment has the settings. */
cuda_books cuda_run_child(void (*body)(void), const cuda_setting settings[CUDA_MAX_SETTINGS]);
/* The child must end well, and have given everything back. */
cuda_books cuda_expect_right(void (*body)(void), const cuda_setting settings[CUDA_MAX_SETTINGS]);

/* A group's setup: lets children find the stand-ins. */
int cuda_use_stand_ins(void **state);

#endif
