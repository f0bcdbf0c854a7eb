/*
 * Runs the catalogue of faults: each file of tests/meter/faults is a script (README.md there has its words) for meters that show what the
 * script says, on a clock that it moves, or for files of a recorded tree that the real kinds of meters read.
 */
#define _XOPEN_SOURCE 700 /* nftw */

#include <dirent.h>
#include <ftw.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

#include "run/machine/list.h"
#include "scripted.h"

enum { LINE_BYTES = 1024, MAX_FAULTS = 256, MAX_METERS = 64 };

typedef struct script {
    yoke_context *context;
    char file[512], root[64];
    int line;
    meter_set *set;     /* of scripted meters, or */
    yoke_meters *meter; /* of a tree */
    yoke_region *region;
    yoke_energy energies[MAX_METERS], total;
    int ended;
} script;

static void complain(const script *run, const char *format, ...) YOKE_PRINTF(2, 3);

static void complain(const script *run, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fail_msg("%s, line %d: %s", run->file, run->line, text);
}

/* -------------------------------------------------------------------------------------------------- trees */

static void tree_path(const script *run, const char *path, char full[512])
{
    if (path[0] == '/' || strstr(path, "..") != NULL) complain(run, "a path below the root is expected");
    snprintf(full, 512, "%s/%.400s", run->root, path);
}

static void need_root(script *run)
{
    if (run->root[0] != '\0') return;
    snprintf(run->root, sizeof run->root, "/tmp/yoke-faults-XXXXXX");
    if (mkdtemp(run->root) == NULL) complain(run, "no temporary directory");
}

static void write_tree_file(script *run, const char *path, const char *text)
{
    char full[512];
    need_root(run);
    tree_path(run, path, full);
    for (char *at = full + strlen(run->root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(full, 0755);
        *at = '/';
    }
    FILE *file = fopen(full, "w");
    if (file == NULL) complain(run, "%s cannot be written", full);
    fprintf(file, "%s\n", text);
    fclose(file);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    return remove(path);
}

static void remove_tree(const char *path) { nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

/* ------------------------------------------------------------------------------------------------- meters */

static double number_of(const script *run, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0') complain(run, "\"%s\" is no number", text);
    return value;
}

static void set_key(const script *run, meter_domain *domain, char *word)
{
    char *value = strchr(word, '=');
    if (value == NULL) complain(run, "\"%s\" is no key=value", word);
    *value++ = '\0';
    if (strcmp(word, "covers") == 0)
        snprintf(domain->info.covers, sizeof domain->info.covers, "%s", value);
    else if (strcmp(word, "parent") == 0)
        snprintf(domain->info.parent, sizeof domain->info.parent, "scripted:%.50s", value);
    else if (strcmp(word, "range") == 0)
        domain->range = strtoull(value, NULL, 10);
    else if (strcmp(word, "rank") == 0)
        domain->rank = (int64_t)number_of(run, value);
    else if (strcmp(word, "unit_j") == 0)
        domain->unit_j = number_of(run, value);
    else if (strcmp(word, "most_w") == 0)
        domain->most_w = number_of(run, value);
    else if (strcmp(word, "period_s") == 0)
        domain->info.period_s = number_of(run, value);
    else if (strcmp(word, "gain_error") == 0)
        domain->info.gain_error = number_of(run, value);
    else if (strcmp(word, "quantum_w") == 0)
        domain->quantum_w = number_of(run, value);
    else if (strcmp(word, "window_s") == 0)
        domain->window_s = number_of(run, value);
    else if (strcmp(word, "always_moves") == 0)
        domain->always_moves = 1;
    else if (strcmp(word, "source") == 0 && strcmp(value, "estimated") == 0)
        domain->info.source = YOKE_ENERGY_ESTIMATED;
    else
        complain(run, "the key \"%s\" is not known", word);
}

/* meter NAME QUANTITY key=value... */
static void add_meter(const script *run, char *rest)
{
    char *save = NULL;
    char *name = strtok_r(rest, " ", &save), *quantity = strtok_r(NULL, " ", &save);
    if (quantity == NULL) complain(run, "meter NAME counter|power|energy is expected");
    scripted_meter *meter = scripted_add(name, strcmp(quantity, "power") == 0    ? METER_POWER
                                               : strcmp(quantity, "energy") == 0 ? METER_ENERGY
                                                                                 : METER_COUNTER);
    for (char *word; (word = strtok_r(NULL, " ", &save)) != NULL;) set_key(run, &meter->domain, word);
}

static scripted_meter *meter_of(const script *run, char *rest, char **value)
{
    char *name = strtok_r(rest, " ", value);
    scripted_meter *meter = name != NULL ? scripted_find(name) : NULL;
    if (meter == NULL) complain(run, "there is no meter \"%s\"", name != NULL ? name : "");
    return meter;
}

static void show(const script *run, const char *word, char *rest)
{
    char *value;
    scripted_meter *meter = meter_of(run, rest, &value);
    if (strcmp(word, "unusable") == 0) {
        meter->domain.info.usable = 0;
        snprintf(meter->domain.info.why_not, sizeof meter->domain.info.why_not, "%s", value);
        return;
    }
    meter->result = METER_READ;
    if (strcmp(word, "count") == 0)
        meter->sample.count = strtoull(value, NULL, 10);
    else if (strcmp(word, "power") == 0)
        meter->sample.power_w = number_of(run, value);
    else if (strcmp(word, "energy") == 0)
        meter->sample.energy_j = number_of(run, value);
    else {
        meter->result = strcmp(word, "gone") == 0 ? METER_GONE : METER_FAILED;
        snprintf(meter->why, sizeof meter->why, "%s", value);
    }
}

/* ------------------------------------------------------------------------------------------------ regions */

static void must(const script *run, yoke_status status)
{
    if (status != YOKE_OK) complain(run, "%s", yoke_last_error(run->context));
}

static void open_all(script *run, const char *select)
{
    if (select[0] == '\0') select = NULL;
    if (run->root[0] == '\0') {
        must(run, scripted_open(run->context, select, &run->set));
        return;
    }
    const yoke_meter_options options = {.select = select, .sysroot = run->root, .probe_s = -1};
    must(run, yoke_meters_open(run->context, &options, &run->meter));
}

static void begin(script *run)
{
    must(run, run->set != NULL ? meter_region_begin(run->set, &run->region) : yoke_region_begin(run->meter, &run->region));
}

static void end(script *run)
{
    if (run->region == NULL) complain(run, "end without begin");
    yoke_status status = run->set != NULL ? meter_region_end(run->region, NULL, run->energies, &run->total)
                                          : yoke_region_end(run->region, NULL, run->energies, &run->total);
    must(run, status);
    run->region = NULL;
    run->ended = 1;
}

static void infos_of(const script *run, const yoke_meter_info **infos, int64_t *count)
{
    if (run->set != NULL) {
        *infos = run->set->infos;
        *count = run->set->count;
        return;
    }
    if (run->meter == NULL) complain(run, "nothing is open");
    *infos = run->meter->infos;
    *count = run->meter->count;
}

/* The number of an open meter: NAME, or kind:NAME in a tree; -1. */
static int64_t place_of(const script *run, const char *name)
{
    const yoke_meter_info *infos = NULL;
    int64_t count = 0;
    infos_of(run, &infos, &count);
    for (int64_t i = 0; i < count; i++) {
        const char *behind = strchr(infos[i].name, ':');
        if (strcmp(infos[i].name, name) == 0 || (run->set != NULL && behind != NULL && strcmp(behind + 1, name) == 0)) return i;
    }
    return -1;
}

static const yoke_energy *energy_of(const script *run, const char *name)
{
    if (!run->ended) complain(run, "no region has ended");
    if (strcmp(name, "total") == 0) return &run->total;
    int64_t place = place_of(run, name);
    if (place < 0) complain(run, "no meter \"%s\" is open", name);
    return &run->energies[place];
}

/* value NAME truth: the stated interval holds it.  none NAME words: no value, and a reason with these words. */
static void expect(const script *run, const char *word, char *rest)
{
    char *value;
    char *name = strtok_r(rest, " ", &value);
    const yoke_energy *energy = energy_of(run, name);
    if (strcmp(word, "none") == 0) {
        if (!isnan(energy->value_j)) complain(run, "%s has the value %.9g J; expected none", name, energy->value_j);
        if (strstr(energy->why_not, value) == NULL) complain(run, "%s: \"%s\" does not say \"%s\"", name, energy->why_not, value);
        return;
    }
    double truth = number_of(run, value);
    if (isnan(energy->value_j)) complain(run, "%s has no value: %s", name, energy->why_not);
    if (!(energy->uncertainty_j >= 0) || !(fabs(energy->value_j - truth) <= energy->uncertainty_j + 1e-9 * truth))
        complain(run, "%s: %.9g +- %.3g J does not hold the truth %.9g J", name, energy->value_j, energy->uncertainty_j, truth);
    if (strcmp(word, "exactly") == 0 && !(fabs(energy->value_j - truth) <= 1e-9 * truth))
        complain(run, "%s: %.12g J is not exactly %.12g J", name, energy->value_j, truth);
}

/* counted NAME, shown NAME (open, not counted), absent NAME. */
static void expect_place(const script *run, const char *word, const char *name)
{
    const yoke_meter_info *infos = NULL;
    int64_t count = 0;
    infos_of(run, &infos, &count);
    int64_t place = place_of(run, name);
    const char *is = place < 0 ? "absent" : infos[place].counted ? "counted" : "shown";
    if (strcmp(is, word) != 0) complain(run, "%s is %s; expected: %s", name, is, word);
}

/* missing NAME words: listed as not usable, with a reason or remedy that has these words. */
static void expect_missing(const script *run, char *rest)
{
    char *words;
    char *name = strtok_r(rest, " ", &words);
    yoke_meter_info *list = NULL;
    int64_t count = 0;
    const yoke_meter_options options = {.sysroot = run->root, .probe_s = -1};
    must(run, yoke_meters_list(run->context, &options, &list, &count));
    int found = 0;
    char said[2048] = "it is not listed";
    for (int64_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, name) != 0) continue;
        snprintf(said, sizeof said, "%s: %s; %s", list[i].usable ? "usable" : "not usable", list[i].why_not, list[i].remedy);
        found |= !list[i].usable && list[i].why_not[0] != '\0' && strstr(said, words) != NULL;
    }
    yoke_release(run->context, list);
    if (!found) complain(run, "%s: \"%s\" does not say \"%s\"", name, said, words);
}

/* ------------------------------------------------------------------------------------------------- scripts */

static int is_one_of(const char *word, const char *list)
{
    const char *at = strstr(list, word);
    size_t length = strlen(word);
    return at != NULL && (at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0');
}

static void run_line(script *run, char *line)
{
    char *rest;
    char *word = strtok_r(line, " ", &rest);
    if (word == NULL) return;
    if (strcmp(word, "meter") == 0)
        add_meter(run, rest);
    else if (is_one_of(word, "unusable count power energy fail gone"))
        show(run, word, rest);
    else if (strcmp(word, "failing") == 0) {
        char *times;
        scripted_meter *meter = meter_of(run, rest, &times);
        meter->fails = (int)number_of(run, times);
    } else if (strcmp(word, "file") == 0) {
        char *text;
        char *path = strtok_r(rest, " ", &text);
        write_tree_file(run, path, text);
    } else if (strcmp(word, "link") == 0) {
        char *target;
        char *path = strtok_r(rest, " ", &target);
        char full[512];
        write_tree_file(run, path, ""); /* makes the directories */
        tree_path(run, path, full);
        if (remove(full) != 0 || symlink(target, full) != 0) complain(run, "%s cannot be linked", full);
    } else if (strcmp(word, "remove") == 0) {
        char full[512];
        tree_path(run, rest, full);
        remove_tree(full);
    } else if (strcmp(word, "tree") == 0)
        need_root(run);
    else if (strcmp(word, "open") == 0)
        open_all(run, rest);
    else if (strcmp(word, "time") == 0)
        scripted.now_s = number_of(run, rest);
    else if (strcmp(word, "suspended") == 0)
        scripted.suspended_s = number_of(run, rest);
    else if (strcmp(word, "sleep") == 0) {
        double seconds = number_of(run, rest);
        nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * seconds)}, NULL);
    } else if (strcmp(word, "poll") == 0)
        meter_set_poll(run->set);
    else if (strcmp(word, "begin") == 0)
        begin(run);
    else if (strcmp(word, "end") == 0)
        end(run);
    else if (is_one_of(word, "value exactly none"))
        expect(run, word, rest);
    else if (is_one_of(word, "counted shown absent"))
        expect_place(run, word, rest);
    else if (strcmp(word, "missing") == 0)
        expect_missing(run, rest);
    else
        complain(run, "the word \"%s\" is not known", word);
}

static void finish(script *run)
{
    yoke_region *region = run->region;
    if (region != NULL && run->set != NULL) meter_region_end(region, NULL, NULL, NULL);
    if (region != NULL && run->set == NULL) yoke_region_end(region, NULL, NULL, NULL);
    meter_set_close(run->set);
    yoke_meters_close(run->meter);
    if (run->root[0] != '\0') remove_tree(run->root);
    yoke_context_destroy(run->context);
}

static void run_script(const char *path)
{
    script run = {0};
    char line[LINE_BYTES];
    snprintf(run.file, sizeof run.file, "%s", path);
    scripted_clear();
    assert_int_equal(yoke_context_create(NULL, &run.context), YOKE_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    int expectations = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        run.line++;
        line[strcspn(line, "\n")] = '\0';
        if (run.line == 1 && line[0] != '#') complain(&run, "the first line says in a comment what happens");
        if (line[0] == '#') continue;
        char word[16] = "";
        snprintf(word, sizeof word, "%.*s", (int)strcspn(line, " "), line);
        expectations += word[0] != '\0' && is_one_of(word, "value exactly none counted shown absent missing");
        run_line(&run, line);
    }
    fclose(file);
    if (expectations == 0) complain(&run, "a fault without an expected outcome");
    finish(&run);
}

static int is_script(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".txt") == 0;
}

static int catalogue(char names[MAX_FAULTS][512])
{
    char directory[256];
    snprintf(directory, sizeof directory, "%s/tests/meter/faults", getenv("YOKE_SOURCE_DIR"));
    DIR *open_directory = opendir(directory);
    assert_non_null(open_directory);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(open_directory)) != NULL;)
        if (is_script(entry) && count < MAX_FAULTS) snprintf(names[count++], 512, "%.250s/%.250s", directory, entry->d_name);
    closedir(open_directory);
    return count;
}

static void every_fault_has_its_outcome(void **state)
{
    (void)state;
    static char names[MAX_FAULTS][512];
    int count = catalogue(names);
    /* No vendor's library of this machine, and no way around the tree. */
    setenv("YOKE_NVML", "", 1);
    setenv("YOKE_AMDSMI", "", 1);
    setenv("YOKE_ROCM_SMI", "", 1);
    for (int i = 0; i < count; i++) run_script(names[i]);
}

static void the_catalogue_has_at_least_25_faults(void **state)
{
    (void)state;
    static char names[MAX_FAULTS][512];
    assert_true(catalogue(names) >= 25);
}

static void the_readme_lists_every_fault(void **state)
{
    (void)state;
    static char names[MAX_FAULTS][512], text[65536];
    char path[512];
    int count = catalogue(names);
    snprintf(path, sizeof path, "%s/tests/meter/faults/README.md", getenv("YOKE_SOURCE_DIR"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    for (int i = 0; i < count; i++) {
        const char *name = strrchr(names[i], '/') + 1;
        if (strstr(text, name) == NULL) fail_msg("README.md does not list %s", name);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_fault_has_its_outcome),
    cmocka_unit_test(the_catalogue_has_at_least_25_faults),
    cmocka_unit_test(the_readme_lists_every_fault),
};

UNIT_MAIN(tests, NULL, NULL)
