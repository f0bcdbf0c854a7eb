/*
 * policy_tree.h - a machine with cpufreq as a tree of files, a context that counts memory and keeps what was logged, and processes that change
 * frequencies and end in all ways.
 */
#ifndef FREQUENCY_POLICY_TREE_H
#define FREQUENCY_POLICY_TREE_H

#include <sys/types.h>

#include "base/failing.h"
#include "meter/tree.h"
#include "yoke/yoke.h"

typedef struct frequency_tree {
    tree files;
    failing memory;
    yoke_context *context;
    char log[8192]; /* "W text\n" and the like */
} frequency_tree;

#define CPUFREQ "sys/devices/system/cpu/cpufreq/"

enum { NUM_DRIVERS = 5 };
extern const char *const frequency_tree_drivers[NUM_DRIVERS];

/*
 * A machine whose CPUs (one policy each) have this scaling_driver, one of those above: intel_pstate (active), intel_cpufreq (intel_pstate, passive), amd-pstate-epp
 * (active), amd-pstate (guided), acpi-cpufreq (with levels).
 */
void frequency_tree_begin(frequency_tree *machine, const char *driver, int num_policies);
/* Shows that no memory is left. */
void frequency_tree_end(frequency_tree *machine);
void frequency_tree_add_policy(frequency_tree *machine, const char *driver, int number);
/* The options that let the library look there; waiting is short. */
yoke_frequency_options frequency_tree_options(const frequency_tree *machine);
yoke_frequencies *frequency_tree_open(frequency_tree *machine);

/* A file of a policy, such as scaling_governor. */
void frequency_tree_write(const frequency_tree *machine, int policy, const char *name, const char *text);
/* Shows that it holds this, and a newline. */
void frequency_tree_holds(const frequency_tree *machine, int policy, const char *name, const char *text);
/* All files of the tree, byte for byte; the caller frees it. */
char *frequency_tree_picture(const frequency_tree *machine);
/* Waits until the tree is as in the picture, at most so long; returns the seconds that it took, or NAN. */
double frequency_tree_wait_for(const frequency_tree *machine, const char *picture, double max_s);
/* Waits until no process holds the lock of the frequencies. */
void frequency_tree_wait_unlocked(frequency_tree *machine);
/* The frequency of that name as it is listed; the test fails where there is none. */
yoke_frequency_info frequency_tree_find(yoke_context *context, const yoke_frequency_options *options, const char *name);
/* Shows that the text holds the word. */
void frequency_tree_mentions(const char *text, const char *word);
/* The guard of a process; 0: there is none. */
pid_t frequency_tree_guard_of(pid_t process);

#endif
