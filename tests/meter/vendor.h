/*
 * vendor.h - tests on the stand-ins of vendors' libraries (stub/settings.h), which lie in STUB_DIRECTORY.
 */
#ifndef YOKE_TESTS_METER_VENDOR_H
#define YOKE_TESTS_METER_VENDOR_H

#include "meter/meter.h"
#include "unit.h"

/* A stand-in, and a directory for its files. */
typedef struct vendor_stub {
    const char *variable; /* "YOKE_NVML": names the library */
    const char *settings; /* "YOKE_STUB_NVML" */
    void *library;        /* kept open, so that it can be asked */
    int (*balance)(void); /* what was initialised and not shut down */
    int (*misuse)(void);  /* calls without initialisation */
    int (*starts)(void);  /* initialisations */
} vendor_stub;

/* Opens the stand-in for asking, and names it in the environment. */
void vendor_use(vendor_stub *stub, const char *variable, const char *settings, const char *file);
/* Settings of the stand-in from now on; NULL: none. */
void vendor_set(const vendor_stub *stub, const char *settings);
/* Settings in the stand-in's file, which may be changed while another thread reads; NULL: no file. */
void vendor_write(const vendor_stub *stub, const char *settings);

/* What one kind finds, on this machine (root "") or below a root. */
typedef struct vendor_found {
    yoke_context *context;
    meter_list list;
} vendor_found;
vendor_found vendor_find(const meter_kind *kind, const char *root);
/* Closes, and checks that everything was given back. */
void vendor_end(vendor_found *found, const vendor_stub *stub);
/* The usable domain of this name; the test fails where there is none. */
const meter_domain *vendor_domain(const vendor_found *found, const char *name);
/* The only entry, which must be unusable with a reason and a remedy that hold these words. */
void vendor_expect_missing(const meter_kind *kind, const vendor_stub *stub, const char *why, const char *remedy);
/* One reading, which must succeed. */
meter_sample vendor_read(const meter_domain *domain);
/* The text must contain the word. */
void vendor_mentions(const char *text, const char *word);
void vendor_near(double value, double expected, double tolerance);

/* Lets the n-th allocation of `find` fail, for all n until it succeeds: each time MEMORY, and nothing is left. */
void vendor_fail_allocations(const meter_kind *kind, const vendor_stub *stub);

#endif
