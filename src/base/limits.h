/*
 * limits.h - limits that the operating system sets for this process.
 */
#ifndef YOKE_BASE_LIMITS_H
#define YOKE_BASE_LIMITS_H

#include <stdint.h>

/*
 * Bytes: the smallest of the machine's memory, the process's limit of address space, and the limits of its control groups (Linux, version
 * 2).
 */
int64_t yoke_memory_limit(void);

/*
 * The newest level of instructions that the processor and the system support: x86-64, x86-64-v2, -v3, -v4 (x86-64 psABI), aarch64, or
 * generic.
 */
const char *yoke_instruction_set(void);

#endif
