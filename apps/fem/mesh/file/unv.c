/*
 * Rewrites a UNV file (datasets of the SDRC I-DEAS universal file format) for Gmsh, because Gmsh's reader does not report what it does not
 * understand.  At a line that it cannot read it leaves the dataset, and the rest of the body is lost.  It skips elements of unknown types,
 * and crashes where a group contains one.  It reads groups from datasets 2435, 2452 and 2477, but not from 2467, which has the same
 * records.  It treats an element's material as a group, and merges this group with the group of the same number and with other materials of
 * the same property.  It ignores the unit of length (164) and coordinate systems (2420).
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/file/file.h"
#include "mesh/file/rewrite.h"

/* Gmsh reads at most 254 characters of a line.  An element's node numbers stand in columns of width ten. */
enum { LINE_BYTES = 255, COLUMN = 10, MOST_NODES = 1000000 };
/* Entity numbers of the rewritten file begin beyond those that Gmsh assigns in files with groups, and beyond usual property numbers. */
enum { BEYOND_ENTITIES = 1000000000 };

#define DELIMITER "    -1\n"

typedef struct scanner {
    yoke_context *context;
    const char *path;
    FILE *file;
    double scale; /* from the options */
    int64_t line;
    int too_long, has_groups;
    char text[LINE_BYTES]; /* the current line, without trailing blanks */
    fem_text out;          /* the file written for Gmsh */
    fem_labels nodes, elements;
    fem_left_out lost[FEM_LEFT_OUT];
} scanner;

/* ------------------------------------------------------------------------------------------------- lines */

static yoke_status fail_at(const scanner *scan, const char *text)
{
    return yoke_fail(scan->context, YOKE_ERROR_INPUT, "mesh '%s' line %lld: %s", scan->path, (long long)scan->line, text);
}

static int next_line(scanner *scan)
{
    if (!fgets(scan->text, sizeof scan->text, scan->file)) return 0;
    scan->line++;
    scan->too_long = !strchr(scan->text, '\n') && strlen(scan->text) == sizeof scan->text - 1;
    for (int c = 0; !strchr(scan->text, '\n') && c != EOF && c != '\n';) c = getc(scan->file);
    size_t length = strlen(scan->text);
    while (length > 0 && isspace((unsigned char)scan->text[length - 1])) scan->text[--length] = 0;
    return 1;
}

static int is_delimiter(const char *text)
{
    while (*text == ' ') text++;
    return strncmp(text, "-1", 2) == 0 && (text[2] == 0 || isspace((unsigned char)text[2]));
}

/* Goes on to the next dataset; its number is in the current line.  Returns 0 if there is none. */
static int next_dataset(scanner *scan, long *dataset)
{
    while (!is_delimiter(scan->text))
        if (!next_line(scan)) return 0;
    while (is_delimiter(scan->text))
        if (!next_line(scan)) return 0;
    *dataset = strtol(scan->text, NULL, 10);
    return 1;
}

/* Reads the next line of the dataset that is not blank.  *more = 0: the dataset has ended. */
static yoke_status next_record(scanner *scan, int *more)
{
    do *more = next_line(scan) && !is_delimiter(scan->text);
    while (*more && !scan->text[0]);
    return *more && scan->too_long ? fail_at(scan, "the line is too long") : YOKE_OK;
}

/* Reads a line that must be present; `what` names it in the message. */
static yoke_status need_line(scanner *scan, const char *what)
{
    if (next_line(scan) && !is_delimiter(scan->text)) return scan->too_long ? fail_at(scan, "the line is too long") : YOKE_OK;
    return yoke_fail(scan->context, YOKE_ERROR_INPUT, "mesh '%s' line %lld: the dataset ends before the %s: write the file again",
                     scan->path, (long long)scan->line, what);
}

/* Reads at most `most` integers from the line.  Returns how many precede the first text that is not an integer. */
static int read_integers(const char *text, int most, long long *value)
{
    int count = 0;
    for (char *end = NULL; count < most; text = end) {
        value[count] = strtoll(text, &end, 10);
        if (end == text) break;
        count++;
    }
    return count;
}

static void replace_exponents(char *text)
{
    for (; *text; text++)
        if (*text == 'D' || *text == 'd') *text = 'E';
}

static yoke_status put(scanner *scan, const char *text) { return fem_text_put(scan->context, &scan->out, "%s", text); }

static yoke_status put_line(scanner *scan) { return fem_text_put(scan->context, &scan->out, "%s\n", scan->text); }

/* ------------------------------------------------------------------------------------------------- units, coordinates */

/* Record 2 begins with the factor that converts metres to the file's unit of length. */
static yoke_status check_units(scanner *scan)
{
    if (!next_line(scan) || is_delimiter(scan->text) || !next_line(scan) || is_delimiter(scan->text)) return YOKE_OK;
    replace_exponents(scan->text);
    char *end = NULL;
    double factor = strtod(scan->text, &end);
    if (end == scan->text || !(factor > 0) || !isfinite(factor))
        return yoke_fail(scan->context, YOKE_ERROR_INPUT, "mesh '%s' line %lld: the unit of length (dataset 164) is no factor above 0",
                         scan->path, (long long)scan->line);
    if (scan->scale > 0 || fabs(factor - 1) < 1e-6) return YOKE_OK;
    return yoke_fail(
        scan->context, YOKE_ERROR_INPUT,
        "mesh '%s' line %lld: the file's unit of length is %g m (dataset 164): write in the case 'mesh_scale: %g' for metres, or "
        "'mesh_scale: 1' to take the numbers as they are",
        scan->path, (long long)scan->line, 1 / factor, 1 / factor);
}

/* A system of type 0 is Cartesian.  Writers refer to system 1 as the global system, so it must be Cartesian with the unit axes. */
static yoke_status check_systems(scanner *scan)
{
    static const double unit[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}};
    for (int k = 0; k < 2; k++)
        if (!next_line(scan) || is_delimiter(scan->text)) return YOKE_OK; /* part number and name */
    while (next_line(scan) && !is_delimiter(scan->text)) {
        long long label = 0, type = 0;
        if (sscanf(scan->text, "%lld %lld", &label, &type) != 2) return YOKE_OK;
        int global = type == 0;
        int64_t line = scan->line;
        if (!next_line(scan)) return YOKE_OK; /* name of the system */
        for (int row = 0; row < 4; row++) {
            double x[3] = {0};
            if (!next_line(scan)) return YOKE_OK;
            replace_exponents(scan->text);
            global = global && sscanf(scan->text, "%lf %lf %lf", &x[0], &x[1], &x[2]) == 3;
            for (int axis = 0; axis < 3; axis++) global = global && fabs(x[axis] - unit[row][axis]) < 1e-9;
        }
        if (label == 1 && !global)
            return yoke_fail(
                scan->context, YOKE_ERROR_INPUT,
                "mesh '%s' line %lld: coordinate system 1 (dataset 2420) is not the global one, which alone is read: save the mesh "
                "in the global system",
                scan->path, (long long)line);
    }
    return YOKE_OK;
}

/*
 * A node consists of two lines.  The first holds label, coordinate system of the position, coordinate system of the displacement, and
 * colour.
 */
static yoke_status rewrite_node(scanner *scan)
{
    long long head[4] = {0};
    double x[3];
    if (read_integers(scan->text, 4, head) != 4 || head[0] < 1 || head[0] > INT_MAX)
        return fail_at(scan, "this is no node: expected its label, two coordinate systems and a colour");
    if (head[1] != 0 && head[1] != 1)
        return yoke_fail(scan->context, YOKE_ERROR_INPUT,
                         "mesh '%s' line %lld: node %lld is given in coordinate system %lld, which is not read: save the mesh in the "
                         "global system",
                         scan->path, (long long)scan->line, head[0], head[1]);
    yoke_status status = fem_labels_add(scan->context, &scan->nodes, head[0], scan->line);
    if (!status) status = put_line(scan);
    if (!status) status = need_line(scan, "position of a node");
    if (status) return status;
    replace_exponents(scan->text);
    if (sscanf(scan->text, "%lf %lf %lf", &x[0], &x[1], &x[2]) != 3)
        return fail_at(scan, "this is no position of a node: expected three numbers");
    return put_line(scan);
}

/* ------------------------------------------------------------------------------------------------- elements */

/* Element types that Gmsh reads, by number of nodes.  A beam has one more line, which gives its orientation. */
static const struct {
    int nodes, beam, types[6];
} known_types[] = {{2, 1, {11, 21, 22, 31}},
                   {3, 1, {23, 24, 32}},
                   {3, 0, {41, 51, 61, 74, 81, 91}},
                   {6, 0, {42, 52, 62, 72, 82, 92}},
                   {4, 0, {44, 54, 64, 71, 84, 94}},
                   {8, 0, {45, 55, 65, 75, 85, 95}},
                   {4, 0, {111}},
                   {10, 0, {118}},
                   {8, 0, {104, 115}},
                   {20, 0, {105, 116}},
                   {6, 0, {101, 112}},
                   {15, 0, {102, 113}}};

/* Returns the number of nodes of a type, or 0 if Gmsh does not read it. */
static int nodes_of(long long type, int *beam)
{
    *beam = 0;
    for (size_t k = 0; k < sizeof known_types / sizeof *known_types && type > 0; k++)
        for (int i = 0; i < 6; i++)
            if (known_types[k].types[i] == type) {
                *beam = known_types[k].beam;
                return known_types[k].nodes;
            }
    return 0;
}

/* Gmsh derives the type of an element without one (type 0) from its number of nodes. */
static long long guess(long long type, long long nodes)
{
    static const long long guesses[5] = {0, 0, 11, 41, 111};
    return type == 0 && nodes > 0 && nodes < 5 ? guesses[nodes] : type;
}

/* Solids of third order are part of the body, so they are refused; elements of other unknown types are left out. */
static yoke_status leave_out_element(scanner *scan, long long label, long long type)
{
    char name[FEM_LEFT_OUT_BYTES];
    if (type == 103 || type == 106 || type == 114 || type == 117)
        return yoke_fail(scan->context, YOKE_ERROR_INPUT,
                         "mesh '%s' line %lld: element %lld is of type %lld, a solid of third order, which is not read: save elements of "
                         "first or second order",
                         scan->path, (long long)scan->line, label, type);
    snprintf(name, sizeof name, "elements of type %lld", type);
    fem_left_out_add(scan->lost, name);
    return YOKE_OK;
}

static long long limited(long long number, long long least, long long most)
{
    return number < least ? least : number > most ? most : number;
}

/*
 * Returns the entity number for an element.  Gmsh puts elements with the same number into one entity, and an entity belongs to the groups
 * of all its elements.  With a material, the number is derived from the material, which becomes a group with the material's number.  In a
 * file without groups, the properties of elements without a material become groups.
 */
static long long entity_of(const scanner *scan, long long property, long long material)
{
    if (material > 0) return BEYOND_ENTITIES + limited(material, 0, BEYOND_ENTITIES - 1);
    return scan->has_groups ? BEYOND_ENTITIES + limited(property, 0, BEYOND_ENTITIES - 1) : limited(property, -1, BEYOND_ENTITIES - 1);
}

/* The first line of an element holds label, type, property table, material table, colour, and number of nodes. */
static yoke_status put_element(scanner *scan, const long long head[6], long long type)
{
    const long long material = head[3] > INT_MAX ? 0 : limited(head[3], 0, INT_MAX);
    yoke_status status = fem_labels_add(scan->context, &scan->elements, head[0], scan->line);
    return status ? status
                  : fem_text_put(scan->context, &scan->out, "%lld %lld %lld %lld 7 %lld\n", head[0], type,
                                 entity_of(scan, head[2], material), material, head[5]);
}

/* Copies or skips the lines that hold an element's nodes. */
static yoke_status rewrite_nodes_of(scanner *scan, long long nodes, int known)
{
    for (long long found = 0; found < nodes;) {
        yoke_status status = need_line(scan, "nodes of an element");
        if (status) return status;
        found += (long long)(strlen(scan->text) + COLUMN - 1) / COLUMN;
        if (!scan->text[0] || found > nodes) return fail_at(scan, "these are not the nodes of an element: they stand in columns of ten");
        if (known) status = put_line(scan);
        if (status) return status;
    }
    return YOKE_OK;
}

static yoke_status rewrite_element(scanner *scan)
{
    long long head[6] = {0};
    int beam = 0;
    if (read_integers(scan->text, 6, head) != 6 || head[0] < 1 || head[0] > INT_MAX || head[5] < 0 || head[5] > MOST_NODES)
        return fail_at(scan, "this is no element: expected its label, type, two properties, colour and number of nodes");
    const long long type = guess(head[1], head[5]);
    const int nodes = nodes_of(type, &beam);
    if (nodes && nodes != head[5])
        return yoke_fail(scan->context, YOKE_ERROR_INPUT, "mesh '%s' line %lld: element %lld of type %lld has %lld nodes; %d are expected",
                         scan->path, (long long)scan->line, head[0], type, head[5], nodes);
    yoke_status status = nodes ? put_element(scan, head, type) : leave_out_element(scan, head[0], type);
    if (!status && beam) status = need_line(scan, "orientation of a beam");
    if (!status && beam) status = put(scan, "0 0 0\n");
    return status ? status : rewrite_nodes_of(scan, head[5], nodes > 0);
}

/* ------------------------------------------------------------------------------------------------- groups */

enum { OF_NODES = 7, OF_ELEMENTS = 8 };

static int is_group_dataset(long dataset) { return dataset == 2435 || dataset == 2452 || dataset == 2467 || dataset == 2477; }

static int is_other_group_dataset(long dataset)
{
    return dataset == 752 || dataset == 2417 || dataset == 2429 || dataset == 2430 || dataset == 2432;
}

/*
 * Collects the members that are elements of the rewritten file.  A member has kind, label and two more numbers; a line holds one or two
 * members.
 */
static yoke_status read_members(scanner *scan, long long count, fem_labels *members)
{
    for (long long found = 0; found < count;) {
        long long value[8] = {0};
        yoke_status status = need_line(scan, "members of a group");
        if (status) return status;
        const int integers = read_integers(scan->text, 8, value);
        if (integers != 4 && integers != 8) return fail_at(scan, "these are no members of a group: expected four or eight integers");
        for (int k = 0; k < integers && !status; k += 4, found++) {
            if (value[k] == OF_NODES) fem_left_out_add(scan->lost, "nodes as members of groups");
            if (value[k] != OF_ELEMENTS) continue;
            if (fem_labels_have(&scan->elements, value[k + 1]))
                status = fem_labels_add(scan->context, members, value[k + 1], scan->line);
            else
                fem_left_out_add(scan->lost, "absent elements of groups");
        }
        if (status) return status;
    }
    return YOKE_OK;
}

/* Gmsh reads a name only up to its first blank; when it writes, it replaces blanks by underscores. */
static void copy_name(const char *text, char name[LINE_BYTES])
{
    while (isspace((unsigned char)*text)) text++;
    strcpy(name, text);
    for (; *name; name++)
        if (isspace((unsigned char)*name)) *name = '_';
}

static yoke_status rewrite_group(scanner *scan)
{
    long long head[8] = {0};
    char name[LINE_BYTES];
    fem_labels members = {.count = 0};
    if (read_integers(scan->text, 8, head) != 8 || head[0] < 1 || head[0] > INT_MAX || head[7] < 0)
        return fail_at(scan, "this is no group: expected eight integers, its number first and how many members it has last");
    yoke_status status = need_line(scan, "name of a group");
    if (!status && !scan->text[0]) status = fail_at(scan, "a group has no name: give it one");
    copy_name(scan->text, name);
    if (!status) status = read_members(scan, head[7], &members);
    if (!status && members.count > 0)
        status = fem_text_put(scan->context, &scan->out, "%lld 0 0 0 0 0 0 %lld\n%s\n", head[0], (long long)members.count, name);
    for (int64_t i = 0; i < members.count && !status; i++)
        status = fem_text_put(scan->context, &scan->out, "8 %lld 0 0\n", (long long)members.item[i].number);
    fem_labels_clear(scan->context, &members);
    return status;
}

/* ------------------------------------------------------------------------------------------------- the file */

static yoke_status rewrite_records(scanner *scan, const char *dataset, yoke_status rewrite(scanner *scan))
{
    int more = 1;
    yoke_status status = put(scan, dataset);
    if (!status) status = next_record(scan, &more);
    while (!status && more) {
        status = rewrite(scan);
        if (!status) status = next_record(scan, &more);
    }
    return status ? status : put(scan, DELIMITER);
}

static yoke_status rewrite_dataset(scanner *scan, long dataset)
{
    if (dataset == 164) return check_units(scan);
    if (dataset == 2411) return rewrite_records(scan, DELIMITER "  2411\n", rewrite_node);
    if (dataset == 2412) return rewrite_records(scan, DELIMITER "  2412\n", rewrite_element);
    if (dataset == 2420) return check_systems(scan);
    if (is_group_dataset(dataset)) return rewrite_records(scan, DELIMITER "  2477\n", rewrite_group);
    if (is_other_group_dataset(dataset)) {
        char name[FEM_LEFT_OUT_BYTES];
        snprintf(name, sizeof name, "groups of dataset %ld", dataset);
        fem_left_out_add(scan->lost, name);
    }
    return YOKE_OK;
}

static void say_what_is_left_out(const scanner *scan)
{
    char text[512];
    fem_left_out_text(scan->lost, text, sizeof text);
    if (text[0])
        yoke_log(scan->context, YOKE_LOG_WARNING,
                 "%s: only solid elements, their faces and edges, and groups of these are read; left out: %s", scan->path, text);
}

static yoke_status rewrite(scanner *scan)
{
    long dataset = 0;
    yoke_status status = YOKE_OK;
    while (!scan->has_groups && next_dataset(scan, &dataset)) scan->has_groups = is_group_dataset(dataset);
    rewind(scan->file);
    scan->line = 0;
    scan->text[0] = 0;
    while (!status && next_dataset(scan, &dataset)) status = rewrite_dataset(scan, dataset);
    if (!status) status = fem_labels_check_unique(scan->context, scan->path, &scan->nodes, "node");
    if (!status) say_what_is_left_out(scan);
    return status;
}

yoke_status fem_mesh_rewrite_unv(yoke_context *context, const char *path, double scale, char **text, int64_t *bytes)
{
    scanner *scan = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *scan, &scan);
    if (status) return status;
    *scan = (scanner){.context = context, .path = path, .scale = scale, .file = fopen(path, "r")};
    if (scan->file) {
        status = rewrite(scan);
        fclose(scan->file);
    } else {
        status = yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s' cannot be opened: %s", path, strerror(errno));
    }
    fem_labels_clear(context, &scan->nodes);
    fem_labels_clear(context, &scan->elements);
    if (status) {
        yoke_release(context, scan->out.text);
    } else {
        *text = scan->out.text;
        *bytes = scan->out.bytes;
    }
    yoke_release(context, scan);
    return status;
}
