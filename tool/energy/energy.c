#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/console/options.h"
#include "common/files/file.h"
#include "common/files/record.h"
#include "common/machine/sysroot.h"
#include "energy/energy.h"
#include "energy/merge.h"
#include "tool.h"

enum { OWN_FAILURE = 125 }; /* as for `env` and similar commands */

/* The request given on the command line. */
typedef struct energy_request {
    yoke_meter_options meters;
    const char *csv, *json, *watch;
    double interval_s; /* of watching; infinite: no intervals */
    int64_t repeat;
    app_list frequencies, sources;
    const char *from, *to;
    char **command; /* NULL: no command */
} energy_request;

/* A measurement in progress. */
typedef struct energy_session {
    yoke_context *context;
    app_terminal *terminal;
    energy_request *request;
    char **environment; /* for the command */
    energy_signals signals;
    energy_process process;
    energy_account account;
    yoke_meters *meter;
    yoke_frequencies *frequencies;
    energy_frequency set[ENERGY_MAX_FREQUENCIES];
    int num_set;
    double start_s;
    int failure; /* the exit code after a failure */
} energy_session;

/* -------------------------------------------------------------------------------------------------- options */

static const char details[] =
    "The command keeps its standard streams, its exit status and its signals. The report goes to standard error.\n"
    "If yoke energy itself fails, the exit code is 125; it is 126 if the command cannot be executed, and 127 if it is not found.\n"
    "Without a command, --pid and --watch end at SIGINT, with the report and the exit code 130.\n"
    "Without a meter the report gives the reason and a remedy, never zero; --declare estimates the energy.";

/* Reads a number from `least` to `most` that ends with the text. */
static yoke_status read_seconds(yoke_context *context, const char *option, const char *text, double least, double most, double *number)
{
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= least) || !(value <= most))
        return yoke_fail(context, YOKE_ERROR_INPUT, "--%s %s: expected seconds from %g to %g", option, text, least, most);
    *number = value;
    return YOKE_OK;
}

/* Files replace all measurements, so options of measurements are refused. */
static yoke_status check_sources(yoke_context *context, const energy_request *request, int command_at)
{
    const yoke_meter_options *meters = &request->meters;
    if (command_at > 0 || meters->pid != 0 || request->watch != NULL || request->repeat > 1 || request->frequencies.count > 0 ||
        meters->select != NULL || meters->declared != NULL || meters->replay != NULL || meters->sysroot != NULL)
        return yoke_fail(
            context, YOKE_ERROR_INPUT,
            "--source takes what was recorded before, and goes with --from, --to, --csv, --json and --quiet only; nothing is measured");
    return YOKE_OK; /* energy_merge checks the files, because it knows their names */
}

static yoke_status check(yoke_context *context, energy_request *request, int argc, char **argv, int command_at)
{
    if (request->sources.count > 0) return check_sources(context, request, command_at);
    if (request->from != NULL || request->to != NULL)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--from and --to are times of recorded streams: give them by --source FILE");
    if (command_at == argc || (command_at == 0 && request->meters.pid == 0 && request->watch == NULL))
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "a command is missing: yoke energy [OPTION]... -- COMMAND [ARGUMENT]...; or give --pid or --watch");
    if (command_at > 0) request->command = argv + command_at;
    if (request->command != NULL && request->meters.pid != 0)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--pid %lld: a command is given too; give one of them", (long long)request->meters.pid);
    if (request->command == NULL && request->repeat > 1)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--repeat %lld: there is no command to repeat", (long long)request->repeat);
    if (request->frequencies.count > ENERGY_MAX_FREQUENCIES)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--clock is given %d times; at most %d frequencies can be set",
                         request->frequencies.count, ENERGY_MAX_FREQUENCIES);
    yoke_status status = YOKE_OK;
    request->interval_s = INFINITY;
    if (request->watch != NULL) status = read_seconds(context, "watch", request->watch, 0.01, 86400, &request->interval_s);
    const app_named_file files[] = {
        {"--replay", request->meters.replay, true}, {"--csv", request->csv, false}, {"--json", request->json, false}, {0}};
    return status == YOKE_OK ? app_files_check(context, files) : status;
}

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, energy_request *request, bool *answered)
{
    int command_at = 0;
    const app_option options[] = {
        {.name = "repeat",
         .value = "N",
         .help = "run the command N times, and report means with 95 % intervals",
         .number = &request->repeat,
         .minimum = 1,
         .maximum = 100000},
        {.name = "declare",
         .value = "idle=W,busy=W",
         .help = "estimate energy from these powers of the machine",
         .text = &request->meters.declared},
        {.name = "meter", .value = "LIST", .help = "meters by name or kind, comma-separated", .text = &request->meters.select},
        {.name = "clock",
         .value = "NAME=HZ",
         .help = "set a frequency, as in cpu=2.4GHz, and restore it at the end",
         .list = &request->frequencies},
        {.name = "pid",
         .value = "PID",
         .help = "measure until this process ends, instead of running a command",
         .number = &request->meters.pid,
         .minimum = 1,
         .maximum = INT_MAX},
        {.name = "watch", .value = "[S]", .help = "show the power every S seconds (1)", .otherwise = "1", .text = &request->watch},
        {.name = "csv", .value = "FILE", .help = "write each run, or each interval of --watch, as a row", .text = &request->csv},
        app_option_json(&request->json),
        {.name = "replay", .value = "FILE", .help = "use a recorded stream instead of meters", .text = &request->meters.replay},
        {.name = "source",
         .value = "FILE[,KEY=X]...",
         .help = "merge recorded streams of power (CSV) by time instead of measuring; keys: offset, gap, column",
         .list = &request->sources},
        {.name = "from", .value = "S", .help = "with --source: start of the interval", .text = &request->from},
        {.name = "to",
         .value = "S",
         .help = "with --source: end of the interval; by default the time that all streams have in common",
         .text = &request->to},
        {.name = "sysroot",
         .value = "DIR",
         .help = "use a directory of yoke gather instead of this machine",
         .text = &request->meters.sysroot},
        {.name = "quiet", .help = "print no report", .flag = &terminal->quiet},
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "",
        .summary = "Runs a command and reports its time and the energy of each metered part of the machine.",
        .options = options,
        .command = "COMMAND [ARGUMENT]...",
        .command_at = &command_at,
        .details = details,
    };
    yoke_status status = app_options_parse(context, &usage, argc, argv, NULL, answered);
    if (status != YOKE_OK || *answered) return status;
    return check(context, request, argc, argv, command_at);
}

/* --------------------------------------------------------------------------------------------- frequencies */

/* Reads "nvml:0=1.2GHz". */
static yoke_status read_frequency(yoke_context *context, const char *text, energy_frequency *set)
{
    static const struct {
        const char *unit;
        double hz;
    } units[] = {{"", 1}, {"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}};
    const char *equals = strrchr(text, '=');
    size_t length = equals != NULL ? (size_t)(equals - text) : 0;
    if (length > 0 && length < sizeof set->name) {
        char *end = NULL;
        double number = strtod(equals + 1, &end);
        for (size_t i = 0; end != equals + 1 && i < sizeof units / sizeof units[0]; i++) {
            if (strcasecmp(end, units[i].unit) != 0 || !(number > 0) || !isfinite(number * units[i].hz)) continue;
            memcpy(set->name, text, length);
            set->name[length] = '\0';
            set->asked_hz = number * units[i].hz;
            return YOKE_OK;
        }
    }
    return yoke_fail(context, YOKE_ERROR_INPUT, "--clock %s: expected NAME=HZ, as cpu=2.4GHz (yoke info lists the names)", text);
}

static yoke_status set_frequencies(energy_session *session)
{
    const app_list *frequencies = &session->request->frequencies;
    const yoke_frequency_options options = {.sysroot = session->request->meters.sysroot};
    if (frequencies->count == 0) return YOKE_OK;
    yoke_status status = YOKE_OK;
    for (int i = 0; i < frequencies->count && status == YOKE_OK; i++)
        status = read_frequency(session->context, frequencies->text[i], &session->set[i]);
    if (status == YOKE_OK) status = yoke_frequencies_open(session->context, &options, &session->frequencies);
    for (; session->num_set < frequencies->count && status == YOKE_OK; session->num_set++) {
        energy_frequency *set = &session->set[session->num_set];
        status = yoke_frequency_set(session->frequencies, set->name, set->asked_hz, &set->reached_hz);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------- measuring */

static bool rewrites(const energy_session *session)
{
    const char *kind = getenv("TERM");
    return session->request->command == NULL && isatty(STDOUT_FILENO) && kind != NULL && strcmp(kind, "dumb") != 0;
}

/* Shows an interval.  The next interval begins before this one ends, so that there is no gap between them. */
static yoke_status show_interval(energy_session *session, int64_t run, double *start_s, yoke_region **interval)
{
    energy_account *account = &session->account;
    yoke_region *next = NULL;
    double now_s = yoke_clock_s(), seconds = 0;
    yoke_status status = yoke_region_begin(session->meter, &next);
    if (status != YOKE_OK) return status;
    yoke_region *ended = *interval;
    *interval = next;
    status = energy_account_end(account, ended, &seconds);
    if (status != YOKE_OK) return status;
    energy_sample sample = {.run = run, .start_s = *start_s - session->start_s, .seconds = seconds, .code = -1};
    *start_s = now_s;
    bool own = session->request->command == NULL;
    energy_watch_line(account, session->terminal, own && !session->terminal->aside ? stdout : stderr, rewrites(session), &sample);
    return energy_account_row(account, &sample);
}

/* Waits until the process ends, an interrupt arrives, or standard output cannot be written any more. */
static yoke_status wait_for_end(energy_session *session, int64_t run, double start_s)
{
    yoke_region *interval = NULL;
    yoke_status status = YOKE_OK;
    double step_s = session->request->interval_s, interval_start_s = yoke_clock_s(), unused_s;
    bool watching = isfinite(step_s);
    if (watching) status = yoke_region_begin(session->meter, &interval);
    for (double next_s = start_s + step_s; status == YOKE_OK; next_s += step_s) {
        if (energy_wait(&session->signals, &session->process, next_s) != ENERGY_TIME) break;
        status = show_interval(session, run, &interval_start_s, &interval);
        if (ferror(stdout)) break;
        next_s = fmax(next_s, yoke_clock_s() - step_s);
    }
    if (interval != NULL) yoke_region_end(interval, &unused_s, NULL, NULL);
    /* After a failure of yoke itself, the command must still be waited for. */
    while (status != YOKE_OK && session->process.ours && !session->process.ended)
        energy_wait(&session->signals, &session->process, INFINITY);
    return status;
}

/* Runs the command once, or waits for the process or the interrupt. */
static yoke_status measure(energy_session *session, int64_t run)
{
    yoke_region *region = NULL;
    energy_account *account = &session->account;
    double seconds = 0;
    yoke_status status = yoke_region_begin(session->meter, &region);
    double start_s = yoke_clock_s();
    if (run == 1) session->start_s = start_s;
    if (status == YOKE_OK && session->request->command != NULL)
        status = energy_process_start(session->context, &session->signals, session->request->command, session->environment,
                                      &session->process, &session->failure);
    if (status == YOKE_OK) status = wait_for_end(session, run, start_s);
    if (region != NULL && status != YOKE_OK) yoke_region_end(region, &seconds, NULL, NULL);
    if (status == YOKE_OK) status = energy_account_end(account, region, &seconds);
    if (status != YOKE_OK) return status;
    energy_account_add(account, seconds);
    int ended_by, code = session->process.ours ? energy_exit_code(&session->process, &ended_by) : -1;
    const energy_sample sample = {.run = run, .start_s = start_s - session->start_s, .seconds = seconds, .code = code};
    return isfinite(session->request->interval_s) ? YOKE_OK : energy_account_row(account, &sample);
}

/* The program ends as the command did. */
static void adopt_end(energy_session *session, int64_t runs)
{
    int code = 0, ended_by = 0, caught = session->signals.caught;
    if (session->process.ours) code = energy_exit_code(&session->process, &ended_by);
    bool unfinished = !session->process.ours || runs < session->request->repeat;
    if (code == 0 && caught != 0 && unfinished) code = 128 + caught;
    session->terminal->code = code;
    session->terminal->signal = ended_by;
}

static yoke_status report(energy_session *session, json_t *record)
{
    if (rewrites(session) && isfinite(session->request->interval_s) && !session->terminal->quiet) fputc('\n', stdout);
    if (!session->terminal->quiet) energy_report(&session->account, &session->request->meters, session->request->command);
    yoke_status status = energy_account_commit(&session->account);
    if (status == YOKE_OK && record != NULL) {
        int ended_by = 0, code = session->process.ours ? energy_exit_code(&session->process, &ended_by) : -1;
        status = energy_record(&session->account, session->set, session->num_set, record);
        if (status == YOKE_OK) status = app_record_set(session->context, record, "exit_code", code >= 0 ? json_integer(code) : json_null());
        if (status == YOKE_OK)
            status = app_record_set(session->context, record, "signal", ended_by > 0 ? json_integer(ended_by) : json_null());
        if (status == YOKE_OK) status = app_record_write(session->context, record, session->request->json);
    }
    return status;
}

static yoke_status run_all(energy_session *session, json_t *record)
{
    int64_t runs = 0, code = 0;
    yoke_status status = YOKE_OK;
    energy_process none = {.descriptor = -1};
    while (status == YOKE_OK && runs < session->request->repeat && code == 0 && session->signals.caught == 0) {
        int ended_by;
        /* Takes signals that arrived while no command was running. */
        if (energy_wait(&session->signals, &none, 0) == ENERGY_INTERRUPTED) break;
        status = measure(session, ++runs);
        if (status == YOKE_OK && session->process.ours) code = energy_exit_code(&session->process, &ended_by);
    }
    if (status == YOKE_OK && runs == 0) {
        session->failure = 128 + session->signals.caught;
        return yoke_fail(session->context, YOKE_ERROR_INTERRUPTED, "interrupted before there was anything to measure");
    }
    if (status == YOKE_OK) status = report(session, record);
    if (status == YOKE_OK) adopt_end(session, runs);
    return status;
}

/* Without a meter there is nothing to watch. */
static yoke_status check_meters(energy_session *session)
{
    if (session->request->command != NULL || session->request->meters.pid != 0 || session->account.num_meters > 0) return YOKE_OK;
    return yoke_fail(session->context, YOKE_ERROR_UNAVAILABLE,
                     "there is no meter to watch; yoke info says why, and what to do; --declare idle=W,busy=W estimates");
}

static yoke_status run(energy_session *session, int argc, char **argv)
{
    energy_request *request = session->request;
    json_t *record = NULL;
    const char *own = session->terminal->hides_hwloc_errors ? "HWLOC_HIDE_ERRORS" : NULL;
    yoke_status status = energy_environment_keep(session->context, own, &session->environment);
    if (status == YOKE_OK) status = energy_signals_hold(session->context, &session->signals);
    if (status == YOKE_OK) status = app_set_sysroot(session->context, &request->meters.sysroot);
    if (status == YOKE_OK && request->json != NULL)
        status = app_record_create(session->context, session->terminal->program, argc, argv, &record);
    energy_signals_again(&session->signals);
    if (status == YOKE_OK && request->meters.pid != 0)
        status = energy_process_find(session->context, (pid_t)request->meters.pid, &session->process);
    if (status == YOKE_OK) status = yoke_meters_open(session->context, &request->meters, &session->meter);
    if (status == YOKE_OK)
        status = energy_account_create(session->context, session->meter, request->csv, record != NULL, &session->account);
    if (status == YOKE_OK) status = check_meters(session);
    if (status == YOKE_OK) status = set_frequencies(session);
    if (status == YOKE_OK) status = run_all(session, record);
    if (session->frequencies != NULL) yoke_frequencies_close(session->frequencies);
    energy_account_destroy(&session->account);
    if (session->meter != NULL) yoke_meters_close(session->meter);
    energy_process_forget(&session->process);
    yoke_release(session->context, session->environment);
    json_decref(record);
    return status;
}

yoke_status tool_energy(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    energy_request request = {.repeat = 1};
    bool answered = false;
    yoke_status status = parse(context, terminal, argc, argv, &request, &answered);
    if (answered) return status;
    energy_session session = {.context = context,
                              .terminal = terminal,
                              .request = &request,
                              .signals = {.descriptor = -1},
                              .process = {.descriptor = -1},
                              .account = {.context = context}};
    const energy_merge_request merge = {&request.sources, request.from, request.to, request.csv, request.json};
    if (status == YOKE_OK)
        status = request.sources.count > 0 ? energy_merge(context, terminal, &merge, argc, argv) : run(&session, argc, argv);
    /* The exit codes of a command are its own, so a failure of yoke must not look like one of them. */
    bool has_command = false;
    for (int i = 1; i < argc; i++) has_command = has_command || strcmp(argv[i], "--") == 0;
    if (status != YOKE_OK) terminal->code = session.failure != 0 ? session.failure : has_command ? OWN_FAILURE : 0;
    energy_signals_release(&session.signals);
    return status;
}
