/*
 * list_child.h - devices of vendors' libraries, listed in a process of its own.
 *
 * A vendor's library may crash, end the process or hang where it only is to say which devices it has.  So the list of OpenCL and CUDA devices
 * is made by the program yoke-device-list (list_child_main.c), which writes it to a pipe; in this process such a library is opened only for a
 * device that is to be used.
 */
#ifndef YOKE_DEVICE_LIST_CHILD_H
#define YOKE_DEVICE_LIST_CHILD_H

#include "yoke/backend.h"

/* What the program writes: records, each with its size; all in the layout of this build, which the first record proves. */
typedef enum apart_kind {
    APART_HELLO = 1,  /* an apart_hello */
    APART_DEVICE = 2, /* a yoke_device_info */
    APART_FAILED = 3, /* a yoke_status and a text with its final zero: the backend failed */
    APART_END = 4     /* nothing: the list is whole */
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
 * Shows the devices of this kind ("cuda", "opencl") as its backend's `list` does.  Where they cannot be listed, shows one unusable entry that says what
 * the driver did and what to do.  *listed becomes 0, and nothing is shown, where YOKE_DEVICE_LIST is set to nothing or the program is not there:
 * then this process has to ask itself.  Errors: MEMORY, and whatever the backend failed with.
 */
yoke_status yoke_apart_list(yoke_context *context, const char *kind, yoke_backend_found *found, void *user, int *listed);

#endif
