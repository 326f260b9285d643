/* SPDX-License-Identifier: MIT */
#include "cli/recording_options.h"

#include "cli/call_graph_options.h"
#include "cli/option_parser.h"
#include "cli/wrapped_program.h"
#include "questions/simulated_caches.h"
#include "views/display_text.h"

static struct {
	char *output, *keep_recording, *report, *frequency, *simulate, *branches, *pid, *duration,
		**events;
	char **only;
	gboolean is_alone;
	gboolean is_counted, is_exact, is_once, is_trace, has_allocations, is_fast, has_kernel,
		allow_debuginfod;
} given;

const GOptionEntry lode_recording_options[] = {
	{"count", 0, 0, G_OPTION_ARG_NONE, &given.is_counted,
		"run a second time, in qemu: count every execution", NULL},
	{"exact", 0, 0, G_OPTION_ARG_NONE, &given.is_exact,
		"run once, in qemu: count every execution, and estimate the time", NULL},
	{"once", 0, 0, G_OPTION_ARG_NONE, &given.is_once,
		"run once, at full speed, sampled: the default", NULL},
	{"trace", 0, 0, G_OPTION_ARG_NONE, &given.is_trace,
		"run once, in qemu: trace every access to memory, and simulate caches", NULL},
	{"simulate", 0, 0, G_OPTION_ARG_STRING, &given.simulate,
		"with --trace, --count or --exact: simulate these caches: a description such as "
		"i1=32K:8:64,d1=32K:8:64,l2=1M:16:64, or a preset (default: this machine's); "
		"counting simulates a first level for code and for data and the last level, LRU",
		"CACHES"},
	{"branches", 0, 0, G_OPTION_ARG_STRING, &given.branches,
		"with --trace, --count or --exact: predict branches as processors of today do or "
		"as callgrind does (default: tage with --trace, else callgrind)",
		"tage|callgrind"},
	{"allocations", 0, 0, G_OPTION_ARG_NONE, &given.has_allocations,
		"with --trace: record what the program allocates, and where, so that misses have "
		"the names of allocation sites",
		NULL},
	{"fast", 0, 0, G_OPTION_ARG_NONE, &given.is_fast,
		"with --count or --exact: do not simulate caches and branch prediction", NULL},
	{"no-follow", 0, 0, G_OPTION_ARG_NONE, &given.is_alone,
		"the program alone, not the programs and processes that it starts", NULL},
	{"only", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.only,
		"only programs with such a name, such as 'cc1*' (with a slash: such a path); may "
		"be repeated",
		"GLOB"},
	{"pid", 'p', 0, G_OPTION_ARG_STRING, &given.pid,
		"sample this process until it ends, until Ctrl-C, or for as long as PROGRAM runs, "
		"which is not sampled: -p 4711 -- sleep 10",
		"PID"},
	{"duration", 0, 0, G_OPTION_ARG_STRING, &given.duration,
		"sample for this long, then end the program (not with --pid)", "SECONDS"},
	{"kernel", 0, 0, G_OPTION_ARG_NONE, &given.has_kernel,
		"sample the kernel's code too, where that is allowed", NULL},
	{"event", 'e', 0, G_OPTION_ARG_STRING_ARRAY, &given.events,
		"what to sample, as for lode record; may be repeated", "EVENT"},
	LODE_CALL_GRAPH_ENTRIES("sample", "'lode export' has formats that show them"),
	{"frequency", 'F', 0, G_OPTION_ARG_STRING, &given.frequency,
		"samples per second (default: 10000)", "HZ"},
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
	bool is_part = given.pid != NULL || given.duration != NULL;
	bool has_calls = lode_call_graph_given.has_call_chains ||
	                 lode_call_graph_given.mode != NULL;
	bool samples = given.is_once || has_calls || given.events != NULL ||
	               given.frequency != NULL || given.has_kernel || is_part;

	if (given.is_trace && (samples || given.is_counted || given.is_exact || given.is_fast))
		return lode_option_refuse(error,
			"--trace neither samples nor counts alone: it goes without --count, "
			"--exact, --fast and the options of sampling");
	if (given.has_allocations && !given.is_trace)
		return lode_option_refuse(error,
			"--allocations goes with --trace; 'lode memory record --allocations' "
			"samples");
	if (given.is_exact && (samples || given.is_counted))
		return lode_option_refuse(error,
			"--exact does not sample: it goes without --count and the options of "
			"sampling");
	if (given.is_alone && (given.only != NULL || given.pid != NULL))
		return lode_option_refuse(
			error, "--no-follow cannot be used with --only and --pid");
	if (given.only != NULL && given.pid != NULL)
		return lode_option_refuse(error, "--only cannot be used with --pid");
	if (given.is_counted && given.is_once)
		return lode_option_refuse(
			error, "--count runs the program twice: it goes without --once");
	if (given.is_counted && (is_part || given.has_kernel))
		return lode_option_refuse(error,
			"--count counts whole runs of the program's own code: it goes without "
			"--pid, --duration and --kernel");
	if (given.is_fast && !given.is_counted && !given.is_exact)
		return lode_option_refuse(
			error, "--fast is about counting: it goes with --count or --exact");
	if ((given.simulate != NULL || given.branches != NULL) && !given.is_trace &&
		(given.is_fast || (!given.is_counted && !given.is_exact)))
		return lode_option_refuse(error,
			"--simulate and --branches go with --trace, and with --count or "
			"--exact but without --fast");
	if (given.branches != NULL && lode_branch_model_from_text(given.branches) < 0)
		return lode_option_refuse(
			error, "--branches: '%s' is not tage or callgrind", given.branches);
	return true;
}

bool lode_recording_options_read(
	char **arguments, LodeRecordingOptions *out_options, GError **error)
{
	LodeRecordingOptions options = {
		.recording.kind = given.is_trace     ? LODE_RECORDING_TRACE
	                          : given.is_exact   ? LODE_RECORDING_COUNTS
	                          : given.is_counted ? LODE_RECORDING_BOTH
	                                             : LODE_RECORDING_SAMPLES,
		.recording.is_fast = given.is_fast,
		.recording.is_alone = given.is_alone,
		.recording.only = (const char *const *)given.only,
		.recording.has_allocations = given.has_allocations,
		.recording.has_kernel = given.has_kernel,
		.recording.events = (const char *const *)given.events,
		.recording.n_events = given.events != NULL ? g_strv_length(given.events) : 0,
		.recording.notes = lode_wrapped_program_notes("run"),
		.simulate = given.simulate,
		.output = given.output,
		.keep_recording = given.keep_recording,
		.report = given.report,
		.allow_debuginfod = given.allow_debuginfod,
	};
	LodeProgramRecordingOptions *recording = &options.recording;

	if (given.pid == NULL && arguments[0] == NULL)
		return lode_option_refuse(error,
			"PROGRAM is missing: lode run -- PROGRAM ARGUMENT…, or lode run -p "
			"PID");
	if (!check_kind(error) ||
		!lode_call_graph_options_read(
			&recording->has_call_chains, &recording->user_stack_bytes, error) ||
		!lode_option_positive("--frequency", given.frequency, G_MAXUINT32,
			&recording->frequency, error) ||
		!lode_option_pid("--pid", given.pid, &recording->pid, error) ||
		!lode_option_seconds("--duration", given.duration, &recording->duration_ms, error))
		return false;
	recording->branches = given.is_trace ? LODE_BRANCHES_TAGE : LODE_BRANCHES_CALLGRIND;
	if (given.branches != NULL)
		recording->branches = (LodeBranchModel)lode_branch_model_from_text(given.branches);
	*out_options = options;
	return true;
}

bool lode_recording_options_read_caches(
	const LodeRecordingOptions *options, LodeHierarchy **out_caches, GError **error)
{
	g_autofree char *note = NULL;

	*out_caches = NULL;
	if (options->recording.kind != LODE_RECORDING_TRACE && options->simulate == NULL)
		return true;
	*out_caches = options->simulate != NULL
	                      ? lode_simulated_caches_read("--simulate", options->simulate, error)
	                      : lode_simulated_caches_default("--simulate", &note, error);
	if (note != NULL)
		lode_display_line(stderr, "lode run: %s", note);
	return *out_caches != NULL;
}
