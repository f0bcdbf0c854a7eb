/*
 * whole_file.h - files that tests write and read as a whole; what fails ends the test.
 */
#ifndef YOKE_TESTS_WHOLE_FILE_H
#define YOKE_TESTS_WHOLE_FILE_H

#include "unit.h"

static inline void whole_file_write(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* The bytes and a zero after them, which the caller frees. */
static inline char *whole_file_read(const char *path, size_t *length)
{
    size_t room = 1 << 16, count = 0;
    char *bytes = malloc(room + 1);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_non_null(bytes);
    while ((count += fread(bytes + count, 1, room - count, file)) == room) {
        bytes = realloc(bytes, 2 * room + 1);
        assert_non_null(bytes);
        room *= 2;
    }
    assert_int_equal(fclose(file), 0);
    bytes[count] = '\0';
    *length = count;
    return bytes;
}

/* The first place of a text in a file becomes another one of the same length; the file is one without bytes of 0. */
static inline void whole_file_change(const char *path, const char *from, const char *to)
{
    size_t bytes = 0;
    char *content = whole_file_read(path, &bytes), *at = strstr(content, from);
    assert_non_null(at);
    memcpy(at, to, strlen(to));
    whole_file_write(path, content, bytes);
    free(content);
}

#endif
