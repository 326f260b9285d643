/* SPDX-License-Identifier: MIT */
/* lode run: the main job in one step. Records a program, imports, mines, reports. */
#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/mining_options.h"
#include "cli/option_parser.h"
#include "cli/output_file.h"
#include "cli/recorded_profile.h"
#include "cli/simulated_caches.h"
#include "cli/terminal_progress.h"
#include "cli/wrapped_program.h"
#include "record/program_recording.h"
#include "views/display_text.h"
#include "views/report.h"

#include <stdio.h>
#include <unistd.h>

static struct {
	char *output, *keep_recording, *report, *frequency, *simulate, **events;
	gboolean is_counted, is_exact, is_once, is_trace, is_fast, allow_debuginfod;
} given;

static const GOptionEntry options[] = {
	{"count", 0, 0, G_OPTION_ARG_NONE, &given.is_counted,
		"run a second time, under valgrind: count every execution", NULL},
	{"exact", 0, 0, G_OPTION_ARG_NONE, &given.is_exact,
		"run once, under valgrind: count every execution, and estimate the time", NULL},
	{"once", 0, 0, G_OPTION_ARG_NONE, &given.is_once,
		"run once, at full speed, sampled: the default", NULL},
	{"trace", 0, 0, G_OPTION_ARG_NONE, &given.is_trace,
		"run once, in qemu: trace every access to memory, and simulate caches", NULL},
	{"simulate", 0, 0, G_OPTION_ARG_STRING, &given.simulate,
		"with --trace: simulate these caches: a description such as "
		"d1=32K:8:64,l2=1M:16:64, or a preset (default: host, this machine's)",
		"CACHES"},
	{"event", 'e', 0, G_OPTION_ARG_STRING_ARRAY, &given.events,
		"what to sample, as for lode record; may be repeated", "EVENT"},
	{"frequency", 'F', 0, G_OPTION_ARG_STRING, &given.frequency,
		"samples per second (default: 10000)", "HZ"},
	{"fast", 0, 0, G_OPTION_ARG_NONE, &given.is_fast,
		"with --count or --exact: do not simulate caches and branch prediction", NULL},
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &given.output,
		"the profile to write; an existing one is replaced (default: PROGRAM.lode)",
		"FILE"},
	{"report", 0, 0, G_OPTION_ARG_FILENAME, &given.report,
		"write the report to this file (default: standard output if that is a "
		"terminal, else standard error)",
		"FILE"},
	{"keep-recording", 0, 0, G_OPTION_ARG_FILENAME, &given.keep_recording,
		"record into this directory and keep the recordings there", "DIR"},
	{"debuginfod", 0, 0, G_OPTION_ARG_NONE, &given.allow_debuginfod,
		"fetch missing debug information from the servers in DEBUGINFOD_URLS", NULL},
	G_OPTION_ENTRY_NULL,
};

/* What does not go with a kind of recording. */
static bool check_kind(GError **error)
{
	bool samples = given.is_once || given.events != NULL || given.frequency != NULL;

	if (given.is_trace && (samples || given.is_counted || given.is_exact || given.is_fast))
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--trace neither samples nor runs callgrind: it goes without --count, "
			"--exact, --once, --fast, --event and --frequency");
	else if (given.is_exact && (samples || given.is_counted))
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--exact does not sample: it goes without --count, --once, --event and "
			"--frequency");
	else if (given.is_counted && given.is_once)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--count runs the program twice: it goes without --once");
	else if (given.is_fast && !given.is_counted && !given.is_exact)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--fast is about counting: it goes with --count or --exact");
	else if (given.simulate != NULL && !given.is_trace)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--simulate needs a trace: it goes with --trace");
	else
		return true;
	return false;
}

static bool read_recording_options(LodeProgramRecordingOptions *self, GError **error)
{
	if (!check_kind(error))
		return false;
	*self = (LodeProgramRecordingOptions){
		.kind = given.is_trace     ? LODE_RECORDING_TRACE
	                : given.is_exact   ? LODE_RECORDING_COUNTS
	                : given.is_counted ? LODE_RECORDING_BOTH
	                                   : LODE_RECORDING_SAMPLES,
		.is_fast = given.is_fast,
		.events = (const char *const *)given.events,
		.n_events = given.events != NULL ? g_strv_length(given.events) : 0,
		.notes = lode_wrapped_program_notes("run"),
	};
	return lode_option_count(
		"--frequency", given.frequency, G_MAXUINT32, &self->frequency, error);
}

static bool report(const LodeProfile *profile, const LodeMiningRun *mined, const char *path,
	const LodeProgress *progress, GError **error)
{
	/* What the program writes to a file or a pipe is data, which the report must not follow. */
	bool is_data = given.report == NULL && isatty(STDOUT_FILENO) == 0;
	g_autoptr(LodeOutputFile) output = lode_output_file_open(given.report, error);
	LodeReportOptions report_options;

	if (output == NULL)
		return false;
	FILE *stream = is_data ? stderr : lode_output_file_stream(output);
	lode_report_options_init(&report_options);
	report_options.terminal = lode_terminal_of(stream);
	report_options.profile_path = path;
	return lode_report_write(profile, mined, &report_options, progress, stream, error) &&
	       lode_output_file_commit(output, error);
}

static bool evaluate(const LodeRecordedProfile *recorded, const LodeRecordedRun *run,
	const LodeHierarchy *caches, const LodeMiningParameters *parameters, GError **error)
{
	const LodeImportOptions import = {
		.hierarchy = caches,
		.allow_debuginfod = given.allow_debuginfod,
		.threads = parameters->threads,
	};
	g_auto(LodeTerminalProgress) screen;

	lode_terminal_progress_init(&screen);
	g_autoptr(LodeProfile) profile = lode_recorded_profile_import(
		recorded, run, &import, &screen.progress, error);
	if (profile == NULL)
		return false;
	g_autoptr(LodeMiningRun) mined = lode_mining_options_mine(
		recorded->path, profile, parameters, &screen.progress, error);
	if (mined == NULL)
		return false;
	lode_terminal_progress_hide(&screen);
	return report(profile, mined, recorded->path, &screen.progress, error);
}

/* NULL without an error where nothing is simulated. */
static bool read_caches(LodeHierarchy **out_caches, GError **error)
{
	g_autofree char *note = NULL;

	*out_caches = NULL;
	if (!given.is_trace)
		return true;
	*out_caches = given.simulate != NULL
	                      ? lode_simulated_caches_read("--simulate", given.simulate, error)
	                      : lode_simulated_caches_default("--simulate", &note, error);
	if (note != NULL)
		lode_display_line(stderr, "lode run: %s", note);
	return *out_caches != NULL;
}

static int run_verb(char **arguments, GError **error)
{
	g_autoptr(LodeHierarchy) caches = NULL;
	LodeProgramRecordingOptions recording;
	LodeMiningParameters parameters;
	bool is_refused = false;

	if (arguments[0] == NULL) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"PROGRAM is missing: lode run -- PROGRAM ARGUMENT…");
		return LODE_EXIT_USAGE;
	}
	if (!lode_mining_options_read(&parameters, error) ||
		!read_recording_options(&recording, error))
		return LODE_EXIT_USAGE;
	if (!read_caches(&caches, error))
		return LODE_EXIT_FAILED;
	/* Signals that come when the recording is done must not end us before the report. */
	lode_interrupt_cancellable();
	const LodeRecordedProfileOptions profile_options = {
		.verb = "run",
		.command = arguments,
		.output = given.output,
		.keep_recording = given.keep_recording,
	};
	g_auto(LodeRecordedProfile) recorded = {0};
	if (!lode_recorded_profile_open(&recorded, &profile_options, error))
		return LODE_EXIT_FAILED;
	recording.is_refused = &is_refused;
	recording.argv = (const char *const *)arguments;
	recording.directory = recorded.directory->path;
	g_auto(LodeRecordedRun) run = {0};
	if (!lode_program_recording_run(&recording, &run, error)) {
		lode_recording_directory_explain(recorded.directory, error);
		if (is_refused)
			lode_wrapped_program_advise(*error, "--exact counts without sampling");
		return LODE_EXIT_FAILED;
	}
	int status = lode_wrapped_program_status(run.exit_status, 0);
	bool can_import = lode_recorded_profile_can_import(&recorded, &run,
		run.recordings->len == 0, "--exact counts its executions instead", &status, error);
	if (can_import && !evaluate(&recorded, &run, caches, &parameters, error))
		return LODE_EXIT_FAILED;
	return status;
}

const LodeVerb lode_verb_run = {
	.name = "run",
	.arguments = "-- PROGRAM [ARGUMENT…]",
	.summary = "record a program, mine the recording and report",
	.description =
		"The program runs once, at full speed, while the kernel samples where time is "
		"spent. Execution counts are inferred from the samples.\n"
		"\n"
		"With --count the program then runs a second time under valgrind's callgrind, "
		"which counts every execution, about 50 times slower (20 times with --fast) "
		"and with the program's output discarded. All other effects of the program "
		"happen twice. There is no second run if standard input is a pipe or if code "
		"is generated at run time (node, java). --exact only counts.\n"
		"\n"
		"With --trace the program runs once, in qemu: every access to memory is traced "
		"and replayed through caches, whose misses are mined; 'lode memory' shows "
		"their addresses.\n"
		"\n"
		"The program has the standard input, output and error of lode, and lode exits "
		"with its status; if a signal ends the program, lode ends by the same signal. "
		"Ctrl-C ends the program, and what was recorded is mined; if the program does "
		"not end, a second Ctrl-C sends it SIGTERM, and a third one SIGKILL. SIGTERM "
		"and SIGHUP are passed on, and lode ends after the program without a profile.\n"
		"\n"
		"The report is written to standard output after the program's output if that "
		"is a terminal, else to standard error. The profile is kept and can be mined "
		"again.\n"
		"\n"
		"Examples:\n"
		"  lode run -- ./program argument\n"
		"  lode run --count -o x.lode -- ./program argument\n"
		"  lode run --exact --fast -o x.lode -- python3 script.py\n"
		"  lode run --trace -o x.lode -- ./program argument\n"
		"  lode run --report x.txt --gap 1 -- gzip -c file >file.gz",
	.options = options,
	.run = run_verb,
	.groups = lode_mining_groups,
	.is_wrapper = true,
};
