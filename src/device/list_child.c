#define _GNU_SOURCE /* pipe2 */

#include "device/list_child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/context.h"
#include "base/helper.h"

enum { MAX_BYTES = 1 << 20, SAID_BYTES = 120 };

/* Drivers of large nodes need several seconds to start. */
static const double patience_s = 30;

typedef struct asking {
    yoke_context *context;
    const char *kind;
    pid_t process;
    int out, err; /* read ends of pipes: records, and output of the libraries */
    char *bytes;  /* of the records so far */
    int64_t count, capacity;
    char said[SAID_BYTES]; /* the last line that was printed */
    size_t said_length;
    int line_ended;
    double patience_s;
    int late, status; /* status: of waitpid; -1: not known */
} asking;

apart_hello yoke_apart_hello(void)
{
    return (apart_hello){{YOKE_VERSION_MAJOR, YOKE_VERSION_MINOR, YOKE_VERSION_PATCH}, (int32_t)sizeof(yoke_device_info)};
}

/* -------------------------------------------------------------------------------------------------- start */

static int make_pipe(int ends[2])
{
    int low[2];
    if (pipe2(low, O_CLOEXEC) != 0) return errno;
    return yoke_helper_move_up(low, ends);
}

static int spawn(asking *ask, char *program, int out, int err)
{
    char *arguments[] = {program, (char *)ask->kind, NULL};
    const int files[] = {-1, out, err};
    sigset_t none;
    sigemptyset(&none);
    return yoke_helper_spawn(arguments, &none, files, 3, &ask->process);
}

static int start(asking *ask, char *program)
{
    int out[2], err[2], error = make_pipe(out);
    if (error != 0) return error;
    error = make_pipe(err);
    if (error == 0) {
        error = spawn(ask, program, out[1], err[1]);
        close(err[1]);
        if (error != 0) close(err[0]);
    }
    close(out[1]);
    if (error != 0) {
        close(out[0]);
        return error;
    }
    ask->out = out[0];
    ask->err = err[0];
    return 0;
}

/* ------------------------------------------------------------------------------------------------- records */

/* The record at `at`, if its contents have been received completely; otherwise NULL. */
static const char *record_at(const asking *ask, int64_t at, apart_record *record)
{
    if (ask->count - at < (int64_t)sizeof *record) return NULL;
    memcpy(record, ask->bytes + at, sizeof *record);
    at += (int64_t)sizeof *record;
    return record->bytes >= 0 && record->bytes <= ask->count - at ? ask->bytes + at : NULL;
}

/*
 * Calls `found`, which may be NULL, for all records.  Returns nonzero if the list is complete; *status is that of the backend, or of
 * `found`.
 */
static int walk(const asking *ask, yoke_backend_found *found, void *user, yoke_status *status)
{
    apart_hello own = yoke_apart_hello();
    apart_record record;
    int greeted = 0;
    const char *content;
    *status = YOKE_OK;
    for (int64_t at = 0; (content = record_at(ask, at, &record)) != NULL; at += (int64_t)sizeof record + record.bytes) {
        if (record.kind == APART_HELLO) greeted = record.bytes == (int32_t)sizeof own && memcmp(content, &own, sizeof own) == 0;
        if (!greeted) return 0;
        if (record.kind == APART_END) return 1;
        if (record.kind == APART_FAILED && record.bytes > (int32_t)sizeof *status && content[record.bytes - 1] == '\0') {
            memcpy(status, content, sizeof *status);
            yoke_fail(ask->context, *status, "%s", content + sizeof *status);
            return 1;
        }
        yoke_device_info info;
        if (record.kind != APART_DEVICE || found == NULL || record.bytes != (int32_t)sizeof info) continue;
        memcpy(&info, content, sizeof info);
        *status = found(&info, user);
        if (*status != YOKE_OK) return 1;
    }
    return 0;
}

/* --------------------------------------------------------------------------------------------------- read */

/* Stores the last line that is not empty, in printable ASCII. */
static void hear(asking *ask, const char *text, ssize_t length)
{
    for (ssize_t i = 0; i < length; i++) {
        if (text[i] == '\n') {
            ask->line_ended = 1;
            continue;
        }
        if (ask->line_ended) ask->said_length = 0;
        ask->line_ended = 0;
        if (ask->said_length + 1 == sizeof ask->said) continue;
        ask->said[ask->said_length++] = (char)(text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
        ask->said[ask->said_length] = '\0';
    }
}

/* Reads the bytes that are available.  *open becomes 0 at the end of the pipe. */
static yoke_status receive(asking *ask, int from, int *open)
{
    char part[4096];
    ssize_t got = read(from, part, sizeof part);
    if (got < 0 && errno == EINTR) return YOKE_OK;
    if (got <= 0) *open = 0;
    if (got <= 0) return YOKE_OK;
    if (from == ask->err) {
        hear(ask, part, got);
        return YOKE_OK;
    }
    for (ssize_t i = 0; i < got && ask->count < MAX_BYTES; i++) {
        yoke_status status = yoke_grow(ask->context, &ask->bytes, ask->count, &ask->capacity, 8192, 1);
        if (status != YOKE_OK) return status;
        ask->bytes[ask->count++] = part[i];
    }
    return YOKE_OK;
}

/* Reads until the list is complete or the output ends.  Does not wait for children of a library that still hold a pipe open. */
static yoke_status receive_all(asking *ask)
{
    double end_s = yoke_clock_s() + ask->patience_s;
    int out_open = 1, err_open = 1;
    yoke_status status = YOKE_OK, ignored;
    while (out_open && status == YOKE_OK && !walk(ask, NULL, NULL, &ignored)) {
        double left_s = end_s - yoke_clock_s();
        struct pollfd wanted[2] = {{.fd = ask->out, .events = POLLIN}, {.fd = err_open ? ask->err : -1, .events = POLLIN}};
        ask->late = !(left_s > 0);
        if (ask->late) return YOKE_OK;
        if (poll(wanted, 2, (int)(1000 * left_s) + 1) <= 0) continue;
        if (wanted[1].revents != 0) status = receive(ask, ask->err, &err_open);
        if (wanted[0].revents != 0 && status == YOKE_OK) status = receive(ask, ask->out, &out_open);
    }
    /* Read the last messages, which were written before the end. */
    struct pollfd rest = {.fd = ask->err, .events = POLLIN};
    while (err_open && status == YOKE_OK && poll(&rest, 1, 0) > 0) status = receive(ask, ask->err, &err_open);
    return status;
}

/* Ends the process.  One that still runs has nothing more to report; the status of one that has already ended is not changed. */
static void stop(asking *ask, int at_once)
{
    if (at_once) kill(ask->process, SIGKILL);
    pid_t done;
    do done = waitpid(ask->process, &ask->status, 0);
    while (done < 0 && errno == EINTR);
    if (done < 0) ask->status = -1;
    close(ask->out);
    close(ask->err);
}

/* ---------------------------------------------------------------------------------------------------- show */

static void explain(const asking *ask, yoke_device_info *info)
{
    int number = ask->status != -1 && WIFSIGNALED(ask->status) ? WTERMSIG(ask->status) : 0;
    size_t size = sizeof info->why_not;
    if (ask->late)
        snprintf(info->why_not, size, "its drivers did not say within %g s which devices they have", ask->patience_s);
    else if (number != 0)
        snprintf(info->why_not, size, "its drivers crash where they are asked which devices they have (signal %d, %s)", number,
                 number == SIGABRT ? "abort" : (number == SIGSEGV ? "segmentation fault" : "see `kill -l`"));
    else
        snprintf(info->why_not, size, "its drivers ended the process that asked which devices they have (exit status %d)",
                 ask->status != -1 ? WEXITSTATUS(ask->status) : -1);
    size_t length = strlen(info->why_not);
    if (ask->said[0] != '\0') snprintf(info->why_not + length, size - length, ": %s", ask->said);
}

static yoke_status show_failure(const asking *ask, yoke_backend_found *found, void *user)
{
    int opencl = strcmp(ask->kind, "opencl") == 0;
    yoke_device_info info = {.device_class = opencl ? YOKE_DEVICE_OTHER : YOKE_DEVICE_GPU};
    snprintf(info.name, sizeof info.name, "%s", ask->kind);
    snprintf(info.kind, sizeof info.kind, "%s", ask->kind);
    snprintf(info.description, sizeof info.description, "devices of kind %s", ask->kind);
    explain(ask, &info);
    snprintf(
        info.remedy, sizeof info.remedy, "%s",
        opencl ? "see what clinfo says; take the driver's file out of /etc/OpenCL/vendors, or set YOKE_LIBOPENCL to nothing, which leaves "
                 "OpenCL out"
               : "see what nvidia-smi and dmesg say; or set YOKE_LIBCUDA to nothing, which leaves CUDA out");
    return found(&info, user);
}

/* ----------------------------------------------------------------------------------------------------- all */

static double patience(void)
{
    const char *text = getenv("YOKE_DEVICE_LIST_S");
    double wanted = text != NULL ? strtod(text, NULL) : 0;
    return wanted > 0 && wanted <= 3600 ? wanted : patience_s;
}

yoke_status yoke_apart_list(yoke_context *context, const char *kind, yoke_backend_found *found, void *user, int *listed)
{
    char program[PATH_MAX], why[APART_TEXT_BYTES];
    const char *asked = getenv("YOKE_DEVICE_LIST");
    asking ask = {.context = context, .kind = kind, .status = -1, .patience_s = patience()};
    *listed = 0;
    if (asked != NULL && asked[0] == '\0') return YOKE_OK;
    int there = yoke_helper_find("yoke-device-list", "YOKE_DEVICE_LIST", "lists devices of vendors' drivers", program, sizeof program, why,
                                 sizeof why);
    int error = there ? start(&ask, program) : 0;
    if (error != 0) snprintf(why, sizeof why, "'%.180s' cannot be started: %s", program, strerror(error));
    if (!there || error != 0) {
        yoke_log(context, YOKE_LOG_WARNING, "%s; drivers are asked within this process, and one that crashes ends it", why);
        return YOKE_OK;
    }
    *listed = 1;
    yoke_status status = receive_all(&ask), result = YOKE_OK;
    int whole = status == YOKE_OK && walk(&ask, NULL, NULL, &result);
    stop(&ask, ask.late || whole || status != YOKE_OK);
    if (status == YOKE_OK && whole) walk(&ask, found, user, &status);
    if (status == YOKE_OK && !whole) status = show_failure(&ask, found, user);
    yoke_release(context, ask.bytes);
    return status;
}
