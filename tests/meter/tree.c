#define _XOPEN_SOURCE 700
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* ------------------------------------------------------------------------------------------------- files */

static void below(const tree *where, const char *path, char full[PATH_BYTES])
{
    assert_in_range(snprintf(full, PATH_BYTES, "%s/%s", where->root, path), 1, PATH_BYTES - 1);
}

static void copy_file(const char *from, const char *to)
{
    char bytes[65536];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_non_null(in);
    assert_non_null(out);
    for (size_t got; (got = fread(bytes, 1, sizeof bytes, in)) > 0;) assert_int_equal(fwrite(bytes, 1, got, out), got);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

static void copy_directory(const char *from, const char *to)
{
    assert_int_equal(mkdir(to, 0755), 0);
    DIR *directory = opendir(from);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char source[PATH_BYTES], copy[PATH_BYTES], target[PATH_BYTES];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        assert_in_range(snprintf(source, sizeof source, "%s/%s", from, entry->d_name), 1, PATH_BYTES - 1);
        assert_in_range(snprintf(copy, sizeof copy, "%s/%s", to, entry->d_name), 1, PATH_BYTES - 1);
        struct stat about;
        assert_int_equal(lstat(source, &about), 0);
        if (S_ISDIR(about.st_mode)) {
            copy_directory(source, copy);
        } else if (S_ISLNK(about.st_mode)) {
            ssize_t length = readlink(source, target, sizeof target - 1);
            assert_true(length > 0);
            target[length] = '\0';
            assert_int_equal(symlink(target, copy), 0);
        } else {
            copy_file(source, copy);
        }
    }
    closedir(directory);
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)about;
    (void)type;
    (void)place;
    return remove(path);
}

static void remove_all(const char *path) { assert_int_equal(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0); }

/* The directories around a file. */
static void make_around(char *full)
{
    for (char *at = full + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
        *at = '/';
    }
}

void tree_write(const tree *where, const char *path, const char *text)
{
    char full[PATH_BYTES];
    below(where, path, full);
    make_around(full);
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

void tree_write_number(const tree *where, const char *path, unsigned long long number)
{
    char text[32];
    snprintf(text, sizeof text, "%llu\n", number);
    tree_write(where, path, text);
}

unsigned long long tree_number(const tree *where, const char *path)
{
    char full[PATH_BYTES];
    unsigned long long number = 0;
    below(where, path, full);
    FILE *file = fopen(full, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%llu", &number), 1);
    fclose(file);
    return number;
}

void tree_add(const tree *where, const char *path, long long more)
{
    tree_write_number(where, path, (unsigned long long)((long long)tree_number(where, path) + more));
}

void tree_remove(const tree *where, const char *path)
{
    char full[PATH_BYTES];
    below(where, path, full);
    remove_all(full);
}

void tree_link(const tree *where, const char *path, const char *target)
{
    char full[PATH_BYTES];
    below(where, path, full);
    make_around(full);
    assert_int_equal(symlink(target, full), 0);
}

void tree_directory(const tree *where, const char *path)
{
    char full[PATH_BYTES];
    below(where, path, full);
    make_around(full);
    assert_int_equal(mkdir(full, 0755), 0);
}

void tree_move(const tree *where, const char *from, const char *to)
{
    char old[PATH_BYTES], new[PATH_BYTES];
    below(where, from, old);
    below(where, to, new);
    make_around(new);
    assert_int_equal(rename(old, new), 0);
}

void tree_pipe(const tree *where, const char *path)
{
    char full[PATH_BYTES];
    below(where, path, full);
    assert_int_equal(mkfifo(full, 0644), 0);
}

void tree_forbid(const tree *where, const char *path)
{
    char full[PATH_BYTES];
    below(where, path, full);
    assert_int_equal(chmod(full, 0), 0);
}

void tree_allow(const tree *where, const char *path)
{
    char full[PATH_BYTES];
    below(where, path, full);
    assert_int_equal(chmod(full, 0755), 0);
}

/* ------------------------------------------------------------------------------------------------ memory */

static void *allocate(size_t bytes, void *user)
{
    tree *where = user;
    if (where->until_no_memory == 0) return NULL;
    if (where->until_no_memory > 0) where->until_no_memory--;
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (memory != NULL) where->outstanding++;
    return memory;
}

static void release(void *memory, void *user)
{
    ((tree *)user)->outstanding--;
    free(memory);
}

static int64_t open_descriptors(void)
{
    int64_t count = 0;
    for (int descriptor = 0; descriptor < 1024; descriptor++) count += fcntl(descriptor, F_GETFD) >= 0;
    return count;
}

static double now(void *user) { return ((const tree *)user)->now_s; }

void tree_begin(tree *where, const char *machine)
{
    const char *source = getenv("YOKE_SOURCE_DIR"), *temporary = getenv("TMPDIR");
    *where = (tree){.until_no_memory = -1, .now_s = 1000, .descriptors = open_descriptors()};
    assert_non_null(source);
    assert_in_range(snprintf(where->root, sizeof where->root, "%s/yoke-tree-XXXXXX", temporary != NULL ? temporary : "/tmp"), 1,
                    sizeof where->root - 1);
    assert_non_null(mkdtemp(where->root));
    if (machine != NULL) {
        char from[PATH_BYTES];
        snprintf(from, sizeof from, "%s/tests/machines/%s", source, machine);
        assert_int_equal(rmdir(where->root), 0);
        copy_directory(from, where->root);
    }
    assert_int_equal(chmod(where->root, 0755), 0);
    yoke_options options = {.allocate = allocate, .release = release, .memory_user = where};
    assert_int_equal(yoke_context_create(&options, &where->context), YOKE_OK);
    where->list.context = where->context;
    where->time = (meter_time){.now_s = now, .virtual_time = 1, .user = where};
}

void tree_end(tree *where)
{
    if (where->region != NULL) tree_end_region(where, NULL);
    meter_set_close(where->set);
    meter_list_clear(&where->list);
    yoke_context_destroy(where->context);
    assert_int_equal(where->outstanding, 0);
    assert_int_equal(open_descriptors(), where->descriptors);
    remove_all(where->root);
}

/* ----------------------------------------------------------------------------------------------- finding */

static meter_site site_of(tree *where) { return (meter_site){.context = where->context, .root = where->root, .time = &where->time}; }

void tree_find(tree *where, const meter_kind *kind)
{
    meter_site site = site_of(where);
    meter_list_clear(&where->list);
    assert_int_equal(meter_find(&site, &kind, 1, &where->list), YOKE_OK);
    assert_true(where->list.count > 0); /* each kind has at least an entry that says why there is nothing */
    for (int64_t i = 0; i < where->list.count; i++) {
        const yoke_meter_info *info = &where->list.domains[i].info;
        assert_string_equal(info->kind, kind->kind);
        assert_true(info->usable == (info->why_not[0] == '\0'));
        for (int64_t j = 0; j < i; j++) assert_string_not_equal(info->name, where->list.domains[j].info.name);
    }
}

static const meter_domain *find_domain(const tree *where, const char *name)
{
    for (int64_t i = 0; i < where->list.count; i++)
        if (strcmp(where->list.domains[i].info.name, name) == 0) return &where->list.domains[i];
    return NULL;
}

int tree_has(const tree *where, const char *name) { return find_domain(where, name) != NULL; }

const meter_domain *tree_domain(const tree *where, const char *name)
{
    const meter_domain *domain = find_domain(where, name);
    if (domain == NULL) {
        print_error("no domain %s among:\n", name);
        for (int64_t i = 0; i < where->list.count; i++) print_error("    %s\n", where->list.domains[i].info.name);
    }
    assert_non_null(domain);
    return domain;
}

meter_result tree_try(const meter_domain *domain, meter_sample *sample, char why[METER_WHY_BYTES])
{
    *sample = (meter_sample){0};
    why[0] = '\0';
    assert_non_null(domain->read);
    return domain->read(domain->state, sample, why);
}

meter_sample tree_read(const meter_domain *domain)
{
    meter_sample sample;
    char why[METER_WHY_BYTES];
    meter_result result = tree_try(domain, &sample, why);
    if (result != METER_READ) print_error("%s: %s\n", domain->info.name, why);
    assert_int_equal(result, METER_READ);
    return sample;
}

static void assert_says(const char *text, const char *words)
{
    if (strstr(text, words) == NULL) print_error("\"%s\" does not say \"%s\"\n", text, words);
    assert_non_null(strstr(text, words));
}

void tree_unusable(const tree *where, const char *name, const char *why, const char *remedy)
{
    const meter_domain *domain = tree_domain(where, name);
    assert_false(domain->info.usable);
    assert_null(domain->read);
    assert_null(domain->state);
    assert_says(domain->info.why_not, why);
    if (remedy != NULL) assert_says(domain->info.remedy, remedy);
}

/* ----------------------------------------------------------------------------------------------- regions */

void tree_open(tree *where, const meter_kind *const *kinds, int64_t num_kinds, const char *select)
{
    meter_site site = site_of(where);
    meter_set_options options = {.select = select};
    assert_null(where->set);
    assert_int_equal(meter_set_open(&site, kinds, num_kinds, &options, &where->set), YOKE_OK);
}

void tree_begin_region(tree *where)
{
    assert_null(where->region);
    assert_int_equal(meter_region_begin(where->set, &where->region), YOKE_OK);
}

yoke_energy tree_end_region(tree *where, const char *name)
{
    yoke_energy energies[64], total;
    double seconds = 0;
    assert_in_range(where->set->count, 0, 64);
    assert_int_equal(meter_region_end(where->region, &seconds, energies, &total), YOKE_OK);
    where->region = NULL;
    if (name == NULL) return total;
    for (int64_t i = 0; i < where->set->count; i++)
        if (strcmp(where->set->infos[i].name, name) == 0) return energies[i];
    print_error("no open meter %s\n", name);
    fail();
    return total;
}

void tree_near(double value, double truth, double error)
{
    if (!(fabs(value - truth) <= error)) print_error("%.12g is not %.12g within %.3g\n", value, truth, error);
    assert_true(fabs(value - truth) <= error);
}

void tree_no_value(yoke_energy energy, const char *words)
{
    assert_true(isnan(energy.value_j));
    assert_true(isnan(energy.uncertainty_j));
    assert_int_equal(energy.kind, YOKE_ENERGY_NONE);
    if (strstr(energy.why_not, words) == NULL) print_error("\"%s\" does not say \"%s\"\n", energy.why_not, words);
    assert_non_null(strstr(energy.why_not, words));
}

void tree_wait(tree *where, double seconds)
{
    where->now_s += seconds;
    meter_set_poll(where->set);
}

/* ------------------------------------------------------------------------------------------------ faults */

void tree_without_memory(tree *where, const meter_kind *kind)
{
    meter_site site = site_of(where);
    meter_list_clear(&where->list);
    int64_t before = where->outstanding, allocations = 0;
    for (;; allocations++) {
        assert_in_range(allocations, 0, 10000);
        where->until_no_memory = allocations;
        yoke_status status = meter_find(&site, &kind, 1, &where->list);
        where->until_no_memory = -1;
        if (status == YOKE_OK) break;
        assert_int_equal(status, YOKE_ERROR_MEMORY);
        assert_int_equal(where->outstanding, before);
    }
    assert_true(allocations > 1);
}

int tree_break(const tree *where, const char *path, int *kept)
{
    char full[PATH_BYTES], link[64], target[PATH_BYTES], real[PATH_BYTES];
    below(where, path, full);
    assert_non_null(realpath(full, real));
    for (int descriptor = 3; descriptor < 256; descriptor++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        ssize_t length = readlink(link, target, sizeof target - 1);
        if (length <= 0) continue;
        target[length] = '\0';
        if (strcmp(target, real) != 0) continue;
        /* Nothing is mapped at address 0, so reading there is EIO. */
        int broken = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
        assert_true(broken >= 0);
        *kept = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
        assert_true(*kept >= 0);
        assert_int_equal(dup2(broken, descriptor), descriptor);
        close(broken);
        return descriptor;
    }
    print_error("%s is not open\n", real);
    fail();
    return -1;
}

void tree_heal(int descriptor, int kept)
{
    assert_int_equal(dup2(kept, descriptor), descriptor);
    close(kept);
}

void tree_find_as_user(tree *where, const meter_kind *kind)
{
    int is_root = geteuid() == 0;
    if (is_root) assert_int_equal(seteuid(65534), 0);
    tree_find(where, kind);
    if (is_root) assert_int_equal(seteuid(0), 0);
}
