#define _GNU_SOURCE /* posix_spawn_file_actions_addchdir_np */
#include "common/files/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int start(const char *directory, const char *script, pid_t *process)
{
    char program[] = "gnuplot", name[NAME_MAX + 16];
    char *arguments[] = {program, name, NULL};
    posix_spawn_file_actions_t actions;
    if (snprintf(name, sizeof name, "./%s", script) >= (int)sizeof name) return ENAMETOOLONG; /* "-V.gp" is no option */
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawn_file_actions_addchdir_np(&actions, directory);
    if (!error) error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error) error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!error) error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (!error) error = posix_spawnp(process, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

yoke_status app_plot_draw(yoke_context *context, const char *directory, const char *script, bool *drawn)
{
    pid_t process, ended;
    int status = 0, error = start(directory, script, &process);
    *drawn = false;
    if (error == ENOENT) return YOKE_OK;
    if (error) return yoke_fail(context, YOKE_ERROR_SYSTEM, "gnuplot cannot be started: %s", strerror(error));
    do ended = waitpid(process, &status, 0);
    while (ended < 0 && errno == EINTR);
    *drawn = ended == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return YOKE_OK;
}

yoke_status app_plot_write(yoke_context *context, const app_plot *plot, const void *data, bool *drawn)
{
    char name[NAME_MAX + 8], script[NAME_MAX + 8];
    *drawn = false;
    snprintf(name, sizeof name, "%s%s", plot->base, plot->ending ? plot->ending : ".dat");
    snprintf(script, sizeof script, "%s.gp", plot->base);
    yoke_status status = app_file_write(context, plot->directory, name, plot->print_data, data);
    if (!status) status = app_file_write(context, plot->directory, script, plot->print_script, data);
    return status ? status : app_plot_draw(context, plot->directory, script, drawn);
}

yoke_status app_plot_show(yoke_context *context, app_terminal *terminal, const app_plot *plot, const void *data)
{
    bool drawn = false;
    const yoke_status status = app_plot_write(context, plot, data, &drawn);
    if (!status) app_print(terminal, "data%s in %s\n", drawn ? " and figure" : "", plot->directory);
    return status;
}

yoke_status app_plot_split(yoke_context *context, const char *path, app_plot_place *place)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (length > NAME_MAX - 4) return yoke_fail(context, YOKE_ERROR_INPUT, "--plot: the name is too long: %s", name);
    if (length < 5 || strcmp(name + length - 4, ".svg") != 0 || strpbrk(name, "'\n\\") != NULL)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--plot %s: expected a name that ends in .svg, without quotes and backslashes", path);
    if (snprintf(place->directory, sizeof place->directory, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".") >= PATH_MAX)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--plot: the name of the directory is too long");
    if (slash == path) strcpy(place->directory, "/");
    snprintf(place->base, sizeof place->base, "%.*s", (int)(length - 4), name);
    const int start = (int)(strlen(path) - 4);
    snprintf(place->data, sizeof place->data, "%.*s.dat", start, path);
    snprintf(place->script, sizeof place->script, "%.*s.gp", start, path);
    return YOKE_OK;
}
