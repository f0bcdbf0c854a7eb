/* Cards of BDF files, cut into fields. */
#include "mesh/file/bdf.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAME_COLUMNS = 8 };

/*
 * One line, cut into fields: the name or continuation mark in its first field, the data fields, and the mark in its last field, which the
 * next line may repeat.
 */
typedef struct line_fields {
    char first[FEM_BDF_FIELD_BYTES], mark[FEM_BDF_FIELD_BYTES];
    int wanted; /* data fields of a line of this kind: 8, or 4 in large-field format */
    char field[8][FEM_BDF_FIELD_BYTES];
} line_fields;

static yoke_status fail_at(const fem_bdf_reader *reader, const char *text)
{
    return yoke_fail(reader->context, YOKE_ERROR_INPUT, "mesh '%s' line %lld: %s", reader->path, (long long)reader->line, text);
}

/* ------------------------------------------------------------------------------------------------- lines */

static void skip_rest(FILE *file)
{
    int c;
    do c = getc(file);
    while (c != EOF && c != '\n');
}

/* Expands each tab to the next column that is a multiple of 8. */
static yoke_status expand_tabs(fem_bdf_reader *reader, const char *raw)
{
    size_t column = 0;
    for (; *raw; raw++) {
        size_t to = *raw == '\t' ? (column / 8 + 1) * 8 : column + 1;
        if (to >= sizeof reader->text) return fail_at(reader, "the line is too long");
        while (column < to) reader->text[column++] = *raw == '\t' ? ' ' : *raw;
    }
    while (column > 0 && isspace((unsigned char)reader->text[column - 1])) column--;
    reader->text[column] = 0;
    return YOKE_OK;
}

yoke_status fem_bdf_next_line(fem_bdf_reader *reader, int *more)
{
    char raw[FEM_BDF_LINE_BYTES];
    *more = 1;
    if (reader->ahead) {
        reader->ahead = 0;
        return YOKE_OK;
    }
    for (;;) {
        if (!fgets(raw, sizeof raw, reader->file)) break;
        reader->line++;
        size_t comment = strcspn(raw, "$");
        int whole = strchr(raw, '\n') != NULL || feof(reader->file);
        if (!whole && !raw[comment]) return fail_at(reader, "the line is too long");
        if (!whole) skip_rest(reader->file);
        raw[comment] = 0;
        yoke_status status = expand_tabs(reader, raw);
        if (status || reader->text[0]) return status;
    }
    *more = 0;
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------ fields */

/* Copies a field without the blanks around it.  Returns 0 if the field is too long. */
static int copy_field(const char *from, size_t width, char field[FEM_BDF_FIELD_BYTES])
{
    while (width > 0 && isspace((unsigned char)*from)) from++, width--;
    while (width > 0 && isspace((unsigned char)from[width - 1])) width--;
    if (width >= FEM_BDF_FIELD_BYTES) return 0;
    memcpy(field, from, width);
    field[width] = 0;
    return 1;
}

static int cut_free(const char *text, line_fields *cut)
{
    size_t width = strcspn(text, ",");
    int good = copy_field(text, width, cut->first);
    cut->wanted = strchr(cut->first, '*') ? 4 : 8;
    text += width;
    for (int k = 0; *text == ',' && good; k++) {
        width = strcspn(++text, ",");
        char beyond[FEM_BDF_FIELD_BYTES];
        good = copy_field(text, width, k < cut->wanted ? cut->field[k] : k == cut->wanted ? cut->mark : beyond);
        if (k > cut->wanted && good) good = beyond[0] == 0;
        text += width;
    }
    return good;
}

static int cut_fixed(const char *text, line_fields *cut)
{
    size_t length = strlen(text), first = length < NAME_COLUMNS ? length : NAME_COLUMNS;
    copy_field(text, first, cut->first);
    cut->wanted = strchr(cut->first, '*') ? 4 : 8;
    size_t each = cut->wanted == 4 ? 16 : 8, at = NAME_COLUMNS;
    for (int k = 0; k <= cut->wanted && at < length; k++, at += each) {
        size_t width = k == cut->wanted ? 8 : each;
        copy_field(text + at, length - at < width ? length - at : width, k == cut->wanted ? cut->mark : cut->field[k]);
    }
    return 1;
}

static yoke_status cut_line(const fem_bdf_reader *reader, line_fields *cut)
{
    *cut = (line_fields){.wanted = 8};
    if (reader->text[0] == '=' || strstr(reader->text, "*(") || strstr(reader->text, ",="))
        return fail_at(reader, "replicated cards (=) are not read: let the pre-processor write each card");
    if (reader->text[0] == '/') return fail_at(reader, "cards that delete others (/) are not read: write the file without them");
    if (!(strchr(reader->text, ',') ? cut_free(reader->text, cut) : cut_fixed(reader->text, cut)))
        return fail_at(reader, "a field is longer than 31 characters, or there are more than a line has (8, or 4 large ones)");
    return YOKE_OK;
}

static int continues(const line_fields *cut) { return cut->first[0] == 0 || cut->first[0] == '+' || cut->first[0] == '*'; }

/* Returns the mark without its leading + or *. */
static const char *bare(const char *mark) { return mark + (*mark == '+' || *mark == '*'); }

static void take_fields(const line_fields *cut, fem_bdf_card *card)
{
    for (int k = 0; k < cut->wanted; k++) {
        int to = ++card->count;
        if (to <= FEM_BDF_FIELDS) memcpy(card->field[to], cut->field[k], sizeof cut->field[k]);
    }
}

static yoke_status take_name(const fem_bdf_reader *reader, const line_fields *cut, fem_bdf_card *card)
{
    size_t length = strcspn(cut->first, "* ");
    if (length >= sizeof card->name) return fail_at(reader, "the card's name is too long");
    for (size_t i = 0; i < length; i++) card->name[i] = (char)toupper((unsigned char)cut->first[i]);
    return YOKE_OK;
}

yoke_status fem_bdf_next(fem_bdf_reader *reader, fem_bdf_card *card, int *more)
{
    line_fields cut;
    char mark[FEM_BDF_FIELD_BYTES];
    memset(card, 0, sizeof *card);
    yoke_status status = fem_bdf_next_line(reader, more);
    if (status || !*more) return status;
    card->line = reader->line;
    status = cut_line(reader, &cut);
    if (!status && continues(&cut))
        return yoke_fail(reader->context, YOKE_ERROR_INPUT,
                         "mesh '%s' line %lld: this line continues none: continuation lines must follow the line that they continue",
                         reader->path, (long long)reader->line);
    if (!status) status = take_name(reader, &cut, card);
    if (status) return status;
    *more = strcmp(card->name, "ENDDATA") != 0;
    take_fields(&cut, card);
    memcpy(mark, cut.mark, sizeof mark);
    for (int another = *more; another;) {
        status = fem_bdf_next_line(reader, &another);
        if (status || !another) return status;
        status = cut_line(reader, &cut);
        if (status) return status;
        if (!continues(&cut)) {
            reader->ahead = 1;
            if (bare(mark)[0] && cut.first[0])
                return yoke_fail(reader->context, YOKE_ERROR_INPUT,
                                 "mesh '%s' line %lld: the %s is continued by '%s', which does not follow: continuation lines must follow "
                                 "the line that they continue",
                                 reader->path, (long long)card->line, card->name, mark);
            return YOKE_OK;
        }
        if (strcasecmp(bare(mark), bare(cut.first)) != 0 && bare(cut.first)[0])
            return yoke_fail(reader->context, YOKE_ERROR_INPUT,
                             "mesh '%s' line %lld: the continuation '%s' follows a line that is continued by '%s': continuation lines must "
                             "follow the line that they continue",
                             reader->path, (long long)reader->line, cut.first, mark);
        take_fields(&cut, card);
        memcpy(mark, cut.mark, sizeof mark);
    }
    return YOKE_OK;
}

/* ----------------------------------------------------------------------------------------------- numbers */

static yoke_status not_a_number(const fem_bdf_reader *reader, const fem_bdf_card *card, int k, const char *kind)
{
    char text[FEM_BDF_FIELD_BYTES];
    for (int i = 0; i < FEM_BDF_FIELD_BYTES; i++)
        text[i] = card->field[k][i] == 0 || isprint((unsigned char)card->field[k][i]) ? card->field[k][i] : '?';
    return yoke_fail(reader->context, YOKE_ERROR_INPUT, "mesh '%s' line %lld: %s has '%s' in field %d, where %s is expected", reader->path,
                     (long long)card->line, card->name, text, k + 1, kind);
}

yoke_status fem_bdf_integer(const fem_bdf_reader *reader, const fem_bdf_card *card, int k, int64_t blank, int64_t *value)
{
    const char *text = card->field[k];
    char *end = NULL;
    *value = blank;
    if (!*text) return YOKE_OK;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return *end || errno ? not_a_number(reader, card, k, "an integer") : YOKE_OK;
}

/* NASTRAN writes exponents with E, with D, or with only a sign. */
yoke_status fem_bdf_real(const fem_bdf_reader *reader, const fem_bdf_card *card, int k, double *value)
{
    const char *from = card->field[k];
    char text[2 * FEM_BDF_FIELD_BYTES], *end = NULL; /* an E may be inserted before each character */
    int length = 0, digits = 0;
    *value = 0;
    if (!*from) return YOKE_OK;
    for (int i = 0; from[i]; i++) {
        int c = toupper((unsigned char)from[i]);
        if (c == 'D') c = 'E';
        if (!strchr("0123456789.+-E", c)) return not_a_number(reader, card, k, "a number");
        if ((c == '+' || c == '-') && digits > 0 && text[length - 1] != 'E') text[length++] = 'E';
        digits += isdigit(c) != 0;
        text[length++] = (char)c;
    }
    text[length] = 0;
    *value = strtod(text, &end);
    return *end || digits == 0 ? not_a_number(reader, card, k, "a number") : YOKE_OK;
}
