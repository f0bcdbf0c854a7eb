#define _DEFAULT_SOURCE /* flock */

#include "settings.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { MAX_TEXT = 8192 };

/* ------------------------------------------------------------------------------------------------ looking up */

static const char *variable(const char *suffix)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", stub_variable, suffix);
    return getenv(name);
}

static void read_all(int descriptor, char text[MAX_TEXT])
{
    ssize_t bytes = pread(descriptor, text, MAX_TEXT - 1, 0);
    text[bytes > 0 ? bytes : 0] = '\0';
}

static void read_file(const char *path, char text[MAX_TEXT])
{
    text[0] = '\0';
    int descriptor = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (descriptor < 0) return;
    flock(descriptor, LOCK_SH);
    read_all(descriptor, text);
    close(descriptor);
}

/* Where the value of a key begins, and its length; NULL where the settings have no such key. */
static const char *find(const char *settings, const char *key, size_t *length)
{
    size_t bytes = strlen(key);
    while (settings != NULL && *settings != '\0') {
        size_t line = strcspn(settings, ",\n");
        if (strncmp(settings, key, bytes) == 0 && settings[bytes] == '=') {
            *length = line - bytes - 1;
            return settings + bytes + 1;
        }
        settings += line + (settings[line] != '\0');
    }
    return NULL;
}

/* The value of "key.N" or "key" in the settings. */
static int look(const char *settings, const char *key, int device, char *value, size_t bytes)
{
    char own[96];
    size_t length = 0;
    snprintf(own, sizeof own, "%s.%d", key, device);
    const char *found = device >= 0 ? find(settings, own, &length) : NULL;
    if (found == NULL) found = find(settings, key, &length);
    if (found == NULL) return 0;
    if (length > bytes - 1) length = bytes - 1;
    memcpy(value, found, length);
    value[length] = '\0';
    return 1;
}

void stub_text(const char *key, int device, const char *usual, char *text, unsigned long bytes)
{
    char file[MAX_TEXT];
    read_file(variable("_FILE"), file);
    if (!look(file, key, device, text, bytes) && !look(variable(""), key, device, text, bytes)) snprintf(text, bytes, "%s", usual);
}

long long stub_number(const char *key, int device, long long usual)
{
    char text[64];
    stub_text(key, device, "", text, sizeof text);
    return text[0] != '\0' ? (long long)strtoull(text, NULL, 0) : usual;
}

int stub_failure(const char *function, int device)
{
    char key[96];
    snprintf(key, sizeof key, "fail.%s", function);
    return (int)stub_number(key, device, 0);
}

/* ------------------------------------------------------------------------------------------------- keeping */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char own_state[MAX_TEXT]; /* where no file is named */

/* The settings without the key, and with its new value. */
static void change(char text[MAX_TEXT], const char *own, long long value)
{
    char changed[MAX_TEXT + 128];
    size_t used = 0, bytes = strlen(own);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        if (strncmp(line, own, bytes) != 0 || line[bytes] != '=')
            used += (size_t)snprintf(changed + used, sizeof changed - used, "%s\n", line);
    if (value >= 0) used += (size_t)snprintf(changed + used, sizeof changed - used, "%s=%lld\n", own, value);
    changed[used] = '\0';
    snprintf(text, MAX_TEXT, "%.*s", MAX_TEXT - 1, changed);
}

void stub_keep(const char *key, int device, long long value)
{
    char own[96], text[MAX_TEXT];
    const char *path = variable("_STATE");
    snprintf(own, sizeof own, "%s.%d", key, device);
    pthread_mutex_lock(&lock);
    if (path == NULL)
        change(own_state, own, value);
    else {
        int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (descriptor >= 0) {
            flock(descriptor, LOCK_EX);
            read_all(descriptor, text);
            change(text, own, value);
            if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, text, strlen(text), 0) < 0) perror(path);
            close(descriptor);
        }
    }
    pthread_mutex_unlock(&lock);
}

long long stub_kept(const char *key, int device, long long usual)
{
    char text[MAX_TEXT], value[64];
    const char *path = variable("_STATE");
    pthread_mutex_lock(&lock);
    if (path != NULL)
        read_file(path, text);
    else
        memcpy(text, own_state, sizeof text);
    pthread_mutex_unlock(&lock);
    return look(text, key, device, value, sizeof value) ? strtoll(value, NULL, 0) : usual;
}

long long stub_flown(long long milliwatts, long long period_ms)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long ms = (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (period_ms > 0) ms -= ms % period_ms;
    return ms / 1000 * milliwatts + ms % 1000 * milliwatts / 1000;
}

/* ------------------------------------------------------------------------------------------------ counting */

static int starts, ends, misuse;

void stub_started(void) { __atomic_add_fetch(&starts, 1, __ATOMIC_SEQ_CST); }

void stub_ended(void) { __atomic_add_fetch(&ends, 1, __ATOMIC_SEQ_CST); }

int stub_balance(void) { return __atomic_load_n(&starts, __ATOMIC_SEQ_CST) - __atomic_load_n(&ends, __ATOMIC_SEQ_CST); }

int stub_running(void)
{
    if (stub_balance() > 0) return 1;
    __atomic_add_fetch(&misuse, 1, __ATOMIC_SEQ_CST);
    return 0;
}

int stub_misuse(void) { return __atomic_load_n(&misuse, __ATOMIC_SEQ_CST); }

int stub_starts(void) { return __atomic_load_n(&starts, __ATOMIC_SEQ_CST); }
