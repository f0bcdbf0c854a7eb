/*
 * opencl_shim.h - a libOpenCL of the tests that stands before the real one: it hands every call on, counts what is made and released,
 * fails the call it is told to, and describes devices that are not here.
 */
#ifndef YOKE_TESTS_DEVICE_OPENCL_SHIM_H
#define YOKE_TESTS_DEVICE_OPENCL_SHIM_H

typedef enum opencl_pretence {
    OPENCL_AS_IT_IS,
    OPENCL_PCI_KHR,
    OPENCL_PCI_NV,
    OPENCL_PCI_AMD,
    OPENCL_VERSION_1_1,
    OPENCL_NOT_AVAILABLE,
    OPENCL_NO_COMPILER,
    OPENCL_NO_DOUBLE,
    OPENCL_NO_DEVICES,
    OPENCL_NO_ARGUMENT_KINDS,
    OPENCL_BINARIES_REFUSED,
    OPENCL_POCL, /* else the platform has another name, so that binaries are kept */
    OPENCL_NO_MARKER_TIMES,
    OPENCL_LAZY_MEMORY
} opencl_pretence;

/* The library exports one of these as `opencl_shim_state`. */
typedef struct opencl_shim {
    long calls;    /* that can fail: all but the releasing ones */
    long fail_at;  /* this call (from 1) fails; 0: none */
    int for_ever;  /* and all after it */
    int error;     /* with this error */
    long objects;  /* made and not released */
    long binaries; /* questions for the binary of a program, or its size */
    opencl_pretence pretence;
} opencl_shim;

#endif
