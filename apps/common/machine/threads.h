/*
 * threads.h - how the threads of libraries wait, which they read from the environment before main.
 */
#ifndef APP_COMMON_THREADS_H
#define APP_COMMON_THREADS_H

#include <stdbool.h>

/*
 * Sets what the user has not set, and says whether anything is new: then a program that is already running has to start itself anew.
 *   GOTO_NUM_THREADS  OpenBLAS (unless OPENBLAS_NUM_THREADS is set) makes no threads when it is loaded: they would wait beside those of OpenMP,
 *                     and under a limit of memory the program would not end.
 *   GOMP_SPINCOUNT    where other programs work when this one starts, threads of gcc's OpenMP (unless OMP_WAIT_POLICY is set) ask only for
 *                     some microseconds whether there is work before they sleep.  By default they ask for milliseconds, which takes the cores
 *                     from those programs, and from threads of this one that have work.
 */
bool app_threads_settle(void);

/*
 * What this thread starts, threads and programs, may use all cores that the process may.  Where the user has OpenMP bind threads (OMP_PROC_BIND, OMP_PLACES) its
 * runtime has bound this thread before main, and what it starts would inherit that one place.
 */
void app_threads_free(void);

#endif
