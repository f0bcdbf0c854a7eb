/* machine_text.h - a context with a simulated machine whose file is a text of the test. */
#ifndef TESTS_DEVICE_MACHINE_TEXT_H
#define TESTS_DEVICE_MACHINE_TEXT_H

#include "base/failing.h"
#include "yoke/yoke.h"

/* A context whose memory is `memory`, with the machine that the text describes. */
yoke_context *machine(const char *text, failing *memory);

#endif
