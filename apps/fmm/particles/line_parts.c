#include "particles/line_parts.h"

#include <omp.h>
#include <string.h>

enum {
    PARTS = 4,             /* for each thread */
    LEAST_BYTES = 1 << 16, /* of a part */
    LONGEST_LINE = 1 << 12 /* with longer ones there is one part: each thread has memory for a line */
};

/* The number of parts of so many bytes. */
static int64_t count_of(const fmm_lines *lines, int64_t bytes)
{
    const int64_t most = PARTS * (int64_t)omp_get_max_threads(), parts = bytes / LEAST_BYTES;
    if (lines->longest > LONGEST_LINE || parts < 1) return 1;
    return parts < most ? parts : most;
}

/* The offset of the first line that begins at `at` or after it, at most `end`. */
static int64_t line_from(const fmm_lines *lines, int64_t at, int64_t end)
{
    if (at == 0 || lines->bytes[at - 1] == '\n') return at;
    const char *found = memchr(lines->bytes + at, '\n', (size_t)(end - at));
    return found ? found + 1 - lines->bytes : end;
}

/* Counts the lines of a part: all, and the wanted ones. */
static void count_lines(const fmm_line_parts *parts, const fmm_line_part *part, int64_t *all, int64_t *wanted)
{
    const char *const bytes = parts->lines->bytes;
    *all = *wanted = 0;
    for (int64_t at = part->begin.at; at < part->end; ++*all) {
        const char *end = memchr(bytes + at, '\n', (size_t)(part->end - at));
        *wanted += !parts->is_wanted || parts->is_wanted(bytes + at);
        at = end ? end + 1 - bytes : part->end;
    }
}

yoke_status fmm_line_parts_create(fmm_lines *lines, int64_t end, bool (*is_wanted)(const char *line), fmm_line_parts *parts)
{
    const int64_t begin = lines->next.at, last = end < lines->size ? end : lines->size, bytes = last > begin ? last - begin : 0;
    *parts = (fmm_line_parts){.lines = lines, .is_wanted = is_wanted, .count = count_of(lines, bytes)};
    yoke_status status = yoke_allocate(lines->context, parts->count, sizeof *parts->part, &parts->part);
    if (status) return status;
    for (int64_t k = 0; k < parts->count; k++) {
        fmm_line_part *part = &parts->part[k];
        part->begin.at = k ? parts->part[k - 1].end : begin;
        part->end = k + 1 < parts->count ? line_from(lines, begin + bytes * (k + 1) / parts->count, last) : begin + bytes;
        if (part->end < part->begin.at) part->end = part->begin.at; /* one line is longer than a part */
    }
#pragma omp parallel for schedule(dynamic)
    for (int64_t k = 0; k < parts->count; k++) count_lines(parts, &parts->part[k], &parts->part[k].begin.before, &parts->part[k].first);
    int64_t before = lines->next.before;
    for (int64_t k = 0; k < parts->count; k++) {
        fmm_line_part *part = &parts->part[k];
        const int64_t all = part->begin.before, wanted = part->first;
        part->begin.before = before, part->first = parts->wanted;
        before += all, parts->wanted += wanted;
    }
    return YOKE_OK;
}

void fmm_line_parts_release(fmm_line_parts *parts)
{
    if (parts->lines) yoke_release(parts->lines->context, parts->part);
    parts->part = NULL;
}

static yoke_status read_part(const fmm_line_parts *parts, fmm_lines *lines, fmm_line_part *part, fmm_line_reader *read, void *user)
{
    yoke_status status = YOKE_OK;
    lines->next = part->begin;
    part->used = 0;
    for (int64_t i = part->first; lines->next.at < part->end && !status;) {
        char *line = fmm_lines_next(lines);
        if (!parts->is_wanted || parts->is_wanted(line)) status = read(lines, part, line, i++, user);
    }
    return status;
}

/* Reads the parts with all threads, without messages.  Returns the number of the first part with an error; their number: none has one. */
static int64_t read_concurrently(const fmm_line_parts *parts, int64_t room, char *line, fmm_line_reader *read, void *user)
{
    int64_t failed = parts->count;
#pragma omp parallel
    {
        fmm_lines own = *parts->lines;
        own.context = NULL; /* errors of a thread are its own */
        own.line = line + omp_get_thread_num() * room;
#pragma omp for schedule(dynamic) reduction(min : failed)
        for (int64_t k = 0; k < parts->count; k++)
            if (read_part(parts, &own, &parts->part[k], read, user) && k < failed) failed = k;
    }
    return failed;
}

yoke_status fmm_line_parts_read(fmm_line_parts *parts, fmm_line_reader *read, void *user)
{
    fmm_lines *lines = parts->lines;
    const int64_t room = (lines->longest + 64) / 64 * 64; /* threads do not share cache lines */
    int64_t first = 0;
    if (parts->count > 1) {
        char *line = NULL;
        yoke_status status = yoke_allocate(lines->context, omp_get_max_threads() * room, 1, &line);
        if (status) return status;
        first = read_concurrently(parts, room, line, read, user);
        yoke_release(lines->context, line);
    }
    /* Again in sequence from the first error on, for its message. */
    yoke_status status = YOKE_OK;
    for (int64_t k = first; k < parts->count && !status; k++) status = read_part(parts, lines, &parts->part[k], read, user);
    return status;
}
