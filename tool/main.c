/* main.c - the yoke command: finds the subcommand and runs it. */
#include <stdio.h>
#include <string.h>

#include "common/console/nearest.h"
#include "common/console/program.h"
#include "tool.h"

static const tool_command commands[] = {
    {"info", "show the machine, its devices, meters and frequencies", tool_info, NULL},
    {"energy", "run a command and report its energy in joules", tool_energy, NULL},
    {"profile", "measure power over time and energy of a short kernel", tool_profile, NULL},
    {"gather", "record the files of this machine's meters and frequencies", tool_gather, NULL},
    {"calibrate", "measure this machine for plans: speeds, copies, powers, frequencies", tool_calibrate, NULL},
    {"plan", "find shares and frequencies for least time or energy from a model", tool_plan, NULL},
    {"reproduce", "print published tables together with the planner's numbers", NULL, "yoke-reproduce"},
    {"fem", "solve a case of 3-D elasticity or Poisson's equation adaptively", NULL, "yoke-fem"},
    {"fmm", "compute potentials and forces of charged particles", NULL, "yoke-fmm"},
    {"dense", "multiply and transpose matrices, and find short tours, on all devices", NULL, "yoke-dense"},
    {"bench", "run a benchmark", tool_bench, NULL},
};

enum { NUM_COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(FILE *stream)
{
    fputs("yoke shares scientific work between CPU cores and GPUs.\n\nusage: yoke COMMAND [ARGUMENT]...\n\ncommands:\n", stream);
    for (int i = 0; i < NUM_COMMANDS; i++) fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fputs("\nyoke help COMMAND (or yoke COMMAND --help) explains a command; yoke --version prints the version.\n"
          "Exit codes: 0 done, 1 failed at run time, 2 bad input or usage, 3 a device, meter or program is not there,\n"
          "128 + signal when interrupted.\n",
          stream);
}

static const tool_command *find(const char *name)
{
    for (int i = 0; i < NUM_COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

static yoke_status unknown(yoke_context *context, const char *name)
{
    const char *names[NUM_COMMANDS];
    for (int i = 0; i < NUM_COMMANDS; i++) names[i] = commands[i].name;
    return app_unknown(context, "command", name, NUM_COMMANDS, names);
}

static yoke_status run(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return yoke_fail(context, YOKE_ERROR_INPUT, "a command is missing");
    }
    bool help = strcmp(argv[1], "help") == 0;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (help && argc == 2)) {
        print_help(stdout);
        return YOKE_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("yoke %s\n", yoke_version());
        return YOKE_OK;
    }
    const tool_command *command = find(argv[help ? 2 : 1]);
    if (command == NULL) return unknown(context, argv[help ? 2 : 1]);
    static char name[32];
    snprintf(name, sizeof name, "yoke %s", command->name);
    terminal->program = name;
    char help_option[] = "--help";
    char *help_words[] = {argv[0], help_option, NULL};
    int words = help ? 2 : argc - 1;
    char **first = help ? help_words : argv + 1;
    return command->run != NULL ? command->run(context, terminal, words, first) : tool_become(context, command->program, first);
}

int main(int argc, char **argv)
{
    app_terminal terminal;
    app_terminal_start(&terminal, "yoke");
    app_terminal_look(&terminal, argc, argv);
    yoke_options options = {.log = app_terminal_log, .log_user = &terminal, .log_level = YOKE_LOG_INFO};
    yoke_context *context = NULL;
    yoke_status status = yoke_context_create(&options, &context);
    if (status == YOKE_OK) status = app_program_check(context);
    if (status == YOKE_OK) status = run(context, &terminal, argc, argv);
    int code = app_terminal_end(&terminal, context, status);
    yoke_context_destroy(context);
    if (terminal.signal != 0 && code == terminal.code) code = tool_end_by_signal(terminal.signal);
    return code;
}
