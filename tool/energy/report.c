/* Reports the time and energy of a command, as text and as a record. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "common/console/append.h"
#include "common/files/record.h"
#include "energy/energy.h"

enum { NUMBER_BYTES = 64 };

/* -------------------------------------------------------------------------------------------------- numbers */

/* Number of decimal places that shows three digits of the uncertainty. */
static int places(double uncertainty)
{
    if (!(uncertainty > 0) || !isfinite(uncertainty)) return 3;
    double number = 2 - floor(log10(uncertainty));
    return number < 0 ? 0 : number > 9 ? 9 : (int)number;
}

/* Writes "45.210 J +- 0.021 J". */
static void number_text(double value, double uncertainty, const char *unit, char text[NUMBER_BYTES])
{
    int after = places(uncertainty);
    if (isfinite(uncertainty))
        snprintf(text, NUMBER_BYTES, "%.*f %s +- %.*f %s", after, value, unit, after, uncertainty, unit);
    else
        snprintf(text, NUMBER_BYTES, "%.*f %s", after, value, unit);
}

static const char *kind_text(yoke_energy_kind kind)
{
    return kind == YOKE_ENERGY_ESTIMATED ? "estimated from declared powers" : yoke_energy_kind_text(kind);
}

/* Mean over the runs that have a value, and the mean of their uncertainty. */
static double value_of(const energy_result *result) { return result->value.count > 0 ? result->value.mean : NAN; }
static double uncertainty_of(const energy_result *result)
{
    return result->value.count > 0 ? result->uncertainty_j / (double)result->value.count : NAN;
}

/* --------------------------------------------------------------------------------------------------- report */

/* Prints "45.210 J +- 0.021 J, mean power 45.1 W, measured". */
static void print_value(const energy_account *account, const energy_result *result)
{
    char number[NUMBER_BYTES];
    double half_width = energy_half_width(&result->value);
    number_text(value_of(result), uncertainty_of(result), "J", number);
    fputs(number, stderr);
    if (isfinite(half_width))
        fprintf(stderr, " in each run, mean of %lld runs +- %.2g J (95 %%)", (long long)result->value.count, half_width);
    fprintf(stderr, ", mean power %.4g W, %s", value_of(result) / account->seconds.mean, kind_text(result->kind));
    if (result->missing > 0) fprintf(stderr, "; %lld runs without a value: %s", (long long)result->missing, result->why_not);
}

static void print_meters(const energy_account *account)
{
    int width = 0;
    for (int64_t i = 0; i < account->num_meters; i++) {
        int length = (int)strlen(account->infos[i].name) + 1;
        width = length > width ? length : width;
    }
    for (int64_t i = 0; i < account->num_meters; i++) {
        const energy_result *result = &account->results[i];
        const yoke_meter_info *info = &account->infos[i];
        fprintf(stderr, "    %s:%*s ", info->name, width - 1 - (int)strlen(info->name), "");
        if (result->value.count > 0)
            print_value(account, result);
        else
            fprintf(stderr, "not metered (%s)", result->why_not);
        if (!info->counted) fprintf(stderr, "; not added to the total%s%s", info->parent[0] != '\0' ? ": part of " : "", info->parent);
        fputc('\n', stderr);
    }
}

/* Returns the meter whose absence is explained: that of the processor, otherwise the first. */
static const yoke_meter_info *nearest_at_hand(const yoke_meter_info *list, int64_t count)
{
    const yoke_meter_info *nearest = NULL;
    for (int64_t i = 0; i < count; i++) {
        if (list[i].usable || list[i].why_not[0] == '\0') continue;
        if (strcmp(list[i].kind, "powercap") == 0) return &list[i];
        if (nearest == NULL) nearest = &list[i];
    }
    return nearest;
}

/* Prints a text of several lines as one line. */
static void print_joined(const char *text)
{
    for (; *text != '\0'; text++) fputc(*text == '\n' ? ' ' : *text, stderr);
}

static void print_why_not(const energy_account *account)
{
    const yoke_meter_info *nearest = account->num_meters == 0 ? nearest_at_hand(account->meter->others, account->meter->num_others) : NULL;
    fputs("  energy: not metered (", stderr);
    if (nearest == NULL) {
        print_joined(account->total.why_not[0] != '\0' ? account->total.why_not : "this machine has no meter");
    } else {
        fprintf(stderr, "%s: ", nearest->name);
        print_joined(nearest->why_not);
        if (nearest->remedy[0] != '\0') fputs("; what to do: ", stderr);
        print_joined(nearest->remedy);
    }
    fputs(")\n", stderr);
    if (account->num_meters == 0)
        fputs("    yoke info says it of every meter; --declare idle=W,busy=W estimates from the machine's powers\n", stderr);
}

static void print_time(const energy_account *account)
{
    char number[NUMBER_BYTES];
    double half_width = energy_half_width(&account->seconds);
    number_text(account->seconds.mean, half_width, "s", number);
    fprintf(stderr, "  time:   %s%s\n", number, isfinite(half_width) ? " (mean, 95 %)" : "");
}

/* Prints the command on one line, truncated if it is long. */
static void print_command(char **command)
{
    int left = 160;
    for (char **word = command; *word != NULL && left > 0; word++) {
        fputc(' ', stderr);
        for (const char *at = *word; *at != '\0' && left > 0; at++, left--)
            fputc((unsigned char)*at < ' ' || *at == 127 ? '?' : *at, stderr);
        if (left == 0) fputs("...", stderr);
    }
}

void energy_report(const energy_account *account, const yoke_meter_options *options, char **command)
{
    fputs("yoke energy:", stderr);
    if (account->seconds.count > 1) fprintf(stderr, " %lld runs of", (long long)account->seconds.count);
    if (command != NULL) print_command(command);
    if (command == NULL && options->pid > 0) fprintf(stderr, " process %lld", (long long)options->pid);
    if (command == NULL && options->pid == 0) fprintf(stderr, " %s", account->title != NULL ? account->title : "the machine");
    fputc('\n', stderr);
    if (options->sysroot != NULL) fprintf(stderr, "  meters: of %s, not of this machine\n", options->sysroot);
    print_time(account);
    if (account->total.value.count > 0) {
        fputs("  energy: ", stderr);
        print_value(account, &account->total);
        if (account->num_meters == 1) fprintf(stderr, " (%s)", account->infos[0].name);
        if (account->total.missing == 0 && account->total.why_not[0] != '\0') fprintf(stderr, "; %s", account->total.why_not);
        fputc('\n', stderr);
    } else {
        print_why_not(account);
    }
    /* A single meter that is the total has been reported already. */
    if (account->num_meters != 1 || !account->infos[0].counted || account->total.value.count == 0) print_meters(account);
}

/* --------------------------------------------------------------------------------------------------- record */

static json_t *text_or_null(const char *text) { return text[0] != '\0' ? app_json_text(text) : json_null(); }

static json_t *result_document(const char *name, const energy_result *result)
{
    bool known = result->value.count > 0;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "meter", name != NULL ? app_json_text(name) : json_null(), "value_j",
                     app_json_number(value_of(result)), "uncertainty_j", app_json_number(uncertainty_of(result)), "interval_j",
                     app_json_number(energy_half_width(&result->value)), "kind",
                     known ? json_string(yoke_energy_kind_text(result->kind)) : json_null(), "why_not", text_or_null(result->why_not),
                     "missing", (json_int_t)result->missing);
}

static json_t *energies_document(const energy_account *account)
{
    json_t *energies = json_array();
    for (int64_t i = 0; i < account->num_meters; i++) {
        json_t *document = result_document(account->infos[i].name, &account->results[i]);
        if (document != NULL) json_object_set_new(document, "counted", json_boolean(account->infos[i].counted));
        energies = app_json_append(energies, document);
    }
    return energies;
}

static json_t *frequencies_document(const energy_frequency *frequencies, int num_frequencies)
{
    json_t *documents = json_array();
    for (int i = 0; i < num_frequencies; i++) {
        json_t *document = json_pack("{s:o, s:o, s:o}", "name", app_json_text(frequencies[i].name), "asked_hz",
                                     app_json_number(frequencies[i].asked_hz), "reached_hz", app_json_number(frequencies[i].reached_hz));
        documents = app_json_append(documents, document);
    }
    return documents;
}

yoke_status energy_record(energy_account *account, const energy_frequency *frequencies, int num_frequencies, json_t *record)
{
    const struct {
        const char *key;
        json_t *value;
    } members[] = {
        {"seconds", app_json_number(account->seconds.mean)},
        {"seconds_interval", app_json_number(energy_half_width(&account->seconds))},
        {"runs", json_integer(account->seconds.count)},
        {"energies", energies_document(account)},
        {"total", result_document(NULL, &account->total)},
        {"mean_power_w", app_json_number(value_of(&account->total) / account->seconds.mean)},
        {"set_clocks", frequencies_document(frequencies, num_frequencies)},
        {"samples", json_incref(account->samples)},
        {"num_samples", json_integer(account->num_samples)},
    };
    yoke_status status = YOKE_OK;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        yoke_status set = app_record_set(account->context, record, members[i].key, members[i].value);
        if (status == YOKE_OK) status = set;
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------- watching */

static void append_power(char *line, size_t bytes, const char *name, const yoke_energy *energy, double seconds)
{
    if (isfinite(energy->value_j))
        app_append(line, bytes, "  %s %.4g W", name, energy->value_j / seconds);
    else
        app_append(line, bytes, "  %s - W", name);
}

void energy_watch_line(const energy_account *account, const app_terminal *terminal, FILE *stream, bool rewrite, const energy_sample *sample)
{
    char line[4096];
    if (terminal->quiet) return;
    snprintf(line, sizeof line, "%.2f s", sample->start_s + sample->seconds);
    for (int64_t i = 0; i < account->num_meters; i++)
        append_power(line, sizeof line, account->infos[i].name, &account->energies[i], sample->seconds);
    append_power(line, sizeof line, "total", &account->latest, sample->seconds);
    if (!isfinite(account->latest.value_j) && account->latest.why_not[0] != '\0')
        app_append(line, sizeof line, " (%s)", account->latest.why_not);
    if (rewrite)
        fprintf(stream, "\r\033[K%.*s", app_terminal_fits(stream, line), line);
    else
        fprintf(stream, "%s\n", line);
    fflush(stream);
}
