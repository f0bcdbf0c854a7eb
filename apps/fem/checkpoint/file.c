#include "checkpoint/file.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <zlib.h>

#include "common/file.h"
#include "space/forest.h"

/* The head of a file, in the byte order of the machine that wrote it. */
typedef struct head {
    char magic[8];
    uint32_t version, byte_order;
    uint64_t state_bytes, leaves, nodes; /* state_bytes: of the JSON text */
    uint32_t components, has_indicators;
    uint32_t checksum[4]; /* CRC-32 of the sections: state, levels, values, indicators */
    uint32_t reserved;
    uint32_t own_checksum; /* of all before it */
} head;

enum { SECTIONS = 4, VERSION = 1, ALIGNMENT = 8 };
static const char magic[8] = {'y', 'o', 'k', 'e', 'f', 'e', 'm', '\x1a'};
static const uint32_t byte_order = 0x01020304;

/* One after the other in the file, each filled up with zeros to a multiple of ALIGNMENT bytes. */
typedef struct section {
    void *data;
    size_t bytes;
} section;

static uint32_t checksum_of(const void *data, size_t bytes) { return (uint32_t)crc32_z(crc32_z(0, NULL, 0), data, bytes); }

static uint32_t head_checksum(const head *h) { return checksum_of(h, offsetof(head, own_checksum)); }

static size_t padding(size_t bytes) { return (ALIGNMENT - bytes % ALIGNMENT) % ALIGNMENT; }

static void list_sections(const fem_checkpoint *c, char *state, size_t state_bytes, section sections[SECTIONS])
{
    const size_t leaves = (size_t)c->num_leaves, values = (size_t)c->num_nodes * (size_t)c->components;
    sections[0] = (section){state, state_bytes};
    sections[1] = (section){c->level, leaves};
    sections[2] = (section){c->value, values * sizeof(double)};
    sections[3] = (section){c->indicator, c->indicator ? leaves * sizeof(double) : 0};
}

/* ------------------------------------------------------------------------------------------------- writing */

static void write_sections(FILE *out, const head *h, const section sections[SECTIONS])
{
    static const char zeros[ALIGNMENT] = {0};
    fwrite(h, sizeof *h, 1, out);
    for (int i = 0; i < SECTIONS && !ferror(out); i++) { /* what fails is seen when the file is committed */
        if (sections[i].bytes) fwrite(sections[i].data, 1, sections[i].bytes, out);
        fwrite(zeros, 1, padding(sections[i].bytes), out);
    }
}

yoke_status fem_checkpoint_write(const fem_checkpoint *checkpoint, const char *path)
{
    app_file *file = NULL;
    section sections[SECTIONS];
    char *state = json_dumps(checkpoint->state, JSON_COMPACT);
    if (!state) return yoke_fail(checkpoint->context, YOKE_ERROR_MEMORY, "out of memory for the state of %s", path);
    list_sections(checkpoint, state, strlen(state), sections);
    head h = {.version = VERSION,
              .byte_order = byte_order,
              .state_bytes = sections[0].bytes,
              .leaves = (uint64_t)checkpoint->num_leaves,
              .nodes = (uint64_t)checkpoint->num_nodes,
              .components = (uint32_t)checkpoint->components,
              .has_indicators = checkpoint->indicator != NULL};
    memcpy(h.magic, magic, sizeof magic);
    for (int i = 0; i < SECTIONS; i++) h.checksum[i] = checksum_of(sections[i].data, sections[i].bytes);
    h.own_checksum = head_checksum(&h);
    yoke_status status = app_file_create(checkpoint->context, path, &file);
    if (!status) {
        write_sections(app_file_stream(file), &h, sections);
        status = app_file_commit(file);
    }
    json_free_t release = NULL;
    json_get_alloc_funcs(NULL, &release);
    release(state);
    return status;
}

/* ------------------------------------------------------------------------------------------------- reading */

static yoke_status fail(const fem_checkpoint *c, const char *path, const char *what)
{
    return yoke_fail(c->context, YOKE_ERROR_INPUT, "%s: %s", path, what);
}

/* What can be told by the head alone, and by the file's size. */
static yoke_status check_head(const fem_checkpoint *c, const char *path, const head *h, int64_t file_bytes)
{
    if (memcmp(h->magic, magic, sizeof magic) != 0) return fail(c, path, "is no checkpoint of yoke fem");
    if (h->byte_order != byte_order) return fail(c, path, "was written on a machine with another order of bytes");
    if (h->version != VERSION)
        return yoke_fail(c->context, YOKE_ERROR_INPUT, "%s: has version %u of the format, this yoke fem reads version %d", path,
                         (unsigned)h->version, VERSION);
    if (h->own_checksum != head_checksum(h)) return fail(c, path, "is damaged: the checksum of its head is wrong");
    if (h->leaves < 1 || h->leaves > INT32_MAX || h->nodes < 1 || h->nodes > INT32_MAX || h->state_bytes > INT32_MAX ||
        (h->components != 1 && h->components != 3) || h->has_indicators > 1)
        return fail(c, path, "is damaged: its sizes make no sense");
    const size_t sizes[SECTIONS] = {h->state_bytes, h->leaves, h->nodes * h->components * sizeof(double),
                                    h->has_indicators * h->leaves * sizeof(double)};
    size_t bytes = sizeof *h;
    for (int i = 0; i < SECTIONS; i++) bytes += sizes[i] + padding(sizes[i]);
    if ((int64_t)bytes != file_bytes)
        return yoke_fail(c->context, YOKE_ERROR_INPUT, "%s: is damaged: it has %lld bytes, and its head says %lld", path,
                         (long long)file_bytes, (long long)bytes);
    return YOKE_OK;
}

static yoke_status allocate(fem_checkpoint *c, const head *h, char **state)
{
    c->num_leaves = (int64_t)h->leaves;
    c->num_nodes = (int64_t)h->nodes;
    c->components = (int)h->components;
    yoke_status status = yoke_allocate(c->context, (int64_t)h->state_bytes + 1, 1, state);
    if (!status) status = yoke_allocate(c->context, c->num_leaves, 1, &c->level);
    if (!status) status = yoke_allocate(c->context, c->num_nodes * c->components, sizeof(double), &c->value);
    if (!status && h->has_indicators) status = yoke_allocate(c->context, c->num_leaves, sizeof(double), &c->indicator);
    return status;
}

static yoke_status read_sections(const fem_checkpoint *c, const char *path, FILE *in, const head *h, char *state)
{
    static const char *const names[SECTIONS] = {"state", "levels", "values", "indicators"};
    section sections[SECTIONS];
    char filling[ALIGNMENT];
    list_sections(c, state, h->state_bytes, sections);
    for (int i = 0; i < SECTIONS; i++) {
        const size_t fill = padding(sections[i].bytes);
        if (sections[i].bytes && fread(sections[i].data, 1, sections[i].bytes, in) != sections[i].bytes)
            return fail(c, path, "cannot be read to its end");
        if (fread(filling, 1, fill, in) != fill) return fail(c, path, "cannot be read to its end");
        if (checksum_of(sections[i].data, sections[i].bytes) != h->checksum[i])
            return yoke_fail(c->context, YOKE_ERROR_INPUT, "%s: is damaged: the checksum of its %s is wrong", path, names[i]);
    }
    return YOKE_OK;
}

/* Checksums do not tell of a file that was made by somebody else. */
static yoke_status check_contents(fem_checkpoint *c, const char *path, const char *state, size_t state_bytes)
{
    for (int64_t i = 0; i < c->num_leaves; i++)
        if (c->level[i] < 0 || c->level[i] > FEM_MAX_LEVEL || (c->indicator && !(c->indicator[i] >= 0 && isfinite(c->indicator[i]))))
            return fail(c, path, "is damaged: a level or an indicator makes no sense");
    for (int64_t i = 0; i < c->num_nodes * c->components; i++)
        if (!isfinite(c->value[i])) return fail(c, path, "is damaged: a value is not finite");
    c->state = json_loadb(state, state_bytes, 0, NULL);
    return json_is_object(c->state) ? YOKE_OK : fail(c, path, "is damaged: its state is no JSON object");
}

static yoke_status read_stream(fem_checkpoint *c, const char *path, FILE *in)
{
    head h;
    struct stat about;
    char *state = NULL;
    if (fstat(fileno(in), &about) != 0 || !S_ISREG(about.st_mode)) return fail(c, path, "is no regular file");
    if (fread(&h, sizeof h, 1, in) != 1) return fail(c, path, "is damaged: it is cut off");
    yoke_status status = check_head(c, path, &h, (int64_t)about.st_size);
    if (!status) status = allocate(c, &h, &state);
    if (!status) status = read_sections(c, path, in, &h, state);
    if (!status) status = check_contents(c, path, state, h.state_bytes);
    yoke_release(c->context, state);
    return status;
}

yoke_status fem_checkpoint_read(yoke_context *context, const char *path, fem_checkpoint **out)
{
    fem_checkpoint *c = NULL;
    FILE *in = fopen(path, "re");
    if (!in) return yoke_fail(context, YOKE_ERROR_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    yoke_status status = yoke_allocate(context, 1, sizeof *c, &c);
    if (!status) {
        c->context = context;
        status = read_stream(c, path, in);
    }
    fclose(in);
    if (status)
        fem_checkpoint_destroy(c);
    else
        *out = c;
    return status;
}

void fem_checkpoint_destroy(fem_checkpoint *checkpoint)
{
    if (!checkpoint) return;
    json_decref(checkpoint->state);
    yoke_release(checkpoint->context, checkpoint->level);
    yoke_release(checkpoint->context, checkpoint->value);
    yoke_release(checkpoint->context, checkpoint->indicator);
    yoke_release(checkpoint->context, checkpoint);
}
