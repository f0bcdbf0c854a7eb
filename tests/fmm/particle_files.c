/*
 * Files of columns, CSV and XYZ: what is right is read, what is wrong is refused with its line.
 */
#include <math.h>
#include <unistd.h>

#include "files.h"
#include "mutate.h"
#include "particles/generate.h"
#include "unit.h"

static yoke_context *context;
static char directory[] = "/tmp/yoke-test-particles-XXXXXX";

static int start(void **state)
{
    (void)state;
    return !mkdtemp(directory) || yoke_context_create(NULL, &context) != YOKE_OK;
}

static int end(void **state)
{
    (void)state;
    yoke_context_destroy(context);
    return rmdir(directory);
}

static void path_of(char path[200], const char *name) { snprintf(path, 200, "%s/%s", directory, name); }

/* Writes a file of these bytes, reads the frame and removes the file. */
static yoke_status read_bytes(const char *name, const char *bytes, size_t size, int64_t frame, fmm_particles **particles, int64_t *frames)
{
    char path[200];
    path_of(path, name);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    fclose(out);
    yoke_status status = read_file(context, path, frame, particles, frames);
    remove(path);
    return status;
}

static fmm_particles *right(const char *name, const char *text, int64_t frame, int64_t count)
{
    fmm_particles *particles = NULL;
    int64_t frames = 0;
    yoke_status status = read_bytes(name, text, strlen(text), frame, &particles, &frames);
    if (status) print_message("%s\n", yoke_last_error(context));
    assert_int_equal(status, YOKE_OK);
    assert_true(frames >= frame);
    assert_int_equal(particles->count, count);
    return particles;
}

static void check(fmm_particles *p, int64_t i, double x, double y, double z, double q)
{
    assert_true(p->x[i] == x && p->y[i] == y && p->z[i] == z && p->charge[i] == q);
}

static void columns_are_read_with_and_without_header(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
    } files[] = {
        {"a.txt", "1 2 3 4\n-5e-1 6 7 8\n"},
        {"a", "1 2 3 4\r\n-0.5 6 7 8\r\n"},
        {"a.dat", "# a comment\n\n  1\t2  3 4\n\n# another\n-.5 6 7 8"},
        {"a.xyzq", "x y z q\n1 2 3 4\n-.5 6 7 8\n"},
        {"a.txt", "# x y z q\n1 2 3 4\n-.5 6 7 8\n"},
        {"a.txt", "name charge z y x more\nA 4 3 2 1 1\nB 8 7 6 -.5 nan\n"},
        {"a.csv", "1,2,3,4\n-.5,6,7,8\n"},
        {"a.csv", "\"1\",\"2\",\"3\",\"4\"\n\"-.5\",\"6\",\"7\",\"8\"\n"},
        {"a.csv", "# q,z,y,x\n\"4\",3,2,1\n8,7,6,-.5\n"},
        {"a.csv", "x, y, z, q\n1, 2, 3, 4\n -.5 , 6 , 7 , 8\n"},
        {"a.CSV", "q,,x,y,z\r\n4,,1,2,3\r\n8,,-.5,6,7\r\n"},
        {"a.csv", "\"x\",\"y\", \"z\",\"q\"\n\"1\",2,3,4\n-.5,6,7,8\n"},
        {"a.csv", "\xEF\xBB\xBFx,y,z,q\n1,2,3,4\n-.5,6,7,8\n"},
        {"a.csv", "X,Y,Z,Charge\n1,2,3,4\n-.5,6,7,8\n"},
        {"a.txt", "# columns: x y z q\n1 2 3 4\n-.5 6 7 8\n"},
        {"a.txt", "# columns: x y z q\n# q z y x\n# more\n4 3 2 1\n8 7 6 -.5\n"},
    };
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        fmm_particles *p = right(files[f].name, files[f].text, 1, 2);
        check(p, 0, 1, 2, 3, 4);
        check(p, 1, -0.5, 6, 7, 8);
        fmm_particles_destroy(p);
    }
}

static void files_without_particles_have_none(void **state)
{
    (void)state;
    fmm_particles_destroy(right("a.txt", "", 1, 0));
    fmm_particles_destroy(right("a.txt", "x y z q\n", 1, 0));
    fmm_particles_destroy(right("a.csv", "\n\n# nothing", 1, 0));
    fmm_particles_destroy(right("a.xyz", "0\n\n", 1, 0));
}

/* White space that is no blank: no word of such a line can be named. */
static void lines_of_white_space_are_empty(void **state)
{
    (void)state;
    static const char *const white[] = {"\f", "\v", " \r \r", "\t\v\f"};
    for (size_t k = 0; k < sizeof white / sizeof *white; k++) {
        char text[40];
        snprintf(text, sizeof text, "%s\n1 2 3 4\n%s\n", white[k], white[k]);
        fmm_particles_destroy(right("a.txt", text, 1, 1));
        snprintf(text, sizeof text, "%s\nx,y,z,q\n1,2,3,4\n", white[k]);
        fmm_particles_destroy(right("a.csv", text, 1, 1));
    }
}

static void xyz_is_read_with_its_frames_and_properties(void **state)
{
    (void)state;
    static const char frames[] = "2\nfirst\nH 1 2 3 4\nO -.5 6 7 8\n\n1\nProperties=id:I:1:charge:R:1:pos:R:3 pbc=\"F F F\"\n17 4 1 2 3\n"
                                 "1\nProperties=\"species:S:1:pos:R:3:q:R:1\"\nX 9 8 7 6\n";
    fmm_particles *p = right("a.xyz", frames, 1, 2);
    check(p, 0, 1, 2, 3, 4);
    check(p, 1, -0.5, 6, 7, 8);
    fmm_particles_destroy(p);
    p = right("a.extxyz", frames, 2, 1);
    check(p, 0, 1, 2, 3, 4);
    fmm_particles_destroy(p);
    p = right("a.xyz", frames, 3, 1);
    check(p, 0, 9, 8, 7, 6);
    fmm_particles_destroy(p);
}

static void xyz_notes_kinds_comments_and_periodic_boxes(void **state)
{
    (void)state;
    static const struct {
        const char *comment, *noted;
        bool periodic;
    } frames[] = {
        {"Lattice=\"9 0 0 0 9 0 0 0 9\" Properties=species:S:1:pos:R:3:q:R:1 Time=2.5", "Lattice=\"9 0 0 0 9 0 0 0 9\" Time=2.5", true},
        {"pbc=\"F F T\"  Properties=species:S:1:pos:R:3:q:R:1", "", true},
        {"pbc=[F, F, F] Properties=species:S:1:pos:R:3:q:R:1 note=\"a \\\"b c\"", "note=\"a \\\"b c\"", false},
        {"Lattice=\"9 0 0 0 9 0 0 0 9\" pbc=\"F F F\"", "Lattice=\"9 0 0 0 9 0 0 0 9\"", false},
        {" it's \"plain\" ", "comment=\"it's \\\"plain\\\" \"", false},
        {"open \" [", "comment=\"open \\\" [\"", false},
        {"", NULL, false},
    };
    for (size_t f = 0; f < sizeof frames / sizeof *frames; f++) {
        char text[300];
        snprintf(text, sizeof text, "2\n%s\nNa 1 2 3 4\nCl -.5 6 7 8\n", frames[f].comment);
        fmm_particles *p = right("a.xyz", text, 1, 2);
        assert_memory_equal(p->notes.kinds, "Na\0Cl", 6);
        if (frames[f].noted)
            assert_string_equal(p->notes.comment, frames[f].noted);
        else
            assert_null(p->notes.comment);
        assert_int_equal(p->notes.periodic, frames[f].periodic);
        fmm_particles_destroy(p);
    }
    fmm_particles *p = right("a.xyz", "1\nProperties=pos:R:3:q:R:1\n1 2 3 4\n", 1, 1);
    assert_null(p->notes.kinds);
    fmm_particles_destroy(p);
}

/* A simulation may still be writing the file. */
static void an_incomplete_last_frame_is_left_out(void **state)
{
    (void)state;
    static const char *const rests[] = {"3\n", "3\nc\n", "3\nc\nX 1 2 3 4\nX 2 2 3 4\n", "2\nc\nX 1 2 3 4\nB 1 0 ", "2\nc\nX 1 2 3 4\nB"};
    for (size_t r = 0; r < sizeof rests / sizeof *rests; r++) {
        char text[100];
        fmm_particles *p = NULL;
        int64_t frames = 0;
        snprintf(text, sizeof text, "1\na\nX 1 2 3 4\n1\nb\nX 5 2 3 4\n%s", rests[r]);
        assert_int_equal(read_bytes("a.xyz", text, strlen(text), 2, &p, &frames), YOKE_OK);
        assert_true(frames == 2 && p->x[0] == 5);
        fmm_particles_destroy(p);
    }
}

static void a_last_line_without_line_feed_is_read(void **state)
{
    (void)state;
    fmm_particles *p = right("a.xyz", "1\na\nX 1 2 3 4\n2\nb\nX 5 2 3 4\nX 1 2 3 4", 2, 2);
    check(p, 1, 1, 2, 3, 4);
    fmm_particles_destroy(p);
    fmm_particles_destroy(right("a.xyz", "1\na\nX 1 2 3 4\n0\nb", 2, 0));
}

static void what_is_wrong_is_refused_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *message;
        int frame;
    } files[] = {
        {"a.txt", "1 2 3 4\n1 2 3\n", "a.txt:2: 3 columns; expected 4", 1},
        {"a.txt", "1 2 3\n", "a.txt:1: 3 columns; expected 4", 1},
        {"a.txt", "1 2 3 4 5\n", "a.txt:1: 5 columns; expected 4", 1},
        {"a.txt", "# c\n\n1 2 nan 4\n", "a.txt:3: z is nan", 1},
        {"a.txt", "1 2 3 4\n1 -inf 3 4\n", "a.txt:2: y is -inf", 1},
        {"a.txt", "1 2 3 1e999\n", "a.txt:1: q is 1e999", 1},
        {"a.txt", "1 2 3 -1e-999\n", "a.txt:1: q is -1e-999, which is smaller than the least double", 1},
        {"a.txt", "1 2 3 \x1b[2Jfour\n", "a.txt:1: q is \"?[2Jfour\"", 1},
        {"a.txt",
         "\xEF\xBB\xBF"
         "1 2 3\n",
         "a.txt:1: 3 columns; expected 4", 1},
        {"a.txt", "1 2 3 four\n", "a.txt:1: q is \"four\"", 1},
        {"a.txt", "1 2 0x3 4\n", "a.txt:1: z is \"0x3\"", 1},
        {"a.txt", "1 2 3 4e\n", "a.txt:1: q is \"4e\"", 1},
        {"a.txt", "1,2,3,4\n", "a.txt:1: 1 column; expected 4: x y z q, with blanks between them (for commas", 1},
        {"a.csv", "1 2 3 4\n", "a.csv:1: 1 column; expected 4: x y z q, with commas between them", 1},
        {"a.csv", "x;y;z;q\n1;2;3;4\n", "x, y, z and q, with commas between them, as the end of the file's name says; there is no x", 1},
        {"a.txt", "x y z x q\n1 2 3 4 5\n", "a.txt:1: two columns of the header hold x: \"x\" and \"x\"", 1},
        {"a.csv", "x,y,z,charge,q\n1,2,3,4,5\n", "a.csv:1: two columns of the header hold q: \"charge\" and \"q\"", 1},
        {"a.txt", "x y z\n1 2 3\n",
         "a.txt:1: expected numbers, or a header with the columns x, y, z and q, with blanks between them (for commas the file's name ends "
         "with .csv); there is no q",
         1},
        {"a.txt", "garbage\n", "a.txt:1: expected numbers, or a header", 1},
        {"a.txt", "x y z q w\n1 2 3 4\n", "a.txt:2: 4 columns; expected 5 as in the header", 1},
        {"a.txt", "1 2 3 4\n", "there is no frame 2", 2},
        {"a.csv", "1,2,3\n", "a.csv:1: 3 columns; expected 4", 1},
        {"a.csv", "1,2,,4\n", "a.csv:1: z is \"\"", 1},
        {"a.csv", "1,2,\"\",4\n", "a.csv:1: z is \"\"", 1},
        {"a.csv", "1,2,\",4\n", "a.csv:1: z is \"\"\"", 1},
        {"a.csv", "1;2;3;4\n", "a.csv:1: expected numbers", 1},
        {"a.xyz", "", "there is no frame 1; it has 0", 1},
        {"a.xyz", "two\n\n", "a.xyz:1: expected the number of particles", 1},
        {"a.xyz", "-2\n\n", "a.xyz:1: expected the number of particles", 1},
        {"a.xyz", "2 2\n\n", "a.xyz:1: expected the number of particles", 1},
        {"a.xyz", "3000000000\n\nX 1 2 3 4\n", "a.xyz:1: 3000000000 particles; there may be up to", 1},
        {"a.xyz", "99999999999999999999999\n\nX 1 2 3 4\n", "a.xyz:1: 99999999999999999999999 particles; there may be up to", 1},
        {"a.xyz", "2000000000\n\nX 1 2 3 4\n", "the file ends after 1 of 2000000000 particles", 1},
        {"a.xyz", "2\n\nX 1 2 3 4\n", "the file ends after 1 of 2 particles", 1},
        {"a.xyz", "2\n\nX 1 2 3 4\n", "a.xyz:3: the file ends after 1 of 2 particles", 2},
        {"a.xyz", "9\n\nX\nX\nX\n", "a.xyz:5: the file ends after 3 of 9 particles", 1},
        {"a.xyz", "2\n", "the file ends after 0 of 2 particles", 1},
        {"a.xyz", "1\n\nX 1 2 3\n", "a.xyz:3: 4 columns; expected 5", 1},
        {"a.xyz", "2\n\nX 1 2 3 4\nB 1 0 ", "a.xyz:4: 3 columns; expected 5", 1},
        {"a.xyz", "1\n\nX 1 2 3 4\n2\n\nX 1 2 3 4\nB 1 0\n", "a.xyz:7: 3 columns; expected 5", 2},
        {"a.xyz", "1\n\nX 1 2 3 4 5 6\n", "a.xyz:3: 7 columns; expected 5: kind x y z q", 1},
        {"a.xyz", "1\n\nX 1 2 3 q\n", "a.xyz:3: q is \"q\"", 1},
        {"a.xyz", "1\n\nX 1 2 inf 4\n", "a.xyz:3: z is inf", 1},
        {"a.xyz", "1\n\nX 1 2 3 4\nrest\n", "a.xyz:4: expected the number of particles", 1},
        {"a.xyz", "1\n\nX 1 2 3 4\n", "there is no frame 2; it has 1", 2},
        {"a.xyz", "1\nProperties=species:S:1:pos:R:3\nX 1 2 3\n", "a.xyz:2: Properties has no charge", 1},
        {"a.xyz", "1\nProperties=species:S:1:charge:R:1\nX 1\n", "a.xyz:2: Properties has no pos", 1},
        {"a.xyz", "1\nProperties=pos:R:3:q:R:1:charge:R:1\n1 2 3 4 5\n", "a.xyz:2: Properties has two columns of charges", 1},
        {"a.xyz", "1\nProperties=species\nX 1\n", "a.xyz:2: Properties: expected triples", 1},
        {"a.xyz", "1\nProperties=pos:R:3000000000000\nX 1\n", "a.xyz:2: Properties: expected a number of columns", 1},
        {"a.xyz", "1\nProperties=a:S:64:pos:R:3:charge:R:1\nX 1\n", "a.xyz:2: Properties: more than 64 columns", 1},
        {"a.xyz", "1\nProperties=species:S:1:pos:R:3:charge:R:1\nX 1 2 3\n", "a.xyz:3: 4 columns; expected 5 as in Properties", 1},
        {"a.pdb", "1 2 3 4\n", "a.pdb: no known kind of particle file", 1},
        {"a.vtu", "1 2 3 4\n", "a.vtu: VTU files are for results only", 1},
    };
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        fmm_particles *particles = NULL;
        int64_t frames = 0;
        yoke_status status = read_bytes(files[f].name, files[f].text, strlen(files[f].text), files[f].frame, &particles, &frames);
        if (status != YOKE_ERROR_INPUT || !strstr(yoke_last_error(context), files[f].message))
            print_message("%s: %s\n", files[f].text, yoke_last_error(context));
        assert_int_equal(status, YOKE_ERROR_INPUT);
        assert_non_null(strstr(yoke_last_error(context), files[f].message));
        assert_null(particles);
    }
}

static void bytes_that_are_no_text_and_missing_files_are_refused(void **state)
{
    (void)state;
    fmm_particles *particles = NULL;
    int64_t frames = 0;
    assert_int_equal(read_bytes("a.txt", "1 2 3 4\n1 2\0 3 4\n", 17, 1, &particles, &frames), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "a.txt:2: a byte of value 0"));
    assert_int_equal(read_file(context, "/nowhere/a.txt", 1, &particles, &frames), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "/nowhere/a.txt: cannot be opened"));
    assert_int_equal(read_file(context, "/tmp", 1, &particles, &frames), YOKE_ERROR_INPUT);
    assert_null(particles);
}

/* Files with a million frames are no rarity: what is done for each must not grow with the file (this took longer than the test may, when it did). */
static void a_million_frames_are_passed_over_at_once(void **state)
{
    (void)state;
    enum { FRAMES = 1000000 };
    char path[200];
    fmm_particles *particles = NULL;
    int64_t frames = 0;
    path_of(path, "m.xyz");
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    for (int f = 0; f < FRAMES; f++) fprintf(out, "1\n\nX 1 2 %d 4\n", f);
    fclose(out);
    assert_int_equal(read_file(context, path, FRAMES, &particles, &frames), YOKE_OK);
    remove(path);
    assert_int_equal(frames, FRAMES);
    check(particles, 0, 1, 2, FRAMES - 1, 4);
    fmm_particles_destroy(particles);
}

static void check_read_or_refused(yoke_status status, fmm_particles *particles)
{
    assert_true(status == YOKE_OK || status == YOKE_ERROR_INPUT);
    for (int64_t i = 0; status == YOKE_OK && i < particles->count; i++)
        assert_true(isfinite(particles->x[i]) && isfinite(particles->y[i]) && isfinite(particles->z[i]) && isfinite(particles->charge[i]));
    fmm_particles_destroy(particles);
}

/* Files that are damaged in several places, from the same seeds at each run. */
static void mutated_files_are_read_or_refused(void **state)
{
    (void)state;
    enum { MUTANTS = 400, ROOM = 1000 };
    static const struct {
        const char *name, *text;
    } files[] = {{"m.txt", "x y z q more\n1 2e3 -.5 4 5\n# comment\n\n5 6 7 8 9\n-1.25e-7 6 7 0 1\n"},
                 {"m.dat", "1 2 3 4\n5 6 7 8\n9 10 11 12\n"},
                 {"m.csv", "q, \"x\" ,y,z\r\n1,2,3,4\r\n5,6,7,8\r\n"},
                 {"m.xyz", "2\nProperties=s:S:1:pos:R:3:q:R:1\nX 1 2 3 4\nY 5 6 7 8\n\n1\nplain\nX 1 2 3 4\n"}};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        for (uint64_t seed = 0; seed < MUTANTS; seed++) {
            unsigned char bytes[ROOM];
            fmm_particles *particles = NULL;
            int64_t frames;
            size_t size = mutate(seed, (const unsigned char *)files[f].text, strlen(files[f].text), bytes, ROOM);
            yoke_status status = read_bytes(files[f].name, (const char *)bytes, size, 1 + (int64_t)(seed % 2), &particles, &frames);
            check_read_or_refused(status, particles);
        }
}

/* Every beginning of a file, and every byte of it changed: no crash, and either an error or finite numbers. */
static void damaged_files_are_read_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
    } files[] = {{"a.txt", "x y z q\n1 2e3 -.5 4\n5 6 7 8\n"},
                 {"a.csv", "1,2,3,4\n5,6,7,8\n"},
                 {"a.xyz", "1\nProperties=s:S:1:pos:R:3:q:R:1\nX 1 2 3 4\n1\n\nX 1 2 3 4\n"}};
    static const char changes[] = {0, '\n', ' ', ',', ':', '9', 'e', '-', '"', (char)0xff};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        size_t size = strlen(files[f].text);
        for (size_t at = 0; at < size; at++)
            for (size_t c = 0; c <= sizeof changes; c++) {
                char bytes[200];
                fmm_particles *particles = NULL;
                int64_t frames;
                memcpy(bytes, files[f].text, size);
                if (c < sizeof changes) bytes[at] = changes[c];
                yoke_status status = read_bytes(files[f].name, bytes, c < sizeof changes ? size : at, 1, &particles, &frames);
                check_read_or_refused(status, particles);
            }
    }
}

static void what_is_written_is_read_again_to_the_last_bit(void **state)
{
    (void)state;
    static const char *const names[] = {"b.txt", "b.csv", "b.xyz"};
    fmm_particles *p = NULL, *q = NULL;
    fmm_field *field = NULL;
    int64_t frames;
    assert_int_equal(fmm_particles_generate(context, FMM_XENON, 500, FMM_RANDOM, 5, &p), YOKE_OK);
    for (int64_t i = 0; i < p->count; i++) p->charge[i] *= p->x[i] * 1e-300; /* many digits, small numbers */
    for (int with = 0; with < 3; with++) {                                   /* no field, potential, gradient too */
        if (with) assert_int_equal(fmm_field_create(context, p->count, with > 1, &field), YOKE_OK);
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            char path[200];
            path_of(path, names[n]);
            assert_int_equal(write_file(context, path, p, field), YOKE_OK);
            assert_int_equal(read_file(context, path, 1, &q, &frames), YOKE_OK);
            remove(path);
            assert_int_equal(q->count, p->count);
            assert_memory_equal(q->x, p->x, 500 * sizeof(double));
            assert_memory_equal(q->y, p->y, 500 * sizeof(double));
            assert_memory_equal(q->z, p->z, 500 * sizeof(double));
            assert_memory_equal(q->charge, p->charge, 500 * sizeof(double));
            fmm_particles_destroy(q);
        }
        fmm_field_destroy(field);
        field = NULL;
    }
    fmm_particles_destroy(p);
}

/* Files of several parts, which threads read concurrently, and of several blocks, which they write. */
enum { MANY = 20000 };

/* Kinds of different lengths. */
static char *kinds_of(int64_t count, size_t *bytes)
{
    char *kinds = NULL, *next;
    assert_int_equal(yoke_allocate(context, count, 8, &kinds), YOKE_OK);
    next = kinds;
    for (int64_t i = 0; i < count; i++) next += snprintf(next, 8, "K%lld", (long long)(i * i % 1000)) + 1;
    *bytes = (size_t)(next - kinds);
    return kinds;
}

static void large_files_are_read_again_to_the_last_bit(void **state)
{
    (void)state;
    static const char *const names[] = {"a.txt", "a.csv", "a.xyz"};
    fmm_particles *p = NULL, *q = NULL;
    int64_t frames;
    size_t bytes;
    assert_int_equal(fmm_particles_generate(context, FMM_UNIFORM, MANY, FMM_RANDOM, 5, &p), YOKE_OK);
    p->notes.kinds = kinds_of(MANY, &bytes);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        char path[200];
        path_of(path, names[n]);
        assert_int_equal(write_file(context, path, p, NULL), YOKE_OK);
        assert_int_equal(read_file(context, path, 1, &q, &frames), YOKE_OK);
        remove(path);
        assert_int_equal(q->count, MANY);
        assert_memory_equal(q->x, p->x, MANY * sizeof(double));
        assert_memory_equal(q->y, p->y, MANY * sizeof(double));
        assert_memory_equal(q->z, p->z, MANY * sizeof(double));
        assert_memory_equal(q->charge, p->charge, MANY * sizeof(double));
        if (n == 2) assert_memory_equal(q->notes.kinds, p->notes.kinds, bytes);
        fmm_particles_destroy(q);
    }
    fmm_particles_destroy(p);
}

/* Prints lines with other columns than expected at two places, after comments and empty lines. */
static char *wrong_lines(const char *head, const char *comment, int wrong, int later)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    fputs(head, out);
    for (int i = 1; i <= MANY; i++)
        if (i % 7 == 0)
            fputs(comment, out);
        else
            fprintf(out, i == wrong || i == later ? "%d 1\n" : "%d 0.125 0.25 0.375 1\n", i);
    fclose(out);
    return text;
}

static void of_several_wrong_lines_the_first_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *name, *head, *comment;
        int wrong, line;
    } files[] = {{"a.txt", "n x y z q\n", "# comment\n", 9000, 9001},
                 {"a.txt", "n x y z q\n", "\n", MANY - 2, MANY - 1},
                 {"a.xyz", "20000\n\n", "K 1 2 3 4\n", 9000, 9002},
                 {"a.xyz", "20000\n\n", "K 1 2 3 4\n", 1, 3}};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        fmm_particles *particles = NULL;
        int64_t frames;
        char where[32], *text = wrong_lines(files[f].head, files[f].comment, files[f].wrong, MANY - 2);
        assert_int_equal(read_bytes(files[f].name, text, strlen(text), 1, &particles, &frames), YOKE_ERROR_INPUT);
        snprintf(where, sizeof where, "%s:%d: 2 columns", files[f].name, files[f].line);
        if (!strstr(yoke_last_error(context), where)) print_message("%s: not %s\n", yoke_last_error(context), where);
        assert_non_null(strstr(yoke_last_error(context), where));
        free(text);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(columns_are_read_with_and_without_header),
    cmocka_unit_test(files_without_particles_have_none),
    cmocka_unit_test(lines_of_white_space_are_empty),
    cmocka_unit_test(xyz_is_read_with_its_frames_and_properties),
    cmocka_unit_test(xyz_notes_kinds_comments_and_periodic_boxes),
    cmocka_unit_test(an_incomplete_last_frame_is_left_out),
    cmocka_unit_test(a_last_line_without_line_feed_is_read),
    cmocka_unit_test(what_is_wrong_is_refused_with_its_line),
    cmocka_unit_test(bytes_that_are_no_text_and_missing_files_are_refused),
    cmocka_unit_test(a_million_frames_are_passed_over_at_once),
    cmocka_unit_test(damaged_files_are_read_or_refused),
    cmocka_unit_test(mutated_files_are_read_or_refused),
    cmocka_unit_test(what_is_written_is_read_again_to_the_last_bit),
    cmocka_unit_test(large_files_are_read_again_to_the_last_bit),
    cmocka_unit_test(of_several_wrong_lines_the_first_is_named),
};

UNIT_MAIN(tests, start, end)
