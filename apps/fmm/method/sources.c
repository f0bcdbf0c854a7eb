#include "method/sources.h"

#include <stdint.h>
#include <stdio.h>

/* yoke_embed_text */
extern const char fmm_near_pairs_text[], fmm_near_single_text[], fmm_near_text[], fmm_turns_text[], fmm_batch_text[],
    fmm_batch_single_text[], fmm_translate_text[], fmm_waves_text[], fmm_wave_levels_text[], fmm_between_text[], fmm_harmonics_text[],
    fmm_sort_text[], fmm_levels_text[], fmm_lists_text[], fmm_leaf_lists_text[];

static uint64_t add(uint64_t hash, int count, const char *const *texts)
{
    for (int i = 0; i < count; i++)
        for (const char *p = texts[i]; *p; p++) hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    return hash;
}

void fmm_fingerprint(int count, const char *const *more, char text[FMM_FINGERPRINT_BYTES])
{
    const char *const own[] = {fmm_near_pairs_text,   fmm_near_single_text, fmm_near_text,   fmm_turns_text,       fmm_batch_text,
                               fmm_batch_single_text, fmm_translate_text,   fmm_waves_text,  fmm_wave_levels_text, fmm_between_text,
                               fmm_harmonics_text,    fmm_sort_text,        fmm_levels_text, fmm_lists_text,       fmm_leaf_lists_text};
    const uint64_t hash = add(add(14695981039346656037u, sizeof own / sizeof *own, own), count, more);
    (void)snprintf(text, FMM_FINGERPRINT_BYTES, "%016llx", (unsigned long long)hash);
}
