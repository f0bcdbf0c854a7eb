/*
 * account.h - counts the rows of `yoke reproduce`: with what each number is compared, and how many of each kind are met.
 */
#ifndef TOOL_REPRODUCE_ACCOUNT_H
#define TOOL_REPRODUCE_ACCOUNT_H

#include <jansson.h>

#include "reproduce/report.h"

enum { REPRODUCE_NUM_KINDS = REPRODUCE_NOT_EVALUATED + 1, REPRODUCE_NUM_STATUSES = REPRODUCE_UNDETERMINED + 1 };

typedef enum reproduce_verdict {
    REPRODUCE_WITHIN,   /* compared, and within the tolerance */
    REPRODUCE_OUTSIDE,  /* compared, and outside, as its status allows: the paper contradicts itself, or an input is not printed */
    REPRODUCE_MISSED,   /* compared, and outside */
    REPRODUCE_UNJUDGED, /* not compared */
} reproduce_verdict;

/* Numbers of a kind by verdict, and entries by status. */
typedef struct reproduce_account {
    int64_t numbers[REPRODUCE_NUM_KINDS][REPRODUCE_UNJUDGED + 1];
    int64_t entries[REPRODUCE_NUM_STATUSES];
    char id[96];      /* of the entry that is being counted */
    char missed[512]; /* ids of missed entries */
    char fault[320];  /* the first row with incomplete data; "": none */
    bool entry_missed;
} reproduce_account;

/* Status and kind as they are written in files and reports. */
const char *reproduce_status_name(reproduce_status status);
const char *reproduce_kind_name(reproduce_kind kind);

/* Whether the number of a row is within its tolerance. */
reproduce_verdict reproduce_judge(const reproduce_row *row);

void reproduce_count(reproduce_account *account, const reproduce_row *row, reproduce_verdict verdict);

/* All kinds of a verdict together. */
int64_t reproduce_sum(const reproduce_account *account, reproduce_verdict verdict);

/* {"published": {"within": .., "outside": .., "missed": ..}, ..., "unchecked": .., "not_evaluated": ..}; NULL: out of memory. */
json_t *reproduce_totals(const reproduce_account *account);

#endif
