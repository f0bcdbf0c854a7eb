/*
 * summary.h - what an engineer wants to know at the end of a run, as text: extremes with their places, reactions against loads, probes, the
 * estimated error, and what is no result.  And probes.csv, a row for each step and probe.
 */
#ifndef FEM_OUTPUT_SUMMARY_H
#define FEM_OUTPUT_SUMMARY_H

#include <stdio.h>

#include "output/quantities/singularity.h"
#include "output/record.h"

typedef struct fem_summary fem_summary;

/* For a case with so many probes (borrowed).  Errors: MEMORY. */
yoke_status fem_summary_create(const fem_case *input, const fem_problem *problem, int num_probes, const fem_probe *probes,
                               fem_summary **summary);
void fem_summary_destroy(fem_summary *summary); /* NULL allowed */

/* Takes in a finished step; space and boundary are those of the step.  Collective.  Errors: MEMORY. */
yoke_status fem_summary_step(fem_summary *summary, const fem_space *space, const fem_boundary *boundary, const fem_step_record *step,
                             const fem_step_results *results);

/* What it has taken in, for a checkpoint; new.  NULL: out of memory. */
json_t *fem_summary_state(const fem_summary *summary);
/* Takes in the same from there; nothing must have been taken in yet.  Errors: INPUT (it is no such state, or of another case), MEMORY. */
yoke_status fem_summary_resume(fem_summary *summary, const json_t *state);

/* Whether the largest stress is probably no result, in words; "" where nothing says so. */
#define FEM_SUMMARY_WARNING 512
void fem_summary_warning(const fem_summary *summary, char warning[FEM_SUMMARY_WARNING]);

/* The whole as text; stopped_by as in the run record.  The text is given back with yoke_release.  Errors: MEMORY. */
yoke_status fem_summary_text(const fem_summary *summary, const char *stopped_by, char **text);

/* Writes probes.csv into a directory, where there are probes: a head with units, then a row for each step and probe.  Errors: as app_file_write. */
yoke_status fem_summary_write_probes(const fem_summary *summary, const char *directory);

#endif
