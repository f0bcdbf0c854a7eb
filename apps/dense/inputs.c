#include "inputs.h"

#include "common/console/options.h"

yoke_status dense_input_precision(yoke_context *context, const char *word, dense_precision *kind)
{
    static const char *const kinds[] = {"double", "single", NULL};
    int number = 0;
    yoke_status status = app_option_choice(context, "precision", word, kinds, &number);
    if (!status && word) *kind = number ? DENSE_SINGLE : DENSE_DOUBLE;
    return status;
}

yoke_status dense_input_open(yoke_context *context, const char *path, int64_t rows, int64_t columns, dense_precision precision,
                             dense_npy *file)
{
    const int raw = dense_npy_is_raw(path);
    if (raw && (!rows || !columns))
        return yoke_fail(context, YOKE_ERROR_INPUT, "%s has no sizes in it: give them with -n N, and -m and -k where they differ", path);
    yoke_status status = raw ? dense_npy_open_raw(context, path, rows, columns, precision, file) : dense_npy_open(context, path, file);
    if (status || ((!rows || file->rows == rows) && (!columns || file->columns == columns))) return status;
    return yoke_fail(context, YOKE_ERROR_INPUT, "%s is %lld x %lld, and by -n, -m and -k it would be %lld x %lld", path,
                     (long long)file->rows, (long long)file->columns, (long long)rows, (long long)columns);
}

yoke_status dense_input_random(yoke_context *context, int64_t rows, int64_t columns, dense_precision precision, uint64_t seed,
                               dense_matrix *matrix)
{
    yoke_status status = dense_matrix_create(context, rows, columns, precision, matrix);
    if (!status) dense_matrix_random(matrix, seed);
    return status;
}

yoke_status dense_input_read(app_terminal *terminal, dense_npy *file, dense_precision precision, dense_matrix *matrix)
{
    app_progress(terminal, "reading %s", file->path);
    return dense_npy_read(file, precision, matrix);
}
