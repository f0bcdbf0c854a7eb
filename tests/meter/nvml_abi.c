/*
 * Is what src/meter/vendor/nvml_api.h declares what NVIDIA's own header says?  Compiled where that is found, and never run: a difference is an error or
 * a warning, which is an error here.
 */
#include <nvml.h>

#include "meter/vendor/nvml_api.h"

#define COMPARE_VALUE(name, value) _Static_assert((name) == (value), #name);
YOKE_NVML_VALUES(COMPARE_VALUE)
#ifdef NVML_FI_DEV_ENERGY
YOKE_NVML_FIELDS(COMPARE_VALUE)
#endif

#define COMPARE_MEMBER(type, member, offset, size) \
    _Static_assert(offsetof(type, member) == (offset) && sizeof((type *)0)->member == (size), #type "." #member);
YOKE_NVML_LAYOUT(COMPARE_MEMBER)

#define COMPARE_SIZE(type, size) _Static_assert(sizeof(type) == (size), #type);
YOKE_NVML_SIZES(COMPARE_SIZE)

#define COMPARE_FUNCTION(required, result, name, parameters) table->name = name;

void compare_functions(yoke_nvml_functions *table);
void compare_functions(yoke_nvml_functions *table)
{
    YOKE_NVML_METER_FUNCTIONS(COMPARE_FUNCTION)
    YOKE_NVML_CLOCK_FUNCTIONS(COMPARE_FUNCTION)
#ifdef nvmlClocksEventReasonGpuIdle
    YOKE_NVML_NEWER_FUNCTIONS(COMPARE_FUNCTION)
#endif
}
