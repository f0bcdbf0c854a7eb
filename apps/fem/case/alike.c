/* Checks that all ranks have read the same case. */
#include <string.h>

#include <zlib.h>

#include "case/case.h"

/* user: CRC-32 of the keys and values so far, each with its terminating zero. */
static void add_value(const char *key, const char *value, void *user)
{
    uint32_t *checksum = user;
    *checksum = (uint32_t)crc32_z(*checksum, (const void *)key, strlen(key) + 1);
    *checksum = (uint32_t)crc32_z(*checksum, (const void *)value, strlen(value) + 1);
}

yoke_status fem_case_check_alike(const fem_case *input, app_ranks *ranks)
{
    uint32_t checksum = 0, first;
    app_schema_values(fem_case_schema, &input->keys, add_value, &checksum);
    first = checksum;
    app_ranks_broadcast(ranks, &first, sizeof first);
    if (checksum == first) return YOKE_OK;
    return yoke_fail(input->context, YOKE_ERROR_INPUT,
                     "%s: this rank reads another case under this name than rank 0 does; give all ranks the same file", input->path);
}
