/*
 * blas.h - matrix products of the installed BLAS, which is opened at run time.
 */
#ifndef APP_BLAS_H
#define APP_BLAS_H

/* Values of cblas.h. */
enum { APP_BLAS_ROW_MAJOR = 101, APP_BLAS_COLUMN_MAJOR = 102, APP_BLAS_NO_TRANSPOSE = 111 };
typedef void app_blas_dgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha, const double *a, int lda,
                            const double *b, int ldb, double beta, double *c, int ldc);
typedef void app_blas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a, int lda,
                            const float *b, int ldb, float beta, float *c, int ldc);

typedef struct app_blas {
    void *library;    /* NULL: not open */
    const char *name; /* of the library; borrowed from the environment, or constant */
    app_blas_dgemm *dgemm;
    app_blas_sgemm *sgemm;
    void (*set_threads)(int threads); /* its own threads; NULL: it has none, or they cannot be set */
    char *(*kernel)(void);            /* name of the kernels that OpenBLAS uses; NULL: another library */
} app_blas;

/*
 * Opens the library that YOKE_LIBBLAS names, else OpenBLAS, else the library that is installed as libblas.  It computes products on the
 * calling thread (set_threads(1)), so that several threads can each compute one.  Returns NULL, or a constant text: why there is none,
 * and the remedy.
 */
const char *app_blas_open(app_blas *blas);
void app_blas_close(app_blas *blas);

#endif
