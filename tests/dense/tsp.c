/* Tours: known optima, brute force, any devices; and files of TSPLIB, right and damaged. */
#include <math.h>
#include <unistd.h>

#include "fmm/mutate.h"
#include "machine.h"
#include "tsp/tsp.h"

typedef struct bench {
    yoke_context *context;
    failing memory;
    yoke_run *run;
    dense_cities cities;
    dense_tour tour;
} bench;

static dense_shared shared;
static char path[64];

static void open_bench(bench *b, const char *cpu, const char *gpu, const yoke_run_options *options)
{
    *b = (bench){.context = NULL};
    open_machine(&b->context, &b->memory, cpu, gpu, options, &b->run);
}

static void close_bench(bench *b)
{
    dense_tour_destroy(&b->tour);
    dense_cities_destroy(&b->cities);
    yoke_run_destroy(b->run);
    yoke_context_destroy(b->context);
    assert_int_equal(b->memory.outstanding, 0);
}

/* The tour has every city once, and the length that it says. */
static void search(bench *b, int64_t restarts, int64_t seed)
{
    const dense_tsp_options options = {.restarts = restarts, .seed = seed, .check = 3};
    int seen[200] = {0};
    if (dense_tsp(b->run, &b->cities, &options, &b->tour, &shared)) fail_msg("%s", yoke_last_error(b->context));
    assert_true(b->cities.count <= 200);
    for (int32_t i = 0; i < b->cities.count; i++) assert_int_equal(seen[b->tour.city[i]]++, 0);
    assert_int_equal(dense_tour_length(&b->cities, b->tour.city), b->tour.length);
    assert_true(b->tour.times >= 1 && b->tour.restart < restarts && b->tour.mean >= (double)b->tour.length - 1e-6);
}

/* The shortest of all (n - 1)! / 2 tours. */
static int64_t brute_force(const dense_cities *cities, int32_t *city, int32_t fixed)
{
    int64_t best = INT64_MAX;
    if (fixed == cities->count) return dense_tour_length(cities, city);
    for (int32_t i = fixed; i < cities->count; i++) {
        int32_t kept = city[fixed];
        city[fixed] = city[i];
        city[i] = kept;
        const int64_t length = brute_force(cities, city, fixed + 1);
        best = length < best ? length : best;
        city[i] = city[fixed];
        city[fixed] = kept;
    }
    return best;
}

static void nine_cities_have_the_tour_of_brute_force(void **state)
{
    (void)state;
    static bench b;
    open_bench(&b, "", "", NULL);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        int32_t city[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
        assert_int_equal(dense_cities_random(b.context, 9, seed, &b.cities), YOKE_OK);
        search(&b, 60, (int64_t)seed);
        assert_int_equal(b.tour.length, brute_force(&b.cities, city, 1));
        dense_tour_destroy(&b.tour);
        dense_cities_destroy(&b.cities);
    }
    close_bench(&b);
}

static void very_few_cities_have_their_only_tour(void **state)
{
    (void)state;
    static bench b;
    open_bench(&b, "", "", NULL);
    for (int n = 1; n <= 4; n++) {
        int32_t city[4] = {0, 1, 2, 3};
        assert_int_equal(dense_cities_random(b.context, n, 3, &b.cities), YOKE_OK);
        search(&b, 20, 1);
        assert_int_equal(b.tour.length, brute_force(&b.cities, city, 1));
        dense_tour_destroy(&b.tour);
        dense_cities_destroy(&b.cities);
    }
    close_bench(&b);
}

static void write_text(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Cities on a circle: tours without crossings are the circle alone, so every restart finds it. */
static void a_ring_of_points_is_found_by_every_restart(void **state)
{
    (void)state;
    enum { N = 40 };
    static bench b;
    static char text[4096];
    int length = snprintf(text, sizeof text, "DIMENSION: %d\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n", N);
    for (int i = 0; i < N; i++) { /* every seventh city is the neighbour */
        const double angle = 2 * acos(-1) * (7 * i % N) / N;
        length += snprintf(text + length, sizeof text - (size_t)length, "%d %.17g %.17g\n", i + 1, 1e6 * cos(angle), 1e6 * sin(angle));
    }
    write_text(text);
    open_bench(&b, "", "", NULL);
    if (dense_cities_read(b.context, path, &b.cities)) fail_msg("%s", yoke_last_error(b.context));
    search(&b, 30, 5);
    assert_int_equal(b.tour.length, N * (int64_t)floor(2e6 * sin(acos(-1) / N) + 0.5));
    assert_int_equal(b.tour.times, 30);
    close_bench(&b);
}

/* TSPLIB says that the shortest tour through these 52 places has length 7542. */
static void the_published_optimum_of_berlin52_is_reached(void **state)
{
    (void)state;
    static bench b;
    open_bench(&b, "", "", NULL);
    char file[1024];
    snprintf(file, sizeof file, "%s/tests/dense/instances/berlin52.tsp", getenv("YOKE_SOURCE_DIR"));
    if (dense_cities_read(b.context, file, &b.cities)) fail_msg("%s", yoke_last_error(b.context));
    assert_string_equal(b.cities.name, "berlin52");
    search(&b, 600, 1);
    assert_int_equal(b.tour.length, 7542);
    close_bench(&b);
}

/* Whatever the shares, and wherever a device fails, the same tour. */
static void devices_do_not_change_the_tour(void **state)
{
    (void)state;
    static const double shares[] = {0, 0.5, 1};
    dense_tour first = {.length = 0};
    int32_t city[50];
    for (int k = 0; k < 3 + 20; k++) {
        static bench b;
        char fault[100] = "";
        const yoke_run_options options = {.share = k < 3 ? &shares[k] : NULL};
        if (k >= 3) snprintf(fault, sizeof fault, ", \"fault\": {\"call\": %d, \"kind\": \"lost\"}", k - 2);
        open_bench(&b, "", fault, &options);
        assert_int_equal(dense_cities_random(b.context, 50, 2, &b.cities), YOKE_OK);
        search(&b, 90, 7);
        if (k == 0) {
            first = b.tour;
            memcpy(city, b.tour.city, sizeof city);
        }
        assert_true(b.tour.length == first.length && b.tour.restart == first.restart && b.tour.times == first.times);
        assert_true(b.tour.evaluations == first.evaluations && fabs(b.tour.mean / first.mean - 1) < 1e-12);
        assert_memory_equal(b.tour.city, city, sizeof city);
        if (k == 2) assert_true(shared.part[1].units == 90);
        close_bench(&b);
    }
}

/* More restarts than a device climbs at a time. */
static void restarts_in_several_launches_give_the_same_tour(void **state)
{
    (void)state;
    enum { RESTARTS = 1000000 };
    static const double shares[] = {0, 1};
    dense_tour tour[2];
    for (int k = 0; k < 2; k++) {
        static bench b;
        const yoke_run_options options = {.share = &shares[k]};
        open_bench(&b, "", "", &options);
        assert_int_equal(dense_cities_random(b.context, 4, 2, &b.cities), YOKE_OK);
        search(&b, RESTARTS, 7);
        assert_int_equal(shared.part[k].units, RESTARTS);
        tour[k] = b.tour;
        close_bench(&b);
    }
    assert_true(tour[0].length == tour[1].length && tour[0].restart == tour[1].restart && tour[0].times == tour[1].times);
    assert_true(tour[0].evaluations == tour[1].evaluations && tour[0].mean == tour[1].mean);
}

static void *allocate_little(size_t bytes, void *user)
{
    (void)user;
    return bytes > 1 << 26 ? NULL : aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void release(void *memory, void *user)
{
    (void)user;
    free(memory);
}

/* A thousand million of them would be 8 GB for their lengths alone. */
static void memory_does_not_grow_with_the_restarts(void **state)
{
    (void)state;
    const yoke_options little = {.allocate = allocate_little, .release = release};
    const yoke_run_options cores = {.devices = "openmp"};
    const dense_tsp_options options = {.restarts = DENSE_MAX_RESTARTS, .seed = 1, .check = 16};
    yoke_context *context = NULL;
    yoke_run *run = NULL;
    dense_cities cities = {.context = NULL};
    dense_tsp_state *tsp = NULL;
    assert_int_equal(yoke_context_create(&little, &context), YOKE_OK);
    assert_int_equal(yoke_run_create(context, &cores, &run), YOKE_OK);
    assert_int_equal(dense_cities_random(context, 5, 1, &cities), YOKE_OK);
    if (dense_tsp_open(run, &cities, &options, &tsp)) fail_msg("%s", yoke_last_error(context));
    dense_tsp_close(tsp);
    dense_cities_destroy(&cities);
    yoke_run_destroy(run);
    yoke_context_destroy(context);
}

static void distances_are_those_of_tsplib(void **state)
{
    (void)state;
    static const struct {
        const char *metric;
        int32_t expected; /* between (0, 0) and (10.4, 4.4) */
    } metrics[] = {{"EUC_2D", 11}, {"CEIL_2D", 12}, {"MAN_2D", 15}, {"MAX_2D", 10}, {"ATT", 4}};
    for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++) {
        static bench b;
        char text[200];
        open_bench(&b, "", "", NULL);
        snprintf(text, sizeof text, "TYPE : TSP\nDIMENSION : 2\nEDGE_WEIGHT_TYPE : %s\nNODE_COORD_SECTION\n2 1.04e1 4.4\n1 0 0\nEOF\n",
                 metrics[k].metric);
        write_text(text);
        if (dense_cities_read(b.context, path, &b.cities)) fail_msg("%s", yoke_last_error(b.context));
        assert_int_equal(b.cities.distance[1], metrics[k].expected);
        assert_int_equal(b.cities.distance[2], metrics[k].expected);
        assert_int_equal(b.cities.distance[3], 0);
        close_bench(&b);
    }
}

#define HEAD "TYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"

static void a_bad_file_is_refused_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } files[] = {
        {"", ":1: the file ends without a NODE_COORD_SECTION"},
        {"TYPE: ATSP\n", ":1: TYPE is \"ATSP\"; expected TSP"},
        {"\nDIMENSION: many\n", ":2: DIMENSION is \"many\"; expected a whole number from 1 to 20000"},
        {"DIMENSION: 0\n", ":1: DIMENSION is \"0\""},
        {"DIMENSION: 99999999999999999999\n", ":1: DIMENSION is"},
        {"DIMENSION: 3\nDIMENSION: 4\n", ":2: DIMENSION is there twice"},
        {"EDGE_WEIGHT_TYPE: EXPLICIT\n", ":1: EDGE_WEIGHT_TYPE is \"EXPLICIT\"; what is read: EUC_2D, CEIL_2D"},
        {"NODE_COORD_TYPE: THREED_COORDS\n", ":1: NODE_COORD_TYPE is"},
        {"COLOUR: red\n", ":1: unknown key \"COLOUR\"; keys that are read: NAME"},
        {"hello, world\n", ":1: \"hello, world\"; expected KEY : VALUE"},
        {"DIMENSION: 3\nNODE_COORD_SECTION\n", ":2: NODE_COORD_SECTION before EDGE_WEIGHT_TYPE"},
        {"EDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n", ":2: NODE_COORD_SECTION before DIMENSION"},
        {HEAD "1 0 0\n2 1 1\n", ":6: the file ends after 2 of 3 cities"},
        {HEAD "1 0 0\n2 1 1\nEOF\n", ":7: the file ends after 2 of 3 cities"},
        {HEAD "1 0 0\n1 1 1\n", ":6: city 1 is there twice"},
        {HEAD "1 0 0\n4 1 1\n", ":6: city 4; expected a whole number from 1 to 3"},
        {HEAD "1.5 0 0\n", ":5: city 1.5"},
        {HEAD "1 0\n", ":5: \"1 0\"; expected the number of a city and its two coordinates"},
        {HEAD "1 0 nan\n", ":5: \"1 0 nan\""},
        {HEAD "1 0 0 0\n", ":5: \"1 0 0 0\""},
        {HEAD "1 0 1e999\n", ":5: \"1 0 1e999\""},
        {HEAD "1 0 0\n2 1 1\n3 2 2\n4 3 3\n", ":8: \"4 3 3\" behind the last of 3 cities"},
        {HEAD "1 0 0\n2 1 1\n3 1e9 0\n", "cities 1 and 3 are further apart than 536870911"},
        {HEAD "1 0 0\n2 1 1\n3 1e300 0\n", "further apart"},
    };
    static bench b;
    open_bench(&b, "", "", NULL);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        write_text(files[k].text);
        assert_int_equal(dense_cities_read(b.context, path, &b.cities), YOKE_ERROR_INPUT);
        const char *text = yoke_last_error(b.context);
        if (!strstr(text, files[k].expected)) fail_msg("%s\n%s", files[k].text, text);
        assert_null(b.cities.distance);
    }
    close_bench(&b);
}

static void damaged_files_are_read_or_refused(void **state)
{
    (void)state;
    static const char original[] = "NAME : few\n" HEAD "1 0 0\n2 1.5 1\n3 20 -2e1\nEOF\n";
    static bench b;
    int read = 0;
    open_bench(&b, "", "", NULL);
    for (uint64_t seed = 0; seed < 1500; seed++) {
        unsigned char bytes[400];
        const size_t size = mutate(seed, (const unsigned char *)original, sizeof original - 1, bytes, sizeof bytes);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, size, file), size);
        fclose(file);
        yoke_status status = dense_cities_read(b.context, path, &b.cities);
        if (status) assert_int_equal(status, YOKE_ERROR_INPUT);
        read += !status;
        dense_cities_destroy(&b.cities);
    }
    assert_true(read > 20 && read < 1200);
    close_bench(&b);
}

static int start(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "test-%ld.tsp", (long)getpid());
    return 0;
}

static int end(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(nine_cities_have_the_tour_of_brute_force),
    cmocka_unit_test(very_few_cities_have_their_only_tour),
    cmocka_unit_test(a_ring_of_points_is_found_by_every_restart),
    cmocka_unit_test(the_published_optimum_of_berlin52_is_reached),
    cmocka_unit_test(devices_do_not_change_the_tour),
    cmocka_unit_test(restarts_in_several_launches_give_the_same_tour),
    cmocka_unit_test(memory_does_not_grow_with_the_restarts),
    cmocka_unit_test(distances_are_those_of_tsplib),
    cmocka_unit_test(a_bad_file_is_refused_with_its_line),
    cmocka_unit_test(damaged_files_are_read_or_refused),
};

UNIT_MAIN(tests, start, end)
