/*
 * list_child.h - devices of vendors' libraries, listed in a separate process.
 *
 * A vendor's library may crash, end the process or hang even if it only has to list its devices.  So the list of OpenCL and CUDA devices
 * is made by the program yoke-device-list (list_child_main.c), which writes it to a pipe.  In this process such a library is opened only
 * for a device that is used.
 */
#ifndef YOKE_DEVICE_LIST_CHILD_H
#define YOKE_DEVICE_LIST_CHILD_H

#include "yoke/backend.h"

/* Records that the program writes, each with its size; all in the layout of this build, which the first record proves. */
typedef enum apart_kind {
    APART_HELLO = 1,  /* an apart_hello */
    APART_DEVICE = 2, /* a yoke_device_info */
    APART_FAILED = 3, /* a yoke_status and a text with its final zero: the backend failed */
    APART_END = 4     /* no data: the list is complete */
} apart_kind;

typedef struct apart_record {
    int32_t kind, bytes;
} apart_record;

typedef struct apart_hello {
    int32_t version[3], info_bytes;
} apart_hello;

enum { APART_TEXT_BYTES = 256 };

/* The hello of this build. */
apart_hello yoke_apart_hello(void);

/*
 * Reports the devices of this kind ("cuda", "opencl") as its backend's `list` does.  If they cannot be listed, it reports one unusable
 * entry that describes the failure of the driver and the remedy.  *listed becomes 0, and nothing is reported, if YOKE_DEVICE_LIST is set
 * to an empty string or the program does not exist: then this process must list the devices itself.  Errors: MEMORY, and any failure of
 * the backend.
 */
yoke_status yoke_apart_list(yoke_context *context, const char *kind, yoke_backend_found *found, void *user, int *listed);

#endif
