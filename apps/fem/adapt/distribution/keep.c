/* keep.c - saves in checkpoints what a run has learned of its devices and ranks, and restores it. */
#include <math.h>
#include <string.h>

#include "adapt/distribution/private.h"
#include "common/files/record.h"

/* Largest number of texts for one rank, as many as the library reads: the rank's own of the run before, then those of other ranks. */
enum { MOST_TEXTS = 64 };

/* ---------------------------------------------------------------------------------------- into a checkpoint */

/* The data of the earlier steps that nodes.h needs; the same on all ranks. */
static json_t *ranks_state(const fem_distribution *d)
{
    return json_pack("{s:i, s:o, s:o, s:b, s:o, s:i}", "count", app_ranks_count(d->options.ranks), "products",
                     app_json_number(d->latest_products), "move_s", app_json_number(d->move_s), "differed", d->differed, "errors",
                     app_json_numbers(d->errors.relative, FEM_NODES_ERRORS), "num_errors", (int)fmin((double)d->errors.count, INT32_MAX));
}

/* Appends the text of each rank to the first rank's array; *array becomes NULL if there is no memory.  All ranks have a text. */
static yoke_status collect_texts(fem_distribution *d, const char *own, json_t **array)
{
    app_ranks *ranks = d->options.ranks;
    const int count = app_ranks_count(ranks), is_first = app_ranks_number(ranks) == 0;
    int64_t bytes = (int64_t)strlen(own) + 1, most = 0;
    char *text = NULL;
    app_ranks_gather(ranks, &bytes, sizeof bytes, d->now);
    for (int r = 0; r < count; r++) most = d->now[r] > most ? d->now[r] : most;
    yoke_status status = is_first ? yoke_allocate_untouched(d->context, most, 1, &text) : YOKE_OK;
    status = app_ranks_agree(ranks, status);
    if (is_first) *array = app_json_append(*array, app_json_text(own));
    for (int r = 1; r < count && !status; r++) {
        app_ranks_send_to_first(ranks, r, own, text, d->now[r]);
        if (is_first) *array = app_json_append(*array, app_json_text(text));
    }
    yoke_release(d->context, text);
    return status;
}

yoke_status fem_distribution_save(fem_distribution *d, json_t **saved)
{
    const int is_first = app_ranks_number(d->options.ranks) == 0;
    char *own = NULL;
    json_t *texts = is_first ? json_array() : NULL;
    *saved = NULL;
    yoke_status status = app_ranks_agree(d->options.ranks, yoke_run_known(d->run, &own));
    if (!status) status = collect_texts(d, own, &texts);
    yoke_release(d->context, own);
    if (status) {
        json_decref(texts);
        return status;
    }
    if (is_first) {
        *saved = json_pack("{s:o, s:o}", "known", texts, "ranks", ranks_state(d));
        if (!*saved) status = yoke_fail(d->context, YOKE_ERROR_MEMORY, "out of memory for what is known of the devices");
    }
    return app_ranks_agree(d->options.ranks, status);
}

/* ---------------------------------------------------------------------------------------- out of a checkpoint */

yoke_status fem_distribution_find_known(const fem_distribution *d, const char ***texts, int64_t *count)
{
    const json_t *known = json_object_get(d->options.saved, "known");
    const size_t all = json_array_size(known), own = (size_t)app_ranks_number(d->options.ranks);
    *count = 0;
    yoke_status status = yoke_allocate(d->context, MOST_TEXTS, sizeof **texts, texts);
    for (size_t k = 0; k <= all && *count < MOST_TEXTS && !status; k++) {
        const size_t i = k ? k - 1 : own;
        const char *text = k && i == own ? NULL : json_string_value(json_array_get(known, i));
        if (text) (*texts)[(*count)++] = text;
    }
    return status;
}

/* Returns nonzero if the number is not known (NaN), or at least 0. */
static int is_amount(double number) { return isnan(number) || (isfinite(number) && number >= 0); }

int fem_distribution_restore(fem_distribution *d)
{
    const json_t *saved = d->options.saved, *known = json_object_get(saved, "known");
    json_t *products, *move_s, *errors;
    int count, differed, num_errors;
    double numbers[2 + FEM_NODES_ERRORS];
    if (!saved) return 1;
    int good = json_is_array(known) &&
               json_unpack(json_object_get(saved, "ranks"), "{s:i, s:o, s:o, s:b, s:o, s:i}", "count", &count, "products", &products,
                           "move_s", &move_s, "differed", &differed, "errors", &errors, "num_errors", &num_errors) == 0;
    for (size_t i = 0; good && i < json_array_size(known); i++) good = json_is_string(json_array_get(known, i));
    json_t *pair = good ? json_pack("[O, O]", products, move_s) : NULL;
    good =
        good && num_errors >= 0 && app_json_read_numbers(pair, numbers, 2) && app_json_read_numbers(errors, numbers + 2, FEM_NODES_ERRORS);
    json_decref(pair);
    for (int i = 0; good && i < 2 + FEM_NODES_ERRORS; i++) good = is_amount(numbers[i]);
    if (!good || isnan(numbers[0])) return 0;
    if (count != app_ranks_count(d->options.ranks)) return 1; /* data of these ranks are useless for another number of ranks */
    d->latest_products = numbers[0];
    d->move_s = numbers[1] > 0 ? numbers[1] : (double)NAN;
    d->differed = differed;
    d->errors.count = num_errors;
    memcpy(d->errors.relative, numbers + 2, sizeof d->errors.relative);
    return 1;
}
