/* Frequencies of the machine at hand, of a directory or of a simulated machine. */
#define _XOPEN_SOURCE 700 /* realpath */

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frequency/frequency.h"
#include "run/machine/frequency_sim.h"
#include "run/machine/list.h"

static const double usual_settle_s = 0.2;

/* Writes the absolute path of the root directory, or "".  The guard works in another directory, so a relative path cannot be used. */
static yoke_status find_root(yoke_context *context, const yoke_frequency_options *options, char root[PATH_MAX])
{
    const char *asked = options != NULL && options->sysroot != NULL ? options->sysroot : getenv("YOKE_SYSROOT");
    root[0] = '\0';
    if (asked == NULL || asked[0] == '\0') return YOKE_OK;
    if (realpath(asked, root) == NULL)
        return yoke_fail(context, YOKE_ERROR_INPUT, "the root directory '%.200s' cannot be used: %s", asked, strerror(errno));
    if (strchr(root, '\n') != NULL) return yoke_fail(context, YOKE_ERROR_INPUT, "the root directory's name contains a newline");
    if (strcmp(root, "/") == 0) root[0] = '\0';
    return YOKE_OK;
}

yoke_status yoke_frequencies_list(yoke_context *context, const yoke_frequency_options *options, yoke_frequency_info **list, int64_t *count)
{
    if (context == NULL || list == NULL || count == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_frequencies_list: context, list or count is NULL");
    char root[PATH_MAX];
    yoke_status status = find_root(context, options, root);
    if (status != YOKE_OK) return status;
    meter_site site = {.context = context, .root = root};
    frequency_list found = {.context = context};
    void *memory = NULL;
    status = run_frequency_sim_find(context, &found);
    if (status == YOKE_OK && found.count == 0) status = frequencies_find(&site, &found); /* those of the real machine */
    if (status == YOKE_OK) status = yoke_allocate(context, found.count, sizeof(yoke_frequency_info), &memory);
    if (status == YOKE_OK) {
        yoke_frequency_info *infos = memory;
        for (int64_t i = 0; i < found.count; i++) infos[i] = found.entries[i].info;
        *list = infos;
        *count = found.count;
    }
    frequency_list_clear(&found);
    return status;
}

yoke_status yoke_frequencies_open(yoke_context *context, const yoke_frequency_options *options, yoke_frequencies **frequencies)
{
    if (context == NULL || frequencies == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_frequencies_open: context or frequencies is NULL");
    char root[PATH_MAX];
    double settle_s = options != NULL && options->settle_s != 0 ? options->settle_s : usual_settle_s;
    if (!(settle_s > 0 && settle_s <= 60))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_frequencies_open: settle_s is %g; it must be above 0 and at most 60",
                         settle_s);
    yoke_status status = find_root(context, options, root);
    if (status != YOKE_OK) return status;
    frequency_list simulated = {.context = context};
    status = run_frequency_sim_find(context, &simulated);
    if (status == YOKE_OK && simulated.count > 0) return frequencies_open_simulated(context, &simulated, frequencies);
    frequency_list_clear(&simulated);
    if (status != YOKE_OK) return status;
    meter_site site = {.context = context, .root = root};
    return frequencies_open(&site, settle_s, frequencies);
}

void yoke_frequencies_close(yoke_frequencies *frequencies)
{
    if (frequencies != NULL) frequencies_close(frequencies);
}

yoke_status yoke_frequency_set(yoke_frequencies *frequencies, const char *name, double hz, double *reached_hz)
{
    if (frequencies == NULL || name == NULL) return yoke_fail(NULL, YOKE_ERROR_ARGUMENT, "yoke_frequency_set: frequencies or name is NULL");
    return frequencies_set(frequencies, name, hz, reached_hz);
}
