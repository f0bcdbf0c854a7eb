/* Writes single runs or intervals to the record and the CSV file. */
#include <math.h>
#include <string.h>

#include "common/files/record.h"
#include "energy/energy.h"

/* Largest number of runs or intervals in the record; the CSV file has all. */
enum { MAX_SAMPLES = 10000 };

/* ------------------------------------------------------------------------------------------------- the file */

/* Names of meters usually contain no quotation marks, but a machine may name its sensors so. */
static void write_name(FILE *stream, const char *name, const char *suffix)
{
    bool quoted = strpbrk(name, ",\"\r\n") != NULL;
    if (quoted) fputc('"', stream);
    for (const char *at = name; *at != '\0'; at++) {
        if (*at == '"') fputc('"', stream);
        fputc(*at == '\n' || *at == '\r' ? ' ' : *at, stream);
    }
    fputs(suffix, stream);
    if (quoted) fputc('"', stream);
}

/* Writes a number, or nothing if it is not known. */
static void write_number(FILE *stream, double number)
{
    if (isfinite(number))
        fprintf(stream, ",%.9g", number);
    else
        fputc(',', stream);
}

static void write_head(const energy_account *account)
{
    FILE *stream = app_file_stream(account->csv);
    fputs("run,start_s,seconds", stream);
    for (int64_t i = 0; i < account->num_meters; i++) {
        fputc(',', stream);
        write_name(stream, account->infos[i].name, "_j");
        fputc(',', stream);
        write_name(stream, account->infos[i].name, "_uncertainty_j");
    }
    fputs(",total_j,total_uncertainty_j,mean_w,exit_code\n", stream);
    fflush(stream);
}

static void write_row(const energy_account *account, const energy_sample *sample)
{
    FILE *stream = app_file_stream(account->csv);
    fprintf(stream, "%lld", (long long)sample->run);
    write_number(stream, sample->start_s);
    write_number(stream, sample->seconds);
    for (int64_t i = 0; i < account->num_meters; i++) {
        write_number(stream, account->energies[i].value_j);
        write_number(stream, account->energies[i].uncertainty_j);
    }
    write_number(stream, account->latest.value_j);
    write_number(stream, account->latest.uncertainty_j);
    write_number(stream, account->latest.value_j / sample->seconds);
    write_number(stream, sample->code >= 0 ? sample->code : NAN);
    fputc('\n', stream);
    fflush(stream);
}

/* ----------------------------------------------------------------------------------------------- the samples */

static json_t *code_document(int code) { return code >= 0 ? json_integer(code) : json_null(); }

static yoke_status keep_sample(energy_account *account, const energy_sample *sample)
{
    if (++account->num_samples > MAX_SAMPLES) return YOKE_OK;
    json_t *energies = json_array();
    for (int64_t i = 0; i < account->num_meters; i++) energies = app_json_append(energies, app_json_number(account->energies[i].value_j));
    json_t *document = json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "run", (json_int_t)sample->run, "start_s",
                                 app_json_number(sample->start_s), "seconds", app_json_number(sample->seconds), "energies_j", energies,
                                 "total_j", app_json_number(account->latest.value_j), "exit_code", code_document(sample->code));
    if (json_array_append_new(account->samples, document) != 0)
        return yoke_fail(account->context, YOKE_ERROR_MEMORY, "out of memory for the samples of the run record");
    return YOKE_OK;
}

/* ---------------------------------------------------------------------------------------------- the account */

static yoke_status allocate(yoke_context *context, energy_account *account)
{
    void *results = NULL, *energies = NULL;
    yoke_status status = yoke_allocate(context, account->num_meters, sizeof *account->results, &results);
    if (status == YOKE_OK) status = yoke_allocate(context, account->num_meters, sizeof *account->energies, &energies);
    account->results = results;
    account->energies = energies;
    return status;
}

yoke_status energy_account_create(yoke_context *context, yoke_meters *meter, const char *csv, bool record, energy_account *account)
{
    *account = (energy_account){.context = context, .meter = meter};
    account->infos = meter->infos;
    account->num_meters = meter->count;
    yoke_status status = allocate(context, account);
    if (status == YOKE_OK && csv != NULL) status = app_file_create(context, csv, &account->csv);
    if (status == YOKE_OK && record) {
        account->samples = json_array();
        if (account->samples == NULL) status = yoke_fail(context, YOKE_ERROR_MEMORY, "out of memory for the samples of the run record");
    }
    if (status != YOKE_OK) {
        energy_account_destroy(account);
        return status;
    }
    if (account->csv != NULL) write_head(account);
    return YOKE_OK;
}

yoke_status energy_account_end(energy_account *account, yoke_region *region, double *seconds)
{
    return yoke_region_end(region, seconds, account->energies, &account->latest);
}

yoke_status energy_account_row(energy_account *account, const energy_sample *sample)
{
    if (account->csv != NULL) {
        write_row(account, sample);
        /* Watching may last for days: a full disk must be reported at once, not at the end. */
        if (ferror(app_file_stream(account->csv))) return energy_account_commit(account);
    }
    return account->samples != NULL ? keep_sample(account, sample) : YOKE_OK;
}

static void add(energy_result *result, const yoke_energy *energy)
{
    if (energy->why_not[0] != '\0') memcpy(result->why_not, energy->why_not, sizeof result->why_not);
    if (!isfinite(energy->value_j)) {
        result->missing++;
        return;
    }
    energy_statistic_add(&result->value, energy->value_j);
    result->uncertainty_j += energy->uncertainty_j;
    result->kind = energy->kind;
}

void energy_account_add(energy_account *account, double seconds)
{
    energy_statistic_add(&account->seconds, seconds);
    for (int64_t i = 0; i < account->num_meters; i++) add(&account->results[i], &account->energies[i]);
    add(&account->total, &account->latest);
}

yoke_status energy_account_commit(energy_account *account)
{
    app_file *file = account->csv;
    account->csv = NULL;
    return file != NULL ? app_file_commit(file) : YOKE_OK;
}

void energy_account_destroy(energy_account *account)
{
    app_file_abandon(account->csv);
    json_decref(account->samples);
    yoke_release(account->context, account->results);
    yoke_release(account->context, account->energies);
    *account = (energy_account){0};
}
