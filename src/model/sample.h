/*
 * sample.h - the contract of a sample.
 */
#ifndef YOKE_MODEL_SAMPLE_H
#define YOKE_MODEL_SAMPLE_H

#include "yoke/yoke.h"

/*
 * NULL if the sample keeps its contract in model.h, else a text of what is wrong with it, and *member (may be NULL) is that member's name.
 */
const char *sample_fault(const yoke_sample *sample, const char **member);

#endif
