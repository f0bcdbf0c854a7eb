#include "reproduce/account.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *reproduce_status_name(reproduce_status status)
{
    static const char *const names[REPRODUCE_NUM_STATUSES] = {"reproducible", "derived", "inconsistent", "under-determined"};
    return names[status];
}

const char *reproduce_kind_name(reproduce_kind kind)
{
    static const char *const names[REPRODUCE_NUM_KINDS] = {"none",     "published", "repeated",     "derived",
                                                           "property", "unchecked", "not evaluated"};
    return names[kind];
}

/* Whether a row is compared with its check instead of the published number. */
static bool by_check(const reproduce_row *row)
{
    return row->kind == REPRODUCE_INDEPENDENT || (row->kind == REPRODUCE_REPEATED && isnan(row->published));
}

reproduce_verdict reproduce_judge(const reproduce_row *row)
{
    if (row->kind == REPRODUCE_UNCHECKED || row->kind == REPRODUCE_NOT_EVALUATED || row->kind == REPRODUCE_NO_KIND)
        return REPRODUCE_UNJUDGED;
    double against = by_check(row) ? row->checked ? row->check : NAN : row->published;
    double tolerance = fmax(row->absolute, row->relative * fabs(against));
    bool agree = by_check(row) || !row->checked || fabs(row->recomputed - row->check) <= 1e-9 * fabs(row->check);
    /* a number printed with an error of half a unit may differ by exactly that half and a rounding error */
    if (agree && isfinite(row->recomputed) && fabs(row->recomputed - against) <= tolerance + 1e-12 * fabs(against)) return REPRODUCE_WITHIN;
    bool explained = row->status == REPRODUCE_INCONSISTENT || row->status == REPRODUCE_UNDETERMINED;
    return explained && agree && !by_check(row) && isfinite(row->recomputed) ? REPRODUCE_OUTSIDE : REPRODUCE_MISSED;
}

static bool empty(const char *text) { return text == NULL || *text == '\0'; }

/*
 * Returns what a row lacks, or NULL: its kind, a number or a reason that the kind requires, or the methods by which its two numbers are
 * found; or that both methods are the same.
 */
static const char *fault_of(const reproduce_row *row)
{
    bool compared = row->kind != REPRODUCE_UNCHECKED && row->kind != REPRODUCE_NOT_EVALUATED;
    if (row->kind == REPRODUCE_NO_KIND) return "has no kind";
    if ((!compared || row->kind == REPRODUCE_REPEATED) && empty(row->reason)) return "has no reason why it is not a comparison of its own";
    if (!compared) return row->checked ? "has a check, yet is not compared" : NULL;
    if (row->kind == REPRODUCE_PUBLISHED && isnan(row->published)) return "has nothing published";
    if (row->kind == REPRODUCE_PROPERTY && row->published != 0 && row->published != 1) return "is no property: yes or no is not published";
    if (row->kind == REPRODUCE_INDEPENDENT && !isnan(row->published)) return "has something published, yet is called derived";
    if (by_check(row) && !row->checked) return "has nothing to be compared with";
    if (empty(row->because)) return "has no reason of its tolerance";
    if (empty(row->by) || (row->checked && empty(row->check_by))) return "does not say how its numbers are found";
    if (row->checked && strcmp(row->by, row->check_by) == 0) return "is compared with itself: both of its numbers are found in one way";
    return NULL;
}

void reproduce_count(reproduce_account *account, const reproduce_row *row, reproduce_verdict verdict)
{
    const char *fault = fault_of(row);
    if (strcmp(account->id, row->id) != 0) {
        snprintf(account->id, sizeof account->id, "%s", row->id);
        account->entry_missed = false;
        account->entries[row->status]++;
    }
    account->numbers[row->kind][verdict]++;
    if (fault != NULL && account->fault[0] == '\0')
        snprintf(account->fault, sizeof account->fault, "%s%s%s %s", row->id, row->part != NULL ? " " : "",
                 row->part != NULL ? row->part : "", fault);
    if (verdict != REPRODUCE_MISSED || account->entry_missed) return;
    account->entry_missed = true;
    size_t length = strlen(account->missed);
    snprintf(account->missed + length, sizeof account->missed - length, "%s%s", length > 0 ? ", " : "", row->id);
}

int64_t reproduce_sum(const reproduce_account *account, reproduce_verdict verdict)
{
    int64_t sum = 0;
    for (int kind = 0; kind < REPRODUCE_NUM_KINDS; kind++) sum += account->numbers[kind][verdict];
    return sum;
}

json_t *reproduce_totals(const reproduce_account *account)
{
    static const reproduce_kind compared[] = {REPRODUCE_PUBLISHED, REPRODUCE_REPEATED, REPRODUCE_INDEPENDENT, REPRODUCE_PROPERTY};
    json_t *totals = json_pack("{s:I, s:I}", "unchecked", (json_int_t)account->numbers[REPRODUCE_UNCHECKED][REPRODUCE_UNJUDGED],
                               "not_evaluated", (json_int_t)account->numbers[REPRODUCE_NOT_EVALUATED][REPRODUCE_UNJUDGED]);
    bool complete = totals != NULL;
    for (size_t i = 0; i < sizeof compared / sizeof compared[0] && complete; i++) {
        const int64_t *numbers = account->numbers[compared[i]];
        json_t *verdicts = json_pack("{s:I, s:I, s:I}", "within", (json_int_t)numbers[REPRODUCE_WITHIN], "outside",
                                     (json_int_t)numbers[REPRODUCE_OUTSIDE], "missed", (json_int_t)numbers[REPRODUCE_MISSED]);
        complete = json_object_set_new(totals, reproduce_kind_name(compared[i]), verdicts) == 0;
    }
    if (complete) return totals;
    json_decref(totals);
    return NULL;
}
