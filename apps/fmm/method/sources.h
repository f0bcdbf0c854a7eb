/*
 * sources.h - a fingerprint of the method's source texts, which stored costs belong to: with another text they are measured again.
 */
#ifndef FMM_METHOD_SOURCES_H
#define FMM_METHOD_SOURCES_H

enum { FMM_FINGERPRINT_BYTES = 17 };

/* Computes the FNV-1a hash, in hexadecimal digits, of the texts of tree, near and far field on the cores, and of `count` more texts. */
void fmm_fingerprint(int count, const char *const *more, char text[FMM_FINGERPRINT_BYTES]);

#endif
