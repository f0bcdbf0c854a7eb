/*
 * yoke-fem-mesh: opens one mesh file with Gmsh and writes nodes, elements and groups to standard output (wire.h).
 *
 * It is a separate program, started by yoke-fem, because damaged files crash or hang Gmsh, because it can then run under limits, and
 * because Gmsh's start-up is slow.  It trusts nothing, prints nothing, and exits without Gmsh's clean-up.
 *
 *     yoke-fem-mesh <<<'MEMORY_BYTES CPU_SECONDS FILE'
 *
 * yoke-fem writes the request to standard input as soon as it is known, and closes the input; Gmsh is loaded meanwhile.  FILE is a link
 * that yoke-fem created in an otherwise empty directory, because Gmsh would run a file FILE.opt in the same directory as a script.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mesh/file/reader_gmsh.h"
#include "mesh/file/wire.h"

/* Sanitizers reserve terabytes of address space that they do not use. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RESERVES_ADDRESSES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RESERVES_ADDRESSES 1
#endif
#endif

static FILE *stream;
static mesh_reader_gmsh gmsh;

static void set_limit(int resource, rlim_t value)
{
    struct rlimit limit = {value, value};
    setrlimit(resource, &limit);
}

/*
 * Disables core files, limits the size of written files to a few kilobytes, and forbids new processes.  Only a script in a mesh file would
 * need these.
 */
static void set_fixed_limits(void)
{
    set_limit(RLIMIT_CORE, 0);
    /*
     * FLTK, which Gmsh uses, may rewrite its preferences file (about 100 bytes).  A write beyond the limit must fail, but must not end the
     * process.
     */
    signal(SIGXFSZ, SIG_IGN);
    set_limit(RLIMIT_FSIZE, 4096);
    set_limit(RLIMIT_NPROC, 0);
}

static void set_limits(long long memory_bytes, long long cpu)
{
#ifdef RESERVES_ADDRESSES
    memory_bytes = 0;
#endif
    if (memory_bytes > 0) set_limit(RLIMIT_AS, (rlim_t)memory_bytes);
    if (cpu > 0) set_limit(RLIMIT_CPU, (rlim_t)cpu);
}

/* Reads the request up to the end of standard input.  Returns the file that it names, or NULL if the request is incomplete. */
static const char *read_request(char *request, size_t size, long long *memory_bytes, long long *cpu)
{
    size_t length = 0;
    ssize_t got;
    int file = 0;
    while (length < size - 1 && (got = read(STDIN_FILENO, request + length, size - 1 - length)) > 0) length += (size_t)got;
    request[length] = 0;
    return sscanf(request, "%lld %lld %n", memory_bytes, cpu, &file) == 2 && file > 0 && request[file] ? request + file : NULL;
}

/* Closes all descriptors inherited from the parent except 0, 1 and 2. */
static void close_inherited(void)
{
    DIR *directory = opendir("/proc/self/fd");
    if (!directory) return;
    int own = dirfd(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        int descriptor = atoi(entry->d_name);
        if (descriptor > 2 && descriptor != own) close(descriptor);
    }
    closedir(directory);
}

/* Moves the pipe to another descriptor, because Gmsh and its libraries may print to standard output. */
static int open_stream(void)
{
    int pipe = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY);
    if (pipe < 0 || null < 0 || dup2(null, STDOUT_FILENO) < 0) return -1;
    close(null);
    stream = fdopen(pipe, "wb");
    return stream ? 0 : -1;
}

static void put(const void *bytes, size_t count) { fwrite(bytes, 1, count, stream); }

static void put_padding(size_t bytes)
{
    static const char zeros[8];
    put(zeros, (8 - bytes % 8) % 8);
}

static void put_record(int kind, int dimension, int64_t tag, int64_t type, int64_t count)
{
    fem_wire_record record = {kind, dimension, tag, type, count};
    put(&record, sizeof record);
}

static void put_tags(const size_t *tags, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t tag = (int64_t)tags[i];
        put(&tag, sizeof tag);
    }
}

/* yoke-fem has received everything once the pipe is closed.  _exit saves the time of releasing memory. */
static void leave(int code)
{
    int failed = fclose(stream);
    _exit(failed ? 1 : code);
}

static void put_failure(const char *text)
{
    size_t bytes = strlen(text);
    put_record(FEM_WIRE_FAILURE, 0, 0, 0, (int64_t)bytes);
    put(text, bytes);
    put_padding(bytes);
}

static void fail(const char *text)
{
    put_failure(text);
    put_record(FEM_WIRE_END, 0, 0, 0, 0);
    leave(0);
}

/* Whether the error only says that loading failed, and names the link to the file, which means nothing to the user. */
static int tells_nothing(const char *error)
{
    static const char *const beginnings[] = {"Error loading ", "Could not merge file "};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(error, beginnings[i], strlen(beginnings[i])) == 0) return 1;
    return 0;
}

/*
 * Returns the first informative error in Gmsh's log, which is the cause; if there is none, the first error; NULL if the log has no error.
 */
static const char *first_error(void)
{
    char **log = NULL;
    size_t count = 0;
    int failed = 0;
    const char *first = NULL;
    gmsh.LoggerGet(&log, &count, &failed);
    for (size_t i = 0; !failed && i < count; i++) {
        if (strncmp(log[i], "Error: ", 7) != 0) continue;
        if (!tells_nothing(log[i] + 7)) return log[i] + 7;
        if (!first) first = log[i] + 7;
    }
    return first;
}

static void check(int failed)
{
    if (!failed) return;
    const char *text = first_error();
    fail(text && !tells_nothing(text) ? text : "it does not say why; the file is probably damaged: write it again");
}

/* Debian builds Gmsh without the MED library. */
static void check_med(const char *file)
{
    size_t length = strlen(file);
    if (length < 4 || strcmp(file + length - 4, ".med") != 0) return;
    int failed = 0;
    char *options = NULL;
    gmsh.OptionGetString("General.BuildOptions", &options, &failed);
    check(failed);
    char list[4096];
    snprintf(list, sizeof list, " %s ", options);
    if (!strstr(list, " Med ") && !strstr(list, " Med["))
        fail("this machine's Gmsh was built without support for MED files; save the mesh as MSH 4.1");
}

static void start_gmsh(void)
{
    int failed = 0;
    const char *why = mesh_reader_open_gmsh(&gmsh);
    if (why) fail(why);
#if GMSH_API_VERSION_MAJOR > 4 || (GMSH_API_VERSION_MAJOR == 4 && GMSH_API_VERSION_MINOR >= 9)
    gmsh.Initialize(0, NULL, 0, 0, &failed);
#else
    gmsh.Initialize(0, NULL, 0, &failed);
#endif
    check(failed);
    gmsh.OptionSetNumber("General.Terminal", 0, &failed);
    gmsh.OptionSetNumber("General.NumThreads", 1, &failed);
    gmsh.OptionSetNumber("General.AbortOnError", 0, &failed);
    gmsh.LoggerStart(&failed);
    check(failed);
}

static void open_file(const char *file)
{
    int failed = 0;
    check_med(file);
    gmsh.Merge(file, &failed);
    check(failed);
    check(first_error() != NULL);
}

static void put_nodes(void)
{
    size_t *tags = NULL, count = 0, coordinates = 0, parameters = 0;
    double *x = NULL, *parameter = NULL;
    int failed = 0;
    gmsh.ModelMeshGetNodes(&tags, &count, &x, &coordinates, &parameter, &parameters, -1, -1, 0, 0, &failed);
    check(failed);
    if (coordinates != 3 * count) fail("Gmsh returned nodes without coordinates");
    put_record(FEM_WIRE_NODES, 0, 0, 0, (int64_t)count);
    put_tags(tags, count);
    put(x, coordinates * sizeof *x);
    gmsh.Free(tags);
    gmsh.Free(x);
    gmsh.Free(parameter);
}

/* Numbers of faces and volumes returned by Gmsh, by number of corners; numbers of blocks of unsupported element types, by dimension. */
static int64_t returned[9], unknown[4];

static void count_elements(int dimension, int type, size_t count)
{
    int corners = fem_wire_corners(type);
    if (dimension < 2) return;
    if (corners == 4 && dimension == 2) corners = 0; /* quadrangles */
    if (fem_wire_nodes(type) > 0)
        returned[corners] += (int64_t)count;
    else
        unknown[dimension]++;
}

/* If one entity has elements of one shape but of two orders, Gmsh returns only the elements that have the type of the first one. */
static void check_all_returned(void)
{
    static const struct {
        const char *option;
        int dimension, corners;
    } shapes[] = {{"Mesh.NbTriangles", 2, 3},
                  {"Mesh.NbQuadrangles", 2, 0},
                  {"Mesh.NbTetrahedra", 3, 4},
                  {"Mesh.NbPrisms", 3, 6},
                  {"Mesh.NbHexahedra", 3, 8}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        double count = 0;
        int failed = 0;
        gmsh.OptionGetNumber(shapes[i].option, &count, &failed);
        check(failed);
        if (unknown[shapes[i].dimension] == 0 && count != (double)returned[shapes[i].corners])
            fail("elements of first and of second order are mixed in one volume or face: save all of them with one order");
    }
}

/* Counts the elements of an entity and, if they are wanted, writes them. */
static void put_elements(int dimension, int entity, int wanted)
{
    int *types = NULL, failed = 0;
    size_t **tags = NULL, *tag_counts = NULL, **nodes = NULL, *node_counts = NULL, count = 0, tag_lists = 0, node_lists = 0;
    gmsh.ModelMeshGetElements(&types, &count, &tags, &tag_counts, &tag_lists, &nodes, &node_counts, &node_lists, dimension, entity,
                              &failed);
    check(failed);
    for (size_t i = 0; i < count; i++) {
        size_t per_element = (size_t)fem_wire_nodes(types[i]);
        count_elements(dimension, types[i], tag_counts[i]);
        if (per_element > 0 && node_counts[i] != per_element * tag_counts[i]) fail("Gmsh returned elements without their nodes");
        if (wanted) {
            put_record(FEM_WIRE_ELEMENTS, dimension, entity, types[i], (int64_t)tag_counts[i]);
            put_tags(tags[i], tag_counts[i]);
            put_tags(nodes[i], per_element * tag_counts[i]);
        }
        gmsh.Free(tags[i]);
        gmsh.Free(nodes[i]);
    }
    gmsh.Free(types);
    gmsh.Free(tags);
    gmsh.Free(tag_counts);
    gmsh.Free(nodes);
    gmsh.Free(node_counts);
}

static void put_group(int dimension, int tag)
{
    char *name = NULL;
    int *entities = NULL, failed = 0;
    size_t count = 0;
    gmsh.ModelGetPhysicalName(dimension, tag, &name, &failed);
    check(failed);
    gmsh.ModelGetEntitiesForPhysicalGroup(dimension, tag, &entities, &count, &failed);
    check(failed);
    size_t bytes = strlen(name);
    put_record(FEM_WIRE_GROUP, dimension, tag, (int64_t)bytes, (int64_t)count);
    put(name, bytes);
    put_padding(bytes);
    for (size_t i = 0; i < count; i++) {
        int64_t entity = entities[i];
        put(&entity, sizeof entity);
    }
    gmsh.Free(name);
    gmsh.Free(entities);
}

static int in_a_group(int dimension, int entity)
{
    int *groups = NULL, failed = 0;
    size_t count = 0;
    gmsh.ModelGetPhysicalGroupsForEntity(dimension, entity, &groups, &count, &failed);
    check(failed);
    gmsh.Free(groups);
    return count > 0;
}

/* ----------------------------------------------------------------------------------------------- partitions */

/* Whether the entity has ghost elements: elements of a neighbouring partition that this partition also stores. */
static int is_ghost(int dimension, int entity)
{
    char *type = NULL;
    int failed = 0;
    gmsh.ModelGetType(dimension, entity, &type, &failed);
    check(failed);
    int ghost = strncmp(type, "Ghost", 5) == 0;
    gmsh.Free(type);
    return ghost;
}

/*
 * Returns the number of partitions stated in a file of MSH 4.x, or 0 if it states none.  Gmsh's API does not return this number, which
 * stands before all nodes.
 */
static int64_t stated_partitions(const char *path)
{
    static const char section[] = "$PartitionedEntities";
    int64_t stated = 0;
    int binary = 0;
    size_t capacity = 0;
    char *line = NULL;
    FILE *file = fopen(path, "rb");
    for (int number = 0; file && getline(&line, &capacity, file) > 0 && strncmp(line, "$Nodes", 6) != 0; number++) {
        if (number == 0 && strncmp(line, "$MeshFormat", 11) != 0) break;
        if (number == 1) sscanf(line, "%*f %d", &binary);
        if (strncmp(line, section, sizeof section - 1) != 0) continue;
        uint64_t count = 0;
        if (binary ? fread(&count, sizeof count, 1, file) == 1 : fscanf(file, "%" SCNu64, &count) == 1)
            stated = count < INT32_MAX ? (int64_t)count : INT32_MAX;
        break;
    }
    free(line);
    if (file) fclose(file);
    return stated;
}

/* Whether volume elements of this partition are present. */
static int holds_partition(const int *entities, size_t count, int64_t partition)
{
    int found = 0;
    for (size_t i = 0; i + 1 < count && !found; i += 2) {
        int *partitions = NULL, failed = 0;
        size_t num_partitions = 0;
        if (entities[i] != 3 || is_ghost(3, entities[i + 1])) continue;
        gmsh.ModelGetPartitions(3, entities[i + 1], &partitions, &num_partitions, &failed);
        check(failed);
        for (size_t k = 0; k < num_partitions; k++) found |= partitions[k] == partition;
        gmsh.Free(partitions);
    }
    return found;
}

/* If a mesh is saved in several files, one for each partition, then each file holds only a part of the body. */
static void check_partitions(const char *path, const int *entities, size_t count)
{
    int64_t stated = stated_partitions(path);
    char text[200];
    for (int64_t k = 1; k <= stated; k++) {
        if (holds_partition(entities, count, k)) continue;
        snprintf(text, sizeof text,
                 "the file lacks partition %lld of %lld, and thereby a part of the body: save the mesh in one file "
                 "(Mesh.PartitionSplitMeshFiles = 0)",
                 (long long)k, (long long)stated);
        fail(text);
    }
}

/* Writes the groups, all volumes, and those entities of lower dimension that belong to a group; in a file without groups, all faces. */
static void put_model(const char *path)
{
    int *groups = NULL, *entities = NULL, failed = 0;
    size_t num_groups = 0, num_entities = 0;
    gmsh.ModelGetPhysicalGroups(&groups, &num_groups, -1, &failed);
    check(failed);
    for (size_t i = 0; i + 1 < num_groups; i += 2) put_group(groups[i], groups[i + 1]);
    gmsh.ModelGetEntities(&entities, &num_entities, -1, &failed);
    check(failed);
    check_partitions(path, entities, num_entities);
    for (size_t i = 0; i + 1 < num_entities; i += 2) {
        int dimension = entities[i], entity = entities[i + 1];
        int wanted = !is_ghost(dimension, entity) && (dimension == 3 || (num_groups == 0 ? dimension == 2 : in_a_group(dimension, entity)));
        if (wanted || dimension >= 2) put_elements(dimension, entity, wanted);
    }
    check_all_returned();
    gmsh.Free(groups);
    gmsh.Free(entities);
}

int main(int argc, char **argv)
{
    static char request[2 * PATH_MAX];
    long long memory_bytes = 0, cpu = 0;
    (void)argv;
    if (argc != 1) {
        fputs("yoke-fem-mesh is started by yoke-fem: see yoke fem --help\n", stderr);
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* the parent, which waits for the mesh, may be killed */
    close_inherited();
    if (open_stream() != 0) return 1;
    set_fixed_limits();
    start_gmsh();
    const char *file = read_request(request, sizeof request, &memory_bytes, &cpu);
    if (!file) return 2;
    set_limits(memory_bytes, cpu);
    open_file(file);
    put_nodes();
    put_model(file);
    put_record(FEM_WIRE_END, 0, 0, 0, 0);
    leave(0);
}
