/* Starts the program that reads a mesh with Gmsh, limits its time and memory, and receives its output. */
#define _XOPEN_SOURCE 700 /* fdopendir */

#include "mesh/file/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mesh/file/wire.h"

#define WORKPLACE_NAME "yoke-mesh-" /* followed by six characters */

enum { LINK_BYTES = 64, FIRST_STREAM_BYTES = 1 << 20, REQUEST_BYTES = 2 * PATH_MAX };

/* A directory that contains only a link to the mesh, or the rewritten file for Gmsh. */
typedef struct workplace {
    char directory[PATH_MAX];
    char link[PATH_MAX + LINK_BYTES];
    int lock; /* the directory, locked as long as this process lives */
} workplace;

/* What fem_mesh_abandon ends and removes.  A signal handler has no other access to it.  The process reads one mesh at a time. */
static const workplace *volatile place_in_use;
static volatile pid_t child_in_use;

struct fem_mesh_reader {
    yoke_context *context;
    pid_t process;
    int request, pipe;
    int used, ended;
};

typedef struct reading {
    yoke_context *context;
    const char *path; /* for messages */
    fem_mesh_reader *reader;
    int64_t memory_bytes;
    double cpu_s, end_s; /* end_s: on yoke_clock_s */
    int late, status;    /* status: from waitpid; -1: unknown */
} reading;

/* Blocks signals while something is created and then recorded for fem_mesh_abandon, so that no signal arrives between the two. */
static void hold_signals(sigset_t *before)
{
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &both, before);
}

static void let_signals(const sigset_t *before) { pthread_sigmask(SIG_SETMASK, before, NULL); }

/* -------------------------------------------------------------------------------------------- workplace */

/* Returns 0 on success. */
static int write_text(const fem_mesh_file *file, const char *path)
{
    FILE *to = fopen(path, "wx");
    if (!to) return -1;
    int failed = fwrite(file->text, 1, (size_t)file->text_bytes, to) != (size_t)file->text_bytes;
    return (fclose(to) != 0) || failed ? -1 : 0;
}

/* Removes the files made by yoke from a directory of this name, and the directory, unless another process holds its lock. */
static void remove_if_left(int parent, const char *name)
{
    struct stat about;
    int place = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (place < 0) return;
    DIR *directory = NULL;
    if (fstat(place, &about) == 0 && about.st_uid == geteuid() && flock(place, LOCK_EX | LOCK_NB) == 0) directory = fdopendir(place);
    if (!directory) {
        close(place);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(directory));)
        if (!strncmp(entry->d_name, "mesh", 4)) unlinkat(place, entry->d_name, 0);
    unlinkat(parent, name, AT_REMOVEDIR); /* fails if the directory holds other files */
    closedir(directory);
}

/* Removes the directories of processes that were killed before they could do so. */
static void remove_left(const char *parent)
{
    size_t length = strlen(WORKPLACE_NAME);
    DIR *directory = opendir(parent);
    if (!directory) return;
    for (const struct dirent *entry; (entry = readdir(directory));)
        if (!strncmp(entry->d_name, WORKPLACE_NAME, length) && strlen(entry->d_name) == length + 6)
            remove_if_left(dirfd(directory), entry->d_name);
    closedir(directory);
}

/* Makes the directory and locks it.  Another process may remove it as abandoned before it is locked; then another directory is made. */
static int make_directory(const char *parent, workplace *place)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        struct stat about;
        int length = snprintf(place->directory, sizeof place->directory, "%s/" WORKPLACE_NAME "XXXXXX", parent);
        errno = ENAMETOOLONG;
        if (length < 0 || (size_t)length >= sizeof place->directory || !mkdtemp(place->directory)) return -1;
        place->lock = open(place->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (place->lock < 0) continue;
        int locked = flock(place->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; /* a file system may not support locks */
        if (locked && stat(place->directory, &about) == 0) return 0;
        close(place->lock);
    }
    return -1;
}

static yoke_status make_workplace(yoke_context *context, const fem_mesh_file *file, workplace *place)
{
    const char *parent = getenv("TMPDIR");
    if (!parent || parent[0] != '/') parent = "/tmp";
    remove_left(parent);
    if (make_directory(parent, place) != 0)
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "no directory can be made in '%s': %s; set TMPDIR to one that is writable", parent,
                         strerror(errno));
    snprintf(place->link, sizeof place->link, "%s/mesh%s", place->directory, file->extension);
    if (file->text ? write_text(file, place->link) : symlink(file->absolute_path, place->link)) {
        int error = errno;
        unlink(place->link);
        rmdir(place->directory);
        close(place->lock);
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "no file can be made in '%s': %s", place->directory, strerror(error));
    }
    place_in_use = place;
    return YOKE_OK;
}

static void remove_workplace(const workplace *place)
{
    unlink(place->link);
    rmdir(place->directory);
    place_in_use = NULL;
    close(place->lock);
}

void fem_mesh_abandon(void)
{
    const workplace *place = place_in_use;
    if (child_in_use > 0) kill(child_in_use, SIGKILL);
    if (!place) return;
    unlink(place->link);
    rmdir(place->directory);
}

/* ------------------------------------------------------------------------------------------- the program */

static int set_if_executable(char *program, size_t size, const char *directory, const char *rest)
{
    int length = snprintf(program, size, "%s%s", directory, rest);
    return length > 0 && (size_t)length < size && access(program, X_OK) == 0;
}

static yoke_status find_program(yoke_context *context, char *program, size_t size)
{
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = 0;
    char *slash = strrchr(own, '/');
    if (slash) {
        *slash = 0;
        static const char *const places[] = {"/yoke-fem-mesh", "/../libexec/yoke/yoke-fem-mesh", "/../bin/yoke-fem-mesh"};
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            if (set_if_executable(program, size, own, places[i])) return YOKE_OK;
    }
#ifdef FEM_MESH_READER
    if (set_if_executable(program, size, FEM_MESH_READER, "")) return YOKE_OK;
#endif
    return yoke_fail(context, YOKE_ERROR_SYSTEM,
                     "the program yoke-fem-mesh, which reads meshes, was not found beside '%s'; install yoke again", own);
}

/* Starts the program: its standard input is the socket, its standard output the pipe.  It inherits nothing else from this process. */
static int spawn(const char *program, int input, int output, pid_t *process)
{
    char *arguments[] = {(char *)program, NULL};

    /* The environment is small, so that the user's settings do not change how a file is read, and no MPI launcher is contacted. */
    char libraries[2 * PATH_MAX];
    const char *library_path = getenv("LD_LIBRARY_PATH");
    if (library_path) snprintf(libraries, sizeof libraries, "LD_LIBRARY_PATH=%s", library_path);
    char *environment[] = {
        "LC_ALL=C", "PATH=/usr/bin:/bin", "HOME=/dev/null", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", library_path ? libraries : NULL,
        NULL};

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
        if (!error) error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        if (!error) error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        if (!error) error = posix_spawn(process, program, &actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/*
 * Moves the descriptors beyond the standard streams, which may be closed, and sets close-on-exec, so that no other program inherits them.
 * Returns 0 or errno.
 */
static int make_private(int ends[2])
{
    int low[2] = {ends[0], ends[1]}, error = 0;
    for (int i = 0; i < 2; i++) ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (ends[0] < 0 || ends[1] < 0) error = errno;
    for (int i = 0; i < 2; i++) {
        close(low[i]);
        if (error && ends[i] >= 0) close(ends[i]);
    }
    return error;
}

static int start_process(const char *program, fem_mesh_reader *reader)
{
    int requests[2], stream[2];
    int error = socketpair(AF_UNIX, SOCK_STREAM, 0, requests) ? errno : make_private(requests);
    if (error) return error;
    error = pipe(stream) ? errno : make_private(stream);
    if (!error) {
        error = spawn(program, requests[1], stream[1], &reader->process);
        close(stream[1]);
        if (error) close(stream[0]);
    }
    close(requests[1]);
    if (error) {
        close(requests[0]);
        return error;
    }
    reader->request = requests[0];
    reader->pipe = stream[0];
    return 0;
}

yoke_status fem_mesh_reader_start(yoke_context *context, fem_mesh_reader **reader)
{
    char program[PATH_MAX];
    fem_mesh_reader *made = NULL;
    yoke_status status = find_program(context, program, sizeof program);
    if (!status) status = yoke_allocate(context, 1, sizeof *made, &made);
    if (status) return status;
    made->context = context;
    sigset_t before;
    hold_signals(&before);
    int error = start_process(program, made);
    if (!error) child_in_use = made->process;
    let_signals(&before);
    if (error) {
        yoke_release(context, made);
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "'%s' cannot be started: %s", program, strerror(error));
    }
    *reader = made;
    return YOKE_OK;
}

/*
 * Ends the process: it is no longer needed.  If it has already ended, its exit status is unaffected.  Returns the status of waitpid, or -1
 * if it is unknown.
 */
static int end_process(fem_mesh_reader *reader)
{
    int state = -1;
    pid_t done;
    kill(reader->process, SIGKILL);
    do done = waitpid(reader->process, &state, 0);
    while (done < 0 && errno == EINTR);
    child_in_use = 0;
    reader->ended = 1;
    close(reader->request);
    close(reader->pipe);
    return done < 0 ? -1 : state;
}

void fem_mesh_reader_destroy(fem_mesh_reader *reader)
{
    if (!reader) return;
    if (!reader->ended) end_process(reader);
    yoke_release(reader->context, reader);
}

/* Errors are ignored: if the process has already ended, its stream shows this. */
static void send_request(const reading *run, const char *link)
{
    run->reader->used = 1;
    char request[REQUEST_BYTES];
    int length = snprintf(request, sizeof request, "%lld %.0f %s", (long long)run->memory_bytes, ceil(run->cpu_s), link);
    send(run->reader->request, request, (size_t)length, MSG_NOSIGNAL);
    shutdown(run->reader->request, SHUT_WR);
}

/* ------------------------------------------------------------------------------------------------ stream */

static yoke_status grow(reading *run, fem_mesh_stream *stream, int64_t *capacity)
{
    unsigned char *larger = NULL;
    yoke_status status = yoke_allocate_untouched(run->context, 2 * *capacity, 1, &larger);
    if (status) return status;
    memcpy(larger, stream->bytes, (size_t)stream->count);
    yoke_release(run->context, stream->bytes);
    stream->bytes = larger;
    *capacity *= 2;
    return YOKE_OK;
}

/* Waits for bytes to read.  Returns 1 if there are some, 0 after the time limit. */
static int wait_for_bytes(reading *run)
{
    for (;;) {
        double left_s = run->end_s - yoke_clock_s();
        if (!(left_s > 0)) return 0;
        struct pollfd wanted = {run->reader->pipe, POLLIN, 0};
        int ready = poll(&wanted, 1, left_s < 3600 ? (int)(1000 * left_s) + 1 : 3600000);
        if (ready > 0 || (ready < 0 && errno != EINTR)) return 1;
    }
}

static yoke_status read_stream(reading *run, fem_mesh_stream *stream)
{
    int64_t capacity = FIRST_STREAM_BYTES;
    yoke_status status = yoke_allocate_untouched(run->context, capacity, 1, &stream->bytes);
    while (!status) {
        if (!wait_for_bytes(run)) {
            run->late = 1;
            break;
        }
        ssize_t got = read(run->reader->pipe, stream->bytes + stream->count, (size_t)(capacity - stream->count));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return yoke_fail(run->context, YOKE_ERROR_SYSTEM, "mesh '%s': reading from yoke-fem-mesh failed: %s", run->path,
                             strerror(errno));
        if (got == 0) break;
        stream->count += got;
        if (stream->count > run->memory_bytes)
            return yoke_fail(run->context, YOKE_ERROR_INPUT,
                             "mesh '%s' gives more data than its size allows (%lld bytes): the file is damaged", run->path,
                             (long long)run->memory_bytes);
        if (stream->count == capacity) status = grow(run, stream, &capacity);
    }
    return status;
}

static int is_complete(const fem_mesh_stream *stream)
{
    fem_wire_record last;
    if (stream->count < (int64_t)sizeof last) return 0;
    memcpy(&last, stream->bytes + stream->count - sizeof last, sizeof last);
    return last.kind == FEM_WIRE_END;
}

static yoke_status explain(const reading *run)
{
    const char *path = run->path;
    int signal = run->status != -1 && WIFSIGNALED(run->status) ? WTERMSIG(run->status) : 0;
    if (run->late || signal == SIGXCPU)
        return yoke_fail(run->context, YOKE_ERROR_INPUT,
                         "mesh '%s': Gmsh did not finish within %g s: the file is damaged, or too large for one "
                         "coarse mesh (refine in yoke instead)",
                         path, run->cpu_s);
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP)
        return yoke_fail(run->context, YOKE_ERROR_INTERRUPTED, "mesh '%s': reading was interrupted", path);
    if (signal)
        return yoke_fail(run->context, YOKE_ERROR_INPUT,
                         "mesh '%s': Gmsh crashed on it (signal %d) or needed more than %lld MiB: the file is "
                         "damaged; write it again, best as MSH 4.1",
                         path, signal, (long long)(run->memory_bytes >> 20));
    return yoke_fail(run->context, YOKE_ERROR_INPUT, "mesh '%s': Gmsh failed on it without a reason: the file is damaged; write it again",
                     path);
}

static void set_options(reading *run, const fem_mesh_file *file, const fem_mesh_options *options)
{
    static const int64_t gibibyte = (int64_t)1 << 30;
    int64_t by_size = file->bytes < (INT64_MAX >> 8) ? 64 * file->bytes : INT64_MAX >> 1;
    run->memory_bytes = options && options->memory_bytes > 0 ? options->memory_bytes : 4 * gibibyte + by_size;
    run->cpu_s = options && options->seconds > 0 && options->seconds < 1e6 ? options->seconds : 120;
    /* Wall-clock time includes waiting for a slow disk. */
    run->end_s = yoke_clock_s() + 2 * run->cpu_s;
}

yoke_status fem_mesh_run_reader(yoke_context *context, const char *path, const fem_mesh_file *file, const fem_mesh_options *options,
                                fem_mesh_stream *stream)
{
    reading run = {.context = context, .path = path, .status = -1};
    fem_mesh_stream got = {NULL, 0};
    fem_mesh_reader *own = NULL;
    workplace *place = NULL;
    set_options(&run, file, options);
    yoke_status status = yoke_allocate(context, 1, sizeof *place, &place);
    if (status) return status;
    sigset_t before;
    hold_signals(&before);
    status = make_workplace(context, file, place);
    let_signals(&before);
    if (!status) {
        run.reader = options ? options->reader : NULL;
        if (!run.reader || run.reader->used) status = fem_mesh_reader_start(context, &own);
        if (own) run.reader = own;
        if (!status) {
            send_request(&run, place->link);
            status = read_stream(&run, &got);
            int complete = !status && is_complete(&got);
            if (!complete) run.status = end_process(run.reader); /* otherwise it ends while the mesh is processed */
            if (!status && !complete) status = explain(&run);
        }
        remove_workplace(place);
    }
    fem_mesh_reader_destroy(own);
    yoke_release(context, place);
    if (status)
        yoke_release(context, got.bytes);
    else
        *stream = got;
    return status;
}
