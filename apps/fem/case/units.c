#include "case/units.h"

#include <math.h>
#include <string.h>

typedef struct unit {
    const char *name;
    double si;
} unit;

static const unit lengths[] = {{"nm", 1e-9}, {"um", 1e-6}, {"mm", 1e-3},   {"cm", 1e-2},   {"dm", 0.1},
                               {"m", 1},     {"km", 1e3},  {"in", 0.0254}, {"ft", 0.3048}, {NULL, 0}};
static const unit forces[] = {{"nN", 1e-9},
                              {"uN", 1e-6},
                              {"mN", 1e-3},
                              {"N", 1},
                              {"kN", 1e3},
                              {"MN", 1e6},
                              {"GN", 1e9},
                              {"kgf", 9.80665},
                              {"lbf", 4.4482216152605},
                              {"kip", 4448.2216152605},
                              {NULL, 0}};
static const unit stresses[] = {{"Pa", 1},
                                {"kPa", 1e3},
                                {"MPa", 1e6},
                                {"GPa", 1e9},
                                {"TPa", 1e12},
                                {"psf", 47.88025898033584},
                                {"psi", 6894.757293168361},
                                {"ksi", 6894757.293168361},
                                {"Msi", 6894757293.168361},
                                {NULL, 0}};
/* Units of newtons and metres yield these named units of energy, power and mass; other units yield products. */
static const unit energies[] = {{"aJ", 1e-18}, {"fJ", 1e-15}, {"pJ", 1e-12}, {"nJ", 1e-9}, {"uJ", 1e-6}, {"mJ", 1e-3},
                                {"J", 1},      {"kJ", 1e3},   {"MJ", 1e6},   {"GJ", 1e9},  {"TJ", 1e12}, {NULL, 0}};
static const unit powers[] = {{"aW", 1e-18}, {"fW", 1e-15}, {"pW", 1e-12}, {"nW", 1e-9}, {"uW", 1e-6}, {"mW", 1e-3},
                              {"W", 1},      {"kW", 1e3},   {"MW", 1e6},   {"GW", 1e9},  {"TW", 1e12}, {NULL, 0}};
static const unit masses[] = {{"ug", 1e-9}, {"mg", 1e-6}, {"g", 1e-3},  {"kg", 1}, {"t", 1e3},
                              {"kt", 1e6},  {"Mt", 1e9},  {"Gt", 1e12}, {NULL, 0}};

static const char examples[] = "such as m-N-Pa, mm-N-MPa, m-kN-kPa, in-lbf-psi";

static const unit *find(const unit *table, const char *name)
{
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0) return table;
    return NULL;
}

static const unit *find_value(const unit *table, double si)
{
    for (; table->name; table++)
        if (fabs(si / table->si - 1) < 1e-6) return table;
    return NULL;
}

static int refuse_word(const char *set, const char *word, const char *kind, const unit *table, char *why, size_t size)
{
    const char *names[16];
    int count = 0;
    for (; table[count].name; count++) names[count] = table[count].name;
    int used = snprintf(why, size, "'%.40s' in %.60s is no unit of %s that is known; there are ", word, set, kind);
    for (int i = 0; i < count; i++) used += snprintf(why + used, size - (size_t)used, "%s%s", i ? ", " : "", names[i]);
    snprintf(why + used, size - (size_t)used, "; %s", examples);
    return -1;
}

/* Splits at the dashes.  Returns the number of words, at most four. */
static int split(const char *name, char word[3][FEM_UNIT_TEXT])
{
    int count = 0;
    for (const char *from = name; count < 4; count++) {
        size_t length = strcspn(from, "-");
        if (length == 0 || length >= FEM_UNIT_TEXT || count == 3) return 4;
        memcpy(word[count], from, length);
        word[count][length] = '\0';
        if (!from[length]) return count + 1;
        from += length + 1;
    }
    return count;
}

/* Names of units are shorter than the 12 characters allowed by the formats. */
static void label(char out[FEM_UNIT_TEXT], const char *format, const char *first, const char *second)
{
    snprintf(out, FEM_UNIT_TEXT, format, first, second);
}

static void derive(fem_units *units, double length, double force)
{
    const char *l = units->length, *f = units->force;
    const unit *energy = find_value(energies, force * length), *power = find_value(powers, force * length);
    const unit *mass = find_value(masses, force / length);
    label(units->area, "%.12s%.12s", l, "2");
    label(units->volume, "%.12s%.12s", l, "3");
    label(units->moment, "%.12s %.12s", f, l);
    label(units->energy, energy ? "%.12s%.12s" : "%.12s %.12s", energy ? energy->name : f, energy ? "" : l);
    label(units->power, power ? "%.12s%.12s" : "%.12s %.12s/s", power ? power->name : f, power ? "" : l);
    label(units->mass, mass ? "%.12s%.12s" : "%.12s s2/%.12s", mass ? mass->name : f, mass ? "" : l);
    label(units->density, mass ? "%.12s/%.12s3" : "%.12s s2/%.12s4", mass ? mass->name : f, l);
    label(units->temperature, "%.12s%.12s", "K", "");
    label(units->temperature_gradient, "%.12s/%.12s", "K", l);
}

int fem_units_read(const char *name, fem_units *units, char *why, size_t size)
{
    char word[3][FEM_UNIT_TEXT], quotient[3 * FEM_UNIT_TEXT];
    if (strlen(name) >= FEM_UNIT_TEXT || split(name, word) != 3) {
        snprintf(why, size, "'%.60s' names no set of units; expected length-force-stress, %s", name, examples);
        return -1;
    }
    const unit *length = find(lengths, word[0]), *force = find(forces, word[1]), *stress = find(stresses, word[2]);
    if (!length) return refuse_word(name, word[0], "length", lengths, why, size);
    if (!force) return refuse_word(name, word[1], "force", forces, why, size);
    snprintf(quotient, sizeof quotient, "%s/%s2", force->name, length->name);
    double right = force->si / (length->si * length->si);
    int written_out = strcmp(word[2], quotient) == 0;
    if (!stress && !written_out) return refuse_word(name, word[2], "stress", stresses, why, size);
    if (!written_out && fabs(right / stress->si - 1) > 1e-6) {
        const unit *named = find_value(stresses, right);
        snprintf(why, size, "%s is not consistent: %s is %s%s, not %s; write %s-%s-%s", name, quotient, named ? "" : "a unit ",
                 named ? named->name : "of its own", stress->name, length->name, force->name, named ? named->name : quotient);
        return -1;
    }
    memset(units, 0, sizeof *units);
    strcpy(units->name, name);
    strcpy(units->length, word[0]);
    strcpy(units->force, word[1]);
    strcpy(units->stress, word[2]);
    derive(units, length->si, force->si);
    return 0;
}
