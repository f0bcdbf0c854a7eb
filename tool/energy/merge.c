#include "energy/merge.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/console/numbers.h"
#include "common/files/file.h"
#include "common/files/record.h"
#include "energy/energy.h"
#include "energy/source.h"

typedef struct merging {
    yoke_context *context;
    const energy_merge_request *request;
    energy_source *source; /* [num_sources] */
    int num_sources, num_streams;
    const energy_stream **stream; /* [num_streams] */
    yoke_meter_info *infos;       /* [num_streams] */
    double from_s, to_s;
    double *times; /* [num_times] at which a row of the file begins or ends */
    int64_t num_times;
    energy_account account;
} merging;

/* ---------------------------------------------------------------------------------------------- one stream */

/* Returns the first cell that ends after a time. */
static int64_t first_cell(const energy_stream *stream, double time_s)
{
    int64_t low = 0, high = stream->num_cells;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (stream->cells[middle].last_s > time_s)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static yoke_energy not_recorded(const energy_stream *stream, double from_s, double to_s)
{
    yoke_energy energy = {.value_j = NAN, .uncertainty_j = NAN, .kind = YOKE_ENERGY_NONE};
    snprintf(energy.why_not, sizeof energy.why_not, "%s: nothing is recorded from %.13g to %.13g s", stream->name, from_s, to_s);
    return energy;
}

/*
 * Energy between two times, the exact integral of piecewise linear power.  uncertainty_j: the power between two readings may have any value
 * between them; the energy of a counter's step that reaches beyond the interval may lie anywhere in the step.  If there is no value,
 * why_not gives the times between which nothing is recorded.
 */
static yoke_energy integrate_stream(const energy_stream *stream, double from_s, double to_s)
{
    const double rounding_s = 4 * DBL_EPSILON * fmax(fabs(from_s), fabs(to_s));
    yoke_energy energy = {.kind = YOKE_ENERGY_REPLAYED};
    double covered_s = from_s;
    for (int64_t i = first_cell(stream, from_s); i < stream->num_cells && stream->cells[i].first_s < to_s; i++) {
        const energy_cell *cell = &stream->cells[i];
        if (cell->first_s > covered_s + rounding_s) return not_recorded(stream, covered_s, cell->first_s);
        const double begin_s = fmax(cell->first_s, from_s), end_s = fmin(cell->last_s, to_s), length_s = cell->last_s - cell->first_s;
        const double slope = (cell->last_w - cell->first_w) / length_s, part_s = end_s - begin_s;
        const double part_j = part_s * (cell->first_w + slope * (0.5 * (begin_s + end_s) - cell->first_s));
        double least_j = part_s * fmin(cell->first_w, cell->last_w), most_j = part_s * fmax(cell->first_w, cell->last_w);
        if (stream->counts && part_s < length_s) {
            least_j = 0;
            most_j = length_s * cell->first_w;
        }
        energy.value_j += part_j;
        energy.uncertainty_j += fmax(most_j - part_j, part_j - least_j);
        covered_s = end_s;
    }
    return covered_s + rounding_s < to_s ? not_recorded(stream, covered_s, to_s) : energy;
}

/* ---------------------------------------------------------------------------------------------- all streams */

/* Computes the account's energies and their sum, which is not known if one of them is not known. */
static void integrate(merging *m, double from_s, double to_s)
{
    energy_account *account = &m->account;
    account->latest = (yoke_energy){.kind = YOKE_ENERGY_REPLAYED};
    for (int i = 0; i < m->num_streams; i++) {
        account->energies[i] = integrate_stream(m->stream[i], from_s, to_s);
        const yoke_energy *one = &account->energies[i];
        if (one->kind == YOKE_ENERGY_NONE && account->latest.kind != YOKE_ENERGY_NONE) account->latest = *one;
        account->latest.value_j += one->value_j;
        account->latest.uncertainty_j += one->uncertainty_j;
    }
}

static yoke_status list_streams(merging *m)
{
    for (int s = 0; s < m->num_sources; s++) m->num_streams += m->source[s].num_streams;
    yoke_status status = yoke_allocate(m->context, m->num_streams, sizeof *m->stream, &m->stream);
    if (status == YOKE_OK) status = yoke_allocate(m->context, m->num_streams, sizeof *m->infos, &m->infos);
    for (int s = 0, i = 0; s < m->num_sources && status == YOKE_OK; s++)
        for (int k = 0; k < m->source[s].num_streams; k++, i++) {
            m->stream[i] = &m->source[s].stream[k];
            snprintf(m->infos[i].name, sizeof m->infos[i].name, "%s", m->stream[i]->name);
            m->infos[i].usable = m->infos[i].counted = 1;
        }
    return status;
}

static double begin_of(const energy_stream *stream) { return stream->num_cells > 0 ? stream->cells[0].first_s : NAN; }
static double end_of(const energy_stream *stream) { return stream->num_cells > 0 ? stream->cells[stream->num_cells - 1].last_s : NAN; }

/* Finds the interval of time that all streams have in common, unless another one is requested. */
static yoke_status find_interval(merging *m)
{
    int latest = 0, earliest = 0;
    for (int i = 0; i < m->num_streams; i++) {
        if (m->stream[i]->num_cells == 0)
            return yoke_fail(m->context, YOKE_ERROR_INPUT,
                             "%s: all readings are further apart than the gap that is interpolated over; gap=S allows longer ones",
                             m->stream[i]->name);
        if (begin_of(m->stream[i]) > begin_of(m->stream[latest])) latest = i;
        if (end_of(m->stream[i]) < end_of(m->stream[earliest])) earliest = i;
    }
    m->from_s = begin_of(m->stream[latest]);
    m->to_s = end_of(m->stream[earliest]);
    yoke_status status = app_option_real(m->context, "from", m->request->from, -1e12, 1e12, &m->from_s);
    if (status == YOKE_OK) status = app_option_real(m->context, "to", m->request->to, -1e12, 1e12, &m->to_s);
    if (status != YOKE_OK || m->from_s < m->to_s) return status;
    if (m->request->from != NULL || m->request->to != NULL)
        return yoke_fail(m->context, YOKE_ERROR_INPUT, "from %.13g to %.13g s is no interval; the streams have %.13g to %.13g s in common",
                         m->from_s, m->to_s, begin_of(m->stream[latest]), end_of(m->stream[earliest]));
    return yoke_fail(m->context, YOKE_ERROR_INPUT,
                     "the streams have no time in common: %s ends at %.13g s, and %s begins at %.13g s; FILE,offset=S moves a stream",
                     m->stream[earliest]->name, m->to_s, m->stream[latest]->name, m->from_s);
}

/* Lists all times within the interval at which a stream has a reading: between two of them every power is linear. */
static yoke_status list_times(merging *m)
{
    int64_t count = 2, kept = 0;
    for (int i = 0; i < m->num_streams; i++) count += 2 * m->stream[i]->num_cells;
    yoke_status status = yoke_allocate(m->context, count, sizeof *m->times, &m->times);
    if (status != YOKE_OK) return status;
    m->times[0] = m->from_s;
    m->times[1] = m->to_s;
    count = 2;
    for (int i = 0; i < m->num_streams; i++)
        for (int64_t k = 0; k < m->stream[i]->num_cells; k++) {
            const energy_cell *cell = &m->stream[i]->cells[k];
            if (cell->first_s > m->from_s && cell->first_s < m->to_s) m->times[count++] = cell->first_s;
            if (cell->last_s > m->from_s && cell->last_s < m->to_s) m->times[count++] = cell->last_s;
        }
    app_sort(m->times, count);
    for (int64_t i = 0; i < count; i++)
        if (kept == 0 || m->times[i] > m->times[kept - 1]) m->times[kept++] = m->times[i];
    m->num_times = kept;
    return YOKE_OK;
}

static yoke_status write_rows(merging *m)
{
    yoke_status status = list_times(m);
    for (int64_t i = 0; i + 1 < m->num_times && status == YOKE_OK; i++) {
        const energy_sample row = {.run = 1, .start_s = m->times[i] - m->from_s, .seconds = m->times[i + 1] - m->times[i], .code = -1};
        integrate(m, m->times[i], m->times[i + 1]);
        status = energy_account_row(&m->account, &row);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------- output */

static json_t *sources_document(const merging *m)
{
    json_t *list = json_array();
    for (int s = 0; s < m->num_sources; s++) {
        const energy_source *source = &m->source[s];
        json_t *columns = json_array();
        for (int k = 0; k < source->num_streams; k++)
            columns = app_json_append(columns, json_pack("{s:o, s:o, s:o}", "name", app_json_text(source->stream[k].name), "first_s",
                                                         app_json_number(begin_of(&source->stream[k])), "last_s",
                                                         app_json_number(end_of(&source->stream[k]))));
        list = app_json_append(list, json_pack("{s:o, s:o, s:I, s:o}", "file", app_json_text(source->path), "offset_s",
                                               app_json_number(source->offset_s), "rows", (json_int_t)source->rows, "streams", columns));
    }
    return list;
}

static yoke_status write_record(merging *m, const char *program, int argc, char **argv)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(m->context, program, argc, argv, &record);
    if (status == YOKE_OK) status = energy_record(&m->account, NULL, 0, record);
    if (status == YOKE_OK) status = app_record_set(m->context, record, "sources", sources_document(m));
    if (status == YOKE_OK) status = app_record_set(m->context, record, "from_s", app_json_number(m->from_s));
    if (status == YOKE_OK) status = app_record_set(m->context, record, "to_s", app_json_number(m->to_s));
    if (status == YOKE_OK) status = app_record_write(m->context, record, m->request->json);
    json_decref(record);
    return status;
}

/* Checks that no output overwrites a recorded file. */
static yoke_status check_files(const merging *m)
{
    app_named_file files[ENERGY_MAX_SOURCES + 3] = {{0}};
    for (int s = 0; s < m->num_sources; s++) files[s] = (app_named_file){"--source", m->source[s].path, true};
    files[m->num_sources] = (app_named_file){"--csv", m->request->csv, false};
    files[m->num_sources + 1] = (app_named_file){"--json", m->request->json, false};
    return app_files_check(m->context, files);
}

static yoke_status tell(merging *m, const app_terminal *terminal, int argc, char **argv)
{
    const energy_merge_request *request = m->request;
    char title[128];
    yoke_meters streams = {.infos = m->infos, .count = m->num_streams};
    yoke_status status = energy_account_create(m->context, &streams, request->csv, request->json != NULL, &m->account);
    if (status == YOKE_OK && (request->csv != NULL || request->json != NULL)) status = write_rows(m);
    if (status != YOKE_OK) return status;
    integrate(m, m->from_s, m->to_s);
    energy_account_add(&m->account, m->to_s - m->from_s);
    snprintf(title, sizeof title, "%d stream%s of %d file%s, from %.13g to %.13g s", m->num_streams, m->num_streams > 1 ? "s" : "",
             m->num_sources, m->num_sources > 1 ? "s" : "", m->from_s, m->to_s);
    m->account.title = title;
    if (!terminal->quiet) energy_report(&m->account, &(yoke_meter_options){0}, NULL);
    m->account.title = NULL;
    status = energy_account_commit(&m->account);
    return status == YOKE_OK && request->json != NULL ? write_record(m, terminal->program, argc, argv) : status;
}

yoke_status energy_merge(yoke_context *context, app_terminal *terminal, const energy_merge_request *request, int argc, char **argv)
{
    merging m = {.context = context, .request = request, .account = {.context = context}};
    if (request->sources->count > ENERGY_MAX_SOURCES)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--source is given %d times; at most %d files", request->sources->count,
                         ENERGY_MAX_SOURCES);
    yoke_status status = yoke_allocate(context, request->sources->count, sizeof *m.source, &m.source);
    while (status == YOKE_OK && m.num_sources < request->sources->count) {
        status = energy_source_read(context, request->sources->text[m.num_sources], &m.source[m.num_sources]);
        m.num_sources += status == YOKE_OK;
    }
    if (status == YOKE_OK) status = check_files(&m);
    if (status == YOKE_OK) status = list_streams(&m);
    if (status == YOKE_OK) status = find_interval(&m);
    if (status == YOKE_OK) status = tell(&m, terminal, argc, argv);
    energy_account_destroy(&m.account);
    for (int s = 0; s < m.num_sources; s++) energy_source_release(context, &m.source[s]);
    yoke_release(context, m.times);
    yoke_release(context, m.infos);
    yoke_release(context, m.stream);
    yoke_release(context, m.source);
    return status;
}
