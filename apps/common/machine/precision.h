/*
 * precision.h - functions that a file has twice: NAME(f) is f_double or f_float, depending on the type REAL at the place where it is
 * written.
 *
 * The text of these functions is in a file of its own, which is included once with each REAL.
 */
#ifndef APP_PRECISION_H
#define APP_PRECISION_H

#define APP_PASTE_2(a, b) a##_##b
#define APP_PASTE(a, b) APP_PASTE_2(a, b)
#define NAME(name) APP_PASTE(name, REAL)

#endif
