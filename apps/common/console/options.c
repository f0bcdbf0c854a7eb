#include "common/console/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/console/append.h"
#include "common/console/nearest.h"

app_option app_option_json(const char **path)
{
    return (app_option){.name = "json",
                        .value = "FILE",
                        .help = "write the complete record; - writes it to standard output, and results to standard error",
                        .text = path};
}

app_option app_option_quiet(bool *quiet)
{
    return (app_option){.name = "quiet", .help = "print nothing but warnings and errors", .flag = quiet};
}

app_option app_option_out(const char **directory, const char *help)
{
    return (app_option){.name = "out", .value = "DIRECTORY", .help = help, .text = directory};
}

void app_options_add(app_option_table *table, const app_option *options)
{
    while (options->name != NULL && table->count < APP_OPTIONS_MAXIMUM) table->options[table->count++] = *options++;
}

static const char *dashes(const char *name) { return name[0] != '\0' && name[1] == '\0' ? "-" : "--"; }

static void print_help(const app_usage *usage)
{
    printf("%s\n\nusage: %s%s%s [OPTION]...%s%s\n\noptions:\n", usage->summary, usage->program, usage->operands[0] != '\0' ? " " : "",
           usage->operands, usage->command != NULL ? " -- " : "", usage->command != NULL ? usage->command : "");
    for (const app_option *option = usage->options; option->name != NULL; option++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s%s", dashes(option->name), option->name, option->value != NULL ? " " : "",
                 option->value != NULL ? option->value : "");
        printf("  %-28s %s\n", left, option->help);
    }
    printf("  %-28s %s\n", "--help", "print this text and exit");
    printf("  %-28s %s\n", "--version", "print the version and exit");
    if (usage->columns != NULL) {
        printf("\ncolumns:\n");
        for (const app_column *column = usage->columns; column->name != NULL; column++) printf("  %-15s  %s\n", column->name, column->text);
    }
    if (usage->details != NULL) printf("\n%s\n", usage->details);
}

static const app_option *find(const app_usage *usage, const char *name, size_t length)
{
    for (const app_option *option = usage->options; option->name != NULL; option++)
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0) return option;
    return NULL;
}

static yoke_status unknown(yoke_context *context, const app_usage *usage, const char *word)
{
    const char *names[APP_LIST_MAXIMUM] = {"help", "version"};
    int count = 2;
    for (const app_option *option = usage->options; option->name != NULL && count < APP_LIST_MAXIMUM; option++)
        names[count++] = option->name;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    const char *nearest = app_nearest(name + strspn(name, "-"), count, names);
    if (nearest != NULL)
        return yoke_fail(context, YOKE_ERROR_INPUT, "unknown option %s; did you mean %s%s? (%s --help lists all)", name, dashes(nearest),
                         nearest, usage->program);
    return yoke_fail(context, YOKE_ERROR_INPUT, "unknown option %s; %s --help lists the options", name, usage->program);
}

static yoke_status append(yoke_context *context, app_list *list, const char *text, const char *what)
{
    if (list->count == APP_LIST_MAXIMUM) return yoke_fail(context, YOKE_ERROR_INPUT, "%s: more than %d are given", what, APP_LIST_MAXIMUM);
    list->text[list->count++] = text;
    return YOKE_OK;
}

static yoke_status store(yoke_context *context, const app_option *option, const char *value)
{
    if (option->text != NULL) {
        *option->text = value;
        return YOKE_OK;
    }
    if (option->list != NULL) return append(context, option->list, value, option->name);
    char *end = NULL;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (end == value || *end != '\0' || errno != 0 || number < option->minimum || number > option->maximum)
        return yoke_fail(context, YOKE_ERROR_INPUT, "%s%s %s: expected an integer from %lld to %lld", dashes(option->name), option->name,
                         value, (long long)option->minimum, (long long)option->maximum);
    *option->number = number;
    return YOKE_OK;
}

/* Reads the option at argv[*index] and its value.  *index becomes the index of the last word read. */
static yoke_status read_option(yoke_context *context, const app_usage *usage, int argc, char **argv, int *index)
{
    const char *word = argv[*index];
    size_t length = strcspn(word, "=");
    const char *value = word[length] == '=' ? word + length + 1 : NULL;
    const app_option *option = length == 2                    ? find(usage, word + 1, 1)
                               : length > 3 && word[1] == '-' ? find(usage, word + 2, length - 2)
                                                              : NULL;
    if (option == NULL) return unknown(context, usage, word);
    if (option->flag != NULL) {
        if (value != NULL)
            return yoke_fail(context, YOKE_ERROR_INPUT, "%s%s takes no value, but %s is given", dashes(option->name), option->name, word);
        *option->flag = true;
        return YOKE_OK;
    }
    if (value == NULL) {
        if (option->otherwise != NULL && (*index + 1 >= argc || argv[*index + 1][0] == '-'))
            return store(context, option, option->otherwise);
        if (*index + 1 >= argc || strncmp(argv[*index + 1], "--", 2) == 0)
            return yoke_fail(context, YOKE_ERROR_INPUT, "%s%s needs a value: %s%s %s", dashes(option->name), option->name,
                             dashes(option->name), option->name, option->value);
        value = argv[++*index];
    }
    return store(context, option, value);
}

/* --help and --version are answered first, so that a user who asks for help gets no error message. */
static bool answer(const app_usage *usage, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(usage);
            return true;
        }
        if (strcmp(argv[i], "--version") == 0) {
            printf("%s %s\n", usage->program, yoke_version());
            return true;
        }
    }
    return false;
}

yoke_status app_options_parse(yoke_context *context, const app_usage *usage, int argc, char **argv, app_list *operands, bool *answered)
{
    *answered = answer(usage, argc, argv);
    if (*answered) return YOKE_OK;
    int count = 0;
    bool options_end = false;
    for (int i = 1; i < argc; i++) {
        yoke_status status = YOKE_OK;
        if (!options_end && strcmp(argv[i], "--") == 0) {
            if (usage->command != NULL) {
                *usage->command_at = i + 1;
                break;
            }
            options_end = true;
        } else if (!options_end && argv[i][0] == '-' && argv[i][1] != '\0') {
            status = read_option(context, usage, argc, argv, &i);
        } else {
            if (++count > usage->operands_most)
                return yoke_fail(context, YOKE_ERROR_INPUT, "unexpected argument %s; usage: %s%s%s [OPTION]...%s%s", argv[i],
                                 usage->program, usage->operands[0] != '\0' ? " " : "", usage->operands,
                                 usage->command != NULL ? " -- " : "", usage->command != NULL ? usage->command : "");
            status = append(context, operands, argv[i], "arguments");
        }
        if (status != YOKE_OK) return status;
    }
    if (count < usage->operands_least)
        return yoke_fail(context, YOKE_ERROR_INPUT, "an argument is missing; usage: %s %s [OPTION]... (%s --help says more)",
                         usage->program, usage->operands, usage->program);
    return YOKE_OK;
}

yoke_status app_option_real(yoke_context *context, const char *name, const char *text, double least, double most, double *number)
{
    char *end = NULL;
    if (text == NULL) return YOKE_OK;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= least && value <= most))
        return yoke_fail(context, YOKE_ERROR_INPUT, "--%s %s: expected a number from %g to %g", name, text, least, most);
    *number = value;
    return YOKE_OK;
}

const char *app_option_store(const char *word, const char *missing) { return !word ? missing : strcmp(word, "none") ? word : NULL; }

const char *const app_objective_names[] = {"time", "energy", "edp", "ed2p", NULL};

yoke_status app_option_choice(yoke_context *context, const char *name, const char *word, const char *const *words, int *number)
{
    char list[256] = "";
    *number = 0;
    if (!word) return YOKE_OK;
    for (int i = 0; words[i]; i++) {
        *number = i;
        if (!strcmp(word, words[i])) return YOKE_OK;
        app_append(list, sizeof list, "%s%s", i ? ", " : "", words[i]);
    }
    return yoke_fail(context, YOKE_ERROR_INPUT, "--%s %s: unknown; expected one of %s", name, word, list);
}

bool app_options_ask_help(int argc, char **argv)
{
    bool asks = false;
    for (int i = 1; i < argc; i++) asks |= !strcmp(argv[i], "--help") || !strcmp(argv[i], "--version");
    return asks;
}
