/*
 * tree.h - a recorded machine of tests/machines, copied to a directory of its own, in which a test can change files; meters on it, on a clock
 * that the test moves; and an allocator that counts and can fail.
 */
#ifndef YOKE_TESTS_METER_TREE_H
#define YOKE_TESTS_METER_TREE_H

#include "meter/set.h"
#include "unit.h"

typedef struct tree {
    char root[128]; /* the copy */
    yoke_context *context;
    meter_list list;         /* what tree_find found */
    meter_set *set;          /* what tree_open opened */
    yoke_region *region;     /* that is under way */
    meter_time time;         /* of the set: now_s */
    double now_s;            /* moved by the test */
    int64_t outstanding;     /* pieces of memory that were not given back */
    int64_t until_no_memory; /* allocations that still succeed; negative: all */
    int64_t descriptors;     /* that were open at the beginning */
} tree;

/* machine: a directory of tests/machines, or NULL for an empty tree.  Aborts the test where the copy fails. */
void tree_begin(tree *where, const char *machine);
/* Closes everything, removes the copy and shows that neither memory nor descriptors are left. */
void tree_end(tree *where);

/* path is below the root, without a slash at its beginning. */
void tree_write(const tree *where, const char *path, const char *text);
void tree_write_number(const tree *where, const char *path, unsigned long long number);
unsigned long long tree_number(const tree *where, const char *path);
/* Adds to the number in a file. */
void tree_add(const tree *where, const char *path, long long more);
/* A file, a link, or a directory with all that is in it. */
void tree_remove(const tree *where, const char *path);
void tree_link(const tree *where, const char *path, const char *target);
void tree_directory(const tree *where, const char *path);
void tree_move(const tree *where, const char *from, const char *to);
void tree_pipe(const tree *where, const char *path);
void tree_forbid(const tree *where, const char *path); /* nobody but root may read it */
void tree_allow(const tree *where, const char *path);

/* What the kind finds now; what was found before is forgotten. */
void tree_find(tree *where, const meter_kind *kind);
/* The domain of that name, which must have been found. */
const meter_domain *tree_domain(const tree *where, const char *name);
/* Whether there is one. */
int tree_has(const tree *where, const char *name);
/* What the domain shows now; fails the test where it cannot be read. */
meter_sample tree_read(const meter_domain *domain);
/* The result of reading it; why: of a failure. */
meter_result tree_try(const meter_domain *domain, meter_sample *sample, char why[METER_WHY_BYTES]);
/* Shows that a domain is there, is not usable, and says so with these words; remedy may be NULL. */
void tree_unusable(const tree *where, const char *name, const char *why, const char *remedy);

/* Opens the best (or the selected) meters of these kinds on the test's clock. */
void tree_open(tree *where, const meter_kind *const *kinds, int64_t num_kinds, const char *select);
void tree_begin_region(tree *where);
/* The energy of an open meter, or of the total where name is NULL. */
yoke_energy tree_end_region(tree *where, const char *name);
/* Shows that a number is the truth within an error. */
void tree_near(double value, double truth, double error);
/* Shows that there is no value, for a reason with these words. */
void tree_no_value(yoke_energy energy, const char *words);
/* Moves the clock, and reads what has to be read between regions. */
void tree_wait(tree *where, double seconds);

/* Shows that with any allocation failing, find says MEMORY and keeps nothing. */
void tree_without_memory(tree *where, const meter_kind *kind);
/* Puts what reading fails with EIO in place of the open file of that path.  Returns the descriptor that tree_heal takes, with the file. */
int tree_break(const tree *where, const char *path, int *kept);
void tree_heal(int descriptor, int kept);

/* As tree_find, but as a user who is not root. */
void tree_find_as_user(tree *where, const meter_kind *kind);

#endif
