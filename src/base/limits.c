#include "base/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The number in a control group's memory.max; INT64_MAX if there is no file or it contains "max". */
static int64_t group_limit(const char *group)
{
    char path[4352];
    int64_t limit = INT64_MAX;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
    FILE *file = fopen(path, "r");
    if (file == NULL) return limit;
    if (fscanf(file, "%" SCNd64, &limit) != 1 || limit < 0) limit = INT64_MAX;
    fclose(file);
    return limit;
}

/* The least limit of the process's control group and of all groups around it. */
static int64_t groups_limit(void)
{
    char line[4096] = "";
    int64_t limit = INT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "r");
    if (file == NULL) return limit;
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "0::/", 4) != 0) continue;
        char *group = line + 3;
        group[strcspn(group, "\n")] = '\0';
        for (char *end = group + strlen(group); end != NULL; end = strrchr(group, '/')) {
            *end = '\0';
            int64_t of_group = group_limit(group);
            if (of_group < limit) limit = of_group;
        }
    }
    fclose(file);
    return limit;
}

int64_t yoke_memory_limit(void)
{
    int64_t bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    int64_t of_groups = groups_limit();
    if (of_groups < bytes) bytes = of_groups;
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY && space.rlim_cur < (rlim_t)bytes)
        bytes = (int64_t)space.rlim_cur;
    return bytes;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

/* Whether the processor has those instructions of level 3 that not every compiler's __builtin_cpu_supports can test: MOVBE, F16C, LZCNT. */
static int has_movbe_f16c_lzcnt(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & 1u << 22) == 0 || (c & 1u << 29) == 0) return 0;
    return __get_cpuid(0x80000001u, &a, &b, &c, &d) && (c & 1u << 5) != 0;
}

const char *yoke_instruction_set(void)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("ssse3") || !__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt")) return "x86-64";
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
        !__builtin_cpu_supports("fma") || !has_movbe_f16c_lzcnt())
        return "x86-64-v2";
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512cd") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return "x86-64-v3";
    return "x86-64-v4";
}
#elif defined(__aarch64__)
const char *yoke_instruction_set(void) { return "aarch64"; }
#else
const char *yoke_instruction_set(void) { return "generic"; }
#endif
