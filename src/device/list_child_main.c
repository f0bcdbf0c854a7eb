/*
 * yoke-device-list KIND - writes the devices of this kind to standard output, as records (list_child.h).
 *
 * libyoke starts it, so that a vendor's library that crashes, ends its process or hangs does so here.
 */
#define _GNU_SOURCE /* prctl */

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/helper.h"
#include "device/backends.h"
#include "device/list_child.h"

static int records = -1; /* file descriptor to which they are written */

static void put(apart_kind kind, const void *content, size_t bytes)
{
    char record[sizeof(apart_record) + sizeof(yoke_device_info)];
    apart_record head = {(int32_t)kind, (int32_t)bytes};
    memcpy(record, &head, sizeof head);
    if (bytes > 0) memcpy(record + sizeof head, content, bytes);
    size_t length = sizeof head + bytes;
    for (size_t done = 0; done < length;) {
        ssize_t written = write(records, record + done, length - done);
        if (written <= 0) _exit(1); /* nothing reads them any more */
        done += (size_t)written;
    }
}

static yoke_status put_device(const yoke_device_info *info, void *user)
{
    (void)user;
    put(APART_DEVICE, info, sizeof *info);
    return YOKE_OK;
}

static void put_failure(yoke_context *context, yoke_status status)
{
    char content[sizeof status + APART_TEXT_BYTES] = "";
    memcpy(content, &status, sizeof status);
    strncpy(content + sizeof status, yoke_last_error(context), APART_TEXT_BYTES - 1);
    put(APART_FAILED, content, sizeof content);
}

/* Moves the records away from standard output, to which libraries may print. */
static int move_records(void)
{
    records = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return records >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
}

int main(int argc, char **argv)
{
    static const yoke_backend *const backends[] = {&yoke_backend_cuda, &yoke_backend_opencl};
    const yoke_backend *backend = NULL;
    const struct rlimit none = {0, 0};
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++)
        if (argc == 2 && strcmp(argv[1], backends[i]->kind) == 0) backend = backends[i];
    if (backend == NULL) return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &none);
    /* Drivers may start processes that outlive this one.  They must not hold files of the waiting program open. */
    yoke_helper_close_above(STDERR_FILENO);
    if (!move_records()) return 1;

    apart_hello hello = yoke_apart_hello();
    put(APART_HELLO, &hello, sizeof hello);
    yoke_context *context = NULL;
    void *state = NULL;
    if (yoke_context_create(NULL, &context) != YOKE_OK) return 1;
    yoke_status status = backend->start(context, &state);
    if (status == YOKE_OK) status = backend->list(state, put_device, NULL);
    if (status != YOKE_OK) put_failure(context, status);
    put(APART_END, NULL, 0);
    _exit(0); /* without the exit handlers of libraries */
}
