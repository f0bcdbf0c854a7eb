/* Reads files with recorded readings. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meter/replay.h"
#include "meter/text.h"

enum { MAX_BYTES = 64 << 20 };

static const char header[] = "# yoke replay 1";
/* Default for hardware whose file has no most_w. */
static const double usual_most_w = 1e5;

typedef struct reader {
    yoke_context *context;
    const char *path;
    int64_t line;
    replay_table *table;
} reader;

static yoke_status bad_line(const reader *from, const char *expected)
{
    return yoke_fail(from->context, YOKE_ERROR_INPUT, "recording %s, line %lld: expected %s", from->path, (long long)from->line, expected);
}

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static const char *skip_blanks(const char *at)
{
    while (is_blank(*at)) at++;
    return at;
}

static int ends_word(char c) { return c == '\0' || is_blank(c); }

/* ------------------------------------------------------------------------------------------------- domains */

static int take_word(const char **at, char *word, size_t bytes)
{
    size_t length = 0;
    while (!ends_word((*at)[length])) length++;
    if (length == 0 || length >= bytes) return 0;
    memcpy(word, *at, length);
    word[length] = '\0';
    *at += length;
    return 1;
}

static int take_number_key(meter_domain *domain, const char *key, const char **at)
{
    double flag = NAN;
    const struct {
        const char *key;
        double *value;
    } keys[] = {{"unit_j=", &domain->unit_j},     {"most_w=", &domain->most_w},          {"quantum_w=", &domain->quantum_w},
                {"window_s=", &domain->window_s}, {"period_s=", &domain->info.period_s}, {"gain_error=", &domain->info.gain_error},
                {"always_moves=", &flag}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        size_t length = strlen(keys[i].key);
        if (strncmp(key, keys[i].key, length) != 0) continue;
        *at += length;
        if (!meter_text_double(at, keys[i].value)) return 0;
        if (!isnan(flag)) domain->always_moves = flag != 0;
        return 1;
    }
    if (strncmp(key, "range=", 6) != 0) return 0;
    *at += 6;
    return meter_text_uint64(at, &domain->range);
}

/* Reads key=value at *at. */
static int take_key(meter_domain *domain, const char **at)
{
    char word[64];
    if (strncmp(*at, "covers=", 7) == 0) {
        *at += 7;
        return take_word(at, domain->info.covers, sizeof domain->info.covers);
    }
    if (strncmp(*at, "parent=", 7) == 0) {
        *at += 7;
        if (!take_word(at, word, sizeof word - 7)) return 0;
        snprintf(domain->info.parent, sizeof domain->info.parent, "replay:%.56s", word);
        return 1;
    }
    return take_number_key(domain, *at, at);
}

/* Completes a domain.  Returns the keys that its quantity requires and that are missing, else NULL. */
static const char *finish_domain(meter_domain *domain)
{
    if (isnan(domain->most_w)) domain->most_w = usual_most_w;
    if (domain->quantity != METER_COUNTER) return NULL;
    if (isnan(domain->unit_j)) return "unit_j= of a counter";
    domain->info.resolution_j = domain->unit_j;
    if (domain->range != 0) domain->info.wrap_j = (double)domain->range * domain->unit_j;
    return NULL;
}

/* Reads the text after "domain ". */
static yoke_status read_domain(reader *from, const char *at)
{
    static const char expected[] = "domain NAME counter|power|energy, then keys: unit_j= range= most_w= period_s= quantum_w= window_s= "
                                   "gain_error= always_moves= covers= parent=";
    replay_table *table = from->table;
    char name[48], full[64], quantity[16];
    if (table->rows > 0) return bad_line(from, "no more domains after the first row");
    if (table->columns == REPLAY_DOMAINS) return bad_line(from, "at most 64 domains");
    at = skip_blanks(at);
    if (!take_word(&at, name, sizeof name)) return bad_line(from, expected);
    at = skip_blanks(at);
    if (!take_word(&at, quantity, sizeof quantity)) return bad_line(from, expected);
    snprintf(full, sizeof full, "replay:%s", name);
    meter_domain *domain = &table->domains[table->columns];
    meter_domain_start(domain, "replay", full);
    if (strcmp(quantity, "counter") == 0)
        domain->quantity = METER_COUNTER;
    else if (strcmp(quantity, "power") == 0)
        domain->quantity = METER_POWER;
    else if (strcmp(quantity, "energy") == 0)
        domain->quantity = METER_ENERGY;
    else
        return bad_line(from, expected);
    for (at = skip_blanks(at); *at != '\0'; at = skip_blanks(at))
        if (!take_key(domain, &at) || !ends_word(*at)) return bad_line(from, expected);
    const char *missing = finish_domain(domain);
    if (missing != NULL) return bad_line(from, missing);
    table->columns++;
    return YOKE_OK;
}

/* --------------------------------------------------------------------------------------------------- rows */

static int take_cell(const meter_domain *domain, const char **at, replay_cell *cell)
{
    if ((**at == '-' || **at == 'x') && ends_word((*at)[1])) {
        *cell = (replay_cell){.what = **at == '-' ? REPLAY_FAILED : REPLAY_GONE};
        *at += 1;
        return 1;
    }
    *cell = (replay_cell){.what = REPLAY_VALUE};
    int taken = domain->quantity == METER_COUNTER ? meter_text_uint64(at, &cell->count) : meter_text_double(at, &cell->value);
    return taken && ends_word(**at);
}

static yoke_status read_row(reader *from, const char *at)
{
    replay_table *table = from->table;
    double *time_s = &table->times_s[table->rows];
    replay_cell *cells = &table->cells[table->rows * table->columns];
    if (table->columns == 0) return bad_line(from, "a domain before the first row");
    if (!meter_text_double(&at, time_s) || !ends_word(*at)) return bad_line(from, "a time in seconds at the beginning of a row");
    if (table->rows == 0 && *time_s != 0) return bad_line(from, "the first row at time 0");
    if (table->rows > 0 && !(*time_s > time_s[-1])) return bad_line(from, "times that ascend");
    if (*time_s > 1e9) return bad_line(from, "a time of at most 1e9 s");
    for (int64_t i = 0; i < table->columns; i++) {
        at = skip_blanks(at);
        if (!take_cell(&table->domains[i], &at, &cells[i]))
            return bad_line(from, "one value for each domain: a count, a decimal number, - (failed) or x (lost)");
    }
    if (*skip_blanks(at) != '\0') return bad_line(from, "not more values than domains");
    if (table->rows > 0) table->longest_s = fmax(table->longest_s, *time_s - time_s[-1]);
    table->rows++;
    return YOKE_OK;
}

static yoke_status read_line(reader *from, const char *line)
{
    const char *at = skip_blanks(line);
    if (from->line == 1) return strcmp(line, header) == 0 ? YOKE_OK : bad_line(from, "\"# yoke replay 1\"");
    if (*at == '\0' || *at == '#') return YOKE_OK;
    if (strncmp(at, "domain", 6) == 0 && is_blank(at[6])) return read_domain(from, at + 6);
    return read_row(from, at);
}

/* ------------------------------------------------------------------------------------------------ the file */

static yoke_status system_failed(yoke_context *context, const char *path, const char *what)
{
    return yoke_fail(context, YOKE_ERROR_INPUT, "recording %s: %s", path, what);
}

static int read_all(int descriptor, char *text, int64_t bytes)
{
    for (int64_t done = 0; done < bytes;) {
        ssize_t got = read(descriptor, text + done, (size_t)(bytes - done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        done += got;
    }
    return 1;
}

/* Reads the whole text, and adds a terminating zero. */
static yoke_status load(yoke_context *context, const char *path, char **text, int64_t *bytes)
{
    struct stat about;
    void *memory = NULL;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return system_failed(context, path, strerror(errno));
    yoke_status status = YOKE_OK;
    if (fstat(descriptor, &about) != 0)
        status = system_failed(context, path, strerror(errno));
    else if (!S_ISREG(about.st_mode))
        status = system_failed(context, path, "it is not a regular file");
    else if (about.st_size > MAX_BYTES)
        status = system_failed(context, path, "it is larger than 64 MiB; cut it into pieces");
    else
        status = yoke_allocate(context, (int64_t)about.st_size + 1, 1, &memory);
    if (status == YOKE_OK && !read_all(descriptor, memory, (int64_t)about.st_size)) {
        yoke_release(context, memory);
        status = system_failed(context, path, "it cannot be read");
    }
    close(descriptor);
    if (status != YOKE_OK) return status;
    *text = memory;
    *bytes = (int64_t)about.st_size;
    return YOKE_OK;
}

/* Reads lines that end with a newline; the text after the last newline may be incomplete. */
static yoke_status read_lines(reader *from, char *text, int64_t bytes)
{
    char *end = text + bytes;
    for (char *line = text; line < end;) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        if (newline == NULL) {
            from->table->cut = 1;
            break;
        }
        *newline = '\0';
        from->line++;
        if (strlen(line) != (size_t)(newline - line)) return bad_line(from, "text without zero bytes");
        if (newline > line && newline[-1] == '\r') newline[-1] = '\0';
        yoke_status status = read_line(from, line);
        if (status != YOKE_OK) return status;
        line = newline + 1;
    }
    if (from->table->rows > 0) return YOKE_OK;
    from->line++;
    return bad_line(from, from->line == 1 ? "\"# yoke replay 1\"" : "rows \"time_s value...\"");
}

/* Allocates arrays large enough for the text: a row has at least 4 characters, a value at least 2. */
static yoke_status make_table(yoke_context *context, const char *text, int64_t bytes, replay_table **table)
{
    int64_t lines = 0, domains = 0;
    for (const char *at = text; (at = memchr(at, '\n', (size_t)(text + bytes - at))) != NULL; at++) lines++;
    for (const char *at = text; (at = strstr(at, "domain")) != NULL && domains < REPLAY_DOMAINS; at += 6) domains++;
    int64_t rows = lines < bytes / 4 ? lines : bytes / 4, values = rows * domains < bytes / 2 ? rows * domains : bytes / 2;
    void *memory = NULL, *times = NULL, *cells = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof(replay_table), &memory);
    if (status != YOKE_OK) return status;
    replay_table *made = memory;
    made->context = context;
    status = yoke_allocate_untouched(context, rows + 1, sizeof(double), &times);
    made->times_s = times;
    if (status == YOKE_OK) status = yoke_allocate_untouched(context, values + REPLAY_DOMAINS, sizeof(replay_cell), &cells);
    made->cells = cells;
    if (status != YOKE_OK) {
        replay_table_destroy(made);
        return status;
    }
    *table = made;
    return YOKE_OK;
}

yoke_status replay_table_read(yoke_context *context, const char *path, replay_table **table)
{
    char *text = NULL;
    int64_t bytes = 0;
    replay_table *made = NULL;
    yoke_status status = load(context, path, &text, &bytes);
    if (status != YOKE_OK) return status;
    status = make_table(context, text, bytes, &made);
    if (status == YOKE_OK) {
        reader from = {.context = context, .path = path, .table = made};
        status = read_lines(&from, text, bytes);
    }
    yoke_release(context, text);
    if (status != YOKE_OK) {
        replay_table_destroy(made);
        return status;
    }
    *table = made;
    return YOKE_OK;
}

void replay_table_destroy(replay_table *table)
{
    if (table == NULL) return;
    yoke_release(table->context, table->times_s);
    yoke_release(table->context, table->cells);
    yoke_release(table->context, table);
}

int64_t replay_table_row(const replay_table *table, double time_s)
{
    int64_t from = -1, to = table->rows; /* times_s[from] <= time_s < times_s[to] */
    while (to - from > 1) {
        int64_t middle = from + (to - from) / 2;
        if (table->times_s[middle] <= time_s)
            from = middle;
        else
            to = middle;
    }
    return from;
}
