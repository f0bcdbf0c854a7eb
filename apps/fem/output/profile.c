#include "output/profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/console/append.h"

enum { NAME_WIDTH = 20, DEVICE_WIDTH = 12 };

const char *fem_profile_name(const yoke_run_profile *row) { return row->kernel ? row->kernel : "between kernels"; }

static const char *text_of(char text[32], const char *format, double number)
{
    snprintf(text, 32, format, number);
    return isnan(number) ? "-" : text;
}

/* Name of the device, preceded by its rank if there are several ranks. */
static const char *device_of(const fem_profile *profile, int64_t i, char text[96])
{
    const char *name = profile->names[profile->rows[i].device];
    if (!profile->ranks) return name;
    snprintf(text, 96, "%d %s", profile->ranks[i], name);
    return text;
}

static int has_frequencies(const fem_profile *profile)
{
    for (int64_t i = 0; i < profile->count; i++)
        if (!isnan(profile->rows[i].frequency_hz)) return 1;
    return 0;
}

/* Prints one line for all kernels of a device whose energy is missing for the same reason. */
static void print_reasons(app_terminal *terminal, const fem_profile *profile)
{
    for (int64_t i = 0; i < profile->count; i++) {
        const yoke_run_profile *row = &profile->rows[i];
        char kernels[256] = "";
        int told = !row->why_not[0];
        for (int64_t k = 0; k < i && !told; k++)
            told = profile->rows[k].device == row->device && !strcmp(profile->rows[k].why_not, row->why_not);
        for (int64_t k = i; k < profile->count && !told; k++) {
            if (profile->rows[k].device != row->device || strcmp(profile->rows[k].why_not, row->why_not) != 0) continue;
            app_append(kernels, sizeof kernels, "%s%s", *kernels ? ", " : "", fem_profile_name(&profile->rows[k]));
        }
        char device[96];
        if (!told) app_print(terminal, "no energy of %s (%s): %s\n", device_of(profile, i, device), kernels, row->why_not);
    }
}

void fem_profile_print(app_terminal *terminal, const fem_profile *profile)
{
    const int frequencies = has_frequencies(profile);
    app_print(terminal, "\n%-*s  %-*s%s %8s %9s %9s %9s %8s %7s %7s\n", NAME_WIDTH, "kernel", DEVICE_WIDTH, "device",
              frequencies ? "     GHz" : "", "calls", "s/call", "s all", "J/call", "+-", "W", "share %");
    for (int64_t i = 0; i < profile->count; i++) {
        const yoke_run_profile *row = &profile->rows[i];
        char text[8][32], frequency[64] = "", device[96];
        if (frequencies) snprintf(frequency, sizeof frequency, " %7s", text_of(text[6], "%.3g", 1e-9 * row->frequency_hz));
        app_print(terminal, "%-*s  %-*s%s %8.0f %9s %9s %9s %8s %7s %7s\n", NAME_WIDTH, fem_profile_name(row), DEVICE_WIDTH,
                  device_of(profile, i, device), frequency, row->calls, text_of(text[0], "%.3g", row->call_s),
                  text_of(text[7], "%.3g", row->calls * row->call_s), text_of(text[1], "%.4g", row->energy_j),
                  text_of(text[2], "%.2g", row->uncertainty_j), text_of(text[3], "%.4g", row->energy_j / row->call_s),
                  text_of(text[4], "%.2f", 100 * row->part));
    }
    print_reasons(terminal, profile);
}
