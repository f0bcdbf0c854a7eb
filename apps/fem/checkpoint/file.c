#define _XOPEN_SOURCE 700 /* fseeko */

#include "checkpoint/file.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include <zlib.h>

#include "common/files/file.h"
#include "space/forest/forest.h"

/* The head of a file, in the byte order of the machine that wrote it. */
typedef struct head {
    char magic[8];
    uint32_t version, byte_order;
    uint64_t state_bytes, leaves, nodes; /* state_bytes: of the JSON text */
    uint32_t components, has_indicators;
    uint32_t checksum[4]; /* CRC-32 of the sections: state, levels, values, indicators */
    uint32_t reserved;
    uint32_t own_checksum; /* of all members before it */
} head;

/* The sections follow one another in the file, each padded with zeros to a multiple of ALIGNMENT bytes. */
enum { STATE, LEVELS, VALUES, INDICATORS, SECTIONS };
enum { VERSION = 1, ALIGNMENT = 8, BLOCK = 1 << 16 };
static const char magic[8] = {'y', 'o', 'k', 'e', 'f', 'e', 'm', '\x1a'};
static const uint32_t byte_order = 0x01020304;

static uint32_t add_checksum(uint32_t checksum, const void *data, size_t bytes) { return (uint32_t)crc32_z(checksum, data, bytes); }

static uint32_t head_checksum(const head *h) { return add_checksum(0, h, offsetof(head, own_checksum)); }

static size_t padding(size_t bytes) { return (ALIGNMENT - bytes % ALIGNMENT) % ALIGNMENT; }

static void section_sizes(const head *h, size_t sizes[SECTIONS])
{
    sizes[STATE] = h->state_bytes;
    sizes[LEVELS] = h->leaves;
    sizes[VALUES] = h->nodes * h->components * sizeof(double);
    sizes[INDICATORS] = h->has_indicators * h->leaves * sizeof(double);
}

/* ------------------------------------------------------------------------------------------------- writing */

typedef struct writer {
    yoke_context *context;
    const fem_checkpoint_part *part;
    int64_t *sizes; /* [ranks][2] leaves and nodes of each rank */
    double *buffer; /* for the numbers of another rank; only on rank 0, otherwise NULL */
    head h;
    FILE *out; /* errors are detected when the file is committed */
} writer;

static void write_bytes(writer *w, int section, const void *data, size_t bytes)
{
    if (!bytes || ferror(w->out)) return;
    fwrite(data, 1, bytes, w->out);
    w->h.checksum[section] = add_checksum(w->h.checksum[section], data, bytes);
}

static void end_section(writer *w, size_t bytes)
{
    static const char zeros[ALIGNMENT] = {0};
    fwrite(zeros, 1, padding(bytes), w->out);
}

/* Rank 0 writes the numbers of all ranks, in their order; kind 0: indicators, 1: values.  Collective, even after a failed write. */
static void write_numbers(writer *w, int section, const double *mine, int kind, int columns)
{
    const fem_checkpoint_part *part = w->part;
    for (int r = 0; r < app_ranks_count(part->ranks); r++) {
        const size_t bytes = (size_t)w->sizes[2 * r + kind] * (size_t)columns * sizeof *mine;
        app_ranks_send_to_first(part->ranks, r, mine, w->buffer, (int64_t)bytes);
        if (w->out) write_bytes(w, section, r ? w->buffer : mine, bytes);
    }
}

/* Writes the levels of all ranks, one byte each. */
static yoke_status write_levels(writer *w)
{
    void *levels = NULL;
    int64_t count = 0;
    if (app_ranks_count(w->part->ranks) == 1) {
        write_bytes(w, LEVELS, w->part->level, (size_t)w->part->num_leaves);
        return YOKE_OK;
    }
    yoke_status status = app_ranks_collect(w->part->ranks, w->part->level, w->part->num_leaves, &levels, &count);
    if (!status && w->out) write_bytes(w, LEVELS, levels, (size_t)count);
    yoke_release(w->context, levels);
    return status;
}

static yoke_status write_sections(writer *w, const char *state)
{
    const fem_checkpoint_part *part = w->part;
    size_t sizes[SECTIONS];
    section_sizes(&w->h, sizes);
    if (w->out) {
        fwrite(&w->h, sizeof w->h, 1, w->out);
        write_bytes(w, STATE, state, sizes[STATE]);
        end_section(w, sizes[STATE]);
    }
    yoke_status status = app_ranks_agree(part->ranks, write_levels(w));
    if (status) return status;
    if (w->out) end_section(w, sizes[LEVELS]);
    write_numbers(w, VALUES, part->value, 1, part->components);
    if (part->indicator) write_numbers(w, INDICATORS, part->indicator, 0, 1);
    if (w->out) {
        w->h.own_checksum = head_checksum(&w->h);
        if (fseeko(w->out, 0, SEEK_SET) == 0) fwrite(&w->h, sizeof w->h, 1, w->out);
    }
    return YOKE_OK;
}

static yoke_status prepare(writer *w)
{
    const fem_checkpoint_part *part = w->part;
    const int ranks = app_ranks_count(part->ranks);
    const int64_t mine[2] = {part->num_leaves, part->num_nodes};
    int64_t most = 0;
    yoke_status status = app_ranks_agree(part->ranks, yoke_allocate(w->context, 2 * ranks, sizeof *w->sizes, &w->sizes));
    if (status) return status;
    app_ranks_gather(part->ranks, mine, sizeof mine, w->sizes);
    w->h = (head){
        .version = VERSION, .byte_order = byte_order, .components = (uint32_t)part->components, .has_indicators = part->indicator != NULL};
    memcpy(w->h.magic, magic, sizeof magic);
    for (int r = 0; r < ranks; r++) {
        w->h.leaves += (uint64_t)w->sizes[2 * r];
        w->h.nodes += (uint64_t)w->sizes[2 * r + 1];
        if (r > 0 && w->sizes[2 * r + 1] * part->components > most) most = w->sizes[2 * r + 1] * part->components;
        if (r > 0 && w->sizes[2 * r] > most) most = w->sizes[2 * r];
    }
    if (app_ranks_number(part->ranks) == 0) status = yoke_allocate_untouched(w->context, most, sizeof *w->buffer, &w->buffer);
    return app_ranks_agree(part->ranks, status);
}

static yoke_status write_file(writer *w, const char *path)
{
    app_ranks *ranks = w->part->ranks;
    app_file *file = NULL;
    char *state = NULL;
    yoke_status status = YOKE_OK;
    if (app_ranks_number(ranks) == 0) {
        state = json_dumps(w->part->state, JSON_COMPACT);
        status = state ? app_file_create(w->context, path, &file)
                       : yoke_fail(w->context, YOKE_ERROR_MEMORY, "out of memory for the state of %s", path);
    }
    status = app_ranks_agree(ranks, status);
    if (state) w->h.state_bytes = strlen(state);
    if (file) w->out = app_file_stream(file);
    if (!status) status = write_sections(w, state);
    if (file && !status)
        status = app_file_commit(file);
    else
        app_file_abandon(file);
    json_free_t release = NULL;
    json_get_alloc_funcs(NULL, &release);
    if (state) release(state);
    return app_ranks_agree(ranks, status);
}

yoke_status fem_checkpoint_write(yoke_context *context, const fem_checkpoint_part *part, const char *path)
{
    writer w = {.context = context, .part = part};
    yoke_status status = prepare(&w);
    if (!status) status = write_file(&w, path);
    yoke_release(context, w.sizes);
    yoke_release(context, w.buffer);
    return status;
}

/* ------------------------------------------------------------------------------------------------- reading */

static yoke_status fail(const fem_checkpoint *c, const char *path, const char *what)
{
    return yoke_fail(c->context, YOKE_ERROR_INPUT, "%s: %s", path, what);
}

/* Checks what can be checked from the head and the file's size alone. */
static yoke_status check_head(const fem_checkpoint *c, const char *path, const head *h, int64_t file_bytes)
{
    if (memcmp(h->magic, magic, sizeof magic) != 0) return fail(c, path, "is no checkpoint of yoke fem");
    if (h->byte_order != byte_order) return fail(c, path, "was written on a machine of another byte order");
    if (h->version != VERSION)
        return yoke_fail(c->context, YOKE_ERROR_INPUT, "%s: has version %u of the format, this yoke fem reads version %d", path,
                         (unsigned)h->version, VERSION);
    if (h->own_checksum != head_checksum(h)) return fail(c, path, "is damaged: the checksum of its head is wrong");
    if (h->leaves < 1 || h->leaves > INT32_MAX || h->nodes < 1 || h->nodes > INT64_C(1) << 40 || h->state_bytes > INT32_MAX ||
        (h->components != 1 && h->components != 3) || h->has_indicators > 1)
        return fail(c, path, "is damaged: its sizes are invalid");
    size_t sizes[SECTIONS], bytes = sizeof *h;
    section_sizes(h, sizes);
    for (int i = 0; i < SECTIONS; i++) bytes += sizes[i] + padding(sizes[i]);
    if ((int64_t)bytes != file_bytes)
        return yoke_fail(c->context, YOKE_ERROR_INPUT, "%s: is damaged: it has %lld bytes, and its head says %lld", path,
                         (long long)file_bytes, (long long)bytes);
    return YOKE_OK;
}

/* Checks values whose checksums are right: the file may have been made by another program. */
static bool make_sense(int section, const void *block, size_t bytes)
{
    const double *numbers = block;
    const int8_t *levels = block;
    for (size_t i = 0; section == LEVELS && i < bytes; i++)
        if (levels[i] < 0 || levels[i] > FEM_MAX_LEVEL) return false;
    for (size_t i = 0; section >= VALUES && i < bytes / sizeof *numbers; i++)
        if (!isfinite(numbers[i]) || (section == INDICATORS && numbers[i] < 0)) return false;
    return true;
}

static yoke_status check_section(const fem_checkpoint *c, const char *path, const head *h, int section, size_t bytes)
{
    static const char *const names[SECTIONS] = {"state", "levels", "values", "indicators"};
    double block[BLOCK / sizeof(double)];
    uint32_t checksum = 0;
    bool sensible = true;
    for (size_t left = bytes; left > 0;) {
        const size_t count = left < sizeof block ? left : sizeof block;
        if (fread(block, 1, count, c->in) != count) return fail(c, path, "cannot be read to its end");
        checksum = add_checksum(checksum, block, count);
        sensible = sensible && make_sense(section, block, count);
        left -= count;
    }
    if (checksum != h->checksum[section])
        return yoke_fail(c->context, YOKE_ERROR_INPUT, "%s: is damaged: the checksum of its %s is wrong", path, names[section]);
    if (!sensible) return yoke_fail(c->context, YOKE_ERROR_INPUT, "%s: is damaged: its %s are invalid", path, names[section]);
    return fread(block, 1, padding(bytes), c->in) == padding(bytes) ? YOKE_OK : fail(c, path, "cannot be read to its end");
}

static yoke_status read_state(fem_checkpoint *c, const char *path, const head *h)
{
    char *state = NULL;
    yoke_status status = yoke_allocate(c->context, (int64_t)h->state_bytes + 1, 1, &state);
    if (!status) status = yoke_allocate(c->context, c->num_leaves, 1, &c->level);
    if (!status && (fseeko(c->in, sizeof *h, SEEK_SET) != 0 || fread(state, 1, h->state_bytes, c->in) != h->state_bytes ||
                    fseeko(c->in, (off_t)padding(h->state_bytes), SEEK_CUR) != 0 || fread(c->level, 1, h->leaves, c->in) != h->leaves))
        status = fail(c, path, "cannot be read to its end");
    if (!status) c->state = json_loadb(state, h->state_bytes, 0, NULL);
    if (!status && !json_is_object(c->state)) status = fail(c, path, "is damaged: its state is no JSON object");
    yoke_release(c->context, state);
    return status;
}

static yoke_status read_file(fem_checkpoint *c, const char *path, int check)
{
    head h;
    struct stat about;
    size_t sizes[SECTIONS];
    if (fstat(fileno(c->in), &about) != 0 || !S_ISREG(about.st_mode)) return fail(c, path, "is no regular file");
    if (fread(&h, sizeof h, 1, c->in) != 1) return fail(c, path, "is damaged: it is cut off");
    yoke_status status = check_head(c, path, &h, (int64_t)about.st_size);
    if (status) return status;
    section_sizes(&h, sizes);
    for (int i = 0; i < SECTIONS && check && !status; i++) status = check_section(c, path, &h, i, sizes[i]);
    c->num_leaves = (int64_t)h.leaves;
    c->num_nodes = (int64_t)h.nodes;
    c->components = (int)h.components;
    c->solved = (int)h.has_indicators;
    c->values_at = (int64_t)(sizeof h + sizes[STATE] + padding(sizes[STATE]) + sizes[LEVELS] + padding(sizes[LEVELS]));
    c->indicators_at = c->values_at + (int64_t)sizes[VALUES];
    return status ? status : read_state(c, path, &h);
}

yoke_status fem_checkpoint_open(yoke_context *context, const char *path, int check, fem_checkpoint **out)
{
    fem_checkpoint *c = NULL;
    FILE *in = fopen(path, "re");
    if (!in) return yoke_fail(context, YOKE_ERROR_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    yoke_status status = yoke_allocate(context, 1, sizeof *c, &c);
    if (status) {
        fclose(in);
        return status;
    }
    c->context = context;
    c->in = in;
    status = read_file(c, path, check);
    if (status)
        fem_checkpoint_close(c);
    else
        *out = c;
    return status;
}

static yoke_status read_numbers(const fem_checkpoint *c, int64_t at, int64_t first, int64_t count, int64_t all, int columns,
                                double *numbers)
{
    if (first < 0 || count < 0 || first > all - count)
        return yoke_fail(c->context, YOKE_ERROR_ARGUMENT, "a checkpoint has %lld items; %lld from %lld on were asked for", (long long)all,
                         (long long)count, (long long)first);
    const size_t wanted = (size_t)count * (size_t)columns;
    if (fseeko(c->in, (off_t)(at + first * columns * (int64_t)sizeof *numbers), SEEK_SET) == 0 &&
        fread(numbers, sizeof *numbers, wanted, c->in) == wanted)
        return YOKE_OK;
    return yoke_fail(c->context, YOKE_ERROR_SYSTEM, "a checkpoint cannot be read: %s", strerror(errno));
}

yoke_status fem_checkpoint_read_values(const fem_checkpoint *c, int64_t first, int64_t count, double *value)
{
    return read_numbers(c, c->values_at, first, count, c->num_nodes, c->components, value);
}

yoke_status fem_checkpoint_read_indicators(const fem_checkpoint *c, int64_t first, int64_t count, double *indicator)
{
    return read_numbers(c, c->indicators_at, first, count, c->solved ? c->num_leaves : 0, 1, indicator);
}

void fem_checkpoint_close(fem_checkpoint *checkpoint)
{
    if (!checkpoint) return;
    json_decref(checkpoint->state);
    yoke_release(checkpoint->context, checkpoint->level);
    fclose(checkpoint->in);
    yoke_release(checkpoint->context, checkpoint);
}
