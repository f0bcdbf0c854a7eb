#include "particles/xyz_comment.h"

#include <string.h>

static const char blanks[] = " \t\r";

/* The length of the entry that begins here, up to a blank that is neither in double quotes nor in brackets. */
static size_t entry_length(const char *entry)
{
    int open = 0;
    bool quoted = false;
    const char *c = entry;
    for (; *c && (quoted || open > 0 || !strchr(blanks, *c)); c++) {
        if (quoted && *c == '\\' && c[1]) {
            c++;
            continue;
        }
        quoted ^= *c == '"';
        if (!quoted && strchr("[{", *c)) open++;
        if (!quoted && strchr("]}", *c)) open--;
    }
    return (size_t)(c - entry);
}

static bool has_key(const char *entry, const char *key)
{
    const size_t length = strlen(key);
    return !strncmp(entry, key, length) && entry[length] == '=';
}

/* The value of an entry, without quotes. */
static char *value_of(char *entry)
{
    char *value = strchr(entry, '=') + 1;
    const size_t left = strlen(value);
    if (left < 2 || *value != '"' || value[left - 1] != '"') return value;
    value[left - 1] = 0;
    return value + 1;
}

/* Whether none of the entries of extended XYZ that describe columns or the box is there. */
static bool is_plain(const char *comment)
{
    static const char *const keys[] = {"Properties", "Lattice", "pbc"};
    for (const char *c = comment; *c; c += strspn(c, blanks)) {
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            if (has_key(c, keys[k])) return false;
        c += entry_length(c);
    }
    return true;
}

/* Makes one entry of a plain comment. */
static void quote(const char *comment, char *to)
{
    strcpy(to, "comment=\"");
    to += strlen(to);
    for (; *comment; comment++) {
        if (strchr("\"\\", *comment)) *to++ = '\\';
        *to++ = *comment;
    }
    strcpy(to, "\"");
}

/* Appends an entry to a text, after a blank if there are others.  Returns the new end. */
static char *append(const char *entry, const char *text, char *end)
{
    if (end > text) *end++ = ' ';
    strcpy(end, entry);
    return end + strlen(end);
}

static void read_entries(char *comment, fmm_notes *notes, char **properties)
{
    bool lattice = false, boundaries = false;
    char *kept = notes->comment;
    for (char *entry = comment, *next; *entry; entry = next) {
        char *end = entry + entry_length(entry);
        next = end + strspn(end, blanks);
        *end = 0;
        lattice |= has_key(entry, "Lattice");
        if (has_key(entry, "Properties")) {
            *properties = value_of(entry);
        } else if (has_key(entry, "pbc")) {
            boundaries = true;
            notes->periodic = strpbrk(value_of(entry), "Tt1") != NULL;
        } else {
            kept = append(entry, notes->comment, kept);
        }
    }
    notes->periodic |= lattice && !boundaries;
}

yoke_status fmm_xyz_comment_read(yoke_context *context, char *comment, fmm_notes *notes, char **properties)
{
    enum { MORE = 16 }; /* for comment="" and the final 0 */
    *properties = NULL;
    comment += strspn(comment, blanks);
    if (!*comment) return YOKE_OK;
    yoke_status status = yoke_allocate(context, 2 * (int64_t)strlen(comment) + MORE, 1, &notes->comment);
    if (status) return status;
    if (is_plain(comment))
        quote(comment, notes->comment);
    else
        read_entries(comment, notes, properties);
    return YOKE_OK;
}
