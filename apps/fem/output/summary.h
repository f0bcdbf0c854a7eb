/*
 * summary.h - the summary of a run for engineers, as text: extremes with their positions, reactions compared with loads, probes, the
 * estimated error, and values that are not results.  It also writes probes.csv, with a row for each step and probe.
 */
#ifndef FEM_OUTPUT_SUMMARY_H
#define FEM_OUTPUT_SUMMARY_H

#include <stdio.h>

#include "output/quantities/singularity.h"
#include "output/record.h"

typedef struct fem_summary fem_summary;

/* Creates the summary of a case with these probes (borrowed).  Errors: MEMORY. */
yoke_status fem_summary_create(const fem_case *input, const fem_problem *problem, int num_probes, const fem_probe *probes,
                               fem_summary **summary);
void fem_summary_destroy(fem_summary *summary); /* NULL allowed */

/* Adds a finished step; space and boundary are those of the step.  Collective.  Errors: MEMORY. */
yoke_status fem_summary_step(fem_summary *summary, const fem_space *space, const fem_boundary *boundary, const fem_step_record *step,
                             const fem_step_results *results);

/* Creates the state of the summary, for a checkpoint; NULL: out of memory. */
json_t *fem_summary_state(const fem_summary *summary);
/* Restores the state; no step may have been added before.  Errors: INPUT (it is not such a state, or of another case), MEMORY. */
yoke_status fem_summary_resume(fem_summary *summary, const json_t *state);

/* States in words that the largest stress is probably not a result; "" if there is no sign of that. */
#define FEM_SUMMARY_WARNING 512
void fem_summary_warning(const fem_summary *summary, char warning[FEM_SUMMARY_WARNING]);

/* The whole summary as text; stopped_by as in the run record.  Release the text with yoke_release.  Errors: MEMORY. */
yoke_status fem_summary_text(const fem_summary *summary, const char *stopped_by, char **text);

/*
 * Writes probes.csv into a directory, if there are probes: a header with units, then a row for each step and probe.  Errors: as
 * app_file_write.
 */
yoke_status fem_summary_write_probes(const fem_summary *summary, const char *directory);

#endif
