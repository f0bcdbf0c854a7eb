/* Counting, failing on request, and the balance at exit. */
#define _GNU_SOURCE /* PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "stub.h"

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static unsigned long long calls;
static long long balance[NUM_BOOKS];

unsigned long long stub_setting(const char *name, unsigned long long usual)
{
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : usual;
}

/* Those after which a context is of no use (cuda.h says which). */
static int lasts(CUresult result)
{
    return result == CUDA_ERROR_DEVICE_UNAVAILABLE || result == CUDA_ERROR_ECC_UNCORRECTABLE || result == CUDA_ERROR_UNKNOWN ||
           (result >= CUDA_ERROR_ILLEGAL_ADDRESS && result <= CUDA_ERROR_LAUNCH_FAILED && result != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
}

void stub_break(CUcontext context, CUresult result)
{
    if (lasts(result)) context->broken = result;
}

CUresult stub_begin(void)
{
    pthread_mutex_lock(&lock);
    calls++;
    if (calls != stub_setting("YOKE_STUB_CUDA_FAIL_AT", 0)) return CUDA_SUCCESS;
    CUresult result = (CUresult)stub_setting("YOKE_STUB_CUDA_FAIL_WITH", CUDA_ERROR_LAUNCH_FAILED);
    if (stub_current() != NULL) stub_break(stub_current(), result);
    return result;
}

CUresult stub_begin_in_context(void)
{
    CUresult result = stub_begin();
    if (result != CUDA_SUCCESS) return result;
    if (stub_current() == NULL) return CUDA_ERROR_INVALID_CONTEXT;
    return stub_current()->broken;
}

CUresult stub_end(CUresult result)
{
    pthread_mutex_unlock(&lock);
    return result;
}

void stub_count(stub_book book, int change) { balance[book] += change; }

__attribute__((destructor)) static void write_books(void)
{
    static const char *const names[NUM_BOOKS] = {
#define STUB_BOOK(name) #name,
        STUB_BOOKS(STUB_BOOK)
#undef STUB_BOOK
    };
    const char *path = getenv("YOKE_STUB_CUDA_COUNT");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    if (file == NULL) return;
    fprintf(file, "calls %llu\n", calls);
    for (int i = 0; i < NUM_BOOKS; i++) fprintf(file, "%s %lld\n", names[i], balance[i]);
    fclose(file);
}
