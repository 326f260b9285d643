/* SPDX-License-Identifier: MIT */
/* lode run: the main job in one step. Records a program or a process, imports, mines, reports. */
#include "analyses/diagnoses/diagnose.h"
#include "analyses/diagnoses/muting.h"
#include "base/files/output_file.h"
#include "cli/interrupt.h"
#include "cli/options/mining_options.h"
#include "cli/options/recording_options.h"
#include "cli/recording/recorded_profile.h"
#include "cli/recording/wrapped_program.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "ingest/traced_import.h"
#include "model/profile.h"
#include "questions/parts/rows.h"
#include "record/program_recording.h"
#include "store/profile_store.h"
#include "views/figures/profile_figures.h"
#include "views/findings/report.h"
#include "views/form/display_text.h"

#include <stdio.h>
#include <unistd.h>

typedef struct {
	LodeRecordingOptions recording;
	LodeMiningOptions mining;
	const char *const *own;
	bool has_full_names;
} Options;

static const LodeParameter rows[] = {
	LODE_OWN_ROW(Options, own),
	LODE_FULL_NAMES_ROW(Options, has_full_names),
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", lode_recording_rows, offsetof(Options, recording)},
	{"Names in the report", rows, 0, true},
	LODE_MINING_GROUPS(Options, mining, true),
	{NULL},
};

static void init(void *options)
{
	lode_mining_options_init(&((Options *)options)->mining);
}

/* Without a file, to standard output or standard error. */
static bool report(const Options *given, const LodeProfile *profile, const LodeMiningRun *mined,
	const char *path, const LodeProgress *progress, GError **error)
{
	const char *file = given->recording.report;
	/* Program output in a file or a pipe is data: the report must not be appended to it. */
	bool is_data = file == NULL && isatty(STDOUT_FILENO) == 0;
	g_autoptr(LodeOutputFile) output = lode_output_file_open(file, error);
	g_auto(GStrv) muted = lode_muting_read(NULL, error);
	LodeReportOptions report_options;

	if (output == NULL || muted == NULL)
		return false;
	g_autoptr(LodeDiagnoses) diagnoses = lode_diagnose(
		profile, mined->findings, lode_profile_weight_of(profile, mined), given->own);
	lode_muting_apply((const char *const *)muted, diagnoses);
	FILE *stream = is_data ? stderr : lode_output_file_stream(output);
	lode_report_options_init(&report_options);
	report_options.terminal = lode_terminal_of(stream);
	report_options.terminal.has_full_names = given->has_full_names;
	report_options.own = given->own;
	report_options.profile_path = path;
	report_options.diagnoses = diagnoses;
	return lode_report_write(profile, mined, &report_options, progress, stream, error) &&
	       lode_output_file_commit(output, error);
}

/* So many take a second; those of a recording of minutes would take longer than all else. */
enum { MAX_ACCESSES = 100 * 1000 };

static LodeImportOptions import_options(const Options *given, const LodeRecordedProfile *recorded)
{
	const LodeProgramRecordingOptions *recording = &given->recording.recording;
	bool is_trace = recording->kind == LODE_RECORDING_TRACE;

	return (LodeImportOptions){
		.replay.hierarchy = is_trace ? recording->caches : NULL,
		.only = recording->only,
		.is_alone = recording->is_alone,
		.is_native = recording->has_no_scripts,
		.is_recorded_so = true,
		.replay.predicts_branches = is_trace,
		.replay.branches = recording->branches,
		.program = recorded->program,
		.max_accesses = MAX_ACCESSES,
		.allow_debuginfod = given->recording.allow_debuginfod,
		.threads = given->mining.parameters.threads,
	};
}

/* `live`: the profile of a trace that is not in a file; else NULL. */
static bool evaluate(const Options *given, const LodeRecordedProfile *recorded,
	const LodeRecordedRun *run, LodeTracedImport *live, const LodeImportOptions *import,
	GError **error)
{
	g_auto(LodeTerminalProgress) screen;

	lode_terminal_progress_init(&screen);
	g_autoptr(LodeProfile)
		profile = live != NULL ? lode_traced_import_finish(live, &screen.progress, error)
	                               : lode_recorded_profile_import(
						 recorded, run, import, &screen.progress, error);
	if (profile == NULL)
		return false;
	LodeProfileWriting *writing = lode_profile_writing_begin(recorded, profile);
	g_autoptr(LodeMiningRun)
		mined = lode_mining_options_mine(&given->mining, profile, &screen.progress, error);
	if (!lode_profile_writing_end(writing, mined != NULL ? error : NULL) || mined == NULL ||
		!lode_profile_store_add_run(
			recorded->path, profile, mined, &screen.progress, error))
		return false;
	lode_terminal_progress_hide(&screen);
	lode_mining_options_warn(mined, "run");
	return report(given, profile, mined, recorded->path, &screen.progress, error);
}

static int run_verb(void *options, char **arguments, GError **error)
{
	g_autoptr(LodeHierarchy) caches = NULL;
	Options *given = options;
	LodeProgramRecordingOptions *recording = &given->recording.recording;
	bool is_refused = false;

	if (!lode_recording_options_complete(&given->recording, arguments, error))
		return LODE_EXIT_USAGE;
	/* The first screen does not need them, and they take longest. */
	given->mining.parameters.only_findings = !given->mining.asks_for_sequences;
	if (!lode_recording_options_read_caches(&given->recording, &caches, error))
		return LODE_EXIT_FAILED;
	/* Signals that come when the recording is done must not end us before the report. */
	lode_interrupt_cancellable();
	const LodeRecordedProfileOptions profile_options = {
		.verb = "run",
		.command = arguments,
		.pid = recording->pid,
		.output = given->recording.output,
		.keep_recording = given->recording.keep_recording,
	};
	g_auto(LodeRecordedProfile) recorded = {0};
	if (!lode_recorded_profile_open(&recorded, &profile_options, error))
		return LODE_EXIT_FAILED;
	if (given->recording.report != NULL &&
		lode_file_is_same(given->recording.report, recorded.path)) {
		lode_parameter_refuse(error,
			"'%s' is the profile that is written; give --report another name",
			recorded.path);
		return LODE_EXIT_USAGE;
	}
	recording->is_refused = &is_refused;
	recording->directory = recorded.directory->path;
	const LodeImportOptions import = import_options(given, &recorded);
	g_autoptr(LodeTracedImport) live = NULL;
	if (recording->kind == LODE_RECORDING_TRACE && given->recording.keep_recording == NULL) {
		live = lode_traced_import_new(&import);
		recording->taker = lode_traced_import_taker(live);
	}
	g_auto(LodeRecordedRun) run = {0};
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	recording->progress = &screen.progress;
	if (!lode_program_recording_run(recording, &run, error)) {
		lode_recording_directory_explain(recorded.directory, error);
		if (is_refused && recording->pid == 0 && !recording->has_kernel)
			lode_wrapped_program_advise(*error, "--exact counts without sampling");
		return LODE_EXIT_FAILED;
	}
	int status = lode_wrapped_program_status(run.exit_status, 0);
	bool is_empty = live != NULL ? lode_traced_import_n_traces(live) == 0
	                             : run.recordings->len == 0;
	bool can_import = lode_recorded_profile_can_import(
		&recorded, &run, is_empty, "--exact counts its executions instead", &status, error);
	if (can_import && !evaluate(given, &recorded, &run, live, &import, error))
		return LODE_EXIT_FAILED;
	return status;
}

const LodeVerb lode_verb_run = {
	.name = "run",
	.arguments = "[-p PID] [-- PROGRAM [ARGUMENT…]]",
	.summary = "record a program and report what costs",
	.description =
		"The program runs once, at nearly full speed, while the kernel samples where time "
		"is spent; breakpoints and single steps, set from outside, tell which way it goes "
		"from there. Execution counts are inferred from both.\n"
		"\n"
		"With --count the program then runs a second time in qemu, where every execution "
		"is counted, about 10 to 150 times slower (4 to 60 times with --fast) and with "
		"the program's output discarded. All other effects of the program happen twice. "
		"There is no second run if standard input is a pipe or if code "
		"is generated at run time (node, java). --exact only counts.\n"
		"\n"
		"With --pid a process that runs already is sampled, in its threads, and in what it "
		"has started or starts, until it ends, until Ctrl-C, or for as long as PROGRAM "
		"runs, such as 'sleep 10'; lode's status is then 0, or that of PROGRAM if it ended "
		"first. With "
		"--duration SECONDS recording ends after that time; a program that lode started "
		"gets SIGTERM.\n"
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
		"again; one of that name that was there is kept as PROGRAM.lode.old, with which "
		"'lode diff' compares it. Sequences are mined when 'lode report' first lists them, "
		"or at once if "
		"an option says which ones, such as --gap.\n"
		"\n"
		"Examples:\n"
		"  lode run -- ./program argument\n"
		"  lode run --count -o x.lode -- ./program argument\n"
		"  lode run -p 4711 -- sleep 10\n"
		"  lode run --exact --fast -o x.lode -- python3 script.py\n"
		"  lode run --trace -o x.lode -- ./program argument\n"
		"  lode run --report x.txt --gap 1 -- gzip -c file >file.gz",
	.groups = groups,
	.size = sizeof(Options),
	.init = init,
	.run = run_verb,
	.is_wrapper = true,
};
