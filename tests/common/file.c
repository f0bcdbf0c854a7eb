#define _XOPEN_SOURCE 700 /* nftw, mkdtemp */

#include "common/files/file.h"

#include <ftw.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dirent.h>
#include <signal.h>

#include "common/files/directory.h"
#include "common/files/plot.h"
#include "unit.h"

typedef struct place {
    yoke_context *context;
    char directory[64];
    char path[128]; /* a file in it */
} place;

static int start(void **state)
{
    static place here;
    strcpy(here.directory, "/tmp/yoke-test-XXXXXX");
    if (mkdtemp(here.directory) == NULL || yoke_context_create(NULL, &here.context) != YOKE_OK) return -1;
    snprintf(here.path, sizeof here.path, "%s/result.txt", here.directory);
    *state = &here;
    return 0;
}

static int remove_one(const char *path, const struct stat *found, int kind, struct FTW *walk)
{
    (void)found;
    (void)kind;
    (void)walk;
    return remove(path);
}

static int stop(void **state)
{
    place *here = *state;
    yoke_context_destroy(here->context);
    return nftw(here->directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

static void assert_holds(const char *path, const char *expected)
{
    char text[256] = "";
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    assert_string_equal(text, expected);
}

static int entries(const char *directory)
{
    int count = 0;
    DIR *listing = opendir(directory);
    assert_non_null(listing);
    while (readdir(listing) != NULL) count++;
    closedir(listing);
    return count - 2; /* . and .. */
}

static void a_committed_file_replaces_the_old_one(void **state)
{
    place *here = *state;
    app_file *file = NULL;
    struct stat found;
    put(here->path, "old");
    assert_int_equal(chmod(here->path, 0640), 0);
    assert_int_equal(app_file_create(here->context, here->path, &file), YOKE_OK);
    fputs("new", app_file_stream(file));
    fflush(app_file_stream(file));
    assert_holds(here->path, "old");
    assert_int_equal(app_file_commit(file), YOKE_OK);
    assert_holds(here->path, "new");
    assert_int_equal(stat(here->path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0640); /* others who may not read the old file may not read the new one */
    assert_int_equal(entries(here->directory), 1);
}

static void an_abandoned_file_leaves_nothing(void **state)
{
    place *here = *state;
    app_file *file = NULL;
    assert_int_equal(app_file_create(here->context, here->path, &file), YOKE_OK);
    fputs("half", app_file_stream(file));
    app_file_abandon(file);
    app_file_abandon(NULL);
    assert_int_equal(entries(here->directory), 0);
}

static void a_full_disk_is_an_error_and_leaves_the_old_file(void **state)
{
    place *here = *state;
    app_file *file = NULL;
    struct rlimit before, small;
    put(here->path, "old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 4096; /* writing more fails as a full disk does */
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(app_file_create(here->context, here->path, &file), YOKE_OK);
    for (int i = 0; i < 100000; i++) fputs("too much", app_file_stream(file));
    yoke_status status = app_file_commit(file);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, YOKE_ERROR_SYSTEM);
    assert_non_null(strstr(yoke_last_error(here->context), here->path));
    assert_holds(here->path, "old");
    assert_int_equal(entries(here->directory), 1);
}

static void print_text(FILE *out, const void *text) { fputs(text, out); }

static void a_file_is_written_at_once(void **state)
{
    place *here = *state;
    static char directory[PATH_MAX];
    const char *name = strrchr(here->path, '/') + 1;
    put(here->path, "old");
    assert_int_equal(app_file_write(here->context, here->directory, name, print_text, "new"), YOKE_OK);
    assert_holds(here->path, "new");
    assert_int_equal(entries(here->directory), 1);
    memset(directory, 'x', sizeof directory - 1);
    assert_int_equal(app_file_write(here->context, directory, name, print_text, "new"), YOKE_ERROR_INPUT);
    assert_int_equal(app_file_write(here->context, "/proc/missing", name, print_text, "new"), YOKE_ERROR_INPUT);
}

static void data_and_script_stand_beside_the_picture(void **state)
{
    place *here = *state;
    char path[160], data[160], script[160];
    app_plot_place split;
    bool drawn = true;
    snprintf(path, sizeof path, "%s/figure.one.svg", here->directory);
    snprintf(data, sizeof data, "%s/figure.one.dat", here->directory);
    snprintf(script, sizeof script, "%s/figure.one.gp", here->directory);
    assert_int_equal(app_plot_split(here->context, path, &split), YOKE_OK);
    assert_string_equal(split.directory, here->directory);
    assert_string_equal(split.base, "figure.one");
    const app_plot plot = {.directory = split.directory, .base = split.base, .print_data = print_text, .print_script = print_text};
    assert_int_equal(app_plot_write(here->context, &plot, "exit status 1\n", &drawn), YOKE_OK);
    assert_false(drawn);
    assert_holds(data, "exit status 1\n");
    assert_holds(script, "exit status 1\n");
}

static void names_of_pictures_are_looked_at(void **state)
{
    place *here = *state;
    static char path[PATH_MAX + 8];
    app_plot_place split;
    assert_int_equal(app_plot_split(here->context, "/a.svg", &split), YOKE_OK);
    assert_string_equal(split.directory, "/");
    assert_int_equal(app_plot_split(here->context, "a.svg", &split), YOKE_OK);
    assert_string_equal(split.directory, ".");
    const char *const bad[] = {"", ".svg", "a.png", "a/.svg", "it's.svg", "a\\b.svg", "a.svg/"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_int_equal(app_plot_split(here->context, bad[i], &split), YOKE_ERROR_INPUT);
    memset(path, '/', sizeof path - 1);
    memcpy(path + sizeof path - 6, "a.svg", 5);
    assert_int_equal(app_plot_split(here->context, path, &split), YOKE_ERROR_INPUT);
}

static void a_link_is_followed(void **state)
{
    place *here = *state;
    char link_path[160];
    snprintf(link_path, sizeof link_path, "%s.link", here->path);
    put(here->path, "old");
    assert_int_equal(symlink(here->path, link_path), 0);
    app_file *file = NULL;
    assert_int_equal(app_file_create(here->context, link_path, &file), YOKE_OK);
    fputs("new", app_file_stream(file));
    assert_int_equal(app_file_commit(file), YOKE_OK);
    assert_holds(here->path, "new");
    struct stat found;
    assert_int_equal(lstat(link_path, &found), 0);
    assert_true(S_ISLNK(found.st_mode));
}

static void a_device_is_written_to_directly(void **state)
{
    place *here = *state;
    app_file *file = NULL;
    assert_int_equal(app_file_create(here->context, "/dev/null", &file), YOKE_OK);
    fputs("text", app_file_stream(file));
    assert_int_equal(app_file_commit(file), YOKE_OK);
    struct stat found;
    assert_int_equal(stat("/dev/null", &found), 0);
    assert_true(S_ISCHR(found.st_mode));
    assert_int_equal(app_file_create(here->context, "/dev/full", &file), YOKE_OK);
    fputs("text", app_file_stream(file));
    assert_int_equal(app_file_commit(file), YOKE_ERROR_SYSTEM);
}

static void absurd_paths_are_refused(void **state)
{
    place *here = *state;
    static char path[20000];
    app_file *file = NULL;
    memset(path, 'x', sizeof path - 1);
    assert_int_equal(app_file_create(here->context, path, &file), YOKE_ERROR_INPUT);
    assert_int_equal(app_file_create(here->context, "", &file), YOKE_ERROR_INPUT);
    assert_int_equal(app_file_create(here->context, here->directory, &file), YOKE_ERROR_INPUT);
    assert_int_equal(app_file_create(here->context, "/proc/missing/file", &file), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(here->context), "/proc/missing/file"));
    assert_null(file);
}

static void a_check_beforehand_says_what_creating_would(void **state)
{
    place *here = *state;
    char path[160];
    assert_int_equal(app_file_check(here->context, here->path), YOKE_OK);
    assert_int_not_equal(access(here->path, F_OK), 0);
    put(here->path, "old");
    assert_int_equal(app_file_check(here->context, here->path), YOKE_OK);
    assert_holds(here->path, "old");
    assert_int_equal(app_file_check(here->context, "/dev/null"), YOKE_OK);

    app_file *file = NULL;
    const char *const bad[] = {"", here->directory};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(app_file_check(here->context, bad[i]), YOKE_ERROR_INPUT);
        assert_int_equal(app_file_create(here->context, bad[i], &file), YOKE_ERROR_INPUT);
    }
    snprintf(path, sizeof path, "%s/missing/result.txt", here->directory);
    assert_int_equal(app_file_check(here->context, path), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(here->context), "No such file or directory"));
    snprintf(path, sizeof path, "%s/below", here->path);
    assert_int_equal(app_file_check(here->context, path), YOKE_ERROR_INPUT);
}

static void assert_collision(yoke_context *context, const app_named_file *files, const char *message)
{
    assert_int_equal(app_files_check(context, files), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), message));
}

static void a_link_to_a_file_that_is_not_there_yet_is_followed(void **state)
{
    place *here = *state;
    char link_path[160];
    struct stat found;
    app_file *file = NULL;
    snprintf(link_path, sizeof link_path, "%s.link", here->path);
    assert_int_equal(symlink("result.txt", link_path), 0);
    assert_int_equal(app_file_check(here->context, link_path), YOKE_OK);
    assert_int_equal(app_file_create(here->context, link_path, &file), YOKE_OK);
    fputs("new", app_file_stream(file));
    assert_int_equal(app_file_commit(file), YOKE_OK);
    assert_holds(here->path, "new");
    assert_true(lstat(link_path, &found) == 0 && S_ISLNK(found.st_mode));
    assert_int_equal(remove(link_path), 0);
    assert_int_equal(symlink("no/such", link_path), 0);
    assert_int_equal(app_file_check(here->context, link_path), YOKE_ERROR_INPUT);
    assert_int_equal(app_file_create(here->context, link_path, &file), YOKE_ERROR_INPUT);
}

static void each_result_has_a_file_of_its_own(void **state)
{
    place *here = *state;
    char link[96], other[96], below[96];
    snprintf(link, sizeof link, "%s/link", here->directory);
    snprintf(other, sizeof other, "%s/other", here->directory);
    snprintf(below, sizeof below, "%s/no/file", here->directory);
    const char *path = here->path;
    char again[160];
    const app_named_file good[] = {{"--in", path, true},
                                   {"--also", path, true},
                                   {"--csv", NULL, false},
                                   {"--json", other, false},
                                   {"--a", "/dev/null", false},
                                   {"--b", "/dev/null", false},
                                   {0}};
    const app_named_file new[] = {{"--csv", path, false}, {"--json", path, false}, {0}};
    const app_named_file respelt[] = {{"--csv", path, false}, {"--json", again, false}, {0}};
    const app_named_file linked[] = {{"--in", path, true}, {"--csv", NULL, false}, {"--json", link, false}, {0}};
    const app_named_file output[] = {{"--csv", "-", false}, {"--json", "-", false}, {0}};
    const app_named_file missing[] = {{"--in", path, true}, {"--json", below, false}, {0}};
    assert_collision(here->context, new, "--csv and --json both name ");
    snprintf(again, sizeof again, "%.*s/.//%s", (int)(strrchr(path, '/') - path), path, strrchr(path, '/') + 1);
    assert_collision(here->context, respelt, "--csv and --json both name ");
    put(path, "an input");
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(app_files_check(here->context, good), YOKE_OK);
    assert_collision(here->context, linked, "--in and --json both name ");
    assert_collision(here->context, output, "both name -");
    assert_collision(here->context, missing, "cannot be written");
    assert_holds(path, "an input");
}

static void directories_are_made_with_those_above(void **state)
{
    place *here = *state;
    char path[160];
    snprintf(path, sizeof path, "%s/a//b/c/", here->directory);
    assert_int_equal(app_directory_make(here->context, path), YOKE_OK);
    assert_int_equal(app_directory_make(here->context, path), YOKE_OK);
    assert_int_equal(access(path, W_OK), 0);
    assert_int_equal(app_directory_make(here->context, "."), YOKE_OK);
    assert_int_equal(app_directory_make(here->context, "/"), YOKE_OK);
}

static void a_directory_that_cannot_be_is_refused(void **state)
{
    place *here = *state;
    char path[160];
    put(here->path, "a file");
    assert_int_equal(app_directory_make(here->context, here->path), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(here->context), "is not a directory"));
    snprintf(path, sizeof path, "%s/below", here->path);
    assert_int_equal(app_directory_make(here->context, path), YOKE_ERROR_INPUT);
    assert_int_equal(app_directory_make(here->context, ""), YOKE_ERROR_INPUT);
    assert_int_equal(app_directory_make(here->context, "/proc/nothing/here"), YOKE_ERROR_INPUT);
}

#define AT_A_PLACE(test) cmocka_unit_test_setup_teardown(test, start, stop)

static const struct CMUnitTest tests[] = {
    AT_A_PLACE(a_committed_file_replaces_the_old_one),
    AT_A_PLACE(an_abandoned_file_leaves_nothing),
    AT_A_PLACE(a_full_disk_is_an_error_and_leaves_the_old_file),
    AT_A_PLACE(a_file_is_written_at_once),
    AT_A_PLACE(data_and_script_stand_beside_the_picture),
    AT_A_PLACE(names_of_pictures_are_looked_at),
    AT_A_PLACE(a_link_is_followed),
    AT_A_PLACE(a_link_to_a_file_that_is_not_there_yet_is_followed),
    AT_A_PLACE(a_device_is_written_to_directly),
    AT_A_PLACE(absurd_paths_are_refused),
    AT_A_PLACE(a_check_beforehand_says_what_creating_would),
    AT_A_PLACE(each_result_has_a_file_of_its_own),
    AT_A_PLACE(directories_are_made_with_those_above),
    AT_A_PLACE(a_directory_that_cannot_be_is_refused),
};

UNIT_MAIN(tests, NULL, NULL)
