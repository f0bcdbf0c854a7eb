#include "particles/lines.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FIRST_BYTES = 1 << 16 };

/* Reads everything up to the end.  The size of the file is only a first estimate, because it may be a pipe or grow. */
static yoke_status read_all(fmm_lines *lines, FILE *in)
{
    struct stat about;
    int64_t capacity = 0, first = FIRST_BYTES;
    if (fstat(fileno(in), &about) == 0 && S_ISREG(about.st_mode)) first = (int64_t)about.st_size + 2;
    for (;;) {
        yoke_status status = YOKE_OK;
        if (lines->size + 1 >= capacity) status = yoke_grow(lines->context, &lines->bytes, capacity, &capacity, first, 1);
        if (status) return status;
        size_t got = fread(lines->bytes + lines->size, 1, (size_t)(capacity - lines->size - 1), in);
        lines->size += (int64_t)got;
        if (got == 0) break;
    }
    lines->bytes[lines->size] = 0;
    if (ferror(in)) return yoke_fail(lines->context, YOKE_ERROR_INPUT, "%s: cannot be read: %s", lines->path, strerror(errno));
    return YOKE_OK;
}

/* The length of the line that begins at `at`, without its LF. */
static int64_t length_at(const fmm_lines *lines, int64_t at)
{
    const char *end = memchr(lines->bytes + at, '\n', (size_t)(lines->size - at));
    return end ? end - lines->bytes - at : lines->size - at;
}

static yoke_status check_text(const fmm_lines *lines)
{
    const char *zero = memchr(lines->bytes, 0, (size_t)lines->size);
    int64_t line = 1;
    if (!zero) return YOKE_OK;
    for (const char *c = lines->bytes; c < zero; c++) line += *c == '\n';
    return yoke_fail(lines->context, YOKE_ERROR_INPUT, "%s:%lld: a byte of value 0: this is no text file", lines->path, (long long)line);
}

static yoke_status make_room(fmm_lines *lines)
{
    for (int64_t at = 0, length; at < lines->size; at += length + 1) {
        length = length_at(lines, at);
        if (length > lines->longest) lines->longest = length;
    }
    return yoke_allocate(lines->context, lines->longest + 1, 1, &lines->line);
}

yoke_status fmm_lines_read(yoke_context *context, const char *path, fmm_lines *lines)
{
    const bool standard = !strcmp(path, "-");
    *lines = (fmm_lines){.context = context, .path = standard ? "standard input" : path};
    FILE *in = standard ? stdin : fopen(path, "rb");
    if (!in) return yoke_fail(context, YOKE_ERROR_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
    yoke_status status = read_all(lines, in);
    if (!standard) fclose(in);
    if (!status) status = check_text(lines);
    if (!status) status = make_room(lines);
    if (status)
        fmm_lines_release(lines);
    else if (!strncmp(lines->bytes, "\xEF\xBB\xBF", 3)) /* spreadsheets begin UTF-8 with these bytes */
        lines->next.at = 3;
    return status;
}

void fmm_lines_release(fmm_lines *lines)
{
    yoke_release(lines->context, lines->bytes);
    yoke_release(lines->context, lines->line);
    lines->bytes = lines->line = NULL;
}

int64_t fmm_lines_skip(fmm_lines *lines, int64_t count)
{
    int64_t skipped = 0;
    for (; skipped < count && lines->next.at < lines->size; skipped++) lines->next.at += length_at(lines, lines->next.at) + 1;
    lines->next.before += skipped;
    return skipped;
}

char *fmm_lines_next(fmm_lines *lines)
{
    if (lines->next.at >= lines->size) return NULL;
    int64_t length = length_at(lines, lines->next.at);
    memcpy(lines->line, lines->bytes + lines->next.at, (size_t)length);
    if (length > 0 && lines->line[length - 1] == '\r')
        lines->line[length - 1] = 0;
    else
        lines->line[length] = 0;
    lines->next.at += length + 1;
    lines->next.before++;
    return lines->line;
}

yoke_status fmm_lines_fail(const fmm_lines *lines, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    for (char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c)) *c = '?'; /* words of the file may contain them, and a terminal might interpret them */
    return yoke_fail(lines->context, YOKE_ERROR_INPUT, "%s:%lld: %s", lines->path, (long long)lines->next.before, text);
}

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }

static int cut_words(char *line, int most, char **fields)
{
    int count = 0;
    for (char *c = line;;) {
        while (blank(*c)) c++;
        if (!*c) return count;
        if (count < most) fields[count] = c;
        count++;
        while (*c && !blank(*c)) c++;
        if (*c) *c++ = 0;
    }
}

static int cut_commas(char *line, int most, char **fields)
{
    int count = 0;
    for (char *c = line; c;) {
        char *next = strchr(c, ',');
        if (next) *next++ = 0;
        while (blank(*c)) c++;
        char *end = c + strlen(c);
        while (end > c && blank(end[-1])) *--end = 0;
        if (end > c + 1 && *c == '"' && end[-1] == '"') *--end = 0, c++;
        if (count < most) fields[count] = c;
        count++;
        c = next;
    }
    return count;
}

int fmm_fields_cut(char *line, bool comma, int most, char **fields)
{
    return comma ? cut_commas(line, most, fields) : cut_words(line, most, fields);
}

bool fmm_field_is_number(const char *field)
{
    char *end;
    strtod(field, &end);
    return end != field && (!*end || *end == ',' || blank(*end));
}

yoke_status fmm_lines_number(const fmm_lines *lines, const char *field, const char *what, double *value)
{
    char *end;
    if (strpbrk(field, "xX")) return fmm_lines_fail(lines, "%s is \"%.40s\"; expected a decimal number", what, field);
    errno = 0;
    *value = strtod(field, &end);
    if (end == field || *end) return fmm_lines_fail(lines, "%s is \"%.40s\"; expected a number", what, field);
    if (!isfinite(*value)) return fmm_lines_fail(lines, "%s is %.40s; it must be finite, and below 1.8e308", what, field);
    if (*value == 0 && errno == ERANGE)
        return fmm_lines_fail(lines, "%s is %.40s, which is smaller than the least double; write 0, or choose other units", what, field);
    return YOKE_OK;
}
