#include "energy/source.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/console/numbers.h"
#include "common/console/options.h"
#include "energy/field.h"

enum { LINE_BYTES = 1 << 16, MAX_FIELDS = 256, MAX_ROWS = 10000000 };
static const double most_s = 1e12, most_w = 1e12, most_j = 1e24;

typedef enum column_kind { OTHER, TIME, POWER, COUNTER } column_kind;

typedef struct column {
    char name[48]; /* without the unit in brackets */
    const char *unit;
    double factor; /* converts to W or J */
    column_kind kind;
    int64_t num, room; /* readings that did not fail */
    struct reading {
        double time_s, value;
    } * readings;
} column;

typedef struct reader {
    yoke_context *context;
    energy_source *source;
    FILE *stream;
    char line[LINE_BYTES];
    int64_t number; /* number of the line */
    int num_fields;
    char *field[MAX_FIELDS];
    int num_columns;
    column column[MAX_FIELDS];
    int time;            /* index of the time column */
    int seconds, energy; /* in a file of yoke energy: columns with the length and energy of a row; otherwise -1 */
    double latest_s;
} reader;

/* ------------------------------------------------------------------------------------------------- lines */

static yoke_status fail_line(const reader *r, const char *what, const char *found, const char *expected)
{
    return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s:%lld: %s \"%.60s\"; expected %s", r->source->path, (long long)r->number, what, found,
                     expected);
}

static char *trim(char *text)
{
    while (isspace((unsigned char)*text)) text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1])) text[--length] = '\0';
    return text;
}

/* Splits the line at its commas, except those within quotation marks. */
static yoke_status split(reader *r)
{
    char *at = r->line;
    r->num_fields = 0;
    for (bool more = true; more;) {
        if (r->num_fields == MAX_FIELDS)
            return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s:%lld: more than %d columns", r->source->path, (long long)r->number,
                             MAX_FIELDS);
        char *begin = at, *to = at;
        bool quoted = false;
        for (; *at != '\0' && (quoted || *at != ','); at++) {
            if (*at == '"')
                quoted = !quoted;
            else
                *to++ = *at;
        }
        more = *at++ == ',';
        *to = '\0';
        r->field[r->num_fields++] = trim(begin);
    }
    return YOKE_OK;
}

/* Reads the next line that is neither empty nor a comment; *ended: there is none. */
static yoke_status next_line(reader *r, bool *ended)
{
    for (;;) {
        *ended = fgets(r->line, LINE_BYTES, r->stream) == NULL;
        if (*ended && ferror(r->stream))
            return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s cannot be read: %s", r->source->path, strerror(errno));
        if (*ended) return YOKE_OK;
        const size_t length = strlen(r->line);
        if (++r->number > MAX_ROWS)
            return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s has more than %d lines; cut it", r->source->path, MAX_ROWS);
        if ((length == 0 || r->line[length - 1] != '\n') && !feof(r->stream))
            return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s:%lld: a zero byte, or a line of more than %d bytes; expected a text file",
                             r->source->path, (long long)r->number, LINE_BYTES - 2);
        const char *text = r->line + strspn(r->line, " \t\r\n");
        if (*text != '\0' && *text != '#') return split(r);
    }
}

/* -------------------------------------------------------------------------------------------------- columns */

static const struct {
    const char *name;
    double factor;
    column_kind kind;
} units[] = {{"W", 1, POWER},       {"mW", 1e-3, POWER},   {"uW", 1e-6, POWER},  {"kW", 1e3, POWER},    {"J", 1, COUNTER},
             {"mJ", 1e-3, COUNTER}, {"uJ", 1e-6, COUNTER}, {"kJ", 1e3, COUNTER}, {"Wh", 3600, COUNTER}, {"kWh", 3.6e6, COUNTER}};

static bool is_time(const char *name)
{
    static const char *const names[] = {"time", "time_s", "timestamp", "timestamp_s", "t", "t_s"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(name, names[i]) == 0) return true;
    return false;
}

/* Reads a heading such as "power.draw [W]", "package_w" or "energy (J)". */
static void read_column(char *text, column *c)
{
    const size_t length = strlen(text);
    const char last = length > 0 ? text[length - 1] : '\0';
    char *unit = NULL;
    if (last == ']' || last == ')') {
        char *open = strrchr(text, last == ']' ? '[' : '(');
        if (open != NULL) {
            text[length - 1] = *open = '\0';
            unit = open + 1;
        }
    } else if (strrchr(text, '_') != NULL) {
        unit = strrchr(text, '_') + 1;
    }
    snprintf(c->name, sizeof c->name, "%s", trim(text));
    for (size_t i = 0; unit != NULL && i < sizeof units / sizeof units[0]; i++) {
        if (strcasecmp(unit, units[i].name) != 0) continue;
        c->unit = units[i].name;
        c->factor = units[i].factor;
        c->kind = units[i].kind;
    }
    if (is_time(c->name)) c->kind = TIME;
}

static int find_column(const reader *r, const char *name)
{
    for (int i = 0; i < r->num_columns; i++)
        if (strcmp(r->column[i].name, name) == 0) return i;
    return -1;
}

/* Keeps only the columns with power or energy that `column=` names.  The names follow the path in source->text. */
static yoke_status choose(reader *r, char *const *names, int num_names)
{
    bool chosen[MAX_FIELDS] = {false};
    for (int n = 0; n < num_names; n++) {
        const int i = find_column(r, names[n]);
        if (i < 0 || (r->column[i].kind != POWER && r->column[i].kind != COUNTER))
            return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s:%lld: column=%s: %s", r->source->path, (long long)r->number, names[n],
                             i < 0 ? "there is no such column (names are without their unit in brackets)"
                                   : "its name has no unit of power or energy, as in power_w or power [W]");
        chosen[i] = true;
    }
    for (int i = 0; i < r->num_columns && num_names > 0; i++)
        if (!chosen[i] && r->column[i].kind != TIME) r->column[i].kind = OTHER;
    return YOKE_OK;
}

static yoke_status check_columns(const reader *r)
{
    int found = 0, sum = -1;
    for (int i = 0; i < r->num_columns; i++) {
        const column *c = &r->column[i];
        if (c->kind != POWER && c->kind != COUNTER) continue;
        found++;
        if (strncasecmp(c->name, "total", 5) == 0) sum = i;
    }
    if (r->time < 0)
        return yoke_fail(r->context, YOKE_ERROR_INPUT,
                         "%s:%lld: no column of time in the head; expected one with the name time, time_s, timestamp or t", r->source->path,
                         (long long)r->number);
    if (found == 0)
        return yoke_fail(r->context, YOKE_ERROR_INPUT,
                         "%s:%lld: no column of power or energy in the head; expected names as power_w, power [W], energy_j or energy [J]",
                         r->source->path, (long long)r->number);
    if (found > ENERGY_MAX_STREAMS)
        return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s:%lld: %d columns of power or energy; at most %d: choose by column=NAME",
                         r->source->path, (long long)r->number, found, ENERGY_MAX_STREAMS);
    if (found > 1 && sum >= 0)
        return yoke_fail(r->context, YOKE_ERROR_INPUT,
                         "%s:%lld: column %s seems to be the sum of others, which would count twice; choose by column=NAME",
                         r->source->path, (long long)r->number, r->column[sum].name);
    return YOKE_OK;
}

static yoke_status read_head(reader *r, char *const *names, int num_names)
{
    bool ended = false;
    yoke_status status = next_line(r, &ended);
    if (status != YOKE_OK) return status;
    if (ended) return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s is empty; expected a head and rows of numbers", r->source->path);
    if (strncmp(r->field[0], "\xef\xbb\xbf", 3) == 0) r->field[0] += 3; /* the byte order mark of UTF-8 */
    r->num_columns = r->num_fields;
    for (int i = 0; i < r->num_columns; i++) read_column(r->field[i], &r->column[i]);
    r->time = find_column(r, "start_s");
    r->seconds = find_column(r, "seconds");
    r->energy = find_column(r, "total_j");
    if (r->time >= 0 && r->seconds >= 0 && r->energy >= 0 && num_names == 0) {
        for (int i = 0; i < r->num_columns; i++) r->column[i].kind = i == r->energy ? COUNTER : OTHER;
        return YOKE_OK;
    }
    r->time = r->seconds = r->energy = -1;
    for (int i = r->num_columns - 1; i >= 0; i--)
        if (r->column[i].kind == TIME) r->time = i;
    for (int i = 0; i < r->num_columns; i++)
        if (r->column[i].kind == TIME && i != r->time) r->column[i].kind = OTHER;
    status = choose(r, names, num_names);
    return status != YOKE_OK ? status : check_columns(r);
}

/* ---------------------------------------------------------------------------------------------------- values */

static yoke_status read_time(reader *r, double *time_s)
{
    const char *text = r->field[r->time];
    if (!energy_field_number(text, "s", time_s) && !energy_field_date(text, time_s))
        return fail_line(r, "time", text, "seconds, or a date as 2026-11-23T10:05:00.125Z");
    *time_s += r->source->offset_s;
    if (!(fabs(*time_s) <= most_s)) return fail_line(r, "time", text, "at most 1e12 s");
    if (!(*time_s > r->latest_s))
        return fail_line(r, "time", text, "one that is later than that of the row before; a file has one row for each time");
    r->latest_s = *time_s;
    return YOKE_OK;
}

static yoke_status keep(reader *r, column *c, double time_s, double value)
{
    yoke_status status = yoke_grow(r->context, &c->readings, c->num, &c->room, 1024, sizeof *c->readings);
    if (status == YOKE_OK) c->readings[c->num++] = (struct reading){time_s, value};
    return status;
}

static yoke_status read_value(reader *r, int i, double time_s)
{
    column *c = &r->column[i];
    const char *text = r->field[i];
    double value;
    if (energy_field_missing(text)) return YOKE_OK;
    if (!energy_field_number(text, c->unit, &value)) return fail_line(r, c->name, text, "a number, or nothing where there was no reading");
    value *= c->factor;
    if (c->kind == POWER && !(value >= 0 && value <= most_w)) return fail_line(r, c->name, text, "a power from 0 to 1e12 W");
    if (c->kind == COUNTER && !(value >= 0 && value <= most_j)) return fail_line(r, c->name, text, "an energy from 0 to 1e24 J");
    if (c->kind == COUNTER && r->seconds < 0 && c->num > 0 && value < c->readings[c->num - 1].value)
        return fail_line(r, c->name, text,
                         "an energy that is not less than that of the row before: a counter that started again must be unwrapped");
    return keep(r, c, time_s, value);
}

static yoke_status read_row(reader *r)
{
    double time_s = 0;
    if (r->num_fields != r->num_columns)
        return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s:%lld: %d fields; the head has %d columns: the line may be cut", r->source->path,
                         (long long)r->number, r->num_fields, r->num_columns);
    yoke_status status = read_time(r, &time_s);
    for (int i = 0; i < r->num_columns && status == YOKE_OK; i++)
        if (r->column[i].kind == POWER || r->column[i].kind == COUNTER) status = read_value(r, i, time_s);
    return status;
}

/* --------------------------------------------------------------------------------------------------- cells */

/* The length of a gap, if the source does not state it. */
static yoke_status usual_gap(const reader *r, const column *c, double *gap_s)
{
    double *between = NULL;
    yoke_status status = yoke_allocate(r->context, c->num - 1, sizeof *between, &between);
    if (status != YOKE_OK) return status;
    for (int64_t i = 1; i < c->num; i++) between[i - 1] = c->readings[i].time_s - c->readings[i - 1].time_s;
    app_sort(between, c->num - 1);
    *gap_s = fmax(1, 10 * between[(c->num - 1) / 2]);
    yoke_release(r->context, between);
    return YOKE_OK;
}

static yoke_status make_cells(reader *r, const column *c, energy_stream *stream)
{
    double gap_s = r->source->gap_s;
    yoke_status status = YOKE_OK;
    if (c->num < 2)
        return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s: column %s has %lld readings; a stream has at least two", r->source->path,
                         c->name, (long long)c->num);
    if (c->kind == COUNTER) gap_s = INFINITY; /* a counter continues to count between readings */
    if (isnan(gap_s)) status = usual_gap(r, c, &gap_s);
    if (status == YOKE_OK) status = yoke_allocate(r->context, c->num - 1, sizeof *stream->cells, &stream->cells);
    stream->counts = c->kind == COUNTER;
    for (int64_t i = 1; i < c->num && status == YOKE_OK; i++) {
        const struct reading *a = &c->readings[i - 1], *b = &c->readings[i];
        const double step_s = b->time_s - a->time_s, mean_w = (b->value - a->value) / step_s;
        if (step_s > gap_s) continue;
        stream->cells[stream->num_cells++] =
            stream->counts ? (energy_cell){a->time_s, b->time_s, mean_w, mean_w} : (energy_cell){a->time_s, b->time_s, a->value, b->value};
    }
    return status;
}

/*
 * Keeps a row of a file of yoke energy, which has a length of its own.  The next row begins approximately where it ends; an overlap is
 * counted once.
 */
static yoke_status keep_interval(reader *r, energy_stream *stream, int64_t *room)
{
    double first_s = 0, length_s = 0, energy_j = 0;
    const char *length = r->field[r->seconds], *energy = r->field[r->energy];
    yoke_status status = YOKE_OK;
    if (!energy_field_number(r->field[r->time], "s", &first_s) || !(fabs(first_s) <= most_s))
        return fail_line(r, "start_s", r->field[r->time], "seconds");
    if (!energy_field_number(length, "s", &length_s) || !(length_s > 0 && length_s <= most_s))
        return fail_line(r, "seconds", length, "more than 0 seconds");
    if (!energy_field_missing(energy) && (!energy_field_number(energy, "J", &energy_j) || !(energy_j >= 0 && energy_j <= most_j)))
        return fail_line(r, "total_j", energy, "an energy from 0 to 1e24 J, or nothing");
    const double gap_s = isnan(r->source->gap_s) ? fmax(1e-3, 0.01 * length_s) : r->source->gap_s;
    first_s += r->source->offset_s;
    energy_cell *before = stream->num_cells > 0 ? &stream->cells[stream->num_cells - 1] : NULL;
    if (!(first_s > r->latest_s)) return fail_line(r, "start_s", r->field[r->time], "one that is later than that of the row before");
    r->latest_s = first_s;
    if (before != NULL && before->last_s + gap_s >= first_s) before->last_s = first_s; /* its power stays the same */
    if (energy_field_missing(energy)) return YOKE_OK;
    status = yoke_grow(r->context, &stream->cells, stream->num_cells, room, 1024, sizeof *stream->cells);
    if (status == YOKE_OK)
        stream->cells[stream->num_cells++] = (energy_cell){first_s, first_s + length_s, energy_j / length_s, energy_j / length_s};
    return status;
}

static yoke_status read_intervals(reader *r)
{
    energy_stream *stream = &r->source->stream[0];
    int64_t room = 0;
    yoke_status status = YOKE_OK;
    bool ended = false;
    stream->counts = true;
    r->source->num_streams = 1;
    while (status == YOKE_OK) {
        status = next_line(r, &ended);
        if (status != YOKE_OK || ended) break;
        r->source->rows++;
        if (r->num_fields != r->num_columns)
            status = yoke_fail(r->context, YOKE_ERROR_INPUT, "%s:%lld: %d fields; the head has %d columns: the line may be cut",
                               r->source->path, (long long)r->number, r->num_fields, r->num_columns);
        if (status == YOKE_OK) status = keep_interval(r, stream, &room);
    }
    if (status == YOKE_OK && stream->num_cells == 0)
        status = yoke_fail(r->context, YOKE_ERROR_INPUT, "%s: no row has an energy in total_j", r->source->path);
    return status;
}

static yoke_status read_rows(reader *r)
{
    yoke_status status = YOKE_OK;
    bool ended = false;
    while (status == YOKE_OK) {
        status = next_line(r, &ended);
        if (status != YOKE_OK || ended) break;
        r->source->rows++;
        status = read_row(r);
    }
    for (int i = 0; i < r->num_columns && status == YOKE_OK; i++)
        if (r->column[i].kind == POWER || r->column[i].kind == COUNTER)
            status = make_cells(r, &r->column[i], &r->source->stream[r->source->num_streams++]);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- a source */

/* FILE[,offset=S][,gap=S][,column=NAME]...: the words after the file's name are split off from the end. */
static yoke_status read_words(yoke_context *context, energy_source *source, char **names, int *num_names)
{
    for (char *comma = strrchr(source->path, ','); comma != NULL; comma = strrchr(source->path, ',')) {
        const char *word = comma + 1;
        yoke_status status = YOKE_OK;
        if (strncmp(word, "offset=", 7) == 0)
            status = app_option_real(context, "source ...,offset", word + 7, -most_s, most_s, &source->offset_s);
        else if (strncmp(word, "gap=", 4) == 0)
            status = app_option_real(context, "source ...,gap", word + 4, 1e-9, most_s, &source->gap_s);
        else if (strncmp(word, "column=", 7) == 0 && *num_names < ENERGY_MAX_STREAMS)
            names[(*num_names)++] = comma + 8;
        else
            return YOKE_OK;
        if (status != YOKE_OK) return status;
        *comma = '\0';
    }
    return YOKE_OK;
}

static void name_streams(const reader *r)
{
    const char *slash = strrchr(r->source->path, '/');
    const char *file = slash != NULL ? slash + 1 : r->source->path;
    int number = 0;
    for (int i = 0; i < r->num_columns && number < r->source->num_streams; i++) {
        if (r->column[i].kind != POWER && r->column[i].kind != COUNTER) continue;
        energy_stream *stream = &r->source->stream[number++];
        snprintf(stream->name, sizeof stream->name, "%.30s:%.30s", file, r->column[i].name);
        for (char *at = stream->name; *at != '\0'; at++)
            if ((unsigned char)*at < ' ' || *at == 127) *at = '?';
    }
}

static yoke_status read_file(reader *r, char *const *names, int num_names)
{
    r->stream = fopen(r->source->path, "r");
    if (r->stream == NULL) return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s cannot be opened: %s", r->source->path, strerror(errno));
    yoke_status status = read_head(r, names, num_names);
    if (status == YOKE_OK) status = r->seconds >= 0 ? read_intervals(r) : read_rows(r);
    if (status == YOKE_OK) name_streams(r);
    fclose(r->stream);
    return status;
}

yoke_status energy_source_read(yoke_context *context, const char *text, energy_source *source)
{
    char *names[ENERGY_MAX_STREAMS];
    int num_names = 0;
    const int64_t bytes = (int64_t)strlen(text) + 1;
    reader *r = NULL;
    *source = (energy_source){.text = text, .gap_s = NAN};
    yoke_status status = yoke_allocate(context, bytes, 1, &source->path);
    if (status == YOKE_OK) memcpy(source->path, text, (size_t)bytes);
    if (status == YOKE_OK) status = read_words(context, source, names, &num_names);
    if (status == YOKE_OK) status = yoke_allocate(context, 1, sizeof *r, &r);
    if (status == YOKE_OK) {
        r->context = context;
        r->source = source;
        r->latest_s = -INFINITY;
        status = read_file(r, names, num_names);
        for (int i = 0; i < r->num_columns; i++) yoke_release(context, r->column[i].readings);
    }
    yoke_release(context, r);
    if (status != YOKE_OK) energy_source_release(context, source);
    return status;
}

void energy_source_release(yoke_context *context, energy_source *source)
{
    for (int i = 0; i < ENERGY_MAX_STREAMS; i++) yoke_release(context, source->stream[i].cells);
    yoke_release(context, source->path);
    *source = (energy_source){0};
}
