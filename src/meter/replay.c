#include "meter/replay.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct replaying {
    replay_table *table;
    const meter_time *time;
    double opened_s;
    int64_t column;
} replaying;

static meter_result read_column(void *state, meter_sample *sample, char why[METER_WHY_BYTES])
{
    const replaying *from = state;
    const replay_table *table = from->table;
    double now_s = from->time->now_s(from->time->user), at_s = now_s - from->opened_s;
    double end_s = table->times_s[table->rows - 1];
    if (at_s > end_s) {
        snprintf(why, METER_WHY_BYTES, "the recording ends at %.6g s%s", end_s, table->cut ? " (its last line is cut off)" : "");
        return METER_GONE;
    }
    int64_t row = replay_table_row(table, at_s);
    const replay_cell *cell = &table->cells[(row > 0 ? row : 0) * table->columns + from->column];
    if (cell->what != REPLAY_VALUE) {
        snprintf(why, METER_WHY_BYTES, "the recording has %s at %.6g s", cell->what == REPLAY_GONE ? "a lost meter" : "a failed reading",
                 at_s);
        return cell->what == REPLAY_GONE ? METER_GONE : METER_FAILED;
    }
    sample->time_s = now_s;
    sample->count = cell->count;
    sample->power_w = sample->energy_j = cell->value;
    return METER_READ;
}

static void close_column(void *state)
{
    replaying *from = state;
    replay_table *table = from->table;
    yoke_release(table->context, from);
    if (--table->users == 0) replay_table_destroy(table);
}

/* From the first column on, the table belongs to its domains. */
static yoke_status add_column(const meter_site *site, replay_table *table, double opened_s, int64_t column, meter_list *list)
{
    void *state = NULL;
    yoke_status status = yoke_allocate(site->context, 1, sizeof(replaying), &state);
    if (status != YOKE_OK) return status;
    *(replaying *)state = (replaying){.table = table, .time = site->time, .opened_s = opened_s, .column = column};
    meter_domain domain = table->domains[column];
    domain.info.source = YOKE_ENERGY_REPLAYED;
    domain.info.usable = 1;
    /* Nothing is known between two rows. */
    domain.info.period_s = fmax(isnan(domain.info.period_s) ? 0 : domain.info.period_s, table->longest_s);
    domain.info.period_measured = 1;
    domain.read = read_column;
    domain.close = close_column;
    domain.state = state;
    table->users++;
    return meter_list_add(list, &domain);
}

static yoke_status find(const meter_site *site, meter_list *list)
{
    if (site->replay == NULL) return YOKE_OK;
    replay_table *table = NULL;
    yoke_status status = replay_table_read(site->context, site->replay, &table);
    if (status != YOKE_OK) return status;
    double opened_s = site->time->now_s(site->time->user);
    table->users = 1; /* counts this function as a user */
    for (int64_t i = 0; status == YOKE_OK && i < table->columns; i++) {
        snprintf(table->domains[i].info.description, sizeof table->domains[i].info.description, "recorded in %.200s", site->replay);
        status = add_column(site, table, opened_s, i, list);
    }
    if (--table->users == 0) replay_table_destroy(table);
    return status;
}

const meter_kind meter_replay = {"replay", find};
