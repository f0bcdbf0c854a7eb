/*
 * Rewrites a BDF file for Gmsh.  Gmsh's reader recognises nodes and elements by the first characters of their names and ignores everything
 * else: coordinate systems, included files, and continuation lines without marks.  So Gmsh gets a file with only the cards that it reads
 * correctly.  A card that changes the body but is not read is refused with its name; other cards that are left out are reported.
 */
#include "mesh/file/bdf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mesh/file/rewrite.h"

enum { MAX_NUMBER = 99999999 };

typedef struct rewriting {
    fem_bdf_reader reader;
    fem_bdf_card card;
    fem_text text; /* the file written for Gmsh */
    fem_labels nodes, elements;
    /* nodes with single-point constraints of displacements; nodes whose displacements refer to another coordinate system */
    int64_t constrained, turned;
    fem_left_out given[FEM_LEFT_OUT], lost[FEM_LEFT_OUT];
} rewriting;

/* ------------------------------------------------------------------------------------------------- tables */

/* X(card, name that Gmsh reads, numbers of nodes for first and second order, element name for messages) */
typedef struct element_card {
    const char *name, *written;
    int first, second;
    const char *what;
} element_card;

static const element_card element_cards[] = {{"CHEXA", "CHEXA", 8, 20, "hexahedron"},  {"CTETRA", "CTETRA", 4, 10, "tetrahedron"},
                                             {"CPENTA", "CPENTA", 6, 15, "prism"},     {"CPYRAM", "CPYRAM", 5, 13, "pyramid"},
                                             {"CPYRA", "CPYRAM", 5, 13, "pyramid"},    {"CTRIA3", "CTRIA3", 3, 3, "triangle"},
                                             {"CTRIAR", "CTRIA3", 3, 3, "triangle"},   {"CTRIA6", "CTRIA6", 6, 6, "triangle"},
                                             {"CQUAD4", "CQUAD4", 4, 4, "quadrangle"}, {"CQUADR", "CQUAD4", 4, 4, "quadrangle"},
                                             {"CQUAD8", "CQUAD8", 8, 8, "quadrangle"}, {"CBAR", "CBAR", 2, 2, "line"},
                                             {"CBEAM", "CBAR", 2, 2, "line"},          {"CROD", "CBAR", 2, 2, "line"}};

/* Cards that describe a part of the body but are not read.  A name that ends with * matches every name that begins with it. */
static const char *const refused[][2] = {
    {"INCLUDE", "files that a file includes are not read: put their lines in its place"},
    {"GRIDB", "nodes of fluids are not read"},
    {"GRIDF", "nodes of fluids are not read"},
    {"GRIDS", "nodes of fluids are not read"},
    {"GRIDG", "generated meshes are not read: let the pre-processor write nodes and elements"},
    {"EGRID", "generated meshes are not read: let the pre-processor write nodes and elements"},
    {"CGEN", "generated meshes are not read: let the pre-processor write nodes and elements"},
    {"SPCG", "generated meshes are not read: let the pre-processor write nodes and elements"},
    {"FEEDGE", "curved edges of p-elements are not read: save elements of second order"},
    {"FEFACE", "curved faces of p-elements are not read: save elements of second order"},
    {"RING*", "axisymmetric bodies are not read: mesh the body in three dimensions"},
    {"POINTAX", "axisymmetric bodies are not read: mesh the body in three dimensions"},
    {"SECTAX", "axisymmetric bodies are not read: mesh the body in three dimensions"},
    {"AXIC", "axisymmetric bodies are not read: mesh the body in three dimensions"},
    {"AXIF", "fluids are not read"},
    {"AXSLOT", "fluids are not read"},
    {"CCONE*", "axisymmetric bodies are not read: mesh the body in three dimensions"},
    {"CTRIAX*", "axisymmetric bodies are not read: mesh the body in three dimensions"},
    {"CQUADX*", "axisymmetric bodies are not read: mesh the body in three dimensions"},
    {"CTRAX*", "axisymmetric bodies are not read: mesh the body in three dimensions"},
    {"CTRAPAX", "axisymmetric bodies are not read: mesh the body in three dimensions"},
    {"CTRIAAX", "axisymmetric bodies are not read: mesh the body in three dimensions"},
    {"CFLUID*", "fluids are not read"},
    {"CAXIF*", "fluids are not read"},
    {"CSLOT*", "fluids are not read"},
    {"CHAC*", "fluids are not read"},
    {"CIHEX*", "this kind of volume element is not read: save CHEXA, CTETRA or CPENTA"},
    {"CHEXA*", "this kind of volume element is not read: save CHEXA, CTETRA or CPENTA"},
    {"CHEX*", "this kind of volume element is not read: save CHEXA, CTETRA or CPENTA"},
    {"CTETRA*", "this kind of volume element is not read: save CHEXA, CTETRA or CPENTA"},
    {"CPENT*", "this kind of volume element is not read: save CHEXA, CTETRA or CPENTA"},
    {"CWEDGE*", "this kind of volume element is not read: save CHEXA, CTETRA or CPENTA"},
    {"CIF*", "this kind of volume element is not read: save CHEXA, CTETRA or CPENTA"},
    {"SEELT", "superelements are not read: save the body as a whole"},
    {"SESET", "superelements are not read: save the body as a whole"},
    {"SETREE", "superelements are not read: save the body as a whole"},
    {"SEBULK", "superelements are not read: save the body as a whole"},
    {"SELOC", "superelements are not read: save the body as a whole"},
    {"SEMPLN", "superelements are not read: save the body as a whole"},
    {"SECONCT", "superelements are not read: save the body as a whole"},
    {"SEBNDRY", "superelements are not read: save the body as a whole"},
    {"SEEXCLD", "superelements are not read: save the body as a whole"},
    {"SEQSEP", "superelements are not read: save the body as a whole"},
    {"RELEASE", "superelements are not read: save the body as a whole"},
    {"CSUPER*", "superelements are not read: save the body as a whole"},
    {"BEGIN", "a second BEGIN BULK (a superelement or an auxiliary model) is not read: save the body as a whole"}};

/* Cards for data that the case file gives instead. */
static const char *const given_by_the_case[] = {"SPC*", "SUP*",   "FORCE*", "MOMENT*", "PLOAD*", "LOAD*",   "DLOAD",
                                                "GRAV", "RFORCE", "ACCEL*", "TEMP*",   "MAT*",   "BNDFIX*", "BNDFREE*"};

/* Cards that do not describe the body: coordinate systems that no node refers to, properties, settings, sets, tables. */
static const char *const silent[] = {"CORD*", "PARAM",  "PSOLID", "PSHELL",  "PBAR*", "PBEAM*", "PROD",   "PCOMP*", "PLSOLID",
                                     "EIG*",  "TABLE*", "SET*",   "ENDDATA", "DTI",   "DESVAR", "PLOTEL", "ECHO*",  "SNORM"};

static int matches(const char *name, const char *pattern)
{
    size_t length = strlen(pattern);
    return pattern[length - 1] == '*' ? strncmp(name, pattern, length - 1) == 0 : strcmp(name, pattern) == 0;
}

static int is_one_of(const char *name, const char *const *patterns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (matches(name, patterns[i])) return 1;
    return 0;
}

/* -------------------------------------------------------------------------------------------------- output */

static yoke_status refuse(const rewriting *run, const char *why)
{
    return yoke_fail(run->reader.context, YOKE_ERROR_INPUT, "mesh '%s' line %lld: %s: %s", run->reader.path, (long long)run->card.line,
                     run->card.name, why);
}

static yoke_status add_number(rewriting *run, fem_labels *to, int64_t number)
{
    if (number < 1 || number > MAX_NUMBER)
        return yoke_fail(run->reader.context, YOKE_ERROR_INPUT, "mesh '%s' line %lld: %s has the number %lld; 1 to %d are possible",
                         run->reader.path, (long long)run->card.line, run->card.name, (long long)number, MAX_NUMBER);
    return fem_labels_add(run->reader.context, to, number, run->card.line);
}

/* -------------------------------------------------------------------------------------------------- cards */

/* Checks the fields common to GRID and GRDSET: coordinate systems of position and displacement, constraints, superelement. */
static yoke_status check_grid(rewriting *run)
{
    int64_t position = 0, displacement = 0, part = 0;
    yoke_status status = fem_bdf_integer(&run->reader, &run->card, 2, 0, &position);
    if (!status) status = fem_bdf_integer(&run->reader, &run->card, 6, 0, &displacement);
    if (!status) status = fem_bdf_integer(&run->reader, &run->card, 8, 0, &part);
    if (status) return status;
    if (position != 0)
        return yoke_fail(
            run->reader.context, YOKE_ERROR_INPUT,
            "mesh '%s' line %lld: %s gives nodes in coordinate system %lld, which is not read: save the mesh in the basic system",
            run->reader.path, (long long)run->card.line, run->card.name, (long long)position);
    if (part != 0) return refuse(run, "superelements are not read: save the body as a whole");
    run->turned += displacement != 0;
    run->constrained += strpbrk(run->card.field[7], "123") != NULL;
    return YOKE_OK;
}

static yoke_status rewrite_grid(rewriting *run)
{
    int64_t number = 0;
    double x[3];
    yoke_status status = check_grid(run);
    if (!status) status = fem_bdf_integer(&run->reader, &run->card, 1, 0, &number);
    if (!status) status = add_number(run, &run->nodes, number);
    for (int axis = 0; axis < 3 && !status; axis++) status = fem_bdf_real(&run->reader, &run->card, 3 + axis, &x[axis]);
    return status ? status
                  : fem_text_put(run->reader.context, &run->text, "GRID,%lld,,%.17g,%.17g,%.17g\n", (long long)number, x[0], x[1], x[2]);
}

/*
 * Reads the element's nodes, which must be all those of first or all those of second order.  For lines and faces, the fields after the
 * nodes hold other data.
 */
static yoke_status take_nodes(rewriting *run, const element_card *kind, int64_t node[20], int *count)
{
    int fields = run->card.count, solid = kind->second > kind->first, gap = 0;
    *count = 0;
    for (int k = 3; k <= fields && k < 3 + (solid ? kind->second + 1 : kind->second); k++) {
        int64_t number = 0;
        yoke_status status = k <= FEM_BDF_FIELDS ? fem_bdf_integer(&run->reader, &run->card, k, 0, &number) : YOKE_OK;
        if (status) return status;
        if (number < 0 || number > MAX_NUMBER) return refuse(run, "a node's number is out of range");
        gap = gap || (number > 0 && *count < k - 3);
        if (number > 0 && *count < 20) node[*count] = number;
        *count += number > 0;
    }
    if (!gap && (*count == kind->first || *count == kind->second)) return YOKE_OK;
    char wanted[32];
    snprintf(wanted, sizeof wanted, solid ? "%d or %d" : "%d", kind->first, kind->second);
    return yoke_fail(run->reader.context, YOKE_ERROR_INPUT, "mesh '%s' line %lld: %s: a %s with %d nodes; %s are expected, without gaps",
                     run->reader.path, (long long)run->card.line, run->card.name, kind->what, *count, wanted);
}

static yoke_status rewrite_element(rewriting *run, const element_card *kind)
{
    int64_t number = 0, property = 0, node[20] = {0};
    int count = 0, on_line = 0;
    yoke_status status = fem_bdf_integer(&run->reader, &run->card, 1, 0, &number);
    if (!status) status = fem_bdf_integer(&run->reader, &run->card, 2, number, &property);
    if (!status) status = add_number(run, &run->elements, number);
    if (!status && (property < 1 || property > MAX_NUMBER)) status = refuse(run, "the property's number is out of range");
    if (!status) status = take_nodes(run, kind, node, &count);
    if (!status && strcmp(kind->written, "CPYRAM") == 0)
        status = refuse(run, "pyramids cannot be split into hexahedra: mesh the volume with tetrahedra, or with hexahedra");
    if (!status)
        status = fem_text_put(run->reader.context, &run->text, "%s,%lld,%lld", kind->written, (long long)number, (long long)property);
    on_line = 2;
    for (int k = 0; k < count && !status; k++) {
        if (on_line == 8) status = fem_text_put(run->reader.context, &run->text, ",+\n+");
        on_line = on_line % 8 + 1;
        if (!status) status = fem_text_put(run->reader.context, &run->text, ",%lld", (long long)node[k]);
    }
    return status ? status : fem_text_put(run->reader.context, &run->text, "\n");
}

static yoke_status check_property(rewriting *run)
{
    const char *function = run->card.field[7];
    if (!*function || strcasecmp(function, "SMECH") == 0) return YOKE_OK;
    return refuse(run, "elements of a fluid (FCTN) are not read");
}

static yoke_status rewrite_card(rewriting *run)
{
    const char *name = run->card.name;
    if (strcmp(name, "GRID") == 0) return rewrite_grid(run);
    if (strcmp(name, "GRDSET") == 0) return run->card.field[1][0] ? refuse(run, "field 2 must be empty") : check_grid(run);
    if (strcmp(name, "PSOLID") == 0) return check_property(run);
    for (size_t i = 0; i < sizeof element_cards / sizeof *element_cards; i++)
        if (strcmp(name, element_cards[i].name) == 0) return rewrite_element(run, &element_cards[i]);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (matches(name, refused[i][0])) return refuse(run, refused[i][1]);
    if (is_one_of(name, silent, sizeof silent / sizeof *silent)) return YOKE_OK;
    fem_left_out_add(is_one_of(name, given_by_the_case, sizeof given_by_the_case / sizeof *given_by_the_case) ? run->given : run->lost,
                     name);
    return YOKE_OK;
}

/* --------------------------------------------------------------------------------------------------- file */

static void say_what_is_left_out(const rewriting *run)
{
    char text[512];
    yoke_context *context = run->reader.context;
    fem_left_out_text(run->given, text, sizeof text);
    if (text[0] || run->constrained > 0)
        yoke_log(context, YOKE_LOG_INFO, "%s: supports, loads and materials come from the case; not read: %s%s%s", run->reader.path, text,
                 text[0] && run->constrained > 0 ? ", " : "", run->constrained > 0 ? "constraints of GRID or GRDSET" : "");
    if (run->turned > 0)
        yoke_log(
            context, YOKE_LOG_INFO,
            "%s: displacements are along the axes of the basic system; %lld GRID or GRDSET cards name another one (CD), which is not read",
            run->reader.path, (long long)run->turned);
    fem_left_out_text(run->lost, text, sizeof text);
    if (text[0])
        yoke_log(context, YOKE_LOG_WARNING, "%s: only solid elements, their faces and edges are read; left out: %s", run->reader.path,
                 text);
}

static int begins(const char *text, const char *word)
{
    while (*text == ' ') text++;
    return strncasecmp(text, word, strlen(word)) == 0;
}

/* Leaves the reader after BEGIN BULK, or at the beginning of a file without BEGIN BULK. */
static yoke_status skip_control(rewriting *run)
{
    fem_bdf_reader *reader = &run->reader;
    int more = 1;
    while (more) {
        yoke_status status = fem_bdf_next_line(reader, &more);
        if (status) return status;
        if (more && begins(reader->text, "INCLUDE")) {
            run->card.line = reader->line;
            strcpy(run->card.name, "INCLUDE");
            return refuse(run, "files that a file includes are not read: put their lines in its place");
        }
        if (more && begins(reader->text, "BEGIN")) {
            if (!strchr(reader->text, '=')) return YOKE_OK;
            run->card.line = reader->line;
            strcpy(run->card.name, "BEGIN");
            return refuse(run, "superelements and auxiliary models are not read: save the body as a whole");
        }
    }
    rewind(reader->file);
    reader->line = 0;
    return YOKE_OK;
}

static yoke_status rewrite(rewriting *run)
{
    int more = 1;
    yoke_status status = skip_control(run);
    while (!status && more) {
        status = fem_bdf_next(&run->reader, &run->card, &more);
        if (!status && more) status = rewrite_card(run);
    }
    if (!status) status = fem_labels_check_unique(run->reader.context, run->reader.path, &run->nodes, "node");
    if (!status) status = fem_labels_check_unique(run->reader.context, run->reader.path, &run->elements, "element");
    if (!status) status = fem_text_put(run->reader.context, &run->text, "ENDDATA\n");
    if (!status) say_what_is_left_out(run);
    return status;
}

yoke_status fem_mesh_rewrite_bdf(yoke_context *context, const char *path, char **text, int64_t *bytes)
{
    rewriting *run = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *run, &run);
    if (status) return status;
    run->reader = (fem_bdf_reader){.context = context, .path = path, .file = fopen(path, "r")};
    if (run->reader.file) {
        status = rewrite(run);
        fclose(run->reader.file);
    } else {
        status = yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s' cannot be opened: %s", path, strerror(errno));
    }
    fem_labels_clear(context, &run->nodes);
    fem_labels_clear(context, &run->elements);
    if (status) {
        yoke_release(context, run->text.text);
    } else {
        *text = run->text.text;
        *bytes = run->text.bytes;
    }
    yoke_release(context, run);
    return status;
}
