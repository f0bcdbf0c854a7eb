/*
 * store_fixture.h - what the tests of the store start from: a directory of its own for each test, and a context whose memory is counted.
 */
#ifndef YOKE_TESTS_MODEL_STORE_FIXTURE_H
#define YOKE_TESTS_MODEL_STORE_FIXTURE_H

#include <unistd.h>

#include "base/failing.h"
#include "unit.h"
#include "yoke/yoke.h"

typedef struct fixture {
    char directory[64], path[96], other[104], lock[104]; /* the store, what is kept of a bad one, and the lock that processes take */
    failing memory;
    yoke_context *context;
} fixture;

static inline int fixture_start(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    if (f == NULL) return -1;
    strcpy(f->directory, "/tmp/yoke-store-XXXXXX");
    if (mkdtemp(f->directory) == NULL) return -1;
    snprintf(f->path, sizeof f->path, "%s/store.json", f->directory);
    snprintf(f->other, sizeof f->other, "%s.bak", f->path);
    snprintf(f->lock, sizeof f->lock, "%s.lock", f->path);
    const yoke_options options = failing_options(&f->memory);
    if (yoke_context_create(&options, &f->context) != YOKE_OK) return -1;
    *state = f;
    return 0;
}

static inline int fixture_stop(void **state)
{
    fixture *f = *state;
    yoke_context_destroy(f->context);
    const int64_t outstanding = f->memory.outstanding;
    unlink(f->path);
    const int left = rmdir(f->directory); /* nothing else may lie there */
    free(f);
    return outstanding != 0 || left != 0 ? -1 : 0;
}

#endif
