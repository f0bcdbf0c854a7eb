/*
 * Reads one case file and compares what comes of it with what the file's comments say:
 *
 *   # mesh: NAME          check the output directory and resolve the case against this mesh of case_mesh.h, too
 *   # set: a.b=value      an override, as --set gives it
 *   # at: LINE:COLUMN     the error's place in this file; without it, the error is that of the last override, or of the whole file
 *   # expect: TEXT        a part of the error's text (several are allowed)
 *   # warns: TEXT         a part of a warning; a case that warns is good
 *
 * A file without `expect` is a good case.  Called as: program FILE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "fem/fixtures/case_mesh.h"
#include "space/problem/problem.h"

#define MOST 16
#define LINE_BYTES 512

typedef struct wishes {
    char mesh[LINE_BYTES], place[LINE_BYTES];
    char set[MOST][LINE_BYTES], expect[MOST][LINE_BYTES], warns[MOST][LINE_BYTES];
    int num_set, num_expect, num_warns;
} wishes;

static char warnings[8192];

static void keep_warning(yoke_log_level level, const char *text, void *user)
{
    (void)level;
    (void)user;
    app_append(warnings, sizeof warnings, "%s\n", text);
}

static int take(const char *line, const char *key, char *value)
{
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0) return 0;
    snprintf(value, LINE_BYTES, "%s", line + length);
    value[strcspn(value, "\n")] = '\0';
    return 1;
}

static int read_wishes(const char *path, wishes *wish)
{
    char line[LINE_BYTES];
    FILE *file = fopen(path, "r");
    if (file == NULL) return 0;
    while (fgets(line, sizeof line, file) != NULL && wish->num_set < MOST && wish->num_expect < MOST && wish->num_warns < MOST) {
        take(line, "# mesh: ", wish->mesh);
        take(line, "# at: ", wish->place);
        wish->num_set += take(line, "# set: ", wish->set[wish->num_set]);
        wish->num_expect += take(line, "# expect: ", wish->expect[wish->num_expect]);
        wish->num_warns += take(line, "# warns: ", wish->warns[wish->num_warns]);
    }
    fclose(file);
    return 1;
}

static int complain(const char *what, const char *wanted, const char *got)
{
    fprintf(stderr, "%s\nwanted: %s\ngot:    %s\n", what, wanted, got);
    return 1;
}

static int check_error(const char *path, const wishes *wish, yoke_status status, const char *text)
{
    char begin[2 * LINE_BYTES];
    if (wish->num_expect == 0) return status == YOKE_OK ? 0 : complain("a good case was refused", "success", text);
    if (status != YOKE_ERROR_INPUT) return complain("a bad case was not refused as bad input", wish->expect[0], text);
    if (wish->place[0] != '\0')
        snprintf(begin, sizeof begin, "%s:%s: ", path, wish->place);
    else if (wish->num_set > 0)
        snprintf(begin, sizeof begin, "--set %s: ", wish->set[wish->num_set - 1]);
    else
        snprintf(begin, sizeof begin, "%s: ", path);
    if (strncmp(text, begin, strlen(begin)) != 0) return complain("the text names another place", begin, text);
    for (int i = 0; i < wish->num_expect; i++)
        if (strstr(text, wish->expect[i]) == NULL) return complain("a part of the text is not there", wish->expect[i], text);
    printf("%s\n", text);
    return 0;
}

static yoke_status read_and_resolve(yoke_context *context, const char *path, const wishes *wish)
{
    const char *overrides[MOST];
    for (int i = 0; i < wish->num_set; i++) overrides[i] = wish->set[i];
    fem_case *input;
    yoke_status status = fem_case_read(context, path, overrides, wish->num_set, &input);
    if (status != YOKE_OK) return status;
    if (wish->mesh[0] != '\0') {
        fem_mesh *mesh = case_mesh_create(context, wish->mesh);
        fem_problem *problem = NULL;
        status = fem_case_check_output(input);
        if (mesh == NULL) status = yoke_fail(context, YOKE_ERROR_ARGUMENT, "no test mesh is named %s", wish->mesh);
        if (status == YOKE_OK) status = fem_problem_create(input, mesh, &problem);
        fem_problem_destroy(problem);
        if (mesh != NULL) case_mesh_destroy(mesh);
    }
    fem_case_destroy(input);
    return status;
}

int main(int argc, char **argv)
{
    static wishes wish;
    yoke_context *context;
    yoke_options options = {.log = keep_warning, .log_level = YOKE_LOG_WARNING};
    if (argc != 2 || !read_wishes(argv[1], &wish) || yoke_context_create(&options, &context) != YOKE_OK) {
        fprintf(stderr, "usage: %s CASE\n", argv[0]);
        return 1;
    }
    yoke_status status = read_and_resolve(context, argv[1], &wish);
    int failed = check_error(argv[1], &wish, status, yoke_last_error(context));
    for (int i = 0; i < wish.num_warns && !failed; i++)
        if (strstr(warnings, wish.warns[i]) == NULL) failed = complain("a warning is not there", wish.warns[i], warnings);
    if (wish.num_warns == 0 && warnings[0] != '\0' && !failed) failed = complain("an unexpected warning", "none", warnings);
    yoke_context_destroy(context);
    return failed;
}
