#include "meter/kernel/sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_NAMES = 4096, CPUINFO_BYTES = 8192 };

static int by_length_then_text(const void *left, const void *right)
{
    size_t a = strlen(left), b = strlen(right);
    return a != b ? (a < b ? -1 : 1) : strcmp(left, right);
}

static yoke_status grow(yoke_context *context, sysfs_names *names, int64_t *capacity)
{
    void *longer = NULL;
    int64_t wanted = *capacity > 0 ? 2 * *capacity : 32;
    yoke_status status = yoke_allocate(context, wanted, SYSFS_NAME_BYTES, &longer);
    if (status != YOKE_OK) return status;
    if (names->count > 0) memcpy(longer, names->names, (size_t)names->count * SYSFS_NAME_BYTES);
    yoke_release(context, names->names);
    names->names = longer;
    *capacity = wanted;
    return YOKE_OK;
}

yoke_status sysfs_list(yoke_context *context, const char *directory, const char *prefix, sysfs_names *names, int *error)
{
    *names = (sysfs_names){0};
    *error = 0;
    DIR *open = opendir(directory);
    if (open == NULL) {
        *error = errno;
        return YOKE_OK;
    }
    int64_t capacity = 0;
    yoke_status status = YOKE_OK;
    for (struct dirent *entry; status == YOKE_OK && names->count < MAX_NAMES && (entry = readdir(open)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (entry->d_name[0] == '.' || length >= SYSFS_NAME_BYTES || strncmp(entry->d_name, prefix, strlen(prefix)) != 0) continue;
        if (names->count == capacity) status = grow(context, names, &capacity);
        if (status == YOKE_OK) memcpy(names->names[names->count++], entry->d_name, length + 1);
    }
    closedir(open);
    if (status != YOKE_OK) {
        yoke_release(context, names->names);
        *names = (sysfs_names){0};
        return status;
    }
    if (names->count > 0) qsort(names->names, (size_t)names->count, SYSFS_NAME_BYTES, by_length_then_text);
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------- machine */

/* Whether the value, a list of words separated by blanks, contains the word. */
static int has_word(const char *value, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(value, word); at != NULL; at = strstr(at + 1, word))
        if ((at == value || isspace((unsigned char)at[-1])) && (at[length] == '\0' || isspace((unsigned char)at[length]))) return 1;
    return 0;
}

int sysfs_processor_has(const meter_site *site, const char *key, const char *word)
{
    char path[SYSFS_PATH_BYTES], line[CPUINFO_BYTES];
    int has = 0;
    if (strlen(site->root) >= sizeof path - 32) return 0;
    snprintf(path, sizeof path, "%s/proc/cpuinfo", site->root);
    int descriptor = sysfs_open(path);
    if (descriptor < 0) return 0;
    FILE *file = fdopen(descriptor, "r");
    if (file == NULL) {
        close(descriptor);
        return 0;
    }
    /* Only the first processor, whose entry ends with an empty line. */
    while (fgets(line, sizeof line, file) != NULL && line[0] != '\n') {
        char *colon = strchr(line, ':');
        if (colon == NULL) continue;
        char *end = colon;
        while (end > line && isspace((unsigned char)end[-1])) end--;
        *end = '\0';
        if (strcmp(line, key) == 0 && has_word(colon + 1, word)) has = 1;
    }
    fclose(file);
    return has;
}

void sysfs_virtual_machine(const meter_site *site, char text[64])
{
    meter_virtual_machine(site, text);
    if (text[0] == '\0' && sysfs_processor_has(site, "flags", "hypervisor")) snprintf(text, 64, "a virtual machine");
}

int sysfs_in_container(const meter_site *site)
{
    static const char *const marks[] = {"/.dockerenv", "/run/.containerenv", "/run/systemd/container"};
    char path[SYSFS_PATH_BYTES];
    if (strlen(site->root) >= sizeof path - 32) return 0;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        snprintf(path, sizeof path, "%s%s", site->root, marks[i]);
        if (access(path, F_OK) == 0) return 1;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------- numbers */

int sysfs_open(const char *path) { return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }

int sysfs_open_number(const char *path, int *descriptor, uint64_t *number)
{
    *descriptor = sysfs_open(path);
    if (*descriptor < 0) return errno;
    int error = meter_pread_number(*descriptor, number);
    if (error != 0) {
        close(*descriptor);
        *descriptor = -1;
    }
    return error;
}

meter_result sysfs_read_number(int descriptor, int recorded, const char *what, uint64_t *number, char why[METER_WHY_BYTES])
{
    struct stat about;
    /* If the kernel removes a file, reads from its open descriptor fail; a removed file of a recorded tree can still be read. */
    int error = recorded && (fstat(descriptor, &about) != 0 || about.st_nlink == 0) ? ENODEV : meter_pread_number(descriptor, number);
    if (error == 0) return METER_READ;
    if (error == ENODEV || error == ENXIO) {
        snprintf(why, METER_WHY_BYTES, "%.160s is gone: the hardware was taken offline or lost", what);
        return METER_GONE;
    }
    if (error == EINVAL)
        snprintf(why, METER_WHY_BYTES, "%.160s does not hold a number", what);
    else
        snprintf(why, METER_WHY_BYTES, "%.160s cannot be read: %s", what, strerror(error));
    return METER_FAILED;
}

/* --------------------------------------------------------------------------------------------------- names */

void sysfs_clean(char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c >= 0x80 || (!isalnum(c) && strchr("._:+-", c) == NULL)) *text = '-';
    }
}

static int is_taken(const meter_list *list, const char *name)
{
    for (int64_t i = 0; i < list->count; i++)
        if (strcmp(list->domains[i].info.name, name) == 0) return 1;
    return 0;
}

void sysfs_unique(const meter_list *list, const char *kind, const char *wanted, const char *where, char name[64])
{
    snprintf(name, 64, "%s:%.54s", kind, wanted);
    if (!is_taken(list, name)) return;
    snprintf(name, 64, "%s:%.24s@%.24s", kind, wanted, where);
    for (int64_t number = 2; is_taken(list, name); number++)
        snprintf(name, 64, "%s:%.24s@%.16s.%lld", kind, wanted, where, (long long)number);
}
