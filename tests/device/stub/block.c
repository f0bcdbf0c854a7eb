/* Executes kernels: blocks one after another, the threads of a block as fibers. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "stub.h"

enum { MAX_THREADS = 1024, STACK_BYTES = 512 << 10, GUARD_BYTES = 64 << 10 };

/*
 * A fiber runs one thread after another until one comes to a barrier, so that a kernel without barriers is a plain loop on one fiber.
 * Fibers change with the compiler's own short jumps: swapcontext asks the system for the signals' mask at every change, and sanitizers
 * follow setjmp.
 */
typedef struct fiber {
    void *place[5]; /* where it goes on */
    ucontext_t beginning;
    char *stack;
    int started, waiting;
    unsigned thread;
    int line; /* of the barrier that it waits at */
} fiber;

static struct {
    void *scheduler[5];
    fiber fibers[MAX_THREADS], *current;
    CUmodule module;
    void (*run)(void **arguments);
    void **arguments;
    unsigned threads, next, finished;
} state;

__attribute__((noinline, noreturn)) static void jump(void **place) { __builtin_longjmp(place, 1); }

/* Does not return: the frame of the caller, to which the fiber comes back, must stay, which a last call in its place would not let it. */
__attribute__((noinline, noreturn)) static void begin(const ucontext_t *beginning)
{
    setcontext(beginning);
    __builtin_unreachable();
}

static void show_thread(unsigned thread) { *state.module->thread = (stub_dimensions){thread, 0, 0}; }

/* On a fiber: back to the scheduler, until that resumes the fiber. */
__attribute__((noinline)) static void leave(void)
{
    if (__builtin_setjmp(state.current->place) == 0) jump(state.scheduler);
}

static void work(void)
{
    for (;;) {
        while (state.next < state.threads) {
            state.current->thread = state.next++;
            show_thread(state.current->thread);
            state.run(state.arguments);
            state.finished++;
        }
        leave();
    }
}

static void barrier(int line)
{
    state.current->waiting = 1;
    state.current->line = line;
    leave();
}

/* On the scheduler's stack: runs a fiber until it leaves. */
__attribute__((noinline)) static void resume(fiber *chosen)
{
    state.current = chosen;
    chosen->waiting = 0;
    show_thread(chosen->thread);
    if (__builtin_setjmp(state.scheduler) != 0) return;
    if (chosen->started) jump(chosen->place);
    chosen->started = 1;
    begin(&chosen->beginning);
}

static int prepare(fiber *one)
{
    if (one->stack == NULL) {
        char *memory = mmap(NULL, STACK_BYTES + GUARD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED || mprotect(memory, GUARD_BYTES, PROT_NONE) != 0) return 0;
        one->stack = memory + GUARD_BYTES;
    }
    if (one->started) return 1;
    getcontext(&one->beginning);
    one->beginning.uc_stack.ss_sp = one->stack;
    one->beginning.uc_stack.ss_size = STACK_BYTES;
    one->beginning.uc_link = NULL;
    makecontext(&one->beginning, work, 0);
    return 1;
}

/* Threads came to different barriers, or some to none: the fibers that still wait begin anew. */
static CUresult give_up(unsigned waiting)
{
    for (unsigned i = 0; i < waiting; i++) state.fibers[i].started = 0;
    return CUDA_ERROR_LAUNCH_FAILED;
}

static CUresult run_block(void)
{
    state.next = 0;
    state.finished = 0;
    unsigned waiting = 0;
    while (state.next < state.threads) {
        if (!prepare(&state.fibers[waiting])) return CUDA_ERROR_OUT_OF_MEMORY;
        resume(&state.fibers[waiting]);
        if (state.fibers[waiting].waiting) waiting++;
    }
    while (waiting > 0) {
        if (state.finished > 0) return give_up(waiting);
        for (unsigned i = 1; i < waiting; i++)
            if (state.fibers[i].line != state.fibers[0].line) return give_up(waiting);
        unsigned still = 0;
        for (unsigned i = 0; i < waiting; i++) {
            resume(&state.fibers[i]);
            still += (unsigned)state.fibers[i].waiting;
        }
        if (still > 0 && still < waiting) return give_up(waiting);
        waiting = still;
    }
    return CUDA_SUCCESS;
}

CUresult stub_run(CUfunction function, unsigned blocks, unsigned threads, void **arguments)
{
    CUmodule module = function->module;
    unsigned most = (unsigned)stub_setting("YOKE_STUB_CUDA_MOST_THREADS", MAX_THREADS);
    state.module = module;
    state.run = function->kernel->run;
    state.arguments = arguments;
    state.threads = threads < most ? threads : most;
    *module->barrier = barrier;
    *module->blocks = (stub_dimensions){blocks, 1, 1};
    *module->threads = (stub_dimensions){state.threads, 1, 1};
    CUresult result = CUDA_SUCCESS;
    for (unsigned block = 0; block < blocks && result == CUDA_SUCCESS; block++) {
        *module->block = (stub_dimensions){block, 0, 0};
        if (module->shared != NULL) memset(module->shared, 0xff, (size_t)(module->shared_end - module->shared));
        result = run_block();
    }
    return result;
}
