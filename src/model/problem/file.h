/*
 * file.h - model files: declarations for reading them (file.c: the file and its devices, level.c: levels, points and laws).
 */
#ifndef YOKE_MODEL_PROBLEM_FILE_H
#define YOKE_MODEL_PROBLEM_FILE_H

#include "base/json_keys.h"
#include "yoke/yoke.h"

/* Limits for a device, for a level, and over all devices those of a plan. */
enum {
    PROBLEM_MAX_LEVELS = 1000,
    PROBLEM_MAX_POINTS = 100000,
    PROBLEM_ALL_LEVELS = 4096,
    PROBLEM_ALL_POINTS = 200000,
    PROBLEM_NAME_BYTES = 64
};

/* Larger relative half widths mean that a value is not known: they are rejected in a file, and written as this. */
#define PROBLEM_MAX_UNCERTAINTY 10.0
/* The least alone_factor: smaller ones are rejected in a file, and written as this. */
#define PROBLEM_MIN_ALONE 1e-6

/* Read members of yoke_plan_device (member: the device): the array `levels`, and the object `laws`, which becomes levels. */
yoke_status problem_read_levels(yoke_json_reader *reader, const json_t *value, void *device);
yoke_status problem_read_laws(yoke_json_reader *reader, const json_t *value, void *device);

/*
 * Writes a problem as a model file.  Errors: ARGUMENT (more units than a file can have, an uncertainty or factor that is NaN or
 * negative), INPUT (the file cannot be written), MEMORY, SYSTEM.
 */
yoke_status yoke_plan_problem_write(yoke_context *context, const char *path, const yoke_plan_problem *problem);

/* Reads points of a level or a phase to allocated memory.  On failure *points holds what was allocated. */
yoke_status problem_read_points(yoke_json_reader *reader, const json_t *value, const double **points, int64_t *num_points);

/* round.c: accepts a value that problem_read_round reads after the devices are known. */
yoke_status problem_read_later(yoke_json_reader *reader, const json_t *value, void *member);
/* Reads the round of a whole document (if it has one), and the phases of all levels. */
yoke_status problem_read_round(yoke_json_reader *reader, const json_t *document, yoke_plan_problem *problem);
void problem_release_round(yoke_context *context, yoke_plan_problem *problem);

/* The round as JSON, and the times of a level's phases. */
json_t *problem_round_object(const yoke_plan_problem *problem);
json_t *problem_phases_array(const yoke_plan_problem *problem, const yoke_plan_level *level);

#endif
