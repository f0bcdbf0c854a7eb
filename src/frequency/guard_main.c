/*
 * yoke-clock-guard PROCESS ROOT - restores the frequencies when PROCESS requests it, or ends for any reason.
 *
 * libyoke starts it before the first change, with a socket as standard input and the lock of the frequencies as descriptor 3.  It receives
 * the settings to restore as lines (book.c), in batches that each end with "end", and answers each batch with "ready", or with the reason
 * why it cannot accept it.  When the socket is closed, or PROCESS is gone, it restores them, answers with a line for each failure and then
 * "done", and ends; the lock ends with it.
 *
 * It is not meant to be installed with privileges of its own (setuid), because it writes whatever it receives.
 */
#define _GNU_SOURCE /* syscall */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/helper.h"
#include "frequency/frequency.h"
#include "meter/vendor/nvml.h"

enum { LOCK_DESCRIPTOR = 3, RECEIVE_BYTES = 4096, LINE_BYTES = FREQUENCY_PATH_BYTES + FREQUENCY_WORD_BYTES, POLL_MS = 100 };

typedef struct guarding {
    yoke_context *context;
    meter_site site;
    frequency_book book; /* settings that are restored at the end */
    frequency_book lot;  /* settings received since the last "end": not yet accepted, so none of them has been changed */
    yoke_nvml nvml;
    int nvml_loaded;
    pid_t process;
    int process_descriptor; /* readable when the process has ended; -1: the system does not support it */
    char line[LINE_BYTES];
    size_t length;
    int refused; /* nonzero: a line of this batch was invalid */
} guarding;

/* -------------------------------------------------------------------------------------------------- detach */

/* Forks a child that does the work, so that nobody has to wait for it. */
static int detach(guarding *guard)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    yoke_helper_close_above(LOCK_DESCRIPTOR); /* files that the starting program had open must be closed when that program ends */
    if (chdir("/") != 0) return 0;
    guard->process_descriptor = -1;
#ifdef SYS_pidfd_open
    guard->process_descriptor = (int)syscall(SYS_pidfd_open, guard->process, 0);
#endif
    if (getppid() != guard->process) return 0; /* it has already ended: nothing was changed */
    pid_t child = fork();
    if (child < 0) return 0;
    if (child > 0) _exit(0);
    setsid();
    return 1;
}

/* -------------------------------------------------------------------------------------------------- listen */

/* Sends a line to the process.  Returns 0 if the process is gone. */
static int answer(const char *text)
{
    char line[2 * METER_WHY_BYTES];
    snprintf(line, sizeof line - 1, "%s", text);
    for (char *byte = line; *byte != '\0'; byte++)
        if (*byte == '\n') *byte = ' ';
    strcat(line, "\n");
    return send(STDIN_FILENO, line, strlen(line), MSG_NOSIGNAL) >= 0;
}

/*
 * Reports a setting that could not be restored to the process; if that is gone, to its terminal or log, unless writing there would block.
 */
static void report(void *user, const char *text)
{
    const guarding *guard = user;
    struct pollfd wanted = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (answer(text) || poll(&wanted, 1, 0) != 1 || (wanted.revents & POLLOUT) == 0) return;
    fprintf(stderr, "yoke-clock-guard: after the end of process %ld a frequency could not be restored: %s\n", (long)guard->process, text);
}

/* Settings of a GPU are accepted only if NVML is available, so NVML is loaded before the answer. */
static yoke_status take_gpu(guarding *guard)
{
    if (guard->nvml_loaded) return YOKE_OK;
    guard->nvml_loaded = yoke_nvml_load(&guard->site, &guard->nvml);
    if (guard->nvml_loaded) return YOKE_OK;
    return yoke_fail(guard->context, YOKE_ERROR_UNAVAILABLE, "%s", guard->nvml.why_not);
}

/* Accepts or rejects a complete batch. */
static void end_lot(guarding *guard)
{
    yoke_status status = guard->refused ? YOKE_ERROR_INPUT : YOKE_OK;
    for (int64_t i = 0; i < guard->lot.count && status == YOKE_OK; i++)
        if (guard->lot.entries[i].place == FREQUENCY_OF_GPU) status = take_gpu(guard);
    for (int64_t i = 0; i < guard->lot.count && status == YOKE_OK; i++) status = frequency_book_add(&guard->book, &guard->lot.entries[i]);
    frequency_book_clear(&guard->lot);
    answer(status == YOKE_OK ? FREQUENCY_GUARD_READY : yoke_last_error(guard->context));
    guard->refused = 0;
}

static void take_line(guarding *guard)
{
    if (strcmp(guard->line, "end") == 0)
        end_lot(guard);
    else if (frequency_book_parse(&guard->lot, guard->line) != YOKE_OK)
        guard->refused = 1;
}

static void take_bytes(guarding *guard, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != '\n') {
            if (guard->length + 1 < sizeof guard->line)
                guard->line[guard->length++] = bytes[i];
            else if (!guard->refused) {
                guard->refused = 1;
                yoke_fail(guard->context, YOKE_ERROR_INPUT, "a line is longer than %d bytes", LINE_BYTES);
            }
            continue;
        }
        guard->line[guard->length] = '\0';
        guard->length = 0;
        take_line(guard);
    }
}

/* Listens until the socket is closed or the process has ended.  A forked child that keeps the socket open does not hide the end. */
static void listen_to_process(guarding *guard)
{
    char bytes[RECEIVE_BYTES];
    for (;;) {
        struct pollfd wanted[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = guard->process_descriptor, .events = POLLIN}};
        int watched = guard->process_descriptor >= 0;
        int ready = poll(wanted, watched ? 2 : 1, watched ? -1 : POLL_MS);
        if (ready < 0 && errno != EINTR) return;
        if (ready > 0 && wanted[0].revents != 0) {
            ssize_t got = recv(STDIN_FILENO, bytes, sizeof bytes, 0);
            if (got == 0 || (got < 0 && errno != EINTR)) return;
            if (got > 0) take_bytes(guard, bytes, (size_t)got);
            continue;
        }
        if (watched && ready > 0 && wanted[1].revents != 0) return;
        if (!watched && kill(guard->process, 0) != 0 && errno == ESRCH) return;
    }
}

/* ---------------------------------------------------------------------------------------------------- main */

int main(int argc, char **argv)
{
    guarding guard = {.site = {.root = ""}};
    char *end = NULL;
    long process = argc == 3 ? strtol(argv[1], &end, 10) : 0;
    if (process <= 0 || *end != '\0') {
        fprintf(stderr, "yoke-clock-guard: restores clock frequencies after yoke; it is started by libyoke, not by hand\n");
        return 2;
    }
    if (geteuid() != getuid()) {
        fprintf(stderr, "yoke-clock-guard: refuses to run setuid\n");
        return 2;
    }
    guard.process = (pid_t)process;
    if (!detach(&guard)) return 1;
    if (yoke_context_create(NULL, &guard.context) != YOKE_OK) return 1;
    guard.site.context = guard.book.context = guard.lot.context = guard.context;
    guard.site.root = argv[2];
    listen_to_process(&guard);
    int64_t failed = frequency_book_restore(&guard.book, guard.nvml_loaded ? &guard.nvml : NULL, report, &guard);
    answer(FREQUENCY_GUARD_DONE);
    if (guard.nvml_loaded) yoke_nvml_unload(&guard.nvml);
    frequency_book_clear(&guard.book);
    frequency_book_clear(&guard.lot);
    yoke_context_destroy(guard.context);
    return failed == 0 ? 0 : 1;
}
