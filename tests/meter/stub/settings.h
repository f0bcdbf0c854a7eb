/*
 * settings.h - how stand-ins of vendors' libraries are driven: settings "key=value", one to a line or separated by commas.
 *
 * A stand-in NAME (NVML, AMDSMI, ROCM_SMI) looks, at each call and for each key, into
 *   YOKE_STUB_NAME_FILE   the file of this name, which may be changed while programs run (replace it with mv, so that it is never half there)
 *   YOKE_STUB_NAME        settings themselves
 * and there first for "key.N" (of device N), then for "key".  What is set through the library itself (locked clocks, power limits) goes to
 *   YOKE_STUB_NAME_STATE  the file of this name, so that other processes see it; without it such a setting lasts as long as the process
 * Settings of all stand-ins:
 *   devices=1             how many there are
 *   fail.FUNCTION=N       the function returns this error
 *   lost=1                the device has fallen off the bus
 * A test that has opened the library too asks it by stub_balance how many initialisations were not shut down, and by stub_misuse how many
 * calls came without one.
 */
#ifndef YOKE_TESTS_METER_STUB_SETTINGS_H
#define YOKE_TESTS_METER_STUB_SETTINGS_H

#define STUB_API __attribute__((visibility("default")))

/* The stand-in's variable, "YOKE_STUB_NVML": each library defines it. */
extern const char stub_variable[];

/* The number of a setting; device -1: of no device. */
long long stub_number(const char *key, int device, long long usual);
/* The text of a setting. */
void stub_text(const char *key, int device, const char *usual, char *text, unsigned long bytes);
/* A setting that the library was asked to keep: from YOKE_STUB_NAME_STATE. */
long long stub_kept(const char *key, int device, long long usual);
/* Keeps it; value -1 forgets it.  Several processes may do so at once. */
void stub_keep(const char *key, int device, long long value);
/* mW that flowed for the time that the system's clock shows, in steps of `period_ms`: mJ. */
long long stub_flown(long long milliwatts, long long period_ms);
/* Error that `function` shall return for the device: 0 for none. */
int stub_failure(const char *function, int device);

/* Counting. */
void stub_started(void);
void stub_ended(void);
/* Is the library initialised?  A call without is counted as misuse. */
int stub_running(void);
STUB_API int stub_balance(void);
STUB_API int stub_misuse(void);
STUB_API int stub_starts(void);

#endif
