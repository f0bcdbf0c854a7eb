/* report.c - the command yoke reproduce: the papers' tables with published and recomputed numbers. */
#include "reproduce/report.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/console/options.h"
#include "common/files/file.h"
#include "common/files/record.h"
#include "reproduce/account.h"

enum { WHAT_WIDTH = 58, NUMBER_WIDTH = 12, UNIT_WIDTH = 8, REMARK_WIDTH = 124, NUMBER_BYTES = 48 };

struct reproduce_report {
    yoke_context *context;
    app_terminal *terminal;
    json_t *rows;
    char section[128];
    bool heads_pending, memory_ended;
    reproduce_account account;
};

yoke_context *reproduce_context(reproduce_report *report) { return report->context; }

/* ----------------------------------------------------------------------------------------------------- tables */

void reproduce_add_text(reproduce_report *report, const char *id, const char *what, const char *printed, const char *right,
                        const char *reason, const char *remark)
{
    reproduce_add(report, &(reproduce_row){.id = id,
                                           .what = what,
                                           .published = NAN,
                                           .published_text = printed,
                                           .recomputed = NAN,
                                           .recomputed_text = right,
                                           .kind = REPRODUCE_NOT_EVALUATED,
                                           .reason = reason,
                                           .status = REPRODUCE_INCONSISTENT,
                                           .remark = remark});
}

void reproduce_print(reproduce_report *report, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    app_print(report->terminal, "%s\n", line);
}

/* Prints a text in indented lines of limited width, broken at spaces. */
static void print_wrapped(reproduce_report *report, const char *text, int indent)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        if (length > REMARK_WIDTH - (size_t)indent) {
            length = REMARK_WIDTH - (size_t)indent;
            while (length > 1 && text[length] != ' ') length--;
        }
        reproduce_print(report, "%*s%.*s", indent, "", (int)length, text);
        text += length;
        while (*text == ' ' || *text == '\n') text++;
    }
}

void reproduce_section(reproduce_report *report, const char *title, const char *note)
{
    snprintf(report->section, sizeof report->section, "%s", title);
    report->heads_pending = true;
    app_print(report->terminal, "\n%s\n", title);
    if (note != NULL) print_wrapped(report, note, 2);
}

static void print_heads(reproduce_report *report)
{
    if (!report->heads_pending) return;
    report->heads_pending = false;
    reproduce_print(report, "  %-*s %*s %*s %-*s %10s  %s", WHAT_WIDTH, "", NUMBER_WIDTH, "published", NUMBER_WIDTH, "recomputed",
                    UNIT_WIDTH, "", "deviation", "status");
}

/* Returns a number, the text that replaces it, or a dash. */
static const char *number_text(const reproduce_row *row, double number, const char *text, char buffer[NUMBER_BYTES])
{
    if (text != NULL) return text;
    if (isnan(number)) return "-";
    if (row->unit != NULL && strcmp(row->unit, "yes/no") == 0) return number != 0 ? "yes" : "no";
    snprintf(buffer, NUMBER_BYTES, fabs(number) < 1e6 ? "%.7g" : "%.0f", number);
    return buffer;
}

static double deviation_of(const reproduce_row *row) { return row->recomputed / row->published - 1; }

static const char *verdict_text(const reproduce_row *row, reproduce_verdict verdict)
{
    static const char *const within[REPRODUCE_NUM_KINDS] = {[REPRODUCE_PUBLISHED] = "ok",
                                                            [REPRODUCE_REPEATED] = "ok again",
                                                            [REPRODUCE_INDEPENDENT] = "derived",
                                                            [REPRODUCE_PROPERTY] = "holds"};
    if (verdict == REPRODUCE_MISSED) return "MISSED";
    if (verdict == REPRODUCE_WITHIN) return within[row->kind];
    return row->status == REPRODUCE_INCONSISTENT || row->status == REPRODUCE_UNDETERMINED ? reproduce_status_name(row->status)
                                                                                          : reproduce_kind_name(row->kind);
}

static void print_row(reproduce_report *report, const reproduce_row *row, reproduce_verdict verdict)
{
    char published[NUMBER_BYTES], recomputed[NUMBER_BYTES], deviation[NUMBER_BYTES] = "-";
    bool truth = row->unit != NULL && strcmp(row->unit, "yes/no") == 0;
    double percent = 100 * deviation_of(row);
    /* a deviation by rounding only is printed without a sign */
    if (isfinite(percent) && !truth) snprintf(deviation, sizeof deviation, "%+.2f %%", percent);
    if (fabs(percent) < 0.005 && !truth) snprintf(deviation, sizeof deviation, "0.00 %%");
    print_heads(report);
    reproduce_print(report, "  %-*s %*s %*s %-*s %10s  %s", WHAT_WIDTH, row->what != NULL ? row->what : row->id, NUMBER_WIDTH,
                    number_text(row, row->published, row->published_text, published), NUMBER_WIDTH,
                    number_text(row, row->recomputed, row->recomputed_text, recomputed), UNIT_WIDTH,
                    row->unit == NULL || truth ? "" : row->unit, deviation, verdict_text(row, verdict));
    if (row->remark != NULL) print_wrapped(report, row->remark, 6);
}

/* ------------------------------------------------------------------------------------------------------- rows */

static double check_of(const reproduce_row *row) { return row->checked ? row->check : NAN; }

/* Whether the row is compared with a tolerance. */
static bool has_to_be_met(reproduce_verdict verdict) { return verdict == REPRODUCE_WITHIN || verdict == REPRODUCE_MISSED; }

static json_t *text_or_null(const char *text) { return text != NULL ? app_json_text(text) : json_null(); }

/* The value of a column: a number, yes or no, a text, or nothing. */
static json_t *value_document(const reproduce_row *row, double number, const char *text)
{
    if (isnan(number)) return text_or_null(text);
    if (row->unit != NULL && strcmp(row->unit, "yes/no") == 0) return json_boolean(number != 0);
    return app_json_number(number);
}

static json_t *row_document(const reproduce_report *report, const reproduce_row *row, reproduce_verdict verdict)
{
    const struct {
        const char *key;
        json_t *value;
    } members[] = {
        {"id", app_json_text(row->id)},
        {"part", text_or_null(row->part)},
        {"section", app_json_text(report->section)},
        {"what", text_or_null(row->what)},
        {"unit", text_or_null(row->unit)},
        {"published", value_document(row, row->published, row->published_text)},
        {"recomputed", value_document(row, row->recomputed, row->recomputed_text)},
        {"check", app_json_number(check_of(row))},
        {"deviation", app_json_number(deviation_of(row))},
        {"tolerance_absolute", app_json_number(row->absolute)},
        {"tolerance_relative", app_json_number(row->relative)},
        {"status", json_string(reproduce_status_name(row->status))},
        {"met", has_to_be_met(verdict) ? json_boolean(verdict == REPRODUCE_WITHIN) : json_null()},
        {"remark", text_or_null(row->remark)},
        {"kind", json_string(reproduce_kind_name(row->kind))},
        {"within", verdict == REPRODUCE_UNJUDGED ? json_null() : json_boolean(verdict == REPRODUCE_WITHIN)},
        {"tolerance_reason", text_or_null(row->because)},
        {"by", text_or_null(row->by)},
        {"check_by", text_or_null(row->checked ? row->check_by : NULL)},
        {"reason", text_or_null(row->reason)},
    };
    json_t *document = json_object();
    bool complete = document != NULL;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (json_object_set_new(document, members[i].key, members[i].value) != 0) complete = false;
    if (complete) return document;
    json_decref(document);
    return NULL;
}

void reproduce_add(reproduce_report *report, const reproduce_row *row)
{
    reproduce_verdict verdict = reproduce_judge(row);
    reproduce_count(&report->account, row, verdict);
    /* a missed number is always printed */
    if (!row->silent || verdict == REPRODUCE_MISSED) print_row(report, row, verdict);
    if (json_array_append_new(report->rows, row_document(report, row, verdict)) != 0) report->memory_ended = true;
}

/* ------------------------------------------------------------------------------------------------------ files */

static yoke_status write_json(reproduce_report *report, const char *path)
{
    const reproduce_account *account = &report->account;
    json_int_t missed = reproduce_sum(account, REPRODUCE_MISSED), within = reproduce_sum(account, REPRODUCE_WITHIN);
    json_t *document = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o?, s:O}", "program", "yoke reproduce", "version", yoke_version(), "reproducible",
        (json_int_t)account->entries[REPRODUCE_MATCHES], "derived", (json_int_t)account->entries[REPRODUCE_DERIVED], "inconsistent",
        (json_int_t)account->entries[REPRODUCE_INCONSISTENT], "under_determined", (json_int_t)account->entries[REPRODUCE_UNDETERMINED],
        "numbers", within + missed, "missed", missed, "kinds", reproduce_totals(account), "rows", report->rows);
    if (document == NULL) return yoke_fail(report->context, YOKE_ERROR_MEMORY, "out of memory for %s", path);
    yoke_status status = app_record_write(report->context, document, path);
    json_decref(document);
    return status;
}

/* Uses the fewest digits that identify the number. */
static void print_real(FILE *stream, double number)
{
    char text[NUMBER_BYTES];
    snprintf(text, sizeof text, "%.15g", number);
    if (strtod(text, NULL) != number) snprintf(text, sizeof text, "%.17g", number);
    fputs(text, stream);
}

/* Prints a field; a text is put in quotes, and quotes within it are doubled. */
static void print_field(FILE *stream, const json_t *value)
{
    if (json_is_integer(value)) fprintf(stream, "%lld", (long long)json_integer_value(value));
    if (json_is_real(value)) print_real(stream, json_real_value(value));
    if (json_is_boolean(value)) fputs(json_is_true(value) ? "yes" : "no", stream);
    if (!json_is_string(value)) return;
    fputc('"', stream);
    for (const char *at = json_string_value(value); *at != '\0'; at++) {
        if (*at == '"') fputc('"', stream);
        fputc(*at, stream);
    }
    fputc('"', stream);
}

static yoke_status write_csv(reproduce_report *report, const char *path)
{
    static const char *const keys[] = {"id",
                                       "part",
                                       "section",
                                       "what",
                                       "unit",
                                       "published",
                                       "recomputed",
                                       "deviation",
                                       "status",
                                       "met",
                                       "remark",
                                       "kind",
                                       "within",
                                       "by",
                                       "check_by",
                                       "tolerance_reason",
                                       "reason",
                                       "check",
                                       "tolerance_absolute",
                                       "tolerance_relative"};
    enum { NUM_KEYS = sizeof keys / sizeof keys[0] };
    app_file *file = NULL;
    size_t index;
    json_t *row;
    yoke_status status = app_file_create(report->context, path, &file);
    if (status != YOKE_OK) return status;
    FILE *stream = app_file_stream(file);
    for (int i = 0; i < NUM_KEYS; i++) fprintf(stream, "%s%s", keys[i], i + 1 < NUM_KEYS ? "," : "\n");
    json_array_foreach (report->rows, index, row) {
        for (int i = 0; i < NUM_KEYS; i++) {
            print_field(stream, json_object_get(row, keys[i]));
            fputc(i + 1 < NUM_KEYS ? ',' : '\n', stream);
        }
    }
    return app_file_commit(file);
}

/* ---------------------------------------------------------------------------------------------------- command */

typedef struct part {
    const char *name;
    yoke_status (*run)(reproduce_report *report);
} part;

static const part parts[] = {{"peach", reproduce_peach}, {"lang", reproduce_lang}, {"clarke", reproduce_clarke}};

enum { NUM_PARTS = sizeof parts / sizeof parts[0] };

static yoke_status run_parts(reproduce_report *report, const char *name)
{
    yoke_status status = YOKE_OK;
    bool known = strcmp(name, "all") == 0;
    for (int i = 0; i < NUM_PARTS; i++) known |= strcmp(name, parts[i].name) == 0;
    if (!known) return yoke_fail(report->context, YOKE_ERROR_INPUT, "unknown paper %s; expected peach, lang, clarke or all", name);
    for (int i = 0; i < NUM_PARTS && status == YOKE_OK; i++)
        if (strcmp(name, "all") == 0 || strcmp(name, parts[i].name) == 0) status = parts[i].run(report);
    if (status == YOKE_OK && report->memory_ended) status = yoke_fail(report->context, YOKE_ERROR_MEMORY, "out of memory for the rows");
    return status;
}

/* Prints a line of the summary: how many of the compared numbers of a kind agree. */
static void print_total(reproduce_report *report, reproduce_kind kind, const char *name, const char *what)
{
    const int64_t *numbers = report->account.numbers[kind];
    int64_t owed = numbers[REPRODUCE_WITHIN] + numbers[REPRODUCE_MISSED];
    reproduce_print(report, "  %-20s %4lld of %4lld %s", name, (long long)numbers[REPRODUCE_WITHIN], (long long)owed, what);
}

static void print_count(reproduce_report *report, const char *name, int64_t count, const char *what)
{
    reproduce_print(report, "  %-20s %4lld %s", name, (long long)count, what);
}

static yoke_status conclude(reproduce_report *report)
{
    const reproduce_account *account = &report->account;
    app_print(report->terminal, "\nNumbers by what they are compared with\n");
    print_total(report, REPRODUCE_PUBLISHED, "published", "are within their tolerances of what is printed");
    print_count(report, "", reproduce_sum(account, REPRODUCE_OUTSIDE),
                "others are not, since the paper contradicts itself or leaves out an input: see remarks");
    print_total(report, REPRODUCE_REPEATED, "published, again", "agree with a number that is counted above already");
    print_total(report, REPRODUCE_INDEPENDENT, "derived", "agree with the same number found in another way; nothing is printed");
    print_total(report, REPRODUCE_PROPERTY, "properties", "hold that the paper says in words");
    print_count(report, "unchecked", account->numbers[REPRODUCE_UNCHECKED][REPRODUCE_UNJUDGED], "are compared with nothing");
    print_count(report, "not evaluated", account->numbers[REPRODUCE_NOT_EVALUATED][REPRODUCE_UNJUDGED],
                "are misprinted formulas and texts, which are no numbers");
    if (account->fault[0] != '\0') return yoke_fail(report->context, YOKE_ERROR_INTERNAL, "%s", account->fault);
    if (account->missed[0] == '\0') return YOKE_OK;
    return yoke_fail(report->context, YOKE_ERROR_NUMERIC, "not reproduced: %s", account->missed);
}

static yoke_status reproduce(yoke_context *context, app_terminal *terminal, const char *name, const char *json, const char *csv)
{
    reproduce_report report = {.context = context, .terminal = terminal, .rows = json_array()};
    yoke_status status = report.rows != NULL ? YOKE_OK : yoke_fail(context, YOKE_ERROR_MEMORY, "out of memory for the rows");
    if (!status) status = app_files_check(context, (const app_named_file[]){{"--json", json, false}, {"--csv", csv, false}, {0}});
    if (!status) status = run_parts(&report, name);
    if (!status && json) status = write_json(&report, json);
    if (!status && csv) status = write_csv(&report, csv);
    if (!status) status = conclude(&report);
    json_decref(report.rows);
    return status;
}

static const app_column columns[] = {
    {"published", "the number in the paper"},
    {"recomputed", "the number that the planner computes from the paper's inputs"},
    {"deviation", "recomputed / published - 1"},
    {"status", "ok: within the stated tolerance of a printed number; ok again: this number or comparison is counted already;"},
    {"", "derived: nothing is printed, but the number agrees if it is computed in another way; holds: a property that"},
    {"", "the paper states in words; unchecked: nothing to compare with; inconsistent: the paper contradicts itself;"},
    {"", "under-determined: the paper lacks an input; the remark below gives the reason; MISSED: outside the tolerance"},
    {0},
};

yoke_status reproduce_command(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    const char *json = NULL, *csv = NULL;
    const app_option options[] = {
        {.name = "json",
         .value = "FILE",
         .help = "write all numbers as JSON; - writes them to standard output, and results to standard error",
         .text = &json},
        {.name = "csv", .value = "FILE", .help = "write all numbers as CSV", .text = &csv},
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "[peach|lang|clarke|all]",
        .operands_most = 1,
        .summary = "Prints published tables together with the numbers that the planner computes from the published inputs.",
        .options = options,
        .columns = columns,
        .details = "peach: Ge and others 2014; lang: Lang and Ruenger 2013 and 2014, Lang 2014; clarke: functional performance models.\n"
                   "Misprints and contradictions of the papers are marked and explained. docs/guide/reproduce.md has details.\n"
                   "--json and --csv have the tolerance of each number with its reason, and how the number is computed.\n"
                   "Exit codes: 0 every number that is compared is within its tolerance or explained, 1 a number is not, 2 bad usage.",
    };
    bool answered;
    app_list operands = {0};
    yoke_status status = app_options_parse(context, &usage, argc, argv, &operands, &answered);
    if (status != YOKE_OK || answered) return status;
    return reproduce(context, terminal, operands.count == 1 ? operands.text[0] : "all", json, csv);
}
