/*
 * policy_tree.h - a machine with cpufreq as a tree of files, a context that counts memory and keeps what was logged, and processes that change
 * clocks and end in all ways.
 */
#ifndef FREQUENCY_POLICY_TREE_H
#define FREQUENCY_POLICY_TREE_H

#include <sys/types.h>

#include "base/failing.h"
#include "meter/tree.h"
#include "yoke/yoke.h"

typedef struct clock_tree {
    tree files;
    failing memory;
    yoke_context *context;
    char log[8192]; /* "W text\n" and the like */
} clock_tree;

/*
 * A machine whose CPUs (one policy each) have this scaling_driver: intel_pstate (active), intel_cpufreq (intel_pstate, passive), amd-pstate-epp
 * (active), amd-pstate (guided), acpi-cpufreq (with levels).
 */
void clock_tree_begin(clock_tree *machine, const char *driver, int num_policies);
/* Shows that no memory is left. */
void clock_tree_end(clock_tree *machine);
void clock_tree_add_policy(clock_tree *machine, const char *driver, int number);
/* The options that let the library look there; waiting is short. */
yoke_clock_options clock_tree_options(const clock_tree *machine);
yoke_clocks *clock_tree_open(clock_tree *machine);

/* A file of a policy, such as scaling_governor. */
void clock_tree_write(const clock_tree *machine, int policy, const char *name, const char *text);
/* Shows that it holds this, and a newline. */
void clock_tree_holds(const clock_tree *machine, int policy, const char *name, const char *text);
/* All files of the tree, byte for byte; the caller frees it. */
char *clock_tree_picture(const clock_tree *machine);
/* Waits until the tree is as in the picture, at most so long; returns the seconds that it took, or NAN. */
double clock_tree_wait_for(const clock_tree *machine, const char *picture, double most_s);
/* Waits until no process holds the lock of the clocks. */
void clock_tree_wait_unlocked(clock_tree *machine);
/* The clock of that name as it is listed; the test fails where there is none. */
yoke_clock_info clock_tree_find(yoke_context *context, const yoke_clock_options *options, const char *name);
/* Shows that the text holds the word. */
void clock_tree_mentions(const char *text, const char *word);
/* The guard of a process; 0: there is none. */
pid_t clock_tree_guard_of(pid_t process);

#endif
