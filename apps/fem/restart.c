#define _XOPEN_SOURCE 700 /* PATH_MAX */

#include "restart.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "adapt/resume.h"

/* No command line of a run has more words than this. */
enum { MOST_WORDS = 4096 };

/*
 * Returns true for a "--" before the case that can be dropped.  No options are read after it, but the options of this run follow.  A case
 * whose name begins like an option needs it.
 */
static bool ends_options(const json_t *words, int i)
{
    const char *next = json_string_value(json_array_get(words, (size_t)i + 1));
    return !strcmp(json_string_value(json_array_get(words, (size_t)i)), "--") && !(next && next[0] == '-');
}

static yoke_status join_words(yoke_context *context, const json_t *words, int argc, char **argv, fem_restart_line *line)
{
    const int before = (int)json_array_size(words);
    if (before > MOST_WORDS) return yoke_fail(context, YOKE_ERROR_INPUT, "%s: has too many words of a command line", line->path);
    yoke_status status = yoke_allocate(context, before + argc, sizeof *line->argv, &line->argv);
    if (status) return status;
    line->argv[line->argc++] = argv[0];
    for (int i = 0; i < before; i++)
        if (!ends_options(words, i)) line->argv[line->argc++] = json_string_value(json_array_get(words, (size_t)i));
    for (int i = 1; i < argc; i++) line->argv[line->argc++] = argv[i];
    return YOKE_OK;
}

/* Writes the directory as a YAML text in single quotes. */
static yoke_status set_directory(yoke_context *context, const char *directory, char **override)
{
    yoke_status status = yoke_allocate(context, 2 * (int64_t)strlen(directory) + 32, 1, override);
    if (status) return status;
    char *at = *override + sprintf(*override, "output.directory='");
    for (; *directory; directory++) {
        if (*directory == '\'') *at++ = '\'';
        *at++ = *directory;
    }
    strcpy(at, "'");
    return YOKE_OK;
}

yoke_status fem_restart_line_read(yoke_context *context, app_ranks *ranks, const char *directory, int argc, char **argv,
                                  fem_restart_line *line)
{
    char here[PATH_MAX];
    const json_t *words = NULL;
    *line = (fem_restart_line){.restart.path = line->path};
    yoke_status status = fem_checkpoints_open_latest(context, ranks, directory, &line->restart.checkpoint, &line->restart.number);
    if (status) return status;
    const int length = snprintf(line->path, sizeof line->path, "%s/", directory);
    snprintf(line->path + length, sizeof line->path - (size_t)length, FEM_RESULTS_CHECKPOINT, (long long)line->restart.number);
    status = fem_run_state_words(line->restart.checkpoint, line->path, &line->before, &words);
    if (!status) status = join_words(context, words, argc, argv, line);
    if (!status) status = set_directory(context, directory, &line->override);
    status = app_ranks_agree(ranks, status);
    if (status) {
        fem_restart_line_clear(context, line);
        return status;
    }
    line->restart.begun =
        line->restart.checkpoint->solved || json_integer_value(json_object_get(line->restart.checkpoint->state, "step")) > 0;
    line->elsewhere = !getcwd(here, sizeof here) || strcmp(here, line->before) != 0;
    return YOKE_OK;
}

void fem_restart_line_clear(yoke_context *context, fem_restart_line *line)
{
    fem_checkpoint_close(line->restart.checkpoint);
    yoke_release(context, line->argv);
    yoke_release(context, line->override);
    *line = (fem_restart_line){0};
}
