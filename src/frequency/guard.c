/* The guard process seen from its client: finds it, starts it, sends it settings, and checks whether it is running. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/helper.h"
#include "frequency/frequency.h"

/* The longest time that a guard may need to answer: starting NVML can take seconds. */
static const double patience_s = 15;

/* ---------------------------------------------------------------------------------------------------- find */

int frequency_guard_find(char program[FREQUENCY_PATH_BYTES], char why[METER_WHY_BYTES])
{
    return yoke_helper_find("yoke-clock-guard", "YOKE_CLOCK_GUARD", "restores the frequencies", program, FREQUENCY_PATH_BYTES, why,
                            METER_WHY_BYTES);
}

/* --------------------------------------------------------------------------------------------------- start */

/*
 * The guard has the socket as standard input, the lock, and standard error for messages after this process has ended.  All signals are
 * blocked from its first instruction on, so that signals that end this process and its process group do not end the guard.
 */
static int spawn(char *const arguments[], int socket_end, int lock, pid_t *process)
{
    const int files[] = {socket_end, -1, STDERR_FILENO, lock};
    sigset_t all;
    sigfillset(&all);
    return yoke_helper_spawn(arguments, &all, files, 4, process);
}

static int make_sockets(int ends[2])
{
    int low[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, low) != 0) return errno;
    return yoke_helper_move_up(low, ends);
}

yoke_status frequency_guard_start(yoke_context *context, const char *root, int lock, frequency_guard *guard)
{
    char program[FREQUENCY_PATH_BYTES], why[METER_WHY_BYTES], own[32];
    if (!frequency_guard_find(program, why)) return yoke_fail(context, YOKE_ERROR_UNAVAILABLE, "%s; install yoke again", why);
    int ends[2] = {-1, -1}, error = make_sockets(ends);
    if (error != 0) return yoke_fail(context, YOKE_ERROR_SYSTEM, "no socket for yoke-clock-guard: %s", strerror(error));
    snprintf(own, sizeof own, "%ld", (long)getpid());
    char *arguments[] = {program, own, (char *)root, NULL};
    pid_t process;
    error = spawn(arguments, ends[1], lock, &process);
    close(ends[1]);
    if (error != 0) {
        close(ends[0]);
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "'%s' cannot be started: %s", program, strerror(error));
    }
    /* The guard is no longer a child of this process, so a program that waits for all its children does not wait for it. */
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR) continue;
    *guard = (frequency_guard){context, ends[0]};
    return YOKE_OK;
}

/* ---------------------------------------------------------------------------------------------------- talk */

static int send_all(int socket_end, const char *text, size_t length)
{
    while (length > 0) {
        /* Without MSG_NOSIGNAL, SIGPIPE would end this process if the guard is gone. */
        ssize_t sent = send(socket_end, text, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return errno != 0 ? errno : EPIPE;
        text += sent;
        length -= (size_t)sent;
    }
    return 0;
}

/* Reads the next line, without its newline, until end_s.  Returns 1; 0 at the end of the input, or if it is too late. */
static int receive_line(int socket_end, double end_s, char *line, size_t bytes)
{
    size_t length = 0;
    for (;;) {
        struct pollfd wanted = {.fd = socket_end, .events = POLLIN};
        double left_s = end_s - yoke_clock_s();
        if (!(left_s > 0)) return 0;
        int ready = poll(&wanted, 1, (int)(1000 * left_s) + 1);
        if (ready < 0 && errno != EINTR) return 0;
        if (ready <= 0) continue;
        char byte;
        ssize_t got = recv(socket_end, &byte, 1, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        if (byte == '\n') break;
        if (length + 1 < bytes) line[length++] = byte;
    }
    line[length] = '\0';
    return 1;
}

yoke_status frequency_guard_tell(frequency_guard *guard, const frequency_book *book, int64_t first)
{
    char text[FREQUENCY_TEXT_BYTES], answer[METER_WHY_BYTES];
    int error = 0;
    for (int64_t i = first; i < book->count && error == 0; i++) {
        size_t length = frequency_saved_print(&book->entries[i], text);
        error = send_all(guard->socket, text, length);
    }
    if (error == 0) error = send_all(guard->socket, "end\n", 4);
    if (error == 0 && receive_line(guard->socket, yoke_clock_s() + patience_s, answer, sizeof answer)) {
        if (strcmp(answer, FREQUENCY_GUARD_READY) == 0) return YOKE_OK;
        return yoke_fail(guard->context, YOKE_ERROR_SYSTEM, "yoke-clock-guard cannot restore this frequency, so it is not changed: %s",
                         answer);
    }
    close(guard->socket);
    guard->socket = -1;
    return yoke_fail(guard->context, YOKE_ERROR_SYSTEM, "yoke-clock-guard is gone or does not answer%s%s, so frequencies are not changed",
                     error != 0 ? ": " : "", error != 0 ? strerror(error) : "");
}

int frequency_guard_lives(const frequency_guard *guard)
{
    struct pollfd wanted = {.fd = guard->socket, .events = POLLIN};
    /* It never sends anything unasked, so if there is something to read, it has ended. */
    return guard->socket >= 0 && poll(&wanted, 1, 0) == 0;
}

int frequency_guard_finish(frequency_guard *guard, frequency_report *report, void *user)
{
    char line[2 * METER_WHY_BYTES];
    int done = 0;
    if (guard->socket < 0) return 0;
    shutdown(guard->socket, SHUT_WR);
    double end_s = yoke_clock_s() + patience_s;
    while (!done && receive_line(guard->socket, end_s, line, sizeof line)) {
        done = strcmp(line, FREQUENCY_GUARD_DONE) == 0;
        if (!done) report(user, line);
    }
    /* The lock is held until the guard has closed its end. */
    while (done && receive_line(guard->socket, end_s, line, sizeof line)) continue;
    close(guard->socket);
    guard->socket = -1;
    return done;
}
