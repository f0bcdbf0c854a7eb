#include "matrix/npy_header.h"

#include <stdio.h>
#include <string.h>

enum { DESCR, ORDER, SHAPE, KEYS, WORD = 48 };

typedef struct parser {
    yoke_context *context;
    const char *path, *begin, *at;
    dense_npy_header header;
} parser;

static yoke_status fail(const parser *p, const char *expected)
{
    return yoke_fail(p->context, YOKE_ERROR_INPUT, "%s: its header is damaged: %s expected at byte %lld of \"%.100s\"", p->path, expected,
                     (long long)(p->at - p->begin), p->begin);
}

static void skip_blanks(parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r') p->at++;
}

/* Skips blanks, and consumes the character if it is next.  Returns whether it was. */
static int take(parser *p, char character)
{
    skip_blanks(p);
    if (*p->at != character) return 0;
    p->at++;
    return 1;
}

/* Reads a string in quotes of either kind. */
static yoke_status read_text(parser *p, char word[WORD], const char *expected)
{
    skip_blanks(p);
    const char quote = *p->at;
    if (quote != '\'' && quote != '"') return fail(p, expected);
    const char *end = strchr(p->at + 1, quote);
    if (!end || end - p->at - 1 >= WORD) return fail(p, expected);
    snprintf(word, WORD, "%.*s", (int)(end - p->at - 1), p->at + 1);
    p->at = end + 1;
    return YOKE_OK;
}

static yoke_status read_descr(parser *p)
{
    char word[WORD];
    yoke_status status = read_text(p, word, "a type such as '<f8' (and no list of fields)");
    if (status) return status;
    if (strlen(word) == 3 && strchr("<>=|", word[0]) && word[1] == 'f' && (word[2] == '4' || word[2] == '8') && word[0] != '|') {
        const uint16_t one = 1;
        unsigned char first;
        memcpy(&first, &one, 1);
        p->header.big_endian = word[0] == '>' || (word[0] == '=' && first != 1);
        p->header.precision = word[2] == '8' ? DENSE_DOUBLE : DENSE_SINGLE;
        return YOKE_OK;
    }
    return yoke_fail(p->context, YOKE_ERROR_INPUT,
                     "%s has numbers of type '%s'; float64 ('<f8') and float32 ('<f4') are read: convert them, as in a.astype(float)",
                     p->path, word);
}

static yoke_status read_order(parser *p)
{
    skip_blanks(p);
    p->header.by_columns = !strncmp(p->at, "True", 4);
    if (!p->header.by_columns && strncmp(p->at, "False", 5) != 0) return fail(p, "True or False");
    p->at += p->header.by_columns ? 4 : 5;
    return YOKE_OK;
}

static yoke_status read_side(parser *p, int64_t *side)
{
    int64_t value = 0;
    skip_blanks(p);
    if (*p->at < '0' || *p->at > '9') return fail(p, "a number of rows or columns");
    for (; *p->at >= '0' && *p->at <= '9'; p->at++)
        if (value <= DENSE_MAX_SIDE) value = 10 * value + (*p->at - '0'); /* further digits do not matter: it is too large anyway */
    if (*p->at == 'L') p->at++;                                           /* written by Python 2 */
    *side = value;
    return YOKE_OK;
}

static yoke_status read_shape(parser *p)
{
    int64_t sides[2] = {0, 0}, side = 0;
    int count = 0;
    if (!take(p, '(')) return fail(p, "( of the shape");
    while (!take(p, ')')) {
        yoke_status status = read_side(p, &side);
        if (status) return status;
        if (count < 2) sides[count] = side;
        count++;
        if (take(p, ',')) continue;
        if (!take(p, ')')) return fail(p, ", or ) of the shape");
        break;
    }
    if (count != 2)
        return yoke_fail(p->context, YOKE_ERROR_INPUT, "%s has %d dimension%s; a matrix has 2", p->path, count, count == 1 ? "" : "s");
    for (int i = 0; i < 2; i++)
        if (sides[i] < 1 || sides[i] > DENSE_MAX_SIDE)
            return yoke_fail(p->context, YOKE_ERROR_INPUT, "%s has %s%lld %s; there must be 1 to %d", p->path,
                             sides[i] > DENSE_MAX_SIDE ? "at least " : "", (long long)sides[i], i ? "columns" : "rows", DENSE_MAX_SIDE);
    p->header.rows = sides[0];
    p->header.columns = sides[1];
    return YOKE_OK;
}

static yoke_status read_value(parser *p, int key) { return key == DESCR ? read_descr(p) : key == ORDER ? read_order(p) : read_shape(p); }

static yoke_status read_entry(parser *p, int seen[KEYS])
{
    static const char *const keys[KEYS] = {"descr", "fortran_order", "shape"};
    char word[WORD];
    int key = 0;
    const char *before = p->at;
    yoke_status status = read_text(p, word, "a key in quotes");
    while (!status && key < KEYS && strcmp(word, keys[key]) != 0) key++;
    if (status || key == KEYS || seen[key]) {
        p->at = before;
        return status ? status : fail(p, "one of the keys 'descr', 'fortran_order' and 'shape', each once,");
    }
    seen[key] = 1;
    return take(p, ':') ? read_value(p, key) : fail(p, ":");
}

yoke_status dense_npy_header_parse(yoke_context *context, const char *path, const char *text, dense_npy_header *header)
{
    parser p = {.context = context, .path = path, .begin = text, .at = text};
    int seen[KEYS] = {0, 0, 0};
    if (!take(&p, '{')) return fail(&p, "{");
    while (!take(&p, '}')) {
        yoke_status status = read_entry(&p, seen);
        if (status) return status;
        if (take(&p, ',')) continue;
        if (!take(&p, '}')) return fail(&p, ", or }");
        break;
    }
    skip_blanks(&p);
    if (*p.at) return fail(&p, "the end");
    if (!seen[DESCR] || !seen[ORDER] || !seen[SHAPE]) return fail(&p, "all of 'descr', 'fortran_order' and 'shape'");
    *header = p.header;
    return YOKE_OK;
}
