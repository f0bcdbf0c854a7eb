#define _GNU_SOURCE /* pipe2 */
#include "common/machine/ceilings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/files/record.h"

extern char **environ;

enum { LINE_BYTES = 4096, MAX_VARIABLES = 4096 };

static const char program[] = "yoke-bench-ceilings", variable[] = "OPENBLAS_CORETYPE=";

app_ceilings app_ceilings_unknown(int threads)
{
    return (app_ceilings){.threads = threads, .triad_bytes_per_s = NAN, .dgemm_flops_per_s = NAN, .default_flops_per_s = NAN};
}

void app_ceilings_text(const app_ceilings *c, char *text, size_t size)
{
    const char *s = c->threads > 1 ? "s" : "";
    if (c->why_not[0])
        snprintf(text, size, "%d thread%s: triad %.1f GB/s; no DGEMM: %s", c->threads, s, c->triad_bytes_per_s * 1e-9, c->why_not);
    else if (c->dgemm_flops_per_s > 1.1 * c->default_flops_per_s && strcmp(c->kernel, c->default_kernel) != 0) /* more than noise */
        snprintf(text, size,
                 "%d thread%s: triad %.1f GB/s, DGEMM %.1f GFLOP/s (OpenBLAS for %s)\n"
                 "By itself OpenBLAS takes its kernels for %s: %.1f GFLOP/s. Set OPENBLAS_CORETYPE=%s for the faster ones.",
                 c->threads, s, c->triad_bytes_per_s * 1e-9, c->dgemm_flops_per_s * 1e-9, c->kernel, c->default_kernel,
                 c->default_flops_per_s * 1e-9, c->kernel);
    else
        snprintf(text, size, "%d thread%s: triad %.1f GB/s, DGEMM %.1f GFLOP/s (%s%s)", c->threads, s, c->triad_bytes_per_s * 1e-9,
                 c->dgemm_flops_per_s * 1e-9, c->kernel[0] ? "OpenBLAS for " : "BLAS", c->kernel);
}

/* ---------------------------------------------------------------------------------------------------- record */

json_t *app_ceilings_json(const app_ceilings *c)
{
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "threads", c->threads, "triad_bytes_per_s",
                     app_json_number(c->triad_bytes_per_s), "dgemm_flops_per_s", app_json_number(c->dgemm_flops_per_s), "kernel",
                     c->kernel[0] ? app_json_text(c->kernel) : json_null(), "default_flops_per_s", app_json_number(c->default_flops_per_s),
                     "default_kernel", c->default_kernel[0] ? app_json_text(c->default_kernel) : json_null(), "why_not",
                     c->why_not[0] ? app_json_text(c->why_not) : json_null());
}

static void text(const json_t *object, const char *key, char *to, size_t size)
{
    const char *value = json_string_value(json_object_get(object, key));
    snprintf(to, size, "%s", value ? value : "");
}

void app_ceilings_read(const json_t *object, app_ceilings *c)
{
    *c = app_ceilings_unknown((int)json_integer_value(json_object_get(object, "threads")));
    c->triad_bytes_per_s = app_json_read_number(object, "triad_bytes_per_s");
    c->dgemm_flops_per_s = app_json_read_number(object, "dgemm_flops_per_s");
    c->default_flops_per_s = app_json_read_number(object, "default_flops_per_s");
    text(object, "kernel", c->kernel, sizeof c->kernel);
    text(object, "default_kernel", c->default_kernel, sizeof c->default_kernel);
    text(object, "why_not", c->why_not, sizeof c->why_not);
}

/* --------------------------------------------------------------------------------------------------- process */

/* Returns this process's environment, with another OpenBLAS kernel if one is given. */
static char **make_environment(yoke_context *context, const char *core, char *setting, size_t size, char ***made)
{
    char **copy = NULL;
    int64_t count = 0;
    *made = NULL;
    if (!core) return environ;
    if (yoke_allocate(context, MAX_VARIABLES + 2, sizeof *copy, &copy)) return NULL;
    for (char **at = environ; *at && count < MAX_VARIABLES; at++)
        if (strncmp(*at, variable, sizeof variable - 1) != 0) copy[count++] = *at;
    snprintf(setting, size, "%s%s", variable, core);
    copy[count] = setting;
    *made = copy;
    return copy;
}

/* Looks for the program in the directory of this program, then in ../libexec, then in PATH. */
static void find_program(char *path, size_t size)
{
    static const char *const places[] = {"", "../libexec/yoke/"};
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(own, '/');
    for (int i = 0; slash && i < 2; i++) {
        slash[1] = '\0';
        int written = snprintf(path, size, "%s%s%s", own, places[i], program);
        if (written > 0 && (size_t)written < size && access(path, X_OK) == 0) return;
    }
    snprintf(path, size, "%s", program);
}

static int start(char **arguments, char **environment, int output, pid_t *process)
{
    char path[2 * PATH_MAX];
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    find_program(path, sizeof path);
    error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (!error) error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error) error = posix_spawnp(process, path, &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Reads what the process prints until it ends.  Returns nonzero if it succeeded. */
static int listen_to(pid_t process, int pipe, char *line)
{
    size_t length = 0;
    int status = 0;
    pid_t ended;
    for (;;) {
        ssize_t got = read(pipe, line + length, LINE_BYTES - 1 - length);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        length += (size_t)got;
    }
    line[length] = '\0';
    do ended = waitpid(process, &status, 0);
    while (ended < 0 && errno == EINTR);
    return ended == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static yoke_status run(yoke_context *context, char **arguments, char **environment, char *line)
{
    int ends[2];
    pid_t process;
    if (pipe2(ends, O_CLOEXEC) != 0) return yoke_fail(context, YOKE_ERROR_SYSTEM, "no pipe for %s: %s", program, strerror(errno));
    int error = start(arguments, environment, ends[1], &process), well = 0;
    close(ends[1]);
    if (!error) well = listen_to(process, ends[0], line);
    close(ends[0]);
    if (error)
        return yoke_fail(context, error == ENOENT ? YOKE_ERROR_UNAVAILABLE : YOKE_ERROR_SYSTEM, "%s cannot be started: %s", program,
                         strerror(error));
    return well ? YOKE_OK : yoke_fail(context, YOKE_ERROR_SYSTEM, "%s, which measures the ceilings, failed", program);
}

yoke_status app_ceilings_measure(yoke_context *context, int threads, bool quick, const char *core, app_ceilings *ceilings)
{
    char number_of_threads[16], setting[64], line[LINE_BYTES], name[] = "yoke-bench-ceilings", quickly[] = "--quick", in_line[] = "--line",
                                                               threads_option[] = "--threads", **made;
    char *arguments[6] = {name, in_line};
    int count = 2;
    snprintf(number_of_threads, sizeof number_of_threads, "%d", threads);
    if (quick) arguments[count++] = quickly;
    if (threads > 0) {
        arguments[count++] = threads_option;
        arguments[count++] = number_of_threads;
    }
    char **environment = make_environment(context, core, setting, sizeof setting, &made);
    if (!environment) return YOKE_ERROR_MEMORY;
    yoke_status status = run(context, arguments, environment, line);
    yoke_release(context, made);
    if (status) return status;
    json_t *object = json_loads(line, 0, NULL);
    if (!json_is_object(object)) {
        json_decref(object);
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "%s printed no ceilings", program);
    }
    app_ceilings_read(object, ceilings);
    json_decref(object);
    return YOKE_OK;
}
