/*
 * threads.h - how the threads of libraries wait, which they read from the environment before main.
 */
#ifndef APP_COMMON_THREADS_H
#define APP_COMMON_THREADS_H

#include <stdbool.h>

/*
 * Sets variables of the environment that the user has not set, and returns whether one was set: then a program that is already running
 * has to restart itself.
 *   GOTO_NUM_THREADS  OpenBLAS (unless OPENBLAS_NUM_THREADS is set) creates no threads when it is loaded.  They would wait beside those
 *                     of OpenMP, and under a limit of memory the program would not end.
 *   GOMP_SPINCOUNT    If other programs work during the first milliseconds of this one, threads of gcc's OpenMP (unless OMP_WAIT_POLICY is
 *                     set) poll for work only for some microseconds before they sleep.  By default they poll for milliseconds, which
 *                     takes the cores from those programs, and from threads of this one that have work.
 */
bool app_threads_settle(void);

/*
 * Lets threads and programs that this thread starts use all cores that the process may use.  If the user has OpenMP bind threads
 * (OMP_PROC_BIND, OMP_PLACES), its runtime has bound this thread before main, and what it starts would inherit that single place.
 */
void app_threads_free(void);

#endif
