/* The measured command: it is started, waited for, and sent the signals that yoke receives. */
#define _GNU_SOURCE /* syscall, environ */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/machine/threads.h"
#include "energy/energy.h"
#include "tool.h"

/* Signals that are forwarded to a command, and must not end yoke before the report is printed and the frequencies are restored. */
static const int handed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM};
/* yoke reports these as failed writes. */
static const int as_errors[] = {SIGPIPE, SIGXFSZ};

enum { NUM_HANDED_ON = sizeof handed_on / sizeof handed_on[0], NUM_AS_ERRORS = sizeof as_errors / sizeof as_errors[0] };

static bool is_ignored(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* ------------------------------------------------------------------------------------------------- signals */

yoke_status energy_signals_hold(yoke_context *context, energy_signals *signals)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    *signals = (energy_signals){.descriptor = -1};
    sigemptyset(&signals->blocked);
    sigemptyset(&action.sa_mask);
    /* The parent of yoke may ignore SIGCHLD; then the status of the command would be lost. */
    sigaction(SIGCHLD, &action, NULL);
    sigaddset(&signals->blocked, SIGCHLD);
    for (int i = 0; i < NUM_HANDED_ON; i++)
        if (!is_ignored(handed_on[i])) sigaddset(&signals->blocked, handed_on[i]);
    int descriptor = signalfd(-1, &signals->blocked, SFD_CLOEXEC | SFD_NONBLOCK);
    if (descriptor < 0 || sigprocmask(SIG_BLOCK, &signals->blocked, &signals->before) != 0) {
        yoke_status status = yoke_fail(context, YOKE_ERROR_SYSTEM, "signals cannot be blocked: %s", strerror(errno));
        if (descriptor >= 0) close(descriptor);
        return status;
    }
    signals->descriptor = descriptor;
    sigemptyset(&signals->standard);
    action.sa_handler = SIG_IGN;
    for (int i = 0; i < NUM_AS_ERRORS; i++)
        if (!is_ignored(as_errors[i]) && sigaction(as_errors[i], &action, NULL) == 0) sigaddset(&signals->standard, as_errors[i]);
    for (int number = 1; number < ENERGY_SIGNALS; number++) sigaction(number, NULL, &signals->actions[number]);
    return YOKE_OK;
}

void energy_signals_again(const energy_signals *signals)
{
    for (int number = 1; number < ENERGY_SIGNALS && signals->descriptor >= 0; number++)
        if (number != SIGKILL && number != SIGSTOP) sigaction(number, &signals->actions[number], NULL);
}

void energy_signals_release(energy_signals *signals)
{
    if (signals->descriptor < 0) return;
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < NUM_AS_ERRORS; i++)
        if (sigismember(&signals->standard, as_errors[i]) == 1) sigaction(as_errors[i], &action, NULL);
    close(signals->descriptor);
    signals->descriptor = -1;
    sigprocmask(SIG_SETMASK, &signals->before, NULL);
}

/* ------------------------------------------------------------------------------------------------- a command */

/* Finds the file that a shell would execute for the command.  Returns false if there is none. */
static bool find_in_path(const char *name, char path[PATH_MAX])
{
    if (strchr(name, '/') != NULL) return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
    const char *directories = getenv("PATH");
    if (directories == NULL) directories = "/bin:/usr/bin";
    for (const char *at = directories;; at++) {
        size_t length = strcspn(at, ":");
        int written = snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, at, length > 0 ? "/" : "", name);
        if (written < PATH_MAX && access(path, X_OK) == 0) return true;
        at += length;
        if (*at == '\0') return false;
    }
}

/* As execvp does, passes a script without `#!` to the shell.  Returns 0, or errno. */
static int start_script(char **command, char **environment, const posix_spawnattr_t *attributes, pid_t *id)
{
    char path[PATH_MAX], shell[] = "/bin/sh";
    size_t words = 0;
    if (!find_in_path(command[0], path)) return ENOEXEC;
    while (command[words] != NULL) words++;
    char **shell_command = calloc(words + 2, sizeof *shell_command);
    if (shell_command == NULL) return ENOMEM;
    shell_command[0] = shell;
    shell_command[1] = path;
    memcpy(shell_command + 2, command + 1, words * sizeof *command);
    int error = posix_spawn(id, shell, NULL, attributes, shell_command, environment);
    free(shell_command);
    return error;
}

/* Starts the command with the signal mask and actions from before they were changed.  Returns 0, or errno. */
static int start(const energy_signals *signals, char **command, char **environment, pid_t *id)
{
    posix_spawnattr_t attributes;
    int error = posix_spawnattr_init(&attributes);
    if (error != 0) return error;
    error = posix_spawnattr_setsigmask(&attributes, &signals->before);
    if (error == 0) error = posix_spawnattr_setsigdefault(&attributes, &signals->standard);
    if (error == 0) error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    app_threads_free(); /* from now on this program only waits */
    if (error == 0) error = posix_spawnp(id, command[0], NULL, &attributes, command, environment);
    if (error == ENOEXEC) error = start_script(command, environment, &attributes, id);
    posix_spawnattr_destroy(&attributes);
    return error;
}

yoke_status energy_process_start(yoke_context *context, const energy_signals *signals, char **command, char **environment,
                                 energy_process *process, int *code)
{
    pid_t id = 0;
    int error = start(signals, command, environment, &id);
    if (error == 0) {
        *process = (energy_process){.id = id, .ours = true, .descriptor = -1};
        return YOKE_OK;
    }
    *code = error == ENOENT ? 127 : error == EAGAIN || error == ENOMEM ? 125 : 126;
    return yoke_fail(context, YOKE_ERROR_SYSTEM, "%s cannot be executed: %s", command[0], strerror(error));
}

yoke_status energy_environment_keep(yoke_context *context, const char *without, char ***environment)
{
    int64_t count = 0, kept = 0;
    size_t length = without != NULL ? strlen(without) : 0;
    void *memory = NULL;
    while (environ[count] != NULL) count++;
    yoke_status status = yoke_allocate(context, count + 1, sizeof(char *), &memory);
    if (status != YOKE_OK) return status;
    char **texts = memory; /* the strings keep their addresses when variables change */
    for (int64_t i = 0; i < count; i++)
        if (length == 0 || strncmp(environ[i], without, length) != 0 || environ[i][length] != '=') texts[kept++] = environ[i];
    *environment = texts;
    return YOKE_OK;
}

/* ----------------------------------------------------------------------------------------- existing process */

static bool is_there(pid_t id) { return kill(id, 0) == 0 || errno == EPERM; }

yoke_status energy_process_find(yoke_context *context, pid_t id, energy_process *process)
{
    if (!is_there(id)) return yoke_fail(context, YOKE_ERROR_INPUT, "--pid %ld: there is no such process", (long)id);
    *process = (energy_process){.id = id, .descriptor = -1};
#ifdef SYS_pidfd_open
    process->descriptor = (int)syscall(SYS_pidfd_open, id, 0);
#endif
    return YOKE_OK;
}

void energy_process_forget(energy_process *process)
{
    if (process->descriptor >= 0) close(process->descriptor);
    process->descriptor = -1;
}

/* ------------------------------------------------------------------------------------------------- waiting */

static bool asks_to_end(int number) { return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT; }

/* Reads the signals that have arrived.  Returns whether one of them is for yoke itself. */
static bool take_signals(energy_signals *signals, const energy_process *process)
{
    struct signalfd_siginfo came;
    bool for_us = false;
    while (read(signals->descriptor, &came, sizeof came) == (ssize_t)sizeof came) {
        int number = (int)came.ssi_signo;
        if (number == SIGCHLD) continue;
        if (asks_to_end(number)) signals->caught = number;
        /* The terminal sends a signal (with a positive code) to every process of the job, including the command; others are forwarded. */
        if (process->ours && !process->ended && came.ssi_code <= 0) kill(process->id, number);
        for_us = for_us || (!process->ours && asks_to_end(number));
    }
    return for_us;
}

static bool has_ended(energy_process *process)
{
    if (process->id == 0 || process->ended) return process->ended;
    if (process->ours) {
        /* Only now is its CPU time added to that of this process, by which declared powers are weighted. */
        pid_t ended = waitpid(process->id, &process->status, WNOHANG);
        process->ended = ended == process->id || (ended < 0 && errno == ECHILD);
    } else if (process->descriptor >= 0) {
        struct pollfd one = {.fd = process->descriptor, .events = POLLIN};
        process->ended = poll(&one, 1, 0) > 0;
    } else {
        process->ended = !is_there(process->id);
    }
    return process->ended;
}

/* How long poll may sleep, in milliseconds. */
static int pause_ms(const energy_process *process, double until_s)
{
    const double asking_ms = 50; /* polling interval for a process whose end causes no event */
    double pause = ceil(1e3 * fmax(until_s - yoke_clock_s(), 0));
    if (process->id != 0 && !process->ours && process->descriptor < 0) pause = fmin(pause, asking_ms);
    return isinf(until_s) && isinf(pause) ? -1 : pause > INT_MAX ? INT_MAX : (int)pause;
}

energy_event energy_wait(energy_signals *signals, energy_process *process, double until_s)
{
    for (;;) {
        if (take_signals(signals, process)) return ENERGY_INTERRUPTED;
        if (has_ended(process)) return ENERGY_ENDED;
        int pause = pause_ms(process, until_s);
        if (pause == 0) return ENERGY_TIME;
        struct pollfd both[] = {{.fd = signals->descriptor, .events = POLLIN}, {.fd = process->descriptor, .events = POLLIN}};
        poll(both, process->descriptor >= 0 ? 2 : 1, pause);
    }
}

/* --------------------------------------------------------------------------------------------------- the end */

int energy_exit_code(const energy_process *process, int *ended_by)
{
    *ended_by = WIFSIGNALED(process->status) ? WTERMSIG(process->status) : 0;
    return *ended_by != 0 ? 128 + *ended_by : WEXITSTATUS(process->status);
}

int tool_end_by_signal(int number)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    struct rlimit none = {0, 0};
    sigset_t one;
    sigemptyset(&action.sa_mask);
    sigemptyset(&one);
    sigaddset(&one, number);
    setrlimit(RLIMIT_CORE, &none); /* a core file is of interest only for the command */
    sigaction(number, &action, NULL);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    raise(number);
    return 128 + number;
}
