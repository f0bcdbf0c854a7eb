/*
 * problem_file.h - model files: what is shared by their reading (problem_file.c: the file and its devices, problem_level.c: levels, points and laws).
 */
#ifndef YOKE_MODEL_PROBLEM_FILE_H
#define YOKE_MODEL_PROBLEM_FILE_H

#include "base/json_keys.h"
#include "yoke/yoke.h"

/* Of a device, of a level, and over all devices what a plan takes. */
enum {
    PROBLEM_MOST_LEVELS = 1000,
    PROBLEM_MOST_POINTS = 100000,
    PROBLEM_ALL_LEVELS = 4096,
    PROBLEM_ALL_POINTS = 200000,
    PROBLEM_NAME_BYTES = 64
};

/* Members of yoke_plan_device (member: the device): the array `levels`, and the object `laws`, which becomes levels. */
yoke_status problem_read_levels(yoke_json_reader *reader, const json_t *value, void *device);
yoke_status problem_read_laws(yoke_json_reader *reader, const json_t *value, void *device);

#endif
